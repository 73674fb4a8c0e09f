//! The least of many keys, of which few change at a time and most to be far from the least.
//!
//! Keys stand in groups of eight, the least ones of the groups in groups of eight again, and so on up to one group. A
//! key that was not the least of its group and does not become it changes nothing else. Where it was, the group is
//! looked through, without a branch.

use crate::tournament::NEVER;

const GROUP_BITS: u32 = 3;
const GROUP: usize = 1 << GROUP_BITS;

/// Keys by place, and the least of them.
#[derive(Clone, Debug)]
pub struct Minima {
    /// Groups of keys, then groups of the least keys of each, and so on up to one group; two levels at least.
    groups: Box<[[u64; GROUP]]>,
    /// Number of groups with keys.
    lowest: u32,
    first: u64,
}

#[inline(always)]
fn least(group: &[u64; GROUP]) -> u64 {
    let [a, b, c, d, e, f, g, h] = *group;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

impl Minima {
    /// A tree over `count` places, none of which has a key.
    pub fn new(count: usize) -> Minima {
        let lowest = count.div_ceil(GROUP).max(1);
        let (mut groups, mut level) = (lowest, lowest);
        loop {
            level = level.div_ceil(GROUP);
            groups += level;
            if level == 1 {
                break;
            }
        }
        let lowest = u32::try_from(lowest).expect("fewer than 2^32 places");
        Minima { groups: vec![[NEVER; GROUP]; groups].into(), lowest, first: NEVER }
    }

    /// The key of `place` is `key` from now on.
    #[inline]
    pub fn set(&mut self, place: usize, key: u64) {
        let (mut place, mut key) = (place, key);
        let (mut groups, mut level) = (&mut self.groups[..], self.lowest as usize);
        // Most often there are two levels only.
        while groups.len() > GROUP + 1 {
            let (these, above) = groups.split_at_mut(level);
            let group = &mut these[place >> GROUP_BITS];
            let before = std::mem::replace(&mut group[place % GROUP], key);
            place >>= GROUP_BITS;
            let known = above[place >> GROUP_BITS][place % GROUP];
            if key >= known {
                if before != known {
                    return;
                }
                key = least(group);
            }
            groups = above;
            level = level.div_ceil(GROUP);
        }
        let [groups @ .., top] = groups else { return };
        let above = place >> GROUP_BITS;
        let group = &mut groups[above];
        let before = std::mem::replace(&mut group[place % GROUP], key);
        let known = &mut top[above % GROUP];
        if key < *known {
            *known = key;
            self.first = self.first.min(key);
        } else if before == *known {
            *known = least(group);
            self.first = least(top);
        }
    }

    /// The key of `place`.
    #[inline]
    pub fn key(&self, place: usize) -> u64 {
        self.groups[place >> GROUP_BITS][place % GROUP]
    }

    /// The least key of all.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_least(
            count in 1_usize..600,
            sets in proptest::collection::vec((0_usize..600, 0_u64..100), 1..200),
        ) {
            let mut minima = Minima::new(count);
            let mut keys = vec![NEVER; count];
            for (place, key) in sets {
                let (place, key) = (place % count, if key == 0 { NEVER } else { key });
                minima.set(place, key);
                keys[place] = key;
                prop_assert_eq!(minima.key(place), key);
                prop_assert_eq!(minima.first(), keys.iter().copied().min().unwrap_or(NEVER));
            }
        }
    }
}
