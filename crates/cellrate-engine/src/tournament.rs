//! A winner tree over a fixed number of places: the least key is always at hand, and replacing one key costs a
//! comparison per level.
//!
//! The siblings on the way from a place to the root depend on the place alone, so they are all loaded at once, and the
//! chain is one minimum per level, without a branch that depends on the data. Trees of sixteen places are blocks of a
//! fixed size, so that no index needs a check; the least keys of sixteen blocks are the places of a block above them. A
//! single place needs no tree.

use std::hint::select_unpredictable;

/// No key at all: greater than every other.
pub const NEVER: u64 = u64::MAX;

const PLACE_BITS: u32 = 4;
const PLACES: usize = 1 << PLACE_BITS;

/// Sixteen places: node n has the children 2n and 2n + 1, node 1 is the root, and the places are the nodes from 16 on.
type Block = [u64; 2 * PLACES];

/// Keys by place, and the least of them.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// The blocks with the places, then the blocks above them, and so on up to one. Empty where there is one place
    /// only.
    blocks: Box<[Block]>,
    /// Number of blocks with places.
    lowest: u32,
    first: u64,
}

/// The key of `place` in `block` is `key` from now on; the least of the block.
#[inline(always)]
fn climb(block: &mut Block, place: usize, key: u64) -> u64 {
    let mut node = PLACES + (place & (PLACES - 1));
    let mut key = key;
    for _ in 0..PLACE_BITS {
        block[node] = key;
        let sibling = block[node ^ 1];
        // Which one is less is a coin toss: no branch.
        key = select_unpredictable(sibling < key, sibling, key);
        node >>= 1;
    }
    block[1] = key;
    key
}

impl Tournament {
    /// A tree of `count` places without keys.
    pub fn new(count: usize) -> Tournament {
        let lowest = if count <= 1 { 0 } else { count.div_ceil(PLACES) };
        let (mut blocks, mut level) = (lowest, lowest);
        while level > 1 {
            level = level.div_ceil(PLACES);
            blocks += level;
        }
        Tournament {
            blocks: vec![[NEVER; 2 * PLACES]; blocks].into(),
            lowest: u32::try_from(lowest).expect("fewer than 2^32 places"),
            first: NEVER,
        }
    }

    /// The key of `place` is `key` from now on.
    #[inline]
    pub fn set(&mut self, place: usize, key: u64) {
        let (mut key, mut place) = (key, place);
        let (mut base, mut level) = (0, self.lowest as usize);
        if level > 0 {
            loop {
                let block = &mut self.blocks[base + (place >> PLACE_BITS)];
                let before = block[1];
                key = climb(block, place, key);
                if level == 1 {
                    break;
                }
                if key == before {
                    return;
                }
                place >>= PLACE_BITS;
                base += level;
                level = level.div_ceil(PLACES);
            }
        }
        self.first = key;
    }

    /// Sets a key in place, for a loop that does little else, at best with sixteen places or fewer.
    #[inline(always)]
    pub fn set_in_place(&mut self, place: usize, key: u64) {
        match &mut *self.blocks {
            [block] => self.first = climb(block, place, key),
            _ => self.set(place, key),
        }
    }

    /// The key of `place`.
    #[inline]
    pub fn key(&self, place: usize) -> u64 {
        match self.blocks.get(place >> PLACE_BITS) {
            Some(block) => block[PLACES + (place & (PLACES - 1))],
            None => self.first,
        }
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
            let mut tree = Tournament::new(count);
            let mut keys = vec![NEVER; count];
            for (place, key) in sets {
                let (place, key) = (place % count, if key == 0 { NEVER } else { key });
                if key % 2 == 0 { tree.set(place, key) } else { tree.set_in_place(place, key) }
                keys[place] = key;
                prop_assert_eq!(tree.key(place), key);
                prop_assert_eq!(tree.first(), keys.iter().copied().min().unwrap_or(NEVER));
            }
        }
    }
}
