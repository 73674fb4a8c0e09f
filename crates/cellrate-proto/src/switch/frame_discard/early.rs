//! Early packet discard (EPD; Romanow, Floyd, 1995).

use super::{BuiltIn, FirstCell};
use crate::declaration::{Shape, configuration};
use crate::units::Cells;

configuration! {
    /// All PDUs are refused while there are more cells than a threshold.
    pub struct Early new(threshold: Cells) {
        /// R: PDUs are refused while there are more cells of the categories in the port; less than their room in
        /// `buffers`.
        threshold: Cells,
    }
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
