//! The same networks with switches whose connections and categories take turns.

use std::sync::Arc;

use cellrate_proto::Cells;
use cellrate_proto::scheduling::{Discipline, Weight};
use cellrate_scenario::{NodeKind, Queueing, Scenario};
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario` with queues for connections, weights for categories, and connections that are held to a rate.
pub fn taking_turns(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("queueing")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let Scenario { nodes, links, connections, .. } = &mut scenario;
    for connection in connections.iter_mut() {
        connection.queue.weight =
            [None, Some(0.3), Some(1.0), Some(2.5), Some(40.0)][pick(5)].map(Weight::nearest);
        let rate = links[connection.path[0].link.0 as usize].rate.to_cell_rate();
        let share = [None, None, None, Some(0.05), Some(0.3), Some(1.0)][pick(6)];
        connection.queue.shaped_to = share.map(|share| rate * share);
    }
    for link in links {
        for (node, port) in link.ends.iter().zip(&mut link.ports) {
            if nodes[node.0 as usize].kind != NodeKind::Switch || pick(5) == 0 {
                continue;
            }
            let discipline = match pick(6) {
                0 => Discipline::Fifo,
                1 => Discipline::RoundRobin,
                2 => Discipline::DeficitRoundRobin { quantum: [1, 2, 7][pick(3)] },
                _ => Discipline::WeightedFair,
            };
            let room = [None, None, None, Some(1), Some(5), Some(60)][pick(6)].map(Cells);
            let mut weight = || Weight::nearest([0.2, 1.0, 3.0][pick(3)]);
            let class_weights = [weight(), weight(), weight()];
            let class_weights = (pick(2) == 0).then_some(class_weights);
            let share = [0.0, 0.0, 0.01, 0.3, 1.0][pick(5)];
            let booked = link.rate.to_cell_rate() * share;
            Arc::make_mut(port).queueing = Queueing { discipline, class_weights, room, booked };
        }
    }
    scenario
}
