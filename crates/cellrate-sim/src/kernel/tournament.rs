//! A winner tree over a fixed number of places: the least key is always at hand, and replacing one key costs a
//! comparison per level.
//!
//! The siblings on the way from a place to the root depend on the place alone, so they are all loaded at once, and the
//! chain is one minimum per level, without a branch that depends on the data. A single place needs no tree.

/// No key at all: greater than every other.
pub const NEVER: u64 = u64::MAX;

/// Keys by place, and the least of them.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// The keys of the two children of each node; node n has the children 2n and 2n + 1, the root is node 1, and the
    /// places follow the last node. Empty where there is one place only.
    children: Box<[[u64; 2]]>,
    first: u64,
}

impl Tournament {
    /// A tree of `count` places without keys.
    pub fn new(count: usize) -> Tournament {
        let places = count.max(1).next_power_of_two();
        let pairs = if places == 1 { 0 } else { places };
        Tournament { children: vec![[NEVER; 2]; pairs].into(), first: NEVER }
    }

    /// The key of `place` is `key` from now on.
    #[inline]
    pub fn set(&mut self, place: usize, key: u64) {
        let mut key = key;
        let mut node = self.children.len() + place;
        while node > 1 {
            let pair = &mut self.children[node >> 1];
            pair[node & 1] = key;
            key = key.min(pair[(node & 1) ^ 1]);
            node >>= 1;
        }
        self.first = key;
    }

    /// The least key of all.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The least key of all other places.
    #[inline]
    pub fn least_but(&self, place: usize) -> u64 {
        let mut node = self.children.len() + place;
        let mut least = NEVER;
        while node > 1 {
            least = least.min(self.children[node >> 1][(node & 1) ^ 1]);
            node >>= 1;
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_least(
            count in 1_usize..40,
            sets in proptest::collection::vec((0_usize..40, 0_u64..100), 1..200),
        ) {
            let mut tree = Tournament::new(count);
            let mut keys = vec![NEVER; count];
            for (place, key) in sets {
                let (place, key) = (place % count, if key == 0 { NEVER } else { key });
                tree.set(place, key);
                keys[place] = key;
                prop_assert_eq!(tree.first(), keys.iter().copied().min().unwrap_or(NEVER));
                let others = (0..count).filter(|&other| other != place).map(|other| keys[other]);
                prop_assert_eq!(tree.least_but(place), others.min().unwrap_or(NEVER));
            }
        }
    }
}
