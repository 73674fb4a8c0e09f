//! Which ports from switch to switch within a cluster are [deferred](crate::kernel::deferred::onward): those behind
//! which nothing has to be an event that does not have to be one before them.

use std::collections::BTreeSet;

use cellrate_scenario::{PortIndex, Scenario};

use super::carried::sends;
use super::place::Place;
use crate::kernel::build::Parts;
use crate::kernel::ports::Port;
use crate::kernel::ports::drain_strategy::DrainStrategy;

/// Defers each port of the strategy [`DrainStrategy::Onward`] all of whose cells go on by deferred ports; the others
/// have no strategy. One that its own cells come back to over other such ports is not deferred: none is before itself.
pub(super) fn defer_onward(scenario: &Scenario, ports: &[Option<Place>], parts: &mut [Parts]) {
    let is_onward = |port: &Port| port.strategy == DrainStrategy::Onward;
    if !parts.iter().flat_map(|parts| &parts.ports).any(is_onward) {
        return;
    }
    let mut waiting = ways_on(scenario, |port| {
        ports[port.index()].is_some_and(|at| is_onward(&parts[at.cluster as usize].ports[at.index as usize]))
    });
    loop {
        let before = waiting.len();
        // Several in a row are found in one pass where they stand the other way round than their cells go.
        waiting.retain(|&(port, ref next)| {
            let is_deferred = next.iter().all(|&next| {
                ports[next.index()]
                    .is_some_and(|at| parts[at.cluster as usize].ports[at.index as usize].deferred)
            });
            if let (true, Some(at)) = (is_deferred, ports[port.index()]) {
                parts[at.cluster as usize].ports[at.index as usize].deferred = true;
                parts[at.cluster as usize].onward.push(at.index);
            }
            !is_deferred
        });
        if waiting.len() == before {
            break;
        }
        waiting.reverse();
    }
    for port in parts.iter_mut().flat_map(|parts| &mut parts.ports).filter(|port| is_onward(port)) {
        if !port.deferred {
            port.strategy = DrainStrategy::OneByOne;
        }
    }
}

/// Ports that `is_one` chooses and cells cross, each with the ports by which these cells go on.
fn ways_on(scenario: &Scenario, is_one: impl Fn(PortIndex) -> bool) -> Vec<(PortIndex, Vec<PortIndex>)> {
    let mut pairs = BTreeSet::new();
    for flow in scenario.flows().filter(|&flow| sends(scenario, flow)) {
        let ports = || scenario.steps(flow).map(|step| step.port());
        pairs.extend(ports().zip(ports().skip(1)).filter(|&(port, _)| is_one(port)));
    }
    let pairs: Vec<(PortIndex, PortIndex)> = pairs.into_iter().collect();
    let ways = pairs.chunk_by(|(one, _), (other, _)| one == other);
    ways.map(|ways| (ways[0].0, ways.iter().map(|&(_, next)| next).collect())).collect()
}

#[cfg(test)]
mod tests {
    use cellrate_engine::plugins::Plugins;
    use cellrate_scenario::{Document, NodeKind};

    use super::super::assemble;
    use super::*;
    use crate::mechanisms::Mechanisms;

    /// Which ports from switch to switch are deferred, by the names of the two.
    fn deferred(text: &str) -> Vec<String> {
        let defaults = "name = \"row\"\nduration = \"1 ms\"\n[defaults.link]\nrate = \"149.76 Mbps\"\ndelay = \"1 us\"\n";
        let document = Document::parse(&format!("{defaults}{text}"), "row").expect("it reads");
        let scenario = document.resolve().expect("it resolves");
        let assembly =
            assemble(&scenario, &[], Plugins::default(), Mechanisms::default()).expect("it is built");
        let mut found = Vec::new();
        for port in scenario.ports() {
            let ends =
                [scenario.tail(port.step()), scenario.head(port.step())].map(|node| scenario.node(node));
            let Some(at) = assembly.ports[port.index()] else { continue };
            let place = &assembly.kernel.clusters[at.cluster as usize].ports[at.index as usize];
            if ends.iter().all(|end| end.kind == NodeKind::Switch) && place.deferred {
                assert_eq!(place.strategy, DrainStrategy::Onward);
                found.push(format!("{} {}", ends[0].name, ends[1].name));
            }
        }
        found.sort();
        found
    }

    const SWITCHES: &str = "[[switch]]\nname = \"sw{i}\"\ncount = 4\n[[link]]\nbetween = [\"sw1\", \"sw2\"]\n\
        [[link]]\nbetween = [\"sw2\", \"sw3\"]\n[[link]]\nbetween = [\"sw3\", \"sw4\"]\n";

    #[test]
    fn ports_in_a_row_are_deferred_up_to_one_that_is_not() {
        let row = format!(
            "{SWITCHES}[[host]]\nname = \"s\"\n[[host]]\nname = \"d\"\n[[link]]\nbetween = [\"s\", \"sw1\"]\n\
             [[link]]\nbetween = [\"sw4\", \"d\"]\n\
             [[vc]]\nname = \"vc\"\npath = [\"s\", \"sw1\", \"sw2\", \"sw3\", \"sw4\", \"d\"]\n"
        );
        assert_eq!(deferred(&row), ["sw1 sw2", "sw2 sw1", "sw2 sw3", "sw3 sw2", "sw3 sw4", "sw4 sw3"]);
        let watched =
            format!("{row}[[probe]]\nof = [\"sw3->sw4\"]\nrecord = [\"queue\"]\nevery = \"change\"\n");
        assert_eq!(deferred(&watched), ["sw2 sw1", "sw3 sw2", "sw4 sw3"]);
    }

    #[test]
    fn no_port_of_a_ring_is_before_itself() {
        let mut ring = format!("{SWITCHES}[[link]]\nbetween = [\"sw4\", \"sw1\"]\n");
        ring +=
            "[[host]]\nname = \"s{i}\"\ncount = 4\n[[link]]\nbetween = [\"s{i}\", \"sw{i}\"]\ncount = 4\n";
        for at in 1..=4 {
            let name = |hop: usize| (at + hop - 1) % 4 + 1;
            ring += &format!(
                "[[vc]]\nname = \"vc{at}\"\npath = [\"s{at}\", \"sw{at}\", \"sw{}\", \"sw{}\", \"s{}\"]\n",
                name(1),
                name(2),
                name(2)
            );
        }
        assert_eq!(deferred(&ring), [""; 0]);
        let open = ring.rsplit_once("[[vc]]").expect("there are four").0;
        assert_eq!(deferred(open).len(), 8);
    }
}
