//! Processing time: how long a host takes for each PDU that it sends.

use cellrate_proto::Duration;
use cellrate_scenario::{FlowIndex, Processing, Scenario};

use crate::random::{Owner, Random, Stream};

/// The times that a host takes for the PDUs of one direction, one drawn after the other.
#[derive(Clone, Debug)]
pub struct ProcessingTimes {
    times: Processing,
    random: Random,
}

impl ProcessingTimes {
    /// The processing times of the host that sends `flow`; `None` where it takes no time.
    pub fn of(scenario: &Scenario, flow: FlowIndex) -> Option<ProcessingTimes> {
        let host = scenario.tail(scenario.step(flow, 0));
        let times = scenario.hosts.get(host.0 as usize).map(|host| host.processing)?;
        let random = || Random::new(scenario.seed, Stream::Processing(Owner::flow(scenario, flow)));
        (times != Processing::None).then(|| ProcessingTimes { times, random: random() })
    }

    /// The next one.
    pub fn draw(&mut self) -> Duration {
        match self.times {
            Processing::None => Duration::ZERO,
            Processing::Fixed(time) => time,
            Processing::Exponential(mean) => self.random.exponential(mean),
            Processing::Uniform(from, to) => {
                let span = u128::from(to.as_ps().saturating_sub(from.as_ps())) + 1;
                let drawn = ((u128::from(self.random.bits()) * span) >> 64) as u64;
                Duration::from_ps(from.as_ps().saturating_add(drawn))
            }
        }
    }
}
