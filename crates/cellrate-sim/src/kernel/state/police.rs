//! The policers of a cluster, and what they have to see.

use std::collections::BTreeMap;

use cellrate_proto::Time;
use cellrate_proto::policing::usage::UsageControl;

use crate::cell::Cell;

/// The policers of a cluster.
#[derive(Debug, Default)]
pub(crate) struct Police {
    /// By the hop at whose far end cells are policed.
    pub policers: BTreeMap<u32, UsageControl>,
    /// The hop that a policer polices, by the hop of the BRMs that it has to see leave.
    pub watched: BTreeMap<u32, u32>,
}

impl Police {
    /// A cell leaves a port at `now`.
    pub fn on_departure(&mut self, now: Time, cell: &Cell) {
        if !cell.is_backward_rm() {
            return;
        }
        let policed = self.watched.get(&(cell.hop() as u32));
        if let Some(policer) = policed.and_then(|hop| self.policers.get_mut(hop)) {
            policer.on_backward_rm(now, cell.explicit_rate().rate());
        }
    }
}
