//! Data cells at a deferred port of several categories: all that come before someone looks, in one go.
//!
//! A [`Ranked`](crate::port::Ranked) port has no departures to catch up with before a cell comes, only turns to give to those
//! that waited. So a cell that does no more than join its queue and be counted takes its key out of the merge, gives the
//! turns that are due, and waits or leaves. The first one that does more (its connection becomes active, or an averaging
//! interval ends) ends the run, and takes the general [step](super::deferred).

use cellrate_proto::Time;

use super::cell::Cell;
use super::cluster::{Cluster, Leaf, Outbox};
use super::hop::{Exit, Hop};
use super::tournament::NEVER;
use crate::port::{ABR, Port, Queues};

impl Cluster {
    /// Deals with cells before `limit` that come to a ranked port, up to the first one that does more than join its queue
    /// and be counted, or to the end of a train: then returns its feed.
    #[inline(never)]
    pub(super) fn run_ranked(&mut self, number: usize, limit: u64) -> Option<usize> {
        let Cluster { ports, lanes, feeds, leaves, hops, outboxes, schedule, .. } = self;
        let Port { queues: Queues::Ranked(ranked), metered, control, merge, .. } = &mut ports[number] else {
            return None;
        };
        let metered = *metered;
        let mut meter = control.quiet_meter();
        let limit = if metered { limit.min(schedule.key(0, meter.until)) } else { limit };
        let room = if metered { meter.left } else { u64::MAX };
        let (mut left, mut guaranteed) = (room, 0);
        // Whether a cell is quiet; counts it if so.
        let mut counts = |priority: usize, slot| {
            if !metered {
                return true;
            }
            match priority {
                ABR => {
                    let quiet = left > 0 && meter.count_one(slot);
                    left -= u64::from(quiet);
                    quiet
                }
                priority => {
                    guaranteed += u64::from(priority == 0);
                    true
                }
            }
        };
        let mut ended = None;
        loop {
            let key = merge.first();
            if key >= limit {
                break;
            }
            let (now, leaf) = schedule.split(key);
            let (cell, priority) = match leaves[leaf] {
                Leaf::Feed(index) => {
                    let feed = &mut feeds[index as usize];
                    let priority = usize::from(feed.priority);
                    if !counts(priority, feed.slot) {
                        break;
                    }
                    let cell = feed.front.take();
                    let next = if feed.front.count == 0 {
                        ended = Some(index as usize);
                        NEVER
                    } else {
                        key + feed.key_step
                    };
                    merge.set(feed.place as usize, next);
                    (cell.on_next_hop(), priority)
                }
                Leaf::Lane(index) => {
                    let lane = &mut lanes[index as usize];
                    let Some(&first) = lane.ring.first() else { break };
                    let cell = first.on_next_hop();
                    let hop = &hops[cell.hop()];
                    let priority = usize::from(hop.priority);
                    if !counts(priority, hop.slot) {
                        break;
                    }
                    lane.ring.skip(1);
                    merge.set(lane.place(), lane.first_key(schedule));
                    (cell, priority)
                }
                _ => break,
            };
            ranked.advance(now, |cell| leave(cell, hops, outboxes));
            ranked.admit(now, priority, cell, |cell| leave(cell, hops, outboxes));
            if ended.is_some() {
                break;
            }
        }
        if metered {
            meter.close(room - left);
            control.on_guaranteed_cells(guaranteed);
        }
        ended
    }
}

/// Turns of a ranked `port` that begin at `until` or before are given, each with the intervals that end before it.
pub(super) fn advance(port: &mut Port, until: Time, hops: &[Hop], outboxes: &mut [Outbox]) {
    loop {
        let Queues::Ranked(ranked) = &mut port.queues else { return };
        // An interval that ends at `until` itself stays open for whatever comes first at that instant.
        let deadline = port.control.next_deadline();
        let ends_before = port.metered && deadline < until;
        ranked.advance(if ends_before { deadline } else { until }, |cell| leave(cell, hops, outboxes));
        if !ends_before {
            return;
        }
        port.end_intervals(deadline);
    }
}

/// `cell`, stamped with its arrival, is on its way to another cluster.
#[inline(always)]
pub(super) fn leave(cell: Cell, hops: &[Hop], outboxes: &mut [Outbox]) {
    match hops[cell.hop()].exit {
        Exit::Outbox(outbox) => outboxes[outbox as usize].push(cell),
        Exit::Lane(_) | Exit::Feed(_) => unreachable!("ports are ranked before other clusters only"),
    }
}
