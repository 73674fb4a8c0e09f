//! The cells of a lane in order: lists, one behind the other, each as it came.
//!
//! What another cluster sent in a window is a list that is handed over, not copied: in a large network the cells on their
//! way are by far the most of what there is, and have left all caches when their turn comes.

use std::collections::VecDeque;

use super::cell::Cell;
use super::packed::{Packed, Unpacking};
use super::stretch::Stretch;

/// Cells that one cluster sends to a lane of another in a window.
#[derive(Clone, Debug)]
pub(crate) enum Batch {
    /// As they are; perhaps with [stretches](Stretch).
    Plain(Vec<Cell>),
    /// For a network with very many.
    Packed(Packed),
}

/// The cells on one link, in order.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The first cells; as many of them as `taken` says have been taken.
    front: Vec<Cell>,
    /// Those behind them. What `unpacking` says of the first batch is in `front` already.
    behind: VecDeque<Batch>,
    unpacking: Unpacking,
    /// Room that is not needed any more, for who sent the cells.
    spare: Vec<Cell>,
    taken: u32,
    /// Cells in all lists together that have not been taken.
    len: u32,
}

/// Cells that are unpacked at once.
const AT_ONCE: usize = 16;

impl Row {
    /// An empty one.
    pub const fn new() -> Row {
        Row {
            front: Vec::new(),
            behind: VecDeque::new(),
            unpacking: Unpacking::new(),
            spare: Vec::new(),
            taken: 0,
            len: 0,
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Puts `cell` last.
    #[inline]
    pub fn push(&mut self, cell: Cell) {
        if self.behind.is_empty() {
            if self.front.len() == self.front.capacity() && 2 * self.taken as usize >= self.front.len() {
                self.front.drain(..self.taken as usize);
                self.taken = 0;
            }
            if self.front.capacity() == 0 {
                // By far the most rows that cells are put on one by one never have more than one.
                self.front.reserve_exact(1);
            }
            self.front.push(cell);
        } else if let Some(Batch::Plain(last)) = self.behind.back_mut() {
            last.push(cell);
        } else {
            self.behind.push_back(Batch::Plain(vec![cell]));
        }
        self.len += 1;
    }

    /// Puts the cells of `batch` last, in order.
    pub fn append(&mut self, batch: Batch) {
        let was_empty = self.len == 0;
        self.len += match &batch {
            Batch::Plain(cells) => cells.len() as u32,
            Batch::Packed(packed) => packed.len(),
        };
        if self.behind.capacity() == 0 {
            // Hardly ever more than those of two windows wait.
            self.behind.reserve_exact(1);
        }
        self.behind.push_back(batch);
        if was_empty {
            self.turn();
        }
    }

    /// The cells of `batch`, for those who deal with them one by one and use this row for what is left to do.
    pub fn open(&mut self, batch: Batch) -> Vec<Cell> {
        match batch {
            Batch::Plain(cells) => cells,
            Batch::Packed(packed) => {
                let mut cells = Vec::with_capacity(packed.len() as usize);
                self.unpacking.unpack(&packed, &mut cells);
                cells
            }
        }
    }

    /// An `empty` list, whose room the [next one](Row::give_back) may have.
    pub fn keep(&mut self, empty: Vec<Cell>) {
        if empty.capacity() > self.spare.capacity() {
            self.spare = empty;
        }
    }

    /// An empty list with room, if there is one to spare.
    pub fn give_back(&mut self) -> Option<Vec<Cell>> {
        (self.spare.capacity() > 0).then(|| std::mem::take(&mut self.spare))
    }

    /// The cells from the first one on that lie one behind the other in memory; none only if there are none at all.
    #[inline]
    pub fn front_run(&self) -> &[Cell] {
        self.front.get(self.taken as usize..).unwrap_or_default()
    }

    /// Takes the first `count` cells away, not more than [`front_run`](Row::front_run) has.
    #[inline]
    pub fn skip(&mut self, count: usize) {
        self.taken += count as u32;
        self.len -= count as u32;
        if self.taken as usize == self.front.len() {
            self.turn();
        }
    }

    /// All in front have been taken.
    fn turn(&mut self) {
        self.taken = 0;
        self.front.clear();
        match self.behind.front_mut() {
            // Room for those that are put here one by one.
            None => {}
            Some(Batch::Plain(cells)) => {
                let empty = std::mem::replace(&mut self.front, std::mem::take(cells));
                self.behind.pop_front();
                self.keep(empty);
            }
            Some(Batch::Packed(packed)) => {
                let wanted = AT_ONCE.min(packed.len() as usize);
                if !(wanted..=AT_ONCE).contains(&self.front.capacity()) {
                    self.front = Vec::with_capacity(wanted);
                }
                if !self.unpacking.unpack(packed, &mut self.front) {
                    self.behind.pop_front();
                }
            }
        }
    }

    /// The first cell, left in place.
    #[inline]
    pub fn first(&self) -> Option<&Cell> {
        self.front.get(self.taken as usize)
    }

    /// Takes the first cell.
    #[inline]
    pub fn pop(&mut self) -> Option<Cell> {
        let cell = *self.first()?;
        self.skip(1);
        Some(cell)
    }

    /// Takes the first cell of a row that may have [stretches](Stretch).
    pub fn pop_of_stretch(&mut self) -> Option<Cell> {
        let cell = *self.first()?;
        match self.front.get(self.taken as usize + 1).and_then(Stretch::of) {
            Some(_) => self.skip_into(1, 0),
            None => self.skip(1),
        }
        Some(cell)
    }

    /// Takes the first `entries`, and of the [`Stretch`] behind them `count` cells, but not all.
    pub fn skip_into(&mut self, entries: usize, count: u32) {
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

    /// All cells, first to last.
    pub fn iter(&self) -> impl Iterator<Item = Cell> {
        let mut rest = self.clone();
        std::iter::from_fn(move || rest.pop_of_stretch())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::packed::Trail;
    use crate::kernel::stretch;
    use cellrate_proto::{Duration, Time};

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_does_what_a_deque_does(steps in proptest::collection::vec(0_usize..13, 0..500)) {
            let (mut row, mut deque) = (Row::new(), VecDeque::new());
            let mut trail = Trail::new();
            for (number, step) in steps.into_iter().enumerate() {
                let cell = |part: usize| Cell::data(Time::from_ps(number as u64), (12 * number + part) as u64, false);
                match step {
                    0..3 => {
                        row.push(cell(0));
                        deque.push_back(cell(0));
                    }
                    3..6 => {
                        let cells: Vec<Cell> = (0..1 + 9 * (step - 3)).map(cell).collect();
                        deque.extend(&cells);
                        row.append(match number % 3 {
                            0 => Batch::Plain(cells),
                            _ => Batch::Packed(Packed::new(&cells, &mut trail, &mut Vec::new())),
                        });
                    }
                    6..9 => prop_assert_eq!(row.pop(), deque.pop_front()),
                    _ => {
                        let run = row.front_run();
                        prop_assert!(run.len() <= deque.len() && run.iter().eq(deque.iter().take(run.len())));
                        prop_assert_eq!(run.is_empty(), deque.is_empty());
                        let count = run.len().min(step - 8);
                        row.skip(count);
                        deque.drain(..count);
                    }
                }
                prop_assert_eq!((row.is_empty(), row.len()), (deque.is_empty(), deque.len()));
                prop_assert_eq!(row.first(), deque.front());
                prop_assert!(row.iter().eq(deque.iter().copied()));
            }
        }
    }

    proptest! {
        #[test]
        fn stretches_are_taken_as_the_cells_that_they_stand_for(
            // By step: what is done, and with how many.
            steps in proptest::collection::vec((0_usize..6, 0_u32..7, 0_usize..4), 1..200),
        ) {
            let (mut row, mut deque) = (Row::new(), VecDeque::new());
            let mut at = 0;
            for (step, count, entry) in steps {
                let run = row.front_run();
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
                        row.append(Batch::Plain(list));
                    }
                    2 | 3 => prop_assert_eq!(row.pop_of_stretch(), deque.pop_front()),
                    4 => {
                        // As many entries as end before a cell.
                        let ends = |&entry: &usize| !stretches.contains(&entry);
                        let entries = (1..=run.len()).filter(ends).nth(entry).unwrap_or(run.len());
                        deque.drain(..stretch::cells(&run[..entries]).count());
                        row.skip(entries);
                    }
                    _ => {
                        let Some(&entry) = stretches.get(entry) else { continue };
                        let count = count % Stretch::of(&run[entry]).map_or(1, |stretch| stretch.count);
                        deque.drain(..stretch::cells(&run[..entry]).count() + count as usize);
                        row.skip_into(entry, count);
                    }
                }
                prop_assert_eq!(row.first(), deque.front());
                prop_assert!(row.iter().eq(deque.iter().copied()));
                prop_assert_eq!(row.is_empty(), deque.is_empty());
            }
        }
    }

    #[test]
    fn what_is_put_and_taken_one_by_one_keeps_its_room() {
        let mut row = Row::new();
        let cell = |number| Cell::data(Time::ZERO, number, false);
        (0..20).for_each(|number| row.push(cell(number)));
        let mut room = 0;
        for number in 20..10_000 {
            row.push(cell(number));
            assert_eq!(row.pop(), Some(cell(number - 20)));
            if number == 100 {
                room = row.front.capacity();
            }
        }
        assert_eq!((row.front.capacity(), row.behind.len()), (room, 0));
    }
}
