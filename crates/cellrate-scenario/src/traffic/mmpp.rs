//! Cells of a Markov-modulated Poisson process of two states.

use cellrate_proto::declaration::{Kind, Shape, required};
use cellrate_proto::{CellRate, Duration, Time};

use super::arrivals::{Arrivals, Queued};
use super::kinds::{Declared, sends_from_start_to_end};
use super::{Draws, Generated, TrafficKind};
use crate::keys::{END_KEY, RATE, SPAN, START_KEY};
use crate::text::error::Fault;
use crate::text::reading::start_and_end;
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};
use crate::values::ClockOffset;

/// A Poisson process of cells whose rate is now the one, now the other; what the sender may not yet send waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmpp {
    /// Rate of each state; zero in one of them makes an interrupted Poisson process.
    pub rates: [CellRate; 2],
    /// Mean time in each state, exponentially distributed.
    pub stays: [Duration; 2],
    /// States begin, drawn with the share of time that each has.
    pub start: Time,
    /// No cell at or after this.
    pub end: Time,
}

impl Declared for Mmpp {
    const SHAPE: Shape = Shape {
        name: "mmpp",
        about: "Single cells of a Markov-modulated Poisson process of two states; what the sender may not yet send waits.",
        keys: &[
            required(
                "rates",
                Kind::Pair(&RATE, &RATE),
                "Mean rate of data cells in each state, zero in one of them at most.",
            ),
            required(
                "stays",
                Kind::Pair(&SPAN, &SPAN),
                "Mean time in each state, exponentially distributed.",
            ),
            START_KEY,
            END_KEY,
        ],
    };

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<Mmpp, Fault> {
        let (start, end) = start_and_end(table)?;
        let missing = |key: &str| check::missing(node.place, key, "one for each state");
        let pair = |key: &str| check::pair(table.node(key).ok_or_else(|| missing(key))?);
        let [one, other] = pair("rates")?;
        let rates = [quantity::cell_rate(one)?, quantity::cell_rate(other)?];
        if rates == [CellRate::ZERO; 2] {
            let message = "rates are zero in both states";
            return Err(Fault::new(one.place, message, "Write a rate above 0 for one of them"));
        }
        let [first, second] = pair("stays")?;
        Ok(Mmpp { rates, stays: [quantity::span(first)?, quantity::span(second)?], start, end })
    }
}

impl Mmpp {
    /// Mean rate, (r1 s1 + r2 s2)/(s1 + s2) with the mean stays s.
    pub fn mean(&self) -> CellRate {
        let [one, other] = self.stays.map(Duration::as_secs_f64);
        let [low, high] = self.rates.map(CellRate::as_cells_per_s);
        CellRate::new((low * one + high * other) / (one + other))
    }
}

impl TrafficKind for Mmpp {
    sends_from_start_to_end!();

    fn scale(&mut self, offset: ClockOffset) {
        self.rates = self.rates.map(|rate| offset.of_rate(rate));
    }

    fn mean_rate(&self) -> Option<CellRate> {
        Some(self.mean())
    }

    fn is_autonomous(&self) -> bool {
        true
    }
}

impl Generated for Mmpp {
    type Cells<D: Draws> = Queued<MmppCells<D>>;

    fn cells<D: Draws>(&self, draws: impl FnOnce() -> D) -> Queued<MmppCells<D>> {
        let mut draws = draws();
        let [first, second] = self.stays.map(Duration::as_secs_f64);
        let state = usize::from(draws.uniform() * (first + second) >= first);
        let until = self.start.saturating_add(draws.exponential(self.stays[state]));
        let gaps = self.rates.map(CellRate::interval);
        let mut cells =
            MmppCells { next: self.start, state, until, gaps, stays: self.stays, end: self.end, draws };
        cells.pass();
        cells.into()
    }
}

/// Cells of [`Mmpp`] traffic, as they come.
#[derive(Clone, Debug)]
pub struct MmppCells<D> {
    /// When the next cell comes; [`Time::NEVER`] after the last.
    next: Time,
    /// The state at that instant, and when it ends.
    state: usize,
    until: Time,
    /// Mean gaps of the states; forever where none comes.
    gaps: [Duration; 2],
    stays: [Duration; 2],
    end: Time,
    draws: D,
}

impl<D: Draws> Arrivals for MmppCells<D> {
    fn next(&self) -> Time {
        self.next
    }

    fn pass(&mut self) {
        let mut from = self.next;
        self.next = loop {
            // Exponential gaps have no memory: what is left of one begins anew with the state.
            let next = match self.gaps[self.state] {
                Duration::FOREVER => Time::NEVER,
                gap => from.saturating_add(self.draws.exponential(gap)),
            };
            if next < self.until && next < self.end {
                break next;
            }
            if self.until >= self.end {
                break Time::NEVER;
            }
            from = self.until;
            self.state = 1 - self.state;
            // A picosecond at least, so that time goes on.
            let stay = self.draws.exponential(self.stays[self.state]).max(Duration::from_ps(1));
            self.until = from.saturating_add(stay);
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Generate;
    use crate::traffic::kinds::SplitMix;

    /// Cells in each millisecond of `seconds`.
    fn counts(mmpp: Mmpp, seconds: u64) -> Vec<f64> {
        let mut cells =
            Mmpp { end: Time::ZERO + Duration::from_secs(seconds), ..mmpp }.cells(|| SplitMix(11));
        let mut counts = vec![0.0; 1_000 * seconds as usize];
        loop {
            let next = cells.available_from(Time::ZERO);
            if next == Time::NEVER {
                break;
            }
            counts[(next.as_ps() / 1_000_000_000) as usize] += 1.0;
            cells.take(next);
        }
        counts
    }

    #[test]
    fn mean_and_index_of_dispersion_are_those_of_the_closed_form() {
        let mmpp = Mmpp {
            rates: [CellRate::new(2_000.0), CellRate::new(200.0)],
            stays: [Duration::from_us(500), Duration::from_us(1_000)],
            start: Time::ZERO,
            end: Time::NEVER,
        };
        assert!((mmpp.mean().as_cells_per_s() - 800.0).abs() < 1e-9);
        let counts = counts(mmpp, 40);
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        // 2,000 per 1.5 ms of a cycle; the index of dispersion for long spans (Heffes and Lucantoni, 1986) is
        // 1 + 2 (l1 - l2)^2 r1 r2 / ((r1 + r2)^2 (l1 r2 + l2 r1)), with r1 = 2,000/s and r2 = 1,000/s.
        assert!((mean / 0.8 - 1.0).abs() < 0.03, "{mean}");
        let blocks: Vec<f64> = counts.chunks(100).map(|block| block.iter().sum()).collect();
        let block_mean = 100.0 * mean;
        let variance =
            blocks.iter().map(|count| (count - block_mean).powi(2)).sum::<f64>() / blocks.len() as f64;
        let expected = 1.0 + 2.0 * 1_800.0_f64.powi(2) * 2e6 / (9e6 * (2_000.0 * 1e3 + 200.0 * 2e3));
        let found = variance / block_mean;
        // Over 100 ms the index is short of its limit by a 300th; 400 blocks have it within 7 % (one deviation).
        assert!((found / expected - 1.0).abs() < 0.25, "{found} against {expected}");
    }

    #[test]
    fn a_rate_of_zero_interrupts_the_process() {
        let mmpp = Mmpp {
            rates: [CellRate::ZERO, CellRate::new(100_000.0)],
            stays: [Duration::from_ms(20), Duration::from_ms(20)],
            start: Time::ZERO,
            end: Time::NEVER,
        };
        let counts = counts(mmpp, 4);
        let silent = counts.iter().filter(|&&count| count == 0.0).count();
        assert!((1_200..2_700).contains(&silent), "{silent} of 4,000 ms");
    }
}
