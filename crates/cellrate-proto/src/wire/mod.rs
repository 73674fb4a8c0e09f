//! Formats on the wire: cells, RM cells, OAM loopback cells, and packets cut into cells.
//!
//! Every format is a pair of verbs. `parse` reads octets and either gives a value that cannot be wrong or refuses with
//! a typed error; it never panics, whatever the octets. `emit` writes a value, checksums and all, and cannot fail. What
//! was emitted parses to the same value. Nothing here keeps a clock or a connection; the one thing with a memory is the
//! [`Reassembler`], one per connection.
//!
//! From an IP packet to cells and back:
//!
//! ```
//! use cellrate_proto::wire::{Cell, DEFAULT_IP_MTU, Encapsulation, Header, Interface, Path, PayloadType};
//! use cellrate_proto::wire::{LLC_SNAP_IPV4, Reassembler, Segments};
//!
//! let packet = [0x45; 552];
//! let wire: Vec<[u8; 53]> = Segments::encapsulated(Encapsulation::LlcSnapIpv4, &packet)?
//!     .map(|segment| {
//!         let header = Header { path: Path::uni(0), vci: 32, payload_type: segment.payload_type(), clp: false };
//!         Cell { header, payload: &segment.payload }.emit()
//!     })
//!     .collect();
//! assert_eq!(wire.len(), 12);
//!
//! let mut reassembler = Reassembler::new(LLC_SNAP_IPV4.len() + DEFAULT_IP_MTU);
//! let mut packets = Vec::new();
//! for octets in &wire {
//!     let cell = Cell::parse(Interface::Uni, octets)?;
//!     let PayloadType::User { user_bit, .. } = cell.header.payload_type else { continue };
//!     if let Some(sdu) = reassembler.push(cell.payload, user_bit)? {
//!         packets.push(Encapsulation::LlcSnapIpv4.strip(sdu.octets)?.to_vec());
//!     }
//! }
//! assert_eq!(packets, [packet]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aal5;
mod cell;
mod crc;
mod llc_snap;
mod oam_cell;
mod rm_cell;

pub use aal5::{
    MAX_SDU_OCTETS, Reassembler, ReassemblyError, Sdu, Segment, SegmentationError, Segments, abort, cells_for,
};
pub use cell::{
    CELL_OCTETS, Cell, Gfc, HEADER_OCTETS, Header, HecError, Interface, NniVpi, PAYLOAD_OCTETS, Path,
    PayloadType,
};
pub use crc::{Crc32, crc10, crc10_remainder, hec};
pub use llc_snap::{DEFAULT_IP_MTU, Encapsulation, LLC_SNAP_IPV4, LlcSnapError};
pub use oam_cell::{LOOPBACK_END_POINT, LoopbackCell, LoopbackCellError, NO_SOURCE_ID, OamFlow, OamFunction};
pub use rm_cell::{AddressedRmCell, RmCellError};
