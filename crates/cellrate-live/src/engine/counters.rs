//! Counters of a run that belong to no port and no adapter.

/// Cells of one flow that came into this process and left it otherwise than at its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passage {
    pub dropped: u64,
    /// From another process.
    pub entered: u64,
    /// To another process.
    pub left: u64,
    /// BRMs that switches here originated, and their replies to OAM cells, which go this way.
    pub originated: u64,
    /// OAM cells that switches here answered.
    pub answered: u64,
}

/// Counters of an attached host beside those of its adapters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostCounters {
    /// Packets the host sent.
    pub received: u64,
    /// Packets without a connection to their destination.
    pub without_vc: u64,
    /// Errors that the device reported when it was read.
    pub device_errors: u64,
}

/// Counters of a link into another process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PeerCounters {
    pub sent: u64,
    pub cells_sent: u64,
    pub send_errors: u64,
    pub received: u64,
    pub cells_received: u64,
    pub missing: u64,
    pub out_of_order: u64,
    pub restarts: u64,
    pub late_cells: u64,
}
