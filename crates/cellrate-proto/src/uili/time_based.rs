//! The time based policy (Barnhart, AF-TM 95-1614; Roberts, AF-TM 95-1641; paper uili, section 5.3).

use super::built_in::BuiltIn;
use super::rule_5b::Rule5b;
use super::{BackwardRmContext, ForwardRmContext, UiliPolicy};
use crate::declaration::{Key, Kind, Range, Shape, Table, Values, key};
use crate::parameters::{AbrParameters, ParameterError};
use crate::units::{CellRate, Duration};

/// Parameters of [`TimeBased`].
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct TimeBasedConfig {
    /// Everything unused is lost within the larger of addf times frtt and tbe/pcr.
    #[key(default = "2", range = Range::POSITIVE)]
    pub addf: f64,
    /// That time itself.
    #[key(default = "from addf", holds(tc.is_none_or(|tc| tc > Duration::ZERO), "above 0 s"))]
    pub tc: Option<Duration>,
    /// Prohibit no increase: the next backward RM cell may raise ACR again.
    #[key(default = "false")]
    pub pni: bool,
    /// [`TimeBasedFloor`].
    #[key(flatten)]
    pub floor: TimeBasedFloor,
}

impl BuiltIn for TimeBased {
    type Config = TimeBasedConfig;

    const SHAPE: Shape = Shape {
        name: "time-based",
        about: "ACR falls with the time since the last forward RM cell (paper uili, section 5.3).",
        keys: TimeBasedConfig::KEYS,
    };

    fn for_source(config: &TimeBasedConfig, parameters: &AbrParameters) -> TimeBased {
        TimeBased::new(config, parameters)
    }
}

/// ACRmax of [`TimeBased`]: above it ACR counts as unused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeBasedFloor {
    /// (a) max(ICR, TOF * SR), with TOF [at least 1; 2 in section 7.1].
    IcrOrMultiple {
        /// TOF.
        tof: f64,
    },
    /// (b) ICR + SR (default: section 7.2.3 reckons with it).
    IcrPlusSourceRate,
}

impl TimeBasedFloor {
    /// The floor, and TOF for one of them.
    pub const KEYS: &'static [Key] = &[
        key(
            "floor",
            Kind::Choice(&["icr-plus-source-rate", "multiple"]),
            "\"icr-plus-source-rate\"",
            "Rate below which ACR is not lowered; \"multiple\" is the larger of icr and tof times the rate of the source.",
        ),
        key("tof", Kind::Ratio(Range::AT_LEAST_ONE), "2", "Goes with floor = \"multiple\"."),
    ];

    /// ICR + SR.
    pub const fn new() -> TimeBasedFloor {
        TimeBasedFloor::IcrPlusSourceRate
    }

    /// The floor that `values` name.
    ///
    /// # Errors
    /// TOF with a floor that has none.
    pub fn read<V: Values>(values: &V) -> Result<TimeBasedFloor, V::Error> {
        match (values.word("floor")?, values.ratio("tof")?) {
            (Some("multiple"), tof) => Ok(TimeBasedFloor::IcrOrMultiple { tof: tof.unwrap_or(2.0) }),
            (_, Some(_)) => {
                let message = "tof has no effect without floor = \"multiple\"".into();
                Err(values.refused("tof", message, "Add floor = \"multiple\", or leave tof out".into()))
            }
            (_, None) => Ok(TimeBasedFloor::IcrPlusSourceRate),
        }
    }

    /// Refuses a TOF outside its range.
    ///
    /// # Errors
    /// TOF, with what is allowed.
    pub fn check(&self) -> Result<(), ParameterError> {
        match *self {
            TimeBasedFloor::IcrOrMultiple { tof } => Range::AT_LEAST_ONE.check("tof", tof),
            TimeBasedFloor::IcrPlusSourceRate => Ok(()),
        }
    }
}

impl Default for TimeBasedFloor {
    fn default() -> TimeBasedFloor {
        TimeBasedFloor::new()
    }
}

impl TimeBasedConfig {
    /// Tc of a connection with `parameters`. Zero when both FRTT and TBE are: then any unused rate is lost at once.
    pub fn time_constant(&self, parameters: &AbrParameters) -> Duration {
        self.tc.unwrap_or_else(|| {
            let round_trips = self.addf * parameters.frtt.as_secs_f64();
            let exposure = parameters.tbe.0 as f64 / parameters.pcr.as_cells_per_s();
            Duration::from_secs_f64(round_trips.max(exposure))
        })
    }
}

/// Before an FRM, with ACR > ACRmax, which is (a) max(ICR, TOF * SR) or (b) ICR + SR:
///
/// ```text
/// ACR := max(ACRmax, ACR * (1 - T / Tc))     T: time since the last FRM;  Tc = max(ADDF * FRTT, TBE / PCR)
/// the next BRM may not raise ACR, unless PNI                                (rule 5b)
/// ```
///
/// The section lists what differs from August 1995 and rule 5b is not in the list; section 7.2.3 reckons with it.
/// With the standard's default TBE, TBE / PCR is 45 s on an OC-3: a connection that means to use this policy sets TBE.
#[derive(Clone, Debug)]
pub struct TimeBased {
    rule_5b: Rule5b,
    floor: TimeBasedFloor,
    /// Tc, the time constant of the decrease.
    time_constant: Duration,
}

impl TimeBased {
    /// For a source with `parameters`.
    pub fn new(config: &TimeBasedConfig, parameters: &AbrParameters) -> TimeBased {
        TimeBased {
            rule_5b: Rule5b::new(config.pni),
            floor: config.floor,
            time_constant: config.time_constant(parameters),
        }
    }

    fn acr_max(&self, context: &ForwardRmContext) -> CellRate {
        let source_rate = context.source_rate();
        match self.floor {
            TimeBasedFloor::IcrOrMultiple { tof } => context.icr.max(source_rate * tof),
            TimeBasedFloor::IcrPlusSourceRate => context.icr + source_rate,
        }
    }
}

impl UiliPolicy for TimeBased {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        let floor = self.acr_max(context);
        if context.acr <= floor {
            return context.acr;
        }
        self.rule_5b.on_trigger();
        if context.elapsed >= self.time_constant {
            return floor;
        }
        let left = 1.0 - context.elapsed.as_secs_f64() / self.time_constant.as_secs_f64();
        (context.acr * left).max(floor)
    }

    fn on_backward_rm(&mut self, _context: &BackwardRmContext) -> bool {
        self.rule_5b.on_backward_rm()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ICR, backward, forward, parameters};
    use super::*;
    use crate::units::Cells;

    /// Tc = 64 ms.
    fn policy(floor: TimeBasedFloor) -> TimeBased {
        let tc = Some(Duration::from_ms(64));
        TimeBased::new(&TimeBasedConfig { floor, tc, ..TimeBasedConfig::default() }, &parameters())
    }

    const SUM: TimeBasedFloor = TimeBasedFloor::IcrPlusSourceRate;
    const MULTIPLE: TimeBasedFloor = TimeBasedFloor::IcrOrMultiple { tof: 2.0 };

    #[test]
    fn tc_is_the_longer_of_two_round_trips_and_the_exposure_at_the_peak() {
        // Section 7.1: max(2 * 30 ms, 4096 cells / 366,792 cells/s = 11.2 ms).
        let paper = AbrParameters {
            pcr: CellRate::new(366_792.0),
            tbe: Cells(4_096),
            frtt: Duration::from_ms(30),
            ..parameters()
        };
        let config = TimeBasedConfig::default();
        assert_eq!(config.time_constant(&paper), Duration::from_ms(60));
        let short = AbrParameters { frtt: Duration::from_ms(5), ..paper };
        let tc = config.time_constant(&short).as_secs_f64();
        assert!((tc - 4_096.0 / 366_792.0).abs() < 1e-9, "{tc}");
    }

    #[test]
    fn the_decrease_is_the_share_of_tc_that_has_passed() {
        // T = 8 ms of 64 ms: an eighth. SR = 4000, far from the floor.
        let mut policy = policy(SUM);
        let acr = policy.on_forward_rm(&forward(64_000.0, 32, Duration::from_ms(8)));
        assert_eq!(acr, CellRate::new(56_000.0));
        assert!(!policy.on_backward_rm(&backward(56_000.0, 64_000.0)));
        assert!(policy.on_backward_rm(&backward(56_000.0, 64_000.0)));
    }

    #[test]
    fn the_two_floors() {
        // SR = 32 cells / 32 ms = 1000 cells/s, ICR = 2000: (a) max(2000, 2000), (b) 3000. Half of ACR would be 2200.
        let frm = forward(4_400.0, 32, Duration::from_ms(32));
        assert_eq!(policy(MULTIPLE).on_forward_rm(&frm), CellRate::new(2_200.0));
        assert_eq!(policy(SUM).on_forward_rm(&frm), CellRate::new(ICR + 1_000.0));
        // SR = 4000: (a) max(2000, 8000), (b) 6000.
        let frm = |acr| forward(acr, 256, Duration::from_ms(64));
        assert_eq!(policy(MULTIPLE).on_forward_rm(&frm(9_000.0)), CellRate::new(8_000.0));
        assert_eq!(policy(SUM).on_forward_rm(&frm(9_000.0)), CellRate::new(6_000.0));
    }

    #[test]
    fn at_the_floor_it_does_not_trigger() {
        for (floor, acr) in [(MULTIPLE, 8_000.0), (SUM, 6_000.0)] {
            let mut policy = policy(floor);
            let frm = |acr| forward(acr, 32, Duration::from_ms(8));
            assert_eq!(policy.on_forward_rm(&frm(acr)), CellRate::new(acr));
            assert!(policy.on_backward_rm(&backward(acr, 64_000.0)));
            assert_eq!(policy.on_forward_rm(&frm(acr + 0.5)), CellRate::new(acr));
            assert!(!policy.on_backward_rm(&backward(acr, 64_000.0)));
        }
    }

    #[test]
    fn after_tc_all_that_is_unused_is_gone() {
        let mut policy = policy(SUM);
        let acr = policy.on_forward_rm(&forward(64_000.0, 2, Duration::from_secs(1)));
        assert_eq!(acr, CellRate::new(ICR + 2.0));
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        let refused = |config: TimeBasedConfig| config.check().map_err(|error| error.name);
        let default = TimeBasedConfig::default();
        let floor = TimeBasedFloor::IcrOrMultiple { tof: 0.0 };
        assert_eq!(refused(TimeBasedConfig { floor, ..default }), Err("tof"));
        assert_eq!(refused(TimeBasedConfig { addf: 0.0, ..default }), Err("addf"));
        assert_eq!(refused(TimeBasedConfig { tc: Some(Duration::ZERO), ..default }), Err("tc"));
        assert_eq!(refused(default), Ok(()));
    }
}
