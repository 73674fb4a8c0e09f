//! The cells of a lane in order: lists, one behind the other, or packed.
//!
//! What another cluster sent in a window is a list that is handed over, not copied. In a large network the cells on
//! their way are by far the most of what there is, and do not stay in the caches: there they are
//! [packed](super::packed).

use std::collections::VecDeque;

use super::packed::Unpacking;
use crate::cell::Cell;
use crate::stretch::Stretch;

/// Cells that come from one cluster to a lane of another.
#[derive(Debug)]
pub(crate) enum Batch<'a> {
    /// As they are; perhaps with [stretches](Stretch).
    Plain(Vec<Cell>),
    /// So many cells, [packed](super::packed).
    Packed(&'a [u8], u32),
}

/// The cells on one link, in order.
#[derive(Clone, Debug)]
pub(crate) enum CellQueue {
    /// As they are.
    Lists(Lists),
    /// [Packed](super::packed), in a network with very many.
    Packed(Unpacking),
}

impl CellQueue {
    /// Makes an empty queue.
    pub const fn new() -> CellQueue {
        CellQueue::Lists(Lists::new())
    }

    /// Reads a word of each cache line of the queue, and of its first cells ([`crate::kernel::windows::prefetch`]).
    #[inline]
    pub fn prefetch(&self) -> u64 {
        match self {
            CellQueue::Lists(lists) => lists.len.into(),
            CellQueue::Packed(packed) => packed.prefetch(),
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            CellQueue::Lists(lists) => lists.len as usize,
            CellQueue::Packed(packed) => packed.len() as usize,
        }
    }

    /// Puts `cell` last.
    #[inline]
    pub fn push(&mut self, cell: Cell) {
        match self {
            CellQueue::Lists(lists) => lists.push(cell),
            CellQueue::Packed(_) => unreachable!("packed cells come in batches"),
        }
    }

    /// Puts the cells of `batch` last, in order.
    pub fn append(&mut self, batch: Batch<'_>) {
        match (self, batch) {
            (CellQueue::Lists(lists), Batch::Plain(cells)) => lists.append(cells),
            (CellQueue::Packed(packed), Batch::Packed(octets, count)) => packed.append(octets, count),
            _ => unreachable!("who sends cells knows whether to pack them"),
        }
    }

    /// Keeps an `empty` list, whose room the [next one](CellQueue::give_back) may have.
    pub fn keep(&mut self, empty: Vec<Cell>) {
        if let CellQueue::Lists(lists) = self {
            lists.more().keep(empty);
        }
    }

    /// Gives an empty list with room, if there is one to spare.
    pub fn give_back(&mut self) -> Option<Vec<Cell>> {
        match self {
            CellQueue::Lists(Lists { more: Some(more), .. }) if more.spare.capacity() > 0 => {
                Some(std::mem::take(&mut more.spare))
            }
            _ => None,
        }
    }

    /// The cells from the first one on that lie one behind the other in memory; none only if there are none at all.
    #[inline]
    pub fn front_run(&self) -> &[Cell] {
        match self {
            CellQueue::Lists(lists) => lists.front.get(lists.taken as usize..).unwrap_or_default(),
            CellQueue::Packed(packed) => packed.first().map(std::slice::from_ref).unwrap_or_default(),
        }
    }

    /// Takes the first `count` cells away, not more than [`front_run`](CellQueue::front_run) has.
    #[inline(always)]
    pub fn skip(&mut self, count: usize) {
        match self {
            CellQueue::Lists(lists) => lists.skip(count),
            CellQueue::Packed(packed) => packed.skip_all(count),
        }
    }

    /// The first cell, left in place.
    #[inline(always)]
    pub fn first(&self) -> Option<&Cell> {
        match self {
            CellQueue::Lists(lists) => lists.front.get(lists.taken as usize),
            CellQueue::Packed(packed) => packed.first(),
        }
    }

    /// Takes the first cell.
    #[inline]
    pub fn pop(&mut self) -> Option<Cell> {
        let cell = *self.first()?;
        self.skip(1);
        Some(cell)
    }

    /// Takes the first cell of a queue that may have [stretches](Stretch).
    pub fn pop_of_stretch(&mut self) -> Option<Cell> {
        let cell = *self.first()?;
        match self.front_run().get(1).and_then(Stretch::of) {
            Some(_) => self.skip_into(1, 0),
            None => self.skip(1),
        }
        Some(cell)
    }

    /// Takes the first `entries`, and of the [`Stretch`] behind them `count` cells, but not all.
    pub fn skip_into(&mut self, entries: usize, count: u32) {
        match self {
            CellQueue::Lists(lists) => lists.skip_into(entries, count),
            CellQueue::Packed(_) => unreachable!("stretches are not packed"),
        }
    }

    /// How many cells there are on each hop, some of them at a time.
    pub fn count(&self, mut count: impl FnMut(usize, u64)) {
        match self {
            CellQueue::Packed(packed) => packed.hops().for_each(|(hop, cells)| count(hop, cells)),
            CellQueue::Lists(_) => self.iter().for_each(|cell| count(cell.hop(), 1)),
        }
    }

    /// Iterates over all cells, first to last.
    fn iter(&self) -> impl Iterator<Item = Cell> {
        let mut rest = self.clone();
        std::iter::from_fn(move || rest.pop_of_stretch())
    }
}

/// Lists of cells, one behind the other.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    /// The first cells; as many of them as `taken` says have been taken.
    front: Vec<Cell>,
    taken: u32,
    /// Number of cells in all lists together that have not been taken.
    len: u32,
    /// The lists of a queue that gets whole ones.
    more: Option<Box<More>>,
}

#[derive(Clone, Debug, Default)]
struct More {
    /// The lists behind the first.
    behind: VecDeque<Vec<Cell>>,
    /// Room that is not needed any more, for the sender of the cells.
    spare: Vec<Cell>,
}

impl More {
    fn keep(&mut self, empty: Vec<Cell>) {
        if empty.capacity() > self.spare.capacity() {
            self.spare = empty;
        }
    }
}

impl Lists {
    const fn new() -> Lists {
        Lists { front: Vec::new(), taken: 0, len: 0, more: None }
    }

    fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    #[inline]
    fn push(&mut self, cell: Cell) {
        let has_room = self.front.len() < self.front.capacity();
        if has_room && self.more.as_ref().is_none_or(|more| more.behind.is_empty()) {
            self.len += 1;
            return self.front.push(cell);
        }
        self.push_elsewhere(cell);
    }

    #[inline(never)]
    fn push_elsewhere(&mut self, cell: Cell) {
        self.len += 1;
        if let Some(More { behind, .. }) = self.more.as_deref_mut()
            && let Some(last) = behind.back_mut()
        {
            return last.push(cell);
        }
        if self.front.len() == self.front.capacity() && 2 * self.taken as usize >= self.front.len() {
            self.front.drain(..self.taken as usize);
            self.taken = 0;
        }
        if self.front.len() == self.front.capacity() {
            // By far the most rows that cells are put on one by one never have more than one, and few have many.
            self.front.reserve_exact(1 + self.front.len() / 2);
        }
        self.front.push(cell);
    }

    fn append(&mut self, cells: Vec<Cell>) {
        let was_empty = self.len == 0;
        self.len += cells.len() as u32;
        self.more().behind.push_back(cells);
        if was_empty {
            self.turn();
        }
    }

    #[inline(always)]
    fn skip(&mut self, count: usize) {
        self.taken += count as u32;
        self.len -= count as u32;
        if self.taken as usize == self.front.len() {
            self.turn();
        }
    }

    /// Turns to the next list when all cells in front have been taken.
    fn turn(&mut self) {
        self.taken = 0;
        self.front.clear();
        if let Some(more) = &mut self.more
            && let Some(cells) = more.behind.pop_front()
        {
            let empty = std::mem::replace(&mut self.front, cells);
            more.keep(empty);
        }
    }

    fn skip_into(&mut self, entries: usize, count: u32) {
        let at = self.taken as usize + entries;
        let Some(stretch) = Stretch::of(&self.front[at]) else {
            unreachable!("a stretch is cut where it is");
        };
        let next = stretch.cell(self.front[at - 1], count + 1);
        let left = stretch.count - count - 1;
        // The cell that is the first then stands before what is left of the stretch.
        if left == 0 {
            self.front[at] = next;
            self.skip(entries);
        } else {
            self.front[at - 1] = next;
            self.front[at] = Stretch { count: left, ..stretch }.entry();
            self.skip(entries - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lanes::packed::Packing;
    use crate::stretch;
    use cellrate_proto::{Duration, Time};

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_does_what_a_deque_does(steps in proptest::collection::vec(0_usize..13, 0..500)) {
            let (mut queue, mut deque) = (CellQueue::new(), VecDeque::new());
            for (number, step) in steps.into_iter().enumerate() {
                let cell = |part: usize| Cell::data(Time::from_ps(number as u64), (12 * number + part) as u64, false);
                match step {
                    0..3 => {
                        queue.push(cell(0));
                        deque.push_back(cell(0));
                    }
                    3..6 => {
                        let cells: Vec<Cell> = (0..1 + 9 * (step - 3)).map(cell).collect();
                        deque.extend(&cells);
                        queue.append(Batch::Plain(cells));
                    }
                    6..9 => prop_assert_eq!(queue.pop(), deque.pop_front()),
                    _ => {
                        let run = queue.front_run();
                        prop_assert!(run.len() <= deque.len() && run.iter().eq(deque.iter().take(run.len())));
                        prop_assert_eq!(run.is_empty(), deque.is_empty());
                        let count = run.len().min(step - 8);
                        queue.skip(count);
                        deque.drain(..count);
                    }
                }
                prop_assert_eq!((queue.is_empty(), queue.len()), (deque.is_empty(), deque.len()));
                prop_assert_eq!(queue.first(), deque.front());
                prop_assert!(queue.iter().eq(deque.iter().copied()));
            }
        }
    }

    proptest! {
        #[test]
        fn so_does_one_of_packed_cells(steps in proptest::collection::vec(0_usize..8, 0..300)) {
            let cell_time = Duration::from_ps(20);
            let (mut queue, mut deque) = (CellQueue::Packed(Unpacking::new(cell_time)), VecDeque::new());
            let mut packing = Packing::new(cell_time);
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0..2 => {
                        let mut octets = Vec::new();
                        for part in 0..1 + 9 * step {
                            let cell = Cell::data(Time::from_ps((20 * number + part) as u64), part as u64, false);
                            packing.push(cell);
                            deque.push_back(cell);
                        }
                        let (_, count) = packing.take(&mut octets, &mut Vec::new());
                        queue.append(Batch::Packed(&octets, count));
                    }
                    2..7 => prop_assert_eq!(queue.pop(), deque.pop_front()),
                    _ => {
                        let run = queue.front_run();
                        prop_assert!(run.iter().eq(deque.iter().take(1)));
                        let count = run.len();
                        queue.skip(count);
                        deque.drain(..count);
                    }
                }
                prop_assert_eq!((queue.is_empty(), queue.len()), (deque.is_empty(), deque.len()));
                prop_assert_eq!(queue.first(), deque.front());
                prop_assert!(queue.iter().eq(deque.iter().copied()));
            }
        }
    }

    proptest! {
        #[test]
        fn stretches_are_taken_as_the_cells_that_they_stand_for(
            // By step: what is done, and with how many.
            steps in proptest::collection::vec((0_usize..6, 0_u32..7, 0_usize..4), 1..200),
        ) {
            let (mut queue, mut deque) = (CellQueue::new(), VecDeque::new());
            let mut at = 0;
            for (step, count, entry) in steps {
                let run = queue.front_run();
                let stretches: Vec<usize> =
                    (0..run.len()).filter(|&entry| Stretch::of(&run[entry]).is_some()).collect();
                match step {
                    0 | 1 => {
                        // Some go on as evenly as those before them, some do not.
                        let (gap, spacing) = (10 + u64::from(count / 5), 7);
                        let mut list = Vec::new();
                        for group in 0..=entry as u32 {
                            let stretch = Stretch {
                                gap: Duration::from_ps(gap),
                                spacing: Duration::from_ps(spacing),
                                count: (count + group) % 5,
                            };
                            let first = Cell::data(Time::from_ps(at), at, false);
                            stretch::push(&mut list, first, stretch);
                            deque.extend((0..=stretch.count).map(|count| stretch.cell(first, count)));
                            at += 1 + u64::from(stretch.count) + u64::from(count % 2);
                        }
                        queue.append(Batch::Plain(list));
                    }
                    2 | 3 => prop_assert_eq!(queue.pop_of_stretch(), deque.pop_front()),
                    4 => {
                        // As many entries as end before a cell.
                        let ends = |&entry: &usize| !stretches.contains(&entry);
                        let entries = (1..=run.len()).filter(ends).nth(entry).unwrap_or(run.len());
                        deque.drain(..stretch::cells(&run[..entries]).count());
                        queue.skip(entries);
                    }
                    _ => {
                        let Some(&entry) = stretches.get(entry) else { continue };
                        let count = count % Stretch::of(&run[entry]).map_or(1, |stretch| stretch.count);
                        deque.drain(..stretch::cells(&run[..entry]).count() + count as usize);
                        queue.skip_into(entry, count);
                    }
                }
                prop_assert_eq!(queue.first(), deque.front());
                prop_assert!(queue.iter().eq(deque.iter().copied()));
                prop_assert_eq!(queue.is_empty(), deque.is_empty());
            }
        }
    }

    #[test]
    fn what_is_put_and_taken_one_by_one_keeps_its_room() {
        let mut queue = CellQueue::new();
        let cell = |number| Cell::data(Time::ZERO, number, false);
        (0..20).for_each(|number| queue.push(cell(number)));
        let mut room = 0;
        for number in 20..10_000 {
            queue.push(cell(number));
            assert_eq!(queue.pop(), Some(cell(number - 20)));
            let CellQueue::Lists(lists) = &queue else { unreachable!("no cell is packed") };
            if number == 100 {
                room = lists.front.capacity();
            }
        }
        let CellQueue::Lists(lists) = queue else { unreachable!("no cell is packed") };
        assert_eq!((lists.front.capacity(), lists.more.is_none()), (room, true));
    }
}
