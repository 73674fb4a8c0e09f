//! The same networks with RM values in data cells.

use cellrate_proto::parameters::RmPlacement;
use cellrate_scenario::{ConnectionIndex, Scenario};
use cellrate_sim::random::{Owner, Random, Stream};

use crate::world::parameters_of;

/// `scenario`, with RM values in data cells in three directions of four, in every third of them in each data cell.
/// Trees stay what they are: they have none.
pub fn in_band(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("in band")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let of_tree = |index: usize| scenario.is_of_tree(ConnectionIndex(index as u32));
    let of_trees: Vec<bool> = (0..scenario.connections.len()).map(of_tree).collect();
    for (connection, of_tree) in scenario.connections.iter_mut().zip(of_trees) {
        for flow in [&mut connection.forward, &mut connection.backward] {
            let (carries, each) = (pick(4) > 0, pick(3) == 0);
            let Some(parameters) = parameters_of(flow).filter(|_| carries && !of_tree) else { continue };
            parameters.rm = RmPlacement::InBand;
            if each {
                parameters.nrm = 1;
            }
            assert_eq!(parameters.check(), Ok(()));
        }
    }
    scenario
}
