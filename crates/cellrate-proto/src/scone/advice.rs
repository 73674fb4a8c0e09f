//! The advice that a receiver has: the lowest of a period, and when it expires.

use alloc::collections::VecDeque;

use super::{PERIOD, RateSignal};
use crate::units::Time;

/// Throughput advice as a receiver has it: the lowest signal of the last [`PERIOD`], and none a period after the last.
///
/// A signal counts only where another packet of its datagram was processed and the destination connection ID is one of
/// the connection's; whoever calls [`Advice::on_signal`] has seen to that. Directions of a connection are independent,
/// and the one that learns is not the one that sends: an application carries the advice back to its peer.
///
/// ```
/// use cellrate_proto::scone::{Advice, PERIOD, RateSignal};
/// use cellrate_proto::{Duration, Time};
/// let mut advice = Advice::default();
/// let later = |seconds| Time::ZERO.saturating_add(Duration::from_secs(seconds));
/// advice.on_signal(later(0), RateSignal::from_bits(40));
/// advice.on_signal(later(30), RateSignal::from_bits(60));
/// assert_eq!(advice.lowest(later(66)), Some(RateSignal::from_bits(40)));
/// assert_eq!(advice.lowest(later(67)), Some(RateSignal::from_bits(60))); // the first one has expired
/// assert_eq!(advice.lowest(later(97)), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Advice {
    /// Signals that can still become the lowest, each with its instant: from one to the next both grow, so that there
    /// are at most 127.
    received: VecDeque<(Time, RateSignal)>,
}

impl Advice {
    /// Takes in a signal that has arrived; an unknown one is discarded.
    pub fn on_signal(&mut self, now: Time, signal: RateSignal) {
        if signal == RateSignal::UNKNOWN {
            return;
        }
        while self.received.back().is_some_and(|(_, earlier)| *earlier >= signal) {
            self.received.pop_back();
        }
        self.received.push_back((now, signal));
    }

    /// The lowest signal of the period that ends now; `None` where none came in it.
    pub fn lowest(&mut self, now: Time) -> Option<RateSignal> {
        while self.received.front().is_some_and(|(received, _)| now.since(*received) >= PERIOD) {
            self.received.pop_front();
        }
        self.received.front().map(|&(_, signal)| signal)
    }

    /// When the lowest signal expires, if there is one.
    pub fn expires(&self) -> Option<Time> {
        self.received.front().map(|(received, _)| received.saturating_add(PERIOD))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::units::Duration;

    fn at(seconds: u64) -> Time {
        Time::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    #[test]
    fn unknown_advises_nothing_and_does_not_keep_older_advice_alive() {
        let mut advice = Advice::default();
        advice.on_signal(at(0), RateSignal::from_bits(5));
        advice.on_signal(at(60), RateSignal::UNKNOWN);
        assert_eq!(advice.lowest(at(66)), Some(RateSignal::from_bits(5)));
        assert_eq!(advice.expires(), Some(at(67)));
        assert_eq!(advice.lowest(at(67)), None);
        assert_eq!(advice.expires(), None);
    }

    proptest! {
        /// The record agrees with a plain search of all that was received, and stays small.
        #[test]
        fn the_lowest_is_that_of_the_last_67_s(signals in prop::collection::vec((0u64..30, 0u8..128), 1..200)) {
            let (mut advice, mut all, mut now) = (Advice::default(), Vec::new(), 0);
            for (gap, signal) in signals {
                now += gap;
                advice.on_signal(at(now), RateSignal::from_bits(signal));
                all.push((now, signal));
                let plain = all.iter().filter(|(then, signal)| now - then < 67 && *signal != 127).map(|one| one.1).min();
                prop_assert_eq!(advice.lowest(at(now)).map(RateSignal::as_u8), plain);
                prop_assert!(advice.received.len() <= 127);
            }
        }
    }
}
