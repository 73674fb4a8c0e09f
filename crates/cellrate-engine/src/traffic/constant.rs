//! Cells at a constant rate from a start to an end.

use cellrate_proto::{CellRate, Duration, Time};

/// Constant-rate traffic at work.
#[derive(Clone, Debug)]
pub struct Constant {
    next: Time,
    end: Time,
    spacing: Duration,
}

impl Constant {
    /// Cells at `rate` from `start` on, none at or after `end`.
    pub fn new(rate: CellRate, start: Time, end: Time) -> Constant {
        let spacing = rate.interval();
        let none = start >= end || spacing == Duration::FOREVER;
        Constant { next: if none { Time::NEVER } else { start }, end, spacing }
    }

    /// When the next cell comes; [`Time::NEVER`] after the last.
    pub fn next(&self) -> Time {
        self.next
    }

    /// The cell that came first has left.
    pub fn take(&mut self) {
        let next = self.next.saturating_add(self.spacing);
        self.next = if next < self.end { next } else { Time::NEVER };
    }

    /// How many cells wait at `at`, and will at each `spacing` after that. Zero before the next one comes.
    pub fn run(&self, at: Time, spacing: Duration) -> u32 {
        run_of(self.next, self.end, self.spacing, at, spacing)
    }

    /// `count` cells of a [run](Constant::run) have left.
    pub fn take_run(&mut self, count: u32) {
        self.next += self.spacing * u64::from(count - 1);
        self.take();
    }

    /// Cells that have come by `now` and wait \[cells\].
    pub fn waiting(&self, now: Time) -> u64 {
        if self.next > now { 0 } else { cells_until(self.next, now.min(last_before(self.end)), self.spacing) }
    }
}

/// The number of cells that wait at `at`, and at each `spacing` after that, of those that come one every `gap`, from
/// `first` on and before `end`. Zero where the first one has not come.
pub fn run_of(first: Time, end: Time, gap: Duration, at: Time, spacing: Duration) -> u32 {
    if first > at {
        return 0;
    }
    let come = if end == Time::NEVER { u64::MAX } else { cells_until(first, last_before(end), gap) };
    let in_time = if spacing >= gap {
        u64::MAX
    } else {
        // Each cell leaves this much less after it came than the one before it.
        let lead = Duration::from_ps(gap.as_ps() - spacing.as_ps());
        at.since(first).div_floor(lead) + 1
    };
    u32::try_from(come.min(in_time)).unwrap_or(u32::MAX)
}

/// Cells at `first`, `first + spacing`, ... up to and including `last`; `first <= last`.
pub(super) fn cells_until(first: Time, last: Time, spacing: Duration) -> u64 {
    last.since(first).div_floor(spacing) + 1
}

/// The last instant before `end`.
pub(super) fn last_before(end: Time) -> Time {
    Time::from_ps(end.as_ps() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_evenly_from_the_start_until_before_the_end() {
        let (start, end) = (Time::from_ps(100), Time::from_ps(400));
        let mut constant = Constant::new(CellRate::new(1e10), start, end);
        for expected in [100, 200, 300] {
            assert_eq!(constant.next(), Time::from_ps(expected));
            constant.take();
        }
        assert_eq!(constant.next(), Time::NEVER);
    }

    /// How many of `constant` leave from `at` on, one every `spacing`, none of which has to wait for its data.
    fn one_by_one(constant: &Constant, at: u64, spacing: u64) -> u32 {
        let mut rest = constant.clone();
        let leaves = (0..).map(|index| Time::from_ps(at + index * spacing));
        let in_time = leaves.take_while(|&at| {
            let waits = rest.next() <= at;
            rest.take();
            waits
        });
        in_time.count() as u32
    }

    #[test]
    fn a_run_ends_with_the_first_cell_that_would_come_too_late() {
        let of = |end| Constant::new(CellRate::new(1e10), Time::from_ps(100), Time::from_ps(end));
        for (end, at, spacing) in
            all_of(&[400, 1_001], &[99, 100, 130, 250, 399, 900], &[1, 60, 99, 100, 101, 500])
        {
            let (constant, pace) = (of(end), Duration::from_ps(spacing));
            let count = constant.run(Time::from_ps(at), pace);
            assert_eq!(count, one_by_one(&constant, at, spacing), "until {end}, at {at} every {spacing}");
            let [mut at_once, mut cell_by_cell] = [constant.clone(), constant];
            if count > 0 {
                at_once.take_run(count);
                (0..count).for_each(|_| cell_by_cell.take());
                assert_eq!(at_once.next(), cell_by_cell.next());
            }
        }
    }

    /// Each of these with each of those and of the last.
    fn all_of(ends: &[u64], instants: &[u64], spacings: &[u64]) -> Vec<(u64, u64, u64)> {
        let pairs = ends.iter().flat_map(|&end| instants.iter().map(move |&at| (end, at)));
        pairs.flat_map(|(end, at)| spacings.iter().map(move |&spacing| (end, at, spacing))).collect()
    }

    #[test]
    fn what_has_come_and_not_left_waits() {
        let mut constant = Constant::new(CellRate::new(1e10), Time::from_ps(100), Time::from_ps(400));
        assert_eq!(constant.waiting(Time::from_ps(99)), 0);
        assert_eq!(constant.waiting(Time::from_ps(250)), 2);
        assert_eq!(constant.waiting(Time::from_ps(9_999)), 3);
        constant.take();
        assert_eq!(constant.waiting(Time::from_ps(9_999)), 2);
    }
}
