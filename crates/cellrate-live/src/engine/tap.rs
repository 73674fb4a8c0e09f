//! Where captures listen: every cell at every interface.

use cellrate_proto::Time;
use cellrate_proto::wire::CELL_OCTETS;

/// Which way a cell crosses an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapDirection {
    /// It leaves the node: its last bit is on the line.
    Sent,
    /// It reaches the node: its last bit has come.
    Received,
}

/// Sees every cell. An interface is a node's end of a link, with the number of its output port: twice the link's index,
/// plus the end of it (0 or 1) that the node is.
pub trait CellTap: Send {
    /// `cell`, HEC and all, crosses `interface` at the logical instant `at`. Instants never fall.
    fn cell(&mut self, at: Time, interface: usize, direction: TapDirection, cell: &[u8; CELL_OCTETS]);
}
