//! A sum in 128 bits that lies in memory as two words.
//!
//! A `u128` has to begin at a multiple of 16 octets, and so does all that has one in it: a word is lost wherever it is
//! kept beside others.

/// A sum that only grows; beyond 128 bits it begins anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wide {
    low: u64,
    high: u64,
}

impl Wide {
    /// Nothing.
    pub const ZERO: Wide = Wide { low: 0, high: 0 };

    /// Adds `more`.
    #[inline(always)]
    pub fn add(&mut self, more: u64) {
        let (low, carries) = self.low.overflowing_add(more);
        self.low = low;
        self.high = self.high.wrapping_add(u64::from(carries));
    }

    /// Adds `more`.
    #[inline]
    pub fn add_wide(&mut self, more: u128) {
        let sum = self.get().wrapping_add(more);
        (self.low, self.high) = (sum as u64, (sum >> u64::BITS) as u64);
    }

    /// The sum.
    #[inline]
    pub fn get(self) -> u128 {
        u128::from(self.high) << u64::BITS | u128::from(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_into_one_word_is_carried_to_the_other() {
        let mut sum = Wide::ZERO;
        sum.add(u64::MAX);
        assert_eq!(sum.get(), u128::from(u64::MAX));
        sum.add(2);
        assert_eq!(sum.get(), (1 << 64) + 1);
        sum.add_wide(u128::from(u64::MAX) << 3 | 5);
        assert_eq!(sum.get(), (1 << 64) + 1 + (u128::from(u64::MAX) << 3 | 5));
    }
}
