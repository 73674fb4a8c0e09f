//! Policers where cells come to a switch (UPC, NPC): every cell of a policed direction is an event there.
//!
//! What a policer discards has never come to the switch: no port counts it. A policer of ABR has to know when BRMs
//! leave towards the source, so every departure from the port in that direction is an event; and the port that the
//! cells go on by is never deferred, because what passes has to come there when it does.

use cellrate_proto::Time;
use cellrate_proto::policing::contract::Verdict;
use cellrate_proto::policing::usage::PolicedCell;

use super::hop::NONE;
use super::state::cluster::Cluster;
use crate::cell::Cell;

impl Cluster {
    /// Takes the cell that reaches a switch that polices it.
    pub(super) fn on_policed(&mut self, now: Time, lane: usize, leaf: usize) {
        let place = &mut self.lanes[lane];
        let Some(cell) = place.cells.pop() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let next = place.cells.first().map_or(Time::NEVER, |cell| cell.arrives);
        self.schedule.set(leaf, next);
        if cell.loopback().is_some() {
            // Which OAM cells a bucket sees is a matter of set-up: here none does.
            return self.pass_loopback(now, leaf, cell);
        }
        let Some(cell) = self.police(now, cell) else { return };
        if self.hops[cell.hop()].endpoint == NONE {
            self.forward(now, leaf, cell);
        } else {
            self.end_loop(now, cell);
        }
    }

    /// The cell as the policer at the end of its hop, if there is one, lets it pass.
    pub(super) fn police(&mut self, now: Time, cell: Cell) -> Option<Cell> {
        let seen = || PolicedCell {
            clp: cell.clp(),
            ends_pdu: cell.is_data() && cell.ends_pdu(),
            is_forward_rm: !cell.is_data() && !cell.is_backward_rm(),
        };
        match self.police.on_arrival(now, cell.hop() as u32, seen) {
            Verdict::Pass => Some(cell),
            Verdict::Tag => Some(cell.tagged()),
            Verdict::Discard => {
                let flow = self.hops[cell.hop()].flow;
                *self.dropped.entry(flow).or_default() += 1;
                None
            }
        }
    }
}
