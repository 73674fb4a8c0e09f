//! RM cells on the wire: 53 octets to and from [`RmCell`] (TM 4.0, 5.10.3 and table 5-4).
//!
//! Octets of the payload, counted from 0 (the standard counts those of the cell, from 1: payload octet 0 is its octet
//! 6):
//!
//! | payload octets | field |
//! | --- | --- |
//! | 0 | ID: 1 for ABR |
//! | 1 | DIR, BN, CI, NI, RA, then three reserved bits |
//! | 2-3, 4-5, 6-7 | ER, CCR, MCR |
//! | 8-11, 12-15 | QL, SN |
//! | 16-45 | reserved, 0x6a each |
//! | 46-47 | six reserved bits, CRC-10 |
//!
//! RA, QL and SN belong to I.371. They and the reserved fields are ignored on receipt and emitted as the standard says
//! (0, and 0x6a), so a cell that is parsed and emitted again loses what stood in them.

use core::fmt;

use super::cell::{CELL_OCTETS, Cell, Header, HecError, Interface, PAYLOAD_OCTETS, Path, PayloadType};
use super::crc::crc10_remainder;
use crate::rate_code::RateCode;
use crate::rm::{Direction, RmCell};

/// The protocol ID of ABR.
const ABR: u8 = 1;
const DIR: u8 = 1 << 7;
const BN: u8 = 1 << 6;
const CI: u8 = 1 << 5;
const NI: u8 = 1 << 4;
const RESERVED: u8 = 0x6a;
const RESERVED_OCTETS: core::ops::Range<usize> = 16..46;
const CRC_OCTETS: core::ops::Range<usize> = 46..48;

/// An RM cell together with the connection it belongs to.
///
/// ```
/// use cellrate_proto::wire::{AddressedRmCell, Interface, Path, RmCellError};
/// use cellrate_proto::{CellRate, Direction, RateCode, RmCell};
///
/// let rate = |cells_per_s| RateCode::floor(CellRate::new(cells_per_s));
/// let forward = AddressedRmCell {
///     path: Path::uni(0),
///     vci: 32,
///     rm: RmCell {
///         direction: Direction::Forward,
///         backward_notification: false,
///         congestion_indication: false,
///         no_increase: false,
///         explicit_rate: rate(353_207.5), // PCR
///         current_cell_rate: rate(1_000.0),
///         minimum_cell_rate: RateCode::ZERO,
///         out_of_rate: false,
///     },
/// };
/// let octets = forward.emit();
/// assert_eq!(AddressedRmCell::parse(Interface::Uni, &octets), Ok(forward));
///
/// let mut damaged = octets;
/// damaged[8] ^= 0x01; // in ER
/// assert_eq!(AddressedRmCell::parse(Interface::Uni, &damaged), Err(RmCellError::Crc));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct AddressedRmCell {
    /// VPI, and GFC at a UNI.
    pub path: Path,
    /// VCI; 6 in an RM cell of a virtual path connection.
    pub vci: u16,
    /// Contents of the cell.
    pub rm: RmCell,
}

/// Why 53 octets are no RM cell of ABR. Whatever the reason, the cell is discarded and never acted on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RmCellError {
    /// The header is damaged.
    Hec(HecError),
    /// The header is that of another kind of cell.
    NotResourceManagement(PayloadType),
    /// The payload is damaged: its CRC-10 does not fit.
    Crc,
    /// Intact, but for a protocol other than ABR.
    UnknownId(u8),
}

impl AddressedRmCell {
    /// Reads 53 octets: header, kind, CRC-10 and ID, refused in this order.
    ///
    /// # Errors
    /// [`RmCellError`], by which such cells can be counted.
    pub fn parse(interface: Interface, octets: &[u8; CELL_OCTETS]) -> Result<AddressedRmCell, RmCellError> {
        AddressedRmCell::from_cell(&Cell::parse(interface, octets).map_err(RmCellError::Hec)?)
    }

    /// Reads the payload of a cell whose header has been read already.
    ///
    /// # Errors
    /// As [`AddressedRmCell::parse`], except for [`RmCellError::Hec`].
    pub fn from_cell(cell: &Cell<'_>) -> Result<AddressedRmCell, RmCellError> {
        let Header { path, vci, payload_type, clp } = cell.header;
        if payload_type != PayloadType::ResourceManagement {
            return Err(RmCellError::NotResourceManagement(payload_type));
        }
        let payload = cell.payload;
        if crc10_remainder(payload) != 0 {
            return Err(RmCellError::Crc);
        }
        if payload[0] != ABR {
            return Err(RmCellError::UnknownId(payload[0]));
        }
        let flags = payload[1];
        let rate = |at: usize| RateCode::from_bits(u16::from_be_bytes([payload[at], payload[at + 1]]));
        let rm = RmCell {
            direction: if flags & DIR == 0 { Direction::Forward } else { Direction::Backward },
            backward_notification: flags & BN != 0,
            congestion_indication: flags & CI != 0,
            no_increase: flags & NI != 0,
            explicit_rate: rate(2),
            current_cell_rate: rate(4),
            minimum_cell_rate: rate(6),
            out_of_rate: clp,
        };
        Ok(AddressedRmCell { path, vci, rm })
    }

    /// The 53 octets: HEC and CRC-10 computed, RA, QL and SN zero, reserved octets 0x6a.
    pub fn emit(&self) -> [u8; CELL_OCTETS] {
        let AddressedRmCell { path, vci, rm } = *self;
        let payload_type = PayloadType::ResourceManagement;
        let header = Header { path, vci, payload_type, clp: rm.out_of_rate };
        Cell { header, payload: &payload(&rm) }.emit()
    }
}

fn payload(rm: &RmCell) -> [u8; PAYLOAD_OCTETS] {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    let mut payload = [0; PAYLOAD_OCTETS];
    payload[0] = ABR;
    payload[1] = flag(rm.direction == Direction::Backward, DIR)
        | flag(rm.backward_notification, BN)
        | flag(rm.congestion_indication, CI)
        | flag(rm.no_increase, NI);
    payload[2..4].copy_from_slice(&rm.explicit_rate.bits().to_be_bytes());
    payload[4..6].copy_from_slice(&rm.current_cell_rate.bits().to_be_bytes());
    payload[6..8].copy_from_slice(&rm.minimum_cell_rate.bits().to_be_bytes());
    payload[RESERVED_OCTETS].fill(RESERVED);
    let crc = crc10_remainder(&payload);
    payload[CRC_OCTETS].copy_from_slice(&crc.to_be_bytes());
    payload
}

impl fmt::Display for RmCellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RmCellError::Hec(error) => error.fmt(f),
            RmCellError::NotResourceManagement(payload_type) => {
                write!(f, "not an RM cell: PTI is {:#05b}, that of RM cells is 0b110", payload_type.bits())
            }
            RmCellError::Crc => f.write_str("RM cell damaged: its CRC-10 does not fit its payload"),
            RmCellError::UnknownId(id) => write!(f, "RM cell of protocol ID {id}; ABR has ID {ABR}"),
        }
    }
}

impl core::error::Error for RmCellError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            RmCellError::Hec(error) => Some(error),
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

    fn rm_cell() -> impl Strategy<Value = AddressedRmCell> {
        (path(), any::<u16>(), any::<[bool; 5]>(), any::<[u16; 3]>()).prop_map(|(path, vci, flags, rates)| {
            let [backward, bn, ci, ni, out_of_rate] = flags;
            let [er, ccr, mcr] = rates.map(RateCode::from_bits);
            let rm = RmCell {
                direction: if backward { Direction::Backward } else { Direction::Forward },
                backward_notification: bn,
                congestion_indication: ci,
                no_increase: ni,
                explicit_rate: er,
                current_cell_rate: ccr,
                minimum_cell_rate: mcr,
                out_of_rate,
            };
            AddressedRmCell { path, vci, rm }
        })
    }

    fn plain() -> AddressedRmCell {
        let rm = RmCell {
            direction: Direction::Forward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::from_bits(0x64b1),
            current_cell_rate: RateCode::from_bits(0x53e8),
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        };
        AddressedRmCell { path: Path::uni(1), vci: 33, rm }
    }

    /// `octets` with payload octet `at` changed by `change` and the CRC-10 made to fit again.
    fn altered(octets: [u8; 53], at: usize, change: impl Fn(u8) -> u8) -> [u8; 53] {
        let mut payload: [u8; 48] = octets[5..].try_into().unwrap();
        payload[at] = change(payload[at]);
        payload[46] &= !0b11;
        payload[47] = 0;
        let crc = crc10_remainder(&payload);
        payload[46] |= (crc >> 8) as u8;
        payload[47] = crc as u8;
        let mut altered = octets;
        altered[5..].copy_from_slice(&payload);
        altered
    }

    #[test]
    fn flags_are_the_four_high_bits_of_octet_7_in_the_order_dir_bn_ci_ni() {
        let octet = |change: fn(&mut RmCell)| {
            let mut cell = plain();
            change(&mut cell.rm);
            cell.emit()[6]
        };
        assert_eq!(octet(|_| ()), 0b0000_0000);
        assert_eq!(octet(|rm| rm.direction = Direction::Backward), 0b1000_0000);
        assert_eq!(octet(|rm| rm.backward_notification = true), 0b0100_0000);
        assert_eq!(octet(|rm| rm.congestion_indication = true), 0b0010_0000);
        assert_eq!(octet(|rm| rm.no_increase = true), 0b0001_0000);
    }

    #[test]
    fn out_of_rate_is_the_clp_bit_of_the_header() {
        let mut cell = plain();
        assert_eq!(cell.emit()[3] & 1, 0);
        cell.rm.out_of_rate = true;
        assert_eq!(cell.emit()[3] & 1, 1);
    }

    #[test]
    fn what_is_reserved_or_belongs_to_i_371_is_ignored_on_receipt_and_emitted_canonical() {
        let canonical = plain().emit();
        // RA and the three bits below it, QL, SN, the reserved octets, the six bits above the CRC-10.
        for (at, mask) in [(1, 0x0f), (8, 0xff), (15, 0xff), (16, 0xff), (45, 0xff), (46, 0xfc)] {
            let received = altered(canonical, at, |octet| octet ^ mask);
            assert_ne!(received, canonical);
            let parsed = AddressedRmCell::parse(Interface::Uni, &received).unwrap();
            assert_eq!(parsed, plain(), "payload octet {at}");
            assert_eq!(parsed.emit(), canonical);
        }
    }

    #[test]
    fn each_refusal_names_its_reason() {
        let octets = plain().emit();

        let mut header = octets;
        header[4] ^= 1;
        let error = AddressedRmCell::parse(Interface::Uni, &header).unwrap_err();
        assert!(matches!(error, RmCellError::Hec(_)));

        for pti in (0..8).filter(|&pti| pti != 0b110) {
            let payload_type = PayloadType::from_bits(pti);
            let header = Header { path: Path::uni(1), vci: 33, payload_type, clp: false };
            let mut other = octets;
            other[..5].copy_from_slice(&header.emit());
            let refused = AddressedRmCell::parse(Interface::Uni, &other);
            assert_eq!(refused, Err(RmCellError::NotResourceManagement(payload_type)));
        }

        for id in (0..=255).filter(|&id| id != 1) {
            let other = altered(octets, 0, |_| id);
            assert_eq!(AddressedRmCell::parse(Interface::Uni, &other), Err(RmCellError::UnknownId(id)));
        }

        let mut payload = octets;
        payload[52] ^= 1;
        assert_eq!(AddressedRmCell::parse(Interface::Uni, &payload), Err(RmCellError::Crc));
        assert_eq!(RmCellError::UnknownId(2).to_string(), "RM cell of protocol ID 2; ABR has ID 1");
    }

    #[test]
    fn a_damaged_payload_is_reported_before_a_strange_id() {
        let mut octets = plain().emit();
        octets[5] = 2;
        assert_eq!(AddressedRmCell::parse(Interface::Uni, &octets), Err(RmCellError::Crc));
    }

    #[test]
    fn every_single_bit_error_in_a_payload_is_found() {
        let octets = plain().emit();
        for bit in 0..48 * 8 {
            let mut damaged = octets;
            damaged[5 + bit / 8] ^= 0x80 >> (bit % 8);
            assert_eq!(AddressedRmCell::parse(Interface::Uni, &damaged), Err(RmCellError::Crc), "bit {bit}");
        }
    }

    proptest! {
        #[test]
        fn an_rm_cell_survives_the_wire(cell in rm_cell()) {
            prop_assert_eq!(AddressedRmCell::parse(cell.path.interface(), &cell.emit()), Ok(cell));
        }

        #[test]
        fn one_wrong_bit_anywhere_is_always_found(cell in rm_cell(), bit in 0usize..53 * 8) {
            let mut octets = cell.emit();
            octets[bit / 8] ^= 0x80 >> (bit % 8);
            let error = AddressedRmCell::parse(cell.path.interface(), &octets).unwrap_err();
            prop_assert_eq!(matches!(error, RmCellError::Hec(_)), bit < 40);
            prop_assert_eq!(error == RmCellError::Crc, bit >= 40);
        }

        #[test]
        fn a_burst_of_up_to_ten_bits_in_a_payload_is_always_found(
            cell in rm_cell(), start in 0usize..48 * 8, pattern in 1u16..1024,
        ) {
            let mut octets = cell.emit();
            for bit in (0..10).filter(|bit| pattern >> bit & 1 != 0).map(|bit| start + bit) {
                if bit < 48 * 8 {
                    octets[5 + bit / 8] ^= 0x80 >> (bit % 8);
                }
            }
            prop_assume!(octets != cell.emit());
            let refused = AddressedRmCell::parse(cell.path.interface(), &octets);
            prop_assert_eq!(refused, Err(RmCellError::Crc));
        }

        #[test]
        fn random_octets_behind_an_rm_header_never_panic(payload: [u8; 48]) {
            let mut octets = plain().emit();
            octets[5..].copy_from_slice(&payload);
            if let Ok(cell) = AddressedRmCell::parse(Interface::Uni, &octets) {
                prop_assert_eq!(AddressedRmCell::parse(Interface::Uni, &cell.emit()), Ok(cell));
            }
        }
    }
}
