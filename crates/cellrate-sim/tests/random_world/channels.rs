//! Random networks with virtual paths.

use cellrate_proto::scheduling::Weight;
use cellrate_scenario::traffic::Greedy;
use cellrate_scenario::{Channel, Scenario, Sender, Traffic};
use cellrate_sim::random::{Owner, Random, Stream};

use super::loopback::looped_back;
use super::segments::segmented;
use super::traffic::declared;
use super::{Generator, Style};

/// `scenario`, whose greedy ABR connections are, but for every third, virtual paths with channels of any open-loop
/// traffic; some have segmented loops or loopback cells.
pub fn with_paths(mut scenario: Scenario, number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("channels")));
    let mut dice = Generator { dice, style: Style::Mixed };
    let duration = scenario.duration;
    let trees: Vec<_> =
        scenario.connections.iter().filter_map(|one| Some(one.branch.as_ref()?.from.0)).collect();
    for (index, connection) in (0..).zip(&mut scenario.connections) {
        let is_greedy = |traffic: &Option<Traffic>| matches!(traffic, Some(Traffic::Greedy(_)));
        let goes_back = is_greedy(&connection.backward.traffic);
        if connection.branch.is_some()
            || trees.contains(&index)
            || !is_greedy(&connection.forward.traffic)
            || !(goes_back || connection.backward.traffic.is_none())
            || dice.one_in(3)
        {
            continue;
        }
        let Sender::Abr(abr) = &connection.forward.sender else { continue };
        let pcr = abr.parameters.pcr;
        let mut channels = |letter: &str| {
            let count = 1 + dice.below(4);
            let channels = (0..count).map(|number| Channel {
                name: format!("{letter}{number}"),
                traffic: match dice.one_in(2) {
                    true => Traffic::Greedy(Greedy::default()),
                    false => declared(&mut dice, pcr, duration),
                },
                weight: Weight::nearest(dice.pick(&[1.0, 1.0, 2.0, 0.3])),
            });
            Traffic::Channels(channels.collect())
        };
        connection.forward.traffic = Some(channels("a"));
        if goes_back {
            connection.backward.traffic = Some(channels("b"));
        }
    }
    match number % 4 {
        0 => segmented(scenario, number),
        1 => looped_back(scenario, number),
        _ => scenario,
    }
}
