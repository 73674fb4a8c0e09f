//! The order of the datagrams of a link: which one is taken, and what is missing before it.
//!
//! With [stamps](super::pseudowire::Stamp) every datagram of a run has a number of its own, so nothing is taken twice
//! and
//! nothing after a later one, however much later it comes. Without, there are the 16-bit numbers of RFC 4717, which go
//! round: a number far from the expected one is believed only if the number after it follows (as RFC 3550, appendix
//! A.1),
//! so that a single stray datagram changes nothing.

use super::counters::PeerCounters;
use super::pseudowire::{Stamp, distance, next_sequence};

/// A number so far behind is that of a datagram on a detour; one still further behind may be that of a neighbour that
/// counts anew.
const DETOUR: i32 = 64;

/// Where a link is in its neighbour's count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Order {
    /// The 16-bit number that comes next.
    expected: Option<u16>,
    /// The number after one that was far from `expected`.
    suspected: Option<u16>,
    /// When the neighbour's process began, and the number of the stamp that comes next.
    stamped: Option<(u64, u64)>,
}

impl Order {
    /// Whether a datagram with a 16-bit number is taken. At most `plausible` datagrams can have come on the line since
    /// the last one.
    pub fn admit(&mut self, sequence: u16, plausible: u64, counters: &mut PeerCounters) -> bool {
        if sequence == 0 {
            // No numbers are kept.
            return true;
        }
        let ahead = self.expected.map_or(0, |expected| distance(expected, sequence));
        let follows = u64::try_from(ahead).is_ok_and(|ahead| ahead <= plausible);
        let restarted = !follows && self.suspected == Some(sequence);
        if follows || restarted {
            if restarted {
                counters.restarts += 1;
            } else {
                counters.missing += ahead.unsigned_abs() as u64;
            }
            *self = Order { expected: Some(next_sequence(sequence)), ..Order::default() };
            return true;
        }
        counters.out_of_order += 1;
        if !(-DETOUR..0).contains(&ahead) {
            self.suspected = Some(next_sequence(sequence));
        }
        false
    }

    /// Whether a datagram with a stamp is taken; `Err` where its number is beyond `plausible`, the datagrams that can
    /// have left the neighbour by now. `from_start` says whether this process was there when the neighbour could begin.
    pub fn admit_stamped(
        &mut self,
        stamp: Stamp,
        plausible: u64,
        from_start: bool,
        counters: &mut PeerCounters,
    ) -> Result<bool, Implausible> {
        if stamp.number > plausible {
            return Err(Implausible);
        }
        let missing = match self.stamped {
            None if from_start => stamp.number,
            None => 0,
            Some((began, next)) if (stamp.began_ns, stamp.number) < (began, next) => {
                counters.out_of_order += 1;
                return Ok(false);
            }
            Some((began, next)) if stamp.began_ns == began => stamp.number - next,
            Some(_) => {
                counters.restarts += 1;
                stamp.number
            }
        };
        counters.missing += missing;
        self.stamped = Some((stamp.began_ns, stamp.number + 1));
        Ok(true)
    }
}

/// A number that no datagram can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Implausible;

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u64 = 10_000;

    fn stamp(began_ns: u64, number: u64) -> Stamp {
        Stamp { run: 7, began_ns, number }
    }

    #[test]
    fn gaps_and_repeats_are_told_apart() {
        let (mut order, mut counters) = (Order::default(), PeerCounters::default());
        let taken = [100, 101, 101, 104, 103, 105].map(|sequence| order.admit(sequence, MANY, &mut counters));
        assert_eq!(taken, [true, true, false, true, false, true]);
        assert_eq!((counters.missing, counters.out_of_order, counters.restarts), (2, 2, 0));
        assert!(
            order.admit(0, MANY, &mut counters) && order.admit(0, MANY, &mut counters),
            "no numbers are kept"
        );
    }

    #[test]
    fn a_number_far_off_is_believed_when_the_next_one_follows_and_is_never_missing_32_000() {
        let (mut order, mut counters) = (Order::default(), PeerCounters::default());
        assert!(order.admit(40_000, MANY, &mut counters));
        // Forged or replayed, each alone.
        for stray in [1, 20_000, 60_000, 7_000] {
            assert!(!order.admit(stray, MANY, &mut counters), "{stray}");
        }
        assert!(order.admit(40_001, MANY, &mut counters), "the neighbour goes on as if nothing had been");
        assert_eq!((counters.missing, counters.out_of_order, counters.restarts), (0, 4, 0));
        // The neighbour was started again: its first datagram is lost, its second is taken.
        assert!(!order.admit(1, MANY, &mut counters) && order.admit(2, MANY, &mut counters));
        assert_eq!((counters.missing, counters.restarts), (0, 1));
        // More than the line can have carried.
        assert!(!order.admit(500, 100, &mut counters) && order.admit(103, 100, &mut counters));
        assert_eq!((counters.missing, counters.restarts), (100, 1));
    }

    #[test]
    fn a_stamped_datagram_is_taken_once_and_never_after_a_later_one() {
        let (mut order, mut counters) = (Order::default(), PeerCounters::default());
        let mut admit = |began, number| order.admit_stamped(stamp(began, number), MANY, true, &mut counters);
        assert_eq!(
            [admit(5, 2), admit(5, 3), admit(5, 3), admit(5, 0)],
            [Ok(true), Ok(true), Ok(false), Ok(false)]
        );
        assert_eq!(admit(5, 9_000), Ok(true), "a long gap is what it is");
        // Far behind: no restart, however far.
        assert_eq!([admit(5, 10), admit(5, 8_999)], [Ok(false), Ok(false)]);
        assert_eq!(admit(5, MANY + 1), Err(Implausible));
        // A process that began later, and then one of before.
        assert_eq!([admit(6, 0), admit(5, 9_001), admit(6, 1)], [Ok(true), Ok(false), Ok(true)]);
        assert_eq!((counters.missing, counters.out_of_order, counters.restarts), (2 + 8_996, 5, 1));
    }

    #[test]
    fn who_comes_late_does_not_miss_what_was_before() {
        let (mut order, mut counters) = (Order::default(), PeerCounters::default());
        assert_eq!(order.admit_stamped(stamp(5, 800), MANY, false, &mut counters), Ok(true));
        assert_eq!(order.admit_stamped(stamp(5, 802), MANY, false, &mut counters), Ok(true));
        assert_eq!(counters.missing, 1);
    }
}
