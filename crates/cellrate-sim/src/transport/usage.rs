//! Whether the congestion window is in use: a sender with less on its way than cwnd allows is limited by its
//! application, by the receiver or by its adapter, and what comes back then says nothing of a larger window.
//!
//! Linux's rule (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`, 6.18), a form of RFC 7661: cwnd grows if it has been full
//! in the present window of data; in slow start it may grow to twice the most that was on its way.

use cellrate_proto::{Octets, Time};

use super::sequence::Sequence;

/// How much of cwnd is in use.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Whether cwnd was full in this window of data.
    full: bool,
    /// The most that was outstanding in it.
    most: Octets,
    /// This window of data ends here.
    end: Sequence,
    /// Up to when it is known how long cwnd was not full.
    seen: Time,
    /// When the last segment left.
    sent: Option<Time>,
}

impl Default for Usage {
    fn default() -> Usage {
        Usage { full: false, most: Octets::ZERO, end: Sequence::START, seen: Time::ZERO, sent: None }
    }
}

impl Usage {
    /// The sender has been asked for a segment, and one has `left` or not: now everything from `una` to `highest` is
    /// outstanding, and cwnd is `full` or not.
    pub fn note(&mut self, left: bool, full: bool, [una, highest]: [Sequence; 2]) {
        let outstanding = highest.since(una);
        let is_news = una >= self.end || full || !self.full && outstanding > self.most;
        if (left || full) && is_news {
            *self = Usage { full, most: outstanding, end: highest, ..*self };
        }
    }

    /// Whether an ACK lets a window of `cwnd` grow, which `starts` slowly or not.
    pub fn lets_grow(&self, cwnd: Octets, starts: bool) -> bool {
        self.full || starts && cwnd.0 < 2 * self.most.0
    }

    /// Time has come to `now`; returns since when it is not known whether cwnd was full.
    pub fn see(&mut self, now: Time) -> Time {
        std::mem::replace(&mut self.seen, now)
    }

    /// A segment leaves at `now`.
    pub fn on_sent(&mut self, now: Time) {
        self.sent = Some(now);
    }

    /// A pause ends at `now`, in which nothing was outstanding; returns when the last segment before it left, if any
    /// has.
    pub fn end_pause(&mut self, now: Time) -> Option<Time> {
        let last = self.sent?;
        self.sent = Some(now);
        Some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(numbers: [u64; 2]) -> [Sequence; 2] {
        numbers.map(|number| Sequence(number * 1000))
    }

    #[test]
    fn a_window_of_data_that_was_full_once_lets_cwnd_grow_to_its_end_and_beyond_a_pause() {
        let mut usage = Usage::default();
        assert!(!usage.lets_grow(Octets(4000), false), "nothing has left");
        usage.note(true, true, segments([0, 4]));
        usage.note(true, false, segments([2, 5]));
        assert!(usage.lets_grow(Octets(4000), false), "this window of data ends at 4");
        usage.note(false, false, segments([5, 5]));
        assert!(usage.lets_grow(Octets(4000), false), "nothing has left since");
        usage.note(true, false, segments([5, 6]));
        assert!(!usage.lets_grow(Octets(4000), false));
    }

    #[test]
    fn slow_start_goes_to_twice_of_what_was_on_its_way() {
        let mut usage = Usage::default();
        for highest in 1..=5 {
            usage.note(true, false, segments([0, highest]));
        }
        // T and T + 1 octet.
        assert!(usage.lets_grow(Octets(9_999), true) && !usage.lets_grow(Octets(10_000), true));
        assert!(!usage.lets_grow(Octets(9_999), false));
        usage.note(true, false, segments([4, 6]));
        assert!(usage.lets_grow(Octets(9_999), true), "the most of this window of data");
        usage.note(true, false, segments([6, 7]));
        assert!(!usage.lets_grow(Octets(2_000), true), "of the next one");
    }
}
