//! Room to work in that is lent to a cluster while it runs.

use cellrate_proto::switch::Slot;
use cellrate_proto::{CellRate, Time};

use super::bag::OpenBag;
use super::feed::SpareRoom;

/// Room to work in that a cluster needs only while it runs: one for all clusters of a thread.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Room for FRMs that [take turns](crate::kernel::deferred::turns).
    pub frms: Vec<PendingFrm>,
    /// For cells that are [sorted](crate::kernel::deferred::sorted).
    pub sorting: Sorting,
    /// Room for trains behind the first of a [feed](super::feed), empty.
    pub trains: SpareRoom,
    /// Room for lanes that [had no cells](crate::kernel::deferred::onward), empty.
    pub begun: Vec<u32>,
    /// Room for cells that are [packed](crate::kernel::lanes::packed), empty.
    pub octets: Vec<Vec<u8>>,
    /// Room for cells that go to another cluster, empty.
    pub bag: OpenBag,
}

/// An FRM that has come to the port: its key, its connection there and its CCR.
pub(crate) type PendingFrm = (u64, Slot, CellRate);

/// For cells that are [sorted](crate::kernel::deferred::sorted).
#[derive(Debug, Default)]
pub(crate) struct Sorting {
    /// The keys of all cells: first source by source, then in order.
    pub(in crate::kernel) keys: Vec<u64>,
    pub(in crate::kernel) spare: Vec<u64>,
    /// For each part of the span, the number of keys before it.
    pub(in crate::kernel) parts: Vec<u32>,
    /// Instants at which the cells reach the far end, source by source.
    pub(in crate::kernel) arrivals: Vec<Time>,
    /// For each leaf, the place of the next cell of a source among all, source by source.
    pub(in crate::kernel) next: Vec<u32>,
    pub(in crate::kernel) members: Vec<Member>,
    pub(in crate::kernel) notices: Vec<(u64, ControlNotice)>,
}

/// A source with cells.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Member {
    pub(in crate::kernel) feed: u32,
    /// Place of its first cell among all cells, which stand source by source.
    pub(in crate::kernel) first: u32,
    /// Number of its cells that have come, and of those among them that have been counted.
    pub(in crate::kernel) came: u32,
    pub(in crate::kernel) counted: u32,
}

/// Message about a cell to the port's control.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) enum ControlNotice {
    /// The cell makes its connection active.
    Activity(Slot),
    /// The cell is an FRM.
    ForwardRm(Slot, CellRate),
}
