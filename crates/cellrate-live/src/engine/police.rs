//! Policers where cells come to a switch (UPC, NPC), as in the simulator: what they discard has never come to the
//! switch.

use std::collections::BTreeMap;

use cellrate_engine::policing::{Checkpoint, PolicingSummary};
use cellrate_proto::policing::contract::Verdict;
use cellrate_proto::policing::usage::{PolicedCell, UsageControl, UsageCounts};
use cellrate_proto::{Direction, Time};
use cellrate_scenario::Scenario;

use super::cell::Cell;

/// The policers of the switches of this process.
#[derive(Debug, Default)]
pub(crate) struct Police {
    /// By the hop at whose far end cells are policed.
    policers: BTreeMap<u32, UsageControl>,
    /// The hop that a policer polices, by the hop of the BRMs that it has to see leave.
    watched: BTreeMap<u32, u32>,
    /// Places of the policers in the scenario, each with its hop.
    checkpoints: Vec<(Checkpoint, u32)>,
}

impl Police {
    /// Adds a policer of what arrives over `hop`, by the BRMs that leave over `hop_back`.
    pub fn add(&mut self, checkpoint: Checkpoint, hop: u32, hop_back: u32) {
        self.policers.insert(hop, UsageControl::new(&checkpoint.usage));
        self.watched.insert(hop_back, hop);
        self.checkpoints.push((checkpoint, hop));
    }

    /// The cell that goes on, tagged or not, of one that reaches a switch at `now`; `None` where it is discarded.
    #[inline]
    pub fn on_arrival(&mut self, now: Time, cell: Cell) -> Option<Cell> {
        // Which OAM cells a bucket sees is a matter of set-up: here none does.
        if self.policers.is_empty() || cell.is_oam() {
            return Some(cell);
        }
        let Some(policer) = self.policers.get_mut(&cell.hop) else { return Some(cell) };
        let is_forward_rm = cell.is_rm() && cell.to_rm().is_ok_and(|rm| rm.direction == Direction::Forward);
        let policed =
            PolicedCell { clp: cell.clp(), ends_pdu: cell.is_data() && cell.user_bit(), is_forward_rm };
        match policer.on_cell(now, policed) {
            Verdict::Pass => Some(cell),
            Verdict::Tag => Some(cell.tagged()),
            Verdict::Discard => None,
        }
    }

    /// Shows a cell that leaves a port at `now`, whether the line loses it or not.
    #[inline]
    pub fn on_departure(&mut self, now: Time, cell: &Cell) {
        if self.watched.is_empty() || !cell.is_rm() {
            return;
        }
        let policer = self.watched.get(&cell.hop).and_then(|hop| self.policers.get_mut(hop));
        let (Some(policer), Ok(rm)) = (policer, cell.to_rm()) else { return };
        if rm.direction == Direction::Backward {
            policer.on_backward_rm(now, rm.explicit_rate.rate());
        }
    }

    /// The rows of all policers, in the order of the directions and of their ways.
    pub fn rows(&self, scenario: &Scenario) -> Vec<PolicingSummary> {
        let row = |(checkpoint, hop): &(Checkpoint, u32)| {
            let counts = self.policers[hop].counts();
            PolicingSummary::new(scenario, checkpoint, counts, UsageCounts::default())
        };
        self.checkpoints.iter().map(row).collect()
    }
}
