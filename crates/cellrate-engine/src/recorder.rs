//! Series under construction.

use cellrate_proto::{Duration, Time};

/// Values in time, while they come in.
#[derive(Clone, Debug)]
pub enum Recorder {
    /// One at every `interval`, from `first` on: the instants need not be kept.
    Even {
        /// When the first one is taken; zero unless the run [begins later](Recorder::begin_at).
        first: Time,
        /// From one to the next.
        interval: Duration,
        /// The values.
        values: Vec<f64>,
    },
    /// Each from its instant on.
    Changes {
        /// The instants \[ps\].
        times_ps: Vec<u64>,
        /// The values.
        values: Vec<f64>,
    },
}

/// Values that room is made for beforehand, at most.
const MOST_ROOM: u64 = 1 << 16;

impl Recorder {
    /// A recorder of a value at every `interval`; none yet, with room for those of a run of that `duration`, or for as
    /// many as is sensible.
    pub fn even(interval: Duration, duration: Duration) -> Recorder {
        let room = duration.div_ceil(interval).min(MOST_ROOM);
        Recorder::Even { first: Time::ZERO, interval, values: Vec::with_capacity(room as usize) }
    }

    /// A recorder of changes; none yet.
    pub fn of_changes() -> Recorder {
        Recorder::Changes { times_ps: Vec::new(), values: Vec::new() }
    }

    /// Has the first of the values that come evenly come at `first`.
    pub fn begin_at(&mut self, begin: Time) {
        if let Recorder::Even { first, .. } = self {
            *first = begin;
        }
    }

    /// Adds the next of the values that come evenly.
    ///
    /// # Panics
    /// For a recorder of changes.
    #[inline]
    pub fn push(&mut self, value: f64) {
        let Recorder::Even { values, .. } = self else { unreachable!("changes have instants") };
        values.push(value);
    }

    /// Adds the next `count` of the values that come evenly, which are all this one.
    ///
    /// # Panics
    /// For a recorder of changes.
    pub fn push_equal(&mut self, value: f64, count: usize) {
        let Recorder::Even { values, .. } = self else { unreachable!("changes have instants") };
        values.resize(values.len() + count, value);
    }

    /// Adds a value at `time`, not before the last, unless it is the one that already holds; of several at one instant
    /// the last stays, or none if it is the one that held before that instant.
    ///
    /// # Panics
    /// For a recorder of values that come evenly.
    pub fn push_change(&mut self, time: Time, value: f64) {
        let Recorder::Changes { times_ps, values } = self else { unreachable!("samples are no changes") };
        if times_ps.last() == Some(&time.as_ps()) {
            times_ps.pop();
            values.pop();
        }
        if values.last() != Some(&value) {
            times_ps.push(time.as_ps());
            values.push(value);
        }
    }

    /// Values behind the first `seen`: instants \[ps\] and values.
    pub fn since(&self, seen: usize) -> (Vec<u64>, &[f64]) {
        match self {
            Recorder::Even { first, interval, values } => {
                let numbers = seen as u64..values.len() as u64;
                let instants = numbers.map(|number| first.as_ps() + number * interval.as_ps());
                (instants.collect(), &values[seen..])
            }
            Recorder::Changes { times_ps, values } => (times_ps[seen..].to_vec(), &values[seen..]),
        }
    }

    /// Instants \[ps\] and values.
    pub fn into_columns(self) -> (Vec<u64>, Vec<f64>) {
        match self {
            Recorder::Even { first, interval, values } => {
                let (mut next, mut instants) = (first.as_ps(), vec![0; values.len()]);
                for instant in &mut instants {
                    *instant = next;
                    next = next.wrapping_add(interval.as_ps());
                }
                (instants, values)
            }
            Recorder::Changes { times_ps, values } => (times_ps, values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_for_what_comes_but_not_for_everything_that_might() {
        let room = |duration| match Recorder::even(Duration::from_ps(10), duration) {
            Recorder::Even { values, .. } => values.capacity() as u64,
            Recorder::Changes { .. } => unreachable!("asked for even ones"),
        };
        assert!((100..200).contains(&room(Duration::from_ps(995))));
        assert!((MOST_ROOM..2 * MOST_ROOM).contains(&room(Duration::FOREVER)));
    }

    #[test]
    fn even_ones_begin_at_the_start() {
        let mut recorder = Recorder::even(Duration::from_ps(7), Duration::from_ps(20));
        [3.0, 3.0, 5.0].into_iter().for_each(|value| recorder.push(value));
        assert_eq!(recorder.clone().into_columns(), (vec![0, 7, 14], vec![3.0, 3.0, 5.0]));
        recorder.begin_at(Time::from_ps(21));
        assert_eq!(recorder.into_columns(), (vec![21, 28, 35], vec![3.0, 3.0, 5.0]));
    }

    #[test]
    fn what_has_been_seen_is_not_told_again() {
        let mut even = Recorder::even(Duration::from_ps(7), Duration::from_ps(20));
        [3.0, 4.0, 5.0].into_iter().for_each(|value| even.push(value));
        assert_eq!(even.since(1), (vec![7, 14], &[4.0, 5.0][..]));
        let mut changes = Recorder::of_changes();
        [(2, 1.0), (5, 3.0)]
            .into_iter()
            .for_each(|(ps, value)| changes.push_change(Time::from_ps(ps), value));
        assert_eq!((changes.since(0), changes.since(2)), ((vec![2, 5], &[1.0, 3.0][..]), (vec![], &[][..])));
    }

    #[test]
    fn changes_only_and_the_last_of_an_instant() {
        let mut recorder = Recorder::of_changes();
        for (ps, value) in [(0, 1.0), (5, 1.0), (9, 2.0), (9, 3.0), (11, 4.0), (11, 3.0)] {
            recorder.push_change(Time::from_ps(ps), value);
        }
        assert_eq!(recorder.into_columns(), (vec![0, 9], vec![1.0, 3.0]));
    }
}
