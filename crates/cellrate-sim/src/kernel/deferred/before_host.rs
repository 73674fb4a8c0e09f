//! Cells that come over one lane to a FIFO before a host: all that do no more than join the queue and be counted, many
//! at a time. Where the host has several connections, data cells of all of them; else those of the only one, in even
//! runs.
//!
//! The first cell that does more (its connection becomes active, the averaging interval ends, it may find no room, or
//! it reaches the host after the end) ends the run, and takes the general [step](super::awaited). FRMs and ends of PDUs
//! are dealt with, too: they may be [awaited](super::awaited) behind the port.

use cellrate_engine::schedule::Schedule;
use cellrate_proto::{Duration, Time};

use crate::cell::Cell;
use crate::endpoint::{EarlyReceiver, Endpoint};
use crate::kernel::lanes::cell_queue::CellQueue;
use crate::kernel::lanes::lane::Lane;
use crate::kernel::lanes::packed::Unpacking;
use crate::kernel::ports::{ABR, Joining, MOST_JOINING, Port, Queues};
use crate::kernel::state::cluster::Cluster;
use crate::stretch::Stretch;

impl Cluster {
    /// Deals with cells before `limit` that follow each other in the lane, are of one connection and do no more than
    /// join the queue and be counted, with FRMs and ends of PDUs among them. Returns how many. The last one of which
    /// something is left to do when it arrives behind the port takes the place of what was `left_to_do`; those before
    /// it are on the link.
    #[inline(never)]
    pub(crate) fn run_to_host(
        &mut self,
        number: usize,
        [lane, link]: [usize; 2],
        limit: u64,
        left_to_do: &mut Option<Cell>,
    ) -> u64 {
        let Cluster { ports, lanes, hops, endpoints, schedule, end, .. } = self;
        let Port { queues: Queues::Fifo(fifo), metered, only_priority, control, merge, .. } =
            &mut ports[number]
        else {
            return 0;
        };
        let Ok([place, behind]) = lanes.get_disjoint_mut([lane, link]) else {
            unreachable!("a port lies between them");
        };
        let Some(first) = place.cells.first() else { return 0 };
        let hop = &hops[first.hop() + 1];
        let way = first.way_of_data();
        let counts_abr = *metered && usize::from(*only_priority) == ABR;
        let before_limit = come_before(schedule, limit, place.leaf);
        let receiver = &mut endpoints[hop.endpoint as usize];
        let mut ends = Ends { left_to_do, behind };
        let mut all = 0;
        loop {
            let mut meter = control.quiet_meter();
            let mut until = before_limit;
            let mut most = MOST_JOINING;
            if *metered {
                until = until.min(meter.until);
            }
            if counts_abr {
                if !meter.is_quiet(hop.slot) {
                    break;
                }
                most = most.min(meter.left);
            }
            let joining = fifo.joining();
            if !joining.is_usual() {
                break;
            }
            let bounds = Bounds { until, end: *end, most };
            let (UpToForwardRm { cells: passed, forward_rm }, joining) =
                pass_up_to_forward_rm(&mut place.cells, way, bounds, joining, receiver, &mut ends);
            if passed == 0 {
                break;
            }
            joining.close(passed);
            all += passed;
            if counts_abr {
                meter.count(hop.slot, passed);
            } else if *metered && *only_priority == 0 {
                control.on_guaranteed_cells(passed);
            }
            let Some(cell) = forward_rm else { break };
            if *metered {
                control.on_forward_rm(cell.arrives, hop.slot, cell.current_cell_rate().rate());
            }
            if place.cells.first().is_none_or(|next| next.arrives >= before_limit) {
                break;
            }
        }
        if all > 0 {
            merge.set(place.place(), place.first_key(schedule));
        }
        all
    }
}

/// FRMs and ends of PDUs that pass a port.
struct Ends<'a> {
    /// The last of which something is left to do.
    left_to_do: &'a mut Option<Cell>,
    /// The lane behind the port, on which they arrive and which holds those before them.
    behind: &'a mut Lane,
}

impl Ends<'_> {
    /// Takes note that one that was announced has passed; it is `left_to_do`, if anything is.
    #[inline(always)]
    fn note(&mut self, left_to_do: Option<Cell>) {
        self.behind.significant.pop();
        if let Some(cell) = left_to_do
            && let Some(before) = self.left_to_do.replace(cell)
        {
            self.behind.cells.push(before);
        }
    }
}

/// Outcome of passing cells up to an FRM.
struct UpToForwardRm {
    cells: u64,
    /// The last one, as it came to the port, if it is an FRM.
    forward_rm: Option<Cell>,
}

/// Cells pass that are first in `queue`, take this `way` or are FRMs or ends of PDUs on it, and come within the bounds;
/// up to an FRM.
#[inline(always)]
fn pass_up_to_forward_rm<'a>(
    queue: &mut CellQueue,
    way: u64,
    bounds: Bounds,
    mut joining: Joining<'a>,
    receiver: &mut Endpoint,
    ends: &mut Ends<'_>,
) -> (UpToForwardRm, Joining<'a>) {
    let Bounds { until, end, most } = bounds;
    let mut passed = UpToForwardRm { cells: 0, forward_rm: None };
    loop {
        let bounds = Bounds { most: most - passed.cells, ..bounds };
        let data;
        (data, joining) = pass_data(queue, way, bounds, joining, receiver, ends);
        passed.cells += data.cells;
        if data.is_all || passed.cells == most {
            break;
        }
        let Some(&cell) = queue.first() else { break };
        if cell.arrives >= until || cell.way_of_data() != way {
            break;
        }
        if !cell.is_special() && data.cells > 0 {
            // Another list begins.
            continue;
        }
        if !(cell.is_forward_rm() || cell.ends_pdu() && !cell.is_rm()) {
            break;
        }
        let departs = joining.departure(cell.arrives);
        let arrives = joining.arrival(departs);
        if arrives >= end || !joining.join(cell.arrives, departs) {
            break;
        }
        passed.cells += 1;
        queue.skip(1);
        ends.note(receiver.receive(cell.on_next_hop().arriving(arrives)));
        if cell.is_rm() {
            passed.forward_rm = Some(cell);
            break;
        }
    }
    (passed, joining)
}

/// Outcome of passing data cells.
struct PassedData {
    cells: u64,
    /// Whether what follows is not to pass now.
    is_all: bool,
}

/// Data cells pass that are first in `queue`, take this `way` and come within the bounds; up to the end of a PDU where
/// they are packed or in stretches.
#[inline(always)]
fn pass_data<'a>(
    queue: &mut CellQueue,
    way: u64,
    bounds: Bounds,
    joining: Joining<'a>,
    receiver: &mut Endpoint,
    ends: &mut Ends<'_>,
) -> (PassedData, Joining<'a>) {
    let Bounds { until, end, most } = bounds;
    // What arrives at or after the end of the run stays on the link, and is for the general step.
    let none = PassedData { cells: 0, is_all: true };
    if queue.first().is_some_and(Cell::is_rm) {
        return (PassedData { is_all: false, ..none }, joining);
    }
    if let CellQueue::Packed(cells) = queue
        && cells.is_of_one()
    {
        let most = most.min(cells.len().into());
        let Some(until) = joining.surely_before(end, until, most as usize) else { return (none, joining) };
        let (cells, joining) = walk_packed(cells, most, until, way, joining, receiver);
        return (PassedData { cells, is_all: false }, joining);
    }
    let run = queue.front_run();
    if run.get(1).is_some_and(|next| next.marked().is_some()) {
        let (passed, joining) = pass_stretches(run, way, bounds, joining, receiver);
        match passed.cut {
            Some(count) => queue.skip_into(passed.entries, count),
            None => queue.skip(passed.entries),
        }
        return (PassedData { cells: passed.cells, is_all: passed.cut.is_some() }, joining);
    }
    let cells = &run[..run.len().min(most as usize)];
    let Some(until) = joining.surely_before(end, until, cells.len()) else { return (none, joining) };
    let early = receiver.receive_run();
    let (count, joining) = match early.reassembles() {
        true => walk::<true>(cells, until, way, joining, early, ends),
        false => walk::<false>(cells, until, way, joining, early, ends),
    };
    // A stretch is not left without the cell before it.
    let cut = run.get(count).is_some_and(|next| next.marked().is_some());
    match cut {
        true => queue.skip_into(count, 0),
        false => queue.skip(count),
    }
    (PassedData { cells: count as u64, is_all: cut }, joining)
}

impl Cluster {
    /// Deals with data cells before `limit` that follow each other in the lane of several connections, amid their PDUs,
    /// and do no more than join the queue and be counted. Returns how many.
    #[inline(never)]
    pub(crate) fn run_several_to_host(&mut self, number: usize, lane: usize, limit: u64) -> u64 {
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
            && let Some(&cell) = place.cells.first()
            && cell.arrives < until
            && !cell.is_special()
            && place.cells.front_run().get(1).is_none_or(|next| next.marked().is_none())
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
            place.cells.skip(1);
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

/// Instant before which cells of a lane with this `leaf` come before the key `limit`. They are strictly one after the
/// other; one at the instant of the limit may come before it.
#[inline(always)]
fn come_before(schedule: &Schedule, limit: u64, leaf: u32) -> Time {
    let (until, of_limit) = schedule.split(limit);
    until.saturating_add(Duration::from_ps(u64::from((leaf as usize) < of_limit)))
}

/// Bounds of the cells that a run may deal with.
#[derive(Clone, Copy)]
struct Bounds {
    /// Cells come before this instant,
    until: Time,
    /// reach the host before this instant,
    end: Time,
    /// and are no more than this number.
    most: u64,
}

/// Part of a list that has been dealt with.
#[derive(Default)]
struct Passed {
    cells: u64,
    /// Number of whole entries.
    entries: usize,
    /// If the next entry is a stretch: how many of its cells, not all, have been dealt with as well.
    cut: Option<u32>,
}

/// Has the first data cells of `run` that go that way and come before `until` join the queue and be counted at the
/// host; gives their number. With `PDUS` beyond ends of PDUs, which the host puts together; else up to the end of one.
/// A function of its own, so that the values of the loop stay in registers.
#[inline(never)]
fn walk<'a, const PDUS: bool>(
    run: &[Cell],
    until: Time,
    way: u64,
    mut joining: Joining<'a>,
    mut early: EarlyReceiver<'_>,
    ends: &mut Ends<'_>,
) -> (usize, Joining<'a>) {
    let mut count = 0;
    for cell in run {
        // An RM cell or a stretch has another way than a data cell, and the end of a PDU than one amid it.
        let is_next = if PDUS { cell.is_data_on(way) } else { cell.way() == way };
        if cell.arrives >= until || !is_next {
            break;
        }
        let departs = joining.departure(cell.arrives);
        if !joining.join(cell.arrives, departs) {
            break;
        }
        let arrives = joining.arrival(departs);
        early.count(cell, arrives);
        if PDUS {
            let whole = early.reassemble(cell);
            if cell.ends_pdu() {
                let whole = whole.then(|| cell.on_next_hop().arriving(arrives));
                ends.note(whole.and_then(|cell| early.on_whole(cell)));
            }
        }
        count += 1;
    }
    early.close(&run[..count]);
    (count, joining)
}

/// Walks over cells that are packed, up to `most` of them: they are taken away as well.
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

/// Part of an even run that has been dealt with: its first cells.
struct PassedEvenly {
    /// Number of cells.
    cells: usize,
    /// Instant at which the last one came.
    last: Time,
    /// Number of octets behind that part.
    left: usize,
}

/// The first cells of an even run that come before `until`, no more than `most`, join the queue; and their `delays` up
/// to the host.
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

/// Largest number of cells whose delays are counted at once.
const AT_ONCE: usize = 32;

/// Passes a run that begins with a cell and a [`Stretch`] behind it: those, and as many such as follow.
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

/// The cell `first` and those of the `stretch` behind it join the queue, and are counted at the host, one after the
/// other; how many.
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
        early.count(&cell, arrives);
        let whole = early.reassemble(&cell);
        debug_assert!(!whole, "the end of a PDU is in no stretch");
    }
    count
}
