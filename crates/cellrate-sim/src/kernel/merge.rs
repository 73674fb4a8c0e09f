//! The merge before a deferred port: the next cell of each way in, by key, and the first of all at hand.
//!
//! Where there are few ways in, the keys stand in order. The way in that gave the first cell nearly always has its next
//! one after all others, because those have not had theirs since, so that it goes to the far end at the cost of one
//! comparison that a processor foresees; and what comes first next is known before that. Where there are many, a
//! [`Tournament`] bounds the cost for any rates.

use std::hint::select_unpredictable;

use cellrate_drive::tournament::{NEVER, Tournament};

use super::cluster::Leaf;

/// Most ways in whose keys are kept in order.
const FEW: usize = 16;

/// The least key of each way in to a port, and the least of all.
#[derive(Clone, Debug)]
pub(crate) struct Merge {
    first: u64,
    keys: Keys,
}

#[derive(Clone, Debug)]
enum Keys {
    /// Of no more than one way in: what is first.
    One,
    Few(Box<Few>),
    Block(Box<Block>),
    Many(Tournament),
}

/// A merge during a run of cells: keys that change at the front only.
pub(crate) trait Front {
    /// The least key.
    fn first(&self) -> u64;
    /// Whose it is: one of `leaves`, the one of this number.
    #[inline(always)]
    fn way(&self, leaf: usize, leaves: &[Leaf]) -> Leaf {
        leaves[leaf]
    }
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
        Merge { first: NEVER, keys: Keys::One }
    }

    /// Of these ways in, none of which has a cell. No two have the same key.
    pub fn new(ways: &[Leaf]) -> Merge {
        let keys = match ways.len() {
            0 | 1 => Keys::One,
            2..=FEW => Keys::Few(Box::new(Few::new(ways))),
            count => Keys::Many(Tournament::new(count)),
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
    #[inline(always)]
    pub fn set(&mut self, place: usize, key: u64) {
        match self.keys {
            Keys::One => self.first = key,
            _ => self.set_among(place, key),
        }
    }

    fn set_among(&mut self, place: usize, key: u64) {
        self.first = match &mut self.keys {
            Keys::One => key,
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
            Keys::One => run.along(&mut Only(&mut self.first)),
            Keys::Few(few) => {
                let mut front = few.in_front();
                let outcome = run.along(&mut front);
                let first = front.first as u8;
                few.first = first;
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

/// The key of the only way in.
struct Only<'a>(&'a mut u64);

impl Front for Only<'_> {
    #[inline(always)]
    fn first(&self) -> u64 {
        *self.0
    }

    #[inline(always)]
    fn replace_first(&mut self, _place: usize, key: u64) {
        *self.0 = key;
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

/// Keys in order, those that are none last, from `first` on round a circle of as many as there are ways in. What has its next
/// cell after all others stays where it is.
#[derive(Clone, Debug)]
struct Few {
    keys: [u64; FEW],
    /// Whose keys these are.
    ways: [Leaf; FEW],
    places: [u8; FEW],
    /// Where the key of each place is.
    slots: [u8; FEW],
    first: u8,
    count: u8,
}

impl Few {
    fn new(ways_in: &[Leaf]) -> Few {
        let mut ways = [Leaf::Sample; FEW];
        ways[..ways_in.len()].copy_from_slice(ways_in);
        let places = std::array::from_fn(|place| place as u8);
        Few { keys: [NEVER; FEW], ways, places, slots: places, first: 0, count: ways_in.len() as u8 }
    }

    /// The least key.
    fn first(&self) -> u64 {
        self.keys[usize::from(self.first) % FEW]
    }

    fn set(&mut self, place: usize, key: u64) {
        let (count, first) = (usize::from(self.count), usize::from(self.first));
        let mut at = usize::from(self.slots[place % FEW]);
        let before = self.keys[at % FEW];
        if before == key {
            return;
        }
        if at == first && key > before {
            let mut front = self.in_front();
            front.replace_first(place, key);
            let first = front.first as u8;
            self.first = first;
            return;
        }
        let way = self.ways[at % FEW];
        let last = if first == 0 { count - 1 } else { first - 1 };
        while at != last {
            let next = if at + 1 == count { 0 } else { at + 1 };
            if self.keys[next % FEW] >= key {
                break;
            }
            self.shift(next, at);
            at = next;
        }
        while at != first {
            let next = if at == 0 { count - 1 } else { at - 1 };
            if self.keys[next % FEW] <= key {
                break;
            }
            self.shift(next, at);
            at = next;
        }
        self.put(at, key, way, place as u8);
    }

    #[inline(always)]
    fn shift(&mut self, from: usize, to: usize) {
        let from = from % FEW;
        self.put(to, self.keys[from], self.ways[from], self.places[from]);
    }

    #[inline(always)]
    fn put(&mut self, slot: usize, key: u64, way: Leaf, place: u8) {
        let slot = slot % FEW;
        self.keys[slot] = key;
        self.ways[slot] = way;
        self.places[slot] = place;
        self.slots[usize::from(place) % FEW] = slot as u8;
    }

    fn in_front(&mut self) -> InFront<'_> {
        let (first, count) = (usize::from(self.first), usize::from(self.count));
        let last = self.keys[(if first == 0 { count } else { first } - 1) % FEW];
        InFront { first, last, few: self }
    }

    /// The key of the way in that had the first one becomes `key`, which is not the last one: those after it go round by one,
    /// into the place of the first. Returns the last one.
    #[inline(never)]
    fn insert(&mut self, first: usize, key: u64) -> u64 {
        let mut free = first % FEW;
        let (way, place) = (self.ways[free], self.places[free]);
        let mut last = None;
        loop {
            let before = (if free == 0 { usize::from(self.count) } else { free } - 1) % FEW;
            if before == first || self.keys[before] <= key {
                break;
            }
            last.get_or_insert(self.keys[before]);
            self.shift(before, free);
            free = before;
        }
        self.put(free, key, way, place);
        last.unwrap_or(key)
    }
}

/// [`Few`] during a run: where the first key is, and the last key, need no place in memory.
struct InFront<'a> {
    first: usize,
    last: u64,
    few: &'a mut Few,
}

impl Front for InFront<'_> {
    #[inline(always)]
    fn first(&self) -> u64 {
        self.few.keys[self.first % FEW]
    }

    #[inline(always)]
    fn way(&self, _leaf: usize, _leaves: &[Leaf]) -> Leaf {
        self.few.ways[self.first % FEW]
    }

    #[inline(always)]
    fn replace_first(&mut self, _place: usize, key: u64) {
        if key > self.last {
            self.few.keys[self.first % FEW] = key;
            self.last = key;
        } else {
            self.last = self.few.insert(self.first, key);
        }
        let next = self.first + 1;
        self.first = if next == usize::from(self.few.count) { 0 } else { next };
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
            by_tree: bool,
            steps in proptest::collection::vec((0_usize..40, 0_u64..100, any::<bool>()), 1..300),
        ) {
            const LEAF_BITS: u32 = 7;
            let mut merge = if by_tree { Merge::tree(count) } else { Merge::new(&vec![Leaf::Sample; count]) };
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
