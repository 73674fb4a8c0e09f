//! Cells in bunches.

use cellrate_proto::declaration::{Kind, Shape, key, required};
use cellrate_proto::{CellRate, Duration, Time};

use super::kinds::Declared;
use super::{Draws, Generate, Generated, TrafficKind};
use crate::keys::{SPAN, START_KEY};
use crate::text::reading::{instant, optional};
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};

/// So many cells at once, every so often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Toy {
    every: Duration,
    bunch: u64,
    start: Time,
}

impl Declared for Toy {
    const SHAPE: Shape = Shape {
        name: "toy-traffic",
        about: "So many cells at once, every so often.",
        keys: &[
            required("every", SPAN, "From each bunch to the next."),
            key("bunch", Kind::Integer(1, 100), "3", "Cells of a bunch."),
            START_KEY,
        ],
    };

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<Toy, Fault> {
        Ok(Toy {
            every: optional(table, "every", quantity::span)?
                .ok_or_else(|| check::missing(node.place, "every", "such as \"1 ms\""))?,
            bunch: optional(table, "bunch", |node| check::integer(node, 1, 100))?.unwrap_or(3) as u64,
            start: optional(table, "start", instant)?.unwrap_or(Time::ZERO),
        })
    }
}

impl TrafficKind for Toy {
    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
    }
}

impl Generated for Toy {
    type Cells<D: Draws> = ToyCells;

    fn cells<D: Draws>(&self, _draws: impl FnOnce() -> D) -> ToyCells {
        ToyCells { toy: *self, sent: 0 }
    }
}

/// Cells of [`Toy`] traffic, as they come.
#[derive(Clone, Debug)]
pub struct ToyCells {
    toy: Toy,
    sent: u64,
}

impl Generate for ToyCells {
    fn available_from(&self, from: Time) -> Time {
        (self.toy.start + self.toy.every * (self.sent / self.toy.bunch)).max(from)
    }

    fn take(&mut self, _now: Time) {
        self.sent += 1;
    }

    fn waiting(&self, now: Time) -> Option<u64> {
        let Toy { every, bunch, start } = self.toy;
        let bunches = if now < start { 0 } else { now.since(start).div_floor(every) + 1 };
        Some(bunches * bunch - self.sent)
    }
}
