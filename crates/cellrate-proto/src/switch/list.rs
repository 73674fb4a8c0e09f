//! A list of what belongs to the connections of a port, by slot.
//!
//! Most ports of a large network have one connection: a single item is kept in place, and costs neither an allocation
//! nor a cache line of its own. Up to 16 octets, it takes no more room than the vector would.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use core::slice;

use super::Slot;

/// Items in order.
#[derive(Clone, Debug)]
pub(super) enum List<T> {
    /// A single one.
    One(T),
    /// None, or several.
    Many(Vec<T>),
}

impl<T> List<T> {
    /// An empty one.
    pub const fn new() -> List<T> {
        List::Many(Vec::new())
    }

    /// All of them.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        match self {
            List::One(item) => slice::from_ref(item),
            List::Many(items) => items,
        }
    }

    /// All of them.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        match self {
            List::One(item) => slice::from_mut(item),
            List::Many(items) => items,
        }
    }

    /// Puts `item` last.
    pub fn push(&mut self, item: T) {
        *self = match core::mem::replace(self, List::new()) {
            List::Many(items) if items.capacity() == 0 => List::One(item),
            List::Many(mut items) => {
                items.push(item);
                List::Many(items)
            }
            List::One(first) => {
                let mut items = Vec::with_capacity(2);
                items.extend([first, item]);
                List::Many(items)
            }
        };
    }
}

impl<T> Index<Slot> for List<T> {
    type Output = T;

    #[inline]
    fn index(&self, slot: Slot) -> &T {
        &self.as_slice()[slot.0 as usize]
    }
}

impl<T> IndexMut<Slot> for List<T> {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut T {
        &mut self.as_mut_slice()[slot.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_item_in_place_takes_the_room_of_a_vector() {
        assert_eq!(size_of::<List<[u64; 2]>>(), size_of::<Vec<u64>>());
    }

    #[test]
    fn one_item_is_in_place_and_several_follow_each_other() {
        let mut list = List::new();
        assert_eq!(list.as_slice(), [0_u64; 0]);
        list.push(7_u64);
        assert!(matches!(list, List::One(7)));
        list[Slot(0)] += 1;
        list.push(9);
        list.push(11);
        assert_eq!((list.as_slice(), list[Slot(0)], list[Slot(2)]), (&[8, 9, 11][..], 8, 11));
    }
}
