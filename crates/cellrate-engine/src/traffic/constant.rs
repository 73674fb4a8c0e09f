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

    /// Cells that have come by `now` and wait \[cells\].
    pub fn waiting(&self, now: Time) -> u64 {
        if self.next > now { 0 } else { cells_until(self.next, now.min(last_before(self.end)), self.spacing) }
    }
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
