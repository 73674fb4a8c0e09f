//! HyStart: slow start ends before it overruns the path, as round trips or trains of ACKs tell.
//!
//! Two of them: that of Ha and Rhee ("Taming the elephants: new TCP slow start", Computer Networks 55(9), 2011) with
//! the constants that Linux 6.18 has, which ends slow start for good, and HyStart++ (RFC 9406), which slows down first
//! and looks whether that was for nothing. Both take a round trip from every ACK of something new.

use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::{SlowStart, TcpConfig};

use super::sequence::Sequence;

/// Samples of a round without which its round trips tell nothing (RFC 9406, N_RTT_SAMPLE; Linux).
const SAMPLES: u32 = 8;
/// Bounds of the delay that ends slow start (RFC 9406, MIN_RTT_THRESH and MAX_RTT_THRESH; Linux).
const LEAST_DELAY: Duration = Duration::from_ms(4);
const MOST_DELAY: Duration = Duration::from_ms(16);
/// Part of the round trip that ends it between those (RFC 9406, MIN_RTT_DIVISOR; Linux).
const DELAY_DIVISOR: u64 = 8;
/// Segments below which Linux does not look.
const LOW_WINDOW: u64 = 16;
/// ACKs that are no further apart are a train (Linux).
const TRAIN_GAP: Duration = Duration::from_ms(2);
/// Allowance for segments that Linux collects: the time that four of its largest packets take at the rate of pacing...
const COLLECTED: Octets = Octets(4 * 65_536);
/// ...and this at most.
const MOST_COLLECTED: Duration = Duration::from_ms(1);
/// Part of its growth that slow start has while it is conservative (RFC 9406, CSS_GROWTH_DIVISOR).
const CONSERVATIVE_DIVISOR: u64 = 4;
/// Rounds for which it is (RFC 9406, CSS_ROUNDS).
const CONSERVATIVE_ROUNDS: u32 = 5;
/// Segments by which one ACK may let the window grow without pacing (RFC 9406, L).
const UNPACED_LIMIT: u64 = 8;

/// An ACK of something new, as HyStart sees it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// When it came.
    pub now: Time,
    /// The round trip that it tells of.
    pub round_trip: Duration,
    /// SRTT.
    pub smoothed: Duration,
    /// Everything before this is acknowledged.
    pub acknowledged: Sequence,
    /// Everything before this has been sent.
    pub sent: Sequence,
}

/// State of HyStart.
#[derive(Clone, Debug)]
pub struct HyStart {
    plus_plus: bool,
    paced: bool,
    mss: u64,
    /// Whether it has ended slow start, and looks no more.
    over: bool,
    /// The first round has begun.
    begun: bool,
    round_end: Sequence,
    round_start: Time,
    last_ack: Time,
    samples: u32,
    /// Shortest round trip of this round, of the last one, and of all.
    current: Option<Duration>,
    previous: Option<Duration>,
    shortest: Option<Duration>,
    conservative: Option<Conservative>,
}

/// Slow start is conservative (RFC 9406, section 4.2).
#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline: Duration,
    rounds: u32,
}

impl HyStart {
    /// The one that is asked for, if any is.
    pub fn of(config: &TcpConfig) -> Option<HyStart> {
        let plus_plus = match config.slow_start {
            SlowStart::Standard => return None,
            SlowStart::HyStart => false,
            SlowStart::HyStartPlusPlus => true,
        };
        Some(HyStart {
            plus_plus,
            paced: config.pacing,
            mss: config.payload().0,
            over: false,
            begun: false,
            round_end: Sequence::START,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            samples: 0,
            current: None,
            previous: None,
            shortest: None,
            conservative: None,
        })
    }

    /// Octets by which an ACK of so many lets the window grow in slow start, where that grows by `standard`.
    pub fn growth(&self, acked: u64, standard: u64) -> u64 {
        if !self.plus_plus {
            return standard;
        }
        let limit = if self.paced { u64::MAX } else { UNPACED_LIMIT * self.mss };
        let divisor = if self.conservative.is_some() { CONSERVATIVE_DIVISOR } else { 1 };
        acked.min(limit) / divisor
    }

    /// An ACK has come in slow start, with the window at `cwnd`: whether slow start ends with it, for which ssthresh
    /// becomes cwnd.
    pub fn ends(&mut self, sample: &Sample, cwnd: u64) -> bool {
        let shortest = self.shortest.map_or(sample.round_trip, |least| least.min(sample.round_trip));
        self.shortest = Some(shortest);
        if self.over {
            return false;
        }
        let rounds_over = self.begin_round(sample);
        self.over =
            if self.plus_plus { self.slows_down(sample, rounds_over) } else { self.is_found(sample, cwnd) };
        self.over
    }

    /// A round is over when everything that had been sent at its beginning is acknowledged; whether one is now.
    fn begin_round(&mut self, sample: &Sample) -> bool {
        let over = !self.begun || sample.acknowledged > self.round_end;
        if over {
            self.begun = true;
            self.round_end = sample.sent;
            (self.round_start, self.last_ack) = (sample.now, sample.now);
            self.samples = 0;
            self.previous = self.current.take();
        }
        over
    }

    fn take(&mut self, round_trip: Duration) -> Duration {
        let current = self.current.map_or(round_trip, |least| least.min(round_trip));
        self.current = Some(current);
        current
    }

    /// By the train of ACKs, which lasts for half of the shortest round trip (all of it with pacing), or by the delay.
    fn is_found(&mut self, sample: &Sample, cwnd: u64) -> bool {
        if cwnd < LOW_WINDOW * self.mss {
            return false;
        }
        let shortest = self.shortest.unwrap_or(sample.round_trip);
        if sample.now.since(self.last_ack) <= TRAIN_GAP {
            self.last_ack = sample.now;
            let share = u128::from(sample.smoothed.as_ps()) * u128::from(COLLECTED.0);
            let collected = Duration::from_ps((share / (2 * u128::from(cwnd))) as u64).min(MOST_COLLECTED);
            let whole = shortest + collected;
            let length = if self.paced { whole } else { Duration::from_ps(whole.as_ps() / 2) };
            if sample.now.since(self.round_start) > length {
                return true;
            }
        }
        let current = self.take(sample.round_trip);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        current > shortest + delay(shortest)
    }

    /// RFC 9406, section 4.2.
    fn slows_down(&mut self, sample: &Sample, round_over: bool) -> bool {
        if let Some(state) = self.conservative.as_mut().filter(|_| round_over) {
            state.rounds += 1;
            if state.rounds >= CONSERVATIVE_ROUNDS {
                return true;
            }
        }
        let current = self.take(sample.round_trip);
        self.samples += 1;
        if self.samples < SAMPLES {
            return false;
        }
        match (self.conservative, self.previous) {
            (Some(state), _) if current < state.baseline => self.conservative = None,
            (None, Some(previous)) if current >= previous + delay(previous) => {
                self.conservative = Some(Conservative { baseline: current, rounds: 0 });
            }
            _ => {}
        }
        false
    }

    /// The timer has expired, and slow start begins anew: Linux looks again, HyStart++ is of the first slow start only.
    pub fn on_timeout(&mut self) {
        self.over = self.plus_plus;
        self.conservative = None;
        self.begun = false;
        self.current = None;
    }

    /// A loss has ended slow start.
    pub fn on_loss(&mut self) {
        self.over |= self.plus_plus;
        self.conservative = None;
    }
}

fn delay(round_trip: Duration) -> Duration {
    Duration::from_ps(round_trip.as_ps() / DELAY_DIVISOR).clamp(LEAST_DELAY, MOST_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::Preset;

    const MSS: u64 = 1448;

    fn hystart(slow_start: SlowStart, pacing: bool) -> HyStart {
        let linux = Preset::named("linux").expect("it is there").tcp();
        HyStart::of(&TcpConfig { slow_start, pacing, ..linux }).expect("it is asked for")
    }

    /// An ACK of segment `number` at `us`, with segments up to `sent` on their way.
    fn sample(us: u64, round_trip: u64, number: u64, sent: u64) -> Sample {
        Sample {
            now: Time::ZERO + Duration::from_us(us),
            round_trip: Duration::from_us(round_trip),
            smoothed: Duration::from_us(round_trip),
            acknowledged: Sequence(number * MSS),
            sent: Sequence(sent * MSS),
        }
    }

    #[test]
    fn a_train_of_acks_as_long_as_half_of_a_round_trip_ends_slow_start_and_with_pacing_a_whole_one() {
        // 40 ms, and a millisecond for what is collected: 20.5 ms, or 41.
        for (pacing, expected) in [(false, 21), (true, 42)] {
            let mut hystart = hystart(SlowStart::HyStart, pacing);
            let found = (0..60).find(|&n| hystart.ends(&sample(n * 1000, 40_000, n + 1, 100), 20 * MSS));
            assert_eq!(found, Some(expected), "{pacing}");
            assert!(!hystart.ends(&sample(100_000, 99_000, 99, 200), 20 * MSS), "once");
        }
        // ACKs more than 2 ms apart are no train, and a window below 16 segments is not looked at.
        let mut apart = hystart(SlowStart::HyStart, false);
        assert!((0..60).all(|n| !apart.ends(&sample(n * 2100, 40_000, n + 1, 100), 20 * MSS)));
        let mut small = hystart(SlowStart::HyStart, false);
        assert!((0..60).all(|n| !small.ends(&sample(n * 1000, 40_000, n + 1, 100), 15 * MSS)));
    }

    #[test]
    fn eight_round_trips_an_eighth_longer_end_slow_start_in_linux() {
        // 40 ms and 5 ms; the ninth ACK is the first that is heeded.
        for (round_trip, expected) in [(45_000, None), (45_001, Some(8))] {
            let mut hystart = hystart(SlowStart::HyStart, false);
            assert!(!hystart.ends(&sample(0, 40_000, 1, 20), 20 * MSS));
            let found =
                (0..20).find(|&n| hystart.ends(&sample(50_000 + 2100 * n, round_trip, 21 + n, 99), 20 * MSS));
            assert_eq!(found, expected, "{round_trip}");
        }
    }

    /// Rounds of ten ACKs each with these round trips \[us\]; in which one slow start ends.
    fn rounds(hystart: &mut HyStart, round_trips: &[u64]) -> Option<usize> {
        let ends = |(round, &round_trip): (usize, &u64)| {
            let first = 10 * round as u64;
            let ack = |n| sample(first * 1000 + n, round_trip, first + n + 1, first + 10);
            (0..10).any(|n| hystart.ends(&ack(n), 20 * MSS)).then_some(round)
        };
        round_trips.iter().enumerate().find_map(ends)
    }

    #[test]
    fn conservative_slow_start_lasts_for_five_rounds() {
        // RFC 9406, section 4.2: max(4 ms, min(40 ms / 8, 16 ms)) are 5 ms.
        let mut calm = hystart(SlowStart::HyStartPlusPlus, false);
        assert_eq!(
            (rounds(&mut calm, &[40_000, 44_999, 49_000]), calm.conservative.is_some()),
            (None, false)
        );
        let mut slows = hystart(SlowStart::HyStartPlusPlus, false);
        assert_eq!((rounds(&mut slows, &[40_000, 45_000]), slows.conservative.is_some()), (None, true));
        assert_eq!(slows.growth(4 * MSS, MSS), MSS, "a quarter");
        let mut ends = hystart(SlowStart::HyStartPlusPlus, false);
        assert_eq!(rounds(&mut ends, &[40_000, 45_000, 45_000, 46_000, 47_000, 48_000, 49_000]), Some(6));
    }

    #[test]
    fn a_delay_that_passes_resumes_slow_start() {
        let mut hystart = hystart(SlowStart::HyStartPlusPlus, false);
        assert_eq!(rounds(&mut hystart, &[40_000, 45_000, 44_000]), None);
        assert!(hystart.conservative.is_none());
        assert_eq!(hystart.growth(4 * MSS, MSS), 4 * MSS);
    }

    #[test]
    fn an_ack_counts_for_eight_segments_at_most_unless_paced() {
        let growth = |pacing| hystart(SlowStart::HyStartPlusPlus, pacing).growth(20 * MSS, MSS);
        assert_eq!([growth(false), growth(true)], [8 * MSS, 20 * MSS]);
        assert_eq!(
            hystart(SlowStart::HyStart, false).growth(20 * MSS, MSS),
            MSS,
            "Linux's leaves that alone"
        );
    }
}
