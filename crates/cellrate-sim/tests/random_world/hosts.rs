//! Hosts with several connections.

use std::sync::Arc;

use cellrate_proto::Duration;
use cellrate_scenario::traffic::Greedy;
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

use super::{Generator, Style, random_bottleneck, random_fair_shares, random_throng, side_by_side};
use crate::world::parameters_of;

/// Sources before one line, several at a host, and so are the sinks; what they send differs. In some of them there are
/// very many, and some are many such networks side by side.
pub fn random_shared_hosts(number: u64) -> Scenario {
    let mut scenario = match number % 4 {
        0 => random_fair_shares(number),
        1 => random_throng(number),
        _ => random_bottleneck(number),
    };
    share_hosts(&mut scenario, number);
    // Cells between clusters are packed from 128 ways on.
    if number % 4 == 3 { side_by_side(scenario, 150) } else { scenario }
}

/// Sources that share hosts before one line, not so many of them.
pub fn random_shared_bottleneck(number: u64) -> Scenario {
    let mut scenario = random_bottleneck(number);
    share_hosts(&mut scenario, number);
    scenario
}

/// Connections move to the hosts of those before them, and some get another traffic.
fn share_hosts(scenario: &mut Scenario, number: u64) {
    let dice = Random::new(number, Stream::Traffic(Owner::named("dice 7")));
    let mut generator = Generator { dice, style: Style::Mixed };
    let Scenario { connections, duration, links, .. } = scenario;
    // A second line beside the first, so that what leaves a host goes on by two ports.
    let second = generator.one_in(3).then(|| {
        links.push(links[0].clone());
        LinkIndex(links.len() as u32 - 1)
    });
    let together = generator.pick(&[2, 2, 3, 5, 10, 40]);
    let at_one_end = generator.pick(&[None, None, Some(0), Some(1)]);
    // Rates that meet at a host are its line's together, as many as they are, or whatever they were.
    let share = generator.pick(&[None, None, Some(1.0), Some(1.5), Some(0.3)]);
    let without_feedback = generator.one_in(6);
    let unlike = generator.pick(&[0, 0, 2, 5]);
    for index in 0..connections.len() {
        let leader = connections[index - index % together].path.clone();
        let (path, last) = (&mut connections[index].path, leader.len() - 1);
        for (end, place) in [(0, 0), (1, last)] {
            // One may have another way.
            if at_one_end.is_none_or(|one| one == end) && path.len() == leader.len() {
                path[place] = leader[place];
            }
        }
        let connection = &mut connections[index];
        let line = &mut connection.path[1].link;
        if let (Some(second), LinkIndex(0), true) = (second, *line, generator.one_in(2)) {
            *line = second;
        }
        if let Some(share) = share {
            for flow in [&mut connection.forward, &mut connection.backward] {
                let Some(parameters) = parameters_of(flow) else { continue };
                parameters.pcr = (parameters.pcr * (share / together as f64)).max(parameters.mcr);
                parameters.icr = parameters.icr.min(parameters.pcr);
            }
        }
        let peak = parameters_of(&mut connection.forward).expect("all are of ABR").pcr;
        if unlike > 0 && generator.one_in(unlike) {
            connection.forward.traffic = Some(generator.traffic(peak, true, *duration));
        }
        if generator.one_in(4) {
            connection.backward.traffic = Some(Traffic::Greedy(Greedy::default()));
        }
        if without_feedback {
            connection.category = Category::Ubr;
            let traffic = generator.traffic(peak, false, *duration);
            (connection.forward.sender, connection.forward.traffic) = (Sender::Peak(peak), Some(traffic));
            (connection.backward.sender, connection.backward.traffic) = (Sender::Peak(peak), None);
        } else if generator.one_in(8)
            && let Sender::Abr(abr) = &mut connection.forward.sender
        {
            Arc::make_mut(abr).waiting_brm = WaitingBrm::SendOutOfRate;
        }
    }
    // A port of a host that somebody looks at.
    for _ in 0..generator.pick(&[0, 0, 1, 3]) {
        let connection = generator.below(connections.len() as u64) as usize;
        let port = connections[connection].path[0].port();
        let quantity = generator.pick(&[PortQuantity::Queue, PortQuantity::Utilization]);
        let every = Every::Interval(Duration::from_ps(duration.as_ps() / 40 + 7));
        let every =
            if generator.one_in(4) && quantity == PortQuantity::Queue { Every::Change } else { every };
        scenario.probes.push(Probe { quantity: Quantity::Port { quantity, port }, every });
    }
}
