//! Arrivals that are known one after the other, and the queue of a sender in which they wait.

use std::cell::RefCell;
use std::fmt;

use cellrate_proto::{Duration, Time};

use super::Generate;

/// Instants at which cells come, drawn or computed one after the other.
pub trait Arrivals: Clone + fmt::Debug {
    /// When the next cell comes; [`Time::NEVER`] after the last.
    fn next(&self) -> Time;

    /// Goes on to the cell after that.
    fn pass(&mut self);

    /// Goes on to the first cell after `now`, and counts those between \[cells\].
    fn pass_until(&mut self, now: Time) -> u64 {
        let mut passed = 0;
        while self.next() <= now && self.next() != Time::NEVER {
            self.pass();
            passed += 1;
        }
        passed
    }

    /// How many cells wait at `at`, and will at each `spacing` after that, as [`Generate::run`]. Default 0.
    fn run(&self, at: Time, spacing: Duration) -> u32 {
        let _ = (at, spacing);
        0
    }

    /// Goes on past `count` cells of a [run](Arrivals::run), at least one.
    fn pass_run(&mut self, count: u32) {
        unreachable!("arrivals without runs have none of {count} cells");
    }
}

/// Cells of `A` that wait until the sender may send them.
#[derive(Clone, Debug)]
pub struct Queued<A> {
    /// The next cell that leaves.
    leaving: A,
    backlog: Backlog<A>,
}

impl<A> From<A> for Queued<A> {
    fn from(leaving: A) -> Queued<A> {
        Queued { leaving, backlog: Backlog::default() }
    }
}

impl<A: Arrivals> Generate for Queued<A> {
    #[inline]
    fn available_from(&self, from: Time) -> Time {
        self.leaving.next().max(from)
    }

    #[inline]
    fn take(&mut self, _now: Time) {
        self.leaving.pass();
        self.backlog.leave(1);
    }

    fn waiting(&self, now: Time) -> Option<u64> {
        Some(self.backlog.count(&self.leaving, now))
    }

    #[inline]
    fn run(&self, at: Time, spacing: Duration) -> u32 {
        self.leaving.run(at, spacing)
    }

    #[inline]
    fn take_run(&mut self, count: u32) {
        self.leaving.pass_run(count);
        self.backlog.leave(u64::from(count));
    }
}

/// Cells that have come and not left, counted by a second reading of the same draws.
///
/// The reading goes on from where it was: each cell is drawn twice at most, however often the backlog is asked for, and
/// once where it never is.
#[derive(Clone, Debug)]
pub struct Backlog<A>(RefCell<Option<Box<Ahead<A>>>>);

/// The second reading.
#[derive(Clone, Debug)]
struct Ahead<A> {
    arrivals: A,
    /// Cells that it has passed and that have not left \[cells\].
    waiting: u64,
}

impl<A> Default for Backlog<A> {
    fn default() -> Backlog<A> {
        Backlog(RefCell::new(None))
    }
}

impl<A: Arrivals> Backlog<A> {
    /// Cells that have come by `now` \[cells\], where `leaving` is at the next one that leaves.
    pub fn count(&self, leaving: &A, now: Time) -> u64 {
        let mut ahead = self.0.borrow_mut();
        let ahead = ahead.get_or_insert_with(|| Box::new(Ahead { arrivals: leaving.clone(), waiting: 0 }));
        ahead.waiting += ahead.arrivals.pass_until(now);
        ahead.waiting
    }

    /// So many cells have left.
    #[inline]
    pub fn leave(&mut self, cells: u64) {
        let reading = self.0.get_mut();
        if let Some(ahead) = reading {
            match ahead.waiting.checked_sub(cells) {
                Some(waiting) => ahead.waiting = waiting,
                // Some have left before they were counted: the next count begins behind them.
                None => *reading = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell each 10 ps, the last at 1 us, counting how often it was drawn by all its readings.
    #[derive(Clone, Debug)]
    struct Even<'a>(u64, &'a std::cell::Cell<u32>);

    impl Arrivals for Even<'_> {
        fn next(&self) -> Time {
            if self.0 <= 1_000_000 { Time::from_ps(self.0) } else { Time::NEVER }
        }

        fn pass(&mut self) {
            self.0 += 10;
            self.1.set(self.1.get() + 1);
        }
    }

    #[test]
    fn a_backlog_is_what_has_come_less_what_has_left_and_is_not_drawn_anew() {
        let drawn = std::cell::Cell::new(0);
        let mut cells = Queued::from(Even(0, &drawn));
        let mut left = 0;
        for now in 0..1_000 {
            if now % 3 == 0 && cells.available_from(Time::ZERO) <= Time::from_ps(now) {
                cells.take(Time::from_ps(now));
                left += 1;
            }
            assert_eq!(cells.waiting(Time::from_ps(now)), Some(now / 10 + 1 - left), "at {now} ps");
        }
        assert!(
            left > 90 && drawn.get() <= 100 + left as u32,
            "{left} have left, {} were drawn",
            drawn.get()
        );
        assert_eq!(cells.waiting(Time::NEVER), Some(100_001 - left));
    }

    #[test]
    fn cells_that_leave_uncounted_are_not_counted_later() {
        let drawn = std::cell::Cell::new(0);
        let mut cells = Queued::from(Even(0, &drawn));
        assert_eq!(cells.waiting(Time::from_ps(20)), Some(3));
        for _ in 0..7 {
            cells.take(Time::from_ps(60));
        }
        assert_eq!(cells.waiting(Time::from_ps(60)), Some(0));
        assert_eq!(cells.waiting(Time::from_ps(100)), Some(4));
    }
}
