//! ERF, Endace's extensible record format, as pcapng carries it under link type 197: cells (type 3) and AAL5 PDUs (type
//! 4).
//!
//! ```text
//! octets 0-7    instant: seconds since 1970 * 2^32, little-endian
//!        8      type: 3 ATM, 4 AAL5
//!        9      flags: bits 0-1 capture interface, 2 varying length, 3 truncated
//!        10-11  octets of the record, this header included, big-endian (like all that follow)
//!        12-13  loss counter
//!        14-15  octets on the wire
//!        16-19  the cell's header without its HEC
//!        20-    the payload of the cell, or the PDU with padding and trailer
//! ```
//!
//! The interface has only two bits, and Wireshark reads 0 as DTE to DCE and 1 as DCE to DTE, which means nothing
//! between switches. So it is always 2, and the port is the pcapng interface.

use cellrate_proto::wire::{HEADER_OCTETS, PAYLOAD_OCTETS};

/// pcapng's and libpcap's number of the format: LINKTYPE_ERF.
pub const LINK_TYPE: u16 = 197;

/// Octets before the payload: the header of the record, and that of the cell without its HEC.
pub const PREFIX_OCTETS: usize = RECORD_HEADER_OCTETS + CELL_HEADER_OCTETS;

/// The longest PDU that a record holds whole \[octets\]; AAL5's longest, 65568, is not.
pub const MAX_PDU_OCTETS: usize = u16::MAX as usize - PREFIX_OCTETS;

const RECORD_HEADER_OCTETS: usize = 16;
const CELL_HEADER_OCTETS: usize = HEADER_OCTETS - 1;
const ATM: u8 = 3;
const AAL5: u8 = 4;
const INTERFACE: u8 = 2;
const VARYING_LENGTH: u8 = 1 << 2;
const TRUNCATED: u8 = 1 << 3;
const NS_PER_S: u64 = 1_000_000_000;

/// The record of one cell: the first four octets of its header, and its payload. The HEC is not part of it.
/// `instant_ns` is in ns since 1970.
pub fn cell(
    instant_ns: u64,
    header: [u8; 4],
    payload: &[u8; PAYLOAD_OCTETS],
) -> [u8; PREFIX_OCTETS + PAYLOAD_OCTETS] {
    let mut record = [0; PREFIX_OCTETS + PAYLOAD_OCTETS];
    record[..PREFIX_OCTETS].copy_from_slice(&prefix(ATM, instant_ns, header, PAYLOAD_OCTETS));
    record[PREFIX_OCTETS..].copy_from_slice(payload);
    record
}

/// Header of the ERF record of a PDU of `pdu_octets`: `header` is that of its last cell, without the HEC. A PDU longer
/// than [`MAX_PDU_OCTETS`] is said to be truncated, and only so many octets of it may follow.
pub fn pdu_prefix(instant_ns: u64, header: [u8; 4], pdu_octets: usize) -> [u8; PREFIX_OCTETS] {
    prefix(AAL5, instant_ns, header, pdu_octets)
}

fn prefix(kind: u8, instant_ns: u64, header: [u8; 4], body_octets: usize) -> [u8; PREFIX_OCTETS] {
    let kept = body_octets.min(MAX_PDU_OCTETS);
    let truncated = if kept < body_octets { TRUNCATED } else { 0 };
    let on_wire = (CELL_HEADER_OCTETS + body_octets).min(usize::from(u16::MAX));
    let mut prefix = [0; PREFIX_OCTETS];
    prefix[..8].copy_from_slice(&fixed_point(instant_ns).to_le_bytes());
    prefix[8] = kind;
    prefix[9] = INTERFACE | VARYING_LENGTH | truncated;
    prefix[10..12].copy_from_slice(&((PREFIX_OCTETS + kept) as u16).to_be_bytes());
    prefix[14..16].copy_from_slice(&(on_wire as u16).to_be_bytes());
    prefix[16..].copy_from_slice(&header);
    prefix
}

/// Seconds in 32 bits, and 2^-32 s in the lower 32; rounded up, so that reading it in ns and rounding down gives the
/// same ns again.
fn fixed_point(instant_ns: u64) -> u64 {
    let (seconds, ns) = (instant_ns / NS_PER_S, instant_ns % NS_PER_S);
    (seconds << 32) + (ns << 32).div_ceil(NS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_68_octets_with_its_instant_and_its_header() {
        let mut payload = [7; 48];
        payload[47] = 9;
        let record = cell(1_500_000_000, [1, 2, 3, 4], &payload);
        assert_eq!(record[..8], [0, 0, 0, 0x80, 1, 0, 0, 0], "1.5 s: half of 2^32, then 1");
        assert_eq!(record[8..16], [3, 0b0110, 0, 68, 0, 0, 0, 52]);
        assert_eq!(record[16..21], [1, 2, 3, 4, 7]);
        assert_eq!((record.len(), record[67]), (68, 9));
    }

    #[test]
    fn every_nanosecond_survives_the_fixed_point() {
        for ns in [0, 1, 2, 3, 999_999_999, 123_456_789, 2_831, 1_000_000_001] {
            let fixed = u128::from(fixed_point(ns));
            let read = (fixed >> 32) * 1_000_000_000 + (((fixed & 0xffff_ffff) * 1_000_000_000) >> 32);
            assert_eq!(read, u128::from(ns));
        }
    }

    #[test]
    fn the_longest_pdu_that_fits_is_whole_and_the_next_one_truncated() {
        let whole = pdu_prefix(0, [0; 4], 65_515);
        assert_eq!(whole[9] & TRUNCATED, 0);
        assert_eq!((whole[10..12].to_vec(), whole[14..16].to_vec()), (vec![0xff, 0xff], vec![0xff, 0xef]));
        let longer = pdu_prefix(0, [0; 4], 65_516);
        assert_eq!(longer[9] & TRUNCATED, TRUNCATED);
        assert_eq!((longer[10..12].to_vec(), longer[14..16].to_vec()), (vec![0xff, 0xff], vec![0xff, 0xf0]));
    }
}
