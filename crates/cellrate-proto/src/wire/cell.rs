//! Cells and their headers, as they stand at a UNI and at an NNI (I.361; tables in TM 4.0).
//!
//! ```text
//!          bit 8   7   6   5   4   3   2   1
//! octet 1  |  GFC (UNI)    |      VPI      |    NNI: VPI bits 12-5
//! octet 2  |      VPI      |      VCI      |
//! octet 3  |              VCI              |
//! octet 4  |      VCI      |    PTI    |CLP|
//! octet 5  |              HEC              |
//! ```
//!
//! The HEC is used to detect errors only: a header with one wrong bit is refused, not corrected.

use core::fmt;

use super::crc::hec;

/// Octets of a cell.
pub const CELL_OCTETS: usize = 53;
/// Octets of its header.
pub const HEADER_OCTETS: usize = 5;
/// Octets of its payload.
pub const PAYLOAD_OCTETS: usize = 48;

const _: () = assert!(HEADER_OCTETS + PAYLOAD_OCTETS == CELL_OCTETS);

/// The two kinds of interface, whose headers differ in the first four bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Interface {
    /// User to network: 4 bits of GFC and 8 of VPI.
    Uni,
    /// Network to network: 12 bits of VPI.
    Nni,
}

/// Generic flow control: 4 bits, 0 where it is not used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Gfc(u8);

/// A virtual path identifier at an NNI: 12 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct NniVpi(u16);

/// The virtual path of a cell, with what else stands in those twelve bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Path {
    /// At a UNI.
    Uni {
        /// GFC.
        gfc: Gfc,
        /// VPI, 8 bits.
        vpi: u8,
    },
    /// At an NNI.
    Nni {
        /// VPI, 12 bits.
        vpi: NniVpi,
    },
}

/// Payload type of a cell: the three PTI bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum PayloadType {
    /// User data: 0b0EU.
    User {
        /// E, the EFCI bit: a switch on the way was congested.
        efci: bool,
        /// U, the AAL user bit: set on the last cell of an AAL5 PDU.
        user_bit: bool,
    },
    /// OAM of a segment (F5), 0b100.
    SegmentOam,
    /// OAM from end to end (F5), 0b101.
    EndToEndOam,
    /// Resource management, 0b110.
    ResourceManagement,
    /// 0b111.
    Reserved,
}

/// A header without its HEC, which is a function of the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Header {
    /// VPI, and GFC at a UNI.
    pub path: Path,
    /// VCI.
    pub vci: u16,
    /// PTI.
    pub payload_type: PayloadType,
    /// CLP: 1 marks a cell that may be discarded first; for an RM cell, one sent out of rate.
    pub clp: bool,
}

/// A cell whose payload lies in someone else's buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell<'a> {
    /// The header, its HEC found right.
    pub header: Header,
    /// The 48 octets after it.
    pub payload: &'a [u8; PAYLOAD_OCTETS],
}

/// A header whose HEC is not that of its first four octets: the cell is to be discarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HecError {
    /// The fifth octet as it came.
    pub received: u8,
    /// HEC that the first four octets ask for.
    pub computed: u8,
}

impl Gfc {
    /// GFC `value`, or nothing above 15.
    pub const fn new(value: u8) -> Option<Gfc> {
        if value < 16 { Some(Gfc(value)) } else { None }
    }

    /// 0 to 15.
    pub const fn value(self) -> u8 {
        self.0
    }
}

impl NniVpi {
    /// VPI `value`, or nothing above 4095.
    pub const fn new(value: u16) -> Option<NniVpi> {
        if value < 4096 { Some(NniVpi(value)) } else { None }
    }

    /// 0 to 4095.
    pub const fn value(self) -> u16 {
        self.0
    }
}

impl Path {
    /// VPI `vpi` at a UNI, with GFC zero.
    pub const fn uni(vpi: u8) -> Path {
        Path::Uni { gfc: Gfc(0), vpi }
    }

    /// The interface that has such headers.
    pub const fn interface(self) -> Interface {
        match self {
            Path::Uni { .. } => Interface::Uni,
            Path::Nni { .. } => Interface::Nni,
        }
    }

    /// The VPI, whichever the interface.
    pub const fn vpi(self) -> u16 {
        match self {
            Path::Uni { vpi, .. } => vpi as u16,
            Path::Nni { vpi } => vpi.0,
        }
    }

    const fn from_bits(interface: Interface, bits: u16) -> Path {
        match interface {
            Interface::Uni => Path::Uni { gfc: Gfc((bits >> 8) as u8 & 0xf), vpi: bits as u8 },
            Interface::Nni => Path::Nni { vpi: NniVpi(bits & 0xfff) },
        }
    }

    const fn bits(self) -> u16 {
        match self {
            Path::Uni { gfc, vpi } => ((gfc.0 as u16) << 8) | vpi as u16,
            Path::Nni { vpi } => vpi.0,
        }
    }
}

impl PayloadType {
    /// The type whose PTI is `bits`; all but the low three are ignored.
    pub const fn from_bits(bits: u8) -> PayloadType {
        match bits & 0b111 {
            0b100 => PayloadType::SegmentOam,
            0b101 => PayloadType::EndToEndOam,
            0b110 => PayloadType::ResourceManagement,
            0b111 => PayloadType::Reserved,
            user => PayloadType::User { efci: user & 0b010 != 0, user_bit: user & 0b001 != 0 },
        }
    }

    /// PTI, 0 to 7.
    pub const fn bits(self) -> u8 {
        match self {
            PayloadType::User { efci, user_bit } => (efci as u8) << 1 | user_bit as u8,
            PayloadType::SegmentOam => 0b100,
            PayloadType::EndToEndOam => 0b101,
            PayloadType::ResourceManagement => 0b110,
            PayloadType::Reserved => 0b111,
        }
    }

    /// The payload type after a congested switch: EFCI set on user data, everything else untouched.
    #[must_use]
    pub const fn marked_congested(self) -> PayloadType {
        match self {
            PayloadType::User { user_bit, .. } => PayloadType::User { efci: true, user_bit },
            other => other,
        }
    }
}

impl Header {
    /// Reads a header.
    ///
    /// # Errors
    /// [`HecError`] when the fifth octet does not fit the other four.
    #[inline]
    pub fn parse(interface: Interface, octets: &[u8; HEADER_OCTETS]) -> Result<Header, HecError> {
        let [a, b, c, d, received] = *octets;
        let computed = hec([a, b, c, d]);
        if received != computed {
            return Err(HecError { received, computed });
        }
        let bits = u32::from_be_bytes([a, b, c, d]);
        Ok(Header {
            path: Path::from_bits(interface, (bits >> 20) as u16),
            vci: (bits >> 4) as u16,
            payload_type: PayloadType::from_bits((bits >> 1) as u8),
            clp: bits & 1 != 0,
        })
    }

    /// The five octets, HEC and all.
    #[inline]
    pub fn emit(&self) -> [u8; HEADER_OCTETS] {
        let bits = u32::from(self.path.bits()) << 20
            | u32::from(self.vci) << 4
            | u32::from(self.payload_type.bits()) << 1
            | u32::from(self.clp);
        let [a, b, c, d] = bits.to_be_bytes();
        [a, b, c, d, hec([a, b, c, d])]
    }
}

impl<'a> Cell<'a> {
    /// Reads the header and leaves the payload where it is.
    ///
    /// ```
    /// use cellrate_proto::wire::{Cell, Header, Interface, Path, PayloadType};
    /// let payload_type = PayloadType::User { efci: false, user_bit: true };
    /// let header = Header { path: Path::uni(0), vci: 32, payload_type, clp: false };
    /// let cell = Cell { header, payload: &[0x6a; 48] };
    /// let octets = cell.emit();
    /// assert_eq!(octets[..5], [0x00, 0x00, 0x02, 0x02, 0x71]); // VCI 32 << 4 | PTI 001 << 1, HEC
    /// assert_eq!(Cell::parse(Interface::Uni, &octets), Ok(cell));
    ///
    /// let mut damaged = octets;
    /// damaged[2] ^= 0x40;
    /// assert!(Cell::parse(Interface::Uni, &damaged).is_err());
    /// ```
    ///
    /// # Errors
    /// [`HecError`] when the header is damaged.
    #[inline]
    pub fn parse(interface: Interface, octets: &'a [u8; CELL_OCTETS]) -> Result<Cell<'a>, HecError> {
        let [a, b, c, d, e, payload @ ..] = octets;
        Ok(Cell { header: Header::parse(interface, &[*a, *b, *c, *d, *e])?, payload })
    }

    /// The 53 octets.
    #[inline]
    pub fn emit(&self) -> [u8; CELL_OCTETS] {
        let mut octets = [0; CELL_OCTETS];
        octets[..HEADER_OCTETS].copy_from_slice(&self.header.emit());
        octets[HEADER_OCTETS..].copy_from_slice(self.payload);
        octets
    }
}

impl fmt::Display for HecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cell header damaged: HEC is {:#04x}, its first four octets ask for {:#04x}",
            self.received, self.computed
        )
    }
}

impl core::error::Error for HecError {}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::wire) fn path() -> impl Strategy<Value = Path> {
        prop_oneof![
            (0u8..16, any::<u8>()).prop_map(|(gfc, vpi)| Path::Uni { gfc: Gfc::new(gfc).unwrap(), vpi }),
            (0u16..4096).prop_map(|vpi| Path::Nni { vpi: NniVpi::new(vpi).unwrap() }),
        ]
    }

    pub(in crate::wire) fn header() -> impl Strategy<Value = Header> {
        (path(), any::<u16>(), 0u8..8, any::<bool>()).prop_map(|(path, vci, pti, clp)| Header {
            path,
            vci,
            payload_type: PayloadType::from_bits(pti),
            clp,
        })
    }

    #[test]
    fn fields_stand_where_the_standard_puts_them() {
        // GFC 0xa, VPI 0xbc, VCI 0xdef1, PTI 010 (EFCI), CLP 1: nibbles a bc def1, then 0b0101.
        let uni = Header {
            path: Path::Uni { gfc: Gfc::new(0xa).unwrap(), vpi: 0xbc },
            vci: 0xdef1,
            payload_type: PayloadType::User { efci: true, user_bit: false },
            clp: true,
        };
        assert_eq!(uni.emit()[..4], [0xab, 0xcd, 0xef, 0x15]);
        // The same bits at an NNI are VPI 0xabc.
        let nni = Header { path: Path::Nni { vpi: NniVpi::new(0xabc).unwrap() }, ..uni };
        assert_eq!(nni.emit(), uni.emit());
        assert_eq!(Header::parse(Interface::Nni, &uni.emit()), Ok(nni));
    }

    #[test]
    fn payload_types_are_the_eight_codes() {
        for bits in 0..8 {
            assert_eq!(PayloadType::from_bits(bits).bits(), bits);
        }
        assert_eq!(PayloadType::User { efci: true, user_bit: false }.bits(), 0b010);
        assert_eq!(PayloadType::User { efci: false, user_bit: true }.bits(), 0b001);
        assert_eq!(PayloadType::ResourceManagement.bits(), 0b110);
    }

    #[test]
    fn a_congested_switch_marks_user_data_only() {
        let marked: [u8; 8] =
            core::array::from_fn(|bits| PayloadType::from_bits(bits as u8).marked_congested().bits());
        assert_eq!(marked, [0b010, 0b011, 0b010, 0b011, 0b100, 0b101, 0b110, 0b111]);
    }

    #[test]
    fn what_does_not_fit_its_bits_is_refused() {
        assert_eq!(Gfc::new(15).map(Gfc::value), Some(15));
        assert_eq!(Gfc::new(16), None);
        assert_eq!(NniVpi::new(4095).map(NniVpi::value), Some(4095));
        assert_eq!(NniVpi::new(4096), None);
    }

    #[test]
    fn a_stream_of_zeros_is_no_header() {
        assert_eq!(
            Header::parse(Interface::Uni, &[0; 5]),
            Err(HecError { received: 0, computed: 0x55 }),
            "the coset 0x55 is there for this"
        );
    }

    proptest! {
        #[test]
        fn a_header_survives_the_wire(header in header()) {
            prop_assert_eq!(Header::parse(header.path.interface(), &header.emit()), Ok(header));
        }

        #[test]
        fn a_header_that_parses_is_emitted_as_it_came(bits: u32, nni: bool) {
            let interface = if nni { Interface::Nni } else { Interface::Uni };
            let [a, b, c, d] = bits.to_be_bytes();
            let octets = [a, b, c, d, hec([a, b, c, d])];
            let header = Header::parse(interface, &octets).unwrap();
            prop_assert_eq!(header.path.interface(), interface);
            prop_assert_eq!(header.emit(), octets);
        }

        #[test]
        fn one_wrong_bit_in_a_header_is_always_found(header in header(), bit in 0usize..40) {
            let mut octets = header.emit();
            octets[bit / 8] ^= 0x80 >> (bit % 8);
            prop_assert!(Header::parse(header.path.interface(), &octets).is_err());
        }

        #[test]
        fn a_cell_survives_the_wire(header in header(), payload: [u8; 48]) {
            let cell = Cell { header, payload: &payload };
            let octets = cell.emit();
            prop_assert_eq!(Cell::parse(header.path.interface(), &octets), Ok(cell));
        }
    }
}
