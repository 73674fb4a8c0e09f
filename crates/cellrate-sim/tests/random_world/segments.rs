//! The same networks with switches that segment control loops.

use std::collections::{BTreeMap, BTreeSet};

use cellrate_proto::{Cells, Duration};
use cellrate_scenario::*;
use cellrate_sim::random::{Random, Stream};

/// `scenario`, with some of its switches segmenting the loops of the connections through them, and series of their virtual sources.
pub fn segmented(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(u32::MAX - 9));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let is_abr = |connection: &&Connection| connection.category == Category::Abr;
    let on_way =
        scenario.connections.iter().filter(is_abr).flat_map(|connection| inner(&scenario, connection));
    let switches: BTreeSet<NodeIndex> = on_way.collect();
    let most = [1, 2, usize::MAX][pick(3)];
    let mut vs_vd = BTreeMap::new();
    for switch in switches {
        if pick(3) > 0 && vs_vd.len() < most {
            vs_vd.insert(switch, coupling(&mut pick));
        }
    }
    for (index, connection) in (0..).zip(&scenario.connections).filter(|(_, connection)| is_abr(connection)) {
        for switch in inner(&scenario, connection) {
            if !vs_vd.contains_key(&switch) || pick(2) == 0 {
                continue;
            }
            use FlowQuantity::{Acr, BackwardRm, ForwardRm, SourceQueue, SourceRate};
            let quantity = [Acr, SourceRate, SourceQueue, ForwardRm, BackwardRm][pick(5)];
            let at_changes = !matches!(quantity, SourceRate | SourceQueue) && pick(2) == 0;
            let every = if at_changes { Every::Change } else { Every::Interval(Duration::from_us(850)) };
            let (connection, backward) = (ConnectionIndex(index), pick(3) == 0);
            let quantity = Quantity::VirtualSource { quantity, connection, backward, switch };
            scenario.probes.push(Probe { quantity, every });
        }
    }
    scenario.vs_vd = vs_vd;
    scenario
}

fn inner(scenario: &Scenario, connection: &Connection) -> Vec<NodeIndex> {
    connection.path[1..].iter().map(|&step| scenario.tail(step)).collect()
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
