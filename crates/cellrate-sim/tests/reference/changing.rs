//! The judge's knowledge of lines that change: it asks the list of their steps each time.

use cellrate_proto::BitRate;
use cellrate_scenario::{InFlight, LineState, LinkStep, LossBursts};

use super::*;

/// Bits of a cell [1e-12 bits].
const CELL: u128 = 424_000_000_000_000;

/// Flaws that take a line that changes to tell.
pub const CHANGING_FLAWS: [(Flaw, u64); 8] = [
    (Flaw::RateOfBeginning, 0),
    (Flaw::StandingStillIsBusy, 0),
    (Flaw::RateOfPresentCell, 0),
    (Flaw::Overtaking, 0),
    (Flaw::DelayAfterDeparture, 0),
    (Flaw::InFlightKept, 0),
    (Flaw::FirstRate, 7),
    (Flaw::NoStop, 0),
];

/// State that the line out of an end of a link has come to.
pub(super) fn at(link: &Link, end: usize, now: Time) -> Option<&LineState> {
    link.changes.iter().rfind(|step| step.at <= now).map(|step| &step.lines[end])
}

impl Network<'_> {
    pub(super) fn plan_changes(&mut self) {
        for number in 0..self.ports.len() {
            for (step, change) in self.scenario.links[number / 2].changes.iter().enumerate() {
                self.plan(change.at, Happening::Change(number, step));
            }
        }
    }

    /// The rate of a line, for a cell whose transmission begins.
    pub(super) fn rate(&self, now: Time, number: usize) -> BitRate {
        let (link, end) = (&self.scenario.links[number / 2], number % 2);
        let own = at(link, end, now).map_or(link.rate, |step| step.rate);
        let step = match self.flaw {
            Some(Flaw::RateOfPresentCell) => at(link, end, now.saturating_add(own.cell_time())),
            _ => at(link, end, now),
        };
        match (self.flaw, step) {
            (Some(Flaw::NoStop), Some(step)) if step.rate == BitRate::default() => link.fastest_rate(),
            (_, step) => step.map_or(link.rate, |step| step.rate),
        }
    }

    /// When a transmission ends that begins now. Each span between two changes carries its own bits, until those of
    /// the cell have left; `Time::NEVER` if they never have.
    pub(super) fn transmission_ends(&self, now: Time, number: usize) -> Time {
        let first = self.rate(now, number);
        if matches!(self.flaw, Some(Flaw::RateOfPresentCell | Flaw::RateOfBeginning)) {
            return now + first.cell_time();
        }
        let still_to_come = self.scenario.links[number / 2].changes.iter().filter(|step| step.at > now);
        let mut carried = 0; // [1e-12 bits]
        let (mut from, mut rate) = (now, u128::from(first.as_bps()));
        for step in still_to_come {
            let by_then = carried + u128::from(step.at.since(from).as_ps()) * rate;
            if by_then >= CELL {
                break;
            }
            (carried, from) = (by_then, step.at);
            rate = u128::from(self.rate(step.at, number).as_bps());
        }
        match rate {
            0 => Time::NEVER,
            _ => from + Duration::from_ps((CELL - carried).div_ceil(rate) as u64),
        }
    }

    /// For how long the line has worked from `from` to `to`: it has not stopped.
    pub(super) fn worked(&self, number: usize, from: Time, to: Time) -> Duration {
        if self.flaw == Some(Flaw::StandingStillIsBusy) {
            return to.since(from);
        }
        let steps = &self.scenario.links[number / 2].changes;
        let inside = steps.iter().map(|step| step.at).filter(|&at| from < at && at < to);
        let borders: Vec<Time> = std::iter::once(from).chain(inside).chain([to]).collect();
        let works = |span: &&[Time]| self.rate(span[0], number) != BitRate::default();
        borders.windows(2).filter(works).fold(Duration::ZERO, |sum, span| sum + span[1].since(span[0]))
    }

    /// The time of a cell at the rate of now, or at the last one before the line stopped.
    fn time_of_a_cell(&self, now: Time, number: usize) -> Duration {
        let (link, end) = (&self.scenario.links[number / 2], number % 2);
        let past = link.changes.iter().filter(|step| step.at <= now).map(|step| step.lines[end].rate);
        let rates = std::iter::once(link.rate).chain(past);
        rates.rev().find(|&rate| rate != BitRate::default()).expect("a cell has left").cell_time()
    }

    /// When the cell arrives whose transmission ends, if the line does not change as one that loses what is on it.
    pub(super) fn carried(&self, now: Time, transmission: Duration, number: usize) -> Option<Time> {
        let transmission = transmission.min(self.time_of_a_cell(now, number));
        let link = &self.scenario.links[number / 2];
        let before = Time::from_ps(now.as_ps().saturating_sub(1));
        let step =
            at(link, number % 2, if self.flaw == Some(Flaw::DelayAfterDeparture) { before } else { now });
        let mut arrives = now + step.map_or(link.delay, |step| step.delay);
        if self.flaw != Some(Flaw::Overtaking) {
            arrives = arrives.max(self.ports[number].last_arrival + transmission);
        }
        let loses = |step: &LinkStep| {
            step.lines[number % 2].in_flight == InFlight::Lost && now < step.at && step.at <= arrives
        };
        let is_lost = link.changes.iter().any(loses) && self.flaw != Some(Flaw::InFlightKept);
        (!is_lost).then_some(arrives)
    }

    pub(super) fn on_change(&mut self, now: Time, number: usize, step: usize) {
        let change = self.scenario.links[number / 2].changes[step].lines[number % 2];
        let port = &mut self.ports[number];
        if self.flaw != Some(Flaw::FirstRate) {
            port.control.set_link_rate(change.rate.to_cell_rate());
        }
        let had_stopped = match step.checked_sub(1) {
            Some(before) => {
                self.scenario.links[number / 2].changes[before].lines[number % 2].rate == BitRate::default()
            }
            None => self.scenario.links[number / 2].rate == BitRate::default(),
        };
        if had_stopped && self.ports[number].transmitting.is_none() {
            self.begin_transmission(now, number);
        }
    }
}

/// Whether the line loses the cell whose transmission ends.
pub(super) fn line_loses(link: &Link, end: usize, port: &mut Port, now: Time) -> bool {
    let ever = link.line.loss > 0.0 || link.changes.iter().any(|step| step.lines[end].cell_loss > 0.0);
    let cell_loss = at(link, end, now).map_or(link.line.loss, |step| step.cell_loss);
    let unlucky = match link.line.loss_bursts {
        None => ever && port.random.uniform() < cell_loss,
        Some(LossBursts { begin, end, loss }) => {
            // Each cell finds the line as the one before left it, or otherwise; then it is lost or not.
            let changes = port.random.uniform() < if port.line_is_bad { end } else { begin };
            port.line_is_bad = port.line_is_bad != changes;
            port.random.uniform() < if port.line_is_bad { loss } else { cell_loss }
        }
    };
    unlucky || link.line.outages.iter().any(|outage| outage.start <= now && now < outage.end)
}
