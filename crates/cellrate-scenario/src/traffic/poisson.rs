//! Cells of a Poisson process.

use cellrate_proto::declaration::{Key, Shape, required};
use cellrate_proto::{CellRate, Duration, Time};

use super::arrivals::{Arrivals, Queued};
use super::kinds::{Declared, required_rate, sends_from_start_to_end};
use super::{Draws, Generated, Traffic, TrafficKind};
use crate::keys::{END_KEY, POSITIVE_RATE, START_KEY};
use crate::text::error::Fault;
use crate::text::reading::start_and_end;
use crate::text::tree::{Node, Table};
use crate::values::ClockOffset;

/// Single cells with exponentially distributed gaps; what the sender may not yet send waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisson {
    /// Mean rate.
    pub rate: CellRate,
    /// Gaps are counted from then on.
    pub start: Time,
    /// No cell at or after this.
    pub end: Time,
}

const RATE_KEY: Key = required("rate", POSITIVE_RATE, "Mean rate of data cells.");

impl Declared for Poisson {
    const SHAPE: Shape = Shape {
        name: "poisson",
        about: "Single cells of a Poisson process; what the sender may not yet send waits.",
        keys: &[RATE_KEY, START_KEY, END_KEY],
    };

    const FOR_CALLS: Option<Shape> = Some(Shape {
        name: "call_poisson",
        about: "Single cells of a Poisson process, from the beginning of the call on.",
        keys: &[RATE_KEY],
    });

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<Poisson, Fault> {
        let (start, end) = start_and_end(table)?;
        Ok(Poisson { rate: required_rate(node, table)?, start, end })
    }
}

impl TrafficKind for Poisson {
    sends_from_start_to_end!();

    fn scale(&mut self, offset: ClockOffset) {
        self.rate = offset.of_rate(self.rate);
    }

    fn mean_rate(&self) -> Option<CellRate> {
        Some(self.rate)
    }

    fn is_autonomous(&self) -> bool {
        true
    }

    fn for_call(&self, start: Time, end: Time) -> Option<Traffic> {
        Some(Traffic::Poisson(Poisson { start, end, ..*self }))
    }
}

impl Generated for Poisson {
    type Cells<D: Draws> = Queued<PoissonCells<D>>;

    fn cells<D: Draws>(&self, draws: impl FnOnce() -> D) -> Queued<PoissonCells<D>> {
        let gap = self.rate.interval();
        let mut cells = PoissonCells { next: self.start, end: self.end, gap, draws: draws() };
        cells.pass();
        cells.into()
    }
}

/// Cells of [`Poisson`] traffic, as they come.
#[derive(Clone, Debug)]
pub struct PoissonCells<D> {
    /// When the next cell comes; [`Time::NEVER`] after the last.
    next: Time,
    end: Time,
    /// The mean gap.
    gap: Duration,
    draws: D,
}

impl<D: Draws> Arrivals for PoissonCells<D> {
    fn next(&self) -> Time {
        self.next
    }

    fn pass(&mut self) {
        let next = match self.gap {
            Duration::FOREVER => Time::NEVER,
            gap => self.next.saturating_add(self.draws.exponential(gap)),
        };
        self.next = if next < self.end { next } else { Time::NEVER };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Generate;
    use crate::traffic::kinds::SplitMix;

    #[test]
    fn gaps_have_the_mean_and_the_deviation_of_an_exponential_distribution() {
        let end = Time::from_ps(1_000_000_000_000);
        let poisson = Poisson { rate: CellRate::new(1e5), start: Time::ZERO, end };
        let mut cells = poisson.cells(|| SplitMix(5));
        let (mut last, mut count, mut squares) = (Time::ZERO, 0.0, 0.0);
        while cells.available_from(last) < end {
            let gap = cells.available_from(last).since(last).as_secs_f64() * 1e5;
            (last, count, squares) = (cells.available_from(last), count + 1.0, squares + gap * gap);
            cells.take(last);
        }
        // 100,000 cells in a second, with a deviation of 316; E[gap^2] = 2.
        assert!((count - 1e5_f64).abs() < 4.0 * 316.0, "{count}");
        assert!((squares / count - 2.0).abs() < 0.06, "{}", squares / count);
    }

    #[test]
    fn what_has_come_waits_and_is_drawn_but_once() {
        let end = Time::from_ps(1_000_000_000);
        let poisson = Poisson { rate: CellRate::new(1e5), start: Time::from_ps(500), end };
        let mut cells = poisson.cells(|| SplitMix(7));
        let now = Time::from_ps(400_000_000);
        let waiting = cells.waiting(now).expect("it queues");
        let mut taken = 0;
        while cells.available_from(Time::ZERO) <= now {
            cells.take(now);
            taken += 1;
        }
        assert_eq!((taken, cells.waiting(now)), (waiting, Some(0)));
        assert!(taken > 10 && cells.waiting(Time::NEVER) < Some(100));
    }
}
