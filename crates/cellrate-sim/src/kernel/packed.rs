//! Cells on their way, packed: most follow the one before them so evenly that the time between their arrivals says all.
//!
//! Between two RM cells the data cells of a connection have numbers in order and left their source evenly. Only queues
//! have made their arrivals uneven. So a cell that follows the one before it in this way is one word of 32 bits, the time
//! from arrival to arrival; all others are a word of zero and the three words of 64 bits that a [`Cell`] is. In a network
//! of thousands of connections most memory is cells on their way, and this makes it a quarter or less.

use cellrate_proto::Duration;

use super::cell::Cell;

/// Cells in order, packed.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    words: Box<[u32]>,
    count: u32,
}

/// Words of a cell that is not told by the one before it.
const WHOLE: usize = 7;

impl Packed {
    /// `cells`, of which there is one at least; `scratch` is room to work in.
    pub fn new(cells: &[Cell], scratch: &mut Vec<u32>) -> Packed {
        scratch.clear();
        let mut before = Cell::NOTHING;
        let mut spacing = Duration::ZERO;
        for &cell in cells {
            let gap = cell.arrives.since(before.arrives).as_ps();
            if gap <= u64::from(u32::MAX)
                && gap > 0
                && before.followed_by(spacing).arriving(cell.arrives) == cell
            {
                scratch.push(gap as u32);
            } else {
                let [arrives, sent, word] = cell.to_words();
                let halves = [arrives, sent, word].map(|word| [word as u32, (word >> 32) as u32]);
                scratch.push(0);
                scratch.extend(halves.as_flattened());
                spacing = cell.sent.since(before.sent);
            }
            before = cell;
        }
        Packed { words: scratch.as_slice().into(), count: cells.len() as u32 }
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.count
    }
}

/// How far a [`Packed`] has been unpacked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacking {
    /// The cell before.
    before: Cell,
    /// From it to the next one.
    spacing: Duration,
    /// The words that have been read.
    read: u32,
}

impl Unpacking {
    /// Not begun.
    pub const fn new() -> Unpacking {
        Unpacking { before: Cell::NOTHING, spacing: Duration::ZERO, read: 0 }
    }

    /// Puts the next cells of `packed` last, as long as `cells` has room. Whether there are more.
    pub fn unpack(&mut self, packed: &Packed, cells: &mut Vec<Cell>) -> bool {
        let mut words = &packed.words[self.read as usize..];
        while cells.len() < cells.capacity() {
            let cell = match *words {
                [0, a, b, c, d, e, f, ..] => {
                    let whole = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
                    let cell = Cell::from_words([whole(a, b), whole(c, d), whole(e, f)]);
                    self.spacing = cell.sent.since(self.before.sent);
                    words = &words[WHOLE..];
                    cell
                }
                [gap, ..] => {
                    words = &words[1..];
                    let arrives = self.before.arrives + Duration::from_ps(u64::from(gap));
                    self.before.followed_by(self.spacing).arriving(arrives)
                }
                [] => return false,
            };
            self.before = cell;
            cells.push(cell);
        }
        self.read = (packed.words.len() - words.len()) as u32;
        !words.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::{Direction, RateCode, RmCell, Time};

    use proptest::prelude::*;

    fn unpacked(packed: &Packed, at_once: usize) -> Vec<Cell> {
        let mut unpacking = Unpacking::new();
        let mut all = Vec::new();
        loop {
            let mut some = Vec::with_capacity(at_once);
            let more = unpacking.unpack(packed, &mut some);
            all.extend(some);
            if !more {
                return all;
            }
        }
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
            let packed = Packed::new(&cells, &mut Vec::new());
            prop_assert_eq!(unpacked(&packed, at_once), cells);
        }
    }

    #[test]
    fn a_cell_that_follows_evenly_is_one_word() {
        let at = |ps| Time::from_ps(ps);
        let train: Vec<Cell> = (0..31)
            .map(|i| Cell::data(at(1_000 + 10 * i), 7 + i, false).arriving(at(9_000 + 17 * i + i % 3)))
            .collect();
        let packed = Packed::new(&train, &mut Vec::new());
        assert_eq!((packed.words.len(), packed.len()), (2 * WHOLE + 29, 31));
        assert_eq!(unpacked(&packed, 8), train);
    }
}
