//! ABR beside categories that are served before it and after it, where no cell is lost: queues of which only some cells
//! can be overtaken.

use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

use super::{Generator, Style, random_bottleneck, random_fair_shares, show_films};
use crate::world::parameters_of;

/// Sources before one line, some of CBR, VBR and UBR.
pub fn random_categories(number: u64) -> Scenario {
    let scenario =
        if number.is_multiple_of(4) { random_fair_shares(number) } else { random_bottleneck(number) };
    of_several_categories(scenario, number)
}

/// The network with some of its connections, though not the first and none with TCP, in other categories, at rates that
/// leave ABR something.
pub fn of_several_categories(mut scenario: Scenario, number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("dice 8")));
    let mut generator = Generator { dice, style: Style::Mixed };
    let (duration, count) = (scenario.duration, scenario.connections.len() as f64);
    let sparse = generator.one_in(2);
    for connection in scenario.connections.iter_mut().skip(1) {
        if !generator.one_in(if sparse { 4 } else { 2 })
            || [&connection.forward, &connection.backward]
                .iter()
                .any(|flow| matches!(flow.traffic, Some(Traffic::Tcp(_))))
        {
            continue;
        }
        connection.category = generator.pick(&[Category::Cbr, Category::Vbr, Category::Vbr, Category::Ubr]);
        let share = generator.pick(&[0.2, 0.5, 1.0, 2.0]) / count;
        for flow in [&mut connection.forward, &mut connection.backward] {
            let Some(parameters) = parameters_of(flow) else { continue };
            let peak = parameters.pcr * share;
            let sends = flow.traffic.is_some();
            *flow = Flow {
                sender: Sender::Peak(peak),
                traffic: sends.then(|| generator.traffic(peak, false, duration)),
                conditioning: None,
            };
        }
    }
    if generator.one_in(2) {
        show_films(&mut scenario, &mut generator.dice);
    }
    scenario
}
