//! Many like on-off sources superposed: minisources of video, or, with heavy-tailed periods, long-range dependence.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cellrate_proto::declaration::{Kind, Shape, required};
use cellrate_proto::{CellRate, Duration, Time};

use super::arrivals::{Arrivals, Queued};
use super::kinds::{Declared, required_rate};
use super::{Draws, Generated, OnOff, TrafficKind};
use crate::keys::{END_KEY, PERIOD, POSITIVE_RATE, START_KEY};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::reading::{optional, period, start_and_end};
use crate::text::tree::{Node, Table};
use crate::values::ClockOffset;

/// Most sources of one direction.
const MOST: i64 = 10_000;

/// So many independent on-off sources, each at an instant of its periods that does not depend on them; what the sender
/// may not yet send waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minisources {
    /// How many.
    pub count: u32,
    /// Each of them.
    pub each: OnOff,
}

impl Declared for Minisources {
    const SHAPE: Shape = Shape {
        name: "minisources",
        about: "Like on-off sources superposed, in the steady state from the start: minisources of video (Maglaris et al., IEEE Trans. Communications 36, 1988), or with Pareto periods long-range dependent traffic (Willinger et al., IEEE/ACM Trans. Networking 5, 1997). What the sender may not yet send waits.",
        keys: &[
            required("count", Kind::Integer(1, MOST), "Number of sources."),
            required("rate", POSITIVE_RATE, "Rate of data cells of each while it is on."),
            required("on", PERIOD, "How long each is on each time."),
            required("off", PERIOD, "How long each is off each time."),
            START_KEY,
            END_KEY,
        ],
    };

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<Minisources, Fault> {
        let (start, end) = start_and_end(table)?;
        let needed = |key: &str, about: &str| check::missing(node.place, key, about);
        let length = |key: &str| optional(table, key, period)?.ok_or_else(|| needed(key, "its length"));
        let count = optional(table, "count", |node| check::integer(node, 1, MOST))?;
        let count = count.ok_or_else(|| needed("count", "the number of sources"))? as u32;
        let rate = required_rate(node, table)?;
        Ok(Minisources { count, each: OnOff { rate, on: length("on")?, off: length("off")?, start, end } })
    }
}

impl TrafficKind for Minisources {
    fn delay(&mut self, phase: Duration) {
        self.each.delay(phase);
    }

    fn scale(&mut self, offset: ClockOffset) {
        self.each.scale(offset);
    }

    fn changes(&self) -> Vec<Time> {
        self.each.changes()
    }

    fn sends_at(&self, at: Time) -> bool {
        self.each.sends_at(at)
    }

    fn mean_rate(&self) -> Option<CellRate> {
        Some(self.each.mean() * f64::from(self.count))
    }

    fn is_autonomous(&self) -> bool {
        true
    }

    fn octets(&self) -> u64 {
        // State of each, and its place in the queue of the next cells; both again for the reading of a backlog.
        96 * u64::from(self.count)
    }
}

impl Generated for Minisources {
    type Cells<D: Draws> = Queued<MinisourceCells<D>>;

    fn cells<D: Draws>(&self, draws: impl FnOnce() -> D) -> Queued<MinisourceCells<D>> {
        let OnOff { rate, on, off, start, end } = self.each;
        let share_on = on.mean().as_secs_f64() / (on.mean() + off.mean()).as_secs_f64();
        let spacing = rate.interval();
        let mut cells = MinisourceCells {
            next: BinaryHeap::with_capacity(self.count as usize),
            on_ends: vec![start; self.count as usize],
            each: OnOff { rate, on, off, start, end },
            spacing,
            draws: draws(),
        };
        if spacing == Duration::FOREVER {
            return cells.into();
        }
        for source in 0..self.count {
            // One that is on is somewhere between two cells.
            let is_on = cells.draws.uniform() < share_on;
            let left = cells.draws.period_left(if is_on { on } else { off });
            let phase = Duration::from_secs_f64(spacing.as_secs_f64() * cells.draws.uniform());
            match is_on {
                true => cells.on(source, start.saturating_add(phase), start.saturating_add(left)),
                false => cells.begin(source, start.saturating_add(left)),
            }
        }
        cells.into()
    }
}

/// Cells of [`Minisources`], as they come.
#[derive(Clone, Debug)]
pub struct MinisourceCells<D> {
    /// The next cell of each source that has one more, earliest first; at one instant in the order of the sources.
    next: BinaryHeap<Reverse<(Time, u32)>>,
    /// When the on period of that cell ends, by source.
    on_ends: Vec<Time>,
    each: OnOff,
    spacing: Duration,
    draws: D,
}

impl<D: Draws> MinisourceCells<D> {
    /// The source is on until `on_end`, with its next cell at `first`.
    fn on(&mut self, source: u32, first: Time, on_end: Time) {
        let on_end = on_end.min(self.each.end);
        if first < on_end {
            self.on_ends[source as usize] = on_end;
            self.next.push(Reverse((first, source)));
            return;
        }
        let off = self.draws.period(self.each.off);
        self.begin(source, on_end.saturating_add(off));
    }

    /// An on period of the source begins at `start`, unless that is past the end.
    fn begin(&mut self, source: u32, start: Time) {
        if start >= self.each.end {
            return;
        }
        // A picosecond at least: it has a cell.
        let on = self.draws.period(self.each.on).max(Duration::from_ps(1));
        self.on(source, start, start.saturating_add(on));
    }
}

impl<D: Draws> Arrivals for MinisourceCells<D> {
    fn next(&self) -> Time {
        self.next.peek().map_or(Time::NEVER, |Reverse((next, _))| *next)
    }

    fn pass(&mut self) {
        let Some(Reverse((at, source))) = self.next.pop() else { return };
        self.on(source, at.saturating_add(self.spacing), self.on_ends[source as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Generate;
    use crate::traffic::kinds::SplitMix;
    use crate::values::Period;

    /// Cells in each span of `ms`, of a minute.
    fn counts(count: u32, rate: f64, on: Period, off: Period, ms: u64) -> Vec<f64> {
        let end = Time::ZERO + Duration::from_secs(60);
        let each = OnOff { rate: CellRate::new(rate), on, off, start: Time::ZERO, end };
        let mut cells = Minisources { count, each }.cells(|| SplitMix(17));
        let mut counts = vec![0.0; (60_000 / ms) as usize];
        loop {
            let next = cells.available_from(Time::ZERO);
            if next == Time::NEVER {
                return counts;
            }
            counts[(next.as_ps() / (ms * 1_000_000_000)) as usize] += 1.0;
            cells.take(next);
        }
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn mean_variance_and_covariance_are_those_of_minisources() {
        // Maglaris et al.: M sources, on with probability p = a/(a + b), A cells/s each: the rate has mean MpA,
        // variance MA^2 p(1 - p) and covariance of that times exp(-(a + b) t). Here a = b = 20/s, so it falls to 1/e
        // in 25 ms.
        let stay = Period::Exponential(Duration::from_ms(50));
        let counts = counts(20, 5_000.0, stay, stay, 5);
        let centre = mean(&counts);
        assert!((centre / 250.0 - 1.0).abs() < 0.01, "{centre}");
        let covariance = |lag: usize| {
            mean(&counts.windows(lag + 1).map(|w| (w[0] - centre) * (w[lag] - centre)).collect::<Vec<_>>())
        };
        // Over 5 ms the rate is averaged: the variance is that of the rate times 2 (x - 1 + e^-x)/x^2, x = 0.2.
        let of_rate = 20.0 * 25.0 * 25.0 * 0.25;
        let averaged = of_rate * 2.0 * (0.2 - 1.0 + (-0.2_f64).exp()) / 0.04;
        assert!((covariance(0) / averaged - 1.0).abs() < 0.1, "{} against {averaged}", covariance(0));
        let fallen = covariance(5) / covariance(0);
        assert!((fallen - (-1.0_f64).exp()).abs() < 0.06, "{fallen}");
    }

    #[test]
    fn the_state_at_the_start_is_that_of_any_instant() {
        // On for a quarter of the time; without a draw of the state all 4,000 would begin on, at 4,000 cells a ms.
        let [on, off] = [10, 30].map(|ms| Period::Pareto(Duration::from_ms(ms), 1.5));
        let end = Time::ZERO + Duration::from_ms(1);
        let each = OnOff { rate: CellRate::new(1e3), on, off, start: Time::ZERO, end };
        let mut cells = Minisources { count: 4_000, each }.cells(|| SplitMix(3));
        let mut count = 0.0;
        while cells.available_from(Time::ZERO) < end {
            cells.take(Time::ZERO);
            count += 1.0;
        }
        // Cells at 1,000/s and the first of each period: 1,000 and the half of 100 in the mean.
        assert!((count - 1_050.0_f64).abs() < 130.0, "{count}");
    }

    #[test]
    fn the_mean_rate_counts_part_cells_of_pareto_periods() {
        let [on, off] = [10, 30].map(|ms| Period::Pareto(Duration::from_ms(ms), 1.8));
        let found = mean(&counts(50, 1_000.0, on, off, 1_000));
        let each = OnOff { rate: CellRate::new(1e3), on, off, start: Time::ZERO, end: Time::NEVER };
        let expected = Minisources { count: 50, each }.mean_rate().expect("it has one").as_cells_per_s();
        assert!((found / expected - 1.0).abs() < 0.03, "{found} against {expected}");
    }
}
