//! A network as a picture needs it: nodes, links and the ways of connections, as rows.

use std::collections::BTreeSet;

use cellrate_scenario::{ConnectionIndex, NodeKind, Scenario};
use serde::Serialize;

use crate::names::control_names;

/// The network of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Topology {
    /// Nodes, in the order of the scenario.
    pub nodes: Vec<NodeRow>,
    /// Links, in the order of the scenario.
    pub links: Vec<LinkRow>,
    /// Connections, in the order of the scenario.
    pub vcs: Vec<VcRow>,
}

/// A host or switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeRow {
    /// Its name.
    pub name: String,
    /// Whether it is a host.
    pub is_host: bool,
    /// Congestion control of its ports, each kind once.
    pub control: Vec<String>,
}

/// A link between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkRow {
    /// The nodes at its ends, by their places.
    pub ends: [u32; 2],
    /// Its rate [bit/s].
    pub rate_bps: u64,
    /// Its propagation delay \[s\].
    pub delay_s: f64,
    /// A label that tells the link from others between the same nodes.
    pub label: Option<String>,
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VcRow {
    /// Its name.
    pub name: String,
    /// Its service category.
    pub category: &'static str,
    /// The nodes that it crosses, by their places; of a branch of a tree those from the source on.
    pub path: Vec<u32>,
    /// The ports that its forward cells leave by, each twice the place of the link plus the end of it that they leave
    /// from (0 or 1).
    pub ports: Vec<u32>,
}

impl Topology {
    /// The network of `scenario`.
    pub fn of(scenario: &Scenario) -> Topology {
        let mut control = vec![BTreeSet::new(); scenario.nodes.len()];
        for link in &scenario.links {
            for (node, port) in link.ends.iter().zip(&link.ports) {
                control[node.0 as usize].insert(control_names(port).join(", "));
            }
        }
        let nodes = scenario.nodes.iter().zip(control).map(|(node, control)| NodeRow {
            name: node.name.clone(),
            is_host: node.kind == NodeKind::Host,
            control: control.into_iter().filter(|name| !name.is_empty()).collect(),
        });
        let links = scenario.links.iter().map(|link| LinkRow {
            ends: link.ends.map(|node| node.0),
            rate_bps: link.rate.as_bps(),
            delay_s: link.delay.as_secs_f64(),
            label: link.label.clone(),
        });
        let vcs = (0..).map(ConnectionIndex).zip(&scenario.connections).map(|(index, connection)| {
            let way = scenario.path_from_source(index);
            let first = way.first().map(|&step| scenario.tail(step).0);
            let rest = way.iter().map(|&step| scenario.head(step).0);
            VcRow {
                name: connection.name.clone(),
                category: connection.category.word(),
                path: first.into_iter().chain(rest).collect(),
                ports: way.iter().map(|step| step.port().0).collect(),
            }
        });
        Topology { nodes: nodes.collect(), links: links.collect(), vcs: vcs.collect() }
    }
}
