//! The joint source based policy (paper uili, section 5.4; TM 4.0, appendix I.8).

use super::rule_5b::Rule5b;
use super::{BackwardRmContext, ForwardRmContext, UiliPolicy, check_tdf};
use crate::parameters::ParameterError;
use crate::units::CellRate;

/// Parameters of [`Joint`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointConfig {
    /// TDF, the share of ACR that a trigger takes [0 to 1]. Default 1/16, the constant of the proposal.
    pub tdf: f64,
    /// PNI, prohibit no increase: switches rule 5b off. Default false.
    pub pni: bool,
}

impl Default for JointConfig {
    fn default() -> JointConfig {
        JointConfig { tdf: 0.0625, pni: false }
    }
}

impl JointConfig {
    /// Refuses a TDF outside its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        check_tdf(self.tdf)
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
