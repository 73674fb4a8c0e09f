//! The line behind a port: how long a cell takes, how far it goes, and what is lost on it.

use cellrate_proto::{BitRate, Duration, Time};
use cellrate_scenario::{InFlight, LineState, LossBursts, PortIndex, Scenario, Span};

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
    steps: Box<[(Time, LineState)]>,
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
    bursts: Option<LossBursts>,
    /// Whether the last cell has found the line bad.
    is_bad: bool,
    outages: Vec<Span>,
    /// The first outage that has not ended.
    outage: usize,
}

impl Line {
    /// The line behind `port`.
    pub fn of(scenario: &Scenario, port: PortIndex) -> Line {
        let link = scenario.link(port.link());
        let random = || Random::new(scenario.seed, Stream::Loss(Owner::port(scenario, port)));
        let (cell_time, delay) = (link.rate.cell_time(), link.delay);
        let changes = || link.changes_of(port.end());
        let by_chance = link.line.loss > 0.0 || changes().any(|(_, line)| line.cell_loss > 0.0);
        let faults =
            Faults::any(link.line.loss, by_chance, link.line.loss_bursts, &link.line.outages, random);
        let changing = link.is_changing().then(|| Box::new(Changing::by(changes())));
        Line { cell_time, delay, faults, changing }
    }

    /// Whether it changes.
    pub fn is_changing(&self) -> bool {
        self.changing.is_some()
    }

    /// When it changes next; never where it does not.
    pub fn next_change(&self) -> Time {
        let step = self.changing.as_ref().and_then(|changing| changing.steps.get(changing.next));
        step.map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The change that comes next happens: the rate from now on, if there is one.
    pub fn change(&mut self) -> Option<BitRate> {
        let changing = self.changing.as_mut()?;
        let (_, line) = changing.steps.get(changing.next)?;
        changing.next += 1;
        (self.cell_time, self.delay) = (line.rate.cell_time(), line.delay);
        self.faults.iter_mut().for_each(|faults| faults.cell_loss = line.cell_loss);
        Some(line.rate)
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
        let faults = Faults::any(cell_loss, cell_loss > 0.0, None, outages, || random);
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
    fn by(steps: impl Iterator<Item = (Time, LineState)>) -> Changing {
        let steps: Box<[(Time, LineState)]> = steps.collect();
        let loses_in_flight = steps.iter().any(|(_, line)| line.in_flight == InFlight::Lost);
        Changing { steps, next: 0, loses_in_flight, last_arrival: Time::ZERO }
    }

    fn carry(&mut self, arrives: Time, transmission: Duration, lost: bool) -> Result<Time, Time> {
        let arrives = arrives.max(self.last_arrival + transmission);
        let mut before = self.steps[self.next..].iter().take_while(|(at, _)| *at <= arrives);
        if lost || self.loses_in_flight && before.any(|(_, line)| line.in_flight == InFlight::Lost) {
            return Err(arrives);
        }
        self.last_arrival = arrives;
        Ok(arrives)
    }
}

impl Faults {
    /// `None` where nothing is ever lost, which needs no random numbers.
    fn any(
        cell_loss: f64,
        by_chance: bool,
        bursts: Option<LossBursts>,
        outages: &[Span],
        random: impl FnOnce() -> Random,
    ) -> Option<Box<Faults>> {
        (by_chance || bursts.is_some() || !outages.is_empty()).then(|| {
            let (random, is_bad, outages) = (random(), false, outages.to_vec());
            Box::new(Faults { cell_loss, by_chance, random, bursts, is_bad, outages, outage: 0 })
        })
    }

    fn loses(&mut self, departs: Time) -> bool {
        while self.outages.get(self.outage).is_some_and(|outage| outage.end <= departs) {
            self.outage += 1;
        }
        // Drawn for every cell, so that outages do not shift the stream, nor does what the probability is.
        let mut probability = self.cell_loss;
        if let Some(LossBursts { begin, end, loss }) = self.bursts {
            let turns = self.random.uniform() < if self.is_bad { end } else { begin };
            self.is_bad ^= turns;
            if self.is_bad {
                probability = loss;
            }
        }
        let unlucky = (self.by_chance || self.bursts.is_some()) && self.random.uniform() < probability;
        unlucky || self.outages.get(self.outage).is_some_and(|outage| outage.start <= departs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_of_losses_have_their_share_and_their_length() {
        // p / (p + r) = 1/51 of all cells, in bursts of 1/r = 10; every second of them lost leaves half of the share.
        for (loss, share) in [(1.0, 1.0 / 51.0), (0.5, 0.5 / 51.0)] {
            let random = Random::new(1, Stream::Loss(Owner::named("line")));
            let bursts = Some(LossBursts { begin: 0.002, end: 0.1, loss });
            let mut faults = Faults::any(0.0, false, bursts, &[], || random).unwrap();
            let count = 1_000_000;
            let lost: Vec<bool> = (0..count).map(|_| faults.loses(Time::ZERO)).collect();
            let all = lost.iter().filter(|&&lost| lost).count() as f64;
            // 1960 bursts: their number and their lengths vary by 2.3 % each (standard error).
            assert!((all / f64::from(count) / share - 1.0).abs() < 0.1, "{all} of {count}");
            if loss == 1.0 {
                let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
                assert!((all / bursts / 10.0 - 1.0).abs() < 0.08, "{all} in {bursts} bursts");
            }
        }
    }
}
