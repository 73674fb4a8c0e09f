//! Partial packet discard (PPD; Romanow, Floyd, 1995).

use super::{BuiltIn, FirstCell};
use crate::declaration::{Shape, Table};
use crate::units::Cells;

/// No PDU is refused that the buffer has room for.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct Partial {}

impl BuiltIn for Partial {
    const SHAPE: Shape = Shape {
        name: "partial",
        about: "Partial packet discard (PPD): a PDU of which a cell has found no room gets nothing more in but its last cell.",
        keys: Partial::KEYS,
    };
    const TITLE: &'static str = "PPD";
    const COUNTS: bool = false;

    fn highest(&self) -> Option<(&'static str, Cells)> {
        None
    }

    fn refuses(&self, _first: &FirstCell, _draw: impl FnOnce() -> f64) -> bool {
        false
    }
}
