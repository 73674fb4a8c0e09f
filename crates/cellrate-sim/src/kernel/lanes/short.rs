//! Short queues: most often nothing or a few things, of which a large network has very many.

/// Number of elements that are moved as soon as that makes room.
const FEW: usize = 64;

/// Things in order, in a list with little room to spare.
#[derive(Clone, Debug)]
pub(crate) struct Short<T> {
    /// Elements, of which the first `taken` have been taken.
    list: Vec<T>,
    taken: u32,
}

impl<T: Copy> Short<T> {
    /// Makes an empty list.
    pub const fn new() -> Short<T> {
        Short { list: Vec::new(), taken: 0 }
    }

    /// All elements.
    #[inline]
    pub fn all(&self) -> &[T] {
        &self.list[self.taken as usize..]
    }

    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<&T> {
        self.list.get(self.taken as usize)
    }

    /// Puts `item` last.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.list.len() == self.list.capacity() {
            self.make_room();
        }
        self.list.push(item);
    }

    /// Makes room for one more: where others have been taken, if there are few or many have been taken; or for few
    /// others.
    #[cold]
    fn make_room(&mut self) {
        let len = self.list.len();
        if self.taken > 0 && (len <= FEW || 4 * self.taken as usize >= len) {
            self.list.drain(..std::mem::take(&mut self.taken) as usize);
        } else {
            self.list.reserve_exact(1 + if len <= FEW { len / 4 } else { len });
        }
    }

    /// Takes the first one.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = *self.first()?;
        self.taken += 1;
        self.clear_if_empty();
        Some(first)
    }

    /// All elements, to be changed.
    #[inline]
    pub fn all_mut(&mut self) -> &mut [T] {
        &mut self.list[self.taken as usize..]
    }

    /// The last one, to be changed.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.all_mut().last_mut()
    }

    /// Takes the last one.
    pub fn pop_last(&mut self) {
        if self.list.len() > self.taken as usize {
            self.list.pop();
        }
        self.clear_if_empty();
    }

    #[inline]
    fn clear_if_empty(&mut self) {
        if self.taken as usize == self.list.len() {
            self.list.clear();
            self.taken = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_does_what_a_deque_does(steps in proptest::collection::vec(0_u32..8, 0..300)) {
            let (mut short, mut deque) = (Short::new(), VecDeque::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0..4 => {
                        short.push(number);
                        deque.push_back(number);
                    }
                    4..6 => prop_assert_eq!(short.pop(), deque.pop_front()),
                    6 => {
                        short.pop_last();
                        deque.pop_back();
                    }
                    _ => {
                        short.last_mut().into_iter().for_each(|last| *last += 1_000);
                        deque.back_mut().into_iter().for_each(|last| *last += 1_000);
                    }
                }
                prop_assert_eq!(short.first(), deque.front());
                prop_assert!(short.all().iter().eq(&deque));
            }
        }
    }

    #[test]
    fn room_does_not_grow_where_as_many_come_as_go() {
        let mut short = Short::new();
        (0..3).for_each(|number| short.push(number));
        for number in 3..1_000 {
            short.push(number);
            assert_eq!(short.pop(), Some(number - 3));
        }
        assert!(short.list.capacity() < 12, "{}", short.list.capacity());
    }
}
