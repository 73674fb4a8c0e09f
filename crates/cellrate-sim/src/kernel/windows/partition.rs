//! Which nodes share a scheduler, and for how long clusters may run by themselves.
//!
//! A host with one link always shares the scheduler of its neighbour, however long the link: its transmissions can then
//! be folded into the link, and what it receives be counted at once.

use cellrate_proto::Duration;
use cellrate_scenario::{Link, NodeKind, Scenario};

/// Links shorter than this join their nodes in one cluster: a window has to hold enough cells to be worth its overhead.
const SHORTEST_WINDOW: Duration = Duration::from_us(100);
/// Longer windows would only make more cells wait between clusters.
const LONGEST_WINDOW: Duration = Duration::from_ms(2);

/// A partition of the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    /// The cluster of each node; clusters are numbered in the order of their first node.
    pub cluster: Vec<u32>,
    /// Number of clusters.
    pub clusters: usize,
    /// The window, not above any delay between clusters.
    pub window: Duration,
}

impl Partition {
    /// The partition of a scenario's nodes.
    pub fn of(scenario: &Scenario) -> Partition {
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
        for link in scenario.links.iter().filter(|link| link.delay < SHORTEST_WINDOW || ends_at_leaf(link)) {
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
        let between = scenario.links.iter().filter(|link| {
            let [a, b] = link.ends.map(|end| cluster[end.0 as usize]);
            a != b
        });
        let shortest = between.map(|link| link.delay).min().unwrap_or(LONGEST_WINDOW);
        Partition { cluster, clusters: clusters as usize, window: shortest.min(LONGEST_WINDOW) }
    }
}

fn find(root: &mut [usize], node: usize) -> usize {
    let mut node = node;
    while root[node] != node {
        root[node] = root[root[node]];
        node = root[node];
    }
    node
}
