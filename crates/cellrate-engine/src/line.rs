//! The line behind a port: how long a cell takes, how far it goes, and what is lost on it.

use std::sync::Arc;

use cellrate_proto::{BitRate, Duration, Time};
use cellrate_scenario::{InFlight, LinkStep, PortIndex, Scenario, Span};

use crate::random::{Owner, Random, Stream};

/// The line behind a port.
#[derive(Clone, Debug)]
pub struct Line {
    /// Time of one cell on the line; [`Duration::FOREVER`] while it has stopped.
    pub cell_time: Duration,
    /// Propagation delay.
    pub delay: Duration,
    faults: Option<Box<Faults>>,
    changing: Option<Box<Changing>>,
}

/// The steps of a line that changes, and how far it has come.
#[derive(Clone, Debug)]
struct Changing {
    steps: Arc<[LinkStep]>,
    /// The step that comes next.
    next: usize,
    /// Whether any of them has what is on the line lost.
    loses_in_flight: bool,
    /// When the last cell arrives that has left and is not lost.
    last_arrival: Time,
}

#[derive(Clone, Debug)]
struct Faults {
    cell_loss: f64,
    /// Whether it ever loses cells by chance.
    by_chance: bool,
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
        let (cell_time, delay) = (link.rate.cell_time(), link.delay);
        let by_chance = link.cell_loss > 0.0 || link.changes.iter().any(|step| step.cell_loss > 0.0);
        let faults = Faults::new(link.cell_loss, by_chance, &link.outages, random);
        let changing = link.is_changing().then(|| Box::new(Changing::by(&link.changes)));
        Line { cell_time, delay, faults, changing }
    }

    /// Whether it changes.
    pub fn is_changing(&self) -> bool {
        self.changing.is_some()
    }

    /// When it changes next; never where it does not.
    pub fn next_change(&self) -> Time {
        let step = self.changing.as_ref().and_then(|changing| changing.steps.get(changing.next));
        step.map_or(Time::NEVER, |step| step.at)
    }

    /// The change that comes next happens: the rate from now on, if there is one.
    pub fn change(&mut self) -> Option<BitRate> {
        let changing = self.changing.as_mut()?;
        let step = changing.steps.get(changing.next)?;
        changing.next += 1;
        (self.cell_time, self.delay) = (step.rate.cell_time(), step.delay);
        self.faults.iter_mut().for_each(|faults| faults.cell_loss = step.cell_loss);
        Some(step.rate)
    }

    /// Whether it takes no cells at present.
    #[inline]
    pub fn has_stopped(&self) -> bool {
        self.cell_time == Duration::FOREVER
    }

    /// When the cell arrives whose transmission took from `began` to `departs`, or as an error when it would if the
    /// line did not lose it. Departures never go backwards, and arrivals neither: one comes behind the other as it
    /// left.
    #[inline]
    pub fn carry(&mut self, began: Time, departs: Time) -> Result<Time, Time> {
        let arrives = departs + self.delay;
        let lost = self.loses(departs);
        match &mut self.changing {
            None if lost => Err(arrives),
            None => Ok(arrives),
            Some(changing) => changing.carry(arrives, departs.since(began), lost),
        }
    }

    /// A line that loses each cell with probability `cell_loss`, drawn from `random`, and all of them in `outages`.
    pub fn new(
        cell_time: Duration,
        delay: Duration,
        cell_loss: f64,
        outages: &[Span],
        random: Random,
    ) -> Line {
        let faults = Faults::new(cell_loss, cell_loss > 0.0, outages, random);
        Line { cell_time, delay, faults, changing: None }
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

impl Changing {
    fn by(steps: &Arc<[LinkStep]>) -> Changing {
        let loses_in_flight = steps.iter().any(|step| step.in_flight == InFlight::Lost);
        Changing { steps: Arc::clone(steps), next: 0, loses_in_flight, last_arrival: Time::ZERO }
    }

    fn carry(&mut self, arrives: Time, transmission: Duration, lost: bool) -> Result<Time, Time> {
        let arrives = arrives.max(self.last_arrival + transmission);
        let mut before = self.steps[self.next..].iter().take_while(|step| step.at <= arrives);
        if lost || self.loses_in_flight && before.any(|step| step.in_flight == InFlight::Lost) {
            return Err(arrives);
        }
        self.last_arrival = arrives;
        Ok(arrives)
    }
}

impl Faults {
    /// `None` where nothing is ever lost.
    fn new(cell_loss: f64, by_chance: bool, outages: &[Span], random: Random) -> Option<Box<Faults>> {
        let faults = Faults { cell_loss, by_chance, random, outages: outages.to_vec(), outage: 0 };
        (by_chance || !outages.is_empty()).then(|| Box::new(faults))
    }

    fn loses(&mut self, departs: Time) -> bool {
        while self.outages.get(self.outage).is_some_and(|outage| outage.end <= departs) {
            self.outage += 1;
        }
        // Drawn for every cell, so that outages do not shift the stream, nor does what the probability is.
        let unlucky = self.by_chance && self.random.uniform() < self.cell_loss;
        unlucky || self.outages.get(self.outage).is_some_and(|outage| outage.start <= departs)
    }
}
