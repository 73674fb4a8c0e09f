//! A port with several categories whose departures nobody has to see as they happen: strict priority, not pre-emptive,
//! nothing lost and nothing marked.
//!
//! The line works whenever there is work, and every cell takes the same time. So all categories together are a [`Fifo`]
//! in everything but the order of the cells: backlog, busy time and the integral of the queue. As to the order, a cell of the
//! category served first is never overtaken, so its departure is known when it comes; only the others wait in real
//! queues, until the line is free of all that came before its turn. A cell is given its turn, with its departure, as
//! soon as that is certain, and cells get theirs in the order in which they will leave.
//!
//! At one instant a cell whose transmission ends leaves before others come, and the turn goes to one that has waited.

use cellrate_proto::{Cells, Duration, Time};

use super::{ABR, Fifo, Line, PRIORITIES};
use crate::kernel::cell::Cell;
use crate::kernel::ring::Ring;

/// Queues of the categories that can be overtaken, and what is certain about the others.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    /// All categories together; it says nothing about a single cell.
    all: Fifo,
    /// The priority that is served first.
    first: usize,
    /// Cells of the other priorities whose turn has not come.
    waiting: [Ring; PRIORITIES],
    /// How many cells wait.
    count: usize,
    cell_time: Duration,
    delay: Duration,
    /// When the last cell that was given its turn will have left.
    free_at: Time,
    /// The same for the last one of the first priority, and for the last one of another priority, which is `lower`.
    first_until: Time,
    lower_until: Time,
    lower: usize,
    /// The largest queue of ABR: where that is the first priority, as the time that it takes.
    max_abr: Cells,
    max_first: Duration,
}

impl Ranked {
    /// At `line`, which loses nothing; `first` is the highest priority in use.
    pub fn new(line: &Line, first: usize) -> Ranked {
        Ranked {
            all: Fifo::new(line, None),
            first,
            waiting: [Ring::new(), Ring::new(), Ring::new()],
            count: 0,
            cell_time: line.cell_time,
            delay: line.delay,
            free_at: Time::ZERO,
            first_until: Time::ZERO,
            lower_until: Time::ZERO,
            lower: PRIORITIES,
            max_abr: Cells::ZERO,
            max_first: Duration::ZERO,
        }
    }

    /// Cells get their turn that begins at `until` or before: each goes to `give`, stamped with its arrival at the far end.
    #[inline(always)]
    pub fn advance(&mut self, until: Time, mut give: impl FnMut(Cell)) {
        while self.count > 0 && self.free_at <= until {
            let next = self.waiting.iter_mut().enumerate().find_map(|(priority, queue)| {
                let cell = queue.pop()?;
                Some((priority, cell))
            });
            let Some((priority, cell)) = next else {
                unreachable!("some wait");
            };
            self.count -= 1;
            let begins = self.free_at;
            give(self.serve_lower(begins, priority, cell));
        }
    }

    /// A cell of `priority` comes at `now`, up to which turns have been [given](Ranked::advance). If it has its turn already,
    /// or knows when, it goes to `give`.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, priority: usize, cell: Cell, give: impl FnOnce(Cell)) {
        self.all.admit(now);
        if priority == self.first {
            let departs = self.free_at.max(now) + self.cell_time;
            self.free_at = departs;
            self.first_until = departs;
            self.max_first = self.max_first.max(departs.since(now.max(self.lower_until)));
            return give(cell.arriving(departs + self.delay));
        }
        if self.free_at <= now {
            give(self.serve_lower(now, priority, cell));
        } else {
            self.waiting[priority].push(cell);
            self.count += 1;
        }
        if priority == ABR {
            self.max_abr = self.max_abr.max(self.queue(ABR, now));
        }
    }

    #[inline(always)]
    fn serve_lower(&mut self, begins: Time, priority: usize, cell: Cell) -> Cell {
        let departs = begins + self.cell_time;
        (self.free_at, self.lower_until, self.lower) = (departs, departs, priority);
        cell.arriving(departs + self.delay)
    }

    /// Cells of `priority` waiting and in transmission at `at`, up to which, and not beyond, turns have been given.
    #[inline]
    pub fn queue(&self, priority: usize, at: Time) -> Cells {
        let in_transmission = at < self.lower_until;
        if priority == self.first {
            // While another one is in transmission, they all come after it.
            let from = if in_transmission { self.lower_until } else { at };
            return Cells(self.first_until.since(from).div_ceil(self.cell_time));
        }
        Cells(self.waiting[priority].len() as u64 + u64::from(in_transmission && self.lower == priority))
    }

    /// All categories together, in everything but the order of the cells.
    pub fn all(&self) -> &Fifo {
        &self.all
    }

    /// Largest queue of ABR so far.
    pub fn max_abr_queue(&self) -> Cells {
        if self.first == ABR { Cells(self.max_first.div_ceil(self.cell_time)) } else { self.max_abr }
    }

    /// Every cell whose turn has not come.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.waiting.iter().flat_map(Ring::iter)
    }
}
