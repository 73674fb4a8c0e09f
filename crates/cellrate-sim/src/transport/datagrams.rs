//! Datagrams that have come whole, by the numbers of their last cells.

use cellrate_proto::Time;

/// The ends of the datagrams of a direction that no one answers.
#[derive(Clone, Debug, Default)]
pub struct Datagrams {
    /// Number of the last cell, counted from 1 in its direction, and when it arrived.
    ends: Vec<(u64, Time)>,
}

const SEQUENCE_MASK: u32 = crate::cell::SEQUENCE_MASK as u32;

impl Datagrams {
    /// A datagram has come whole; its last cell has this number, modulo 2^30.
    pub fn on_whole(&mut self, last_cell: u32, now: Time) {
        self.ends.push((self.unwrapped(last_cell), now));
    }

    /// In the order of arrival.
    pub fn ends(&self) -> &[(u64, Time)] {
        &self.ends
    }

    /// The whole number of a cell that came no earlier than the last end, and fewer than 2^30 cells after it.
    pub fn unwrapped(&self, number: u32) -> u64 {
        let last = self.ends.last().map_or(0, |&(last, _)| last);
        last + u64::from(number.wrapping_sub(last as u32) & SEQUENCE_MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_beyond_two_to_the_thirty() {
        let mut datagrams = Datagrams::default();
        for number in [7, SEQUENCE_MASK - 1, 2] {
            datagrams.on_whole(number, Time::from_ps(u64::from(number)));
        }
        let numbers: Vec<u64> = datagrams.ends().iter().map(|&(number, _)| number).collect();
        assert_eq!(numbers, [7, (1 << 30) - 2, (1 << 30) + 2]);
        assert_eq!(datagrams.unwrapped(2), (1 << 30) + 2, "nothing has come since");
        assert_eq!(datagrams.unwrapped(1), (2 << 30) + 1);
    }
}
