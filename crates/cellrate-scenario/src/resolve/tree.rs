//! Trees: the branches of a connection.

use cellrate_proto::Duration;
use cellrate_proto::switch::SwitchAlgorithmConfig;

use super::network::Network;
use super::{defaults, path};
use crate::model::{Branch, Category, Connection, ConnectionIndex, Flow, NodeIndex, Step};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::tree::{Node, Table};

/// A way from a switch of a tree to one more leaf.
pub(super) struct BranchPath {
    /// The path, or the way, that it leaves: 0 is the path, 1 the first way.
    from: usize,
    /// The hop of that, from 1 on, that leaves the same switch.
    hop: usize,
    pub steps: Vec<Step>,
    place: Place,
}

/// The paths that `branches` of a connection adds to its path.
pub(super) fn branch_paths(
    network: &Network,
    table: &Table,
    path: &[Step],
) -> Result<Vec<BranchPath>, Fault> {
    let Some(node) = table.node("branches") else { return Ok(Vec::new()) };
    refuse_beside(table)?;
    let mut branch_paths: Vec<BranchPath> = Vec::new();
    for written in check::list(node)? {
        let steps = path::way(network, written, true)?;
        let (Some(&first), place) = (steps.first(), written.place) else { continue };
        let switch = network.tail(first);
        let paths = || std::iter::once(path).chain(branch_paths.iter().map(|branch| &branch.steps[..]));
        // A node that a path comes to and goes on from is on no other.
        let passes = |path: &[Step]| path.iter().skip(1).position(|step| network.tail(*step) == switch);
        let Some((from, hop)) = paths().enumerate().find_map(|(from, path)| Some((from, passes(path)? + 1)))
        else {
            let message =
                format!("the branch begins at \"{}\", which the tree does not pass", network.name(switch));
            let mut known: Vec<&str> = Vec::new();
            for step in paths().flat_map(|path| path.iter().skip(1)) {
                known.extend(
                    (!network.is_host(network.tail(*step))).then(|| network.name(network.tail(*step))),
                );
            }
            known.dedup();
            return Err(Fault::new(place, message, format!("It passes {}", known.join(", "))));
        };
        let nodes: Vec<NodeIndex> =
            paths().flatten().flat_map(|step| [network.tail(*step), network.head(*step)]).collect();
        if let Some(again) = steps.iter().map(|step| network.head(*step)).find(|node| nodes.contains(node)) {
            let message =
                format!("the branch comes to \"{}\", where the tree is already", network.name(again));
            return Err(Fault::new(
                place,
                message,
                "Cells come to a node of a tree by one way: begin the branch there, or lead it elsewhere",
            ));
        }
        branch_paths.push(BranchPath { from, hop, steps, place });
    }
    Ok(branch_paths)
}

/// Refuses what a tree cannot have.
fn refuse_beside(table: &Table) -> Result<(), Fault> {
    let reverse = table.node("reverse").and_then(Node::table);
    let back = reverse.and_then(|reverse| reverse.node("traffic"));
    let both = table.node("bidirectional").filter(|node| check::boolean(node).unwrap_or(false));
    if let Some(node) = both.or(back) {
        let message = "branches cannot go with data from the other end: leaves send none back";
        return Err(Fault::new(node.place, message, "Leave it out, or give each leaf a vc of its own"));
    }
    let police = |table: &Table| table.node("police").filter(|node| node.table().is_some()).cloned();
    if let Some(node) = reverse.and_then(police) {
        let message = "branches cannot go with reverse.police: leaves send nothing that has a contract";
        let remedy = "Leave it out: police without reverse holds what the source sends";
        return Err(Fault::new(node.place, message, remedy));
    }
    let values =
        |table: &Table| table.node("abr").and_then(Node::table).and_then(|abr| abr.node("rm")).cloned();
    let in_band = |node: &Node| node.text() == Some("in-band");
    if let Some(node) = [Some(table), reverse].into_iter().flatten().filter_map(values).find(in_band) {
        let message =
            "branches cannot go with rm \"in-band\": a switch answers for its branches with RM cells alone";
        return Err(Fault::new(
            node.place,
            message,
            "Write rm = \"own-cells\", or give each leaf a vc of its own",
        ));
    }
    if let Some(node) = table.node("category").filter(|node| node.text() == Some("gfr")) {
        let message = "branches cannot go with category \"gfr\", whose frames go between two hosts";
        return Err(Fault::new(node.place, message, "Write another category, or leave branches out"));
    }
    let traffic = table.node("traffic");
    let kind = traffic
        .and_then(Node::table)
        .and_then(|traffic| Some((traffic.node("type")?, traffic.text("type")?)));
    match kind {
        Some((node, kind @ ("tcp" | "request-response" | "frames" | "mpeg2"))) => {
            let message =
                format!("branches cannot carry traffic of type \"{kind}\", which is between two hosts");
            let remedy = "Write traffic of another type, such as \"greedy\" or \"video\"";
            Err(Fault::new(node.place, message, remedy))
        }
        _ => Ok(()),
    }
}

/// The path to the leaf that is farthest away, by the delays of links.
pub(super) fn farthest(network: &Network, path: &[Step], branch_paths: &[BranchPath]) -> Vec<Step> {
    farthest_of(network, path, branch_paths.iter().map(|branch| (branch.from, &branch.steps[..])))
}

/// The [same](farthest) of branch paths, each with the one that it leaves, where 0 is the path.
fn farthest_of<'a>(
    network: &Network,
    path: &[Step],
    branch_paths: impl Iterator<Item = (usize, &'a [Step])>,
) -> Vec<Step> {
    let mut all = vec![path.to_vec()];
    for (from, steps) in branch_paths {
        let before = &all[from];
        // Steps from the source on: a way that another leaves begins behind those that lead to it.
        let switch = steps.first().map(|step| network.tail(*step));
        let to_switch = before.iter().take_while(|step| Some(network.tail(**step)) != switch);
        all.push(to_switch.chain(steps).copied().collect());
    }
    let delay = |path: &Vec<Step>| {
        let delays = path.iter().map(|step| network.link(*step).longest_delay());
        delays.fold(Duration::ZERO, Duration::saturating_add)
    };
    // The first of those that are alike.
    all.into_iter().rev().max_by_key(delay).unwrap_or_default()
}

/// Refuses ports on the way of an ABR tree that cannot consolidate.
pub(super) fn check_ports(
    network: &Network,
    category: Category,
    path: &[Step],
    branch_paths: &[BranchPath],
) -> Result<(), Fault> {
    let Some(first) = branch_paths.first().filter(|_| category == Category::Abr) else { return Ok(()) };
    for step in path.iter().chain(branch_paths.iter().flat_map(|branch| &branch.steps)) {
        for index in [step.port(), step.port().other()] {
            let port = network.port(index);
            let key = if port.vs_vd.is_some() {
                "vs_vd"
            } else if port.control.becn.is_some() {
                "becn"
            } else if matches!(port.control.algorithm, SwitchAlgorithmConfig::StopAndGo(_)) {
                "algorithm type \"stop-and-go\""
            } else {
                continue;
            };
            let message = format!("the port {} of the tree has {key}", network.port_name(index));
            return Err(Fault::new(
                first.place,
                message,
                "Turn it off at the ports of the tree: it is for connections with one path",
            ));
        }
    }
    Ok(())
}

/// The branches of `trunk`, which is the connection of this index, in order.
pub(super) fn branches(
    network: &Network,
    trunk: &Connection,
    index: ConnectionIndex,
    branch_paths: Vec<BranchPath>,
) -> Vec<Connection> {
    let branch = |BranchPath { from, hop, steps, .. }: BranchPath| {
        let switch = steps.first().map(|step| network.tail(*step));
        let leaf = steps.last().map_or("", |step| network.name(network.head(*step)));
        let consolidation = switch.and_then(|switch| network.consolidations.get(&switch).copied());
        let from = ConnectionIndex(index.0 + from as u32);
        Connection {
            name: format!("{} to {leaf}", trunk.name),
            path: steps,
            // What it sends are copies.
            forward: Flow { traffic: None, conditioning: None, ..trunk.forward.clone() },
            branch: Some(Branch { from, hop, consolidation: consolidation.unwrap_or_default() }),
            ..trunk.clone()
        }
    };
    branch_paths.into_iter().map(branch).collect()
}

/// Gives branches what their trunks have come to: all cells of a tree go by the clock of its source.
pub(super) fn follow_trunks(connections: &mut [Connection]) {
    let mut trunk = None;
    for connection in connections {
        match (&connection.branch, &trunk) {
            (Some(_), Some(sender)) => connection.forward.sender = Clone::clone(sender),
            _ => trunk = Some(connection.forward.sender.clone()),
        }
    }
}

/// All steps of a tree, or of a connection with one path: those to its farthest leaf, and then the others.
/// `connections` begin with the one of this index, and go on with its branches.
pub(super) fn steps(network: &Network, first: usize, connections: &[Connection]) -> [Vec<Step>; 2] {
    let Some((trunk, branches)) = connections.split_first() else { return Default::default() };
    let branch_paths =
        branches.iter().filter_map(|branch| Some((branch.branch?.from.0 as usize - first, &branch.path[..])));
    let farthest = farthest_of(network, &trunk.path, branch_paths);
    let all = connections.iter().flat_map(|connection| &connection.path);
    let others = all.filter(|step| !farthest.contains(step)).copied().collect();
    [farthest, others]
}

/// Has branches leave what they leave by the number that it has among those that are `kept`.
pub(super) fn renumber(connections: &mut [Connection], kept: &[bool]) {
    for branch in connections.iter_mut().filter_map(|connection| connection.branch.as_mut()) {
        let before = kept[..branch.from.0 as usize].iter().filter(|&&kept| kept).count();
        branch.from = ConnectionIndex(before as u32);
    }
}

/// A live run has connections with one path.
pub(super) fn refuse(root: &Table) -> Result<(), Fault> {
    let entries = root.tables("vc").map(|(_, table)| table).chain(defaults(root, "vc"));
    let Some(node) = entries.filter_map(|table| table.node("branches")).next() else { return Ok(()) };
    let message = "branches need a simulation: connections of a live run have one path";
    Err(Fault::new(node.place, message, "Leave them out, or simulate the scenario"))
}
