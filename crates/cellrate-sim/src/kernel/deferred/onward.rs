//! Deferred ports from switch to switch within a cluster: cells go on over such links many at a time.
//!
//! Where all that leaves a FIFO for the next switch goes on by ports that are deferred, its data cells are not seen
//! there, and they need not be events here. RM cells and ends of PDUs are events at each switch, because a host far
//! behind may answer them: with each of them come the data cells before it.
//!
//! Whoever looks at a port behind such a one first has it [catch up](Cluster::catch_up_before), and those before that,
//! up to the same key: what comes to the port before that key has come to those before it sooner still. A cell that is
//! an event needs none of that where all cells of its port come over its own lane: they stand before it there.
//!
//! No cell is missed, because none waits but before deferred ports, and the end of a run looks at all of them.

use crate::kernel::ports::onward::FedBy;
use crate::kernel::state::cluster::Cluster;

impl Cluster {
    /// Finds out how the deferred ports behind such ports are fed, from their ways in.
    pub(in crate::kernel) fn find_fed(&mut self, ways_in: &[u32]) {
        for ((port, before), &ways_in) in self.ports.iter_mut().zip(&self.onward.before).zip(ways_in) {
            if !before.is_empty() {
                port.rare.get_or_insert_default().fed_by =
                    if ways_in == 1 { FedBy::One } else { FedBy::Mixed };
            }
        }
    }

    /// Has ports from other switches before `port` catch up to `limit`.
    #[cold]
    pub(in crate::kernel) fn catch_up_before(&mut self, port: usize, limit: u64) {
        let mut behind = self.onward.have_catch_up(port, limit);
        while let Some((_, port)) = behind.pop() {
            self.drain_all(port as usize, limit);
        }
        self.onward.behind = behind;
    }

    /// Deals with cells before `limit` that leave a FIFO for the next switch, as
    /// [`run_before_cluster`](Cluster::run_before_cluster) does.
    #[inline(never)]
    pub(in crate::kernel) fn run_onward(&mut self, number: usize, limit: u64) -> Option<usize> {
        let ended = self.run_before_link::<true>(number, limit);
        while let Some(lane) = self.scratch.begun.pop() {
            self.note_first(lane as usize);
        }
        ended
    }
}
