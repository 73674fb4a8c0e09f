//! Reading ahead: memory that a cluster works on is brought into the caches before it does.
//!
//! In a large network the state of a cluster is in no near cache when its window begins, and events touch it in the
//! order of time, which is a random order in memory: each line would be waited for, one after the other. Therefore all
//! of it is read first, in the order of memory. Then no load waits for another one, and the processor, which recognises
//! consecutive lines, fetches the next ones by itself.
//!
//! Where most connections are silent in a window, most of what is read would not be used: a cluster reads ahead where
//! at least as many cells moved in the window before as it has lanes and ends of connections.
//!
//! The values that are read are not used.

use std::hint::black_box;

use crate::endpoint::Endpoint;
use crate::kernel::hop::Hop;
use crate::kernel::lanes::lane::Lane;
use crate::kernel::ports::Port;
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::feed::Feed;
use crate::kernel::state::outbox::Outbox;

impl Cluster {
    /// Reads what the next window works on, if the last one worked on most of it.
    pub(crate) fn read_ahead(&mut self) {
        if std::mem::take(&mut self.moved) >= self.lanes.len() + self.endpoints.len() {
            self.prefetch();
        }
    }

    /// Reads a word of nearly each cache line of what a window works on.
    fn prefetch(&self) {
        let Cluster { hops, ports, lanes, feeds, endpoints, outboxes, .. } = self;
        read_through(ports, Port::prefetch);
        read_through(lanes, |lane: &Lane| lane.prefetch() ^ prefetch_hops(hops, lane));
        read_through(feeds, Feed::prefetch);
        read_through(endpoints, |endpoint: &Endpoint| {
            endpoint.prefetch() ^ u64::from(hops[endpoint.end.first_hop as usize].port)
        });
        read_through(outboxes, Outbox::prefetch);
    }
}

fn read_through<T>(items: &[T], prefetch: impl Fn(&T) -> u64) {
    black_box(items.iter().fold(0, |all, item| all ^ prefetch(item)));
}

/// The hops that its first cell comes over and goes on by.
#[inline]
fn prefetch_hops(hops: &[Hop], lane: &Lane) -> u64 {
    let Some(cell) = lane.cells.first() else { return 0 };
    let on = hops.get(cell.hop() + 1).map_or(0, |hop| hop.priority);
    u64::from(hops[cell.hop()].port) ^ u64::from(on)
}
