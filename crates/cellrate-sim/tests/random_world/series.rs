//! Networks of other families with many series that have a value every few cells, or every few dozen, or at every
//! change.

use std::collections::BTreeSet;

use cellrate_proto::Duration;
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

/// Values of a series, at most, for as many intervals.
const MOST_VALUES: u64 = 2_500;

/// `scenario`, with series of queues and utilizations of the ports on somebody's way and of what sources know, and in
/// three of four networks without those that it had.
pub fn recorded_densely(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dense series")));
    let mut below = |count: u64| (dice.uniform() * count as f64) as u64;
    if below(4) > 0 {
        scenario.probes.clear();
    }
    // Often multiples of a cell time, so that samples meet cells; in most networks all have one clock.
    let cell_time = scenario.links[below(scenario.links.len() as u64) as usize].rate.cell_time();
    let us = Duration::from_us;
    let lengths =
        [us(10), us(10), us(25), us(100), us(1000), cell_time, cell_time * 2, cell_time * 7, cell_time * 60];
    let clocks: Vec<Duration> = (0..[1, 1, 3][below(3) as usize])
        .map(|_| {
            let length = lengths[below(lengths.len() as u64) as usize];
            length * (scenario.duration.div_ceil(length * MOST_VALUES)).max(1)
        })
        .collect();
    let (one_in, changes) = ([1, 1, 3][below(3) as usize], [0, 0, 4, 20][below(4) as usize]);
    let mut ports: BTreeSet<PortIndex> = scenario
        .flows()
        .flat_map(|flow| scenario.steps(flow).map(|step| step.port()).collect::<Vec<_>>())
        .collect();
    // In some networks ends alone are looked at, as they receive: nobody asks them what they have sent by then.
    let ends_alone = below(4) == 0;
    if ends_alone {
        ports.clear();
    }
    let mut subjects = Vec::new();
    for port in ports {
        use PortQuantity::*;
        // Few series ask more of a port than what comes and leaves.
        let seldom = [Drops, Metric(below(3) as u8), GuaranteedQueue][below(3) as usize];
        let others = [Queue, AbrQueue, UbrQueue, Utilization];
        let other = if below(40) == 0 { seldom } else { others[below(4) as usize] };
        let quantities = [Queue, Utilization, other];
        subjects.extend(quantities.map(|quantity| Quantity::Port { quantity, port }));
    }
    for flow in scenario.flows() {
        use FlowQuantity::*;
        if scenario.connection(flow.connection()).category == Category::Abr {
            let others = [ForwardRm, BackwardRm, SourceRate, SourceQueue];
            let quantities = [Acr, others[below(4) as usize]];
            subjects.extend(quantities.map(|quantity| Quantity::Flow { quantity, flow }));
        }
        if ends_alone || below(60) == 0 {
            let quantity = if ends_alone { Received } else { [Received, Drops, Delay][below(3) as usize] };
            subjects.push(Quantity::Flow { quantity, flow });
        }
    }
    let connections = (0..).map(ConnectionIndex).zip(&scenario.connections);
    for (index, connection) in connections {
        for Segmenting { switch, .. } in scenario.segmenting(connection) {
            use FlowQuantity::{Acr, BackwardRm, ForwardRm};
            let (quantity, is_backward) = ([Acr, BackwardRm, ForwardRm][below(3) as usize], below(2) == 0);
            let flow = FlowIndex::of(index, is_backward);
            subjects.push(Quantity::VirtualSource { quantity, flow, switch });
        }
    }
    for quantity in subjects {
        let has_changes = match quantity {
            Quantity::Port { quantity, .. } => quantity != PortQuantity::Utilization,
            Quantity::Flow { quantity, .. } | Quantity::VirtualSource { quantity, .. } => {
                use FlowQuantity::*;
                matches!(quantity, Acr | ForwardRm | BackwardRm | Received)
            }
            Quantity::Demand { .. } => false,
        };
        let is_received = matches!(quantity, Quantity::Flow { quantity: FlowQuantity::Received, .. });
        let is_noted = changes > 0 && below(changes) == 0 || ends_alone && is_received;
        let every = if has_changes && is_noted {
            Every::Change
        } else {
            Every::Interval(clocks[below(clocks.len() as u64) as usize])
        };
        if below(one_in) == 0 && scenario.probes.iter().all(|probe| probe.quantity != quantity) {
            scenario.probes.push(Probe { quantity, every });
        }
    }
    scenario
}
