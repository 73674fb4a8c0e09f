//! The table of hops: for each link of each direction its port there, and the port that answers its BRMs.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellrate_engine::set_up::{self, PartsOfPort};
use cellrate_proto::switch::Slot;
use cellrate_scenario::{FlowIndex, PortIndex, Scenario};

use super::place::Place;
use crate::kernel::build::Parts;
use crate::kernel::hop::{Hop, NONE};
use crate::kernel::ports::{Port, Queues, priority};

pub(super) struct Hops {
    /// Not shared so far.
    pub(super) table: Arc<[Hop]>,
    /// The first hop of each direction of each connection.
    pub(super) first: Vec<u32>,
    /// Hops at whose far ends cells are policed.
    pub(super) policed: BTreeSet<u32>,
    /// Hops at whose far ends cells are copied, or BRMs taken in.
    pub(super) branching: BTreeSet<u32>,
    /// Hops at whose far ends loopback requests are answered.
    pub(super) answering: BTreeSet<u32>,
}

impl Hops {
    /// Room for so many hops of each direction: those of directions that begin in the same cluster lie together,
    /// because they are looked up together.
    fn with_room(lengths: &[usize], endpoints: &[Place]) -> Hops {
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&flow| endpoints[flow].cluster);
        let (mut first, mut end) = (vec![0; lengths.len()], 0);
        for flow in order {
            first[flow] = end as u32;
            end += lengths[flow];
        }
        Hops {
            table: std::iter::repeat_n(Hop::NOWHERE, end).collect(),
            first,
            policed: BTreeSet::new(),
            branching: BTreeSet::new(),
            answering: BTreeSet::new(),
        }
    }

    /// The first hop of `flow`.
    pub(super) fn of(&self, flow: FlowIndex) -> u32 {
        self.first[flow.index()]
    }
}

/// The table of hops while it is being written.
pub(super) fn own(table: &mut Arc<[Hop]>) -> &mut [Hop] {
    Arc::get_mut(table).expect("it is not shared so far")
}

pub(super) fn build_hops(
    scenario: &Scenario,
    ports: &[Option<Place>],
    endpoints: &[Place],
    parts: &mut [Parts],
) -> Hops {
    let lengths: Vec<usize> = scenario.flows().map(|flow| scenario.steps(flow).len()).collect();
    let mut hops = Hops::with_room(&lengths, endpoints);
    for flow in scenario.flows() {
        let (first, steps) = (hops.of(flow) as usize, scenario.steps(flow));
        let (table, last) = (own(&mut hops.table), steps.len() - 1);
        for (index, step) in steps.enumerate() {
            let place = ports[step.port().index()].unwrap_or(Place { cluster: 0, index: NONE });
            let port = parts[place.cluster as usize].ports.get_mut(place.index as usize);
            let slot = port.map_or(Slot(NONE), |port| connect(port, scenario, flow, step.port()));
            // The direction ends where the other one begins.
            let endpoint = if index == last { endpoints[flow.other().index()].index } else { NONE };
            let category = scenario.connection(flow.connection()).category;
            let hop = &mut table[first + index];
            (hop.port, hop.slot, hop.flow) = (place.index, slot, flow);
            (hop.endpoint, hop.priority) = (endpoint, priority(category) as u8);
        }
    }
    // Hop j of n (from 1 on) leaves the node that hop n - j of the other direction leaves.
    for flow in scenario.flows() {
        let (first, other, n) =
            (hops.of(flow) as usize, hops.of(flow.other()) as usize, scenario.steps(flow).len());
        let table = own(&mut hops.table);
        for j in 1..n {
            let answering = table[other + n - j];
            let hop = &mut table[first + j];
            hop.answering_port = answering.port;
            hop.answering_slot = answering.slot;
        }
    }
    hops
}

/// Tells `port`, the one with this index, of a direction at set-up; its number there.
fn connect(port: &mut Port, scenario: &Scenario, flow: FlowIndex, index: PortIndex) -> Slot {
    let parts = match &mut port.queues {
        Queues::Served(served) => served.connected(),
        Queues::Fifo(_) | Queues::Ranked(_) => PartsOfPort::default(),
    };
    set_up::connect(scenario, flow, index, &mut port.control, parts).unwrap_or(Slot(NONE))
}
