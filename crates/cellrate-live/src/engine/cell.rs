//! A cell inside the engine: the octets that are on the wire, and what the engine must know beside them.

use cellrate_engine::loopback::LoopbackContents;
use cellrate_engine::served::PortCell;
use cellrate_proto::wire::{
    AddressedRmCell, CELL_OCTETS, Cell as WireCell, HEADER_OCTETS, Header, LoopbackCell, LoopbackCellError,
    PAYLOAD_OCTETS, Path, PayloadType, RmCellError, hec,
};
use cellrate_proto::{RmCell, Time};
use cellrate_scenario::ConnectionIndex;

/// The PTI bit of EFCI, in a header without HEC.
const EFCI: u32 = 0b010 << 1;
/// The PTI bit that makes a cell something other than user data.
const NOT_USER: u32 = 0b100 << 1;
/// The PTI bit of the AAL, in a cell of user data.
const USER_BIT: u32 = 0b001 << 1;
const PTI: u32 = 0b111 << 1;
const RESOURCE_MANAGEMENT: u32 = 0b110 << 1;
const SEGMENT_OAM: u32 = 0b100 << 1;
const END_TO_END_OAM: u32 = 0b101 << 1;
/// VCIs below this are reserved (I.361): connections are numbered from here on.
const FIRST_VCI: u32 = 32;
const VCIS: u32 = (1 << 16) - FIRST_VCI;

/// Most connections that the engine can address: 256 VPIs with all their VCIs from 32 on.
pub const MAX_CONNECTIONS: usize = 256 * VCIS as usize;

/// A cell on its way. The header is kept without HEC: no line of the engine damages headers, and real ones are made and
/// checked where cells leave for a datagram or a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// When its last bit reaches the far end of the link it crosses.
    pub arrives: Time,
    /// When it left its source.
    pub sent: Time,
    /// The link it crosses, as an index into the table of hops.
    pub hop: u32,
    /// GFC, VPI, VCI, PTI and CLP.
    pub header: u32,
    pub payload: [u8; PAYLOAD_OCTETS],
}

/// VPI and VCI of a connection, the same on every link, as they stand in a header.
pub(crate) fn address(connection: ConnectionIndex) -> u32 {
    (connection.0 / VCIS) << 20 | (connection.0 % VCIS + FIRST_VCI) << 4
}

/// The connection that a header belongs to; it may be one that does not exist.
pub(crate) fn connection(header: u32) -> Option<ConnectionIndex> {
    let (vpi, vci) = (header >> 20 & 0xff, header >> 4 & 0xffff);
    let gfc_is_zero = header >> 28 == 0;
    (gfc_is_zero && vci >= FIRST_VCI).then(|| ConnectionIndex(vpi * VCIS + vci - FIRST_VCI))
}

impl PortCell for Cell {
    #[inline]
    fn is_rm(&self) -> bool {
        Cell::is_rm(self)
    }

    #[inline]
    fn is_data(&self) -> bool {
        Cell::is_data(self)
    }

    #[inline]
    fn clp(&self) -> bool {
        Cell::clp(self)
    }

    #[inline]
    fn ends_pdu(&self) -> bool {
        Cell::is_data(self) && self.user_bit()
    }

    #[inline]
    fn mark_efci(&mut self) {
        Cell::mark_efci(self);
    }

    fn mark_packet(&mut self) {
        unreachable!("a scenario whose ports mark packets is refused before it runs live");
    }

    #[inline]
    fn arrive_at(&mut self, at: Time) {
        self.arrives = at;
    }
}

impl Cell {
    /// A data cell with EFCI = 0.
    #[inline]
    pub fn data(sent: Time, hop: u32, address: u32, payload: &[u8; PAYLOAD_OCTETS], user_bit: bool) -> Cell {
        let header = address | if user_bit { USER_BIT } else { 0 };
        Cell { arrives: sent, sent, hop, header, payload: *payload }
    }

    /// An RM cell, its 48 octets made now.
    pub fn resource_management(sent: Time, hop: u32, address: u32, rm: &RmCell) -> Cell {
        let mut cell = Cell {
            arrives: sent,
            sent,
            hop,
            header: address | RESOURCE_MANAGEMENT | u32::from(rm.out_of_rate),
            payload: [0; PAYLOAD_OCTETS],
        };
        cell.set_rm(rm);
        cell
    }

    /// An OAM loopback cell that `location` is to answer, its 48 octets made now.
    pub fn oam(sent: Time, hop: u32, address: u32, contents: LoopbackContents, location: [u8; 16]) -> Cell {
        let kind = if contents.is_segment { SEGMENT_OAM } else { END_TO_END_OAM };
        let payload = contents.on_wire(0, 0, location).payload();
        Cell { arrives: sent, sent, hop, header: address | kind, payload }
    }

    /// Whether it is an OAM cell of a virtual channel.
    #[inline]
    pub fn is_oam(&self) -> bool {
        matches!(self.header & PTI, SEGMENT_OAM | END_TO_END_OAM)
    }

    /// The contents of an OAM loopback cell, and who is to answer it.
    ///
    /// # Errors
    /// When its CRC-10 does not fit, or it is of another function.
    pub fn to_loopback(self) -> Result<(LoopbackContents, [u8; 16]), LoopbackCellError> {
        let cell = WireCell { header: self.wire_header(), payload: &self.payload };
        let LoopbackCell { correlation_tag, is_request, location, .. } = LoopbackCell::from_cell(&cell)?;
        let is_segment = self.header & PTI == SEGMENT_OAM;
        Ok((LoopbackContents { tag: correlation_tag, is_reply: !is_request, is_segment }, location))
    }

    /// Makes the payload anew.
    pub fn set_rm(&mut self, rm: &RmCell) {
        let addressed = AddressedRmCell { path: Path::uni(0), vci: 0, rm: *rm };
        self.payload.copy_from_slice(&addressed.emit()[HEADER_OCTETS..]);
    }

    #[inline]
    pub fn is_rm(&self) -> bool {
        self.header & PTI == RESOURCE_MANAGEMENT
    }

    /// Whether it carries user data: neither RM nor OAM.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.header & NOT_USER == 0
    }

    /// EFCI of a data cell.
    #[inline]
    pub fn efci(&self) -> bool {
        self.header & EFCI != 0
    }

    /// EFCI := 1 in a data cell.
    #[inline]
    pub fn mark_efci(&mut self) {
        self.header |= EFCI;
    }

    /// The same data cell with EFCI = 0.
    pub fn without_efci(self) -> Cell {
        Cell { header: self.header & !EFCI, ..self }
    }

    /// CLP.
    #[inline]
    pub fn clp(&self) -> bool {
        self.header & 1 != 0
    }

    /// This cell with CLP = 1.
    pub fn tagged(self) -> Cell {
        Cell { header: self.header | 1, ..self }
    }

    /// The AAL user bit of a data cell: the last one of its AAL5 PDU.
    #[inline]
    pub fn user_bit(&self) -> bool {
        self.header & USER_BIT != 0
    }

    /// The RM cell that these octets carry.
    ///
    /// # Errors
    /// When its CRC-10 does not fit, or it is not one of ABR's.
    pub fn to_rm(self) -> Result<RmCell, RmCellError> {
        let header = self.wire_header();
        AddressedRmCell::from_cell(&WireCell { header, payload: &self.payload }).map(|addressed| addressed.rm)
    }

    /// The header without VPI and VCI.
    fn wire_header(&self) -> Header {
        Header {
            path: Path::uni(0),
            vci: 0,
            payload_type: PayloadType::from_bits((self.header >> 1) as u8),
            clp: self.clp(),
        }
    }

    /// The 53 octets.
    pub fn octets(&self) -> [u8; CELL_OCTETS] {
        let [a, b, c, d] = self.header.to_be_bytes();
        let mut octets = [0; CELL_OCTETS];
        octets[..HEADER_OCTETS].copy_from_slice(&[a, b, c, d, hec([a, b, c, d])]);
        octets[HEADER_OCTETS..].copy_from_slice(&self.payload);
        octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::wire::Interface;
    use cellrate_proto::{Direction, RateCode};
    use proptest::prelude::*;

    const RM: RmCell = RmCell {
        direction: Direction::Backward,
        backward_notification: false,
        congestion_indication: true,
        no_increase: false,
        explicit_rate: RateCode::from_bits(0x64b1),
        current_cell_rate: RateCode::from_bits(0x53e8),
        minimum_cell_rate: RateCode::ZERO,
        out_of_rate: true,
    };

    #[test]
    fn connections_have_addresses_of_their_own_and_none_is_reserved() {
        assert_eq!(address(ConnectionIndex(0)), 32 << 4);
        assert_eq!(address(ConnectionIndex(65_503)), 0xffff << 4);
        assert_eq!(address(ConnectionIndex(65_504)), 1 << 20 | 32 << 4);
        for number in [0, 1, 65_503, 65_504, MAX_CONNECTIONS as u32 - 1] {
            assert_eq!(connection(address(ConnectionIndex(number))), Some(ConnectionIndex(number)));
        }
        assert_eq!(connection(31 << 4), None);
        assert_eq!(connection(1 << 28 | 32 << 4), None);
    }

    #[test]
    fn an_rm_cell_is_what_the_wire_formats_say() {
        let cell = Cell::resource_management(Time::ZERO, 0, address(ConnectionIndex(3)), &RM);
        assert!(cell.is_rm() && !cell.is_data());
        assert_eq!(cell.to_rm(), Ok(RM));
        let read = AddressedRmCell::parse(Interface::Uni, &cell.octets()).unwrap();
        assert_eq!((read.vci, read.rm), (35, RM));
    }

    #[test]
    fn a_loopback_cell_is_what_the_wire_formats_say() {
        for is_segment in [false, true] {
            let contents = LoopbackContents { tag: 77, is_reply: false, is_segment };
            let cell = Cell::oam(Time::ZERO, 0, address(ConnectionIndex(3)), contents, [9; 16]);
            assert!(cell.is_oam() && !cell.is_rm() && !cell.is_data());
            assert_eq!(cell.to_loopback(), Ok((contents, [9; 16])));
            let read = LoopbackCell::parse(Interface::Uni, &cell.octets()).unwrap();
            assert_eq!((read.flow.header().0, read.correlation_tag, read.is_request), (35, 77, true));
        }
    }

    #[test]
    fn one_wrong_bit_in_an_rm_cell_is_found() {
        let mut cell = Cell::resource_management(Time::ZERO, 0, address(ConnectionIndex(3)), &RM);
        cell.payload[3] ^= 0x10;
        assert_eq!(cell.to_rm(), Err(RmCellError::Crc));
    }

    proptest! {
        #[test]
        fn data_keeps_its_bits_and_its_place(number in 0..MAX_CONNECTIONS as u32, payload: [u8; 48], last: bool) {
            let mut cell = Cell::data(Time::ZERO, 7, address(ConnectionIndex(number)), &payload, last);
            prop_assert!(cell.is_data() && !cell.is_rm() && !cell.efci());
            cell.mark_efci();
            prop_assert!(cell.efci() && cell.is_data());
            prop_assert_eq!(cell.user_bit(), last);
            prop_assert_eq!(connection(cell.header), Some(ConnectionIndex(number)));
            let octets = cell.octets();
            let read = WireCell::parse(Interface::Uni, &octets).unwrap();
            prop_assert_eq!(read.header.payload_type, PayloadType::User { efci: true, user_bit: last });
            prop_assert_eq!(read.payload, &payload);
        }
    }
}
