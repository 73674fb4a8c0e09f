//! Relative-rate marking (TM 4.0, 5.10.6 b; paper 003, section 2).

use crate::units::Cells;

/// When a port sets CI and NI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelativeRateConfig {
    /// CI := NI := 1 while the ABR queue is at or above this [cells]. No default.
    pub threshold: Cells,
}

/// The algorithm.
#[derive(Clone, Debug)]
pub struct RelativeRate {}
