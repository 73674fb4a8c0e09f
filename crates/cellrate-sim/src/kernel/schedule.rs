//! The scheduler: a winner tree over a fixed set of leaves, one per thing that can happen next.
//!
//! A leaf's key is the time of its next event with the leaf's own number below it, in one `u64`; the smallest key is at
//! the root. So the order of events and the breaking of ties are one comparison, and replacing the key of a leaf costs a
//! minimum per level, without a branch that depends on the data.

use cellrate_proto::Time;

/// The next event of every leaf.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// `keys[1]` is the root, `keys[leaves + i]` leaf i, `keys[n]` the smaller of `keys[2n]` and `keys[2n + 1]`.
    keys: Vec<u64>,
    leaves: usize,
    leaf_bits: u32,
}

const NEVER: u64 = u64::MAX;

impl Schedule {
    /// A schedule of at least `count` leaves, none of which has an event.
    pub fn new(count: usize) -> Schedule {
        let leaves = count.max(2).next_power_of_two();
        Schedule { keys: vec![NEVER; 2 * leaves], leaves, leaf_bits: leaves.trailing_zeros() }
    }

    /// The latest instant that a key can hold, and with it the longest run.
    pub fn last_instant(count: usize) -> Time {
        let leaf_bits = count.max(2).next_power_of_two().trailing_zeros();
        Time::from_ps((NEVER >> leaf_bits) - 1)
    }

    /// The next event of `leaf` is at `time`; [`Time::NEVER`], or anything later than [`Schedule::last_instant`], is
    /// no event.
    #[inline]
    pub fn set(&mut self, leaf: usize, time: Time) {
        let ps = time.as_ps();
        let key = if ps >> (64 - self.leaf_bits) == 0 { ps << self.leaf_bits | leaf as u64 } else { NEVER };
        let mut node = self.leaves + leaf;
        self.keys[node] = key;
        while node > 1 {
            node >>= 1;
            self.keys[node] = self.keys[2 * node].min(self.keys[2 * node + 1]);
        }
    }

    /// The first event of all: its time and its leaf.
    #[inline]
    pub fn first(&self) -> (Time, usize) {
        let key = self.keys[1];
        (Time::from_ps(key >> self.leaf_bits), (key & (self.leaves as u64 - 1)) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_event_is_the_least_by_time_and_then_by_leaf(
            count in 1_usize..40,
            sets in proptest::collection::vec((0_usize..40, 0_u64..50), 1..200),
        ) {
            let mut schedule = Schedule::new(count);
            let mut naive = vec![None; count];
            for (leaf, time) in sets {
                let leaf = leaf % count;
                let time = if time == 0 { Time::NEVER } else { Time::from_ps(time) };
                schedule.set(leaf, time);
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
