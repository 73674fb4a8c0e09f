//! Differential fair buffer allocation (DFBA; ATM Forum 98-0885).

use super::{BuiltIn, FirstCell};
use crate::declaration::{Range, Shape, Table};
use crate::units::Cells;

/// While there are more cells than `low`, PDUs with CLP = 1 are refused, and by chance those of connections that
/// have more of the cells than their part of the MCRs; all while there are more than `high`.
///
/// Implementations have a = 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct Differential {
    /// L: nothing is refused while there are no more cells of the categories in the port; less than `high`.
    #[key(holds(low < high, "less than high"))]
    pub low: Cells,
    /// H: PDUs are refused while there are more cells; less than their room in `buffers`.
    pub high: Cells,
    /// a: how much of the probability depends on what a connection has above its part, the rest by how full the buffer
    /// is.
    #[key(default = "0.5", range = Range::FRACTION)]
    pub fairness: f64,
}

impl BuiltIn for Differential {
    const SHAPE: Shape = Shape {
        name: "differential",
        about: "Differential fair buffer allocation (DFBA): above `low` PDUs with CLP = 1 are refused, and by chance those of connections that have more of the cells than their part of the MCRs; above `high` all.",
        keys: Differential::KEYS,
    };
    const TITLE: &'static str = "DFBA";

    fn highest(&self) -> Option<(&'static str, Cells)> {
        Some(("high", self.high))
    }

    fn refuses(&self, first: &FirstCell, draw: impl FnOnce() -> f64) -> bool {
        let (queue, low) = (first.queue, self.low.0);
        queue > self.high.0 || queue > low && (first.clp || self.exceeds_by_chance(first, draw))
    }
}

impl Differential {
    /// True if the connection has more of the cells than its part of the promised rates, and chance has it lose for
    /// that.
    fn exceeds_by_chance(&self, first: &FirstCell, draw: impl FnOnce() -> f64) -> bool {
        let (low, high) = (self.low.0, self.high.0);
        let (part, own, queue) = (first.part(), first.own as f64, first.queue as f64);
        let excess = own - part * queue;
        if excess <= 0.0 || part >= 1.0 {
            return false;
        }
        let unfair = excess / (queue * (1.0 - part));
        let load = (queue - low as f64) / (high - low) as f64;
        draw() < (1.0 - part) * (self.fairness * unfair + (1.0 - self.fairness) * load)
    }
}
