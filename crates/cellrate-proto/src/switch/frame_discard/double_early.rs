//! Early packet discard with two thresholds (double EPD; TM 4.1, on GFR).

use super::{BuiltIn, FirstCell};
use crate::declaration::{Shape, Table};
use crate::units::Cells;

/// All PDUs are refused while there are more cells than a threshold, and those with CLP = 1 while there are more
/// than a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct DoubleEarly {
    /// R1: PDUs with CLP = 1 are refused while there are more cells of the categories in the port; at most
    /// `threshold`.
    #[key(holds(tagged_threshold <= threshold, "at most threshold"))]
    pub tagged_threshold: Cells,
    /// R: PDUs are refused while there are more cells of the categories in the port; less than their room in
    /// `buffers`.
    pub threshold: Cells,
}

impl BuiltIn for DoubleEarly {
    const SHAPE: Shape = Shape {
        name: "double-early",
        about: "Early packet discard with two thresholds (double EPD): PDUs with CLP = 1 have a lower one.",
        keys: DoubleEarly::KEYS,
    };
    const TITLE: &'static str = "double EPD";
    const COUNTS: bool = false;

    fn highest(&self) -> Option<(&'static str, Cells)> {
        Some(("threshold", self.threshold))
    }

    fn refuses(&self, first: &FirstCell, _draw: impl FnOnce() -> f64) -> bool {
        first.queue > self.threshold.0 || first.clp && first.queue > self.tagged_threshold.0
    }
}
