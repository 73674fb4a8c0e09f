//! The receiving end of AAL5: which PDUs have come whole.
//!
//! A PDU is what lies between two cells with the user bit, as far as it has come; it is whole when no cell of it is
//! missing and none of another is with it. If the last cell of a PDU is lost, the next PDU looks longer than it is and
//! is spoiled too; if all of a PDU is lost, the next one does not know.
//!
//! Cells have numbers, which tell of gaps, but not where PDUs begin. After a gap right behind the end of a PDU it takes
//! the length of the PDU to tell whether its beginning is missing: [`Reassembly::confirm`].

use std::collections::VecDeque;

use crate::cell::Cell;

/// Cells since the last end of a PDU.
#[derive(Clone, Debug)]
pub struct Reassembly {
    /// The number that the next cell has if none is missing, modulo 2^30.
    expected: u32,
    /// Cells since the last end.
    run: u32,
    /// Whether some are missing among them.
    spoiled: bool,
    /// Whether some are missing before them.
    doubtful: bool,
    /// The last cell and the length of those that wait to be confirmed.
    candidates: VecDeque<(u32, u32)>,
    whole_pdus: u64,
    spoiled_pdus: u64,
}

const SEQUENCE_MASK: u32 = crate::cell::SEQUENCE_MASK as u32;

impl Reassembly {
    /// Waits for cell number 1.
    pub fn new() -> Reassembly {
        Reassembly {
            expected: 1,
            run: 0,
            spoiled: false,
            doubtful: false,
            candidates: VecDeque::new(),
            whole_pdus: 0,
            spoiled_pdus: 0,
        }
    }

    /// The next data cell of the direction; whether it makes a PDU whole, for all that cells say.
    #[inline]
    pub fn on_cell(&mut self, cell: &Cell) -> bool {
        let number = cell.sequence();
        if number != self.expected {
            self.spoiled |= self.run > 0;
            self.doubtful |= self.run == 0;
        }
        self.expected = (number + 1) & SEQUENCE_MASK;
        self.run += 1;
        cell.ends_pdu() && self.end(number)
    }

    /// The next `count` data cells, one at least and amid their PDUs: `first`, and those with the numbers behind it.
    #[inline]
    pub fn on_run(&mut self, first: &Cell, count: u32) {
        let whole = self.on_cell(first);
        debug_assert!(!whole, "the end of a PDU is an event");
        self.expected = (first.sequence() + count) & SEQUENCE_MASK;
        self.run += count - 1;
    }

    fn end(&mut self, number: u32) -> bool {
        let run = std::mem::take(&mut self.run);
        let doubtful = std::mem::take(&mut self.doubtful);
        if std::mem::take(&mut self.spoiled) {
            self.spoiled_pdus += 1;
            return false;
        }
        if doubtful {
            self.candidates.push_back((number, run));
        } else {
            self.whole_pdus += 1;
        }
        true
    }

    /// The PDU that ended with cell `number` has so many cells; whether it is whole. Told of each that
    /// [`on_cell`](Reassembly::on_cell) took for whole, in their order.
    pub fn confirm(&mut self, number: u32, cells: u32) -> bool {
        let Some(&(last, run)) = self.candidates.front() else { return true };
        if last != number {
            return true;
        }
        self.candidates.pop_front();
        let whole = run == cells;
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

    /// Ends of PDUs that have come without all that belongs before them, or with something of another.
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
            if reassembly.on_cell(&Cell::data(Time::ZERO, number, number % 3 == 0))
                && reassembly.confirm(number as u32, 3)
            {
                whole.push(number / 3);
            }
        }
        assert_eq!(reassembly.whole(), whole.len() as u64);
        let ends = (1..=cells / 3).filter(|pdu| !missing.contains(&(3 * pdu))).count() as u64;
        assert_eq!(reassembly.whole() + reassembly.spoiled(), ends);
        whole
    }

    #[test]
    fn a_lost_cell_spoils_its_pdu_and_a_lost_end_the_next_one_too() {
        assert_eq!(whole(&[], 9), [1, 2, 3]);
        assert_eq!(whole(&[1], 9), [2, 3]);
        assert_eq!(whole(&[5], 9), [1, 3]);
        assert_eq!(whole(&[6], 12), [1, 4]);
        assert_eq!(whole(&[3, 4], 9), [3], "cells 1, 2, 5 and 6 are no PDU");
        assert_eq!(whole(&[3, 4, 5], 9), [3], "1, 2 and 6 are as many as a PDU has");
        assert_eq!(whole(&[2, 3, 4, 5, 6], 12), [4], "1, 7, 8 and 9 are one too many");
    }

    #[test]
    fn when_all_of_a_pdu_is_lost_the_next_one_is_whole() {
        assert_eq!(whole(&[4, 5, 6], 12), [1, 3, 4]);
        assert_eq!(whole(&[1, 2, 3], 6), [2]);
        assert_eq!(whole(&[4, 5, 6, 7], 12), [1, 4], "but not without its beginning");
        assert_eq!(whole(&[1], 6), [2]);
    }

    #[test]
    fn numbers_go_round_at_two_to_the_thirty() {
        let mut reassembly = Reassembly { expected: SEQUENCE_MASK, ..Reassembly::new() };
        assert!(!reassembly.on_cell(&Cell::data(Time::ZERO, (1 << 30) - 1, false)));
        assert!(reassembly.on_cell(&Cell::data(Time::ZERO, 1 << 30, true)));
    }
}
