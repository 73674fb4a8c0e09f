//! Switches that answer OAM loopback requests of segments.

use std::collections::BTreeMap;

/// Switches of a cluster that answer requests of segments: the hop by which the reply leaves, by the hop at whose far
/// end the switch stands and the number of the loopback.
#[derive(Debug, Default)]
pub(crate) struct SegmentEnds {
    pub ways_back: BTreeMap<(u32, u32), u32>,
}
