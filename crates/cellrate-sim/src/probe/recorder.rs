//! Series under construction.

use cellrate_proto::Time;

/// Values in time, while they come in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    times_ps: Vec<u64>,
    values: Vec<f64>,
}

impl Recorder {
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
    fn changes_only_and_the_last_of_an_instant() {
        let mut recorder = Recorder::default();
        for (ps, value) in [(0, 1.0), (5, 1.0), (9, 2.0), (9, 3.0), (11, 4.0), (11, 3.0)] {
            recorder.push_change(Time::from_ps(ps), value);
        }
        assert_eq!(recorder.into_columns(), (vec![0, 9], vec![1.0, 3.0]));
    }
}
