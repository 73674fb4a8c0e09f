//! Early packet discard (EPD; Romanow, Floyd, 1995).

use super::{BuiltIn, FirstCell};
use crate::declaration::{Shape, Table};
use crate::units::Cells;

/// All PDUs are refused while there are more cells than a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct Early {
    /// R: PDUs are refused while there are more cells of the categories in the port; less than their room in
    /// `buffers`.
    pub threshold: Cells,
}

impl BuiltIn for Early {
    const SHAPE: Shape = Shape {
        name: "early",
        about: "Early packet discard (EPD): as partial, and a PDU is refused whole if there are more cells in the buffer than the threshold when its first cell comes.",
        keys: Early::KEYS,
    };
    const TITLE: &'static str = "EPD";
    const COUNTS: bool = false;

    fn highest(&self) -> Option<(&'static str, Cells)> {
        Some(("threshold", self.threshold))
    }

    fn refuses(&self, first: &FirstCell, _draw: impl FnOnce() -> f64) -> bool {
        first.queue > self.threshold.0
    }
}
