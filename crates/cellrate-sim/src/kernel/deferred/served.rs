//! Cells that come to real queues before another cluster: all that come before someone looks, in one go.
//!
//! Each takes its key out of the merge, has those leave that have left by then, and joins its queue or is lost. Where a
//! port's control counts cells they take the general [step](super).

use std::collections::BTreeMap;

use cellrate_engine::schedule::Schedule;
use cellrate_engine::tournament::NEVER;
use cellrate_proto::Time;
use cellrate_proto::switch::PortControl;
use cellrate_scenario::FlowIndex;

use super::{lose, lose_for_room};
use crate::cell::Cell;
use crate::kernel::hop::{Hop, NextHop};
use crate::kernel::lanes::lane::Lane;
use crate::kernel::leaf::Leaf;
use crate::kernel::ports::merge::{Along, Front};
use crate::kernel::ports::{Admission, Port, Queues, Served};
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::feed::Feed;
use crate::kernel::state::outbox::Outbox;

impl Cluster {
    /// Deals with cells before `limit` that come to real queues whose port counts nothing, up to the end of a train:
    /// then returns its feed; or to one of which only the instant is known.
    #[inline(never)]
    pub(crate) fn run_served(&mut self, number: usize, limit: u64) -> Option<usize> {
        let Cluster { ports, lanes, feeds, leaves, hops, outboxes, schedule, dropped, .. } = self;
        loop {
            let port = &mut ports[number];
            let Port { queues: Queues::Served(served), control, merge, .. } = port else { return None };
            let run = RunServed { lanes, feeds, leaves, hops, outboxes, schedule, served, control, limit };
            let Ended { feed, lost } = merge.run(run);
            if let Some(lost) = lost {
                note_loss(port, dropped, hops, lost);
            } else {
                return feed;
            }
            if feed.is_some() {
                return feed;
            }
        }
    }
}

/// Loss of a cell, on its hop.
enum Loss {
    /// A cell found no room, at this instant.
    ForRoom(Time, usize),
    /// The line lost it.
    OnLine(usize),
}

#[cold]
fn note_loss(port: &mut Port, dropped: &mut BTreeMap<FlowIndex, u64>, hops: &[Hop], loss: Loss) {
    match loss {
        Loss::ForRoom(now, hop) => lose_for_room(port, dropped, now, &hops[hop]),
        Loss::OnLine(hop) => lose(port, dropped, &hops[hop]),
    }
}

/// Cells on their way into real queues.
struct RunServed<'a> {
    lanes: &'a mut [Lane],
    feeds: &'a mut [Feed],
    leaves: &'a [Leaf],
    hops: &'a [Hop],
    outboxes: &'a mut [Outbox],
    schedule: &'a Schedule,
    served: &'a mut Served,
    control: &'a mut PortControl,
    limit: u64,
}

/// End of a run of cells: where and why it ended.
#[derive(Default)]
struct Ended {
    /// The last cell of what was known of this feed.
    feed: Option<usize>,
    lost: Option<Loss>,
}

impl RunServed<'_> {
    /// The departures up to `until`, as far as the line loses none.
    #[inline(always)]
    fn advance(&mut self, until: Time) -> Option<Loss> {
        loop {
            let now = self.served.next_departure();
            if now > until {
                return None;
            }
            let cell = match self.served.depart(now, self.control).0 {
                None => continue,
                Some(Err(lost)) => return Some(Loss::OnLine(lost.hop())),
                Some(Ok(cell)) => cell,
            };
            match self.hops[cell.hop()].leads_to() {
                NextHop::Outbox(outbox) => self.outboxes[outbox as usize].push(cell),
                NextHop::Lane(_) | NextHop::Feed(_) => {
                    unreachable!("real queues are deferred before other clusters only")
                }
            }
        }
    }

    /// Has `cell`, of that priority and slot, join its queue at `now`.
    #[inline(always)]
    fn join(&mut self, now: Time, hop: &Hop, cell: Cell) -> Option<Loss> {
        let priority = usize::from(hop.priority);
        match self.served.admit(now, priority, hop.slot, cell, self.control) {
            Admission::Lost => Some(Loss::ForRoom(now, cell.hop())),
            Admission::Queued(_) => None,
        }
    }
}

impl Along for RunServed<'_> {
    type Outcome = Ended;

    #[inline(always)]
    fn along<F: Front>(mut self, merge: &mut F) -> Ended {
        let mut ended = Ended::default();
        while ended.lost.is_none() && ended.feed.is_none() {
            let key = merge.first();
            if key >= self.limit {
                break;
            }
            let (now, leaf) = self.schedule.split(key);
            let way = merge.way(leaf, self.leaves);
            if let Leaf::Feed(index) = way
                && self.feeds[index as usize].is_empty()
            {
                break;
            }
            ended.lost = self.advance(now);
            if ended.lost.is_some() {
                break;
            }
            let cell = match way {
                Leaf::Feed(index) => {
                    let feed = &mut self.feeds[index as usize];
                    let cell = feed.front.take(now);
                    let mut next = key + feed.key_step;
                    if feed.front.count == 0 {
                        let behind = feed.key_behind(key, self.schedule);
                        ended.feed = if behind.is_none() { Some(index as usize) } else { None };
                        next = behind.unwrap_or(NEVER);
                    }
                    merge.replace_first(feed.place as usize, next);
                    cell
                }
                Leaf::Lane(index) => {
                    let lane = &mut self.lanes[index as usize];
                    let Some(&cell) = lane.cells.first() else { break };
                    lane.cells.skip(1);
                    merge.replace_first(lane.place(), lane.first_key(self.schedule));
                    cell
                }
                _ => unreachable!("only cells are merged"),
            };
            let cell = cell.on_next_hop();
            let hops = self.hops;
            ended.lost = self.join(now, &hops[cell.hop()], cell);
        }
        ended
    }
}
