//! OAM loopback cells of connections.

use cellrate_proto::{Duration, Time};

use super::network::Network;
use crate::model::{Loopback, MOST_LOOPBACKS, Step};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::{Node, Table};

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
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let Some(every) = table.node("every") else {
        return Err(check::missing(node.place, "every", "the period"));
    };
    let backward = optional(table, "backward", check::boolean)?.unwrap_or(false);
    let start = optional(table, "start", quantity::time)?.unwrap_or(Duration::ZERO);
    let hop = match table.node("at") {
        Some(at) => hop(network, at, path, backward)?,
        None => None,
    };
    let period = quantity::span(every)?;
    let first = if backward { path.last().map(|&step| step.turned()) } else { path.first().copied() };
    if let Some(step) = first {
        let cell_time = network.link(step).fastest_rate().cell_time();
        if period < cell_time {
            let port = network.port_name(step.port());
            let message =
                format!("every is {period}, and a cell takes {cell_time} on the line of port {port}");
            return Err(Fault::new(every.place, message, format!("Write {cell_time} or more")));
        }
    }
    Ok(Loopback { backward, every: period, start: Time::ZERO + start, hop })
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
