//! What a port measures over an averaging interval.

use crate::units::{Cells, Duration, Time};

/// When an averaging interval ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AveragingInterval {
    /// At the latest after this span. Above zero.
    pub time: Duration,
    /// Or when so many ABR cells have arrived, if that is sooner [cells, above 0].
    pub cells: Option<u32>,
}

/// What went through a port in one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalLoad {
    /// When the interval began.
    pub start: Time,
    /// When it ended.
    pub end: Time,
    /// ABR cells that arrived, RM cells included.
    pub abr_cells: u64,
    /// CBR and VBR cells that arrived.
    pub guaranteed_cells: u64,
    /// Connections of which an ABR cell arrived.
    pub active: u32,
    /// ABR queue when it ended.
    pub abr_queue: Cells,
}

/// The counters of a port.
#[derive(Clone, Debug)]
pub struct Meter {}

/// The counters of one connection at a port.
#[derive(Clone, Copy, Debug)]
pub struct VcMeter {}
