//! Cells of sources at a port of several categories where those of one lane overtake them: many at a time.
//!
//! Where video comes over a lane, its next cell comes anywhere among those of the sources, and whether the turn goes to
//! it or to a cell that waits changes from cell to cell. So the cells of the sources come first, one by one, as long as
//! each does no more than be counted, and wait all together; then the line gives its [turns](Turning::overtake) to them
//! and to the cells of the lane that came meanwhile. Whoever comes up to the last one of them comes in this way; a turn
//! that may go to one that comes later is not given.

use cellrate_engine::schedule::Schedule;
use cellrate_engine::tournament::NEVER;
use cellrate_proto::Time;
use cellrate_proto::switch::{QuietMeter, Slot};

use crate::cell::Cell;
use crate::kernel::lanes::cell_queue::CellQueue;
use crate::kernel::lanes::lane::Lane;
use crate::kernel::leaf::Leaf;
use crate::kernel::ports::merge::{Along, Front, Merge};
use crate::kernel::ports::{ABR, Give, Turning};
use crate::kernel::state::feed::Feed;

/// Most cells of sources at a time,
const MOST: u64 = 64;

/// and fewest, if there are as many.
const FEWEST: u64 = 8;

/// Cells that change nothing but counters.
pub(super) struct Count<'a> {
    pub meter: QuietMeter<'a>,
    /// Number of ABR cells that may still come.
    pub left: u64,
    /// Number of cells that have come, and of those of CBR and VBR.
    pub abr: u64,
    pub guaranteed: u64,
}

impl Count<'_> {
    /// Counts `count` cells of CBR or VBR.
    pub(super) fn guaranteed(&mut self, count: u64) {
        self.guaranteed += count;
    }

    /// Counts a cell if it is quiet; whether it is.
    #[inline(always)]
    pub(super) fn one(&mut self, priority: usize, slot: Slot) -> bool {
        if priority != ABR {
            self.guaranteed += u64::from(priority == 0);
            return true;
        }
        let quiet = self.abr < self.left && self.meter.count_one(slot);
        self.abr += u64::from(quiet);
        quiet
    }

    /// Ends the counting; gives the number of cells of CBR and VBR.
    #[inline(always)]
    pub(super) fn close(self) -> u64 {
        self.meter.close(self.abr);
        self.guaranteed
    }
}

/// End of a run of cells, and the state that it leaves.
#[derive(Default)]
pub(super) struct Ended {
    /// The last cell of what was known of this feed.
    pub feed: Option<usize>,
    /// An FRM as it came to the port, and the number of its connection there.
    pub forward_rm: Option<(Cell, Slot)>,
    /// Number of cells of CBR or VBR.
    pub guaranteed: u64,
}

/// Ways by which cells come to the port, and the key before which they do.
pub(super) struct Overtaken<'a> {
    /// The lane of a source that is served first.
    pub lane: &'a mut Lane,
    pub feeds: &'a mut [Feed],
    pub leaves: &'a [Leaf],
    pub schedule: &'a Schedule,
    pub limit: u64,
}

impl Overtaken<'_> {
    /// Has cells come, and gives turns to them; how the run of cells ended, and how many there were. `None` if there
    /// were none.
    #[inline(never)]
    pub fn run(
        self,
        merge: &mut Merge,
        turning: &mut Turning<'_>,
        count: &mut Option<Count<'_>>,
        give: &mut impl Give,
    ) -> Option<(Ended, u64)> {
        let Overtaken { lane, feeds, leaves, schedule, limit } = self;
        let CellQueue::Lists(_) = lane.cells else { return None };
        if merge.first() >= limit {
            return None;
        }
        let most = turning.room_for_overtaken().min(MOST);
        let (begin, _) = schedule.split(merge.first());
        let cells = lane.cells.front_run();
        if most < FEWEST || !turning.have_room(begin, most + cells.len() as u64 + 1) {
            return None;
        }
        // Behind the last cell of this list others may come.
        let limit = match cells.last() {
            Some(last) if lane.cells.len() > cells.len() => {
                limit.min(schedule.key(lane.leaf as usize, last.arrives) + 1)
            }
            _ => limit,
        };
        let (place, leaf) = (lane.place(), lane.leaf as usize);
        merge.set(place, NEVER);
        let wait = Wait { feeds, leaves, schedule, turning, count, most, limit };
        let Waited { count: waited, mut arrivals, until, ended } = merge.run(wait);
        let (before, of_until) = schedule.split(until);
        let last = Time::from_ps(before.as_ps() + u64::from(leaf < of_until));
        let mut meanwhile = 0;
        for cell in cells.iter().take_while(|cell| cell.arrives < last) {
            arrivals = arrivals.wrapping_add(cell.arrives.as_ps());
            meanwhile += 1;
        }
        turning.overtake(waited, &cells[..meanwhile], arrivals, [begin, before], give);
        if let Some(count) = count {
            count.guaranteed(meanwhile as u64);
        }
        if meanwhile > 0 {
            lane.cells.skip(meanwhile);
        }
        merge.set(place, lane.first_key(schedule));
        let all = waited + meanwhile;
        (all > 0).then_some((ended, all as u64))
    }
}

/// Coming of cells of sources.
struct Wait<'a, 'b, 'c> {
    feeds: &'a mut [Feed],
    leaves: &'a [Leaf],
    schedule: &'a Schedule,
    turning: &'a mut Turning<'b>,
    count: &'a mut Option<Count<'c>>,
    most: u64,
    limit: u64,
}

/// End of the coming of cells.
struct Waited {
    count: usize,
    /// Sum of the instants at which they came, modulo 2^64.
    arrivals: u64,
    /// The key up to which all cells of sources have come that do.
    until: u64,
    ended: Ended,
}

impl Along for Wait<'_, '_, '_> {
    type Outcome = Waited;

    #[inline(always)]
    fn along<F: Front>(self, merge: &mut F) -> Waited {
        let Wait { feeds, leaves, schedule, turning, count, most, limit } = self;
        let (mut left, mut until, mut arrivals) = (most, 0, 0_u64);
        let mut ended = Ended::default();
        while left > 0 {
            let key = merge.first();
            until = key.min(limit);
            if key >= limit {
                break;
            }
            let (now, leaf) = schedule.split(key);
            let Leaf::Feed(index) = leaves[leaf] else { break };
            let feed = &mut feeds[index as usize];
            let is_abr = usize::from(feed.priority) == ABR;
            if !is_abr
                || feed.front.count == 0
                || count.as_mut().is_some_and(|count| !count.one(ABR, feed.slot))
            {
                break;
            }
            let cell = feed.front.take(now);
            let is_last = feed.front.count == 0;
            let mut next = key + feed.key_step;
            if is_last {
                let behind = feed.key_behind(key, schedule);
                ended.feed = if behind.is_none() { Some(index as usize) } else { None };
                ended.forward_rm = cell.is_rm().then_some((cell, feed.slot));
                next = behind.unwrap_or(NEVER);
            }
            merge.replace_first(feed.place as usize, next);
            left -= 1;
            arrivals = arrivals.wrapping_add(now.as_ps());
            turning.wait(cell.on_next_hop());
            if is_last && (ended.feed.is_some() || ended.forward_rm.is_some()) {
                break;
            }
        }
        Waited { count: (most - left) as usize, arrivals, until, ended }
    }
}
