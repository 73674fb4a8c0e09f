//! Series under construction.

use cellrate_proto::Time;

/// Values in time, while they come in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    times_ps: Vec<u64>,
    values: Vec<f64>,
}

/// Values that room is made for beforehand, at most.
const MOST_ROOM: u64 = 1 << 16;

impl Recorder {
    /// None yet, with room for so many, or for as many as is sensible.
    pub fn with_room(values: u64) -> Recorder {
        let room = values.min(MOST_ROOM) as usize;
        Recorder { times_ps: Vec::with_capacity(room), values: Vec::with_capacity(room) }
    }

    /// Adds a value at `time`, not before the last.
    pub fn push(&mut self, time: Time, value: f64) {
        self.times_ps.push(time.as_ps());
        self.values.push(value);
    }

    /// Adds a value unless it is the one that already holds; of several at one instant the last stays, or none if it is
    /// the one that held before that instant.
    pub fn push_change(&mut self, time: Time, value: f64) {
        if self.times_ps.last() == Some(&time.as_ps()) {
            self.times_ps.pop();
            self.values.pop();
        }
        if self.values.last() != Some(&value) {
            self.push(time, value);
        }
    }

    /// Instants [ps] and values.
    pub fn into_columns(self) -> (Vec<u64>, Vec<f64>) {
        (self.times_ps, self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_for_what_comes_but_not_for_everything_that_might() {
        let room = |values| Recorder::with_room(values).values.capacity() as u64;
        assert!((100..200).contains(&room(100)));
        assert!((MOST_ROOM..2 * MOST_ROOM).contains(&room(u64::MAX)));
    }

    #[test]
    fn changes_only_and_the_last_of_an_instant() {
        let mut recorder = Recorder::default();
        for (ps, value) in [(0, 1.0), (5, 1.0), (9, 2.0), (9, 3.0), (11, 4.0), (11, 3.0)] {
            recorder.push_change(Time::from_ps(ps), value);
        }
        assert_eq!(recorder.into_columns(), (vec![0, 9], vec![1.0, 3.0]));
    }
}
