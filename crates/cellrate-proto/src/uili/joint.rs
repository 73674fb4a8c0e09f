//! The joint source based policy (paper uili, section 5.4; TM 4.0, appendix I.8).

use super::built_in::BuiltIn;
use super::rule_5b::Rule5b;
use super::{BackwardRmContext, ForwardRmContext, UiliPolicy};
use crate::declaration::{Range, Shape, Table};
use crate::parameters::AbrParameters;
use crate::units::CellRate;

/// Parameters of [`Joint`].
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct JointConfig {
    /// Share of ACR that is lost each time.
    #[key(default = "1/16", range = Range::FRACTION)]
    pub tdf: f64,
    /// Prohibit no increase: the next backward RM cell may raise ACR again.
    #[key(default = "false")]
    pub pni: bool,
}

impl BuiltIn for Joint {
    type Config = JointConfig;

    const SHAPE: Shape = Shape {
        name: "joint",
        about: "The joint source based policy (paper uili, section 5.4; TM 4.0, appendix I.8).",
        keys: JointConfig::KEYS,
    };

    fn for_source(config: &JointConfig, _parameters: &AbrParameters) -> Joint {
        Joint::new(config)
    }
}

/// Before an FRM, with ACR > SR + ICR:
///
/// ```text
/// ACR := max(SR + ICR, ACR * (1 - TDF))
/// the next BRM may not raise ACR, unless PNI                                (rule 5b)
/// ```
///
/// The count based formula and floor with ICR for the headroom, without its hysteresis: once within the headroom, ACR
/// goes up with the feedback again (Fig. 4). No PR5: TDF is small.
#[derive(Clone, Debug)]
pub struct Joint {
    rule_5b: Rule5b,
    tdf: f64,
}

impl Joint {
    /// Ready for the first FRM.
    pub fn new(config: &JointConfig) -> Joint {
        Joint { rule_5b: Rule5b::new(config.pni), tdf: config.tdf }
    }
}

impl UiliPolicy for Joint {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        let floor = context.source_rate() + context.icr;
        if context.acr <= floor {
            return context.acr;
        }
        self.rule_5b.on_trigger();
        (context.acr * (1.0 - self.tdf)).max(floor)
    }

    fn on_backward_rm(&mut self, _context: &BackwardRmContext) -> bool {
        self.rule_5b.on_backward_rm()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{backward, forward};
    use super::*;
    use crate::units::Duration;

    /// SR = 32 cells in 4 ms = 8000 cells/s; the floor is 8000 + ICR = 10,000.
    fn frm(acr: f64) -> ForwardRmContext {
        forward(acr, 32, Duration::from_ms(4))
    }

    #[test]
    fn a_trigger_takes_a_sixteenth_and_the_next_increase() {
        let mut policy = Joint::new(&JointConfig::default());
        assert_eq!(policy.on_forward_rm(&frm(64_000.0)), CellRate::new(60_000.0));
        assert!(!policy.on_backward_rm(&backward(60_000.0, 64_000.0)));
        assert!(policy.on_backward_rm(&backward(60_000.0, 64_000.0)));
    }

    #[test]
    fn the_last_step_ends_on_the_floor_and_there_increases_are_followed() {
        let mut policy = Joint::new(&JointConfig::default());
        assert_eq!(policy.on_forward_rm(&frm(10_400.0)), CellRate::new(10_000.0));
        assert!(!policy.on_backward_rm(&backward(10_000.0, 64_000.0)));
        assert_eq!(policy.on_forward_rm(&frm(10_000.0)), CellRate::new(10_000.0));
        assert!(policy.on_backward_rm(&backward(10_000.0, 64_000.0)));
    }

    #[test]
    fn pni_leaves_only_the_decrease() {
        let mut policy = Joint::new(&JointConfig { pni: true, ..JointConfig::default() });
        assert_eq!(policy.on_forward_rm(&frm(64_000.0)), CellRate::new(60_000.0));
        assert!(policy.on_backward_rm(&backward(60_000.0, 64_000.0)));
    }
}
