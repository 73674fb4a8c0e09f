//! Where switches segment the control loops of ABR connections (VS/VD): a pair of virtual ends for each connection that passes.
//!
//! The hops of a direction stay one list. The hop that reaches such a switch leads to a virtual end, as one that reaches a host leads
//! to a real one, and the virtual end behind it sends over the next.

use cellrate_proto::{CouplingConfig, Duration};
use cellrate_scenario::{NodeIndex, Scenario};

/// An end of a connection inside a switch. The one that the loop behind it begins with, its partner, follows it or comes before it
/// in their list.
#[derive(Clone, Copy, Debug)]
pub struct VirtualEnd {
    /// The direction that it sends.
    pub flow: usize,
    /// The hop of that direction that it sends over, counted from 0.
    pub step: usize,
    /// Where it is.
    pub switch: NodeIndex,
    /// Of the loop before it with its own.
    pub coupling: CouplingConfig,
}

impl VirtualEnd {
    /// The hop of the other direction, counted from 0, that leads to it, on a path of so many hops.
    pub fn received_step(&self, hops: usize) -> usize {
        hops - self.step - 1
    }
}

/// Those of all connections, in the order of these and of their paths; at each switch first the one that faces the first host of
/// the path. The partner of number n is number n ^ 1.
pub fn virtual_ends(scenario: &Scenario) -> Vec<VirtualEnd> {
    let mut ends = Vec::new();
    if scenario.vs_vd.is_empty() {
        return ends;
    }
    for (index, connection) in scenario.connections.iter().enumerate() {
        let hops = connection.path.len();
        let loops = scenario.segmenting(connection).map(|(hop, ..)| hop);
        // Where loops end, along the path.
        let bounds: Vec<usize> = std::iter::once(0).chain(loops).chain([hops]).collect();
        let round_trip = |from: usize, to: usize| {
            let delays =
                connection.path[from..to].iter().map(|step| scenario.links[step.link.0 as usize].delay);
            delays.fold(Duration::ZERO, |sum, delay| sum.saturating_add(delay)).saturating_mul(2)
        };
        for ((hop, switch, vs_vd), around) in scenario.segmenting(connection).zip(bounds.windows(3)) {
            // What faces the first host sends what comes from the other side.
            let [back, forward] = [round_trip(hop, around[2]), round_trip(around[0], hop)];
            for (flow, step, before) in [(2 * index + 1, hops - hop, back), (2 * index, hop, forward)] {
                ends.push(VirtualEnd { flow, step, switch, coupling: vs_vd.coupling(before) });
            }
        }
    }
    ends
}

/// To have virtual sources in the order of the directions, and of the ways of their cells.
pub fn along_the_way(end: &VirtualEnd) -> (usize, usize) {
    (end.flow, end.step)
}
