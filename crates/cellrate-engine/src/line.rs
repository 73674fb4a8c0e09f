//! The line behind a port: how long a cell takes, how far it goes, and what is lost on it.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{PortIndex, Scenario, Span};

use crate::random::{Owner, Random, Stream};

/// The line behind a port.
#[derive(Clone, Debug)]
pub struct Line {
    /// Time of one cell on the line.
    pub cell_time: Duration,
    /// Propagation delay.
    pub delay: Duration,
    faults: Option<Box<Faults>>,
}

#[derive(Clone, Debug)]
struct Faults {
    cell_loss: f64,
    random: Random,
    outages: Vec<Span>,
    /// The first outage that has not ended.
    outage: usize,
}

impl Line {
    /// The line behind `port`.
    pub fn of(scenario: &Scenario, port: PortIndex) -> Line {
        let link = scenario.link(port.link());
        let random = Random::new(scenario.seed, Stream::Loss(Owner::port(scenario, port)));
        Line::new(link.rate.cell_time(), link.delay, link.cell_loss, &link.outages, random)
    }

    /// A line that loses each cell with probability `cell_loss`, drawn from `random`, and all of them in `outages`.
    pub fn new(
        cell_time: Duration,
        delay: Duration,
        cell_loss: f64,
        outages: &[Span],
        random: Random,
    ) -> Line {
        let faulty = cell_loss > 0.0 || !outages.is_empty();
        let faults = Faults { cell_loss, random, outages: outages.to_vec(), outage: 0 };
        Line { cell_time, delay, faults: faulty.then(|| Box::new(faults)) }
    }

    /// Whether it can lose cells at all.
    pub fn is_faulty(&self) -> bool {
        self.faults.is_some()
    }

    /// Whether the cell whose transmission ends at `departs` is lost. Departures never go backwards.
    #[inline]
    pub fn loses(&mut self, departs: Time) -> bool {
        match &mut self.faults {
            None => false,
            Some(faults) => faults.loses(departs),
        }
    }
}

impl Faults {
    fn loses(&mut self, departs: Time) -> bool {
        while self.outages.get(self.outage).is_some_and(|outage| outage.end <= departs) {
            self.outage += 1;
        }
        // Drawn for every cell, so that outages do not shift the stream.
        let unlucky = self.cell_loss > 0.0 && self.random.uniform() < self.cell_loss;
        unlucky || self.outages.get(self.outage).is_some_and(|outage| outage.start <= departs)
    }
}
