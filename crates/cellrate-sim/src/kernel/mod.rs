//! The kernel: exact order of events, at the cost of a few nanoseconds per cell and hop.
//!
//! # What an event is
//!
//! No cell is ever an entry of a queue of events. A cell on a link waits in the link's ring, stamped with its arrival; the
//! scheduler knows the first cell of each ring, the next cell of each source and the next departure of each port that
//! keeps real queues ([`schedule`]). Most ports keep none: the departure of a cell follows from the backlog that it finds.
//!
//! # Order at the same instant
//!
//! 1. departures from served ports, in the order of the ports;
//! 2. samples of series;
//! 3. arrivals over links, in the order of the ports they left;
//! 4. transmissions of sources, in the order of the connections, forward before backward;
//! 5. timers of TCP, in the same order. A segment that arrives is dealt with at the arrival of its last cell.
//!
//! A port's order is twice its link's index plus the end it sends from. An averaging interval that ends at an instant ends
//! after the departures and samples and before the arrivals of that instant. Events at or after the end of the run do not happen.
//!
//! # Clusters and windows
//!
//! Nodes joined by short links form a [`cluster`] with a scheduler of its own. The links between clusters have a useful
//! delay, and nothing that leaves one cluster within a window no longer than the smallest of these delays can arrive in
//! another within the same window: a cell that comes to a port at t reaches the far end at t + cell time + delay or later.
//! So each cluster runs by itself to the end of the window, and then the cells between clusters change hands. No event is
//! missed, and as only events of one node can touch one another at the same instant, the result is the same as with a
//! single scheduler, to the last bit.

pub(crate) mod cell;
pub(crate) mod cluster;
pub(crate) mod hop;
pub(crate) mod partition;
pub(crate) mod ring;

use std::ops::ControlFlow;

use cellrate_proto::{Duration, Time};

use crate::results::{Progress, RunError};
pub(crate) use cellrate_drive::schedule;
use cluster::Cluster;

/// A network at work.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub clusters: Vec<Cluster>,
    /// Ends of connections with TCP in different clusters: where PDUs leave, and where they arrive, as (cluster, endpoint).
    pub conduits: Vec<[(usize, usize); 2]>,
    /// How long clusters may run by themselves.
    pub window: Duration,
}

/// Somebody who looks at the clusters between windows.
pub(crate) type Watch<'a> = dyn FnMut(&mut [Cluster]) -> ControlFlow<()> + 'a;

/// Calls to the progress function per run, at most.
const PROGRESS_STEPS: u64 = 200;

impl Kernel {
    /// Runs from the start to `end`. `watch` looks at the clusters after every window; a break ends the run.
    pub fn run(
        &mut self,
        end: Time,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<(), RunError> {
        if let Some(allowed) = self.clusters.iter().map(Cluster::last_instant).min()
            && end > allowed
        {
            return Err(RunError::TooLong { allowed_ps: allowed.as_ps() });
        }
        let step = Duration::from_ps((end.as_ps() / PROGRESS_STEPS).max(1));
        let (mut now, mut next_progress) = (Time::ZERO, Time::ZERO);
        while now < end {
            if now >= next_progress {
                next_progress = now + step;
                let fraction = now.as_ps() as f64 / end.as_ps() as f64;
                if progress(Progress { fraction }).is_break() {
                    return Err(RunError::Interrupted);
                }
            }
            now = now.saturating_add(self.window.min(step)).min(end);
            self.clusters.iter_mut().for_each(|cluster| cluster.run_until(now));
            self.exchange();
            if let Some(watch) = &mut watch
                && watch(&mut self.clusters).is_break()
            {
                return Err(RunError::Interrupted);
            }
        }
        for cluster in &mut self.clusters {
            cluster.catch_up_all(end);
            cluster.finish(end);
        }
        Ok(())
    }

    /// Cells that left for other clusters arrive there, and what the cells of PDUs stand for.
    fn exchange(&mut self) {
        for &[(from, sender), (to, receiver)] in &self.conduits {
            let Some(adapter) = self.clusters[from].endpoints[sender].supply.adapter_mut() else { continue };
            if adapter.departed.is_empty() {
                continue;
            }
            let mut departed = std::mem::take(&mut adapter.departed);
            if let Some(interface) = &mut self.clusters[to].endpoints[receiver].interface {
                interface.arrivals.append(&mut departed);
            }
            // Given back, so that it keeps its room.
            if let Some(adapter) = self.clusters[from].endpoints[sender].supply.adapter_mut() {
                adapter.departed = departed;
            }
        }
        for from in 0..self.clusters.len() {
            for outbox in 0..self.clusters[from].outboxes.len() {
                // Taken out and put back, so that the outbox keeps its room: windows do not allocate.
                let place = &mut self.clusters[from].outboxes[outbox];
                let (to, input) = (place.cluster as usize, place.input as usize);
                let mut cells = std::mem::take(&mut place.cells);
                self.clusters[to].receive(input, &cells);
                cells.clear();
                self.clusters[from].outboxes[outbox].cells = cells;
            }
        }
    }
}
