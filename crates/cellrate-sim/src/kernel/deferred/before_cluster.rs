//! Cells that come to a FIFO before another cluster: all that come before someone looks, many at a time.
//!
//! An FRM tells the port's control something, once it and all cells before it have been counted; then the others
//! follow. Where the control [does not
//! mind](cellrate_proto::switch::PortControl::ignores_open_interval), it is told once the others have been counted as
//! well. The first cell that does more (its connection becomes active, the averaging interval ends, it may find no
//! room, or its source has not been asked yet) ends the run, and takes the general [step](super).

use cellrate_engine::schedule::Schedule;
use cellrate_engine::tournament::NEVER;
use cellrate_proto::switch::QuietMeter;

use crate::cell::Cell;
use crate::kernel::hop::{Hop, NextHop};
use crate::kernel::lanes::lane::{Lane, LaneEnd};
use crate::kernel::leaf::Leaf;
use crate::kernel::ports::merge::{Along, Front};
use crate::kernel::ports::{ABR, GUARANTEED, Joining, MOST_JOINING, Port, Queues};
use crate::kernel::state::cluster::{Cluster, LONG};
use crate::kernel::state::feed::Feed;
use crate::kernel::state::outbox::Outbox;
use crate::kernel::state::scratch::PendingFrm;

impl Cluster {
    /// Deals with cells before `limit` that come to a FIFO to another cluster, up to the first one that does more than
    /// join the queue, be counted and tell of its CCR, or to the end of a train: then returns its feed. A function of
    /// its own, so that what the loops need is in registers.
    #[inline(never)]
    pub(crate) fn run_before_cluster(&mut self, number: usize, limit: u64) -> Option<usize> {
        self.run_before_link::<false>(number, limit)
    }

    /// Deals with such cells, which leave for the next switch of the cluster if they go `ONWARD`.
    #[inline(always)]
    pub(super) fn run_before_link<const ONWARD: bool>(&mut self, number: usize, limit: u64) -> Option<usize> {
        let Cluster { ports, lanes, feeds, leaves, hops, outboxes, schedule, scratch, crowded, .. } = self;
        let Port { queues: Queues::Fifo(fifo), metered, control, merge, only_priority, .. } =
            &mut ports[number]
        else {
            return None;
        };
        let priority = usize::from(*only_priority);
        let frms_end = *metered && !control.ignores_open_interval();
        let frms = &mut scratch.frms;
        loop {
            let meter = control.quiet_meter();
            let before = if *metered { limit.min(schedule.key(0, meter.until)) } else { limit };
            // Cells of other categories are counted all together, and no interval ends with one.
            let meter = (*metered && priority == ABR).then_some(meter);
            let left = meter.as_ref().map_or(MOST_JOINING, |meter| meter.left.min(MOST_JOINING));
            let joining = fifo.joining();
            let run = RunBeforeLink {
                lanes,
                feeds,
                leaves,
                hops,
                ways_out: WaysOut::<ONWARD> { outboxes, begun: &mut scratch.begun, crowded },
                schedule,
                joining,
                meter,
                frms,
                frms_end,
                limit: before,
                left,
            };
            let Ended { feed, by_frm, count } = merge.run(run);
            if *metered && priority == GUARANTEED {
                control.on_guaranteed_cells(count);
            }
            for (key, slot, rate) in frms.drain(..) {
                if *metered {
                    control.on_forward_rm(schedule.split(key).0, slot, rate);
                }
            }
            if !by_frm || feed.is_some() || merge.first() >= limit {
                return feed;
            }
        }
    }
}

/// Destinations of cells that leave a FIFO: to other clusters, or onward to deferred ports of this one.
struct WaysOut<'a, const ONWARD: bool> {
    outboxes: &'a mut [Outbox],
    /// Lanes to such ports that were empty.
    begun: &'a mut Vec<u32>,
    /// Ports before which many cells wait.
    crowded: &'a mut Vec<u32>,
}

impl<const ONWARD: bool> WaysOut<'_, ONWARD> {
    /// The number of the outbox, or of the lane, that a hop leads to.
    #[inline(always)]
    fn of(hop: &Hop) -> Option<u32> {
        match hop.leads_to() {
            NextHop::Outbox(outbox) if !ONWARD => Some(outbox),
            NextHop::Lane(lane) if ONWARD => Some(lane),
            _ => None,
        }
    }

    #[inline(always)]
    fn push(&mut self, lanes: &mut [Lane], number: u32, cell: Cell) {
        if !ONWARD {
            return self.outboxes[number as usize].push(cell);
        }
        let lane = &mut lanes[number as usize];
        if lane.cells.is_empty() {
            self.begun.push(number);
        }
        lane.cells.push(cell);
        if lane.cells.len().is_multiple_of(LONG)
            && let LaneEnd::Deferred { port, .. } = lane.leads_to
        {
            self.crowded.push(port);
        }
    }

    /// The cell is data amid its PDU.
    #[inline(always)]
    fn push_data(&mut self, lanes: &mut [Lane], number: u32, cell: Cell) {
        if ONWARD { self.push(lanes, number, cell) } else { self.outboxes[number as usize].push_data(cell) }
    }
}

/// Cells on their way into a FIFO to another cluster, or to another switch.
struct RunBeforeLink<'a, const ONWARD: bool> {
    lanes: &'a mut [Lane],
    feeds: &'a mut [Feed],
    leaves: &'a [Leaf],
    hops: &'a [Hop],
    ways_out: WaysOut<'a, ONWARD>,
    schedule: &'a Schedule,
    joining: Joining<'a>,
    meter: Option<QuietMeter<'a>>,
    /// FRMs that come: their keys, connections at the port and CCRs.
    frms: &'a mut Vec<PendingFrm>,
    /// Whether the first of them ends the run, because the control has to be told before other cells are counted.
    frms_end: bool,
    limit: u64,
    /// Number of cells that may still come.
    left: u64,
}

/// End of a run of cells: where and why it ended.
#[derive(Default)]
struct Ended {
    /// The last cell of what was known of this feed.
    feed: Option<usize>,
    /// Whether an FRM was the last one.
    by_frm: bool,
    /// Number of cells that came.
    count: u64,
}

impl<const ONWARD: bool> Along for RunBeforeLink<'_, ONWARD> {
    type Outcome = Ended;

    #[inline(always)]
    fn along<F: Front>(self, merge: &mut F) -> Ended {
        let RunBeforeLink {
            lanes,
            feeds,
            leaves,
            hops,
            mut ways_out,
            schedule,
            mut joining,
            mut meter,
            frms,
            frms_end,
            limit,
            left,
        } = self;
        let most = if joining.is_usual() { left } else { 0 };
        let mut left = most;
        let mut ended = Ended::default();
        if left == 0 {
            return ended;
        }
        loop {
            let key = merge.first();
            if key >= limit {
                break;
            }
            let (now, leaf) = schedule.split(key);
            match merge.way(leaf, leaves) {
                Leaf::Feed(index) => {
                    let feed = &mut feeds[index as usize];
                    if feed.is_empty() {
                        break;
                    }
                    let Some(departs) = joining.expect(now) else { break };
                    if meter.as_mut().is_some_and(|meter| !meter.count_one(feed.slot)) {
                        break;
                    }
                    let arrives = joining.join_expected(now, departs);
                    let cell = feed.front.take(now).on_next_hop();
                    if feed.front.count > 0 {
                        merge.replace_first(feed.place as usize, key + feed.key_step);
                        // Not the last one of its train, and so of no PDU.
                        ways_out.push_data(lanes, feed.way_out, cell.arriving(arrives));
                        left -= 1;
                        if left == 0 {
                            break;
                        }
                        continue;
                    }
                    ways_out.push(lanes, feed.way_out, cell.arriving(arrives));
                    let next = feed.key_behind(key, schedule);
                    merge.replace_first(feed.place as usize, next.unwrap_or(NEVER));
                    ended.feed = if next.is_none() { Some(index as usize) } else { None };
                    if cell.is_forward_rm() {
                        frms.push((key, feed.slot, cell.current_cell_rate().rate()));
                        ended.by_frm = frms_end;
                    }
                }
                Leaf::Lane(index) => {
                    let lane = &mut lanes[index as usize];
                    let Some(&first) = lane.cells.first() else { break };
                    let cell = first.on_next_hop();
                    let hop = &hops[cell.hop()];
                    let Some(way_out) = WaysOut::<ONWARD>::of(hop) else { break };
                    let Some(departs) = joining.expect(now) else { break };
                    if meter.as_mut().is_some_and(|meter| !meter.count_one(hop.slot)) {
                        break;
                    }
                    let arrives = joining.join_expected(now, departs);
                    lane.cells.skip(1);
                    merge.replace_first(lane.place(), lane.first_key(schedule));
                    ways_out.push(lanes, way_out, cell.arriving(arrives));
                    if cell.is_rm() {
                        frms.push((key, hop.slot, cell.current_cell_rate().rate()));
                        ended.by_frm = frms_end;
                    }
                }
                _ => unreachable!("only cells are merged"),
            }
            left -= 1;
            if left == 0 || ended.feed.is_some() || ended.by_frm {
                break;
            }
        }
        if let Some(meter) = meter {
            meter.close(most - left);
        }
        joining.close(most - left);
        ended.count = most - left;
        ended
    }
}
