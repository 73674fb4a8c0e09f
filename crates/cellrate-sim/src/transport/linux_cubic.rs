//! CUBIC as Linux counts (`net/ipv4/tcp_cubic.c`, 6.18), where that is not RFC 9438.
//!
//! - It counts whole segments: the window grows by one after so many are acknowledged, as many as the cubic function
//!   and the window of Reno ask for.
//! - A loss takes three tenths of cwnd, where RFC 9438 (section 4.6) takes them of the data on their way.
//! - Before the first loss, and after a time-out, the window grows by a twentieth in a round trip at least.
//! - Reno's window grows by 8/15 of a segment in a round trip, however large it is; RFC 9438 has a whole one from where
//!   the window was before the loss on.
//! - Pauses in which nothing was on its way are no time of the cubic function, from the last segment before to the
//!   first one behind (`CA_EVENT_TX_START`); RFC 9438 (section 5.8) leaves out all time in which cwnd is not full.
//! - Slow start grows by all that an ACK acknowledges (RFC 3465 without its limit), up to ssthresh.

use cellrate_proto::{Duration, Time};

/// C of RFC 9438 [segments/s^3].
const C: f64 = 0.4;
/// The window after a loss in 1024ths, 0.7 of it.
const BETA: u64 = 717;
const WHOLE: u64 = 1024;
/// Segments acknowledged for each one more at most, while nothing is known of the path: a twentieth in a round trip.
const KNOWS_NOTHING: u64 = 20;
/// Fewest acknowledged for each one more: the window grows by half in a round trip at most.
const FEWEST: u64 = 2;
/// How long what has been worked out holds for the same window: a thirty-second of a second.
const HOLDS: Duration = Duration::from_us(31_250);

/// State of Linux's CUBIC; windows in segments.
#[derive(Clone, Debug, Default)]
pub struct LinuxCubic {
    /// The window before the last loss, or less with fast convergence; 0: there was none.
    w_max: u64,
    epoch: Option<Epoch>,
    /// Octets acknowledged since the window last grew.
    credit: u64,
    /// Shortest round trip.
    shortest: Option<Duration>,
}

/// Congestion avoidance since the last reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// K \[s\], and the window where the function is flat.
    k: f64,
    origin: u64,
    /// Reno's window, and octets acknowledged since it last grew.
    reno: u64,
    reno_credit: u64,
    /// When the pace was worked out last, for which window, and what came out: segments acknowledged for one more.
    worked_out: Time,
    window: u64,
    pace: u64,
}

impl LinuxCubic {
    /// An ACK tells of this round trip.
    pub fn on_round_trip(&mut self, round_trip: Duration) {
        self.shortest = Some(self.shortest.map_or(round_trip, |least| least.min(round_trip)));
    }

    /// ssthresh after a loss at a window of so many segments.
    pub fn on_loss(&mut self, window: u64) -> u64 {
        self.w_max = if window < self.w_max { window * (WHOLE + BETA) / (2 * WHOLE) } else { window };
        (self.epoch, self.credit) = (None, 0);
        (window * BETA / WHOLE).max(2)
    }

    /// The timer has expired: nothing is known any more.
    pub fn on_timeout(&mut self) {
        *self = LinuxCubic { shortest: self.shortest, ..LinuxCubic::default() };
    }

    /// A segment leaves at `now`, `idle` after the one before it, with nothing on its way
    /// (`cubictcp_cwnd_event_tx_start`).
    pub fn leave_out(&mut self, now: Time, idle: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + idle).min(now);
        }
    }

    /// Congestion avoidance: segments by which a window of so many grows with an ACK of `acked` octets.
    pub fn grow(&mut self, now: Time, window: u64, acked: u64, mss: u64) -> u64 {
        let w_max = self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::begin(now, window, w_max));
        epoch.reno_credit += acked;
        if epoch.window != window || now.since(epoch.worked_out) > HOLDS {
            (epoch.worked_out, epoch.window) = (now, window);
            let round_trip = self.shortest.unwrap_or(Duration::ZERO);
            epoch.pace = epoch.cubic_pace(now.since(epoch.start) + round_trip, window);
            if w_max == 0 {
                epoch.pace = epoch.pace.min(KNOWS_NOTHING);
            }
            epoch.follow_reno(window, mss);
            epoch.pace = epoch.pace.max(FEWEST);
        }
        let needed = epoch.pace * mss;
        // What was acknowledged at a slower pace lets the window grow by one at most.
        let mut grown = 0;
        if self.credit >= needed {
            (self.credit, grown) = (0, 1);
        }
        self.credit += acked;
        grown += self.credit / needed;
        self.credit %= needed;
        grown
    }
}

impl Epoch {
    fn begin(now: Time, window: u64, w_max: u64) -> Epoch {
        let short_of = w_max.saturating_sub(window);
        Epoch {
            start: now,
            k: libm::cbrt(short_of as f64 / C),
            origin: w_max.max(window),
            reno: window,
            reno_credit: 0,
            worked_out: now,
            window: 0,
            pace: FEWEST,
        }
    }

    /// Segments acknowledged for one more on the way to what the function has at `elapsed`.
    fn cubic_pace(&self, elapsed: Duration, window: u64) -> u64 {
        let time = elapsed.as_secs_f64() - self.k;
        let away = (C * time * time * time).abs() as u64;
        let target = if time < 0.0 { self.origin.saturating_sub(away) } else { self.origin + away };
        if target > window { window / (target - window) } else { 100 * window }
    }

    /// Where Reno would have more, the window is on its way there.
    fn follow_reno(&mut self, window: u64, mss: u64) {
        let per_segment = (window * 15 / 8).max(1) * mss;
        self.reno += self.reno_credit / per_segment;
        self.reno_credit %= per_segment;
        if self.reno > window {
            self.pace = self.pace.min(window / (self.reno - window));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window after `seconds`, with round trips of so many ms, a window of segments acknowledged in each.
    fn after(cubic: &mut LinuxCubic, mut window: u64, round_trip: u64, seconds: u64) -> u64 {
        cubic.on_round_trip(Duration::from_ms(round_trip));
        for trip in 0..seconds * 1000 / round_trip {
            let before = window;
            for number in 0..before {
                let us = (trip * 1000 + number * 1000 / before) * round_trip;
                window += cubic.grow(Time::ZERO + Duration::from_us(us), window, 1000, 1000);
            }
        }
        window
    }

    #[test]
    fn a_loss_takes_three_tenths_in_whole_segments_and_converges_fast() {
        let mut cubic = LinuxCubic::default();
        assert_eq!((cubic.on_loss(31), cubic.w_max), (21, 31));
        assert_eq!((cubic.on_loss(25), cubic.w_max), (17, 21), "25 * 0.85");
        assert_eq!((cubic.on_loss(2), cubic.w_max), (2, 1));
    }

    #[test]
    fn the_window_follows_the_cubic_function_of_the_rfc() {
        // As in cubic.rs: 0.4 (t - K)^3 + 100 after a loss at 100 segments, K = 4.22 s.
        for (seconds, expected) in [(1, 86.7), (2, 95.6), (4, 100.0), (6, 102.3), (8, 121.7)] {
            let mut cubic = LinuxCubic::default();
            assert_eq!(cubic.on_loss(100), 70);
            let window = after(&mut cubic, 70, 200, seconds) as f64;
            assert!(
                (window - expected).abs() <= 3.0,
                "{window} after {seconds} s, and the function has {expected}"
            );
        }
    }

    #[test]
    fn a_pause_is_no_time_of_the_function() {
        // 20 s between the windows of two round trips, of which 20.2 s have passed since the last segment.
        let mut cubic = LinuxCubic::default();
        cubic.on_loss(100);
        let window = after(&mut cubic, 70, 200, 4);
        let mut paused = cubic.clone();
        let second = |cubic: &mut LinuxCubic, from: u64| {
            let ack = |window, number| {
                window + cubic.grow(Time::ZERO + Duration::from_ms(from + 2 * number), window, 1000, 1000)
            };
            (0..500_u64).fold(window, ack)
        };
        paused.leave_out(Time::ZERO + Duration::from_ms(24_000), Duration::from_ms(20_000));
        assert_eq!(second(&mut paused, 24_000), second(&mut cubic.clone(), 4_000));
        assert!(second(&mut cubic, 24_000) > window + 100, "what it would be with the pause");
    }

    #[test]
    fn while_nothing_is_known_a_twentieth_more_comes_in_a_round_trip() {
        // 30 * 1.05^10 = 48.9 with whole segments on the way.
        let window = after(&mut LinuxCubic::default(), 30, 100, 1);
        assert!((46..=49).contains(&window), "{window}");
        let mut cubic = LinuxCubic::default();
        cubic.on_loss(100);
        cubic.on_timeout();
        let window = after(&mut cubic, 30, 100, 1);
        assert!((46..=49).contains(&window), "{window} after a time-out");
    }

    #[test]
    fn where_reno_would_have_more_it_is_followed_at_eight_fifteenths_a_round_trip() {
        // A round trip of 10 ms: the cubic function is short of 100 for 4 s; Reno gains 53 in 100 round trips, each of
        // them longer than the last.
        let mut cubic = LinuxCubic::default();
        cubic.on_loss(100);
        let window = after(&mut cubic, 70, 10, 1);
        assert!((120..=124).contains(&window), "{window}");
    }
}
