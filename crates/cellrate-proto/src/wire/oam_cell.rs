//! OAM loopback cells on the wire: 53 octets to and from [`LoopbackCell`] (I.610).
//!
//! Octets of the payload, counted from 0:
//!
//! | payload octets | field |
//! | --- | --- |
//! | 0 | OAM type, 0001 for fault management, and function type, 1000 for loopback |
//! | 1 | loopback indication in its lowest bit: 1 in a request, 0 in a reply |
//! | 2-5 | correlation tag |
//! | 6-21 | loopback location ID: who is to answer |
//! | 22-37 | source ID |
//! | 38-45 | unused, 0x6a each |
//! | 46-47 | six reserved bits, CRC-10 |
//!
//! F5 cells have the VCI of their channel and say by the payload type whether they are of a segment or from end to end;
//! F4 cells, of a whole virtual path, say so by VCI 3 or 4. The seven bits above the loopback indication, the unused
//! octets and the reserved bits are ignored on receipt and emitted as the standard says.

use core::fmt;

use super::cell::{CELL_OCTETS, Cell, Header, HecError, Interface, PAYLOAD_OCTETS, Path, PayloadType};
use super::crc::crc10_remainder;

/// Fault management, loopback.
const LOOPBACK: u8 = 0x18;
const REQUEST: u8 = 1;
const UNUSED: u8 = 0x6a;
const UNUSED_OCTETS: core::ops::Range<usize> = 38..46;
const CRC_OCTETS: core::ops::Range<usize> = 46..48;
/// VCI of F4 cells of a segment.
const F4_SEGMENT: u16 = 3;
/// VCI of F4 cells from end to end.
const F4_END_TO_END: u16 = 4;

/// Where a connection's OAM cells go: along a segment of it, or from end to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum OamFlow {
    /// F4: of the virtual path, a segment of it.
    PathSegment,
    /// F4: of the virtual path, from end to end.
    PathEndToEnd,
    /// F5: of the virtual channel of this VCI, a segment of it.
    ChannelSegment(u16),
    /// F5: of the virtual channel of this VCI, from end to end.
    ChannelEndToEnd(u16),
}

impl OamFlow {
    /// The flow that a header says, if its cell is an OAM cell.
    pub const fn of(header: &Header) -> Option<OamFlow> {
        match (header.payload_type, header.vci) {
            (PayloadType::SegmentOam, vci) => Some(OamFlow::ChannelSegment(vci)),
            (PayloadType::EndToEndOam, vci) => Some(OamFlow::ChannelEndToEnd(vci)),
            (PayloadType::User { .. }, F4_SEGMENT) => Some(OamFlow::PathSegment),
            (PayloadType::User { .. }, F4_END_TO_END) => Some(OamFlow::PathEndToEnd),
            _ => None,
        }
    }

    /// VCI and payload type of its cells.
    pub const fn header(self) -> (u16, PayloadType) {
        let user = PayloadType::User { efci: false, user_bit: false };
        match self {
            OamFlow::PathSegment => (F4_SEGMENT, user),
            OamFlow::PathEndToEnd => (F4_END_TO_END, user),
            OamFlow::ChannelSegment(vci) => (vci, PayloadType::SegmentOam),
            OamFlow::ChannelEndToEnd(vci) => (vci, PayloadType::EndToEndOam),
        }
    }
}

impl fmt::Display for OamFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OamFlow::PathSegment => "F4 segment",
            OamFlow::PathEndToEnd => "F4 end to end",
            OamFlow::ChannelSegment(_) => "F5 segment",
            OamFlow::ChannelEndToEnd(_) => "F5 end to end",
        })
    }
}

/// Function of an OAM cell: OAM type and function type, its first octet (I.610).
///
/// ```
/// use cellrate_proto::wire::OamFunction;
/// assert_eq!(OamFunction::of(0x10), OamFunction::AlarmIndication);
/// assert_eq!(OamFunction::of(0x14).to_string(), "continuity check");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum OamFunction {
    /// AIS: a fault upstream.
    AlarmIndication,
    /// RDI: the far end has met a fault.
    RemoteDefect,
    /// Continuity check: the connection is alive, though it carries nothing.
    ContinuityCheck,
    /// Loopback, request or reply.
    Loopback,
    /// Performance management, forward monitoring.
    ForwardMonitoring,
    /// Performance management, backward reporting.
    BackwardReporting,
    /// Activation or deactivation of performance management.
    MonitoringActivation,
    /// Activation or deactivation of the continuity check.
    ContinuityActivation,
    /// Any other octet.
    Other(u8),
}

impl OamFunction {
    /// The function that the first octet of a payload says.
    pub const fn of(octet: u8) -> OamFunction {
        match octet {
            0x10 => OamFunction::AlarmIndication,
            0x11 => OamFunction::RemoteDefect,
            0x14 => OamFunction::ContinuityCheck,
            LOOPBACK => OamFunction::Loopback,
            0x20 => OamFunction::ForwardMonitoring,
            0x21 => OamFunction::BackwardReporting,
            0x80 => OamFunction::MonitoringActivation,
            0x81 => OamFunction::ContinuityActivation,
            other => OamFunction::Other(other),
        }
    }
}

impl fmt::Display for OamFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OamFunction::AlarmIndication => "AIS",
            OamFunction::RemoteDefect => "RDI",
            OamFunction::ContinuityCheck => "continuity check",
            OamFunction::Loopback => "loopback",
            OamFunction::ForwardMonitoring => "forward monitoring",
            OamFunction::BackwardReporting => "backward reporting",
            OamFunction::MonitoringActivation => "activation of performance monitoring",
            OamFunction::ContinuityActivation => "activation of continuity check",
            OamFunction::Other(octet) => return write!(f, "function {octet:#04x}"),
        })
    }
}

/// The loopback location ID of the end point of a connection: all ones.
pub const LOOPBACK_END_POINT: [u8; 16] = [0xff; 16];

/// The source ID of who does not say it: all ones.
pub const NO_SOURCE_ID: [u8; 16] = [0xff; 16];

/// An OAM loopback cell: a request, or the reply to one.
///
/// ```
/// use cellrate_proto::wire::{Interface, LOOPBACK_END_POINT, LoopbackCell, NO_SOURCE_ID, OamFlow, Path};
///
/// let request = LoopbackCell {
///     path: Path::uni(0),
///     flow: OamFlow::ChannelEndToEnd(32),
///     is_request: true,
///     correlation_tag: 7,
///     location: LOOPBACK_END_POINT,
///     source: NO_SOURCE_ID,
/// };
/// let octets = request.emit();
/// assert_eq!(octets[5..11], [0x18, 1, 0, 0, 0, 7]);
/// assert_eq!(LoopbackCell::parse(Interface::Uni, &octets), Ok(request));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct LoopbackCell {
    /// VPI, and GFC at a UNI.
    pub path: Path,
    /// The flow it belongs to.
    pub flow: OamFlow,
    /// Loopback indication: whether it is still to be looped back.
    pub is_request: bool,
    /// By which its source knows the reply again.
    pub correlation_tag: u32,
    /// The place that is to loop it back: all ones for the end point.
    pub location: [u8; 16],
    /// Its source, or all ones.
    pub source: [u8; 16],
}

/// Why 53 octets are no OAM loopback cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopbackCellError {
    /// The header is damaged.
    Hec(HecError),
    /// The header is not that of an OAM cell.
    NotOam(PayloadType),
    /// The payload is damaged: its CRC-10 does not fit.
    Crc,
    /// Intact, but of another OAM type and function: the octet that says them.
    OtherFunction(u8),
}

impl LoopbackCell {
    /// Reads 53 octets: header, kind, CRC-10 and function, refused in this order.
    ///
    /// # Errors
    /// [`LoopbackCellError`], by which such cells can be counted.
    pub fn parse(
        interface: Interface,
        octets: &[u8; CELL_OCTETS],
    ) -> Result<LoopbackCell, LoopbackCellError> {
        LoopbackCell::from_cell(&Cell::parse(interface, octets).map_err(LoopbackCellError::Hec)?)
    }

    /// Reads the payload of a cell whose header has been read already.
    ///
    /// # Errors
    /// As [`LoopbackCell::parse`], except for [`LoopbackCellError::Hec`].
    pub fn from_cell(cell: &Cell<'_>) -> Result<LoopbackCell, LoopbackCellError> {
        let Some(flow) = OamFlow::of(&cell.header) else {
            return Err(LoopbackCellError::NotOam(cell.header.payload_type));
        };
        let payload = cell.payload;
        if crc10_remainder(payload) != 0 {
            return Err(LoopbackCellError::Crc);
        }
        if payload[0] != LOOPBACK {
            return Err(LoopbackCellError::OtherFunction(payload[0]));
        }
        let (mut tag, mut location, mut source) = ([0; 4], [0; 16], [0; 16]);
        tag.copy_from_slice(&payload[2..6]);
        location.copy_from_slice(&payload[6..22]);
        source.copy_from_slice(&payload[22..38]);
        Ok(LoopbackCell {
            path: cell.header.path,
            flow,
            is_request: payload[1] & REQUEST != 0,
            correlation_tag: u32::from_be_bytes(tag),
            location,
            source,
        })
    }

    /// The 53 octets: HEC and CRC-10 computed, unused octets 0x6a, CLP 0.
    pub fn emit(&self) -> [u8; CELL_OCTETS] {
        let (vci, payload_type) = self.flow.header();
        let header = Header { path: self.path, vci, payload_type, clp: false };
        Cell { header, payload: &self.payload() }.emit()
    }

    /// The 48 octets behind its header.
    pub fn payload(&self) -> [u8; PAYLOAD_OCTETS] {
        let mut payload = [0; PAYLOAD_OCTETS];
        payload[0] = LOOPBACK;
        payload[1] = if self.is_request { REQUEST } else { 0 };
        payload[2..6].copy_from_slice(&self.correlation_tag.to_be_bytes());
        payload[6..22].copy_from_slice(&self.location);
        payload[22..38].copy_from_slice(&self.source);
        payload[UNUSED_OCTETS].fill(UNUSED);
        let crc = crc10_remainder(&payload);
        payload[CRC_OCTETS].copy_from_slice(&crc.to_be_bytes());
        payload
    }
}

impl fmt::Display for LoopbackCellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoopbackCellError::Hec(error) => error.fmt(f),
            LoopbackCellError::NotOam(payload_type) => {
                write!(f, "not an OAM cell: PTI is {:#05b}, and VCI neither 3 nor 4", payload_type.bits())
            }
            LoopbackCellError::Crc => f.write_str("OAM cell damaged: its CRC-10 does not fit its payload"),
            LoopbackCellError::OtherFunction(octet) => {
                write!(f, "OAM cell of type and function {octet:#04x}; loopback has {LOOPBACK:#04x}")
            }
        }
    }
}

impl core::error::Error for LoopbackCellError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            LoopbackCellError::Hec(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::tests::path;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    fn flow() -> impl Strategy<Value = OamFlow> {
        (0..4, any::<u16>()).prop_map(|(kind, vci)| match kind {
            0 => OamFlow::PathSegment,
            1 => OamFlow::PathEndToEnd,
            2 => OamFlow::ChannelSegment(vci),
            _ => OamFlow::ChannelEndToEnd(vci),
        })
    }

    fn loopback() -> impl Strategy<Value = LoopbackCell> {
        (path(), flow(), any::<(bool, u32, [u8; 16], [u8; 16])>()).prop_map(|(path, flow, fields)| {
            let (is_request, correlation_tag, location, source) = fields;
            LoopbackCell { path, flow, is_request, correlation_tag, location, source }
        })
    }

    fn plain() -> LoopbackCell {
        LoopbackCell {
            path: Path::uni(0),
            flow: OamFlow::ChannelEndToEnd(5),
            is_request: true,
            correlation_tag: 0x1f,
            location: LOOPBACK_END_POINT,
            source: NO_SOURCE_ID,
        }
    }

    #[test]
    fn a_request_has_the_octets_that_a_switch_of_the_field_shows() {
        // Cisco's note on OAM cells prints a request of VCI 5: 18 01 00 00 00 1f, 32 octets of ff, 6a.
        let octets = plain().emit();
        assert_eq!(octets[..4], [0x00, 0x00, 0x00, 0x5a]);
        assert_eq!(octets[5..11], [0x18, 0x01, 0x00, 0x00, 0x00, 0x1f]);
        assert_eq!(octets[11..43], [0xff; 32]);
        assert_eq!(octets[43..51], [0x6a; 8]);
        assert_eq!(octets[51] & !0b11, 0);
    }

    #[test]
    fn f4_cells_say_by_their_vci_what_f5_cells_say_by_their_type() {
        let header =
            |flow| Cell::parse(Interface::Uni, &LoopbackCell { flow, ..plain() }.emit()).unwrap().header;
        let user = PayloadType::User { efci: false, user_bit: false };
        let said = |flow| (header(flow).vci, header(flow).payload_type);
        assert_eq!(said(OamFlow::PathSegment), (3, user));
        assert_eq!(said(OamFlow::PathEndToEnd), (4, user));
        assert_eq!(said(OamFlow::ChannelSegment(77)), (77, PayloadType::SegmentOam));
        assert_eq!(said(OamFlow::ChannelEndToEnd(77)), (77, PayloadType::EndToEndOam));
    }

    #[test]
    fn each_refusal_names_its_reason() {
        let octets = plain().emit();
        let refused = |octets: &[u8; 53]| LoopbackCell::parse(Interface::Uni, octets).unwrap_err();
        let mut header = octets;
        header[4] ^= 1;
        assert!(matches!(refused(&header), LoopbackCellError::Hec(_)));
        let mut other = octets;
        let payload_type = PayloadType::ResourceManagement;
        let rm = Header { path: Path::uni(0), vci: 5, payload_type, clp: false };
        other[..5].copy_from_slice(&rm.emit());
        assert_eq!(refused(&other), LoopbackCellError::NotOam(payload_type));
        let mut damaged = octets;
        damaged[9] ^= 1;
        assert_eq!(refused(&damaged), LoopbackCellError::Crc);
        // A continuity check without content, with its CRC-10.
        let mut check = octets;
        check[5..].fill(0x6a);
        check[5] = 0x14;
        check[51..].copy_from_slice(&[0x03, 0x87]);
        assert_eq!(refused(&check), LoopbackCellError::OtherFunction(0x14));
        assert_eq!(refused(&check).to_string(), "OAM cell of type and function 0x14; loopback has 0x18");
    }

    proptest! {
        #[test]
        fn a_loopback_cell_survives_the_wire(cell in loopback()) {
            prop_assert_eq!(LoopbackCell::parse(cell.path.interface(), &cell.emit()), Ok(cell));
        }

        #[test]
        fn one_wrong_bit_anywhere_is_always_found(cell in loopback(), bit in 0usize..53 * 8) {
            let mut octets = cell.emit();
            octets[bit / 8] ^= 0x80 >> (bit % 8);
            let error = LoopbackCell::parse(cell.path.interface(), &octets).unwrap_err();
            prop_assert_eq!(matches!(error, LoopbackCellError::Hec(_)), bit < 40);
            prop_assert_eq!(error == LoopbackCellError::Crc, bit >= 40);
        }
    }
}
