//! The first proposal (Barnhart, AF-TM 95-0193, February 1995; paper uili, section 3). History: it reacts to missing
//! feedback rather than to missing traffic, has no floor but MCR, and can take everything at once.

use super::built_in::BuiltIn;
use super::{BackwardRmContext, ForwardRmContext, UiliPolicy, rdf_divisor};
use crate::declaration::{Range, Shape, Table};
use crate::parameters::AbrParameters;
use crate::units::{CellRate, Time};

/// Parameters of [`February1995`].
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct February1995Config {
    /// Forward RM cells without a backward one or a decrease before ACR falls.
    #[key(default = "2", holds(tof >= 1, "at least 1"))]
    pub tof: u32,
    /// Divisor of the decrease, as in 1995: 512 where abr.rdf is 1/512.
    #[key(default = "1 / abr.rdf", range = Range::AT_LEAST_ONE)]
    pub rdf: Option<f64>,
}

impl BuiltIn for February1995 {
    type Config = February1995Config;

    const SHAPE: Shape = Shape {
        name: "february-1995",
        about: "ACR falls with the time without a backward RM cell (paper uili, section 3).",
        keys: February1995Config::KEYS,
    };

    fn for_source(config: &February1995Config, parameters: &AbrParameters) -> February1995 {
        February1995::new(config, parameters)
    }
}

/// Before an FRM, when TOF FRMs have left since the last BRM and the last decrease:
///
/// ```text
/// ACR := ACR * (1 - T * ACR / RDF)       T: time since the last BRM, or the last decrease if that was later
/// ```
///
/// T * ACR are the cells that could have been sent in that time, so that RDF is a number of cells. Once they exceed it
/// ACR falls to MCR. Open in the paper, and taken so: a decrease is any that the source made by itself (rules 5 and 6
/// and this one), because those that the network orders come with a BRM; nothing forbids the next increase.
#[derive(Clone, Debug)]
pub struct February1995 {
    /// The last BRM or decrease; `None` before the first.
    heard: Option<Time>,
    /// FRMs sent since then.
    sent: u32,
    /// RDF, here a number of cells.
    rdf: f64,
    tof: u32,
}

impl February1995 {
    /// For a source with `parameters`.
    pub fn new(config: &February1995Config, parameters: &AbrParameters) -> February1995 {
        // The policy is not asked before the first FRM: when it is called, that one is out.
        February1995 { heard: None, sent: 1, rdf: rdf_divisor(config.rdf, parameters), tof: config.tof }
    }
}

impl UiliPolicy for February1995 {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        let first_frm = Time::from_ps(context.now.as_ps() - context.elapsed.as_ps());
        let heard = *self.heard.get_or_insert(first_frm);
        let mut acr = context.acr;
        if !context.decreased && self.sent >= self.tof {
            let cells = acr.cells_in(context.now.since(heard));
            acr = acr * (1.0 - cells / self.rdf).max(0.0);
        }
        if context.decreased || acr < context.acr {
            self.heard = Some(context.now);
            self.sent = 0;
        }
        self.sent += 1;
        acr
    }

    fn on_backward_rm(&mut self, context: &BackwardRmContext) -> bool {
        self.heard = Some(context.now);
        self.sent = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{backward, forward, parameters};
    use super::*;
    use crate::units::Duration;

    fn policy() -> February1995 {
        let config = February1995Config { tof: 2, rdf: Some(512.0) };
        February1995::new(&config, &parameters())
    }

    /// The FRM at `ms`, 1 ms after the last, with ACR 64,000 cells/s.
    fn frm_at(ms: u64) -> ForwardRmContext {
        ForwardRmContext {
            now: Time::ZERO + Duration::from_ms(ms),
            ..forward(64_000.0, 32, Duration::from_ms(1))
        }
    }

    #[test]
    fn acr_falls_by_the_cells_of_the_silence_over_rdf() {
        // The first FRM left at 0. At 1 ms one is out, at 2 ms two: T = 2 ms, 128 cells of 512: a quarter off.
        let mut policy = policy();
        assert_eq!(policy.on_forward_rm(&frm_at(1)), CellRate::new(64_000.0));
        assert_eq!(policy.on_forward_rm(&frm_at(2)), CellRate::new(48_000.0));
        // The decrease begins the count and T anew: 1 FRM at 3 ms; at 4 ms T = 2 ms again.
        assert_eq!(policy.on_forward_rm(&frm_at(3)), CellRate::new(64_000.0));
        assert_eq!(policy.on_forward_rm(&frm_at(4)), CellRate::new(48_000.0));
    }

    #[test]
    fn a_brm_begins_the_count_anew() {
        let mut policy = policy();
        policy.on_forward_rm(&frm_at(1));
        assert!(
            policy.on_backward_rm(&BackwardRmContext { now: frm_at(1).now, ..backward(64_000.0, 64_000.0) })
        );
        assert_eq!(policy.on_forward_rm(&frm_at(2)), CellRate::new(64_000.0));
        assert_eq!(policy.on_forward_rm(&frm_at(3)), CellRate::new(64_000.0));
        assert_eq!(policy.on_forward_rm(&frm_at(4)), CellRate::new(64_000.0 * (1.0 - 3.0 * 64.0 / 512.0)));
    }

    #[test]
    fn a_decrease_by_another_rule_begins_the_count_anew() {
        let mut policy = policy();
        policy.on_forward_rm(&frm_at(1));
        let decreased = ForwardRmContext { decreased: true, ..frm_at(2) };
        assert_eq!(policy.on_forward_rm(&decreased), CellRate::new(64_000.0));
        assert_eq!(policy.on_forward_rm(&frm_at(3)), CellRate::new(64_000.0));
    }

    #[test]
    fn a_long_silence_takes_everything() {
        // 8 ms at 64,000 cells/s are 512 cells.
        let mut policy = policy();
        policy.on_forward_rm(&frm_at(1));
        assert_eq!(policy.on_forward_rm(&frm_at(8)), CellRate::ZERO);
    }

    #[test]
    fn rdf_is_that_of_the_connection_unless_set() {
        let mut policy = February1995::new(&February1995Config::default(), &parameters());
        policy.on_forward_rm(&frm_at(1));
        assert_eq!(policy.on_forward_rm(&frm_at(2)), CellRate::new(48_000.0)); // RDF = 1/512
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        let refused = |config: February1995Config| config.check().map_err(|error| error.name);
        assert_eq!(refused(February1995Config { tof: 0, rdf: None }), Err("tof"));
        assert_eq!(refused(February1995Config { tof: 1, rdf: Some(0.9) }), Err("rdf"));
        assert_eq!(refused(February1995Config { tof: 1, rdf: Some(1.0) }), Ok(()));
    }
}
