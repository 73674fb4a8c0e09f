//! The retransmission time-out: Jacobson's estimator in Karels's integers, Karn's back-off (RFC 6298).

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Estimator, TimeoutConfig};

use super::sequence::Sequence;

/// How long to wait for an ACK.
#[derive(Clone, Debug)]
pub struct RtoEstimator {
    config: TimeoutConfig,
    /// SRTT and RTTVAR, once there is a measurement.
    estimate: Option<Estimate>,
    back_offs: u32,
    /// As Linux estimates: the state of that.
    linux: Option<Linux>,
}

/// The variation as Linux has it, four times the mean deviation: the largest of a round trip, and the minimum time-out
/// at least, so that a time-out is that much longer than a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Linux {
    deviation: Duration,
    /// The largest deviation of this round, which ends when all before `round_end` is acknowledged.
    largest: Duration,
    round_end: Option<Sequence>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    smoothed: Duration,
    variation: Duration,
}

impl RtoEstimator {
    /// An estimator that has measured nothing.
    pub fn new(config: TimeoutConfig) -> RtoEstimator {
        RtoEstimator { config, estimate: None, back_offs: 0, linux: None }
    }

    /// This estimator, made to estimate as `estimator` says.
    pub fn by(self, estimator: Estimator) -> RtoEstimator {
        let linux = match estimator {
            Estimator::Rfc6298 => None,
            Estimator::Linux => Some(Linux::default()),
        };
        RtoEstimator { linux, ..self }
    }

    /// An octet sent once, at `sent`, is acknowledged at `now`. The clock is only read in ticks, so a round trip is a
    /// whole number of them. Ends the back-off.
    pub fn on_measurement(&mut self, sent: Time, now: Time) {
        self.on_ticks(self.ticks(now) - self.ticks(sent), 1, None);
    }

    /// An octet that went at the tick `echo`, modulo 2^32, is acknowledged at `now`: one of so many samples of a round
    /// trip, each of which counts as much less (RFC 7323, appendix G; Linux counts each in full). What comes before the
    /// first of `range` is acknowledged, what comes before the second is sent. Ends the back-off; the round trip.
    pub fn on_echo(&mut self, echo: u32, now: Time, samples: u64, range: [Sequence; 2]) -> Duration {
        let ticks = u64::from(self.clock(now).wrapping_sub(echo));
        self.on_ticks(ticks, samples.max(1), Some(range));
        self.config.granularity * ticks
    }

    /// The clock that timestamps show: ticks modulo 2^32 (RFC 7323, section 5.4).
    pub fn clock(&self, now: Time) -> u32 {
        self.ticks(now) as u32
    }

    fn ticks(&self, time: Time) -> u64 {
        time.since(Time::ZERO).div_floor(self.config.granularity)
    }

    fn on_ticks(&mut self, ticks: u64, samples: u64, range: Option<[Sequence; 2]>) {
        let measured = self.config.granularity * ticks;
        self.back_offs = 0;
        if let Some(linux) = &mut self.linux {
            self.estimate = Some(linux.on_measurement(self.estimate, measured, self.config.minimum, range));
            return;
        }
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
            Some(Estimate { smoothed, variation }) if self.linux.is_some() => {
                smoothed.saturating_add(variation)
            }
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

impl Linux {
    fn on_measurement(
        &mut self,
        before: Option<Estimate>,
        measured: Duration,
        minimum: Duration,
        range: Option<[Sequence; 2]>,
    ) -> Estimate {
        let sent = range.map(|[_, sent]| sent);
        let Some(Estimate { smoothed, mut variation }) = before else {
            self.deviation = measured * 2;
            self.largest = self.deviation.max(minimum);
            self.round_end = sent;
            return Estimate { smoothed: measured, variation: self.largest };
        };
        let shorter = measured < smoothed;
        let error = smoothed.as_ps().abs_diff(measured.as_ps());
        let next = if shorter { smoothed.as_ps() - error / 8 } else { smoothed.as_ps() + error / 8 };
        let quarter = self.deviation.as_ps() / 4;
        // Round trips that grow shorter are no reason for a longer time-out.
        let more = error.saturating_sub(quarter) / if shorter { 8 } else { 1 };
        self.deviation = Duration::from_ps(self.deviation.as_ps() + more - quarter.saturating_sub(error));
        self.largest = self.largest.max(self.deviation);
        variation = variation.max(self.largest);
        let over = range.is_none_or(|[acknowledged, _]| self.round_end.is_none_or(|end| acknowledged > end));
        if over {
            let less = variation.as_ps().saturating_sub(self.largest.as_ps()) / 4;
            variation = Duration::from_ps(variation.as_ps() - less);
            (self.round_end, self.largest) = (sent, minimum);
        }
        Estimate { smoothed: Duration::from_ps(next), variation }
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

    const NOTHING: [Sequence; 2] = [Sequence::START; 2];

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
        rto.on_echo(rto.clock(at(0)), at(320), 4, NOTHING);
        assert_eq!(rto.timeout(), Duration::from_ms(320 + 640));
        rto.on_echo(rto.clock(at(1000)), at(1000), 4, NOTHING);
        // SRTT = 320 - 10, RTTVAR = 160 - 10 + 20.
        assert_eq!(rto.smoothed(), Some(Duration::from_ms(310)));
        assert_eq!(rto.timeout(), Duration::from_ms(310 + 680));
        // 2^32 ticks of a millisecond go round after 49.7 days.
        let late = Time::ZERO + Duration::from_ms((1 << 32) + 100);
        rto.on_echo(u32::MAX - 99, late, 1, NOTHING);
        assert_eq!(
            rto.smoothed().map(|span| span.as_ps()),
            Some((310_000 * 7 / 8 + 200_000 / 8) * 1_000_000)
        );
    }

    #[test]
    fn linux_has_a_time_out_that_is_the_minimum_longer_than_a_round_trip() {
        let mut rto = estimator(1, 200).by(Estimator::Linux);
        rto.on_measurement(at(0), at(40));
        assert_eq!(rto.timeout(), Duration::from_ms(240), "twice 40 are less than 200");
        // Each ACK counts in full, 7/8 * 40 + 1/8 * 48, however many samples a round trip has.
        let range = |acknowledged, sent| [Sequence(acknowledged), Sequence(sent)];
        assert_eq!(rto.on_echo(rto.clock(at(0)), at(48), 20, range(1, 10)), Duration::from_ms(48));
        assert_eq!((rto.smoothed(), rto.timeout()), (Some(Duration::from_ms(41)), Duration::from_ms(241)));
        // 359 ms longer: the deviation was 80 - 20 + 8 and is 68 - 17 + 359 ms, the largest of this round.
        rto.on_echo(rto.clock(at(0)), at(400), 1, range(2, 10));
        let expected = 41_000 + 359_000 / 8 + 68_000 - 17_000 + 359_000;
        assert_eq!(rto.timeout(), Duration::from_us(expected));
        // It goes down by a quarter of what it is above that of the next rounds, and not within one.
        let smoothed = |rto: &RtoEstimator| rto.smoothed().expect("it is measured");
        let above = |rto: &RtoEstimator| (rto.timeout() - smoothed(rto)).as_ps() / 1_000_000;
        let same = |rto: &mut RtoEstimator, range| {
            let ticks = smoothed(rto).as_ps() / 1_000_000;
            rto.on_echo(0, Time::ZERO + Duration::from_us(ticks), 1, range);
        };
        (0..200).for_each(|_| same(&mut rto, range(10, 20)));
        assert_eq!(above(&rto), 410_000);
        same(&mut rto, range(11, 20));
        same(&mut rto, range(21, 30));
        assert_eq!(above(&rto), 410_000 - 210_000 / 4);
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
