//! A list of instants, each with a number of cells.

use cellrate_proto::declaration::{Kind, Shape, required};
use cellrate_proto::{CellRate, Duration, Time};

use super::kinds::Declared;
use super::{Draws, Generate, Generated, TrafficKind};
use crate::keys::TIME;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::reading::{instant, optional};
use crate::text::tree::{Node, Table};

/// So many cells at each of these instants, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// Instant and number of cells.
    pub cells: Vec<(Time, u32)>,
}

impl Declared for Timed {
    const SHAPE: Shape = Shape {
        name: "timed",
        about: "A number of cells at each of several instants.",
        keys: &[required(
            "cells",
            Kind::List(&Kind::Pair(&TIME, &Kind::Integer(1, u32::MAX as i64)), 1),
            "[instant, number of cells], in order.",
        )],
    };

    fn read(_node: &Node, table: &Table, _peak: CellRate) -> Result<Timed, Fault> {
        Ok(Timed { cells: optional(table, "cells", instants)?.unwrap_or_default() })
    }
}

fn instants(node: &Node) -> Result<Vec<(Time, u32)>, Fault> {
    let mut cells: Vec<(Time, u32)> = Vec::new();
    for node in check::list(node)? {
        let [at, count] = check::pair(node)?;
        let time = instant(at)?;
        if cells.last().is_some_and(|(last, _)| time <= *last) {
            let message = format!("{} is not after the instant before it", at.plain());
            return Err(Fault::new(at.place, message, "Write instants in order of time, each once"));
        }
        cells.push((time, check::integer(count, 1, i64::from(u32::MAX))? as u32));
    }
    Ok(cells)
}

impl TrafficKind for Timed {
    fn delay(&mut self, phase: Duration) {
        self.cells.iter_mut().for_each(|(at, _)| *at = at.saturating_add(phase));
    }

    fn fixed_spacing(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }

    fn is_autonomous(&self) -> bool {
        true
    }

    fn octets(&self) -> u64 {
        16 * self.cells.len() as u64
    }
}

impl Generated for Timed {
    type Cells<D: Draws> = TimedCells;

    fn cells<D: Draws>(&self, _draws: impl FnOnce() -> D) -> TimedCells {
        let cells = self.cells.iter().copied().filter(|&(_, count)| count > 0).collect();
        TimedCells { cells, position: 0, taken: 0 }
    }
}

/// Cells of [`Timed`] traffic, as they come.
#[derive(Clone, Debug)]
pub struct TimedCells {
    cells: Vec<(Time, u32)>,
    position: usize,
    taken: u32,
}

impl Generate for TimedCells {
    fn available_from(&self, from: Time) -> Time {
        self.cells.get(self.position).map_or(Time::NEVER, |&(time, _)| time.max(from))
    }

    fn take(&mut self, _now: Time) {
        self.taken += 1;
        if self.cells.get(self.position).is_some_and(|&(_, count)| self.taken >= count) {
            self.position += 1;
            self.taken = 0;
        }
    }

    fn waiting(&self, now: Time) -> Option<u64> {
        let arrived = self.cells[self.position..].iter().take_while(|&&(time, _)| time <= now);
        let arrived: u64 = arrived.map(|&(_, count)| u64::from(count)).sum();
        Some(arrived.saturating_sub(u64::from(self.taken)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::kinds::NoDraws;

    #[test]
    fn each_instant_gives_its_cells_and_then_the_next_comes() {
        let cells = vec![(Time::from_ps(1), 2), (Time::from_ps(5), 0), (Time::from_ps(9), 1)];
        let mut timed = Timed { cells }.cells(|| NoDraws);
        assert_eq!(timed.waiting(Time::from_ps(9)), Some(3));
        for expected in [1, 1, 9] {
            assert_eq!(timed.available_from(Time::ZERO), Time::from_ps(expected));
            timed.take(Time::from_ps(expected));
        }
        assert_eq!(timed.available_from(Time::ZERO), Time::NEVER);
        assert_eq!(timed.waiting(Time::from_ps(100)), Some(0));
    }

    #[test]
    fn a_late_beginning_skips_what_is_past() {
        let cells = [10, 20, 30].map(|ps| (Time::from_ps(ps), 1)).to_vec();
        let mut timed = Timed { cells }.cells(|| NoDraws);
        timed.skip_until(Time::from_ps(20));
        assert_eq!(timed.available_from(Time::ZERO), Time::from_ps(20));
    }
}
