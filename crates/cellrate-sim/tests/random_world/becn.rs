//! The same networks with switches that originate BRMs.

use std::sync::Arc;

use cellrate_proto::Cells;
use cellrate_proto::switch::{BecnConfig, BecnIndication};
use cellrate_scenario::{NodeKind, Scenario};
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario`, with ports that originate BRMs at short queues.
pub fn notified(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 10")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let whole = pick(3) == 0;
    let Scenario { nodes, links, .. } = &mut scenario;
    for link in links {
        for (node, port) in link.ends.iter().zip(&mut link.ports) {
            let is_switch = nodes[node.0 as usize].kind == NodeKind::Switch;
            // Where loops end there is nobody to tell.
            if !is_switch || port.vs_vd.is_some() || !whole && pick(2) == 0 {
                continue;
            }
            let threshold = Cells([1, 1, 2, 5, 20][pick(5)]);
            let indication = [BecnIndication::Congestion, BecnIndication::NoIncrease][pick(2)];
            Arc::make_mut(port).control.becn = Some(BecnConfig { threshold, indication });
        }
    }
    scenario
}
