//! Randomness is (seed, stream): every consumer has a stream of its own, and the same seed gives the same numbers on
//! any machine.
//!
//! A stream belongs to the *name* of its consumer and not to the consumer's place in the scenario: a connection or a
//! link that is added, removed or moved changes no number that the others draw, and `v3` of a group of five draws what
//! `v3` of a group of fifty draws. The seed is the key of a ChaCha generator of eight rounds; the number of the stream
//! is made of the first 64 bits of SHA-256 of the name, and of the purpose.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

use cellrate_proto::Duration;
use cellrate_scenario::{FlowIndex, PortIndex, Scenario};

use crate::names::{flow_name, port_name};

/// A consumer of random numbers, known by a digest of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u64);

impl Owner {
    /// The consumer that is called `name`.
    pub fn named(name: &str) -> Owner {
        let [a, b, c, d, e, f, g, h, ..] = <[u8; 32]>::from(Sha256::digest(name));
        Owner(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }

    /// A direction of a connection: `vc1`, or `vc1 (back)`.
    pub fn flow(scenario: &Scenario, flow: FlowIndex) -> Owner {
        Owner::named(&flow_name(scenario, flow))
    }

    /// An output port and the line behind it: `sw1->sw2`.
    pub fn port(scenario: &Scenario, port: PortIndex) -> Owner {
        Owner::named(&port_name(scenario, port))
    }
}

/// Consumers of random numbers: a stream for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The traffic of a direction.
    Traffic(Owner),
    /// Cell loss on a line.
    Loss(Owner),
    /// The rates of a program of a direction's video: the direction, and the program's number.
    Rates(Owner, u32),
    /// The spans between its clock references.
    References(Owner, u32),
    /// Faults that a test puts on a line of the live testbed, or on the datagrams of a node.
    Faults(Owner),
    /// The thoughts of a client of a direction's pages: the direction, and the client's number.
    Thoughts(Owner, u32),
    /// The use-it-or-lose-it policy of a direction's source that is not built in.
    Policy(Owner),
    /// Times that a host takes to process the PDUs of a direction.
    Processing(Owner),
    /// Flows and calls of a demand: 0 when they arrive, 1 between whom, 2 how much they ask for.
    Demand(Owner, u32),
    /// PDUs that differential frame discard refuses before an output port.
    Refusals(Owner),
    /// BRMs that a branch point passes by chance.
    Consolidation(Owner),
    /// Packets that an output port marks by chance.
    Marks(Owner),
    /// Cells or frames that the source of a direction sends with CLP = 1.
    Tags(Owner),
}

impl Stream {
    /// The number of the stream. Two streams of one owner never have the same, nor have two owners of different digests
    /// that draw the same thing, because each step can be undone.
    fn number(self) -> u64 {
        let (kind, owner, part) = match self {
            Stream::Traffic(owner) => (0, owner, 0),
            Stream::Loss(owner) => (1, owner, 0),
            Stream::Rates(owner, program) => (2, owner, program),
            Stream::References(owner, program) => (3, owner, program),
            Stream::Faults(owner) => (5, owner, 0),
            Stream::Thoughts(owner, client) => (4, owner, client),
            Stream::Policy(owner) => (6, owner, 0),
            Stream::Processing(owner) => (7, owner, 0),
            Stream::Demand(owner, part) => (15, owner, part),
            Stream::Refusals(owner) => (8, owner, 0),
            Stream::Consolidation(owner) => (9, owner, 0),
            Stream::Marks(owner) => (10, owner, 0),
            Stream::Tags(owner) => (11, owner, 0),
        };
        owner.0 ^ scattered(u64::from(part) << 8 | kind)
    }
}

/// A bijection of 64 bits whose output looks random (the finalizer of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
fn scattered(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    generator: ChaCha8Rng,
}

impl Random {
    /// The stream `stream` under `seed`.
    pub fn new(seed: u64, stream: Stream) -> Random {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream.number());
        Random { generator }
    }

    /// 64 bits, for who has a generator of its own.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
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

    fn owner(name: &str) -> Owner {
        Owner::named(name)
    }

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| Random::new(seed, stream).uniform();
        assert_eq!(draw(1, Stream::Traffic(owner("vc0"))), draw(1, Stream::Traffic(owner("vc0"))));
        assert_ne!(draw(1, Stream::Traffic(owner("vc0"))), draw(2, Stream::Traffic(owner("vc0"))));
        assert_ne!(draw(1, Stream::Traffic(owner("vc0"))), draw(1, Stream::Traffic(owner("vc1"))));
        assert_ne!(draw(1, Stream::Traffic(owner("vc0"))), draw(1, Stream::Loss(owner("vc0"))));
        assert_ne!(draw(1, Stream::Thoughts(owner("vc0"), 0)), draw(1, Stream::Thoughts(owner("vc0"), 1)));
    }

    #[test]
    fn golden_values_hold_on_every_machine() {
        let mut random = Random::new(1, Stream::Traffic(owner("vc0")));
        let first = [random.uniform(), random.uniform()];
        let span = random.exponential(Duration::from_ms(56));
        assert_eq!((first, span), GOLDEN);
    }

    #[test]
    fn exponential_spans_have_their_mean() {
        // 40,000 draws: the standard error of the mean is 0.5 % of it; 2.5 % is five of them.
        let mut random = Random::new(7, Stream::Traffic(owner("vc3")));
        let mean = Duration::from_ms(28);
        let sum: f64 = (0..40_000).map(|_| random.exponential(mean).as_secs_f64()).sum();
        assert!((sum / 40_000.0 / 0.028 - 1.0).abs() < 0.025, "{}", sum / 40_000.0);
    }

    const GOLDEN: ([f64; 2], Duration) =
        ([0.275_831_441_595_894_8, 0.873_632_310_382_595_3], Duration::from_ps(113_122_604_426));
}
