//! The generic cell rate algorithm, GCRA(T, tau), as virtual scheduling (TM 4.0, 4.4.2; ITU-T I.371).

use crate::units::{CellRate, Duration, Time};

/// The time from one cell to the next at a rate, rounded down to a whole picosecond; [`Duration::FOREVER`] at rate
/// zero.
///
/// ```
/// use cellrate_proto::policing::increment;
/// use cellrate_proto::{CellRate, Duration};
/// assert_eq!(increment(CellRate::new(3.0)), Duration::from_ps(333_333_333_333));
/// ```
pub fn increment(rate: CellRate) -> Duration {
    match rate.as_cells_per_s() {
        rate if rate > 0.0 => Duration::from_ps((1e12 / rate) as u64),
        _ => Duration::FOREVER,
    }
}

/// GCRA(T, tau): cells may come every T, and up to tau sooner than they should.
///
/// A cell that conforms is charged by [`Gcra::charge`], which is apart from [`Gcra::conforms`]: with two of them in a
/// row a cell may conform to one and not to the other.
///
/// ```
/// use cellrate_proto::policing::Gcra;
/// use cellrate_proto::{Duration, Time};
/// let mut gcra = Gcra::new(Duration::from_ps(5), Duration::from_ps(4));
/// let conform = [0, 3, 4, 9, 10].map(|at| gcra.on_cell(Time::from_ps(at)));
/// assert_eq!(conform, [true, true, false, true, false]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gcra {
    increment: Duration,
    limit: Duration,
    /// TAT, when the next cell should come at the earliest; the start of time before the first.
    theoretical_arrival: Time,
}

impl Gcra {
    /// GCRA(`increment`, `limit`); no cell has come.
    pub const fn new(increment: Duration, limit: Duration) -> Gcra {
        Gcra { increment, limit, theoretical_arrival: Time::ZERO }
    }

    /// Says whether a cell that comes at `now` conforms; nothing changes.
    pub fn conforms(&self, now: Time) -> bool {
        now.saturating_add(self.limit) >= self.theoretical_arrival
    }

    /// The most cells that conform if all come at `now` and each is charged; [`u64::MAX`] where there is no bound.
    ///
    /// ```
    /// use cellrate_proto::policing::Gcra;
    /// use cellrate_proto::{Duration, Time};
    /// let gcra = Gcra::new(Duration::from_ps(5), Duration::from_ps(12));
    /// assert_eq!(gcra.room(Time::ZERO), 3);
    /// ```
    pub fn room(&self, now: Time) -> u64 {
        let latest = now.saturating_add(self.limit);
        if latest < self.theoretical_arrival {
            return 0;
        }
        if latest == Time::NEVER {
            return u64::MAX;
        }
        let spare = latest.as_ps() - self.theoretical_arrival.max(now).as_ps();
        spare.checked_div(self.increment.as_ps()).map_or(u64::MAX, |further| further.saturating_add(1))
    }

    /// Charges a cell that came at `now`.
    pub fn charge(&mut self, now: Time) {
        self.charge_all(now, 1);
    }

    /// Charges `cells` that came at `now`, all at that instant.
    pub fn charge_all(&mut self, now: Time, cells: u64) {
        if cells > 0 {
            let reserved = self.increment.saturating_mul(cells);
            self.theoretical_arrival = self.theoretical_arrival.max(now).saturating_add(reserved);
        }
    }

    /// Says whether a cell that comes at `now` conforms, and charges it if so.
    pub fn on_cell(&mut self, now: Time) -> bool {
        let conforms = self.conforms(now);
        if conforms {
            self.charge(now);
        }
        conforms
    }

    /// The earliest instant from `now` on at which a cell conforms: when a shaper lets it go.
    pub fn earliest(&self, now: Time) -> Time {
        now.max(Time::from_ps(self.theoretical_arrival.as_ps().saturating_sub(self.limit.as_ps())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn slots(increment: u64, limit: u64, arrivals: impl IntoIterator<Item = u64>) -> Vec<bool> {
        let mut gcra = Gcra::new(Duration::from_ps(increment), Duration::from_ps(limit));
        arrivals.into_iter().map(|at| gcra.on_cell(Time::from_ps(at))).collect()
    }

    /// The other form of the algorithm: a bucket that leaks one unit a unit of time.
    fn leaky_bucket(increment: u64, limit: u64, arrivals: &[u64]) -> Vec<bool> {
        let (mut content, mut last) = (0_u64, arrivals.first().copied().unwrap_or(0));
        let conforms = |&at: &u64| {
            let left = content.saturating_sub(at - last);
            if left > limit {
                return false;
            }
            (content, last) = (left + increment, at);
            true
        };
        arrivals.iter().map(conforms).collect()
    }

    #[test]
    fn a_worked_sequence_of_increment_5_and_limit_4() {
        // TAT before each cell: 0 5 10 10 15 15 20 20 30 35.
        let conform = slots(5, 4, [0, 3, 4, 9, 10, 11, 12, 25, 26, 27]);
        assert_eq!(conform, [true, true, false, true, false, true, false, true, true, false]);
    }

    #[test]
    fn cells_back_to_back_conform_as_far_as_the_limit_reaches() {
        // floor(1 + tau / (T - 1)) cells in a row, T = 4.5 slots of two units each.
        for (limit, first) in [(1, 1), (3, 1), (7, 2), (14, 3)] {
            let conform = slots(9, limit, (0..20).map(|slot| 2 * slot));
            assert_eq!(conform.iter().take_while(|&&conforms| conforms).count(), first, "limit {limit}");
        }
        let of = |limit| -> Vec<usize> {
            let conform = slots(9, limit, (0..20).map(|slot| 2 * slot));
            (0..20).filter(|&slot| conform[slot]).collect()
        };
        assert_eq!(of(7), [0, 1, 6, 10, 15, 19]);
        assert_eq!(of(14), [0, 1, 2, 7, 11, 16]);
    }

    #[test]
    fn a_source_at_exactly_its_rate_conforms_for_ever_without_tolerance() {
        for rate in [1.0, 3.0, 353_207.547, 365_566.0, 1e7] {
            let rate = CellRate::new(rate);
            let mut gcra = Gcra::new(increment(rate), Duration::ZERO);
            let mut at = Time::ZERO;
            for _ in 0..10_000 {
                assert!(gcra.on_cell(at), "{rate:?} at {at}");
                at += rate.interval();
            }
        }
    }

    #[test]
    fn what_a_shaper_lets_go_conforms_and_a_picosecond_sooner_does_not() {
        let mut gcra = Gcra::new(Duration::from_ps(100), Duration::from_ps(250));
        for _ in 0..10 {
            let at = gcra.earliest(Time::from_ps(1_000));
            if at > Time::from_ps(1_000) {
                assert!(!gcra.conforms(Time::from_ps(at.as_ps() - 1)));
            }
            assert!(gcra.on_cell(at));
        }
    }

    proptest! {
        #[test]
        fn both_forms_decide_alike(
            increment in 1_u64..50,
            limit in 0_u64..200,
            gaps in proptest::collection::vec(0_u64..40, 1..200),
        ) {
            let mut at = 0;
            let arrivals: Vec<u64> = gaps.iter().map(|gap| { at += gap; at }).collect();
            prop_assert_eq!(slots(increment, limit, arrivals.clone()), leaky_bucket(increment, limit, &arrivals));
        }
    }
}
