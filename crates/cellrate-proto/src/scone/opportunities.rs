//! When a sender puts SCONE packets in front of its datagrams.

use crate::units::{Duration, Time};

/// The first few datagrams of a flow or of a new path, so that advice comes early.
const FIRST: u32 = 3;
/// The least time between SCONE packets after that. With the delay that a caller draws it is 20 to 30 s: more than
/// twice in each period of 67 s.
const LEAST: Duration = Duration::from_secs(20);
/// The most that a caller may add.
const MOST_DELAY: Duration = Duration::from_secs(10);

/// Opportunities that a sender gives elements of the network to write their advice.
///
/// ```
/// use cellrate_proto::scone::Opportunities;
/// use cellrate_proto::{Duration, Time};
/// let mut opportunities = Opportunities::default();
/// for _ in 0..3 {
///     assert!(opportunities.is_due(Time::ZERO));
///     opportunities.on_sent(Time::ZERO, Duration::from_secs(4));
/// }
/// assert!(!opportunities.is_due(Time::ZERO.saturating_add(Duration::from_secs(23))));
/// assert!(opportunities.is_due(Time::ZERO.saturating_add(Duration::from_secs(24))));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Opportunities {
    sent: u32,
    next: Time,
}

impl Opportunities {
    /// Whether the next datagram should begin with a SCONE packet.
    pub fn is_due(&self, now: Time) -> bool {
        self.sent < FIRST || now >= self.next
    }

    /// Takes note of one that was sent. `delay` is random, from 0 to 10 s and cut to that, so that senders do not keep
    /// step.
    pub fn on_sent(&mut self, now: Time, delay: Duration) {
        self.sent = self.sent.saturating_add(1);
        self.next = now.saturating_add(LEAST).saturating_add(delay.min(MOST_DELAY));
    }

    /// Begins anew, on another path.
    pub fn on_path_change(&mut self) {
        *self = Opportunities::default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::PERIOD;
    use super::*;

    #[test]
    fn there_are_two_in_each_period_whatever_is_drawn() {
        assert!(LEAST.saturating_add(MOST_DELAY).saturating_mul(2) < PERIOD);
        let mut opportunities = Opportunities::default();
        for _ in 0..FIRST {
            opportunities.on_sent(Time::ZERO, Duration::FOREVER);
        }
        assert!(opportunities.is_due(Time::ZERO.saturating_add(Duration::from_secs(30))));
        assert!(!opportunities.is_due(Time::ZERO.saturating_add(Duration::from_secs(29))));
        opportunities.on_path_change();
        assert!(opportunities.is_due(Time::ZERO));
    }
}
