//! The judge's knowledge of lines that change: it asks the list of their steps each time.

use cellrate_proto::BitRate;
use cellrate_scenario::{InFlight, LinkStep};

use super::*;

/// Flaws that take a line that changes to tell.
pub const CHANGING_FLAWS: [Flaw; 6] = [
    Flaw::RateOfPresentCell,
    Flaw::Overtaking,
    Flaw::DelayAfterDeparture,
    Flaw::InFlightKept,
    Flaw::FirstRate,
    Flaw::NoStop,
];

/// The step that a link has come to.
pub(super) fn at(link: &Link, now: Time) -> Option<&LinkStep> {
    link.changes.iter().rfind(|step| step.at <= now)
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
    pub(super) fn rate(&self, now: Time, link: &Link) -> BitRate {
        let own = at(link, now).map_or(link.rate, |step| step.rate);
        let step = match self.flaw {
            Some(Flaw::RateOfPresentCell) => at(link, now.saturating_add(own.cell_time())),
            _ => at(link, now),
        };
        match (self.flaw, step) {
            (Some(Flaw::NoStop), Some(step)) if step.rate == BitRate::default() => link.fastest_rate(),
            (_, step) => step.map_or(link.rate, |step| step.rate),
        }
    }

    /// When the cell arrives whose transmission ends, if the line does not change as one that loses what is on it.
    pub(super) fn carried(&self, now: Time, transmission: Duration, number: usize) -> Option<Time> {
        let link = &self.scenario.links[number / 2];
        let before = Time::from_ps(now.as_ps().saturating_sub(1));
        let step = at(link, if self.flaw == Some(Flaw::DelayAfterDeparture) { before } else { now });
        let mut arrives = now + step.map_or(link.delay, |step| step.delay);
        if self.flaw != Some(Flaw::Overtaking) {
            arrives = arrives.max(self.ports[number].last_arrival + transmission);
        }
        let loses = |step: &LinkStep| step.in_flight == InFlight::Lost && now < step.at && step.at <= arrives;
        let is_lost = link.changes.iter().any(loses) && self.flaw != Some(Flaw::InFlightKept);
        (!is_lost).then_some(arrives)
    }

    pub(super) fn on_change(&mut self, now: Time, number: usize, step: usize) {
        let change = self.scenario.links[number / 2].changes[step];
        let port = &mut self.ports[number];
        if self.flaw != Some(Flaw::FirstRate) {
            port.control.set_link_rate(change.rate.to_cell_rate());
        }
        let had_stopped = match step.checked_sub(1) {
            Some(before) => self.scenario.links[number / 2].changes[before].rate == BitRate::default(),
            None => self.scenario.links[number / 2].rate == BitRate::default(),
        };
        if had_stopped && self.ports[number].transmitting.is_none() {
            self.begin_transmission(now, number);
        }
    }
}

/// Whether the line loses the cell whose transmission ends.
pub(super) fn line_loses(link: &Link, port: &mut Port, now: Time) -> bool {
    let ever = link.cell_loss > 0.0 || link.changes.iter().any(|step| step.cell_loss > 0.0);
    let cell_loss = at(link, now).map_or(link.cell_loss, |step| step.cell_loss);
    let unlucky = ever && port.random.uniform() < cell_loss;
    unlucky || link.outages.iter().any(|outage| outage.start <= now && now < outage.end)
}
