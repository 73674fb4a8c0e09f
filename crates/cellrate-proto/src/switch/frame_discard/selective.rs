//! Selective discard (Goyal and others, ATM Forum 96-1269).

use super::{BuiltIn, FirstCell};
use crate::declaration::{Range, Shape, Table};
use crate::units::Cells;

/// While there are more cells than a threshold, PDUs of connections are refused that have more of them than others.
///
/// 0.8 is, of the values of Z that the reference tries, the one that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct Selective {
    /// R: PDUs are refused while there are more cells of the categories in the port; less than their room in
    /// `buffers`.
    pub threshold: Cells,
    /// Z: a connection is refused PDUs if it has more than this times the average of those with cells there.
    #[key(default = "0.8", range = Range::POSITIVE)]
    pub scale_factor: f64,
}

impl BuiltIn for Selective {
    const SHAPE: Shape = Shape {
        name: "selective",
        about: "Selective discard: as early, but only for connections that have more than their part of the cells in the buffer.",
        keys: Selective::KEYS,
    };
    const TITLE: &'static str = "selective discard";

    fn highest(&self) -> Option<(&'static str, Cells)> {
        Some(("threshold", self.threshold))
    }

    fn refuses(&self, first: &FirstCell, _draw: impl FnOnce() -> f64) -> bool {
        first.queue > self.threshold.0 && first.weighed() > self.scale_factor * first.queue as f64
    }
}
