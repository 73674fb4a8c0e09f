//! Pacing: segments leave one by one over a round trip, not all that an ACK lets out at once.
//!
//! Linux's own pacing (`tcp_update_pacing_rate`, `tcp_update_skb_after_send`): the rate is twice the window over the
//! smoothed round trip below half of ssthresh, and 1.2 times it above. The first ten segments of a connection, and all
//! until a round trip is known, leave unpaced. Linux collects a millisecond's worth of segments to save work; here each
//! has an instant of its own.

use cellrate_proto::{Duration, Octets, Time};

/// Segments at the beginning of a connection that leave at once, as many as the largest initial window (RFC 6928).
const UNPACED: u64 = 10;

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    next: Time,
    /// Set while a segment waits for that.
    timer: Time,
    segments: u64,
}

impl Default for Pacing {
    fn default() -> Pacing {
        Pacing { next: Time::ZERO, timer: Time::NEVER, segments: 0 }
    }
}

impl Pacing {
    /// Whether a segment may leave now; else the timer is set.
    pub fn allows(&mut self, now: Time) -> bool {
        let allows = now >= self.next;
        self.timer = if allows { Time::NEVER } else { self.next };
        allows
    }

    /// When to ask again; [`Time::NEVER`] if nothing waits.
    pub fn timer(&self) -> Time {
        self.timer
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        if self.timer <= now {
            self.timer = Time::NEVER;
        }
    }

    /// A segment of so many octets leaves at `now`. `round_trip` is the smoothed one, if any is known; `window` the
    /// larger of cwnd and what is on its way. `starts`: cwnd is below half of ssthresh.
    pub fn on_sent(
        &mut self,
        now: Time,
        octets: Octets,
        round_trip: Option<Duration>,
        window: Octets,
        starts: bool,
    ) {
        self.segments += 1;
        let Some(round_trip) = round_trip.filter(|_| self.segments >= UNPACED) else {
            self.next = self.next.max(now);
            return;
        };
        let tenths = if starts { 20 } else { 12 };
        let share = u128::from(round_trip.as_ps()) * u128::from(octets.0) * 10;
        let gap = (share / (u128::from(window.0.max(1)) * tenths)) as u64;
        // One that leaves late makes up for it, by half of its gap at most.
        let late = now.since(self.next).as_ps().min(gap / 2);
        self.next = self.next.max(now) + Duration::from_ps(gap - late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// The instants at which segments of 1000 octets leave that are all there at 0, with a window of ten of them and a
    /// round trip of 12 ms.
    fn leave(starts: bool, count: usize) -> Vec<Time> {
        let mut pacing = Pacing::default();
        let mut now = Time::ZERO;
        let mut instants = Vec::new();
        while instants.len() < count {
            if pacing.allows(now) {
                instants.push(now);
                pacing.on_sent(now, Octets(1000), Some(Duration::from_ms(12)), Octets(10_000), starts);
            } else {
                now = pacing.timer();
                pacing.on_timer(now);
                assert_eq!(pacing.timer(), Time::NEVER);
            }
        }
        instants
    }

    #[test]
    fn ten_segments_leave_at_once_and_then_a_window_over_a_round_trip_with_a_fifth_more() {
        // 12 ms / 10 / 1.2 = 1 ms; in slow start 12 ms / 10 / 2 = 0.6 ms.
        let avoids = leave(false, 13);
        assert_eq!(avoids[..10], [Time::ZERO; 10]);
        assert_eq!(avoids[10..], [us(1000), us(2000), us(3000)]);
        assert_eq!(leave(true, 12)[10..], [us(600), us(1200)]);
    }

    #[test]
    fn what_leaves_late_makes_up_for_half_of_a_gap_at_most() {
        let mut pacing = Pacing::default();
        let mut send = |now| {
            pacing.on_sent(now, Octets(1000), Some(Duration::from_ms(12)), Octets(10_000), false);
            pacing.next
        };
        (0..9).for_each(|_| _ = send(us(0)));
        assert_eq!(send(us(0)), us(1000));
        assert_eq!(send(us(1200)), us(2000), "200 us late");
        assert_eq!(send(us(9000)), us(9500), "an idle time is no credit");
    }

    #[test]
    fn without_a_round_trip_nothing_waits() {
        let mut pacing = Pacing::default();
        for _ in 0..50 {
            assert!(pacing.allows(us(3)));
            pacing.on_sent(us(3), Octets(1000), None, Octets(10_000), true);
        }
        assert_eq!(pacing.timer(), Time::NEVER);
    }
}
