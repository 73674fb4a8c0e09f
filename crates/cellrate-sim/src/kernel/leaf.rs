//! Leaves of a cluster's schedule: everything that can happen there.

/// Leaf of the schedule; the number is an index into the cluster's list of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leaf {
    /// The line behind a served port changes.
    Change(u32),
    /// The cell in transmission at a served port leaves.
    Departure(u32),
    /// Series are sampled.
    Sample,
    /// A cell reaches a switch over a link that a source has to itself, or the port of a host that sources share; or
    /// the last cell of a train does.
    Feed(u32),
    /// A cell arrives that has to be an event.
    Lane(u32),
    /// A flow or a call begins between a pair of hosts.
    Opening(u32),
    /// The destination at an end of a connection, which is congested, has a BRM of its own to send, or its loopback a
    /// request.
    Report(u32),
    /// An end of a connection sends.
    Transmission(u32),
    /// A timer of TCP at an end of a connection.
    Timer(u32),
}
