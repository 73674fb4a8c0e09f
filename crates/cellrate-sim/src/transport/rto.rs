//! The retransmission time-out: Jacobson's estimator in Karels's integers, Karn's back-off (RFC 6298).

use cellrate_proto::{Duration, Time};
use cellrate_scenario::TimeoutConfig;

/// How long to wait for an ACK.
#[derive(Clone, Debug)]
pub struct RtoEstimator {
    config: TimeoutConfig,
    /// SRTT and RTTVAR, once there is a measurement.
    estimate: Option<Estimate>,
    back_offs: u32,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    smoothed: Duration,
    variation: Duration,
}

impl RtoEstimator {
    /// One that has measured nothing.
    pub fn new(config: TimeoutConfig) -> RtoEstimator {
        RtoEstimator { config, estimate: None, back_offs: 0 }
    }

    /// An octet sent once, at `sent`, is acknowledged at `now`. The clock is only read in ticks, so a round trip is a
    /// whole number of them. Ends the back-off.
    pub fn on_measurement(&mut self, sent: Time, now: Time) {
        self.on_ticks(self.ticks(now) - self.ticks(sent), 1);
    }

    /// An octet that went at the tick `echo`, modulo 2^32, is acknowledged at `now`: one of so many samples of a round
    /// trip, each of which counts as much less (RFC 7323, appendix G). Ends the back-off.
    pub fn on_echo(&mut self, echo: u32, now: Time, samples: u64) {
        self.on_ticks(u64::from(self.clock(now).wrapping_sub(echo)), samples.max(1));
    }

    /// The clock that timestamps show: ticks modulo 2^32 (RFC 7323, section 5.4).
    pub fn clock(&self, now: Time) -> u32 {
        self.ticks(now) as u32
    }

    fn ticks(&self, time: Time) -> u64 {
        time.since(Time::ZERO).div_floor(self.config.granularity)
    }

    fn on_ticks(&mut self, ticks: u64, samples: u64) {
        let measured = self.config.granularity * ticks;
        self.back_offs = 0;
        let (alpha, beta) = (samples.saturating_mul(8), samples.saturating_mul(4));
        self.estimate = Some(match self.estimate {
            None => Estimate { smoothed: measured, variation: measured.half() },
            Some(Estimate { smoothed, variation }) => Estimate {
                smoothed: Duration::from_ps(
                    smoothed.as_ps() - smoothed.as_ps() / alpha + measured.as_ps() / alpha,
                ),
                variation: Duration::from_ps(
                    variation.as_ps() - variation.as_ps() / beta
                        + smoothed.as_ps().abs_diff(measured.as_ps()) / beta,
                ),
            },
        });
    }

    /// The timer has expired: the next time-out is twice as long.
    pub fn back_off(&mut self) {
        self.back_offs += 1;
    }

    /// Notes that the segment that opened the connection had to be sent again: the first time-out is 3 s at least (RFC
    /// 6298, rule 5.7).
    pub fn on_opening_lost(&mut self) {
        self.config.initial = self.config.initial.max(Duration::from_secs(3));
    }

    /// RTO = SRTT + max(G, 4 RTTVAR), not below the minimum, doubled for each time-out, not above the maximum.
    pub fn timeout(&self) -> Duration {
        let TimeoutConfig { granularity, minimum, maximum, initial } = self.config;
        let base = match self.estimate {
            None => initial,
            Some(Estimate { smoothed, variation }) => {
                smoothed.saturating_add(variation.saturating_mul(4).max(granularity)).max(minimum)
            }
        };
        // 2^40 times a time-out of 50 us is 636 days.
        base.saturating_mul(1 << self.back_offs.min(40)).min(maximum)
    }

    /// When a timer that is set at `now` expires: at the first tick of the clock that is not too early.
    pub fn expires(&self, now: Time) -> Time {
        let due = now.saturating_add(self.timeout()).since(Time::ZERO);
        Time::ZERO
            .saturating_add(self.config.granularity.saturating_mul(due.div_ceil(self.config.granularity)))
    }

    /// SRTT, once there is a measurement.
    pub fn smoothed(&self) -> Option<Duration> {
        self.estimate.map(|estimate| estimate.smoothed)
    }
}

trait Half {
    fn half(self) -> Self;
}

impl Half for Duration {
    fn half(self) -> Duration {
        Duration::from_ps(self.as_ps() / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(granularity_us: u64, minimum_ms: u64) -> RtoEstimator {
        RtoEstimator::new(TimeoutConfig {
            granularity: Duration::from_us(granularity_us),
            minimum: Duration::from_ms(minimum_ms),
            maximum: Duration::from_secs(64),
            initial: Duration::from_secs(3),
        })
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn the_estimator_follows_rfc_6298_by_hand() {
        let mut rto = estimator(1000, 0);
        assert_eq!(rto.timeout(), Duration::from_secs(3));
        // R = 80: SRTT = 80, RTTVAR = 40, RTO = 80 + 160.
        rto.on_measurement(at(0), at(80));
        assert_eq!(rto.timeout(), Duration::from_ms(240));
        // R' = 160: RTTVAR = 3/4 * 40 + 1/4 * 80 = 50, SRTT = 7/8 * 80 + 1/8 * 160 = 90, RTO = 290.
        rto.on_measurement(at(100), at(260));
        assert_eq!(rto.smoothed(), Some(Duration::from_ms(90)));
        assert_eq!(rto.timeout(), Duration::from_ms(290));
    }

    #[test]
    fn one_of_several_samples_of_a_round_trip_counts_less() {
        // RFC 7323, appendix G: with 4 samples the gains are 1/32 and 1/16.
        let mut rto = estimator(1000, 0);
        rto.on_echo(rto.clock(at(0)), at(320), 4);
        assert_eq!(rto.timeout(), Duration::from_ms(320 + 640));
        rto.on_echo(rto.clock(at(1000)), at(1000), 4);
        // SRTT = 320 - 10, RTTVAR = 160 - 10 + 20.
        assert_eq!(rto.smoothed(), Some(Duration::from_ms(310)));
        assert_eq!(rto.timeout(), Duration::from_ms(310 + 680));
        // 2^32 ticks of a millisecond go round after 49.7 days.
        let late = Time::ZERO + Duration::from_ms((1 << 32) + 100);
        rto.on_echo(u32::MAX - 99, late, 1);
        assert_eq!(
            rto.smoothed().map(|span| span.as_ps()),
            Some((310_000 * 7 / 8 + 200_000 / 8) * 1_000_000)
        );
    }

    #[test]
    fn round_trips_are_counted_in_ticks() {
        // From 499 ms to 501 ms is one tick of 500 ms; from 1 ms to 499 ms is none.
        let mut rto = estimator(500_000, 0);
        rto.on_measurement(at(1), at(499));
        assert_eq!(rto.smoothed(), Some(Duration::ZERO));
        assert_eq!(rto.timeout(), Duration::from_ms(500), "never below a tick");
        let mut rto = estimator(500_000, 0);
        rto.on_measurement(at(499), at(501));
        assert_eq!(rto.smoothed(), Some(Duration::from_ms(500)));
    }

    #[test]
    fn a_timer_expires_at_a_tick_not_before_its_time() {
        let mut rto = estimator(100_000, 200);
        rto.on_measurement(at(0), at(0));
        assert_eq!(rto.expires(at(100)), at(300));
        assert_eq!(rto.expires(at(101)), at(400));
    }

    #[test]
    fn back_off_doubles_up_to_the_maximum_and_ends_with_a_measurement() {
        let mut rto = estimator(1000, 1000);
        rto.on_measurement(at(0), at(10));
        for expected in [1, 2, 4, 8, 16, 32, 64, 64] {
            assert_eq!(rto.timeout(), Duration::from_secs(expected));
            rto.back_off();
        }
        rto.on_measurement(at(0), at(10));
        assert_eq!(rto.timeout(), Duration::from_secs(1));
    }
}
