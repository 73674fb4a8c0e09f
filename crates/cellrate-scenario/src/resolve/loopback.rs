//! OAM loopback cells of connections.

use super::network::Network;
use crate::model::{Loopback, MOST_LOOPBACKS, Step};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};
use crate::text::written::Written;

/// The list `loopback` of the connection with this `table` and `path`; `is_tree` where it has branches.
pub(super) fn build(
    network: &Network,
    table: &Table,
    path: &[Step],
    is_tree: bool,
) -> Result<Vec<Loopback>, Fault> {
    let Some(node) = table.node("loopback") else { return Ok(Vec::new()) };
    let list = check::list(node)?;
    if is_tree && !list.is_empty() {
        let message = "loopback cells of a connection with branches would be answered by every leaf";
        return Err(Fault::new(node.place, message, "Leave loopback out, or the branches"));
    }
    if list.len() > MOST_LOOPBACKS {
        let message = format!("loopback has {} entries", list.len());
        return Err(Fault::new(node.place, message, format!("Write {MOST_LOOPBACKS} at most")));
    }
    list.iter().map(|node| one(network, node, path)).collect()
}

fn one(network: &Network, node: &Node, path: &[Step]) -> Result<Loopback, Fault> {
    let values = Written::of(node);
    let mut loopback = Loopback::read(&values)?;
    let Loopback { backward, every: period, .. } = loopback;
    if let Some(at) = values.node("at") {
        loopback.hop = hop(network, at, path, backward)?;
    }
    let first = if backward { path.last().map(|&step| step.turned()) } else { path.first().copied() };
    if let Some(step) = first {
        let cell_time = network.link(step).fastest_rate().cell_time();
        if period < cell_time {
            let port = network.port_name(step.port());
            let message =
                format!("every is {period}, and a cell takes {cell_time} on the line of port {port}");
            return Err(Fault::new(values.place_of("every"), message, format!("Write {cell_time} or more")));
        }
    }
    Ok(loopback)
}

/// The hop at whose far end the node called `at` answers; `None` for the other end.
fn hop(network: &Network, at: &Node, path: &[Step], backward: bool) -> Result<Option<usize>, Fault> {
    let node = network.node(at)?;
    let heads: Vec<_> = match backward {
        false => path.iter().map(|&step| network.head(step)).collect(),
        true => path.iter().rev().map(|&step| network.tail(step)).collect(),
    };
    let last = heads.len() - 1;
    match heads.iter().position(|&head| head == node) {
        Some(place) if place == last => Ok(None),
        Some(place) => Ok(Some(place)),
        None => {
            let names: Vec<&str> = heads.iter().map(|&head| network.name(head)).collect();
            let message = format!("{} is not on the way of these loopback cells", at.plain());
            let remedy = format!("It leads to {}", names.join(", "));
            Err(Fault::new(at.place, message, remedy))
        }
    }
}
