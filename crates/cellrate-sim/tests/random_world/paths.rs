//! Ways through a network.

use cellrate_scenario::Scenario;

/// The nodes on the way from one host to another over the fewest links, both included.
pub(super) fn shortest_path(scenario: &Scenario, from: &str, to: &str) -> Vec<String> {
    let mut paths = vec![vec![from.to_owned()]];
    loop {
        let path = paths.remove(0);
        let last = path.last().expect("not empty");
        if last == to {
            return path;
        }
        for link in &scenario.links {
            let [a, b] = link.ends.map(|end| &scenario.nodes[end.0 as usize].name);
            for (near, far) in [(a, b), (b, a)] {
                if near == last && !path.contains(far) {
                    paths.push([&path[..], std::slice::from_ref(far)].concat());
                }
            }
        }
    }
}
