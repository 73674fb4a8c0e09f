//! Cells on their way, packed: most follow the one before them so evenly that the time between their arrivals says all.
//!
//! Between two RM cells the data cells of a connection have numbers in order and left their source evenly. Only queues
//! have made their arrivals uneven. So a cell that follows the one before it in this way is one word of 32 bits, the time
//! from arrival to arrival; all others are a word of zero and the three words of 64 bits that a [`Cell`] is. In a network
//! of thousands of connections most memory is cells on their way, and this makes it a quarter or less.

use cellrate_proto::Duration;

use super::cell::Cell;

/// Where packing or unpacking has come to; the next list of cells goes on from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trail {
    /// The last cell.
    before: Cell,
    /// From the one before it to the last one.
    spacing: Duration,
}

impl Trail {
    /// Nothing has come.
    pub const fn new() -> Trail {
        Trail { before: Cell::NOTHING, spacing: Duration::ZERO }
    }

    /// The cell that arrives `gap` after the last one, if it follows evenly [ps].
    #[inline]
    fn next(&self, gap: u32) -> Cell {
        let arrives = self.before.arrives + Duration::from_ps(u64::from(gap));
        self.before.followed_by(self.spacing).arriving(arrives)
    }

    /// `cell` has come, as it is.
    #[inline]
    fn whole(&mut self, cell: Cell) {
        self.spacing = cell.sent.since(self.before.sent);
        self.before = cell;
    }
}

/// Cells in order, packed.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    words: Box<[u32]>,
    count: u32,
}

/// Words of a cell that is not told by the one before it.
const WHOLE: usize = 7;

impl Packed {
    /// `cells`, which come after those on the `trail`; `scratch` is room to work in.
    pub fn new(cells: &[Cell], trail: &mut Trail, scratch: &mut Vec<u32>) -> Packed {
        scratch.clear();
        scratch.reserve(WHOLE * cells.len());
        for &cell in cells {
            let gap = u32::try_from(cell.arrives.since(trail.before.arrives).as_ps()).unwrap_or(0);
            if gap > 0 && trail.next(gap) == cell {
                scratch.push(gap);
                trail.before = cell;
            } else {
                let [a, b, c] = cell.to_words();
                scratch.extend([
                    0,
                    a as u32,
                    (a >> 32) as u32,
                    b as u32,
                    (b >> 32) as u32,
                    c as u32,
                    (c >> 32) as u32,
                ]);
                trail.whole(cell);
            }
        }
        Packed { words: scratch.as_slice().into(), count: cells.len() as u32 }
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.count
    }
}

/// How far lists that were packed one after the other have been unpacked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacking {
    trail: Trail,
    /// The words of the present list that have been read.
    read: u32,
}

impl Unpacking {
    /// Not begun.
    pub const fn new() -> Unpacking {
        Unpacking { trail: Trail::new(), read: 0 }
    }

    /// Puts the next cells of `packed` last, as long as `cells` has room. Whether there are more; otherwise it is the turn
    /// of the next list.
    pub fn unpack(&mut self, packed: &Packed, cells: &mut Vec<Cell>) -> bool {
        let mut words = &packed.words[self.read as usize..];
        while cells.len() < cells.capacity() {
            match *words {
                [0, a, b, c, d, e, f, ..] => {
                    let whole = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
                    self.trail.whole(Cell::from_words([whole(a, b), whole(c, d), whole(e, f)]));
                    words = &words[WHOLE..];
                }
                [gap, ..] => {
                    self.trail.before = self.trail.next(gap);
                    words = &words[1..];
                }
                [] => break,
            }
            cells.push(self.trail.before);
        }
        self.read = if words.is_empty() { 0 } else { (packed.words.len() - words.len()) as u32 };
        !words.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::{Direction, RateCode, RmCell, Time};

    use proptest::prelude::*;

    fn unpacked(lists: &[Packed], at_once: usize) -> Vec<Cell> {
        let mut unpacking = Unpacking::new();
        let mut all = Vec::new();
        for list in lists {
            loop {
                let mut some = Vec::with_capacity(at_once);
                let more = unpacking.unpack(list, &mut some);
                all.extend(some);
                if !more {
                    break;
                }
            }
        }
        all
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
            at_once in 1..40_usize,
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
            let mut trail = Trail::new();
            let lists = cells.chunks(list).map(|list| Packed::new(list, &mut trail, &mut Vec::new()));
            let lists: Vec<Packed> = lists.collect();
            prop_assert_eq!(unpacked(&lists, at_once), cells);
        }
    }

    #[test]
    fn a_cell_that_follows_evenly_is_one_word() {
        let at = |ps| Time::from_ps(ps);
        let train: Vec<Cell> = (0..31)
            .map(|i| Cell::data(at(1_000 + 10 * i), 7 + i, false).arriving(at(9_000 + 17 * i + i % 3)))
            .collect();
        let mut trail = Trail::new();
        let lists = [&train[..20], &train[20..]].map(|list| Packed::new(list, &mut trail, &mut Vec::new()));
        let sizes = lists.each_ref().map(|list| (list.words.len(), list.len()));
        assert_eq!(sizes, [(2 * WHOLE + 18, 20), (11, 11)]);
        assert_eq!(unpacked(&lists, 8), train);
    }
}
