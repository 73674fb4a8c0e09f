//! Cells that come over one lane to a FIFO before a host: all that do no more than join the queue and be counted, many at a time. Where the
//! host has several connections, data cells of all of them; else those of the only one, in even runs.
//!
//! The first cell that does more (its connection becomes active, the averaging interval ends, it may find no room, or it reaches the host
//! after the end) ends the run, and takes the general [step](super::awaited). An FRM or the end of a PDU ends it too, and is dealt with:
//! it may be [awaited](super::awaited) behind the port.

use cellrate_proto::{Duration, Time};

use super::cell::Cell;
use super::cluster::Cluster;
use super::deferred::MOST_JOINING;
use super::packed::Unpacking;
use super::row::Row;
use super::schedule::Schedule;
use super::stretch::Stretch;
use crate::endpoint::{EarlyReceiver, Endpoint};
use crate::port::{ABR, Joining, Port, Queues};

impl Cluster {
    /// Deals with cells before `limit` that follow each other in the lane, are of one connection and do no more than join
    /// the queue and be counted, and with an FRM or the end of their PDU behind them. Returns how many, and that last one if there is
    /// something left to do about it when it arrives behind the port.
    #[inline(never)]
    pub(super) fn run_to_host(
        &mut self,
        number: usize,
        [lane, link]: [usize; 2],
        limit: u64,
    ) -> (u64, Option<Cell>) {
        let nothing = (0, None);
        let Cluster { ports, lanes, hops, endpoints, schedule, end, .. } = self;
        let Port { queues: Queues::Fifo(fifo), metered, only_priority, control, merge, .. } =
            &mut ports[number]
        else {
            return nothing;
        };
        let place = &mut lanes[lane];
        let Some(first) = place.ring.first() else { return nothing };
        let hop = &hops[first.hop() + 1];
        let counts_abr = *metered && usize::from(*only_priority) == ABR;
        let mut meter = control.quiet_meter();
        let mut left = MOST_JOINING;
        let mut until = come_before(schedule, limit, place.leaf);
        if counts_abr {
            if !meter.is_quiet(hop.slot) {
                return nothing;
            }
            left = left.min(meter.left);
        }
        if *metered {
            until = until.min(meter.until);
        }
        let queue = fifo.joining();
        if !queue.is_usual() {
            return nothing;
        }
        let receiver = &mut endpoints[hop.endpoint as usize];
        let way = first.way_of_data();
        let (mut joining, mut cut) = (queue, false);
        let mut passed;
        match &mut place.ring {
            Row::Packed(cells) if cells.is_of_one() => {
                left = left.min(cells.len().into());
                // What arrives at or after the end of the run stays on the link, and is for the general step.
                if joining.latest_arrival(until, left as usize) >= *end {
                    return nothing;
                }
                (passed, joining) = walk_packed(cells, left, until, way, joining, receiver);
            }
            ring => {
                let run = ring.front_run();
                if run.get(1).is_some_and(|next| next.marked().is_some()) {
                    let bounds = Bounds { until, end: *end, most: left };
                    let stretches;
                    (stretches, joining) = pass_stretches(run, way, bounds, joining, receiver);
                    passed = stretches.cells;
                    cut = stretches.cut.is_some();
                    match stretches.cut {
                        Some(count) => ring.skip_into(stretches.entries, count),
                        None => ring.skip(stretches.entries),
                    }
                } else {
                    let cells = &run[..run.len().min(left as usize)];
                    if joining.latest_arrival(until, cells.len()) >= *end {
                        return nothing;
                    }
                    let count;
                    (count, joining) = walk(cells, until, way, joining, receiver.receive_run());
                    passed = count as u64;
                    // A stretch is not left without the cell before it.
                    cut = run.get(count).is_some_and(|next| next.marked().is_some());
                    match cut {
                        true => ring.skip_into(count, 0),
                        false => ring.skip(count),
                    }
                }
            }
        }
        let mut awaited = None;
        if !cut
            && passed < left
            && let Some(cell) = place.ring.first()
            && cell.arrives < until
            && (cell.is_forward_rm() || cell.ends_pdu() && !cell.is_rm())
            && cell.way_of_data() == way
        {
            let departs = joining.departure(cell.arrives);
            let arrives = joining.arrival(departs);
            if arrives < *end && joining.join(cell.arrives, departs) {
                awaited = Some((*cell, arrives));
                passed += 1;
                place.ring.skip(1);
            }
        }
        joining.close(passed);
        if counts_abr {
            meter.count(hop.slot, passed);
        } else if *metered && *only_priority == 0 {
            control.on_guaranteed_cells(passed);
        }
        merge.set(place.place(), place.first_key(schedule));
        let Some((cell, arrives)) = awaited else { return (passed, None) };
        if *metered && cell.is_rm() {
            control.on_forward_rm(cell.arrives, hop.slot, cell.current_cell_rate().rate());
        }
        let left_to_do = receiver.receive(cell.on_next_hop().arriving(arrives));
        lanes[link].significant.pop();
        (passed, left_to_do)
    }
}

impl Cluster {
    /// Deals with data cells before `limit` that follow each other in the lane of several connections, amid their PDUs, and do no
    /// more than join the queue and be counted. Returns how many.
    #[inline(never)]
    pub(super) fn run_several_to_host(&mut self, number: usize, lane: usize, limit: u64) -> u64 {
        let Cluster { ports, lanes, hops, endpoints, schedule, end, .. } = self;
        let Port { queues: Queues::Fifo(fifo), metered, only_priority, control, merge, .. } =
            &mut ports[number]
        else {
            return 0;
        };
        let place = &mut lanes[lane];
        let counts_abr = *metered && usize::from(*only_priority) == ABR;
        let mut meter = control.quiet_meter();
        let most = if counts_abr { meter.left.min(MOST_JOINING) } else { MOST_JOINING };
        let mut until = come_before(schedule, limit, place.leaf);
        if *metered {
            until = until.min(meter.until);
        }
        let mut joining = fifo.joining();
        if !joining.is_usual() {
            return 0;
        }
        let mut passed = 0;
        while passed < most
            && let Some(&cell) = place.ring.first()
            && cell.arrives < until
            && !cell.is_special()
            && place.ring.front_run().get(1).is_none_or(|next| next.marked().is_none())
        {
            let hop = &hops[cell.hop() + 1];
            let Some(departs) = joining.expect(cell.arrives) else { break };
            let arrives = joining.arrival(departs);
            // What arrives at or after the end of the run stays on the link, and is for the general step.
            if arrives >= *end || counts_abr && !meter.count_one(hop.slot) {
                break;
            }
            joining.join_expected(cell.arrives, departs);
            let left_to_do = endpoints[hop.endpoint as usize].receive(cell.on_next_hop().arriving(arrives));
            debug_assert!(left_to_do.is_none(), "it is amid its PDU");
            place.ring.skip(1);
            passed += 1;
        }
        joining.close(passed);
        if counts_abr {
            meter.close(passed);
        } else if *metered && *only_priority == 0 {
            control.on_guaranteed_cells(passed);
        }
        merge.set(place.place(), place.first_key(schedule));
        passed
    }
}

/// Before which instant cells of a lane with this `leaf` come before `limit`. They are strictly one after the other; one at the instant
/// of the limit may come before it.
#[inline(always)]
fn come_before(schedule: &Schedule, limit: u64, leaf: u32) -> Time {
    let (until, of_limit) = schedule.split(limit);
    until.saturating_add(Duration::from_ps(u64::from((leaf as usize) < of_limit)))
}

/// Which cells may be dealt with in a run.
#[derive(Clone, Copy)]
struct Bounds {
    /// They come before this,
    until: Time,
    /// reach the host before this,
    end: Time,
    /// and are no more than this.
    most: u64,
}

/// What has been dealt with of a list.
#[derive(Default)]
struct Passed {
    cells: u64,
    /// Whole entries.
    entries: usize,
    /// If the next entry is a stretch: how many of its cells, not all, have been dealt with as well.
    cut: Option<u32>,
}

/// The first data cells of `run` that go that way, amid their PDUs, and come before `until` join the queue, and are counted at
/// the host; how many. A function of its own, so that what the loop needs is in registers.
#[inline(never)]
fn walk<'a>(
    run: &[Cell],
    until: Time,
    way: u64,
    mut joining: Joining<'a>,
    mut early: EarlyReceiver<'_>,
) -> (usize, Joining<'a>) {
    let mut count = 0;
    for cell in run {
        // An RM cell, an end of a PDU or a stretch has another way than a plain data cell.
        if cell.arrives >= until || cell.way() != way {
            break;
        }
        let departs = joining.departure(cell.arrives);
        if !joining.join(cell.arrives, departs) {
            break;
        }
        early.receive(cell, joining.arrival(departs));
        count += 1;
    }
    early.close(&run[..count]);
    (count, joining)
}

/// The same for cells that are packed, up to `most` of them: they are taken away as well.
#[inline(never)]
fn walk_packed<'a>(
    cells: &mut Unpacking,
    most: u64,
    until: Time,
    way: u64,
    mut joining: Joining<'a>,
    receiver: &mut Endpoint,
) -> (u64, Joining<'a>) {
    let mut count = 0;
    // Those that follow one evenly go the same way.
    while count < most
        && let Some(&first) = cells.first()
        && first.way() == way
    {
        let mut delays = [Duration::ZERO; AT_ONCE];
        let PassedEvenly { cells: passed, last, left } =
            pass_evenly(cells, (most - count) as usize, until, &mut joining, &mut delays);
        if passed == 0 {
            break;
        }
        receiver.receive_evenly(&first, &delays[..passed]);
        cells.skip_evenly(passed as u32, last, left);
        count += passed as u64;
    }
    (count, joining)
}

/// What has been dealt with of an even run: its first cells.
struct PassedEvenly {
    /// How many.
    cells: usize,
    /// When the last one came.
    last: Time,
    /// Octets behind it.
    left: usize,
}

/// The first cells of an even run that come before `until`, no more than `most`, join the queue; and their `delays` up to the host.
#[inline(always)]
fn pass_evenly(
    cells: &Unpacking,
    most: usize,
    until: Time,
    joining: &mut Joining<'_>,
    delays: &mut [Duration; AT_ONCE],
) -> PassedEvenly {
    let (first, spacing, mut gaps) = cells.even_run();
    let (mut now, mut sent) = (first.arrives, first.sent);
    let mut all = PassedEvenly { cells: 0, last: now, left: gaps.left() };
    for delay in delays.iter_mut().take(most) {
        let departs = joining.departure(now);
        if now >= until || !joining.join(now, departs) {
            break;
        }
        *delay = Duration::from_ps(joining.arrival(departs).as_ps() - sent.as_ps());
        all = PassedEvenly { cells: all.cells + 1, last: now, left: gaps.left() };
        let Some(gap) = gaps.next() else { break };
        now += Duration::from_ps(gap);
        sent += spacing;
    }
    all
}

/// Most cells whose delays are told at once.
const AT_ONCE: usize = 32;

/// The same for a run that begins with a cell and a [`Stretch`] behind it: those, and as many such as follow.
#[inline(never)]
fn pass_stretches<'a>(
    run: &[Cell],
    way: u64,
    bounds: Bounds,
    mut joining: Joining<'a>,
    receiver: &mut Endpoint,
) -> (Passed, Joining<'a>) {
    let mut passed = Passed::default();
    while let Some(first) = run.get(passed.entries)
        && first.way() == way
        && let Some(stretch) = run.get(passed.entries + 1).and_then(Stretch::of)
    {
        let bounds = Bounds { most: bounds.most - passed.cells, ..bounds };
        let mut early = receiver.receive_run();
        let count = pass(first, stretch, bounds, &mut joining, &mut early);
        if count == 0 {
            break;
        }
        early.close_run(first);
        passed.cells += count;
        passed.entries += 1;
        if count <= stretch.count.into() {
            passed.cut = Some(count as u32 - 1);
            break;
        }
        passed.entries += 1;
    }
    (passed, joining)
}

/// The cell `first` and those of the `stretch` behind it join the queue, and are counted at the host, one after the other; how many.
fn pass(
    first: &Cell,
    stretch: Stretch,
    Bounds { until, end, most }: Bounds,
    joining: &mut Joining<'_>,
    early: &mut EarlyReceiver<'_>,
) -> u64 {
    let count = stretch.arrive_before(first, until).min(most);
    let stay = Duration::from_ps(joining.cell_time());
    for index in 0..count {
        let (cell, rest) = (stretch.cell(*first, index as u32), count - index);
        let last = cell.arrives + stretch.gap * (rest - 1);
        if joining.arrival(last + stay) < end && joining.join_apart(cell.arrives, stretch.gap, rest) {
            early.receive_stretch(&cell, stretch, rest, joining.arrival(cell.arrives + stay));
            return count;
        }
        let departs = joining.departure(cell.arrives);
        let arrives = joining.arrival(departs);
        if arrives >= end || !joining.join(cell.arrives, departs) {
            return index;
        }
        early.receive(&cell, arrives);
    }
    count
}
