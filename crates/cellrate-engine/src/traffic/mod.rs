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
}

/// The cells of the traffic of a direction, none of which has left, if it is open-loop traffic.
pub fn generator(scenario: &Scenario, flow: FlowIndex) -> Option<Generator> {
    let random = || Random::new(scenario.seed, Stream::Traffic(Owner::flow(scenario, flow)));
    scenario.flow(flow).traffic.as_ref()?.generator(random)
}
