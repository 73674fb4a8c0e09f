//! Losses at a full buffer, and how many of them a phase decided that never changes.
//!
//! Two senders whose cells come at exactly the same distances meet at a port in the same place relative to one another
//! for ever: whichever comes just behind a departure has the room, and the other one loses. Then the losses of that
//! other one lie on a lattice: each is a whole number of its cell distances, to the picosecond, after the one before.

use std::collections::BTreeMap;

use cellrate_proto::{Duration, Time};
use cellrate_scenario::FlowIndex;

/// The losses of each direction at a port's full buffer.
pub(crate) type Losses = BTreeMap<FlowIndex, Losing>;

/// The losses of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losing {
    /// How many \[cells\].
    pub lost: u64,
    /// How many came a whole number of [steps](Losing::step) after the one before.
    pub in_step: u64,
    /// The shortest time between two of them; 0 before there were two.
    pub step: Duration,
    last: Time,
}

impl Losing {
    /// Counts another loss, at `now`, which is never before the last one.
    pub fn lose(&mut self, now: Time) {
        let gap = now.since(self.last);
        if self.lost > 0 && gap > Duration::ZERO {
            if self.step == Duration::ZERO || gap < self.step {
                self.step = gap;
            }
            self.in_step += u64::from(gap.as_ps().is_multiple_of(self.step.as_ps()));
        }
        self.lost += 1;
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_on_a_lattice_are_in_step() {
        let mut losing = Losing::default();
        for ps in [100, 300, 400, 700, 701, 702] {
            losing.lose(Time::from_ps(ps));
        }
        // 200 is a step of its own, 100 the shorter one, 300 three of these, then 1 and 1.
        assert_eq!((losing.lost, losing.in_step, losing.step), (6, 5, Duration::from_ps(1)));
        losing = Losing::default();
        [0, 57, 199].into_iter().for_each(|ps| losing.lose(Time::from_ps(ps)));
        assert_eq!((losing.in_step, losing.step), (1, Duration::from_ps(57)));
    }
}
