//! Relative-rate marking (TM 4.0, 5.10.6 b; paper stop-and-go, section 2).

use super::built_in::{BuiltIn, Form};
use super::{Feedback, Meter, Promises, Slot, SwitchAlgorithm};
use crate::declaration::{Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Time};

/// When a port sets CI and NI.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct RelativeRateConfig {
    /// CI and NI are set while the ABR queue is at or above this.
    #[key(holds(threshold > Cells::ZERO, "at least 1 cell"))]
    pub threshold: Cells,
    /// NI alone is set while the ABR queue is at or above this and below the other.
    #[key(default = "threshold", or = threshold, holds(ni_threshold > Cells::ZERO && ni_threshold <= threshold, "from 1 cell to threshold"))]
    pub ni_threshold: Cells,
    /// CI, once set, stays set until a BRM finds the ABR queue below this.
    #[key(default = "threshold", or = threshold, holds(off_threshold > Cells::ZERO && off_threshold <= threshold, "from 1 cell to threshold"))]
    pub off_threshold: Cells,
    /// NI, once set, stays set until a BRM finds the ABR queue below this.
    #[key(default = "ni_threshold", or = ni_threshold, holds(ni_off_threshold > Cells::ZERO && ni_off_threshold <= ni_threshold, "from 1 cell to ni_threshold"))]
    pub ni_off_threshold: Cells,
}

impl BuiltIn for RelativeRate {
    type Config = RelativeRateConfig;

    const FORMS: &'static [Form] = &[Form {
        title: "relative rate",
        shape: Shape {
            name: "relative-rate",
            about: "CI and NI are set by a queue threshold, or NI by one and both by another (TM 4.0, 5.10.6 b).",
            keys: RelativeRateConfig::KEYS,
        },
        figures: &[],
    }];
    const HANDS_OUT_RATES: bool = false;

    fn at_port(config: &RelativeRateConfig, _link_rate: CellRate) -> RelativeRate {
        RelativeRate::new(*config)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<RelativeRateConfig, V::Error> {
        RelativeRateConfig::read(values)
    }

    fn check(config: &RelativeRateConfig) -> Result<(), ParameterError> {
        config.check()
    }
}

/// The algorithm. Each BRM is answered from the queue that it finds, and from whether the bits were set in the answer
/// before.
#[derive(Clone, Debug)]
pub struct RelativeRate {
    config: RelativeRateConfig,
    /// State of CI and of NI after the last BRM.
    set: [bool; 2],
}

impl RelativeRate {
    /// Marks by `config`.
    pub const fn new(config: RelativeRateConfig) -> RelativeRate {
        RelativeRate { config, set: [false; 2] }
    }
}

impl SwitchAlgorithm for RelativeRate {
    fn on_backward_rm(
        &mut self,
        _now: Time,
        _slot: Slot,
        queue: Cells,
        _meter: &Meter,
        feedback: &mut Feedback,
    ) {
        let RelativeRateConfig { threshold, ni_threshold, off_threshold, ni_off_threshold } = self.config;
        let after = |was: bool, on: Cells, off: Cells| queue >= if was { off } else { on };
        let [congested, held] = self.set;
        self.set = [after(congested, threshold, off_threshold), after(held, ni_threshold, ni_off_threshold)];
        if self.set[0] {
            feedback.indicate_congestion();
        }
        if self.set != [false; 2] {
            feedback.forbid_increase();
        }
    }
}

impl Promises for RelativeRate {
    fn ignores_open_interval(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig, VcAtPort};

    fn answer(queue: u64, came: Feedback) -> Feedback {
        answer_of(RelativeRateConfig::new(Cells(250)), queue, came)
    }

    fn answer_of(config: RelativeRateConfig, queue: u64, came: Feedback) -> Feedback {
        let algorithm = SwitchAlgorithmConfig::RelativeRate(config);
        let config = PortControlConfig { algorithm, ..PortControlConfig::default() };
        let mut port = PortControl::new(&config, CellRate::new(353_207.5));
        let pcr = CellRate::new(353_207.5);
        let slot = port.connect(&VcAtPort {
            pcr,
            mcr: CellRate::ZERO,
            weight: 1.0,
            round_trip: crate::units::Duration::ZERO,
        });
        assert!(!port.needs_meter());
        assert_eq!(port.next_deadline(), Time::NEVER);
        let mut feedback = came;
        port.on_backward_rm(Time::ZERO, slot, Cells(queue), &mut feedback);
        feedback
    }

    #[test]
    fn at_the_threshold_ci_and_ni_are_set_and_er_stays() {
        let er = RateCode::floor(CellRate::new(1_000.0));
        assert_eq!(answer(250, Feedback::new(er, false, false)), Feedback::new(er, true, true));
        assert_eq!(answer(4_000, Feedback::new(er, false, true)), Feedback::new(er, true, true));
    }

    #[test]
    fn between_two_thresholds_ni_alone_is_set() {
        let config = RelativeRateConfig { ni_threshold: Cells(100), ..RelativeRateConfig::new(Cells(250)) };
        let came = Feedback::new(RateCode::MAX, false, false);
        let answers = [99, 100, 249, 250].map(|queue| answer_of(config, queue, came));
        assert_eq!(
            answers,
            [(false, false), (false, true), (false, true), (true, true)]
                .map(|(ci, ni)| { Feedback::new(RateCode::MAX, ci, ni) })
        );
        let above = RelativeRateConfig { ni_threshold: Cells(251), ..config };
        assert_eq!(above.check().unwrap_err().name, "ni_threshold");
    }

    #[test]
    fn a_bit_that_is_set_stays_until_a_brm_finds_less_than_the_lower_threshold() {
        let config = RelativeRateConfig {
            ni_threshold: Cells(200),
            off_threshold: Cells(100),
            ni_off_threshold: Cells(50),
            ..RelativeRateConfig::new(Cells(250))
        };
        assert_eq!(config.check(), Ok(()));
        let mut algorithm = RelativeRate::new(config);
        let answers = [199, 200, 50, 49, 250, 150, 100, 99, 49, 120].map(|queue| {
            let mut feedback = Feedback::new(RateCode::MAX, false, false);
            let meter = Meter::new(None);
            algorithm.on_backward_rm(Time::ZERO, Slot(0), Cells(queue), &meter, &mut feedback);
            (feedback.congestion_indication(), feedback.no_increase())
        });
        let (none, ni, both) = ((false, false), (false, true), (true, true));
        assert_eq!(answers, [none, ni, ni, none, both, both, both, ni, none, none]);
        for (wrong, name) in [
            (RelativeRateConfig { off_threshold: Cells(251), ..config }, "off_threshold"),
            (RelativeRateConfig { ni_off_threshold: Cells(201), ..config }, "ni_off_threshold"),
            (RelativeRateConfig { off_threshold: Cells(0), ..config }, "off_threshold"),
        ] {
            assert_eq!(wrong.check().unwrap_err().name, name);
        }
    }

    #[test]
    fn below_it_both_stay_as_they_came() {
        for (ci, ni) in [(false, false), (false, true), (true, false), (true, true)] {
            let came = Feedback::new(RateCode::MAX, ci, ni);
            assert_eq!(answer(249, came), came);
        }
    }
}
