//! Flows and calls begin.
//!
//! An [agenda](cellrate_engine::demand::Agenda), which all clusters share, says what begins when and on which
//! connection: none of it hangs on cells. Each pair of hosts has an opener in the cluster of the host that sends, and
//! a leaf of the schedule for it. A beginning is dealt with like a BRM that arrives at the end of the connection: what
//! it had planned is taken back, and it plans anew.
//!
//! A pair that has nothing among the next so many offers looks again when those have passed; so the agenda holds what
//! is near, however rarely a pair is drawn.

use std::sync::{Arc, Mutex, PoisonError};

use cellrate_engine::demand::{Agenda, Answer, Asked, Opening, Outcome};
use cellrate_proto::Time;
use cellrate_scenario::Scenario;

use super::state::cluster::Cluster;

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
    /// The opening at the instant of the leaf; none where that is only to look again.
    pub next: Option<Opening>,
}

/// The openers of a cluster, and what they have counted.
#[derive(Debug, Default)]
pub(crate) struct Openers {
    pub list: Vec<Opener>,
    /// Their leaves of the schedule.
    pub leaves: Vec<u32>,
    pub agenda: Option<Arc<Mutex<Agenda>>>,
    /// By demand of the scenario.
    pub tallies: Vec<DemandTally>,
}

/// Counts of a demand, from the warm-up on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DemandTally {
    /// From then on arrivals count.
    start: Time,
    end: Time,
    /// That have arrived.
    pub offered: u64,
    /// That found no room on a link.
    pub no_room: u64,
    /// That found no slot.
    pub no_slot: u64,
    /// The sum of the holding times of those that began \[ps\].
    pub holding: u128,
    /// Time that all of them together were under way from the start on, as far as it is known \[ps\].
    pub presence: u128,
}

impl DemandTally {
    /// Nothing counted yet, for a run of `scenario`.
    pub fn new(scenario: &Scenario) -> DemandTally {
        let end = Time::ZERO + scenario.duration;
        DemandTally { start: scenario.measuring.start(), end, ..DemandTally::default() }
    }

    fn count(&mut self, opening: &Opening) {
        let Asked::Holding(holding) = opening.amount;
        let begins = matches!(opening.outcome, Outcome::Begins(_));
        if begins {
            let until = opening.at.saturating_add(holding).min(self.end);
            self.presence += u128::from(until.since(opening.at.max(self.start)).as_ps());
        }
        if opening.arrived < self.start {
            return;
        }
        self.offered += 1;
        self.no_room += u64::from(opening.outcome == Outcome::NoRoom);
        self.no_slot += u64::from(opening.outcome == Outcome::NoSlot);
        self.holding += if begins { u128::from(holding.as_ps()) } else { 0 };
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &DemandTally) {
        self.offered += other.offered;
        self.no_room += other.no_room;
        self.no_slot += other.no_slot;
        self.holding += other.holding;
        self.presence += other.presence;
    }
}

impl Cluster {
    /// Every opener has its first beginning in the schedule.
    pub(super) fn begin_openers(&mut self) {
        for opener in 0..self.openers.list.len() {
            self.look_for_opening(Time::ZERO, opener);
        }
    }

    /// Something begins between a pair, or it is time to look for what does.
    pub(super) fn on_opening(&mut self, now: Time, number: usize) {
        if let Some(opening) = self.openers.list[number].next.take() {
            let opener = &self.openers.list[number];
            if !opener.backward {
                self.openers.tallies[opener.demand].count(&opening);
            }
            if let Outcome::Begins(slot) = opening.outcome {
                let endpoint = opener.slots[slot as usize] as usize;
                let Asked::Holding(holding) = opening.amount;
                self.interrupt(endpoint, now);
                self.endpoints[endpoint].begin_call(now, now.saturating_add(holding));
                self.reschedule(now, endpoint);
                self.sampler.note_endpoint(now, endpoint as u32, &self.endpoints[endpoint]);
            }
        }
        self.look_for_opening(now, number);
    }

    /// Puts the next opening between a pair into the schedule.
    fn look_for_opening(&mut self, now: Time, number: usize) {
        let opener = &mut self.openers.list[number];
        let Some(agenda) = &self.openers.agenda else { return };
        let mut agenda = agenda.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match agenda.next(opener.demand, opener.pair, opener.backward, now) {
            Answer::Next(opening) => {
                opener.next = Some(opening);
                opening.at
            }
            Answer::NothingBefore(at) => at,
            Answer::Nothing => Time::NEVER,
        };
        drop(agenda);
        self.schedule.set(self.openers.leaves[number] as usize, at);
    }
}
