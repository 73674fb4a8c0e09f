//! Flows and calls begin.
//!
//! A [schedule](cellrate_engine::demand::DemandSchedule), which all clusters share, says what begins when and on which
//! connection: none of it depends on cells. Each pair of hosts has an opener in the cluster of the host that sends, and
//! a leaf of the schedule for it. A beginning is dealt with like a BRM that arrives at the end of the connection: what
//! it had planned is taken back, and it plans anew.
//!
//! A pair that has nothing among the next so many offers looks again when those have passed; so the schedule holds what
//! is near, however rarely a pair is drawn.

use std::sync::PoisonError;

use cellrate_engine::demand::{Answer, Asked, Outcome};
use cellrate_proto::Time;

use super::state::cluster::Cluster;
use super::state::openers::Opener;

impl Cluster {
    /// Puts the first beginning of every opener into the schedule.
    pub(super) fn begin_openers(&mut self) {
        for opener in 0..self.openers.list.len() {
            self.look_for_opening(Time::ZERO, opener);
        }
    }

    /// Begins what is due between a pair, or looks for what is due next.
    pub(super) fn on_opening(&mut self, now: Time, number: usize) {
        if let Some(mut opening) = self.openers.list[number].next.take() {
            if opening.outcome == Outcome::Asks {
                opening.outcome = self.free_slot(now, number).map_or(Outcome::NoSlot, Outcome::Begins);
            }
            let opener = &mut self.openers.list[number];
            let (demand, is_told) = (opener.demand, !opener.backward);
            if is_told {
                self.openers.tallies[demand].count(&opening);
            }
            if let Outcome::Begins(slot) = opening.outcome {
                let opener = &mut self.openers.list[number];
                let endpoint = opener.slots[slot as usize] as usize;
                let (flow, over_tcp) = (opener.flow(&opening), opener.over_tcp);
                let datagrams =
                    flow.filter(|_| !over_tcp).and_then(|flow| opener.datagrams(slot as usize, flow));
                if is_told {
                    let end = match opening.amount {
                        Asked::Holding(holding) => Some(now.saturating_add(holding)),
                        Asked::Octets(_) => None,
                    };
                    self.openers.look(|completions| completions.begins(now, demand, end));
                }
                self.interrupt(endpoint, now);
                let end = &mut self.endpoints[endpoint];
                match (opening.amount, flow, datagrams) {
                    (Asked::Holding(holding), ..) => end.begin_call(now, now.saturating_add(holding)),
                    (_, _, Some(datagrams)) => end.begin_flow(now, datagrams),
                    (_, Some(flow), None) => end.begin_transfer(now, flow),
                    (_, None, None) => unreachable!("a flow of a size is wrapped somehow"),
                }
                self.reschedule(now, endpoint);
                self.reschedule_timer(endpoint);
                self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
            }
        } else {
            // How often a pair looks depends on how far others have had the schedule go by then: that is not an event.
            self.events -= 1;
        }
        self.look_for_opening(now, number);
    }

    /// The next slot of an opener, in turn, whose end has nothing to send at `now`, nor, with TCP, to be acknowledged:
    /// what the flow before it has on its way has time to arrive.
    fn free_slot(&mut self, now: Time, number: usize) -> Option<u32> {
        let Opener { next_slot, slots, .. } = &self.openers.list[number];
        let (first, count) = (*next_slot, slots.len());
        for slot in (first..first + count).map(|slot| slot % count) {
            let endpoint = self.openers.list[number].slots[slot] as usize;
            self.catch_up_and_refresh(endpoint, now);
            if self.endpoints[endpoint].is_free() {
                self.openers.list[number].next_slot = slot + 1;
                return Some(slot as u32);
            }
        }
        None
    }

    /// Puts the next opening between a pair into the schedule.
    fn look_for_opening(&mut self, now: Time, number: usize) {
        let opener = &mut self.openers.list[number];
        let Some(demands) = &self.openers.demands else { return };
        let mut demands = demands.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match demands.next(opener.demand, opener.pair, opener.backward, now) {
            Answer::Next(opening) => {
                opener.next = Some(opening);
                opening.at
            }
            Answer::NothingBefore(at) => at,
            Answer::Nothing => Time::NEVER,
        };
        drop(demands);
        self.schedule.set(self.openers.leaves[number] as usize, at);
    }
}
