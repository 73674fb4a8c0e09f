//! Where captures listen: every cell at every interface.

use cellrate_proto::Time;
use cellrate_proto::wire::CELL_OCTETS;
use cellrate_scenario::{ConnectionIndex, PortIndex};

use super::cell;

/// The connection that a cell with the first four octets `header` belongs to, whether the scenario has it or not;
/// `None` for reserved VCIs.
pub fn connection_of(header: [u8; 4]) -> Option<ConnectionIndex> {
    cell::connection(u32::from_be_bytes(header))
}

/// Which way a cell crosses an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapDirection {
    /// It leaves the node: its last bit is on the line.
    Sent,
    /// The cell leaves, but the line loses it.
    Lost,
    /// It reaches the node: its last bit has come.
    Received,
}

/// Sees every cell. An interface is a node's end of a link, called by its output port.
pub trait CellTap: Send {
    /// `cell`, HEC and all, crosses `interface` at the logical instant `at`. Instants never fall.
    fn cell(&mut self, at: Time, interface: PortIndex, direction: TapDirection, cell: &[u8; CELL_OCTETS]);
}
