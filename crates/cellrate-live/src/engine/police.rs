//! Policers where cells come to a switch (UPC, NPC), as in the simulator: what they discard has never come to the
//! switch.

use cellrate_engine::policing::{self, Checkpoint, PolicingSummary};
use cellrate_proto::policing::contract::Verdict;
use cellrate_proto::policing::usage::{PolicedCell, UsageCounts};
use cellrate_proto::{Direction, Time};
use cellrate_scenario::Scenario;

use super::cell::Cell;

/// The policers of the switches of this process.
#[derive(Debug, Default)]
pub(crate) struct Police {
    policers: policing::Police,
    /// Places of the policers in the scenario, each with its hop.
    checkpoints: Vec<(Checkpoint, u32)>,
}

impl Police {
    /// Adds a policer of what arrives over `hop`, by the BRMs that leave over `hop_back`.
    pub fn add(&mut self, checkpoint: Checkpoint, hop: u32, hop_back: u32) {
        self.policers.add(&checkpoint, hop, hop_back);
        self.checkpoints.push((checkpoint, hop));
    }

    /// The cell that goes on, tagged or not, of one that reaches a switch at `now`; `None` where it is discarded.
    #[inline]
    pub fn on_arrival(&mut self, now: Time, cell: Cell) -> Option<Cell> {
        // Which OAM cells a bucket sees is a matter of set-up: here none does.
        if self.checkpoints.is_empty() || cell.is_oam() {
            return Some(cell);
        }
        let seen = || PolicedCell {
            clp: cell.clp(),
            ends_pdu: cell.is_data() && cell.user_bit(),
            is_forward_rm: cell.is_rm() && cell.to_rm().is_ok_and(|rm| rm.direction == Direction::Forward),
        };
        match self.policers.on_arrival(now, cell.hop, seen) {
            Verdict::Pass => Some(cell),
            Verdict::Tag => Some(cell.tagged()),
            Verdict::Discard => None,
        }
    }

    /// Shows a cell that leaves a port at `now`, whether the line loses it or not.
    #[inline]
    pub fn on_departure(&mut self, now: Time, cell: &Cell) {
        if self.checkpoints.is_empty() || !cell.is_rm() {
            return;
        }
        let explicit_rate = || {
            let rm = cell.to_rm().ok()?;
            (rm.direction == Direction::Backward).then(|| rm.explicit_rate.rate())
        };
        self.policers.on_backward_rm(now, cell.hop, explicit_rate);
    }

    /// The rows of all policers, in the order of the directions and of their ways.
    pub fn rows(&self, scenario: &Scenario) -> Vec<PolicingSummary> {
        let row = |(checkpoint, hop): &(Checkpoint, u32)| {
            PolicingSummary::new(scenario, checkpoint, self.policers.counts(*hop), UsageCounts::default())
        };
        self.checkpoints.iter().map(row).collect()
    }
}
