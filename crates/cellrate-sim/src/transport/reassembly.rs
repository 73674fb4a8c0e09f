//! The receiving end of AAL5: which PDUs have come whole.
//!
//! A PDU is what lies between two cells with the user bit. It is whole when no cell of it is missing, that is, when the
//! numbers of its cells follow each other from the one after the last end on. If the last cell of a PDU is lost, the
//! next PDU looks longer than it is and is spoiled too, as in AAL5.

use crate::kernel::cell::Cell;

/// What has come since the last end of a PDU.
#[derive(Clone, Debug)]
pub struct Reassembly {
    /// The number that the next cell has if none is missing, modulo 2^30.
    expected: u32,
    spoiled: bool,
    whole_pdus: u64,
    spoiled_pdus: u64,
}

const SEQUENCE_MASK: u32 = (1 << 30) - 1;

impl Reassembly {
    /// Waits for cell number 1.
    pub fn new() -> Reassembly {
        Reassembly { expected: 1, spoiled: false, whole_pdus: 0, spoiled_pdus: 0 }
    }

    /// The next data cell of the direction; whether it makes a PDU whole.
    #[inline]
    pub fn on_cell(&mut self, cell: &Cell) -> bool {
        let number = cell.sequence();
        self.spoiled |= number != self.expected;
        self.expected = (number + 1) & SEQUENCE_MASK;
        if !cell.ends_pdu() {
            return false;
        }
        let whole = !self.spoiled;
        self.spoiled = false;
        if whole {
            self.whole_pdus += 1;
        } else {
            self.spoiled_pdus += 1;
        }
        whole
    }

    /// The number of the last cell that has come, modulo 2^30; 0 before the first.
    pub fn latest(&self) -> u32 {
        self.expected.wrapping_sub(1) & SEQUENCE_MASK
    }

    /// PDUs that have come whole.
    pub fn whole(&self) -> u64 {
        self.whole_pdus
    }

    /// Ends of PDUs that have come without all that belongs before them.
    pub fn spoiled(&self) -> u64 {
        self.spoiled_pdus
    }
}

impl Default for Reassembly {
    fn default() -> Reassembly {
        Reassembly::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::Time;

    /// PDUs of three cells without those missing: which of them are whole.
    fn whole(missing: &[u64], cells: u64) -> Vec<u64> {
        let mut reassembly = Reassembly::new();
        let mut whole = Vec::new();
        for number in (1..=cells).filter(|number| !missing.contains(number)) {
            if reassembly.on_cell(&Cell::data(Time::ZERO, number, number % 3 == 0)) {
                whole.push(number / 3);
            }
        }
        whole
    }

    #[test]
    fn a_lost_cell_spoils_its_pdu_and_a_lost_end_the_next_one_too() {
        assert_eq!(whole(&[], 9), [1, 2, 3]);
        assert_eq!(whole(&[1], 9), [2, 3]);
        assert_eq!(whole(&[5], 9), [1, 3]);
        assert_eq!(whole(&[6], 12), [1, 4]);
        assert_eq!(whole(&[4, 5, 6], 12), [1, 4], "a whole PDU lost: its end is missing");
    }

    #[test]
    fn numbers_go_round_at_two_to_the_thirty() {
        let mut reassembly = Reassembly { expected: SEQUENCE_MASK, ..Reassembly::new() };
        assert!(!reassembly.on_cell(&Cell::data(Time::ZERO, (1 << 30) - 1, false)));
        assert!(reassembly.on_cell(&Cell::data(Time::ZERO, 1 << 30, true)));
    }
}
