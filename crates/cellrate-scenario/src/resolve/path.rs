//! Paths of connections, and ways of branches: from node to node over links that are there.

use std::collections::{BTreeMap, BTreeSet};

use super::network::Network;
use crate::model::Step;
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
    // Between two nodes a path may name the link that it takes.
    let (mut names, mut nodes, mut links) = (Vec::new(), Vec::new(), BTreeMap::new());
    for written in check::list(node)? {
        let node = written.text().and_then(|name| network.named(name));
        let link = if node.is_none() { written.text() } else { None };
        if let Some(link) = link.and_then(|name| network.link_named(name)) {
            if nodes.is_empty() || links.insert(nodes.len(), (link, written)).is_some() {
                let message = format!("the link \"{}\" does not stand between two nodes", written.plain());
                return Err(Fault::new(
                    written.place,
                    message,
                    "Write the node before it and the node behind it",
                ));
            }
            continue;
        }
        nodes.push(node.map_or_else(|| network.node(written), Ok)?);
        names.push(written);
    }
    if let Some((_, written)) = links.get(&nodes.len()) {
        let message = format!("the {what} ends with the link \"{}\"", written.plain());
        return Err(Fault::new(written.place, message, "Write the node behind it"));
    }
    let last = nodes.len().saturating_sub(1);
    let mut seen = BTreeSet::new();
    for (i, (&index, written)) in nodes.iter().zip(&names).enumerate() {
        let name = network.name(index);
        let at_end = i == 0 || i == last;
        if branches && i == 0 {
            if network.is_host(index) {
                let message = format!("the branch begins at the host \"{name}\"");
                return Err(Fault::new(written.place, message, "A branch leads from a switch to a host"));
            }
        } else if at_end && !network.is_host(index) {
            let message =
                format!("the {what} {} at the switch \"{name}\"", if i == 0 { "begins" } else { "ends" });
            let from = if branches {
                "A branch leads from a switch to a host"
            } else {
                "A path leads from a host to a host"
            };
            return Err(Fault::new(written.place, message, from));
        }
        if !at_end && network.is_host(index) {
            let message = format!("the {what} passes through the host \"{name}\"");
            return Err(Fault::new(written.place, message, "Only switches forward cells"));
        }
        if !seen.insert(index) {
            let message = format!("the {what} comes to \"{name}\" twice");
            return Err(Fault::new(written.place, message, "Name every node once"));
        }
    }
    let mut steps = Vec::new();
    for ((pair, written), behind) in nodes.windows(2).zip(names.iter().skip(1)).zip(1..) {
        if let Some((link, written)) = links.get(&behind) {
            let Some(step) = network.steps_between(pair[0], pair[1]).find(|step| step.link == *link) else {
                let (from, to) = (network.name(pair[0]), network.name(pair[1]));
                let message =
                    format!("the link \"{}\" does not lead from \"{from}\" to \"{to}\"", written.plain());
                let ends = network.links[link.0 as usize].ends.map(|end| network.name(end));
                let remedy = format!("It is between \"{}\" and \"{}\"", ends[0], ends[1]);
                return Err(Fault::new(written.place, message, remedy));
            };
            steps.push(step);
            continue;
        }
        let Some(step) = network.step(pair[0], pair[1]) else {
            let (from, to) = (network.name(pair[0]), network.name(pair[1]));
            let message =
                format!("the {what} goes from \"{from}\" to \"{to}\", and there is no link between them");
            let neighbours = network.neighbours(pair[0]);
            let remedy = if neighbours.is_empty() {
                format!("\"{from}\" has no links")
            } else {
                format!("\"{from}\" is linked to {}", neighbours.join(", "))
            };
            return Err(Fault::new(written.place, message, remedy));
        };
        steps.push(step);
    }
    Ok(steps)
}
