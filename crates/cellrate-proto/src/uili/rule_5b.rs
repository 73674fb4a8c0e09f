//! Rule 5b of the draft of August 1995 (paper uili, sections 3 and 4.2).

/// "ACR shall not be increased upon reception of the next backward RM cell": one BRM after a trigger, unless PNI is
/// set.
///
/// The next BRM is the next one that arrives, whatever it asks for: one that orders a decrease is obeyed and ends the
/// prohibition as well. A second trigger before it arrives changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule5b {
    /// PNI, prohibit no increase.
    pni: bool,
    /// Whether the next BRM may not raise ACR.
    armed: bool,
}

impl Rule5b {
    /// `pni` switches the rule off.
    pub const fn new(pni: bool) -> Rule5b {
        Rule5b { pni, armed: false }
    }

    /// The policy found ACR unused.
    pub fn on_trigger(&mut self) {
        self.armed = !self.pni;
    }

    /// A BRM arrived: whether an increase may be followed.
    pub fn on_backward_rm(&mut self) -> bool {
        !core::mem::take(&mut self.armed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_brm_after_a_trigger_may_not_increase_and_the_next_may() {
        let mut rule = Rule5b::new(false);
        assert!(rule.on_backward_rm());
        rule.on_trigger();
        rule.on_trigger();
        assert!(!rule.on_backward_rm());
        assert!(rule.on_backward_rm());
    }

    #[test]
    fn pni_prohibits_the_prohibition() {
        let mut rule = Rule5b::new(true);
        rule.on_trigger();
        assert!(rule.on_backward_rm());
    }
}
