//! CUBIC (RFC 9438): cwnd as a function of the time since it was last reduced, not of round trips.
//!
//! Windows are counted in segments and times in seconds, as in the RFC. Only sums, products and one cube root are used,
//! which is the same on every machine.

use cellrate_proto::{Duration, Time};

/// C: how steep the cubic function is [segments/s^3] (RFC 9438, section 5).
const C: f64 = 0.4;
/// Factor of the window after a loss (section 4.6).
const BETA: f64 = 0.7;
/// Segments per round trip of a Reno that is as aggressive on average (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// State of CUBIC.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    /// The window before the last loss, or less with fast convergence \[segments\].
    w_max: f64,
    /// The window before the last loss \[segments\].
    prior: f64,
    epoch: Option<Epoch>,
    /// Whether a time-out came last: the function begins at its saddle (section 4.8).
    timed_out: bool,
}

/// Congestion avoidance since the last reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// K: when the window is where it was before the loss \[s\].
    k: f64,
    /// W_est: the window of Reno \[segments\].
    estimate: f64,
}

impl Cubic {
    /// The part of the window that is left, with `window` segments before this loss.
    pub fn on_loss(&mut self, window: f64) -> f64 {
        // Fast convergence: two losses at falling windows leave room for others (section 4.7).
        self.w_max = if window < self.w_max { window * (1.0 + BETA) / 2.0 } else { window };
        self.prior = window;
        self.epoch = None;
        self.timed_out = false;
        BETA
    }

    /// The loss was found by the timer.
    pub fn on_timeout(&mut self) {
        self.timed_out = true;
    }

    /// Congestion avoidance: the window after an ACK of `acked` segments at `now`, with `window` before it.
    /// `round_trip` is the smoothed one.
    pub fn grow(&mut self, now: Time, round_trip: Duration, window: f64, acked: f64) -> f64 {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now, window));
        let alpha = if epoch.estimate >= self.prior { 1.0 } else { ALPHA };
        epoch.estimate += alpha * acked / window;
        self.epoch = Some(epoch);
        let at = |time: f64| C * (time - epoch.k) * (time - epoch.k) * (time - epoch.k) + self.w_max;
        let elapsed = now.since(epoch.start).as_secs_f64();
        if at(elapsed) < epoch.estimate {
            return window.max(epoch.estimate);
        }
        let target = at(elapsed + round_trip.as_secs_f64()).clamp(window, 1.5 * window);
        window + (target - window) / window * acked
    }

    /// Leaves a span out of the function's time: the sender had less on its way than cwnd allows (sections 4.2, 5.8).
    pub fn leave_out(&mut self, span: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += span;
        }
    }

    /// The next congestion avoidance is another one.
    pub fn begin_anew(&mut self) {
        self.epoch = None;
    }

    fn begin(&mut self, now: Time, window: f64) -> Epoch {
        let k = if self.timed_out || window >= self.w_max {
            self.w_max = window;
            0.0
        } else {
            libm::cbrt((self.w_max - window) / C)
        };
        self.timed_out = false;
        Epoch { start: now, k, estimate: window }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// One that has lost at 100 segments, in congestion avoidance since 0 at 70.
    fn after_a_loss() -> Cubic {
        let mut cubic = Cubic::default();
        assert_eq!(cubic.on_loss(100.0) * 100.0, 70.0);
        cubic.epoch = Some(cubic.begin(Time::ZERO, 70.0));
        cubic
    }

    #[test]
    fn the_window_follows_the_cubic_function_back_to_where_it_was_and_beyond() {
        // K = cbrt(30 / 0.4) = 4.217163 s; 0.4 (t - K)^3 + 100. Acknowledged often, the window is on its way to what
        // the function has a round trip later.
        let expected = [(1, 86.6808), (2, 95.6403), (3, 99.2787), (4, 99.9959), (6, 102.2667), (8, 121.6527)];
        let mut cubic = after_a_loss();
        assert!((cubic.epoch.expect("it has begun").k - 4.217_163).abs() < 1e-6);
        let (mut window, round_trip) = (70.0_f64, Duration::from_ms(200));
        let mut expected = expected.into_iter().peekable();
        // A window per round trip: an ACK per millisecond. Reno would be back at 100 after 11 s.
        for ms in 1..=8000 {
            window = cubic.grow(at(ms), round_trip, window, window / 200.0);
            if let Some((_, value)) = expected.next_if(|(s, _)| s * 1000 == ms) {
                assert!((window - value).abs() < 0.6, "{window} at {ms} ms, and the function has {value}");
            }
        }
        assert!(expected.next().is_none());
    }

    #[test]
    fn time_that_is_left_out_is_as_if_it_had_not_been() {
        let round_trip = Duration::from_ms(200);
        let mut window = [70.0; 2];
        let mut cubics = [after_a_loss(), after_a_loss()];
        for ms in 1..=6000 {
            if ms == 3000 {
                cubics[1].leave_out(Duration::from_secs(20));
            }
            let later = if ms >= 3000 { 20_000 } else { 0 };
            for ((cubic, window), later) in cubics.iter_mut().zip(&mut window).zip([0, later]) {
                *window = cubic.grow(at(ms + later), round_trip, *window, *window / 200.0);
            }
        }
        assert!((window[0] - window[1]).abs() < 1e-9 && window[0] > 100.0, "{window:?}");
    }

    #[test]
    fn where_reno_would_have_more_it_is_followed() {
        // A round trip of 1 ms: the cubic function has hardly moved after a second, Reno would have gained 0.53 a ms.
        let mut cubic = after_a_loss();
        let mut window = 70.0;
        for ms in 1..=100 {
            window = cubic.grow(at(ms), Duration::from_ms(1), window, window);
        }
        // 70 + 30 at 0.529412 a round trip take 57 of them; then it is one a round trip.
        assert!((window - (100.0 + 43.3)).abs() < 0.7, "{window}");
    }

    #[test]
    fn losses_at_falling_windows_converge_fast() {
        let mut cubic = after_a_loss();
        cubic.on_loss(80.0);
        assert_eq!((cubic.w_max, cubic.prior), (80.0 * 0.85, 80.0));
        cubic.on_loss(90.0);
        assert_eq!(cubic.w_max, 90.0);
    }

    #[test]
    fn after_a_timeout_the_function_begins_at_its_saddle() {
        let mut cubic = Cubic::default();
        cubic.on_loss(100.0);
        cubic.on_timeout();
        let epoch = cubic.begin(at(5), 70.0);
        assert_eq!((epoch.k, cubic.w_max), (0.0, 70.0));
    }
}
