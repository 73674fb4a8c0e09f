//! A port with several categories whose departures need not be seen as they happen: strict priority, not pre-emptive,
//! nothing lost and nothing marked.
//!
//! The line works whenever there is work, and every cell takes the same time. So all categories together are a [`Fifo`]
//! in everything but the order of the cells: backlog, busy time and the integral of the queue. As to the order, a cell
//! of the category served first is never overtaken, so its departure is known when it comes; only the others wait in
//! real queues, until the line is free of all that came before its turn. A cell is given its turn, with its departure,
//! as soon as that is certain, and cells get theirs in the order in which they will leave.
//!
//! At one instant a cell whose transmission ends leaves before others come, and the turn goes to one that has waited.
//! Where none has, the line is idle, and the turn goes to the highest category of all that come at that instant.

use std::sync::Arc;

use cellrate_proto::{Cells, Duration, Time};

use super::fifo::Joining;
use super::{ABR, Fifo, Line, Outlet, PRIORITIES};
use crate::cell::Cell;
use cellrate_engine::ring::Ring;

/// Queues of the categories that can be overtaken, and what is certain about the others.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    /// FIFO of all categories together, which says nothing about a single cell.
    all: Fifo,
    turns: Turns,
    /// Cells whose turn has not come, by priority from 1 on: those of 0 know when theirs does.
    waiting: Waiting,
}

type Waiting = [Ring<Cell>; PRIORITIES - 1];

/// State of the line: whose turn it is, and until when.
#[derive(Clone, Copy, Debug)]
struct Turns {
    /// The priority that is served first.
    first: usize,
    cell_time: Duration,
    delay: Duration,
    /// How many cells wait for their turn.
    count: usize,
    /// Instant at which the last cell that was given its turn will have left; or when a cell that waits came to an idle
    /// line.
    free_at: Time,
    /// A cell came to an idle line at that instant, and whose turn it is has not been decided.
    undecided: bool,
    /// Instants at which the last cell of the first priority will have left, and the last one of another priority,
    /// which is `lower`.
    first_until: Time,
    lower_until: Time,
    lower: usize,
    /// The largest queue of ABR: where that is the first priority, as the time that it takes.
    max_abr: u64,
    max_first: Duration,
}

/// A [`Ranked`] port as long as cells come that the queue of all categories together [takes](Joining).
#[derive(Debug)]
pub(crate) struct Turning<'a> {
    joining: Joining<'a>,
    turns: &'a mut Turns,
    waiting: &'a mut Waiting,
}

/// Destination of cells that know when they leave. (A closure would be called where it should be a few instructions in
/// place.)
pub(crate) trait Give {
    /// Takes `cell`, which has its turn and is stamped with its arrival at the far end.
    fn give(&mut self, cell: Cell);
}

impl Ranked {
    /// Makes the queues of a port at `line`, which loses nothing; `first` is the highest priority in use.
    pub fn new(line: &Line, first: usize) -> Ranked {
        let turns = Turns {
            first,
            cell_time: line.cell_time,
            delay: line.delay,
            count: 0,
            free_at: Time::ZERO,
            undecided: false,
            first_until: Time::ZERO,
            lower_until: Time::ZERO,
            lower: PRIORITIES,
            max_abr: 0,
            max_first: Duration::ZERO,
        };
        Ranked {
            all: Fifo::new(Arc::new(Outlet::new(line, None))),
            turns,
            waiting: [Ring::new(), Ring::new()],
        }
    }

    /// Cells get their turn that begins at `until` or before, on a line that was idle before `until` only: each goes to
    /// `give`, stamped with its arrival at the far end.
    #[inline]
    pub fn advance(&mut self, until: Time, give: &mut impl Give) {
        self.turns.advance(&mut self.waiting, until, give);
    }

    /// A cell of `priority` comes at `now`, up to which turns have been [given](Ranked::advance). If it has its turn
    /// already, or knows when, it goes to `give`.
    #[inline]
    pub fn admit(&mut self, now: Time, priority: usize, cell: Cell, give: &mut impl Give) {
        self.all.admit(now);
        self.turns.admit(&mut self.waiting, now, priority, cell, give);
    }

    /// Begins a series of cells that come one after the other.
    #[inline(always)]
    pub fn turning(&mut self) -> Turning<'_> {
        let Ranked { all, turns, waiting } = self;
        Turning { joining: all.joining(), turns, waiting }
    }

    /// Number of cells of `priority` waiting and in transmission at `at`, up to which, and not beyond, turns have been
    /// given.
    #[inline]
    pub fn queue(&self, priority: usize, at: Time) -> Cells {
        let turns = &self.turns;
        if priority == turns.first {
            // While another one is in transmission, they all come after it.
            let from = at.max(turns.lower_until);
            return Cells(turns.first_until.since(from).div_ceil(turns.cell_time));
        }
        Cells(if priority == 0 { 0 } else { turns.lower_queue(&self.waiting, priority, at) })
    }

    /// The FIFO of all categories together, right in everything but the order of the cells.
    pub fn all(&self) -> &Fifo {
        &self.all
    }

    /// Largest queue of ABR so far.
    pub fn max_abr_queue(&self) -> Cells {
        let Turns { first, max_abr, max_first, cell_time, .. } = self.turns;
        Cells(if first == ABR { max_first.div_ceil(cell_time) } else { max_abr })
    }

    /// The largest queues are looked for anew from `now` on, up to which turns have been given, with what stands then.
    pub fn begin_max(&mut self, now: Time) {
        self.all.begin_max(now);
        let turns = &mut self.turns;
        turns.max_first = turns.first_until.since(now.max(turns.lower_until));
        turns.max_abr = if turns.first == ABR { 0 } else { turns.lower_queue(&self.waiting, ABR, now) };
    }

    /// Iterates over every cell whose turn has not come.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.waiting.iter().flat_map(Ring::iter)
    }
}

impl Turns {
    #[inline(always)]
    fn advance(&mut self, waiting: &mut Waiting, until: Time, give: &mut impl Give) {
        if self.count == 0 || self.free_at > until || self.undecided && self.free_at == until {
            return;
        }
        self.undecided = false;
        let Turns { cell_time, delay, mut count, mut free_at, .. } = *self;
        let [second, third] = waiting;
        let priority = loop {
            let (cell, priority) = match second.pop() {
                Some(cell) => (cell, 1),
                None => match third.pop() {
                    Some(cell) => (cell, 2),
                    None => unreachable!("some wait"),
                },
            };
            count -= 1;
            free_at += cell_time;
            give.give(cell.arriving(free_at + delay));
            if count == 0 || free_at > until {
                break priority;
            }
        };
        (self.count, self.free_at, self.lower_until, self.lower) = (count, free_at, free_at, priority);
    }

    #[inline(always)]
    fn admit(&mut self, waiting: &mut Waiting, now: Time, priority: usize, cell: Cell, give: &mut impl Give) {
        if priority == self.first {
            let departs = self.free_at.max(now) + self.cell_time;
            (self.free_at, self.first_until, self.undecided) = (departs, departs, false);
            if priority == ABR {
                self.max_first = self.max_first.max(departs.since(now.max(self.lower_until)));
            }
            return give.give(cell.arriving(departs + self.delay));
        }
        if self.free_at <= now {
            (self.free_at, self.undecided) = (now, true);
        }
        waiting[priority - 1].push(cell);
        self.count += 1;
        // At most one more is in transmission.
        if priority == ABR && waiting[ABR - 1].len() as u64 >= self.max_abr {
            self.max_abr = self.max_abr.max(self.lower_queue(waiting, ABR, now));
        }
    }

    /// Number of cells of `priority`, which is not the first and above 0, waiting and in transmission at `at`.
    #[inline(always)]
    fn lower_queue(&self, waiting: &Waiting, priority: usize, at: Time) -> u64 {
        waiting[priority - 1].len() as u64 + u64::from(at < self.lower_until && self.lower == priority)
    }
}

impl Turning<'_> {
    /// See [`Joining::is_usual`].
    #[inline(always)]
    pub fn is_usual(&self) -> bool {
        self.joining.is_usual()
    }

    /// Instant at which a cell that comes at `now`, the next to come, would have left if all were of one category;
    /// `None` if it has to come by itself.
    #[inline(always)]
    pub fn departure(&self, now: Time) -> Option<Time> {
        self.joining.departure_with_room(now)
    }

    /// A cell of `priority` comes at `now`: turns are given up to then, and it joins the queue of all categories, to
    /// [leave it](Turning::departure) at `departs`. Every cell that has its turn goes to `give`.
    #[inline(always)]
    pub fn join(&mut self, now: Time, departs: Time, priority: usize, cell: Cell, give: &mut impl Give) {
        self.turns.advance(self.waiting, now, give);
        let joined = self.joining.join(now, departs);
        debug_assert!(joined, "its departure is known because there is room");
        self.turns.admit(self.waiting, now, priority, cell, give);
    }

    /// Ends the run: `count` cells have come, and no more will.
    #[inline(always)]
    pub fn close(self, count: u64) {
        self.joining.close(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_engine::random::{Owner, Random, Stream};

    const CELL: Duration = Duration::from_ps(100);

    fn ranked(first: usize) -> Ranked {
        Ranked::new(
            &Line::new(
                CELL,
                Duration::from_ps(7),
                0.0,
                &[],
                Random::new(1, Stream::Loss(Owner::named("line"))),
            ),
            first,
        )
    }

    struct Left(Vec<(u32, u64)>);

    impl Give for Left {
        fn give(&mut self, cell: Cell) {
            self.0.push((cell.sequence(), cell.arrives.as_ps()));
        }
    }

    /// Has a cell with this number come; what left by then, as (number, arrival at the far end).
    fn come(port: &mut Ranked, at: u64, priority: usize, number: u64) -> Vec<(u32, u64)> {
        let mut left = Left(Vec::new());
        let now = Time::from_ps(at);
        port.advance(now, &mut left);
        port.admit(now, priority, Cell::data(now, number, false), &mut left);
        left.0
    }

    #[test]
    fn a_cell_of_the_first_priority_waits_for_the_one_in_transmission_and_its_own_only() {
        let mut port = ranked(0);
        assert_eq!(come(&mut port, 0, ABR, 1), [], "one that goes before it may come at the same instant");
        assert_eq!(come(&mut port, 10, ABR, 2), [(1, 107)]);
        assert_eq!(come(&mut port, 20, 0, 3), [(3, 207)]);
        assert_eq!(come(&mut port, 30, 0, 4), [(4, 307)]);
        let at = Time::from_ps(30);
        assert_eq!([0, ABR, 2].map(|priority| port.queue(priority, at)), [Cells(2), Cells(2), Cells(0)]);
        assert_eq!(port.all().queue(at), Cells(4));
        assert_eq!(port.max_abr_queue(), Cells(2));
    }

    #[test]
    fn at_the_instant_at_which_the_line_becomes_free_the_turn_goes_to_one_that_has_waited() {
        let mut port = ranked(0);
        come(&mut port, 0, 0, 1);
        assert_eq!(come(&mut port, 10, 2, 2), []);
        assert_eq!(come(&mut port, 20, ABR, 3), []);
        assert_eq!(come(&mut port, 100, 0, 4), [(3, 207), (4, 307)], "ABR before UBR");
        assert_eq!(come(&mut port, 299, 0, 5), [(5, 407)], "a moment before it is free");
        assert_eq!(come(&mut port, 400, ABR, 6), [(2, 507)]);
        assert_eq!(port.cells().count(), 1);
    }

    #[test]
    fn of_all_that_come_to_an_idle_line_at_one_instant_the_highest_category_goes_first() {
        let mut port = ranked(0);
        assert_eq!(come(&mut port, 5, 2, 1), []);
        assert_eq!(come(&mut port, 5, ABR, 2), []);
        assert_eq!(port.queue(2, Time::from_ps(5)), Cells(1));
        assert_eq!(come(&mut port, 5, 0, 3), [(3, 112)]);
        assert_eq!(
            come(&mut port, 105, 0, 4),
            [(2, 212), (4, 312)],
            "what has waited goes before what comes now"
        );
        // The line is idle again from 405 on: UBR comes at that instant, and ABR as well.
        assert_eq!(come(&mut port, 405, 2, 5), [(1, 412)]);
        assert_eq!(come(&mut port, 505, 2, 6), [(5, 512)]);
        assert_eq!(come(&mut port, 705, 2, 7), [(6, 612)]);
        assert_eq!(come(&mut port, 705, ABR, 8), []);
        assert_eq!(come(&mut port, 706, 0, 9), [(8, 812), (9, 912)]);
        assert_eq!((port.queue(2, Time::from_ps(706)), port.max_abr_queue()), (Cells(1), Cells(1)));
    }

    #[test]
    fn without_cells_above_it_abr_is_the_first_priority() {
        let mut port = ranked(ABR);
        come(&mut port, 0, 2, 1);
        assert_eq!(come(&mut port, 10, ABR, 2), [(1, 107), (2, 207)]);
        assert_eq!(come(&mut port, 20, ABR, 3), [(3, 307)]);
        let at = Time::from_ps(50);
        assert_eq!([0, ABR, 2].map(|priority| port.queue(priority, at)), [Cells(0), Cells(2), Cells(1)]);
        assert_eq!(port.queue(ABR, Time::from_ps(200)), Cells(1));
        assert_eq!(port.max_abr_queue(), Cells(2));
    }
}
