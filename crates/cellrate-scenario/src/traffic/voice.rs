//! Packetised voice with silence suppression, of one call or of many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cellrate_proto::declaration::{Key, Kind, Range, Shape, key};
use cellrate_proto::{CellRate, Duration, Time};

use super::arrivals::{Arrivals, Queued};
use super::kinds::{Declared, sends_from_start_to_end};
use super::{Draws, Generated, Traffic, TrafficKind};
use crate::keys::{END_KEY, POSITIVE_RATE, SPAN, START_KEY};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{or_default, start_and_end};
use crate::text::tree::{Node, Table};
use crate::values::ClockOffset;

/// Most voices of one direction.
const MOST: i64 = 10_000;

/// Voices that talk and are silent by turns: a talk spurt has a geometric number of cells, a cell time apart, and
/// exponentially distributed silence follows it (Sriram and Whitt, IEEE JSAC 4(6), 1986: a renewal process for each).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voice {
    /// How many.
    pub count: u32,
    /// Rate of cells in a talk spurt.
    pub rate: CellRate,
    /// Mean number of cells of a talk spurt; 1 or more, and not whole as a rule.
    pub spurt: f64,
    /// Mean silence.
    pub silence: Duration,
    /// The first instant with cells.
    pub start: Time,
    /// No cell at or after this.
    pub end: Time,
}

const RATE_KEY: Key = key(
    "rate",
    POSITIVE_RATE,
    "\"170.2127659574468 cells/s\"",
    "Rate of data cells in a talk spurt; by default 64 kb/s in the 47 octets of AAL1.",
);
const SPURT_KEY: Key = key(
    "spurt",
    Kind::Ratio(Range::closed(1.0, 1e6)),
    "59.9",
    "Mean number of cells of a talk spurt, which need not be whole; by default 352 ms of them.",
);
const SILENCE_KEY: Key = key("silence", SPAN, "\"650 ms\"", "Mean silence, exponentially distributed.");

impl Declared for Voice {
    const SHAPE: Shape = Shape {
        name: "voice",
        about: "Voices with silence suppression, each a renewal process: geometric talk spurts and exponential silence (Sriram and Whitt, IEEE JSAC 4(6), 1986). What the sender may not yet send waits.",
        keys: &[
            key("count", Kind::Integer(1, MOST), "1", "Number of voices, each at an instant of its own."),
            RATE_KEY,
            SPURT_KEY,
            SILENCE_KEY,
            START_KEY,
            END_KEY,
        ],
    };

    const FOR_CALLS: Option<Shape> = Some(Shape {
        name: "call_voice",
        about: "One voice with silence suppression, as the traffic of this type of a vc.",
        keys: &[RATE_KEY, SPURT_KEY, SILENCE_KEY],
    });

    fn read(_node: &Node, table: &Table, _peak: CellRate) -> Result<Voice, Fault> {
        let (start, end) = start_and_end(table)?;
        let shape = &Self::SHAPE;
        Ok(Voice {
            count: or_default(table, shape, "count", |node| check::integer(node, 1, MOST))? as u32,
            rate: or_default(table, shape, "rate", quantity::positive_cell_rate)?,
            spurt: or_default(table, shape, "spurt", quantity::ratio)?,
            silence: or_default(table, shape, "silence", quantity::span)?,
            start,
            end,
        })
    }
}

impl Voice {
    /// Mean rate of all: a spurt of n cells takes n cell times, and silence follows.
    pub fn mean(&self) -> CellRate {
        let cycle = self.spurt / self.rate.as_cells_per_s() + self.silence.as_secs_f64();
        CellRate::new(f64::from(self.count) * self.spurt / cycle)
    }
}

impl TrafficKind for Voice {
    sends_from_start_to_end!();

    fn scale(&mut self, offset: ClockOffset) {
        self.rate = offset.of_rate(self.rate);
    }

    fn mean_rate(&self) -> Option<CellRate> {
        Some(self.mean())
    }

    fn is_autonomous(&self) -> bool {
        true
    }

    fn octets(&self) -> u64 {
        // Twice, for the reading that counts a backlog.
        32 * u64::from(self.count)
    }

    fn for_call(&self, start: Time, end: Time) -> Option<Traffic> {
        Some(Traffic::Voice(Voice { start, end, ..*self }))
    }
}

impl Generated for Voice {
    type Cells<D: Draws> = Queued<VoiceCells<D>>;

    fn cells<D: Draws>(&self, draws: impl FnOnce() -> D) -> Queued<VoiceCells<D>> {
        let cell_time = self.rate.interval();
        let mut cells = VoiceCells { next: BinaryHeap::new(), of: *self, cell_time, draws: draws() };
        let talking = self.spurt * cell_time.as_secs_f64();
        let share = talking / (talking + self.silence.as_secs_f64());
        for voice in 0..self.count {
            // At any instant so many talk, somewhere between two cells; neither distribution has a memory.
            let wait = match cells.draws.uniform() < share {
                true => Duration::from_secs_f64(cell_time.as_secs_f64() * cells.draws.uniform()),
                false => cells.draws.exponential(self.silence),
            };
            cells.plan(voice, self.start.saturating_add(wait));
        }
        cells.into()
    }
}

/// Cells of [`Voice`] traffic, as they come.
#[derive(Clone, Debug)]
pub struct VoiceCells<D> {
    /// The next cell of each voice, earliest first; at one instant in the order of the voices.
    next: BinaryHeap<Reverse<(Time, u32)>>,
    of: Voice,
    cell_time: Duration,
    draws: D,
}

impl<D: Draws> VoiceCells<D> {
    fn plan(&mut self, voice: u32, at: Time) {
        if at < self.of.end {
            self.next.push(Reverse((at, voice)));
        }
    }
}

impl<D: Draws> Arrivals for VoiceCells<D> {
    fn next(&self) -> Time {
        self.next.peek().map_or(Time::NEVER, |Reverse((next, _))| *next)
    }

    fn pass(&mut self) {
        let Some(Reverse((at, voice))) = self.next.pop() else { return };
        let ends_spurt = self.draws.uniform() * self.of.spurt < 1.0;
        let silence = if ends_spurt { self.draws.exponential(self.of.silence) } else { Duration::ZERO };
        self.plan(voice, at.saturating_add(self.cell_time).saturating_add(silence));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Generate;
    use crate::traffic::kinds::SplitMix;

    #[test]
    fn gaps_are_those_of_the_renewal_process() {
        // Sriram and Whitt: packets every 16 ms, 22 in a spurt, silence of 650 ms: a mean gap of 45.5 ms, and a squared
        // coefficient of variation of 18.1.
        let voice = Voice {
            count: 1,
            rate: CellRate::new(62.5),
            spurt: 22.0,
            silence: Duration::from_ms(650),
            start: Time::ZERO,
            end: Time::ZERO + Duration::from_secs(20_000),
        };
        assert!((voice.mean().as_cells_per_s() * 0.045_545_454 - 1.0).abs() < 1e-6);
        let mut cells = voice.cells(|| SplitMix(23));
        let (mut last, mut gaps) = (None::<Time>, Vec::new());
        loop {
            let next = cells.available_from(Time::ZERO);
            if next == Time::NEVER {
                break;
            }
            gaps.extend(last.map(|last| next.since(last).as_secs_f64()));
            last = Some(next);
            cells.take(next);
        }
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 0.045_545 - 1.0).abs() < 0.03, "{mean}");
        assert!((square / mean / mean - 1.0 - 18.1).abs() < 1.0, "{}", square / mean / mean - 1.0);
    }

    #[test]
    fn a_spurt_of_a_mean_that_is_not_whole_has_that_mean() {
        let voice = Voice {
            count: 40,
            rate: CellRate::new(1_000.0),
            spurt: 2.5,
            silence: Duration::from_ms(10),
            start: Time::ZERO,
            end: Time::ZERO + Duration::from_secs(20),
        };
        // 2.5 cells in 12.5 ms: 200 cells/s each.
        let mut cells = voice.cells(|| SplitMix(29));
        let mut count = 0.0;
        while cells.available_from(Time::ZERO) != Time::NEVER {
            cells.take(Time::ZERO);
            count += 1.0;
        }
        assert!((count / (40.0 * 200.0 * 20.0) - 1.0_f64).abs() < 0.02, "{count}");
    }
}
