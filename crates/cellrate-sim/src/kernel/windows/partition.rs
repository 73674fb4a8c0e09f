//! Which nodes share a scheduler, and for how long clusters may run by themselves.
//!
//! A host with one link always shares the scheduler of its neighbour, however long the link: its transmissions can then
//! be folded into the link, and what it receives be counted at once.

use cellrate_proto::Duration;
use cellrate_scenario::{Link, NodeKind, Scenario};

use super::plain::Plain;
use crate::mechanisms::{Mechanism, Mechanisms};

/// Cells of each connection that a window should have room for, if the line between clusters is shared fairly: a
/// window costs something for each source and lane, however few cells they have in it.
const CELLS_PER_SOURCE: u64 = 128;
/// Fixed cost of a window, as a number of sources.
const WINDOW_AS_SOURCES: u64 = 16;
/// Most cells of a line in a window, though there are very many connections: they are kept until the window ends.
const MOST_CELLS: u64 = 1 << 14;
/// A link joins its nodes in one cluster where a window of its delay would cost more than it saves: where it has room
/// for less than five cells for every two sources, the window by itself counted as [some](WINDOW_AS_SOURCES). Measured
/// on W1's network with links of 43 us to 1 ms: a window costs as much as the events that it saves at 230 us.
const CELLS_OF_TWO_SOURCES: u64 = 5;
/// As many cells for every two sources, of a [plain](Plain) network: its ports from switch to switch deal with many
/// cells at once in a cluster, too. Measured on W1's network with 3, 15 and 60 sources, and with 1,500 of CBR: a window
/// costs as much as it saves at 180 us, 570 us, 1.6 ms and above 5 ms.
const CELLS_OF_TWO_SOURCES_IN_PLAIN: u64 = 18;
/// Fixed cost of a window in a [plain](Plain) network, as a number of sources.
const PLAIN_WINDOW_AS_SOURCES: u64 = 4;
/// A longer link never does, however many sources it has, unless the network is [plain](Plain): threads have work
/// there.
const LONGEST_JOINT: Duration = Duration::from_us(250);

/// The window of a network with one cluster, which could run for any time: watchers are called between windows.
const ALONE: Duration = Duration::from_ms(2);

/// A partition of the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    /// The cluster of each node; clusters are numbered in the order of their first node.
    pub cluster: Vec<u32>,
    /// Number of clusters.
    pub clusters: usize,
    /// Length of a window, not above any delay between clusters.
    pub window: Duration,
}

impl Partition {
    /// The partition of a scenario's nodes.
    pub fn of(scenario: &Scenario, mechanisms: Mechanisms) -> Partition {
        let in_one = !mechanisms.has(Mechanism::Clusters);
        let mut root: Vec<usize> = (0..scenario.nodes.len()).collect();
        let mut links_of = vec![0_u32; scenario.nodes.len()];
        for end in scenario.links.iter().flat_map(|link| link.ends) {
            links_of[end.0 as usize] += 1;
        }
        let ends_at_leaf = |link: &Link| {
            link.ends
                .iter()
                .map(|end| end.0 as usize)
                .any(|node| links_of[node] == 1 && scenario.nodes[node].kind == NodeKind::Host)
        };
        let connections = connections_by_link(scenario);
        let plain = Plain::of(scenario);
        let least = |link: &Link, sources: u64| match plain.as_ref().is_some_and(|it| it.may_join(sources)) {
            true => room(link, sources + PLAIN_WINDOW_AS_SOURCES, CELLS_OF_TWO_SOURCES_IN_PLAIN),
            false => LONGEST_JOINT.min(room(link, sources + WINDOW_AS_SOURCES, CELLS_OF_TWO_SOURCES)),
        };
        let joins = |&(link, &sources): &(&Link, &u64)| {
            in_one || link.shortest_delay() < least(link, sources) || ends_at_leaf(link)
        };
        for (link, _) in scenario.links.iter().zip(&connections).filter(joins) {
            let [a, b] = link.ends.map(|end| find(&mut root, end.0 as usize));
            root[a.max(b)] = a.min(b);
        }
        let mut number = vec![None; root.len()];
        let mut clusters = 0;
        let mut cluster = Vec::with_capacity(root.len());
        for node in 0..root.len() {
            let root = find(&mut root, node);
            let of = *number[root].get_or_insert_with(|| {
                clusters += 1;
                clusters - 1
            });
            cluster.push(of);
        }
        let is_between = |link: &Link| {
            let [a, b] = link.ends.map(|end| cluster[end.0 as usize]);
            a != b
        };
        let between: Vec<bool> = scenario.links.iter().map(is_between).collect();
        let window = window(scenario, &between, &connections);
        Partition { cluster, clusters: clusters as usize, window }
    }
}

/// The window where cells go from cluster to cluster over the links `between`: no longer than the shortest of them. Nor
/// longer than it has to be for its cells to be many beside its sources and lanes: enough for the connections of the
/// link on which that takes longest, and not too many for the fastest link.
fn window(scenario: &Scenario, between: &[bool], connections: &[u64]) -> Duration {
    if !between.contains(&true) {
        return ALONE;
    }
    let (mut shortest, mut enough, mut most) = (Duration::FOREVER, LONGEST_JOINT, Duration::FOREVER);
    for ((link, &connections), between) in scenario.links.iter().zip(connections).zip(between) {
        let cells = |count: u64| link.fastest_rate().cell_time().saturating_mul(count);
        if *between {
            shortest = shortest.min(link.shortest_delay());
            enough = enough
                .max(cells(connections.saturating_add(WINDOW_AS_SOURCES).saturating_mul(CELLS_PER_SOURCE)));
            most = most.min(cells(MOST_CELLS));
        }
    }
    shortest.min(enough).min(most.max(LONGEST_JOINT))
}

/// For each link, the number of connections that cross it.
fn connections_by_link(scenario: &Scenario) -> Vec<u64> {
    let mut connections = vec![0; scenario.links.len()];
    for connection in &scenario.connections {
        connection.path.iter().for_each(|step| connections[step.link.0 as usize] += 1);
    }
    connections
}

/// Time that a link takes for so many cells of every two sources.
fn room(link: &Link, sources: u64, cells_of_two: u64) -> Duration {
    link.fastest_rate().cell_time().saturating_mul(sources.saturating_mul(cells_of_two) / 2)
}

fn find(root: &mut [usize], node: usize) -> usize {
    let mut node = node;
    while root[node] != node {
        root[node] = root[root[node]];
        node = root[node];
    }
    node
}

#[cfg(test)]
mod tests {
    use cellrate_scenario::Document;

    use super::*;

    /// Switches that mark, so that the network is not plain.
    const MARKING: &str = "[defaults.switch]\nefci = { high = \"50 cells\" }\n";
    const ABR: &str = "";
    const CBR: &str = "category = \"cbr\"\ntraffic = { type = \"constant\", rate = \"64 kbps\" }\n";

    fn partition(delay: &str, sources: usize) -> (usize, Duration) {
        partition_at("149.76 Mbps", delay, sources, MARKING, ABR)
    }

    /// Clusters and window of two switches with a link of this delay between them, and so many connections over it; all
    /// lines have that rate.
    fn partition_at(
        rate: &str,
        delay: &str,
        sources: usize,
        switches: &str,
        kind: &str,
    ) -> (usize, Duration) {
        let text = format!(
            "name = \"two\"\nduration = \"1 ms\"\n{switches}[defaults.link]\nrate = \"{rate}\"\ndelay = \"{delay}\"\n\
             [[host]]\nname = \"s{{i}}\"\ncount = {sources}\n[[host]]\nname = \"d{{i}}\"\ncount = {sources}\n\
             [[switch]]\nname = \"sw{{i}}\"\ncount = 2\n[[link]]\nbetween = [\"sw1\", \"sw2\"]\n\
             [[link]]\nbetween = [\"s{{i}}\", \"sw1\"]\ncount = {sources}\n\
             [[link]]\nbetween = [\"sw2\", \"d{{i}}\"]\ncount = {sources}\n\
             [[vc]]\nname = \"vc{{i}}\"\ncount = {sources}\npath = [\"s{{i}}\", \"sw1\", \"sw2\", \"d{{i}}\"]\n{kind}"
        );
        let scenario = Document::parse(&text, "two").expect("it reads").resolve().expect("it resolves");
        let Partition { clusters, window, .. } = Partition::of(&scenario, Mechanisms::default());
        (clusters, window)
    }

    #[test]
    fn a_link_separates_clusters_where_a_window_holds_enough_cells_for_its_sources() {
        // 77 cells of 0.68 us for 15 sources and 16 more; 42 cells for one source.
        let at = |delay, sources| partition_at("622.08 Mbps", delay, sources, MARKING, ABR).0;
        assert_eq!(["0 us", "52 us", "53 us", "250 us"].map(|delay| at(delay, 15)), [1, 1, 2, 2]);
        assert_eq!(["28 us", "29 us"].map(|delay| at(delay, 1)), [1, 2]);
        assert_eq!(["249 us", "250 us"].map(|delay| at(delay, 400)), [1, 2], "the longest that joins");
        assert_eq!(["217 us", "219 us"].map(|delay| partition(delay, 15).0), [1, 2], "a slower line");
    }

    #[test]
    fn a_plain_network_is_one_cluster_over_longer_links() {
        // 171 cells of 2.83 us for 15 sources and 4 more; 576 for 60.
        let at = |delay, sources, kind| partition_at("149.76 Mbps", delay, sources, "", kind).0;
        assert_eq!(["484 us", "485 us"].map(|delay| at(delay, 15, ABR)), [1, 2]);
        assert_eq!(["1630 us", "1632 us"].map(|delay| at(delay, 60, ABR)), [1, 2]);
        assert_eq!(["249 us", "250 us"].map(|delay| at(delay, 257, ABR)), [1, 2], "too many");
        assert_eq!(["6 ms", "7 ms"].map(|delay| at(delay, 257, CBR)), [1, 2], "nobody answers them");
    }

    #[test]
    fn a_window_is_as_long_as_its_link_until_it_holds_enough_cells() {
        assert_eq!(partition("300 us", 15).1, Duration::from_us(300));
        assert_eq!(partition("5 ms", 15).1, Duration::from_ms(5));
        let cell_time = cellrate_proto::BitRate::from_bps(149_760_000).cell_time();
        assert_eq!(partition("275 ms", 15).1, cell_time * (128 * 31));
        assert_eq!(partition("275 ms", 1000).1, cell_time * (1 << 14), "cells are kept for as long");
    }
}
