//! Traffic at work: each kind is asked when, from some instant on, a data cell waits, and is told when one has left. No
//! event is spent on a cell's arrival at its own source.
//!
//! Open-loop traffic says itself when its cells come ([`cellrate_scenario::traffic`]); here are the kinds that are no
//! part of that list.

mod bursts;
mod frames;
mod mpeg2;
mod video;

pub use bursts::{Burst, Bursts, TrafficSource};
pub use frames::{Frame, Frames};
pub use mpeg2::{Mpeg2, Mpeg2Pdu, Mpeg2Pdus, Part, Reference};
pub use video::Video;

use cellrate_proto::Duration;
use cellrate_scenario::traffic::Draws;
use cellrate_scenario::{FlowIndex, Scenario};

use crate::random::{Owner, Random, Stream};

/// Cells of open-loop traffic, which draws from a stream of the run.
pub type Generator = cellrate_scenario::traffic::Generator<Random>;

impl Draws for Random {
    fn exponential(&mut self, mean: Duration) -> Duration {
        Random::exponential(self, mean)
    }

    fn pareto(&mut self, mean: Duration, alpha: f64) -> Duration {
        let least = mean.as_secs_f64() * (alpha - 1.0) / alpha;
        Duration::from_secs_f64(least * libm::pow(1.0 - Random::uniform(self), -1.0 / alpha))
    }

    /// By inversion of 1 - F(x), which falls as x / mean up to the least time, and then as a power.
    fn pareto_left(&mut self, mean: Duration, alpha: f64) -> Duration {
        let least = mean.as_secs_f64() * (alpha - 1.0) / alpha;
        let drawn = Random::uniform(self);
        Duration::from_secs_f64(match drawn * alpha < alpha - 1.0 {
            true => drawn * mean.as_secs_f64(),
            false => least * libm::pow(alpha * (1.0 - drawn), -1.0 / (alpha - 1.0)),
        })
    }

    fn uniform(&mut self) -> f64 {
        Random::uniform(self)
    }
}

/// The cells of the traffic of a direction, none of which has left, if it is open-loop traffic.
pub fn generator(scenario: &Scenario, flow: FlowIndex) -> Option<Generator> {
    let random = || Random::new(scenario.seed, Stream::Traffic(Owner::flow(scenario, flow)));
    scenario.flow(flow).traffic.as_ref()?.generator(random)
}
