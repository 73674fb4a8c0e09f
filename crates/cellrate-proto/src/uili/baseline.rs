//! Baseline rule 5, the interim enhancement of August 1995 (paper uili, section 4.2).

use super::built_in::BuiltIn;
use super::rule_5b::Rule5b;
use super::{BackwardRmContext, ForwardRmContext, UiliPolicy};
use crate::declaration::{Range, Shape, Table, words};
use crate::parameters::AbrParameters;
use crate::units::CellRate;

/// Parameters of [`Baseline`].
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct BaselineConfig {
    /// Share of ACR that is lost each time.
    #[key(default = "1/8", range = Range::FRACTION)]
    pub tdf: f64,
    /// Rate below which ACR is not lowered.
    #[key(default = "icr")]
    pub floor: BaselineFloor,
    /// Prohibit no increase: the next backward RM cell may raise ACR again.
    #[key(default = "false")]
    pub pni: bool,
}

impl BuiltIn for Baseline {
    type Config = BaselineConfig;

    const SHAPE: Shape = Shape {
        name: "baseline",
        about: "Enhanced August 1995 (paper uili, section 4.2).",
        keys: BaselineConfig::KEYS,
    };

    fn for_source(config: &BaselineConfig, _parameters: &AbrParameters) -> Baseline {
        Baseline::new(config)
    }
}

words! {
    /// The floor of [`Baseline`]. The paper names two changes against August 1995, the count based formula and the
    /// additive headroom, and no new floor; it counts the floor among the open issues of December (section 5.1).
    #[derive(Default)]
    pub enum BaselineFloor {
        /// ICR, as in August 1995 (default).
        #[default]
        Icr = "icr",
        /// SR + ICR, the edge of the headroom, as in the count based policy.
        SourceRatePlusIcr = "source-rate-plus-icr",
    }
}

/// Before an FRM, with ACR > SR + ICR:
///
/// ```text
/// ACR := max(ICR, ACR * (1 - TDF))                                          (rule 5a)
/// the next BRM may not raise ACR, unless PNI                                (rule 5b)
/// ```
///
/// Within the headroom the next BRM takes ACR up to the feedback again: it swings between the two (section 7.1).
#[derive(Clone, Debug)]
pub struct Baseline {
    rule_5b: Rule5b,
    tdf: f64,
    floor: BaselineFloor,
}

impl Baseline {
    /// Ready for the first FRM.
    pub fn new(config: &BaselineConfig) -> Baseline {
        Baseline { rule_5b: Rule5b::new(config.pni), tdf: config.tdf, floor: config.floor }
    }
}

impl UiliPolicy for Baseline {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        let ForwardRmContext { acr, icr, .. } = *context;
        let goal = context.source_rate() + icr;
        if acr <= goal {
            return acr;
        }
        self.rule_5b.on_trigger();
        let floor = match self.floor {
            BaselineFloor::Icr => icr,
            BaselineFloor::SourceRatePlusIcr => goal,
        };
        (acr * (1.0 - self.tdf)).max(floor)
    }

    fn on_backward_rm(&mut self, _context: &BackwardRmContext) -> bool {
        self.rule_5b.on_backward_rm()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ICR, backward, forward};
    use super::*;
    use crate::units::Duration;

    /// SR = 32 cells in 4 ms = 8000 cells/s; the goal is 8000 + ICR = 10,000.
    fn frm(acr: f64) -> ForwardRmContext {
        forward(acr, 32, Duration::from_ms(4))
    }

    #[test]
    fn a_trigger_takes_an_eighth_and_the_next_increase() {
        let mut policy = Baseline::new(&BaselineConfig::default());
        assert_eq!(policy.on_forward_rm(&frm(64_000.0)), CellRate::new(56_000.0));
        assert!(!policy.on_backward_rm(&backward(56_000.0, 64_000.0)));
        assert!(policy.on_backward_rm(&backward(56_000.0, 64_000.0)));
    }

    #[test]
    fn within_icr_of_the_source_rate_nothing_happens() {
        let mut policy = Baseline::new(&BaselineConfig::default());
        assert_eq!(policy.on_forward_rm(&frm(10_000.0)), CellRate::new(10_000.0));
        assert!(policy.on_backward_rm(&backward(10_000.0, 64_000.0)));
        assert!(policy.on_forward_rm(&frm(10_000.1)) < CellRate::new(10_000.0));
        assert!(!policy.on_backward_rm(&backward(10_000.0, 64_000.0)));
    }

    #[test]
    fn the_floors_differ_just_above_the_goal() {
        // 10,400 * 7/8 = 9100: above ICR, below the goal.
        let mut to_icr = Baseline::new(&BaselineConfig::default());
        assert_eq!(to_icr.on_forward_rm(&frm(10_400.0)), CellRate::new(9_100.0));
        let floor = BaselineFloor::SourceRatePlusIcr;
        let mut to_goal = Baseline::new(&BaselineConfig { floor, ..BaselineConfig::default() });
        assert_eq!(to_goal.on_forward_rm(&frm(10_400.0)), CellRate::new(10_000.0));
        let mut at_once = Baseline::new(&BaselineConfig { tdf: 1.0, ..BaselineConfig::default() });
        assert_eq!(at_once.on_forward_rm(&frm(64_000.0)), CellRate::new(ICR));
    }

    #[test]
    fn tdf_outside_its_range_is_refused() {
        for (tdf, expected) in [(-0.1, Err("tdf")), (0.0, Ok(())), (1.0, Ok(())), (1.1, Err("tdf"))] {
            let config = BaselineConfig { tdf, ..BaselineConfig::default() };
            assert_eq!(config.check().map_err(|error| error.name), expected, "{tdf}");
        }
    }
}
