//! Where switches segment the control loops of ABR connections (VS/VD): a pair of virtual ends for each connection that
//! passes.
//!
//! The hops of a direction stay one list. The hop that reaches such a switch leads to a virtual end, as one that
//! reaches a host leads to a real one, and the virtual end behind it sends over the next.

use cellrate_proto::{CouplingConfig, Duration};
use cellrate_scenario::{ConnectionIndex, FlowIndex, NodeIndex, Scenario, Segmenting};

/// An end of a connection inside a switch. The one that the loop behind it begins with, its partner, follows it or
/// comes before it in their list.
#[derive(Clone, Copy, Debug)]
pub struct VirtualEnd {
    /// The direction that it sends.
    pub flow: FlowIndex,
    /// The hop of that direction that it sends over, counted from 0.
    pub step: usize,
    /// Where it is.
    pub switch: NodeIndex,
    /// How the loop before it is coupled with its own.
    pub coupling: CouplingConfig,
}

impl VirtualEnd {
    /// The hop of the other direction, counted from 0, that leads to it, on a path of so many hops.
    pub fn received_step(&self, hops: usize) -> usize {
        hops - self.step - 1
    }
}

/// Virtual ends of all connections, in the order of connections and of their paths; at each switch first the one that
/// faces the first host of the path. The partner of number n is number n ^ 1.
pub fn virtual_ends(scenario: &Scenario) -> Vec<VirtualEnd> {
    let mut ends = Vec::new();
    for (index, connection) in (0..).map(ConnectionIndex).zip(&scenario.connections) {
        let segmenting: Vec<Segmenting> = scenario.segmenting(connection).collect();
        let hops = connection.path.len();
        let round_trip = |from: usize, to: usize| {
            let delays =
                connection.path[from..to].iter().map(|step| scenario.link(step.link).longest_delay());
            delays.fold(Duration::ZERO, |sum, delay| sum.saturating_add(delay)).saturating_mul(2)
        };
        for (place, &Segmenting { switch, hop, vs_vd: [forward, backward] }) in segmenting.iter().enumerate()
        {
            // Where the loops end that lead here, one each way.
            let before = place.checked_sub(1).map_or(0, |before| segmenting[before].hop);
            let behind = segmenting.get(place + 1).map_or(hops, |behind| behind.hop);
            let [forward, backward] =
                [forward.coupling(round_trip(before, hop)), backward.coupling(round_trip(hop, behind))];
            let forward_flow = FlowIndex::of(index, false);
            for (flow, step, coupling) in
                [(forward_flow.other(), hops - hop, backward), (forward_flow, hop, forward)]
            {
                ends.push(VirtualEnd { flow, step, switch, coupling });
            }
        }
    }
    ends
}

/// To have virtual sources in the order of the directions, and of the ways of their cells.
pub fn along_the_way(end: &VirtualEnd) -> (FlowIndex, usize) {
    (end.flow, end.step)
}
