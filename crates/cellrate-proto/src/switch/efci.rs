//! EFCI marking (TM 4.0, 5.10.6 a).

use crate::units::Cells;

/// When a port marks data cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EfciConfig {
    /// Marking begins when the ABR queue is above this [cells]. No default.
    pub high: Cells,
    /// Marking ends when the ABR queue is at or below this [cells, at most `high`]. Default: `high`.
    pub low: Cells,
}

/// The marking state of a port.
#[derive(Clone, Debug)]
pub struct Efci {}
