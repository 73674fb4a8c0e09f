//! Openers, which begin flows and calls: one in the cluster of each host that sends any.

use std::sync::{Arc, Mutex};

use cellrate_engine::demand::DemandSchedule;
use cellrate_proto::{Duration, Octets};
use cellrate_scenario::{
    ConnectionIndex, Datagrams, FlowIndex, Scenario, TIMESTAMPS_OCTETS, TcpTraffic, Traffic,
};

use super::place::Place;
use crate::kernel::build::Parts;
use crate::kernel::completions::Completions;
use crate::kernel::state::openers::{DemandTally, Opener};

/// Gives clusters the openers of the pairs that send there, in the order of the demands and of their pairs, forward
/// before backward.
pub(super) fn build_openers(scenario: &Scenario, endpoints: &[Place], parts: &mut [Parts]) {
    if scenario.demands.is_empty() {
        return;
    }
    let demands = Arc::new(Mutex::new(DemandSchedule::new(scenario)));
    let completions = Arc::new(Mutex::new(Completions::new(scenario, parts.len())));
    for (cluster, parts) in parts.iter_mut().enumerate() {
        parts.openers.cluster = cluster;
        parts.openers.completions = Some(Arc::clone(&completions));
        parts.openers.demands = Some(Arc::clone(&demands));
        parts.openers.tallies = vec![DemandTally::new(scenario); scenario.demands.len()];
    }
    for (demand, model) in scenario.demands.iter().enumerate() {
        let directions: &[bool] = if model.both_ways { &[false, true] } else { &[false] };
        for (pair, of) in model.pairs.iter().enumerate() {
            for &backward in directions {
                let place = |slot| endpoints[FlowIndex::of(ConnectionIndex(slot), backward).index()];
                let cluster = place(of.slots.start).cluster;
                let slots = of.slots.clone().map(|slot| place(slot).index).collect();
                let positions = vec![(0, 0); of.slots.len()];
                let first = FlowIndex::of(ConnectionIndex(of.slots.start), backward);
                let (datagrams, over_tcp) = match &scenario.flow(first).traffic {
                    Some(Traffic::Transfers(datagrams)) => (Some(*datagrams), false),
                    Some(Traffic::Tcp(tcp)) => (Some(segments(tcp)), true),
                    _ => (None, false),
                };
                let alone = alone(scenario, first);
                let opener = Opener {
                    demand,
                    pair,
                    backward,
                    slots,
                    next_slot: 0,
                    positions,
                    datagrams,
                    over_tcp,
                    alone,
                    next: None,
                };
                parts[cluster as usize].openers.list.push(opener);
            }
        }
    }
}

/// How a flow becomes segments, where each is full but for the last.
fn segments(tcp: &TcpTraffic) -> Datagrams {
    let stamps = if tcp.tcp.timestamps { TIMESTAMPS_OCTETS } else { Octets::ZERO };
    Datagrams {
        payload: tcp.tcp.payload(),
        header: tcp.tcp.header + stamps,
        encapsulation: tcp.encapsulation,
    }
}

/// The time of the first cell of a direction on an idle way, and that from each cell to the next: that of the
/// slowest line, or of the peak rate.
fn alone(scenario: &Scenario, flow: FlowIndex) -> [Duration; 2] {
    let links = || scenario.steps(flow).map(|step| scenario.link(step.link));
    let first = links().fold(Duration::ZERO, |sum, link| sum + link.rate.cell_time() + link.delay);
    let slowest = links().map(|link| link.rate.cell_time()).max().unwrap_or_default();
    [first, slowest.max(scenario.flow(flow).sender.pcr().interval())]
}
