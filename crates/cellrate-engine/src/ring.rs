//! A first-in first-out of cells: no places at first, then a power of two that doubles when full and never shrinks.
//! Where very many ports wait for what never comes, it costs nothing; and a cell in it takes no more than itself.

/// The cells in one queue, in order.
#[derive(Clone, Debug)]
pub struct Ring<C> {
    places: Vec<C>,
    head: usize,
    len: usize,
}

const FIRST_SIZE: usize = 4;

impl<C> Default for Ring<C> {
    fn default() -> Ring<C> {
        Ring { places: Vec::new(), head: 0, len: 0 }
    }
}

impl<C: Copy> Ring<C> {
    /// An empty one, without any place yet: most rings of a large network never need one.
    pub fn new() -> Ring<C> {
        Ring::default()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Puts `cell` last.
    #[inline]
    pub fn push(&mut self, cell: C) {
        if self.len == self.places.len() {
            self.grow(cell);
        }
        let mask = self.places.len() - 1;
        self.places[(self.head + self.len) & mask] = cell;
        self.len += 1;
    }

    /// Takes the first cell.
    #[inline]
    pub fn pop(&mut self) -> Option<C> {
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
    pub fn iter(&self) -> impl Iterator<Item = &C> {
        let mask = self.places.len().wrapping_sub(1);
        (0..self.len).map(move |i| &self.places[(self.head + i) & mask])
    }

    /// Twice as many places; those that no cell has yet are filled with `any`.
    #[cold]
    fn grow(&mut self, any: C) {
        let size = (self.places.len() * 2).max(FIRST_SIZE);
        let mut places = Vec::with_capacity(size);
        places.extend(self.iter().copied());
        places.resize(size, any);
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
        fn it_does_what_a_deque_does(pushes in proptest::collection::vec(0_usize..12, 0..500)) {
            let (mut ring, mut deque) = (Ring::new(), VecDeque::new());
            for (number, push) in pushes.into_iter().enumerate() {
                let cell = |part: usize| 12 * number + part;
                match push {
                    0 => {
                        ring.push(cell(0));
                        deque.push_back(cell(0));
                    }
                    1..5 => {
                        for cell in (0..2 * push).map(cell) {
                            ring.push(cell);
                            deque.push_back(cell);
                        }
                    }
                    _ => prop_assert_eq!(ring.pop(), deque.pop_front()),
                }
                prop_assert_eq!((ring.len(), ring.iter().next()), (deque.len(), deque.front()));
            }
            prop_assert!(ring.iter().eq(deque.iter()));
        }
    }
}
