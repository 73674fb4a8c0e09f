//! Deferred ports: data cells are dealt with when someone looks, not when they come.
//!
//! What a data cell does to a port, nobody sees until somebody looks: the next RM cell there, a BRM that asks the port's
//! control, a sample, the end of a window. So where the link behind a port leads to another cluster, or to a host that counts
//! data cells early, the data cells that come to it wait in their lanes and feeds, are not events, and are merged in the
//! order of their keys just before anyone looks. The keys are those that their events would have, and everything that
//! looks has a key too, so that each finds exactly what it would have found had every cell been an event.
//!
//! No cell is missed. Those that have to be events are: RM cells, and ends of PDUs at a port to a host. Behind a train stands
//! what its source sends next, and that is worked out at the latest when its last cell is due, which is an event.
//! All other effects of a cell reach beyond the port over its link only, another cluster at the end of the window, a host
//! by counters that samples and the end of the run look at: and these look at all ports first.
//!
//! A port with real queues that is deferred has no departures as events either: they are caught up with in the same way.

use cellrate_proto::Time;

use super::cluster::{Cluster, Leaf, Outbox};
use super::hop::{Exit, Hop};
use super::lane::Course;
use super::tournament::NEVER;
use crate::port::{Admission, Port, Queues};

/// A lane to a host longer than this is emptied at the end of the window, though nobody looks.
const LONG: usize = 64;

impl Cluster {
    /// Everything that comes before `limit`, a key, has happened at `port` if it is deferred, departures at `now` included.
    #[inline]
    pub(super) fn bring_up(&mut self, port: usize, limit: u64, now: Time) {
        if self.ports[port].deferred {
            self.drain(port, limit);
            self.serve(port, now);
        }
    }

    /// All deferred ports, as of what has the key `limit` at `now`.
    pub(super) fn bring_up_all(&mut self, limit: u64, now: Time) {
        for port in 0..self.ports.len() {
            self.bring_up(port, limit, now);
        }
    }

    /// The window ends at `until`: what leaves for other clusters before that has left.
    pub(super) fn end_window(&mut self, until: Time) {
        let limit = self.schedule.key(0, until);
        let last = Time::from_ps(until.as_ps().saturating_sub(1));
        for index in 0..self.gateways.len() {
            self.bring_up(self.gateways[index] as usize, limit, last);
        }
        while let Some(port) = self.long.pop() {
            self.bring_up(port as usize, limit, last);
        }
    }

    /// Deals with the data cells that come to a deferred port before `limit`.
    pub(super) fn drain(&mut self, port: usize, limit: u64) {
        while let Some(feed) = self.drain_trains(port, limit) {
            self.go_on(feed);
        }
    }

    /// The same, until a train has come to its end: returns its feed.
    fn drain_trains(&mut self, number: usize, limit: u64) -> Option<usize> {
        let Cluster {
            ports, lanes, feeds, leaves, hops, outboxes, endpoints, schedule, dropped, end, ..
        } = self;
        let port = &mut ports[number];
        loop {
            let key = port.merge.first();
            if key >= limit {
                return None;
            }
            let (now, leaf) = schedule.split(key);
            let (cell, ended) = match leaves[leaf] {
                Leaf::Feed(index) => {
                    let feed = &mut feeds[index as usize];
                    let cell = feed.front.take();
                    let ended = feed.front.count == 0;
                    let next = if ended { NEVER } else { key + feed.key_step };
                    port.merge.set(feed.place as usize, next);
                    (cell, ended.then_some(index as usize))
                }
                Leaf::Lane(index) => {
                    let lane = &mut lanes[index as usize];
                    let Course::Deferred { place, pdu_ends_matter, .. } = lane.course else {
                        unreachable!("only lanes of deferred ports are merged");
                    };
                    let Some(cell) = lane.ring.pop() else {
                        unreachable!("a key stands for a cell");
                    };
                    let next = match lane.ring.first() {
                        Some(next) if !next.is_significant(pdu_ends_matter) => {
                            schedule.key(leaf, next.arrives)
                        }
                        _ => NEVER,
                    };
                    port.merge.set(place as usize, next);
                    (cell, None)
                }
                _ => unreachable!("only cells are merged"),
            };
            let number = cell.hop() + 1;
            let hop = &hops[number];
            let mut cell = cell.on_hop(number);
            if let Queues::Served(_) = port.queues {
                serve(port, now, hops, outboxes, dropped);
            }
            if port.metered {
                port.observe(now, usize::from(hop.priority), hop.slot, &cell);
            }
            match &mut port.queues {
                Queues::Fifo(fifo) => match fifo.admit(now) {
                    Some(arrives) => {
                        cell.arrives = arrives;
                        match hop.exit {
                            Exit::Outbox(outbox) => outboxes[outbox as usize].cells.push(cell),
                            Exit::Lane(lane) => {
                                if arrives < *end {
                                    let left_to_do = endpoints[hop.endpoint as usize].receive(cell);
                                    debug_assert!(
                                        left_to_do.is_none(),
                                        "what has to be done at an instant is an event"
                                    );
                                } else {
                                    // It stays on the link; the schedule never comes to it.
                                    lanes[lane as usize].ring.push(cell);
                                }
                            }
                            Exit::Feed(_) => unreachable!("no feed begins at a switch"),
                        }
                    }
                    None => lose(port, dropped, hop),
                },
                Queues::Served(served) => {
                    let priority = usize::from(hop.priority);
                    if let Admission::Lost = served.admit(now, priority, cell, &mut port.control) {
                        lose(port, dropped, hop);
                    }
                }
            }
            if ended.is_some() {
                return ended;
            }
        }
    }

    /// The departures up to `until` from a deferred port with real queues.
    #[inline]
    pub(super) fn serve(&mut self, number: usize, until: Time) {
        let port = &mut self.ports[number];
        if let Queues::Served(_) = port.queues {
            serve(port, until, &self.hops, &mut self.outboxes, &mut self.dropped);
        }
    }

    /// A deferred lane has become long.
    #[inline]
    pub(super) fn note_length(&mut self, port: u32, length: usize) {
        if length % LONG == 0 {
            self.long.push(port);
        }
    }
}

/// The departures up to `until`, each with the intervals that end before it.
#[inline]
fn serve(port: &mut Port, until: Time, hops: &[Hop], outboxes: &mut [Outbox], dropped: &mut [u64]) {
    loop {
        let Queues::Served(served) = &mut port.queues else { return };
        let now = served.next_departure();
        if now > until {
            return;
        }
        if port.metered {
            port.end_intervals_before(now);
        }
        let Queues::Served(served) = &mut port.queues else { return };
        let (cell, _) = served.depart(now, &mut port.control);
        match cell {
            Ok(cell) => match hops[cell.hop()].exit {
                Exit::Outbox(outbox) => outboxes[outbox as usize].cells.push(cell),
                Exit::Lane(_) | Exit::Feed(_) => {
                    unreachable!("real queues are deferred before other clusters only")
                }
            },
            Err(lost) => lose(port, dropped, &hops[lost.hop()]),
        }
    }
}

#[cold]
fn lose(port: &mut Port, dropped: &mut [u64], hop: &Hop) {
    port.dropped += 1;
    dropped[hop.flow as usize] += 1;
}
