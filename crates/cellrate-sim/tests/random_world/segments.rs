//! The same networks with switches that segment control loops.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellrate_proto::{Cells, Duration};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario`, with ports that segment the loops of connections at some of its switches, and series of their virtual
/// sources.
pub fn segmented(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 9")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let is_abr = |connection: &&Connection| connection.category == Category::Abr;
    let on_way = scenario.connections.iter().filter(is_abr);
    let inner = on_way.flat_map(|connection| connection.path[1..].iter().map(|&step| scenario.tail(step)));
    let switches: BTreeSet<NodeIndex> = inner.collect();
    let (mut left, whole) = ([1, 2, usize::MAX][pick(3)], pick(3) > 0);
    for switch in switches {
        if left == 0 || pick(3) == 0 {
            continue;
        }
        left -= 1;
        let mode = coupling(&mut pick);
        for link in &mut scenario.links {
            for (node, port) in link.ends.iter().zip(&mut link.ports) {
                // All ports of the switch alike, or some of them, each in its own way.
                if *node == switch && (whole || pick(2) == 0) {
                    Arc::make_mut(port).vs_vd = Some(if whole { mode } else { coupling(&mut pick) });
                }
            }
        }
    }
    let mut probes = Vec::new();
    for (index, connection) in (0..).zip(&scenario.connections) {
        for Segmenting { switch, .. } in scenario.segmenting(connection) {
            if pick(2) == 0 {
                continue;
            }
            use FlowQuantity::{Acr, BackwardRm, ForwardRm, SourceQueue, SourceRate};
            let quantity = [Acr, SourceRate, SourceQueue, ForwardRm, BackwardRm][pick(5)];
            let at_changes = !matches!(quantity, SourceRate | SourceQueue) && pick(2) == 0;
            let every = if at_changes { Every::Change } else { Every::Interval(Duration::from_us(850)) };
            let (connection, backward) = (ConnectionIndex(index), pick(3) == 0);
            let quantity =
                Quantity::VirtualSource { quantity, flow: FlowIndex::of(connection, backward), switch };
            probes.push(Probe { quantity, every });
        }
    }
    scenario.probes.extend(probes);
    scenario
}

fn coupling(pick: &mut impl FnMut(usize) -> usize) -> VsVd {
    VsVd {
        t0: [None, Some(50), Some(500), Some(5_000)][pick(4)].map(Duration::from_us),
        a: [1.15, 2.0][pick(2)],
        b: [1.0625, 1.5][pick(2)],
        qdlf: [0.5, 0.0625][pick(2)],
        buffer: [None, None, Some(Cells(1)), Some(Cells(20))][pick(4)],
    }
}
