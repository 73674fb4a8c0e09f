//! Settings that many parts of a network have alike, held once.

use std::collections::VecDeque;
use std::sync::Arc;

/// Values that were asked for last, the newest first, each for all who ask for an equal one.
#[derive(Debug)]
pub struct Shared<T>(VecDeque<Arc<T>>);

/// So many different ones are remembered.
const MOST: usize = 16;

impl<T> Default for Shared<T> {
    fn default() -> Shared<T> {
        Shared(VecDeque::new())
    }
}

impl<T: Clone + PartialEq> Shared<T> {
    /// `value`, shared with those who asked for an equal one.
    pub fn get(&mut self, value: &T) -> Arc<T> {
        if let Some(known) = self.0.iter().find(|known| ***known == *value) {
            return Arc::clone(known);
        }
        self.0.truncate(MOST - 1);
        self.0.push_front(Arc::new(value.clone()));
        Arc::clone(&self.0[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_and_others_are_not() {
        let mut shared = Shared::default();
        let [one, two, again] = [1.0, 2.0, 1.0].map(|value| shared.get(&value));
        assert!(Arc::ptr_eq(&one, &again) && !Arc::ptr_eq(&one, &two));
        for value in 0..100 {
            assert_eq!(*shared.get(&f64::from(value)), f64::from(value));
        }
        assert_eq!(shared.0.len(), MOST);
    }
}
