//! Cells on their way, packed: most follow the one before them so evenly that the time between their arrivals says all.
//!
//! Between two RM cells the data cells of a connection have numbers in order and left their source evenly. Only queues
//! have made their arrivals uneven. So a cell that follows the one before it in this way is one word of 32 bits, the time
//! from arrival to arrival; all others are a word of zero and the three words of 64 bits that a [`Cell`] is. In a network
//! of thousands of connections most memory is cells on their way, and this makes it a quarter or less.

use cellrate_proto::{Duration, Time};

use super::cell::Cell;

/// A word of zero, and the three words of 64 bits of a cell behind it.
const WHOLE: usize = 7;

/// The cell that stands as it is in these words.
#[inline]
fn whole_cell(&[_, a, b, c, d, e, f]: &[u32; WHOLE]) -> Cell {
    let whole = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    Cell::from_words([whole(a, b), whole(c, d), whole(e, f)])
}

/// Where packing or unpacking has come to.
#[derive(Clone, Copy, Debug)]
struct Trail {
    /// The last cell.
    last: Cell,
    /// From the one before it to the last one.
    spacing: Duration,
}

impl Trail {
    /// Nothing has come.
    const fn new() -> Trail {
        Trail { last: Cell::NOTHING, spacing: Duration::ZERO }
    }

    /// The cell that arrives `gap` after the last one, if it follows evenly [ps].
    #[inline(always)]
    fn next(&self, gap: u32) -> Cell {
        let arrives = self.last.arrives + Duration::from_ps(u64::from(gap));
        self.last.followed_by(self.spacing).arriving(arrives)
    }

    /// From the last cell to one that arrives then, if a word can say so.
    #[inline(always)]
    fn gap(&self, arrives: Time) -> Option<u32> {
        u32::try_from(arrives.since(self.last.arrives).as_ps()).ok().filter(|&gap| gap > 0)
    }

    /// `cell` has come, as it is.
    #[inline]
    fn whole(&mut self, cell: Cell) {
        self.spacing = cell.sent.since(self.last.sent);
        self.last = cell;
    }
}

/// Cells that leave for one lane of another cluster.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    words: Vec<u32>,
    trail: Trail,
    count: u32,
}

impl Packing {
    /// None so far.
    pub const fn new() -> Packing {
        Packing { words: Vec::new(), trail: Trail::new(), count: 0 }
    }

    /// Takes room for words from those that are `empty`.
    pub fn make_room(&mut self, empty: &mut Vec<Vec<u32>>) {
        if self.words.capacity() == 0 {
            self.words = empty.pop().unwrap_or_default();
        }
    }

    /// Puts `cell` last.
    #[inline]
    pub fn push(&mut self, cell: Cell) {
        self.count += 1;
        match self.trail.gap(cell.arrives) {
            Some(gap) if self.trail.next(gap) == cell => {
                self.words.push(gap);
                self.trail.last = cell;
            }
            _ => self.push_whole(cell),
        }
    }

    fn push_whole(&mut self, cell: Cell) {
        let halves = cell.to_words().map(|word| [word as u32, (word >> 32) as u32]);
        self.words.push(0);
        self.words.extend(halves.as_flattened());
        self.trail.whole(cell);
    }

    /// Puts data cells last that left their source one every `spacing`; the first is like `first`, and they arrive then, one
    /// after the other.
    #[inline]
    pub fn push_evenly_sent(&mut self, first: Cell, spacing: Duration, arrivals: &[Time]) {
        let mut cell = first;
        let mut rest = arrivals;
        while let [arrives, others @ ..] = rest {
            if self.push_rest(cell, spacing, rest) {
                return;
            }
            self.push(cell.arriving(*arrives));
            cell = cell.followed_by(spacing);
            rest = others;
        }
    }

    /// The same for cells of which each follows the one before it, the first of them the last one here, and where the times between
    /// arrivals are no longer than a word can say. Whether they are such.
    #[inline]
    fn push_rest(&mut self, first: Cell, spacing: Duration, arrivals: &[Time]) -> bool {
        let (Some(&head), Some(&end)) = (arrivals.first(), arrivals.last()) else { return true };
        let follows = self.trail.spacing == spacing
            && self.trail.last.followed_by(spacing).arriving(head) == first.arriving(head)
            && self.trail.last.arrives < head
            && u32::try_from(end.since(self.trail.last.arrives).as_ps()).is_ok();
        if follows {
            debug_assert!(arrivals.is_sorted_by(|before, behind| before < behind));
            let gap = |from: Time, to: Time| (to.as_ps() - from.as_ps()) as u32;
            self.words.push(gap(self.trail.last.arrives, head));
            self.words.extend(arrivals.windows(2).map(|pair| gap(pair[0], pair[1])));
            self.count += arrivals.len() as u32;
            let others = arrivals.len() as u32 - 1;
            self.trail.last = first.followed_by_others(others, Duration::ZERO, spacing).arriving(end);
        }
        follows
    }

    /// What has been put here since the last time: its words go to the end of `words`, and their room to what is `empty`. Returns
    /// how many words and cells it is.
    pub fn take(&mut self, words: &mut Vec<u32>, empty: &mut Vec<Vec<u32>>) -> (u32, u32) {
        let mut taken = std::mem::take(&mut self.words);
        words.extend_from_slice(&taken);
        let length = taken.len() as u32;
        taken.clear();
        if taken.capacity() > 0 {
            empty.push(taken);
        }
        (length, std::mem::take(&mut self.count))
    }
}

/// Cells that came from one lane of another cluster, in order: the first one as it is, the others packed.
#[derive(Clone, Debug)]
pub(crate) struct Unpacking {
    words: Vec<u32>,
    /// Words that have been read.
    read: u32,
    /// How many cells there are.
    len: u32,
    /// The last cell is the first one of those that are left, if there are any.
    trail: Trail,
}

impl Unpacking {
    /// None so far.
    pub const fn new() -> Unpacking {
        Unpacking { words: Vec::new(), read: 0, len: 0, trail: Trail::new() }
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<&Cell> {
        (self.len > 0).then_some(&self.trail.last)
    }

    /// All cells, as the first of each even run and how many that has.
    pub fn runs(&self) -> impl Iterator<Item = (Cell, u64)> {
        let mut words = &self.words[self.read as usize..];
        let mut first = self.first().copied();
        std::iter::from_fn(move || {
            let cell = first.take()?;
            let others = words.iter().position(|&word| word == 0).unwrap_or(words.len());
            words = &words[others..];
            if let Some((whole, behind)) = words.split_first_chunk() {
                first = Some(whole_cell(whole));
                words = behind;
            }
            Some((cell, 1 + others as u64))
        })
    }

    /// Puts `count` cells last, of which these are the words.
    pub fn append(&mut self, words: &[u32], count: u32) {
        if self.words.len() + words.len() > self.words.capacity() {
            self.words.drain(..self.read as usize);
            self.read = 0;
            self.words.reserve_exact(words.len());
        }
        self.words.extend_from_slice(words);
        let was_empty = self.len == 0;
        self.len += count;
        if was_empty {
            self.unpack();
        }
    }

    /// Unpacks the next cell, of which there is one.
    #[inline(always)]
    fn unpack(&mut self) {
        let words = &self.words[self.read as usize..];
        match words.first_chunk::<WHOLE>() {
            Some(whole) if whole[0] == 0 => {
                self.trail.whole(whole_cell(whole));
                self.read += WHOLE as u32;
            }
            _ => {
                self.trail.last = self.trail.next(words[0]);
                self.read += 1;
            }
        }
    }

    /// The first cell, which there is, how far apart it and those that follow it evenly left their source, and the times between their
    /// arrivals, up to a zero or to the last one [ps].
    #[inline]
    pub fn even_run(&self) -> (Cell, Duration, &[u32]) {
        (self.trail.last, self.trail.spacing, &self.words[self.read as usize..])
    }

    /// Takes the first `count` cells of an [even run](Unpacking::even_run) away; the last of them arrived then.
    #[inline]
    pub fn skip_evenly(&mut self, count: u32, arrives: Time) {
        let Some(others) = count.checked_sub(1) else { return };
        let Trail { last, spacing } = self.trail;
        self.trail.last = last.followed_by_others(others, Duration::ZERO, spacing).arriving(arrives);
        self.read += others;
        self.len -= others;
        self.skip();
    }

    /// Takes the first `count` cells away.
    #[inline(never)]
    pub fn skip_all(&mut self, count: usize) {
        (0..count).for_each(|_| self.skip());
    }

    /// Takes the first cell away.
    #[inline(always)]
    pub fn skip(&mut self) {
        self.len -= 1;
        if self.len == 0 {
            self.words.clear();
            self.read = 0;
        } else {
            self.unpack();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::{Direction, RateCode, RmCell, Time};

    use proptest::prelude::*;

    /// The words of `cells`, and how many words and cells these are.
    fn packed(packing: &mut Packing, cells: &[Cell]) -> (Vec<u32>, u32) {
        let (mut words, mut empty) = (Vec::new(), Vec::new());
        packing.make_room(&mut empty);
        cells.iter().for_each(|&cell| packing.push(cell));
        let (length, count) = packing.take(&mut words, &mut empty);
        assert_eq!((length as usize, count as usize), (words.len(), cells.len()));
        (words, count)
    }

    fn rest(unpacking: &Unpacking) -> Vec<Cell> {
        let mut unpacking = unpacking.clone();
        let mut cells = Vec::new();
        while let Some(&first) = unpacking.first() {
            cells.push(first);
            unpacking.skip();
        }
        cells
    }

    fn rm(sent: Time, backward: bool) -> Cell {
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let rm = RmCell {
            direction,
            backward_notification: false,
            congestion_indication: true,
            no_increase: false,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::MAX,
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        };
        Cell::resource_management(sent, &rm)
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out_as_it_was(
            // By cell: what it is, and how long after the one before it left and came.
            cells in proptest::collection::vec((0..12, 0..4_u64, 1..5_u64), 1..200),
            list in 1..80_usize,
            takes in proptest::collection::vec(0..60_u64, 1..20),
        ) {
            let (mut sent, mut arrives, mut number) = (0, 1 << 40, (1 << 30) - 20);
            let cells: Vec<Cell> = cells.into_iter().map(|(kind, left, came)| {
                sent += [1 << 34, 1_000, 1_000, 1_000][left as usize];
                arrives += [0, 1, u64::from(u32::MAX), 1 << 32, 777][came as usize];
                number += 1 + u64::from(kind == 0);
                let at = Time::from_ps(sent);
                let cell = match kind {
                    1 => rm(at, left == 0),
                    2 => Cell::data(at, number, true),
                    _ => Cell::data(at, number, false),
                };
                cell.on_hop(5 + usize::from(kind == 3)).arriving(Time::from_ps(arrives))
            }).collect();
            let (mut packing, mut unpacking) = (Packing::new(), Unpacking::new());
            let mut waiting = std::collections::VecDeque::new();
            for (chunk, most) in cells.chunks(list).zip(takes.iter().cycle()) {
                let (words, count) = packed(&mut packing, chunk);
                unpacking.append(&words, count);
                waiting.extend(chunk);
                prop_assert!(waiting.iter().eq(&rest(&unpacking)));
                let mut behind = waiting.iter().copied();
                for (first, count) in unpacking.runs() {
                    let run: Vec<Cell> = behind.by_ref().take(count as usize).collect();
                    prop_assert_eq!((run.len() as u64, run[0]), (count, first));
                    prop_assert!(run.iter().all(|cell| cell.hop() == first.hop()));
                }
                prop_assert_eq!(behind.next(), None);
                let mut left = *most as usize;
                while left > 0 && unpacking.len() > 0 {
                    let (first, spacing, gaps) = unpacking.even_run();
                    let mut run = vec![first];
                    for &gap in gaps.iter().take_while(|&&gap| gap > 0) {
                        let before = run[run.len() - 1];
                        let arrives = before.arrives + Duration::from_ps(gap.into());
                        run.push(before.followed_by(spacing).arriving(arrives));
                    }
                    run.truncate(left);
                    unpacking.skip_evenly(run.len() as u32, run[run.len() - 1].arrives);
                    left -= run.len();
                    prop_assert!(run.iter().eq(waiting.drain(..run.len()).collect::<Vec<_>>().iter()));
                }
                prop_assert_eq!(unpacking.len() as usize, waiting.len());
            }
        }

        #[test]
        fn cells_that_were_sent_evenly_are_packed_as_one_by_one(
            // By run: whether it goes on with the one before, its spacing, and from arrival to arrival.
            runs in proptest::collection::vec(
                (any::<bool>(), 1..4_u64, proptest::collection::vec(0..5_usize, 1..30)), 1..20
            ),
        ) {
            let (mut runwise, mut one_by_one) = (Packing::new(), Packing::new());
            let (mut sent, mut number, mut arrives) = (1_000, 5, 1 << 40);
            let (mut words, mut others) = (Vec::new(), Vec::new());
            for (goes_on, spacing, gaps) in runs {
                sent += if goes_on { spacing } else { 7_777 };
                let first = Cell::data(Time::from_ps(sent), number, false);
                let mut arrivals = Vec::new();
                for (index, gap) in gaps.into_iter().enumerate() {
                    // Within a run they come one after the other.
                    arrives += [u64::from(index > 0), 1, 9, u64::from(u32::MAX), 1 << 32][gap];
                    let at = Time::from_ps(sent + spacing * arrivals.len() as u64);
                    let cell = Cell::data(at, number + arrivals.len() as u64, false);
                    one_by_one.push(cell.arriving(Time::from_ps(arrives)));
                    arrivals.push(Time::from_ps(arrives));
                }
                runwise.push_evenly_sent(first, Duration::from_ps(spacing), &arrivals);
                number += arrivals.len() as u64;
                sent += spacing * (arrivals.len() as u64 - 1);
                let counts = runwise.take(&mut words, &mut Vec::new());
                prop_assert_eq!(counts, one_by_one.take(&mut others, &mut Vec::new()));
            }
            prop_assert_eq!(words, others);
        }
    }

    #[test]
    fn a_cell_that_follows_evenly_is_one_word() {
        let at = |ps| Time::from_ps(ps);
        let train: Vec<Cell> = (0..31)
            .map(|i| Cell::data(at(1_000 + 10 * i), 7 + i, false).arriving(at(9_000 + 17 * i + i % 3)))
            .collect();
        let (mut packing, mut unpacking) = (Packing::new(), Unpacking::new());
        let lists = [&train[..20], &train[20..]].map(|list| packed(&mut packing, list));
        let sizes = lists.each_ref().map(|(words, count)| (words.len(), *count));
        assert_eq!(sizes, [(2 * WHOLE + 18, 20), (11, 11)]);
        lists.iter().for_each(|(words, count)| unpacking.append(words, *count));
        assert_eq!(rest(&unpacking), train);
    }
}
