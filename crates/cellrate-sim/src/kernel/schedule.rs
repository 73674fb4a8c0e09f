//! The scheduler: a winner tree over a fixed set of leaves, one per thing that can happen next.
//!
//! A leaf's key is the time of its next event with the leaf's own number below it, in one `u64`; the smallest key is at
//! the root. So the order of events and the breaking of ties are one comparison. Replacing a key compares it, level by
//! level, with the key of the sibling: the siblings' places depend on the leaf alone, so they are all loaded at once and
//! the chain from leaf to root is one minimum per level, without a branch that depends on the data.

use cellrate_proto::Time;

const NEVER: u64 = u64::MAX;

/// The next event of every leaf.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The keys of the two children of each node; node n has the children 2n and 2n + 1, the root is node 1, and the
    /// leaves follow the last node.
    children: Vec<[u64; 2]>,
    first: u64,
    leaf_bits: u32,
}

impl Schedule {
    /// A schedule of `count` leaves, none of which has an event.
    pub fn new(count: usize) -> Schedule {
        let leaf_bits = leaf_bits(count);
        Schedule { children: vec![[NEVER; 2]; 1 << leaf_bits], first: NEVER, leaf_bits }
    }

    /// The latest instant that a key of a schedule of `count` leaves can hold, and with it the longest run.
    pub fn last_instant(count: usize) -> Time {
        Time::from_ps((NEVER >> leaf_bits(count)) - 1)
    }

    /// The next event of `leaf` is at `time`; [`Time::NEVER`], or anything later than [`Schedule::last_instant`], is
    /// no event.
    #[inline]
    pub fn set(&mut self, leaf: usize, time: Time) {
        let ps = time.as_ps();
        let fits = ps >> (u64::BITS - self.leaf_bits) == 0;
        let mut key = if fits { ps << self.leaf_bits | leaf as u64 } else { NEVER };
        let mut node = self.children.len() + leaf;
        while node > 1 {
            let pair = &mut self.children[node >> 1];
            pair[node & 1] = key;
            key = key.min(pair[(node & 1) ^ 1]);
            node >>= 1;
        }
        self.first = key;
    }

    /// The first event of all: its time and its leaf. Without any, the time is later than every event.
    #[inline]
    pub fn first(&self) -> (Time, usize) {
        let leaf = self.first & ((1 << self.leaf_bits) - 1);
        (Time::from_ps(self.first >> self.leaf_bits), leaf as usize)
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
