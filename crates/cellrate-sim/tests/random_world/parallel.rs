//! Several links between the same nodes, and connections that take either.

use cellrate_proto::Duration;
use cellrate_scenario::{LinkIndex, PortIndex, Probe, Quantity, Scenario, Step};
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario` with a second link, and now and then a third, beside some of its links: alike, faster or slower, nearer
/// or farther, written from the same end or from the other. Of the connections on such a link about half take the new
/// one.
pub fn in_parallel(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("parallel links")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let links = scenario.links.len();
    // All links, or one of them at least.
    let (all, one) = (pick(3) == 0, pick(links));
    for index in 0..links {
        if !all && index != one && pick(3) > 0 {
            continue;
        }
        for copy in 2..=[2, 2, 2, 3][pick(4)] {
            add_parallel(&mut scenario, index, copy, &mut pick);
        }
    }
    scenario
}

fn add_parallel(scenario: &mut Scenario, index: usize, copy: usize, pick: &mut impl FnMut(usize) -> usize) {
    let mut twin = scenario.links[index].clone();
    twin.label = Some(format!("#{copy}"));
    match pick(4) {
        0 => twin.delay = [Duration::ZERO, Duration::from_us(10), Duration::from_us(300)][pick(3)],
        1 => twin.rate = scenario.links[pick(scenario.links.len())].rate,
        _ => {}
    }
    let turned = pick(2) == 0;
    if turned {
        twin.ends.reverse();
        twin.ports.reverse();
    }
    let (old, new) = (LinkIndex(index as u32), LinkIndex(scenario.links.len() as u32));
    let moved = |step: Step| Step { link: new, end: if turned { 1 - step.end } else { step.end } };
    scenario.links.push(twin);
    for connection in &mut scenario.connections {
        if pick(2) == 0 {
            for step in connection.path.iter_mut().filter(|step| step.link == old) {
                *step = moved(*step);
            }
        }
    }
    // Series of the old ports are recorded at the new ones, too.
    let of_port = |probe: &Probe| match probe.quantity {
        Quantity::Port { quantity, port } => Some((quantity, port, probe.every)),
        _ => None,
    };
    let found: Vec<_> = scenario.probes.iter().filter_map(of_port).collect();
    for (quantity, port, every) in found {
        if port.link() == old && pick(2) == 0 {
            let Step { link, end } = moved(Step { link: old, end: port.end() });
            let quantity = Quantity::Port { quantity, port: PortIndex::of(link, end) };
            scenario.probes.push(Probe { quantity, every });
        }
    }
}
