//! Openers, which begin flows and calls: one in the cluster of each host that sends any.

use std::sync::{Arc, Mutex};

use cellrate_engine::demand::Agenda;
use cellrate_scenario::{ConnectionIndex, FlowIndex, Scenario};

use super::place::Place;
use crate::kernel::build::Parts;
use crate::kernel::opening::{DemandTally, Opener};

/// Gives clusters the openers of the pairs that send there, in the order of the demands and of their pairs, forward
/// before backward.
pub(super) fn build_openers(scenario: &Scenario, endpoints: &[Place], parts: &mut [Parts]) {
    if scenario.demands.is_empty() {
        return;
    }
    let agenda = Arc::new(Mutex::new(Agenda::new(scenario)));
    for parts in &mut *parts {
        parts.openers.agenda = Some(Arc::clone(&agenda));
        parts.openers.tallies = vec![DemandTally::new(scenario); scenario.demands.len()];
    }
    for (demand, model) in scenario.demands.iter().enumerate() {
        let directions: &[bool] = if model.both_ways { &[false, true] } else { &[false] };
        for (pair, of) in model.pairs.iter().enumerate() {
            for &backward in directions {
                let place = |slot| endpoints[FlowIndex::of(ConnectionIndex(slot), backward).index()];
                let cluster = place(of.slots.start).cluster;
                let slots = of.slots.clone().map(|slot| place(slot).index).collect();
                let opener = Opener { demand, pair, backward, slots, next: None };
                parts[cluster as usize].openers.list.push(opener);
            }
        }
    }
}
