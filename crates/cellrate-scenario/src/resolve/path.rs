//! Paths of connections, and ways of branches: from node to node over links that are there.

use std::collections::{BTreeMap, BTreeSet};

use super::network::Network;
use crate::model::{LinkIndex, NodeIndex, Step};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::tree::{Node, Table};

/// The path that a table says.
pub(super) fn path(network: &Network, table: &Table, place: Place) -> Result<Vec<Step>, Fault> {
    match table.node("path") {
        Some(node) => way(network, node, false),
        None => Err(check::missing(place, "path", "its nodes in order")),
    }
}

/// From host to host, or from a switch to a host if it `branches`, over links that are there, through switches, through
/// none twice.
pub(super) fn way(network: &Network, node: &Node, branches: bool) -> Result<Vec<Step>, Fault> {
    let what = if branches { "branch" } else { "path" };
    let way = Way::written(network, node, what)?;
    way.check_nodes(network, what, branches)?;
    let mut steps = Vec::new();
    for (behind, pair) in (1..).zip(way.nodes.windows(2)) {
        steps.push(match way.links.get(&behind) {
            Some(&(link, written)) => over(network, pair[0], pair[1], link, written)?,
            None => linked(network, pair[0], pair[1], way.names[behind].place, what)?,
        });
    }
    Ok(steps)
}

/// Nodes of a way in order, each as it is written, and links that are named between two of them.
#[derive(Default)]
struct Way<'a> {
    nodes: Vec<NodeIndex>,
    names: Vec<&'a Node>,
    /// By the number of the node behind it.
    links: BTreeMap<usize, (LinkIndex, &'a Node)>,
}

impl<'a> Way<'a> {
    fn written(network: &Network, node: &'a Node, what: &str) -> Result<Way<'a>, Fault> {
        let mut way = Way::default();
        for written in check::list(node)? {
            let node = written.text().and_then(|name| network.named(name));
            let link = if node.is_none() { written.text() } else { None };
            if let Some(link) = link.and_then(|name| network.link_named(name)) {
                let behind = way.nodes.len();
                if behind == 0 || way.links.insert(behind, (link, written)).is_some() {
                    let message =
                        format!("the link \"{}\" does not stand between two nodes", written.plain());
                    let remedy = "Write the node before it and the node behind it";
                    return Err(Fault::new(written.place, message, remedy));
                }
                continue;
            }
            way.nodes.push(node.map_or_else(|| network.node(written), Ok)?);
            way.names.push(written);
        }
        if let Some((_, written)) = way.links.get(&way.nodes.len()) {
            let message = format!("the {what} ends with the link \"{}\"", written.plain());
            return Err(Fault::new(written.place, message, "Write the node behind it"));
        }
        Ok(way)
    }

    /// Hosts at both ends, a switch at the beginning of a branch; switches between; none twice.
    fn check_nodes(&self, network: &Network, what: &str, branches: bool) -> Result<(), Fault> {
        let last = self.nodes.len().saturating_sub(1);
        let mut seen = BTreeSet::new();
        for (i, (&index, written)) in self.nodes.iter().zip(&self.names).enumerate() {
            let name = network.name(index);
            let refuse = |message: String, remedy: &str| Err(Fault::new(written.place, message, remedy));
            let ends = match branches {
                true => "A branch leads from a switch to a host",
                false => "A path leads from a host to a host",
            };
            let (is_host, at_end) = (network.is_host(index), i == 0 || i == last);
            if branches && i == 0 {
                if is_host {
                    return refuse(format!("the branch begins at the host \"{name}\""), ends);
                }
            } else if at_end && !is_host {
                let does = if i == 0 { "begins" } else { "ends" };
                return refuse(format!("the {what} {does} at the switch \"{name}\""), ends);
            }
            if !at_end && is_host {
                let message = format!("the {what} passes through the host \"{name}\"");
                return refuse(message, "Only switches forward cells");
            }
            if !seen.insert(index) {
                return refuse(format!("the {what} comes to \"{name}\" twice"), "Name every node once");
            }
        }
        Ok(())
    }
}

/// The step from one node to another over the link that the way names between them.
fn over(
    network: &Network,
    from: NodeIndex,
    to: NodeIndex,
    link: LinkIndex,
    written: &Node,
) -> Result<Step, Fault> {
    network.steps_between(from, to).find(|step| step.link == link).ok_or_else(|| {
        let (from, to) = (network.name(from), network.name(to));
        let message = format!("the link \"{}\" does not lead from \"{from}\" to \"{to}\"", written.plain());
        let ends = network.links[link.0 as usize].ends.map(|end| network.name(end));
        let remedy = format!("It is between \"{}\" and \"{}\"", ends[0], ends[1]);
        Fault::new(written.place, message, remedy)
    })
}

/// The step from one node to another over whichever link there is.
fn linked(
    network: &Network,
    from: NodeIndex,
    to: NodeIndex,
    place: Place,
    what: &str,
) -> Result<Step, Fault> {
    network.step(from, to).ok_or_else(|| {
        let neighbours = network.neighbours(from);
        let (from, to) = (network.name(from), network.name(to));
        let message =
            format!("the {what} goes from \"{from}\" to \"{to}\", and there is no link between them");
        let remedy = if neighbours.is_empty() {
            format!("\"{from}\" has no links")
        } else {
            format!("\"{from}\" is linked to {}", neighbours.join(", "))
        };
        Fault::new(place, message, remedy)
    })
}
