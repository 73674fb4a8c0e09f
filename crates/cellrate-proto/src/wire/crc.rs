//! The three checksums of a cell: CRC-8 over a header, CRC-10 over the payload of an RM or OAM cell, CRC-32 over an
//! AAL5 PDU. Polynomials are written most significant bit first, their leading term left out.
//!
//! All tables are computed at compile time. CRC-32 takes [`SLICES`] octets per step, so that a payload of 48 octets is
//! a whole number of steps.

/// x^8 + x^2 + x + 1 (I.432.1).
const CRC8_POLYNOMIAL: u8 = 0x07;
/// I.432.1 adds this pattern to the HEC, so that a stream of zeros is no valid header.
const HEC_COSET: u8 = 0x55;
/// x^10 + x^9 + x^5 + x^4 + x + 1 (I.610; RM cells: TM 4.0, 5.10.3.1).
const CRC10_POLYNOMIAL: u16 = 0x233;
const CRC10_MASK: u16 = 0x3ff;
/// The polynomial of Ethernet and AAL5 (I.363.5).
const CRC32_POLYNOMIAL: u32 = 0x04c1_1db7;
/// The register after a PDU and its own, intact CRC-32 have passed through it.
const CRC32_RESIDUE: u32 = 0xc704_dd7b;
/// Octets that CRC-32 takes in one step.
const SLICES: usize = 16;

static CRC8_TABLE: [u8; 256] = crc8_table();
static CRC10_TABLE: [u16; 256] = crc10_table();
static CRC32_TABLES: [[u32; 256]; SLICES] = crc32_tables();

/// The header error control octet of a header's first four octets (I.432.1).
///
/// ```
/// use cellrate_proto::wire::hec;
/// assert_eq!(hec([0, 0, 0, 1]), 0x52); // the idle cell
/// ```
#[inline]
pub fn hec(header: [u8; 4]) -> u8 {
    let crc = header.iter().fold(0u8, |crc, octet| CRC8_TABLE[usize::from(crc ^ octet)]);
    crc ^ HEC_COSET
}

/// The CRC-10 to append to `octets` (register initially zero, nothing added at the end), in the low ten bits.
#[inline]
pub fn crc10(octets: &[u8]) -> u16 {
    octets
        .iter()
        .fold(0, |crc, octet| ((crc << 8) & CRC10_MASK) ^ CRC10_TABLE[usize::from((crc >> 2) as u8 ^ octet)])
}

/// The remainder of a payload that ends in its own CRC-10: zero if it is intact. With those ten bits still zero it is
/// the CRC-10 that belongs there.
///
/// This differs from [`crc10`] in that no ten zeros are appended: the ten bits are already part of the payload, and
/// they begin in the middle of an octet.
#[inline]
pub fn crc10_remainder(payload: &[u8; 48]) -> u16 {
    payload.iter().fold(0, |remainder: u16, octet| {
        (((remainder & 0b11) << 8) | u16::from(*octet)) ^ CRC10_TABLE[usize::from((remainder >> 2) as u8)]
    })
}

/// The CRC-32 of AAL5, fed piece by piece: register initially all ones, complemented at the end (I.363.5).
///
/// ```
/// use cellrate_proto::wire::Crc32;
/// let mut crc = Crc32::new();
/// crc.update(b"1234");
/// crc.update(b"56789");
/// assert_eq!(crc.value(), 0xfc89_1918);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crc32 {
    register: u32,
}

impl Crc32 {
    /// The checksum of nothing yet.
    pub const fn new() -> Crc32 {
        Crc32 { register: u32::MAX }
    }

    /// Takes in the next `octets`.
    #[inline]
    pub fn update(&mut self, octets: &[u8]) {
        let (steps, rest) = octets.as_chunks::<SLICES>();
        let mut register = self.register;
        for step in steps {
            // The first four octets meet the register, the others meet zeros; each contributes what it leaves behind
            // after the octets that follow it in this step.
            let head = register ^ u32::from_be_bytes([step[0], step[1], step[2], step[3]]);
            register = head
                .to_be_bytes()
                .iter()
                .chain(&step[4..])
                .zip(CRC32_TABLES.iter().rev())
                .fold(0, |sum, (octet, table)| sum ^ table[usize::from(*octet)]);
        }
        for octet in rest {
            register = (register << 8) ^ CRC32_TABLES[0][usize::from((register >> 24) as u8 ^ octet)];
        }
        self.register = register;
    }

    /// The CRC-32 of what was taken in.
    pub const fn value(&self) -> u32 {
        !self.register
    }

    /// Whether what was taken in ended with its own CRC-32.
    pub const fn is_intact(&self) -> bool {
        self.register == CRC32_RESIDUE
    }
}

impl Default for Crc32 {
    fn default() -> Crc32 {
        Crc32::new()
    }
}

const fn crc8_table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x80 != 0 { (crc << 1) ^ CRC8_POLYNOMIAL } else { crc << 1 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

const fn crc10_table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = (index as u16) << 2;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x200 != 0 { (crc << 1) ^ CRC10_POLYNOMIAL } else { crc << 1 } & CRC10_MASK;
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

/// Table `k` holds what an octet leaves in the register after `k` further octets of zero.
const fn crc32_tables() -> [[u32; 256]; SLICES] {
    let mut tables = [[0u32; 256]; SLICES];
    let mut index = 0;
    while index < 256 {
        let mut crc = (index as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000_0000 != 0 { (crc << 1) ^ CRC32_POLYNOMIAL } else { crc << 1 };
            bit += 1;
        }
        tables[0][index] = crc;
        index += 1;
    }
    let mut slice = 1;
    while slice < SLICES {
        let mut index = 0;
        while index < 256 {
            let before = tables[slice - 1][index];
            tables[slice][index] = (before << 8) ^ tables[0][(before >> 24) as usize];
            index += 1;
        }
        slice += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Polynomial division one bit at a time, with the bits to append as zeros: what the tables must agree with.
    fn divide(octets: &[u8], width: u32, polynomial: u64, initial: u64, appended: u32) -> u64 {
        let bits = octets.iter().flat_map(|octet| (0..8).rev().map(move |bit| u64::from(octet >> bit) & 1));
        // An initial register of ones is the same as complementing the first `width` bits.
        let first = (0..width).rev().map(|bit| (initial >> bit) & 1).chain(core::iter::repeat(0));
        bits.chain(core::iter::repeat_n(0, appended as usize)).zip(first).fold(
            0,
            |remainder, (bit, initial)| {
                let shifted = (remainder << 1) | (bit ^ initial);
                if shifted >> width != 0 { shifted ^ (1 << width) ^ polynomial } else { shifted }
            },
        )
    }

    #[test]
    fn check_values_of_the_standard_message() {
        assert_eq!(crc10(b"123456789"), 0x199);
        let mut crc = Crc32::new();
        crc.update(b"123456789");
        assert_eq!(crc.value(), 0xfc89_1918);
    }

    #[test]
    fn hec_of_the_idle_and_the_unassigned_cell() {
        assert_eq!(hec([0, 0, 0, 1]), 0x52);
        assert_eq!(hec([0, 0, 0, 0]), 0x55);
    }

    proptest! {
        #[test]
        fn hec_is_the_division_by_its_polynomial(header: [u8; 4]) {
            prop_assert_eq!(u64::from(hec(header)), divide(&header, 8, 0x07, 0, 8) ^ 0x55);
        }

        #[test]
        fn crc10_is_the_division_by_its_polynomial(octets: Vec<u8>) {
            prop_assert_eq!(u64::from(crc10(&octets)), divide(&octets, 10, 0x233, 0, 10));
        }

        #[test]
        fn crc10_in_place_is_the_division_without_appended_zeros(payload: [u8; 48]) {
            prop_assert_eq!(u64::from(crc10_remainder(&payload)), divide(&payload, 10, 0x233, 0, 0));
        }

        #[test]
        fn crc32_is_the_division_by_its_polynomial_wherever_the_pieces_end(
            octets in proptest::collection::vec(any::<u8>(), 4..300), cut: proptest::sample::Index,
        ) {
            let (left, right) = octets.split_at(cut.index(octets.len()));
            let mut crc = Crc32::new();
            crc.update(left);
            crc.update(right);
            let expected = divide(&octets, 32, 0x04c1_1db7, 0xffff_ffff, 32) ^ 0xffff_ffff;
            prop_assert_eq!(u64::from(crc.value()), expected);

            prop_assert!(!crc.is_intact());
            crc.update(&crc.value().to_be_bytes());
            prop_assert!(crc.is_intact());
        }
    }
}
