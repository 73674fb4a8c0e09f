//! The merge before a deferred port: the next cell of each way in, by key, and the first of all at hand.
//!
//! Where there are few ways in, the keys stand in order. The way in that gave the first cell nearly always has its next
//! one after all others, because those have not had theirs since, so that it goes to the far end at the cost of one
//! comparison that a processor foresees; and what comes first next is known before that. Where there are many, a
//! [`Tournament`] bounds the cost for any rates.

use std::hint::select_unpredictable;

use cellrate_engine::tournament::{NEVER, Tournament};

use crate::kernel::leaf::Leaf;

/// Most ways in whose keys are kept in order: sources, which most often share a line fairly,
pub(crate) const FEW: usize = 64;

/// and others.
const FEW_OTHERS: usize = 16;

/// Most places of a [`Block`].
const BLOCK: usize = 16;

/// The least key of each way in to a port, and the least of all.
#[derive(Clone, Debug)]
pub(crate) struct Merge {
    first: u64,
    /// `None` where there is no more than one way in, as at nearly all ports of a large network: its key is what is
    /// first.
    keys: Option<Box<Keys>>,
}

#[derive(Clone, Debug)]
enum Keys {
    Few(Box<Few>),
    Block(Box<Block>),
    Many(Box<Many>),
}

#[derive(Clone, Debug)]
struct Many {
    tree: Tournament,
    /// The ways in, by place, where that is asked for.
    ways: Box<[Leaf]>,
    /// With [sorting](crate::kernel::deferred::sorted).
    patience: Patience,
}

/// Occasions on which to try what may fail: the more often it failed in a row, the fewer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Patience {
    /// Failures in a row, up to a limit.
    failures: u8,
    /// Occasions that are still to be passed over.
    pause: u8,
}

/// Most failures in a row that are counted: then every 32nd occasion is tried.
const MOST_FAILURES: u8 = 5;

impl Patience {
    /// Whether to try, on this occasion.
    pub fn is_promising(&mut self) -> bool {
        let is_promising = self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        is_promising
    }

    /// Notes whether the try brought something.
    pub fn note(&mut self, good: bool) {
        self.failures = if good { 0 } else { MOST_FAILURES.min(self.failures + 1) };
        self.pause = (1 << self.failures) - 1;
    }
}

/// A merge during a run of cells: keys that change at the front only.
pub(crate) trait Front {
    /// The least key.
    fn first(&self) -> u64;
    /// The way in whose cell it is: one of `leaves`, the one of this number.
    #[inline(always)]
    fn way(&self, leaf: usize, leaves: &[Leaf]) -> Leaf {
        leaves[leaf]
    }
    /// The key of the way in at `place`, which had the least one, is `key` from now on, which is greater.
    fn replace_first(&mut self, place: usize, key: u64);
}

/// Steps of a merge, whatever its kind.
pub(crate) trait Along {
    /// Result of the merge.
    type Outcome;
    /// Runs along `front`.
    fn along<F: Front>(self, front: &mut F) -> Self::Outcome;
}

impl Merge {
    /// Makes a merge before no port at all.
    pub fn none() -> Merge {
        Merge { first: NEVER, keys: None }
    }

    /// Makes a merge of these ways in, none of which has a cell. No two have the same key.
    pub fn new(ways: &[Leaf]) -> Merge {
        let only_sources = ways.iter().all(|way| matches!(way, Leaf::Feed(_)));
        let few = if only_sources { FEW } else { FEW_OTHERS };
        let keys = match ways.len() {
            0 | 1 => return Merge::none(),
            count if count <= few => Keys::Few(Box::new(Few::new(ways))),
            count => Keys::Many(Box::new(Many {
                tree: Tournament::new(count),
                ways: ways.into(),
                patience: Patience::default(),
            })),
        };
        Merge { first: NEVER, keys: Some(Box::new(keys)) }
    }

    /// A merge of ways in whose rates are far apart, so that the next cell of the first one comes anywhere among the
    /// others.
    pub fn tree(count: usize) -> Merge {
        let keys = match count {
            2..=BLOCK => Keys::Block(Box::new(Block { keys: [NEVER; 2 * BLOCK] })),
            _ => Keys::Many(Box::new(Many {
                tree: Tournament::new(count),
                ways: Box::default(),
                patience: Patience::default(),
            })),
        };
        Merge { first: NEVER, keys: Some(Box::new(keys)) }
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
            None => self.first = key,
            Some(_) => self.set_among(place, key),
        }
    }

    fn set_among(&mut self, place: usize, key: u64) {
        let Some(keys) = self.keys.as_deref_mut() else { return self.first = key };
        self.first = match keys {
            Keys::Few(few) => {
                few.set(place, key);
                few.first()
            }
            Keys::Block(block) => {
                block.set(place, key);
                block.first()
            }
            Keys::Many(many) => {
                let tree = &mut many.tree;
                if tree.key(place) != key {
                    tree.set(place, key);
                }
                tree.first()
            }
        };
    }

    /// The ways in, by place; none if there are few.
    pub fn ways(&self) -> &[Leaf] {
        match self.keys.as_deref() {
            Some(Keys::Many(many)) => &many.ways,
            _ => &[],
        }
    }

    /// How often to try to deal with very many cells at once, if there are many ways in.
    pub fn patience(&mut self) -> Option<&mut Patience> {
        match self.keys.as_deref_mut() {
            Some(Keys::Many(many)) => Some(&mut many.patience),
            _ => None,
        }
    }

    /// The key of `place`, if there are many.
    pub fn key(&self, place: usize) -> u64 {
        match self.keys.as_deref() {
            Some(Keys::Many(many)) => many.tree.key(place),
            _ => NEVER,
        }
    }

    /// The keys in order, if that is how they stand.
    pub fn in_order(&mut self) -> Option<InOrder<'_>> {
        match self.keys.as_deref_mut() {
            Some(Keys::Few(few)) => Some(InOrder { few, first: &mut self.first }),
            _ => None,
        }
    }

    /// Has `run` take cells from the front.
    #[inline(always)]
    pub fn run<A: Along>(&mut self, run: A) -> A::Outcome {
        let Some(keys) = self.keys.as_deref_mut() else { return run.along(&mut Only(&mut self.first)) };
        match keys {
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
            Keys::Many(many) => {
                let outcome = run.along(&mut many.tree);
                self.first = many.tree.first();
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
    keys: [u64; 2 * BLOCK],
}

impl Block {
    #[inline(always)]
    fn set(&mut self, place: usize, key: u64) {
        let (mut node, mut key) = (BLOCK + place % BLOCK, key);
        for _ in 0..BLOCK.trailing_zeros() {
            self.keys[node % (2 * BLOCK)] = key;
            let sibling = self.keys[(node ^ 1) % (2 * BLOCK)];
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

/// Keys in order, those that are none last, from `first` on round a circle of as many as there are ways in. What has
/// its next cell after all others stays where it is.
#[derive(Clone, Debug)]
struct Few {
    keys: [u64; FEW],
    /// Whose keys these are.
    ways: [Leaf; FEW],
    places: [u8; FEW],
    /// Position of each place's key.
    slots: [u8; FEW],
    first: u8,
    count: u8,
    /// With [turns](crate::kernel::deferred::turns), which are looked for in vain where rates differ.
    patience: Patience,
}

/// The keys of a few ways in, in order.
pub(crate) struct InOrder<'a> {
    few: &'a mut Few,
    first: &'a mut u64,
}

impl InOrder<'_> {
    /// The ways in, in no order.
    pub fn ways(&self) -> &[Leaf] {
        &self.few.ways[..self.count()]
    }

    /// How many ways in there are, those without cells among them.
    pub fn count(&self) -> usize {
        usize::from(self.few.count)
    }

    /// Whether to look for [turns](crate::kernel::deferred::turns).
    pub fn is_promising(&mut self) -> bool {
        self.few.patience.is_promising()
    }

    /// Notes that there were none, or too few, which took time to find out.
    pub fn note_failure(&mut self) {
        self.few.patience.note(false);
    }

    #[inline(always)]
    fn slot(&self, index: usize) -> usize {
        let slot = usize::from(self.few.first) + index;
        (if slot >= self.count() { slot - self.count() } else { slot }) % FEW
    }

    /// The key that is `index` behind the least one, and whose it is.
    #[inline(always)]
    pub fn get(&self, index: usize) -> (u64, Leaf) {
        let slot = self.slot(index);
        (self.few.keys[slot], self.few.ways[slot])
    }

    /// The first `members` keys go up `rounds` times by `step`, and the first `more` of them once more: the order is
    /// what it was, only that these come last then. They can where all are members.
    pub fn advance(self, members: usize, rounds: u64, more: usize, step: u64) {
        debug_assert!(more == 0 || members == self.count());
        self.few.patience.note(true);
        for index in 0..members {
            let slot = self.slot(index);
            self.few.keys[slot] += step * (rounds + u64::from(index < more));
        }
        self.few.first = self.slot(more) as u8;
        *self.first = self.few.first();
    }
}

impl Few {
    fn new(ways_in: &[Leaf]) -> Few {
        let mut ways = [Leaf::Sample; FEW];
        ways[..ways_in.len()].copy_from_slice(ways_in);
        let places = std::array::from_fn(|place| place as u8);
        Few {
            keys: [NEVER; FEW],
            ways,
            places,
            slots: places,
            first: 0,
            count: ways_in.len() as u8,
            patience: Patience::default(),
        }
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

    /// The key of the way in that had the first one becomes `key`, which is not the last one. Others make room: those
    /// before it, or those after it, which go round by one into the place of the first. Returns where the first one is
    /// then, and the last one, which was `last`.
    #[inline(never)]
    fn insert(&mut self, first: usize, key: u64, last: u64) -> (usize, u64) {
        let first = first % FEW;
        let (way, place) = (self.ways[first], self.places[first]);
        let half = first + usize::from(self.count) / 2;
        let half = if half >= usize::from(self.count) { half - usize::from(self.count) } else { half };
        let mut free = first;
        if key < self.keys[half % FEW] {
            // Where most sources are silent, those that are not take turns near the front.
            loop {
                let next = self.behind(free);
                if self.keys[next] >= key {
                    break;
                }
                self.shift(next, free);
                free = next;
            }
            self.put(free, key, way, place);
            return (first, last);
        }
        let mut new_last = None;
        loop {
            let before = (if free == 0 { usize::from(self.count) } else { free } - 1) % FEW;
            if before == first || self.keys[before] <= key {
                break;
            }
            new_last.get_or_insert(self.keys[before]);
            self.shift(before, free);
            free = before;
        }
        self.put(free, key, way, place);
        (self.behind(first), new_last.unwrap_or(key))
    }

    #[inline(always)]
    fn behind(&self, slot: usize) -> usize {
        let next = slot + 1;
        (if next >= usize::from(self.count) { 0 } else { next }) % FEW
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
            self.first = self.few.behind(self.first);
        } else {
            (self.first, self.last) = self.few.insert(self.first, key, self.last);
        }
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
            count in 1_usize..80,
            by_tree: bool,
            of_sources: bool,
            steps in proptest::collection::vec((0_usize..80, 0_u64..100, any::<bool>()), 1..300),
        ) {
            const LEAF_BITS: u32 = 8;
            let way = if of_sources { Leaf::Feed(0) } else { Leaf::Lane(0) };
            let mut merge = if by_tree { Merge::tree(count) } else { Merge::new(&vec![way; count]) };
            let mut keys = vec![NEVER; count];
            let key = |place: usize, time: u64| {
                // Leaves that are not in the order of the places.
                if time == 0 { NEVER } else { time << LEAF_BITS | (200 - 2 * place as u64) }
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

        #[test]
        fn keys_in_order_go_up_together_and_the_first_come_last(
            count in 2_usize..=FEW,
            turns in proptest::collection::vec((0_usize..FEW, 1_u64..5, any::<bool>()), 1..20),
        ) {
            let mut merge = Merge::new(&vec![Leaf::Feed(0); count]);
            // Places in another order than their keys.
            let mut keys: Vec<u64> = (0..count).map(|place| 10 * ((place * 7 + 3) % count) as u64 + place as u64).collect();
            (0..count).for_each(|place| merge.set(place, keys[place]));
            for (some, rounds, is_all) in turns {
                let step = 10 * count as u64 + 200;
                let mut order: Vec<usize> = (0..count).collect();
                order.sort_unstable_by_key(|&place| keys[place]);
                // One more cell of some, or whole rounds of some that stay before the others.
                let (members, more, step) = match is_all {
                    true => (count, some % count, step),
                    false => (1 + some % (count - 1), 0, 0),
                };
                for (index, &place) in order[..members].iter().enumerate() {
                    keys[place] += step * (rounds + u64::from(index < more));
                }
                let Some(in_order) = merge.in_order() else { unreachable!("there are few") };
                in_order.advance(members, rounds, more, step);
                let mut sorted = keys.clone();
                sorted.sort_unstable();
                prop_assert_eq!(merge.first(), sorted[0]);
                let Some(in_order) = merge.in_order() else { unreachable!("there are few") };
                prop_assert!((0..count).all(|index| in_order.get(index).0 == sorted[index]));
            }
        }
    }
}
