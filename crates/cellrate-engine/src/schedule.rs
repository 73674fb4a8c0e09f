//! The scheduler: the least key of a fixed set of leaves, one per thing that can happen next.
//!
//! A leaf's key is the time of its next event with the leaf's own number below it, in one `u64`; the smallest is always
//! at hand. So the order of events and the breaking of ties are one comparison.

use cellrate_proto::Time;

use super::minima::Minima;
use super::tournament::NEVER;

/// The next event of every leaf.
#[derive(Clone, Debug)]
pub struct Schedule {
    keys: Minima,
    leaf_bits: u32,
    /// The first instant that no key can hold \[ps\].
    beyond: u64,
}

impl Schedule {
    /// A schedule of `count` leaves, none of which has an event.
    pub fn new(count: usize) -> Schedule {
        let leaf_bits = leaf_bits(count);
        Schedule { keys: Minima::new(count), leaf_bits, beyond: 1 << (u64::BITS - leaf_bits) }
    }

    /// The latest instant that a key of a schedule of `count` leaves can hold, and with it the longest run.
    pub fn last_instant(count: usize) -> Time {
        Time::from_ps((NEVER >> leaf_bits(count)) - 1)
    }

    /// The next event of `leaf` is at `time`; [`Time::NEVER`], or anything later than [`Schedule::last_instant`], is
    /// no event.
    #[inline]
    pub fn set(&mut self, leaf: usize, time: Time) {
        self.keys.set(leaf, self.key(leaf, time));
    }

    /// Sets the time of a leaf, cheaply where that is what it was.
    #[inline]
    pub fn keep(&mut self, leaf: usize, time: Time) {
        if self.keys.key(leaf) != self.key(leaf, time) {
            self.set(leaf, time);
        }
    }

    /// The key of an event of `leaf` at `time`: keys compare as the events follow each other.
    #[inline]
    pub fn key(&self, leaf: usize, time: Time) -> u64 {
        let ps = time.as_ps();
        if ps < self.beyond { ps << self.leaf_bits | leaf as u64 } else { NEVER }
    }

    /// The time and the leaf of a key.
    #[inline]
    pub fn split(&self, key: u64) -> (Time, usize) {
        (Time::from_ps(key >> self.leaf_bits), (key & ((1 << self.leaf_bits) - 1)) as usize)
    }

    /// By how much keys of one leaf differ when their times differ by `span` \[ps\].
    #[inline]
    pub fn key_step(&self, span: u64) -> u64 {
        span << self.leaf_bits
    }

    /// The first event of all: its time and its leaf. Without any, the time is later than every event.
    #[inline]
    pub fn first(&self) -> (Time, usize) {
        self.split(self.keys.first())
    }
}

/// Bits that number `count` leaves, at least one.
fn leaf_bits(count: usize) -> u32 {
    count.max(2).next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Some of them one way, some the other.
    fn naive_keeps(leaf: usize, time: Time) -> bool {
        (leaf as u64 ^ time.as_ps()).is_multiple_of(2)
    }

    proptest! {
        #[test]
        fn the_first_event_is_the_least_by_time_and_then_by_leaf(
            count in 1_usize..600,
            sets in proptest::collection::vec((0_usize..600, 0_u64..50), 1..200),
        ) {
            let mut schedule = Schedule::new(count);
            let mut naive = vec![None; count];
            for (leaf, time) in sets {
                let leaf = leaf % count;
                let time = if time == 0 { Time::NEVER } else { Time::from_ps(time) };
                if naive_keeps(leaf, time) { schedule.keep(leaf, time) } else { schedule.set(leaf, time) }
                naive[leaf] = (time != Time::NEVER).then_some(time);
                let expected = naive.iter().enumerate().filter_map(|(leaf, time)| time.map(|t| (t, leaf))).min();
                match expected {
                    Some(first) => prop_assert_eq!(schedule.first(), first),
                    None => prop_assert!(schedule.first().0 > Schedule::last_instant(count)),
                }
            }
        }
    }

    #[test]
    fn the_last_instant_is_held_and_the_one_after_is_not() {
        let mut schedule = Schedule::new(4);
        let last = Schedule::last_instant(4);
        schedule.set(3, last);
        assert_eq!(schedule.first(), (last, 3));
        schedule.set(3, Time::from_ps(last.as_ps() + 2));
        assert!(schedule.first().0 > last);
    }
}
