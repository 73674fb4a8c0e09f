//! The windows of a run one after the other on the calling thread, as far as the caller asks.
//!
//! The [`scheduler`](super::scheduler) runs to the end and calls back meanwhile. Where the caller must have control
//! again, because it has one thread and other work to do on it, windows run here: each cluster in turn runs one, then
//! all the next.

use cellrate_proto::Time;

use super::exchange::Exchange;
use super::scheduler::Windows;
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::scratch::Scratch;

/// The windows of a run that are still to come.
#[derive(Debug)]
pub(crate) struct Serial {
    pub exchange: Exchange,
    windows: Windows,
    /// Number of windows that have been run.
    done: u64,
    scratch: Scratch,
}

impl Serial {
    /// Makes a run that has not begun.
    pub fn new(exchange: Exchange, windows: Windows) -> Serial {
        Serial { exchange, windows, done: 0, scratch: Scratch::default() }
    }

    /// The end of the last window that was run: all that happens before has happened.
    pub fn now(&self) -> Time {
        self.done.checked_sub(1).map_or(self.windows.start, |last| self.windows.end_of(last))
    }

    /// Continues with `windows`, which begin where those before have ended.
    pub fn extend(&mut self, windows: Windows) {
        (self.windows, self.done) = (windows, 0);
    }

    /// Runs one more window of all clusters. Whether there was one.
    pub fn run_window(&mut self, clusters: &mut [Cluster]) -> bool {
        if self.done >= self.windows.count() {
            return false;
        }
        let until = self.windows.end_of(self.done);
        for (number, cluster) in clusters.iter_mut().enumerate() {
            std::mem::swap(&mut cluster.scratch, &mut self.scratch);
            if self.exchange.prefetches {
                cluster.read_ahead();
            }
            self.exchange.deliver(number, cluster, self.done);
            cluster.run_until(until);
            self.exchange.post(number, cluster, self.done);
            std::mem::swap(&mut cluster.scratch, &mut self.scratch);
        }
        self.done += 1;
        true
    }
}
