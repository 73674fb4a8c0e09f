//! How a deferred port is drained, by what leads to it and where its cells go.

/// How many cells in a row can be dealt with at a deferred port, if no more happens than that they join the queue and
/// are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrainStrategy {
    /// One at a time.
    OneByOne,
    /// Cells of one category that leave a FIFO for other clusters.
    BeforeCluster,
    /// Cells that leave a FIFO for the next switch of the cluster.
    Onward,
    /// Cells that come from sources alone, each of which has a lane of its own behind the port.
    InTurn,
    /// Cells that come from many sources and only from these.
    Sorted,
    /// Cells of the only lane to a FIFO before a host.
    Host {
        /// The lane.
        lane: u32,
        /// The one behind the port.
        link: u32,
        /// Whether the host has several connections.
        several: bool,
    },
    /// Cells of the sources of a [host that is shared](crate::kernel::sources::shared_host).
    SharedHost {
        /// Number of that host.
        number: u32,
    },
    /// Cells of several categories that leave for other clusters.
    Ranked,
    /// Cells that leave real queues for other clusters, where they are not counted.
    Served,
}
