//! A toy: a connection with more than so many cells in the buffer begins no PDU.

use super::{BuiltIn, FirstCell};
use crate::declaration::{Shape, Table};
use crate::units::Cells;

/// PDUs of connections that have more cells in the buffer than `own_cells` are refused.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct Toy {
    /// Cells that a connection may have in the buffer when a PDU of it begins.
    #[key(default = "10 cells")]
    pub own_cells: Cells,
}

impl BuiltIn for Toy {
    const SHAPE: Shape = Shape {
        name: "toy-discard",
        about: "A toy: nobody has many cells in the buffer.",
        keys: Toy::KEYS,
    };
    const TITLE: &'static str = "toy discard";

    fn highest(&self) -> Option<(&'static str, Cells)> {
        None
    }

    fn refuses(&self, first: &FirstCell, _draw: impl FnOnce() -> f64) -> bool {
        first.own > self.own_cells.0
    }
}
