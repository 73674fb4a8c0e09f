//! BRMs that a switch originates (TM 4.0, 5.10.6; BN = 1, backward explicit congestion notification): a congested port
//! need not wait for an FRM to come back from the destination.
//!
//! A cell of a connection that comes to the port and finds a long ABR queue has a BRM sent to its source, 10 a second
//! at most for each connection. It says CI or NI, whichever it is configured to, and what the port's algorithm answers
//! to a BRM that passes. It is no answer to an FRM: with BN = 1 the source's count of missing BRMs (rule 6) stays what
//! it is.

use super::Slot;
use super::list::List;
use crate::declaration::{Table, words};
use crate::parameters::TCR;
use crate::rate_code::RateCode;
use crate::rm::{Direction, RmCell};
use crate::units::{CellRate, Cells, Time};

words! {
    /// Indication of a BRM that a switch originates: CI or NI.
    #[derive(Default)]
    pub enum BecnIndication {
        /// CI = 1: the source reduces its rate by RDF (default).
        #[default]
        Congestion = "ci",
        /// NI = 1: the source does not raise its rate; to lower it is left to ER.
        NoIncrease = "ni",
    }
}

/// When a cell of an ABR connection finds a long ABR queue, a BRM is sent to its source, at most 10 a second for each
/// connection. The algorithm of the port treats it like any BRM that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(name = "becn")]
pub struct BecnConfig {
    /// BRMs are originated while the ABR queue is at or above this; at least 1 cell.
    #[key(holds(threshold > Cells::ZERO, "at least 1 cell"))]
    pub threshold: Cells,
    /// Indication in the BRM: CI, the source is to reduce its rate by RDF, or NI, it is not to raise it.
    #[key(name = "sets", default = "ci")]
    pub indication: BecnIndication,
}

/// The BRMs that a port has originated.
#[derive(Clone, Debug)]
pub struct Becn {
    config: BecnConfig,
    /// By connection.
    connections: List<BecnVc>,
    originated: u64,
}

/// State of a connection: when it was last sent a BRM.
#[derive(Clone, Copy, Debug)]
struct BecnVc {
    mcr: RateCode,
    /// From when on there may be the next one.
    again: Time,
}

impl Becn {
    /// A port that has originated nothing yet.
    pub const fn new(config: BecnConfig) -> Becn {
        Becn { config, connections: List::new(), originated: 0 }
    }

    /// One more connection.
    pub(super) fn connect(&mut self, mcr: CellRate) {
        self.connections.push(BecnVc { mcr: RateCode::floor(mcr), again: Time::ZERO });
    }

    /// A cell of the connection has come and found an ABR queue of `queue` cells: the BRM to originate, if there is to
    /// be one.
    pub(super) fn originate(&mut self, now: Time, slot: Slot, queue: Cells) -> Option<RmCell> {
        let vc = &mut self.connections[slot];
        if queue < self.config.threshold || now < vc.again {
            return None;
        }
        vc.again = now.saturating_add(CellRate::new(TCR).interval());
        self.originated += 1;
        let indication = self.config.indication;
        Some(RmCell {
            direction: Direction::Backward,
            backward_notification: true,
            congestion_indication: indication == BecnIndication::Congestion,
            no_increase: indication == BecnIndication::NoIncrease,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::ZERO,
            minimum_cell_rate: vc.mcr,
            out_of_rate: true,
        })
    }

    /// How many there have been.
    pub(super) const fn originated(&self) -> u64 {
        self.originated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    const A: Slot = Slot(0);
    const B: Slot = Slot(1);

    fn becn(config: BecnConfig) -> Becn {
        assert_eq!(config.check(), Ok(()));
        let mut becn = Becn::new(config);
        becn.connect(CellRate::new(1_000.0));
        becn.connect(CellRate::ZERO);
        becn
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn from_the_threshold_on_each_connection_is_told_every_100_ms() {
        let mut becn = becn(BecnConfig::new(Cells(10)));
        for (at, slot, queue, told) in [
            (0, A, 9, false),
            (0, A, 10, true),
            (1, B, 500, true),
            (99, A, 500, false),
            (100, A, 500, true),
            (100, B, 500, false),
            (300, B, 9, false),
            (301, B, 10, true),
            (400, B, 10, false),
            (401, B, 10, true),
        ] {
            let brm = becn.originate(ms(at), slot, Cells(queue));
            assert_eq!(brm.is_some(), told, "{at} ms, {slot:?}, {queue} cells");
        }
        assert_eq!(becn.originated(), 5);
    }

    #[test]
    fn it_says_bn_and_one_of_ci_and_ni_and_leaves_er_alone() {
        for (indication, ci) in [(BecnIndication::Congestion, true), (BecnIndication::NoIncrease, false)] {
            let config = BecnConfig { indication, ..BecnConfig::new(Cells(1)) };
            let expected = RmCell {
                direction: Direction::Backward,
                backward_notification: true,
                congestion_indication: ci,
                no_increase: !ci,
                explicit_rate: RateCode::MAX,
                current_cell_rate: RateCode::ZERO,
                minimum_cell_rate: RateCode::floor(CellRate::new(1_000.0)),
                out_of_rate: true,
            };
            assert_eq!(becn(config).originate(ms(7), A, Cells(1)), Some(expected));
        }
    }

    #[test]
    fn a_threshold_of_an_empty_queue_is_refused() {
        let refused = BecnConfig::new(Cells(0)).check().map_err(|error| error.name);
        assert_eq!(refused, Err("threshold"));
    }
}
