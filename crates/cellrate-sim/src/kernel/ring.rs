//! A first-in first-out of cells: a power of two of places that doubles when full and never shrinks.

use super::cell::Cell;
use cellrate_proto::Time;

/// The cells on one link, or in one queue, in order.
#[derive(Clone, Debug)]
pub struct Ring {
    places: Vec<Cell>,
    head: usize,
    len: usize,
}

const FIRST_SIZE: usize = 8;

impl Ring {
    /// An empty one.
    pub fn new() -> Ring {
        Ring { places: vec![Cell::data(Time::ZERO, 0, false); FIRST_SIZE], head: 0, len: 0 }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts `cell` last.
    #[inline]
    pub fn push(&mut self, cell: Cell) {
        if self.len == self.places.len() {
            self.grow();
        }
        let mask = self.places.len() - 1;
        self.places[(self.head + self.len) & mask] = cell;
        self.len += 1;
    }

    /// The first cell, left in place.
    #[inline]
    pub fn first(&self) -> Option<&Cell> {
        if self.len == 0 { None } else { Some(&self.places[self.head & (self.places.len() - 1)]) }
    }

    /// Takes the first cell.
    #[inline]
    pub fn pop(&mut self) -> Option<Cell> {
        if self.len == 0 {
            return None;
        }
        let mask = self.places.len() - 1;
        let cell = self.places[self.head & mask];
        self.head = (self.head + 1) & mask;
        self.len -= 1;
        Some(cell)
    }

    /// All cells, first to last.
    pub fn iter(&self) -> impl Iterator<Item = &Cell> {
        let mask = self.places.len() - 1;
        (0..self.len).map(move |i| &self.places[(self.head + i) & mask])
    }

    #[cold]
    fn grow(&mut self) {
        let mut places = Vec::with_capacity(self.places.len() * 2);
        places.extend(self.iter().copied());
        places.resize(self.places.len() * 2, Cell::data(Time::ZERO, 0, false));
        self.places = places;
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_does_what_a_deque_does(pushes in proptest::collection::vec(any::<bool>(), 0..500)) {
            let (mut ring, mut deque) = (Ring::new(), VecDeque::new());
            for (number, push) in pushes.into_iter().enumerate() {
                if push {
                    let cell = Cell::data(Time::from_ps(number as u64), number as u64, false);
                    ring.push(cell);
                    deque.push_back(cell);
                } else {
                    prop_assert_eq!(ring.pop(), deque.pop_front());
                }
                prop_assert_eq!(ring.is_empty(), deque.is_empty());
                prop_assert_eq!(ring.first(), deque.front());
            }
            prop_assert!(ring.iter().eq(deque.iter()));
        }
    }
}
