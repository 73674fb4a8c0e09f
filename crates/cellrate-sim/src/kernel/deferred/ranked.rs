//! Data cells at a deferred port of several categories: all that come before someone looks, in one go.
//!
//! A [`Ranked`](crate::kernel::ports::Ranked) port has no departures to catch up with before a cell comes, only turns
//! to give to those that waited. So a cell that does no more than join its queue and be counted takes its key out of
//! the merge, gives the turns that are due, and waits or leaves; of an FRM the port's control is told. The first one
//! that does more (its connection becomes active, or an averaging interval ends) ends the run, and takes the general
//! [step](super).

use cellrate_engine::schedule::Schedule;
use cellrate_engine::switch_port::SwitchPort;
use cellrate_engine::tournament::NEVER;
use cellrate_proto::Time;
use cellrate_proto::switch::{QuietMeter, Slot};

use crate::cell::Cell;
use crate::kernel::hop::{Hop, NextHop};
use crate::kernel::lanes::lane::Lane;
use crate::kernel::leaf::Leaf;
use crate::kernel::ports::merge::{Along, Front};
use crate::kernel::ports::{ABR, Give, MOST_JOINING, Port, Queues, Turning};
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::feed::Feed;
use crate::kernel::state::outbox::Outbox;

impl Cluster {
    /// Deals with cells before `limit` that come to a ranked port, up to the first one that does more than join its
    /// queue, be counted and tell of its CCR, or to the end of a train: then returns its feed.
    #[inline(never)]
    pub(crate) fn run_ranked(&mut self, number: usize, limit: u64) -> Option<usize> {
        let Cluster { ports, lanes, feeds, leaves, hops, outboxes, schedule, .. } = self;
        let Port { queues: Queues::Ranked(ranked), metered, control, merge, .. } = &mut ports[number] else {
            return None;
        };
        loop {
            let meter = control.quiet_meter();
            let before = if *metered { limit.min(schedule.key(0, meter.until)) } else { limit };
            let count = metered.then(|| Count { left: meter.left, abr: 0, guaranteed: 0, meter });
            let turning = ranked.turning();
            let ways_out = WaysOut { hops, outboxes };
            let run = RunRanked { lanes, feeds, leaves, ways_out, schedule, turning, count, limit: before };
            let Ended { feed, forward_rm, guaranteed } = merge.run(run);
            control.on_guaranteed_cells(guaranteed);
            let Some((cell, slot)) = forward_rm else { return feed };
            if *metered {
                control.on_forward_rm(cell.arrives, slot, cell.current_cell_rate().rate());
            }
            if feed.is_some() || merge.first() >= limit {
                return feed;
            }
        }
    }
}

/// Cells that change nothing but counters.
struct Count<'a> {
    meter: QuietMeter<'a>,
    /// Number of ABR cells that may still come.
    left: u64,
    /// Number of cells that have come, and of those of CBR and VBR.
    abr: u64,
    guaranteed: u64,
}

impl Count<'_> {
    /// Counts a cell if it is quiet; whether it is.
    #[inline(always)]
    fn one(&mut self, priority: usize, slot: Slot) -> bool {
        if priority != ABR {
            self.guaranteed += u64::from(priority == 0);
            return true;
        }
        let quiet = self.abr < self.left && self.meter.count_one(slot);
        self.abr += u64::from(quiet);
        quiet
    }
}

/// A [run](Cluster::run_ranked) of cells.
struct RunRanked<'a> {
    lanes: &'a mut [Lane],
    feeds: &'a mut [Feed],
    leaves: &'a [Leaf],
    ways_out: WaysOut<'a>,
    schedule: &'a Schedule,
    turning: Turning<'a>,
    count: Option<Count<'a>>,
    limit: u64,
}

/// End of a run of cells, and the state that it leaves.
#[derive(Default)]
struct Ended {
    /// The last cell of what was known of this feed.
    feed: Option<usize>,
    /// An FRM as it came to the port, and the number of its connection there.
    forward_rm: Option<(Cell, Slot)>,
    /// Number of cells of CBR or VBR.
    guaranteed: u64,
}

impl Along for RunRanked<'_> {
    type Outcome = Ended;

    #[inline(always)]
    fn along<F: Front>(self, merge: &mut F) -> Ended {
        let RunRanked { lanes, feeds, leaves, mut ways_out, schedule, mut turning, mut count, limit } = self;
        let hops = ways_out.hops;
        let most = if turning.is_usual() { MOST_JOINING } else { 0 };
        let mut left = most;
        let mut ended = Ended::default();
        while left > 0 {
            let key = merge.first();
            if key >= limit {
                break;
            }
            let (now, leaf) = schedule.split(key);
            let Some(departs) = turning.departure(now) else { break };
            match leaves[leaf] {
                Leaf::Feed(index) => {
                    let feed = &mut feeds[index as usize];
                    let priority = usize::from(feed.priority);
                    let front = &mut feed.front;
                    if front.count == 0 || count.as_mut().is_some_and(|count| !count.one(priority, feed.slot))
                    {
                        break;
                    }
                    let cell = front.take(now);
                    let is_last = front.count == 0;
                    let mut next = key + feed.key_step;
                    if is_last {
                        let behind = feed.key_behind(key, schedule);
                        ended.feed = if behind.is_none() { Some(index as usize) } else { None };
                        ended.forward_rm = cell.is_rm().then_some((cell, feed.slot));
                        next = behind.unwrap_or(NEVER);
                    }
                    merge.replace_first(feed.place as usize, next);
                    left -= 1;
                    turning.join(now, departs, priority, cell.on_next_hop(), &mut ways_out);
                    if is_last && (ended.feed.is_some() || ended.forward_rm.is_some()) {
                        break;
                    }
                }
                Leaf::Lane(index) => {
                    let lane = &mut lanes[index as usize];
                    let Some(&first) = lane.cells.first() else { break };
                    let cell = first.on_next_hop();
                    let hop = &hops[cell.hop()];
                    let priority = usize::from(hop.priority);
                    if cell.is_rm() || count.as_mut().is_some_and(|count| !count.one(priority, hop.slot)) {
                        break;
                    }
                    lane.cells.skip(1);
                    merge.replace_first(lane.place(), lane.first_key(schedule));
                    left -= 1;
                    turning.join(now, departs, priority, cell, &mut ways_out);
                }
                _ => break,
            }
        }
        turning.close(most - left);
        if let Some(count) = count {
            count.meter.close(count.abr);
            ended.guaranteed = count.guaranteed;
        }
        ended
    }
}

/// Turns of a ranked `port` that begin at `until` or before are given, each with the intervals that end before it.
pub(crate) fn advance(port: &mut Port, until: Time, hops: &[Hop], outboxes: &mut [Outbox]) {
    loop {
        let Queues::Ranked(ranked) = &mut port.queues else { return };
        // An interval that ends at `until` itself stays open for whatever comes first at that instant.
        let deadline = port.control.next_deadline();
        let ends_before = port.metered && deadline < until;
        ranked.advance(if ends_before { deadline } else { until }, &mut WaysOut { hops, outboxes });
        if !ends_before {
            return;
        }
        port.end_intervals(deadline);
    }
}

/// To other clusters.
pub(crate) struct WaysOut<'a> {
    pub hops: &'a [Hop],
    pub outboxes: &'a mut [Outbox],
}

impl Give for WaysOut<'_> {
    #[inline(always)]
    fn give(&mut self, cell: Cell) {
        match self.hops[cell.hop()].leads_to() {
            NextHop::Outbox(outbox) => self.outboxes[outbox as usize].push(cell),
            NextHop::Lane(_) | NextHop::Feed(_) => {
                unreachable!("ports are ranked before other clusters only")
            }
        }
    }
}
