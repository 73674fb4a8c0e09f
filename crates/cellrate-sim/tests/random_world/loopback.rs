//! Random networks with OAM loopback cells.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Every, FlowIndex, FlowQuantity, Loopback, Probe, Quantity, Scenario};
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario`, with loopback cells at any period on some of its connections, answered by ends and by switches, and
/// series of their round trips.
pub fn looped_back(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("loopback")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let whole = scenario.duration.as_ps();
    let trees: Vec<_> =
        scenario.connections.iter().filter_map(|one| Some(one.branch.as_ref()?.from)).collect();
    for (index, connection) in (0..).map(cellrate_scenario::ConnectionIndex).zip(&mut scenario.connections) {
        if connection.branch.is_some() || trees.contains(&index) || pick(2) == 0 {
            continue;
        }
        for _ in 0..[1, 1, 2, 4][pick(4)] {
            let backward = pick(2) == 0;
            let share = |per_mille: usize| Duration::from_ps(whole / 1000 * per_mille as u64 + 1);
            // Some at one instant with others.
            let start = if pick(2) == 0 { Time::ZERO } else { Time::ZERO + share(pick(500)) };
            let every = match pick(3) {
                0 => Duration::from_us([50, 300, 1000][pick(3)]),
                _ => share([2, 30, 300][pick(3)]),
            };
            let hops = connection.path.len();
            let hop = (hops > 1 && pick(2) == 0).then(|| pick(hops - 1));
            connection.loopbacks.push(Loopback { backward, every, start, hop });
            if pick(3) == 0 {
                let flow = FlowIndex::of(index, backward);
                let quantity = Quantity::Flow { quantity: FlowQuantity::LoopbackTime, flow };
                let every = if pick(2) == 0 { Every::Change } else { Every::Interval(share(7)) };
                scenario.probes.push(Probe { quantity, every });
            }
        }
    }
    scenario
}
