//! Openers: what begins flows and calls of a pair of hosts, and what has been counted of them.

use std::sync::{Arc, Mutex, PoisonError};

use cellrate_engine::demand::{Asked, DemandSchedule, Opening, Outcome};
use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::{Datagrams, Scenario};

use crate::kernel::completions::{CLASSES, Completions, class_of};
use crate::transport::{FlowDatagrams, Over, SizedFlow};

/// Begins flows or calls of a pair at the end that sends them.
#[derive(Clone, Debug)]
pub(crate) struct Opener {
    /// An index into the scenario's demands.
    pub demand: usize,
    /// An index into the demand's pairs.
    pub pair: usize,
    /// Whether the last host of the pair sends here.
    pub backward: bool,
    /// The ends of the pair's connections, by slot.
    pub slots: Vec<u32>,
    /// The slot from which one is looked for that is free for the next flow of a size.
    pub next_slot: usize,
    /// Flows that each slot has had so far, and their octets.
    pub positions: Vec<(u64, u64)>,
    /// Rules by which flows of a size become datagrams or segments, if these are any.
    pub datagrams: Option<Datagrams>,
    /// Whether TCP carries them.
    pub over_tcp: bool,
    /// The time of the first cell on an otherwise idle way, from its transmission to its arrival, and from each cell to
    /// the next.
    pub alone: [Duration; 2],
    /// The opening at the instant of the leaf; none where that is only to look again.
    pub next: Option<Opening>,
}

/// The openers of a cluster, and what they have counted.
#[derive(Debug, Default)]
pub(crate) struct Openers {
    pub list: Vec<Opener>,
    /// Their leaves of the schedule.
    pub leaves: Vec<u32>,
    pub demands: Option<Arc<Mutex<DemandSchedule>>>,
    /// Counts of flows and calls, by demand of the scenario.
    pub tallies: Vec<DemandTally>,
    pub completions: Option<Arc<Mutex<Completions>>>,
    /// The number of the cluster.
    pub cluster: usize,
}

impl Openers {
    /// A flow of a size is over.
    pub fn over(&self, now: Time, over: &Over) {
        self.look(|completions| completions.ends(now, over));
    }

    /// The cluster has run until then.
    pub fn reported_until(&self, until: Time) {
        self.look(|completions| completions.reported_until(self.cluster, until));
    }

    /// Shows what is complete and under way, if the scenario has demands.
    pub fn look(&self, what: impl FnOnce(&mut Completions)) {
        if let Some(completions) = &self.completions {
            what(&mut completions.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Counts of a demand, from the warm-up on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DemandTally {
    /// Instant from which on arrivals count.
    start: Time,
    /// Number of those that have arrived.
    pub offered: u64,
    /// Number of those that found no room on a link.
    pub no_room: u64,
    /// Number of those that found no slot.
    pub no_slot: u64,
    /// The sum of the holding times of those that began \[ps\].
    pub holding: u128,
    /// The sum of what their set-up took \[ps\].
    pub set_up: u128,
    /// The most that one took.
    pub longest_set_up: Duration,
    /// Flows of a size that have arrived, by class, and those of them that found no slot.
    pub classes: [[u64; 2]; CLASSES],
}

impl Opener {
    /// The flow of a size that begins; none of a call.
    pub fn flow(&self, opening: &Opening) -> Option<SizedFlow> {
        let (Asked::Octets(octets), Some(datagrams)) = (opening.amount, self.datagrams) else { return None };
        let octets = Octets(octets);
        let [first, spacing] = self.alone;
        let alone =
            opening.at.since(opening.arrived) + first + spacing.saturating_mul(datagrams.cells(octets).0 - 1);
        let (demand, arrived, begins) = (self.demand as u32, opening.arrived, opening.at);
        Some(SizedFlow { demand, arrived, begins, octets, alone })
    }

    /// The datagrams of a flow of a size that begins in a slot.
    pub fn datagrams(&mut self, slot: usize, flow: SizedFlow) -> Option<FlowDatagrams> {
        let (number, from) = &mut self.positions[slot];
        *number += 1;
        let from = std::mem::replace(from, *from + flow.octets.0);
        Some(FlowDatagrams::new(flow, *number, from, self.datagrams?))
    }
}

impl DemandTally {
    /// Makes counts of none, for a run of `scenario`.
    pub fn new(scenario: &Scenario) -> DemandTally {
        DemandTally { start: scenario.measuring.start(), ..DemandTally::default() }
    }

    /// Counts an arrival.
    pub fn count(&mut self, opening: &Opening) {
        let holding = match opening.amount {
            Asked::Holding(holding) => holding,
            // How long it takes is seen when it is complete.
            Asked::Octets(_) => Duration::ZERO,
        };
        let begins = matches!(opening.outcome, Outcome::Begins(_));
        if opening.arrived < self.start {
            return;
        }
        self.offered += 1;
        self.no_room += u64::from(opening.outcome == Outcome::NoRoom);
        self.no_slot += u64::from(opening.outcome == Outcome::NoSlot);
        if begins {
            let set_up = opening.at.since(opening.arrived);
            self.holding += u128::from(holding.as_ps());
            self.set_up += u128::from(set_up.as_ps());
            self.longest_set_up = self.longest_set_up.max(set_up);
        }
        if let Asked::Octets(octets) = opening.amount {
            for class in [0, class_of(octets)] {
                self.classes[class][0] += 1;
                self.classes[class][1] += u64::from(!begins);
            }
        }
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &DemandTally) {
        self.offered += other.offered;
        self.no_room += other.no_room;
        self.no_slot += other.no_slot;
        self.holding += other.holding;
        self.set_up += other.set_up;
        self.longest_set_up = self.longest_set_up.max(other.longest_set_up);
        for (own, other) in self.classes.iter_mut().flatten().zip(other.classes.iter().flatten()) {
            *own += other;
        }
    }
}
