//! Randomness is (seed, stream): every consumer has a stream of its own, so adding one does not disturb the rest, and
//! the same seed gives the same numbers on any machine.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use cellrate_proto::Duration;

/// Who draws. The number beside it is the consumer's index in the scenario: that of a direction of a connection is its
/// [`FlowIndex`](cellrate_scenario::FlowIndex), that of a line the [`PortIndex`](cellrate_scenario::PortIndex) of the
/// port before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The traffic of a direction.
    Traffic(u32),
    /// Cell loss on a line.
    Loss(u32),
    /// The rates of a program of a direction's video: the direction, and the program's number.
    Rates(u32, u32),
    /// The spans between its clock references.
    References(u32, u32),
    /// Faults that a test puts on a line of the live testbed.
    Faults(u32),
    /// The thoughts of a client of a direction's pages: the direction, and the client's number.
    Thoughts(u32, u32),
    /// The use-it-or-lose-it policy of a direction's source that is not built in.
    Policy(u32),
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    generator: ChaCha8Rng,
}

impl Random {
    /// The stream `stream` under `seed`.
    pub fn new(seed: u64, stream: Stream) -> Random {
        let (kind, index, part) = match stream {
            Stream::Traffic(index) => (0, index, 0),
            Stream::Loss(index) => (1, index, 0),
            Stream::Rates(index, program) => (2, index, program),
            Stream::References(index, program) => (3, index, program),
            Stream::Faults(index) => (5, index, 0),
            Stream::Thoughts(index, client) => (4, index, client),
            Stream::Policy(index) => (6, index, 0),
        };
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(u64::from(part) << 40 | u64::from(index) << 8 | kind);
        Random { generator }
    }

    /// 64 bits, for who has a generator of its own.
    pub fn bits(&mut self) -> u64 {
        self.generator.random()
    }

    /// Uniform in [0, 1), of 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Two independent numbers of the standard normal distribution (Box and Muller).
    pub fn gaussian_pair(&mut self) -> [f64; 2] {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        let angle = 2.0 * std::f64::consts::PI * self.uniform();
        [radius * libm::cos(angle), radius * libm::sin(angle)]
    }

    /// Exponentially distributed with this mean, by inversion; the logarithm is a portable one, not the platform's.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(-mean.as_secs_f64() * libm::log(1.0 - self.uniform()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| Random::new(seed, stream).uniform();
        assert_eq!(draw(1, Stream::Traffic(0)), draw(1, Stream::Traffic(0)));
        assert_ne!(draw(1, Stream::Traffic(0)), draw(2, Stream::Traffic(0)));
        assert_ne!(draw(1, Stream::Traffic(0)), draw(1, Stream::Traffic(1)));
        assert_ne!(draw(1, Stream::Traffic(0)), draw(1, Stream::Loss(0)));
    }

    #[test]
    fn golden_values_hold_on_every_machine() {
        let mut random = Random::new(1, Stream::Traffic(0));
        let first = [random.uniform(), random.uniform()];
        let span = random.exponential(Duration::from_ms(56));
        assert_eq!((first, span), GOLDEN);
    }

    #[test]
    fn exponential_spans_have_their_mean() {
        // 40,000 draws: the standard error of the mean is 0.5 % of it; 2.5 % is five of them.
        let mut random = Random::new(7, Stream::Traffic(3));
        let mean = Duration::from_ms(28);
        let sum: f64 = (0..40_000).map(|_| random.exponential(mean).as_secs_f64()).sum();
        assert!((sum / 40_000.0 / 0.028 - 1.0).abs() < 0.025, "{}", sum / 40_000.0);
    }

    const GOLDEN: ([f64; 2], Duration) =
        ([0.402_485_663_664_848_06, 0.080_383_708_929_781_97], Duration::from_ps(50_832_765_183));
}
