//! Pauses: counts that are exact for an instant before the end of the run.
//!
//! Much is counted before its instant: a data cell on its last link as soon as its arrival is known, a train when it is
//! planned. Nothing is counted beyond [`Cluster::end`], so a run that has to be exact at some instant takes that for
//! its end first. There it is [settled](Cluster::settle), as it would be at the end; then it is
//! [resumed](Cluster::resume) with a later one: what was left on the last links, because it arrives later, is received,
//! and sources plan again. A run without pauses does none of this. One with pauses goes without
//! [`SharedHosts`](crate::mechanisms::Mechanism), which counts what waits at a host once, in the end.

use cellrate_proto::Time;

use super::lanes::lane::LaneEnd;
use super::state::cluster::Cluster;
use crate::endpoint::SendMode;

impl Cluster {
    /// Makes the cluster's state exact at `until`: everything before it has happened, and nothing is planned beyond it.
    pub(super) fn settle(&mut self, until: Time) {
        let last = Time::from_ps(until.as_ps().saturating_sub(1));
        self.bring_up_all(self.schedule.key(0, until), last);
        self.end_plans(until);
        self.end_shared_hosts();
        self.end_ahead();
    }

    /// Continues towards `next` from where the cluster has been settled.
    pub(super) fn resume(&mut self, next: Time) {
        let now = self.end;
        self.end = next;
        for lane in 0..self.lanes.len() {
            self.receive_what_stayed(lane);
        }
        for endpoint in 0..self.endpoints.len() {
            if let SendMode::Folded { .. } = self.endpoints[endpoint].send_mode {
                self.reschedule(now, endpoint);
            }
        }
        self.go_on_ahead();
    }

    /// Receives the cells that stayed on a last link, because they arrive after the pause, as if they had just been put
    /// there.
    fn receive_what_stayed(&mut self, lane: usize) {
        let leads_to = self.lanes[lane].leads_to;
        if !matches!(leads_to, LaneEnd::Host { every_cell: false } | LaneEnd::Behind { .. }) {
            return;
        }
        let mut stayed = Vec::with_capacity(self.lanes[lane].cells.len());
        while let Some(cell) = self.lanes[lane].cells.pop() {
            stayed.push(cell);
        }
        for cell in stayed {
            let endpoint = self.hops[cell.hop()].endpoint;
            self.approach(lane, endpoint, cell);
        }
        match leads_to {
            LaneEnd::Behind { port } => self.await_next(port as usize, lane),
            _ => {
                let place = &self.lanes[lane];
                let next = place.cells.first().map_or(Time::NEVER, |cell| cell.arrives);
                self.schedule.set(place.leaf as usize, next);
            }
        }
    }
}
