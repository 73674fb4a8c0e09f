//! Cells at a constant rate from a start to an end.

use cellrate_proto::declaration::{Key, Shape, required};
use cellrate_proto::{CellRate, Duration, Time};

use super::kinds::{Declared, required_rate, sends_from_start_to_end};
use super::{Draws, Generate, Generated, Traffic, TrafficKind};
use crate::keys::{END_KEY, POSITIVE_RATE, START_KEY};
use crate::text::error::Fault;
use crate::text::reading::start_and_end;
use crate::text::tree::{Node, Table};
use crate::values::ClockOffset;

/// One cell every 1/rate, from `start` until `end`; what the sender may not yet send waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// Cells per second of data.
    pub rate: CellRate,
    /// The first cell.
    pub start: Time,
    /// No cell at or after this.
    pub end: Time,
}

const RATE_KEY: Key = required("rate", POSITIVE_RATE, "Rate of data cells.");

impl Declared for Constant {
    const SHAPE: Shape = Shape {
        name: "constant",
        about: "One cell every 1/rate; what the sender may not yet send waits.",
        keys: &[RATE_KEY, START_KEY, END_KEY],
    };

    const FOR_CALLS: Option<Shape> = Some(Shape {
        name: "call_constant",
        about: "One cell every 1/rate from the beginning of the call on; what the sender may not yet send waits.",
        keys: &[RATE_KEY],
    });

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<Constant, Fault> {
        let (start, end) = start_and_end(table)?;
        Ok(Constant { rate: required_rate(node, table)?, start, end })
    }
}

impl TrafficKind for Constant {
    sends_from_start_to_end!();

    fn scale(&mut self, offset: ClockOffset) {
        self.rate = offset.of_rate(self.rate);
    }

    fn rate(&self, peak: CellRate) -> Option<CellRate> {
        Some(self.rate.min(peak))
    }

    fn mean_rate(&self) -> Option<CellRate> {
        Some(self.rate)
    }

    fn is_steady(&self, from: Time, to: Time) -> bool {
        self.start <= from && self.end >= to
    }

    fn fixed_spacing(&self) -> Option<Duration> {
        Some(self.rate.interval())
    }

    fn is_autonomous(&self) -> bool {
        true
    }

    fn for_call(&self, start: Time, end: Time) -> Option<Traffic> {
        Some(Traffic::Constant(Constant { start, end, ..*self }))
    }
}

impl Generated for Constant {
    type Cells<D: Draws> = ConstantCells;

    fn cells<D: Draws>(&self, _draws: impl FnOnce() -> D) -> ConstantCells {
        let spacing = self.rate.interval();
        let none = self.start >= self.end || spacing == Duration::FOREVER;
        ConstantCells { next: if none { Time::NEVER } else { self.start }, end: self.end, spacing }
    }
}

/// Cells of [`Constant`] traffic, as they come.
#[derive(Clone, Debug)]
pub struct ConstantCells {
    /// When the next cell comes; [`Time::NEVER`] after the last.
    next: Time,
    end: Time,
    spacing: Duration,
}

impl Generate for ConstantCells {
    fn available_from(&self, from: Time) -> Time {
        self.next.max(from)
    }

    fn take(&mut self, _now: Time) {
        let next = self.next.saturating_add(self.spacing);
        self.next = if next < self.end { next } else { Time::NEVER };
    }

    fn waiting(&self, now: Time) -> Option<u64> {
        let last = || now.min(last_before(self.end));
        Some(if self.next > now { 0 } else { cells_until(self.next, last(), self.spacing) })
    }

    fn run(&self, at: Time, spacing: Duration) -> u32 {
        run_of(self.next, self.end, self.spacing, at, spacing)
    }

    fn take_run(&mut self, count: u32) {
        self.next += self.spacing * u64::from(count - 1);
        self.take(self.next);
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
    use crate::traffic::kinds::NoDraws;

    fn cells(start: Time, end: Time) -> ConstantCells {
        Constant { rate: CellRate::new(1e10), start, end }.cells(|| NoDraws)
    }

    #[test]
    fn cells_come_evenly_from_the_start_until_before_the_end() {
        let (start, end) = (Time::from_ps(100), Time::from_ps(400));
        let mut constant = cells(start, end);
        for expected in [100, 200, 300] {
            assert_eq!(constant.next, Time::from_ps(expected));
            constant.take(Time::ZERO);
        }
        assert_eq!(constant.next, Time::NEVER);
    }

    /// How many of `constant` leave from `at` on, one every `spacing`, none of which has to wait for its data.
    fn one_by_one(constant: &ConstantCells, at: u64, spacing: u64) -> u32 {
        let mut rest = constant.clone();
        let leaves = (0..).map(|index| Time::from_ps(at + index * spacing));
        let in_time = leaves.take_while(|&at| {
            let waits = rest.next <= at;
            rest.take(Time::ZERO);
            waits
        });
        in_time.count() as u32
    }

    #[test]
    fn a_run_ends_with_the_first_cell_that_would_come_too_late() {
        let of = |end| cells(Time::from_ps(100), Time::from_ps(end));
        for (end, at, spacing) in
            all_of(&[400, 1_001], &[99, 100, 130, 250, 399, 900], &[1, 60, 99, 100, 101, 500])
        {
            let (constant, pace) = (of(end), Duration::from_ps(spacing));
            let count = constant.run(Time::from_ps(at), pace);
            assert_eq!(count, one_by_one(&constant, at, spacing), "until {end}, at {at} every {spacing}");
            let [mut at_once, mut cell_by_cell] = [constant.clone(), constant];
            if count > 0 {
                at_once.take_run(count);
                (0..count).for_each(|_| cell_by_cell.take(Time::ZERO));
                assert_eq!(at_once.next, cell_by_cell.next);
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
        let mut constant = cells(Time::from_ps(100), Time::from_ps(400));
        assert_eq!(constant.waiting(Time::from_ps(99)), Some(0));
        assert_eq!(constant.waiting(Time::from_ps(250)), Some(2));
        assert_eq!(constant.waiting(Time::from_ps(9_999)), Some(3));
        constant.take(Time::ZERO);
        assert_eq!(constant.waiting(Time::from_ps(9_999)), Some(2));
    }
}
