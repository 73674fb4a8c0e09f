//! The merge before a deferred port: the next cell of each way in, by key, and the first of all at hand.
//!
//! Where there are few ways in, the keys stand in order. The way in that gave the first cell nearly always has its next
//! one after all others, because those have not had theirs since, so that it goes to the far end at the cost of one
//! comparison that a processor foresees; and what comes first next is known before that. Where there are many, a
//! [`Tournament`] bounds the cost for any rates.

use std::hint::select_unpredictable;

use cellrate_drive::tournament::{NEVER, Tournament};

/// Most ways in whose keys are kept in order.
const FEW: usize = 16;

/// One place for every key and one for the key that left last, which is less than all others: a power of two above.
const RING: usize = 2 * FEW;

/// The least key of each way in to a port, and the least of all.
#[derive(Clone, Debug)]
pub(crate) struct Merge {
    first: u64,
    keys: Keys,
}

#[derive(Clone, Debug)]
enum Keys {
    Few(Box<Few>),
    Block(Box<Block>),
    Many(Tournament),
}

/// A merge during a run of cells: keys that change at the front only.
pub(crate) trait Front {
    /// The least key.
    fn first(&self) -> u64;
    /// The key of the way in at `place`, which had the least one, is `key` from now on, which is greater.
    fn replace_first(&mut self, place: usize, key: u64);
}

/// What runs along a merge, whatever the kind.
pub(crate) trait Along {
    /// What comes of it.
    type Outcome;
    /// Runs along `front`.
    fn along<F: Front>(self, front: &mut F) -> Self::Outcome;
}

impl Merge {
    /// Before no port at all.
    pub fn none() -> Merge {
        Merge { first: NEVER, keys: Keys::Many(Tournament::new(0)) }
    }

    /// Of `count` ways in, none of which has a cell. No two have the same key.
    pub fn new(count: usize) -> Merge {
        let keys = match count {
            2..=FEW => Keys::Few(Box::new(Few::new(count))),
            _ => Keys::Many(Tournament::new(count)),
        };
        Merge { first: NEVER, keys }
    }

    /// Of ways in whose rates are far apart, so that the next cell of the first one comes anywhere among the others.
    pub fn tree(count: usize) -> Merge {
        let keys = match count {
            2..=FEW => Keys::Block(Box::new(Block { keys: [NEVER; 2 * FEW] })),
            _ => Keys::Many(Tournament::new(count)),
        };
        Merge { first: NEVER, keys }
    }

    /// The least key of all.
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The key of `place` is `key` from now on.
    pub fn set(&mut self, place: usize, key: u64) {
        self.first = match &mut self.keys {
            Keys::Few(few) => {
                few.set(place, key);
                few.first()
            }
            Keys::Block(block) => {
                block.set(place, key);
                block.first()
            }
            Keys::Many(tree) => {
                if tree.key(place) != key {
                    tree.set(place, key);
                }
                tree.first()
            }
        };
    }

    /// Has `run` take cells from the front.
    #[inline(always)]
    pub fn run<A: Along>(&mut self, run: A) -> A::Outcome {
        match &mut self.keys {
            Keys::Few(few) => {
                let outcome = run.along(&mut **few);
                self.first = few.first();
                outcome
            }
            Keys::Block(block) => {
                let outcome = run.along(&mut **block);
                self.first = block.first();
                outcome
            }
            Keys::Many(tree) => {
                let outcome = run.along(tree);
                self.first = tree.first();
                outcome
            }
        }
    }
}

/// A [`Tournament`] of sixteen places.
#[derive(Clone, Debug)]
struct Block {
    /// Node n has the children 2n and 2n + 1, node 1 is the root, and the places are the nodes from 16 on.
    keys: [u64; 2 * FEW],
}

impl Block {
    #[inline(always)]
    fn set(&mut self, place: usize, key: u64) {
        let (mut node, mut key) = (FEW + place % FEW, key);
        for _ in 0..FEW.trailing_zeros() {
            self.keys[node % (2 * FEW)] = key;
            let sibling = self.keys[(node ^ 1) % (2 * FEW)];
            // Which one is less is a coin toss: no branch.
            key = select_unpredictable(sibling < key, sibling, key);
            node /= 2;
        }
        self.keys[1] = key;
    }
}

impl Front for Block {
    #[inline(always)]
    fn first(&self) -> u64 {
        self.keys[1]
    }

    #[inline(always)]
    fn replace_first(&mut self, place: usize, key: u64) {
        self.set(place, key);
    }
}

impl Front for Tournament {
    #[inline(always)]
    fn first(&self) -> u64 {
        Tournament::first(self)
    }

    #[inline(always)]
    fn replace_first(&mut self, place: usize, key: u64) {
        self.set(place, key);
    }
}

/// Keys in order, those that are none last: as many as there are ways in, from `head` on, round a ring.
#[derive(Clone, Debug)]
struct Few {
    ring: [u64; RING],
    head: usize,
    count: usize,
    /// The key of each place.
    held: [u64; FEW],
}

impl Few {
    fn new(count: usize) -> Few {
        Few { ring: [NEVER; RING], head: 0, count, held: [NEVER; FEW] }
    }

    fn set(&mut self, place: usize, key: u64) {
        let before = std::mem::replace(&mut self.held[place % FEW], key);
        if before == key {
            return;
        }
        let (head, last) = (self.head, self.head + self.count - 1);
        // A way in without a cell has the key that all such have, and the last place holds one.
        let mut at = last;
        if before != NEVER {
            at = head;
            while self.ring[at % RING] != before {
                at += 1;
            }
        }
        while at < last && self.ring[(at + 1) % RING] < key {
            self.ring[at % RING] = self.ring[(at + 1) % RING];
            at += 1;
        }
        while at > head && self.ring[(at - 1) % RING] > key {
            self.ring[at % RING] = self.ring[(at - 1) % RING];
            at -= 1;
        }
        self.ring[at % RING] = key;
    }
}

impl Front for Few {
    #[inline(always)]
    fn first(&self) -> u64 {
        self.ring[self.head % RING]
    }

    #[inline(always)]
    fn replace_first(&mut self, place: usize, key: u64) {
        self.held[place % FEW] = key;
        // What was the first stays where it was, and ends the search: it is less than `key`.
        let mut free = self.head + self.count;
        self.head = (self.head + 1) % RING;
        while self.ring[(free - 1) % RING] > key {
            self.ring[free % RING] = self.ring[(free - 1) % RING];
            free -= 1;
        }
        self.ring[free % RING] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Later(usize, u64);

    impl Along for Later {
        type Outcome = u64;
        fn along<F: Front>(self, front: &mut F) -> u64 {
            let first = front.first();
            front.replace_first(self.0, self.1);
            first
        }
    }

    proptest! {
        #[test]
        fn the_first_is_the_least(
            count in 1_usize..40,
            steps in proptest::collection::vec((0_usize..40, 0_u64..100, any::<bool>()), 1..300),
        ) {
            const LEAF_BITS: u32 = 7;
            let mut merge = Merge::new(count);
            let mut keys = vec![NEVER; count];
            let key = |place: usize, time: u64| {
                // Leaves that are not in the order of the places.
                if time == 0 { NEVER } else { time << LEAF_BITS | (100 - 2 * place as u64) }
            };
            for (place, time, anywhere) in steps {
                let first = (0..count).min_by_key(|&place| keys[place]).unwrap();
                if anywhere || keys[first] == NEVER {
                    let place = place % count;
                    keys[place] = key(place, time);
                    merge.set(place, keys[place]);
                } else {
                    let later = if time == 0 { NEVER } else { keys[first] + (time << LEAF_BITS) };
                    prop_assert_eq!(merge.run(Later(first, later)), keys[first]);
                    keys[first] = later;
                }
                prop_assert_eq!(merge.first(), keys.iter().copied().min().unwrap());
            }
        }
    }
}
