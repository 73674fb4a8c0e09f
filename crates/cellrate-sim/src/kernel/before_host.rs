//! Cells that come over one lane to a FIFO before a host: all that do no more than join the queue and be counted, many at a time.
//!
//! The first cell that does more (its connection becomes active, the averaging interval ends, it may find no room, or it reaches the host
//! after the end) ends the run, and takes the general [step](super::awaited). An FRM or the end of a PDU ends it too, and is dealt with:
//! it may be [awaited](super::awaited) behind the port.

use cellrate_proto::{Duration, Time};

use super::cell::Cell;
use super::cluster::Cluster;
use super::deferred::MOST_JOINING;
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
        let counts_abr = *metered && *only_priority == ABR;
        let mut meter = control.quiet_meter();
        let mut left = MOST_JOINING;
        // Cells of the lane are strictly one after the other. One at the instant of the limit may come before it.
        let (mut until, leaf) = schedule.split(limit);
        until = until.saturating_add(Duration::from_ps(u64::from((place.leaf as usize) < leaf)));
        if counts_abr {
            if !meter.is_quiet(hop.slot) {
                return nothing;
            }
            left = left.min(meter.left);
        }
        if *metered {
            until = until.min(meter.until);
        }
        let run = place.ring.front_run();
        let queue = fifo.joining();
        if !queue.is_usual() {
            return nothing;
        }
        let receiver = &mut endpoints[hop.endpoint as usize];
        let way = first.way_of_data();
        let (mut joining, mut passed, mut entries, cut);
        if run.get(1).is_some_and(|next| next.marked().is_some()) {
            let bounds = Bounds { until, end: *end, most: left };
            (Passed { cells: passed, entries, cut }, joining) =
                pass_stretches(run, way, bounds, queue, receiver);
        } else {
            let cells = &run[..run.len().min(left as usize)];
            // What arrives at or after the end of the run stays on the link, and is for the general step.
            if queue.latest_arrival(until, cells.len()) >= *end {
                return nothing;
            }
            (entries, joining) = walk(cells, until, way, queue, receiver.receive_run());
            passed = entries as u64;
            // A stretch is not left without the cell before it.
            cut = run.get(entries).is_some_and(|next| next.marked().is_some()).then_some(0);
        }
        let mut awaited = None;
        if cut.is_none()
            && passed < left
            && let Some(cell) = run.get(entries)
            && cell.arrives < until
            && (cell.is_forward_rm() || cell.ends_pdu() && !cell.is_rm())
            && cell.way_of_data() == way
        {
            let departs = joining.departure(cell.arrives);
            let arrives = joining.arrival(departs);
            if arrives < *end && joining.join(cell.arrives, departs) {
                awaited = Some((*cell, arrives));
                passed += 1;
                entries += 1;
            }
        }
        joining.close(passed);
        if counts_abr {
            meter.count(hop.slot, passed);
        } else if *metered && *only_priority == 0 {
            control.on_guaranteed_cells(passed);
        }
        match cut {
            Some(count) => place.ring.skip_into(entries, count),
            None => place.ring.skip(entries),
        }
        merge.set(place.place(), place.first_key(schedule));
        let Some((cell, arrives)) = awaited else { return (passed, None) };
        if *metered && cell.is_rm() {
            control.on_forward_rm(cell.arrives, hop.slot, cell.current_cell_rate().rate());
        }
        let left_to_do = receiver.receive(cell.on_next_hop().arriving(arrives));
        lanes[link].significant.pop_front();
        (passed, left_to_do)
    }
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
        early.close_run(first, count);
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
    // As many come before that instant.
    let due = until.since(first.arrives).div_ceil(stretch.gap);
    let count = due.min(u64::from(stretch.count) + 1).min(most);
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
