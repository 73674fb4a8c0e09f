//! Whether a flow follows its advice: what it sent in a period, beside the most that it was advised.

use alloc::collections::VecDeque;

use super::{PERIOD, RateSignal};
use crate::units::{BitRate, Duration, Octets, Time};

/// Octets are counted by whole seconds.
const SECOND: Duration = Duration::from_secs(1);
const SECONDS: usize = 67;

/// Octets that a flow sent in the last whole period, beside those that its advice allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// Octets of the last 67 whole seconds.
    pub sent: Octets,
    /// Octets that the largest advice of the last two periods allows in 67 s; `None` where none was advised for some of
    /// that time, so that nothing can be said.
    pub allowed: Option<Octets>,
}

impl Judgement {
    /// Whether the flow sent more than it was advised.
    pub fn exceeds(self) -> bool {
        self.allowed.is_some_and(|allowed| self.sent > allowed)
    }
}

/// A monitor of one flow, as the draft outlines it: octets over a sliding period beside the largest advice of the last
/// two.
///
/// It never judges more strictly than the draft, so that no flow that follows its advice is called one that does not:
/// spans are of whole seconds, and both the advice before a change and the time to learn of it count for the flow.
///
/// ```
/// use cellrate_proto::scone::{Monitor, RateSignal};
/// use cellrate_proto::{Duration, Octets, Time};
/// let mut monitor = Monitor::default();
/// let at = |seconds| Time::ZERO.saturating_add(Duration::from_secs(seconds));
/// monitor.on_advice(at(0), RateSignal::from_bits(20)); // 1 Mb/s
/// (0..200).for_each(|second| monitor.on_octets(at(second), Octets(130_000)));
/// assert!(monitor.judgement(at(200)).exceeds()); // 1.04 Mb/s
/// ```
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    /// Octets by second, the newest last; at most 67 and the one that is counted.
    counted: VecDeque<u64>,
    /// The second of the newest.
    second: u64,
    /// Sum of all but the newest.
    whole: u64,
    /// Advices, each from its instant on; from one to the next they fall, but for what is too old to count.
    advised: VecDeque<(Time, RateSignal)>,
}

impl Monitor {
    /// Takes note of the advice for the flow from now on; [`RateSignal::UNKNOWN`] for none.
    pub fn on_advice(&mut self, now: Time, advice: RateSignal) {
        // An earlier advice counts for two periods after its end, which is now.
        if self.advised.back().is_none_or(|&(_, last)| last != advice) {
            self.advised.push_back((now, advice));
        }
        self.forget(now);
    }

    /// Counts octets of the flow that passed.
    pub fn on_octets(&mut self, now: Time, octets: Octets) {
        self.go_to(now);
        if let Some(newest) = self.counted.back_mut() {
            *newest = newest.saturating_add(octets.0);
        }
    }

    /// Says what the flow sent in the last 67 whole seconds, and what it was allowed.
    pub fn judgement(&mut self, now: Time) -> Judgement {
        self.go_to(now);
        self.forget(now);
        let largest = self.advised.iter().map(|&(_, advice)| advice).max();
        let allowed = largest.and_then(RateSignal::rate).map(octets_in_a_period);
        Judgement { sent: Octets(self.whole), allowed }
    }

    /// Begins the second of `now`, and forgets those that are over for a whole period.
    fn go_to(&mut self, now: Time) {
        let second = now.as_ps() / SECOND.as_ps();
        if self.counted.is_empty() || second - self.second > SECONDS as u64 {
            (self.whole, self.second) = (0, second);
            self.counted.clear();
            self.counted.push_back(0);
        }
        while self.second < second {
            self.whole = self.whole.saturating_add(self.counted.back().copied().unwrap_or(0));
            self.counted.push_back(0);
            if self.counted.len() > SECONDS + 1 {
                self.whole -= self.counted.pop_front().unwrap_or(0);
            }
            self.second += 1;
        }
    }

    /// Forgets advices that ended two periods ago.
    fn forget(&mut self, now: Time) {
        let both = PERIOD.saturating_mul(2);
        while self.advised.get(1).is_some_and(|(next, _)| now.since(*next) >= both) {
            self.advised.pop_front();
        }
        // Of advices that change by the second the largest and the newest say all: state stays small.
        while self.advised.len() > SECONDS * 2 {
            let [first, second] = [self.advised[0], self.advised[1]];
            self.advised.pop_front();
            self.advised[0] = (second.0, first.1.max(second.1));
        }
    }
}

fn octets_in_a_period(rate: BitRate) -> Octets {
    Octets(rate.as_bps().saturating_mul(SECONDS as u64) / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    const ONE_MBPS: RateSignal = RateSignal::from_bits(20);

    fn sending(octets_a_second: u64, advice: RateSignal, seconds: u64) -> Judgement {
        let mut monitor = Monitor::default();
        monitor.on_advice(at(0), advice);
        (0..seconds).for_each(|second| monitor.on_octets(at(second), Octets(octets_a_second)));
        monitor.judgement(at(seconds))
    }

    #[test]
    fn exactly_the_advice_is_followed_and_an_octet_a_second_more_is_not() {
        assert!(!sending(125_000, ONE_MBPS, 300).exceeds());
        assert!(sending(125_001, ONE_MBPS, 300).exceeds());
        assert_eq!(sending(125_000, ONE_MBPS, 300).sent, Octets(67 * 125_000));
        assert!(!sending(u64::MAX / 100, RateSignal::UNKNOWN, 300).exceeds());
    }

    /// All of a period may be sent at its beginning.
    #[test]
    fn a_burst_within_a_period_is_no_excess() {
        let mut monitor = Monitor::default();
        monitor.on_advice(at(0), ONE_MBPS);
        for start in [0, 67, 134] {
            monitor.on_octets(at(start), Octets(67 * 125_000));
            for second in start..start + 67 {
                assert!(!monitor.judgement(at(second)).exceeds(), "{second}");
            }
        }
    }

    /// A cut from 10 to 1 Mb/s counts two periods after the change, a second sooner it does not.
    #[test]
    fn a_cut_of_the_advice_counts_after_two_periods() {
        let mut monitor = Monitor::default();
        monitor.on_advice(at(0), RateSignal::from_bits(40));
        monitor.on_advice(at(100), ONE_MBPS);
        (0..233).for_each(|second| monitor.on_octets(at(second), Octets(1_250_000)));
        assert!(!monitor.judgement(at(233)).exceeds());
        monitor.on_octets(at(233), Octets(1_250_000));
        assert!(monitor.judgement(at(234)).exceeds());
    }

    #[test]
    fn advice_that_changes_every_second_keeps_state_small() {
        let mut monitor = Monitor::default();
        for second in 0..1_000 {
            monitor.on_advice(at(second), RateSignal::from_bits(20 + (second % 2) as u8));
            monitor.on_octets(at(second), Octets(100));
        }
        assert!(monitor.advised.len() <= 2 * SECONDS + 1 && monitor.counted.len() <= SECONDS + 1);
        assert_eq!(
            monitor.judgement(at(1_000)).allowed,
            RateSignal::from_bits(21).rate().map(octets_in_a_period)
        );
    }

    #[test]
    fn a_flow_that_was_silent_begins_anew() {
        let mut monitor = Monitor::default();
        monitor.on_octets(at(0), Octets(1_000));
        assert_eq!(monitor.judgement(at(1)).sent, Octets(1_000));
        assert_eq!(monitor.judgement(at(67)).sent, Octets(1_000));
        assert_eq!(monitor.judgement(at(68)).sent, Octets(0));
        assert_eq!(monitor.judgement(at(1_000_000)).sent, Octets(0));
    }
}
