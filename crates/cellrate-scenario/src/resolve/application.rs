//! Programs on hosts.

use std::borrow::Cow;
use std::collections::BTreeSet;

use cellrate_proto::{Duration, Time};

use super::group;
use super::network::Network;
use super::{Whole, place_of, wholes};
use crate::model::{Application, ApplicationKind, Connection, NodeIndex};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::reading::{instant, optional};
use crate::text::tree::{Node, Table};

pub(super) fn build(
    root: &Table,
    network: &Network,
    connections: &[Connection],
    duration: Duration,
) -> Result<Vec<Application>, Fault> {
    let Some(shape) = group::shape_of("application") else { return Ok(Vec::new()) };
    let mut names = BTreeSet::new();
    let mut list = Vec::new();
    for whole in wholes(root, "application", shape, |_| Cow::Owned(Table::default()))? {
        let application = application(&whole, network, connections, duration)?;
        if !names.insert(application.name.clone()) {
            let message = format!("there is another application \"{}\"", application.name);
            let place = place_of(&whole.table, "name", whole.place);
            return Err(Fault::new(place, message, "Give each a name of its own"));
        }
        list.push(application);
    }
    Ok(list)
}

/// The refusal of what only a live run has, at its place.
pub(super) fn refuse(root: &Table) -> Result<(), Fault> {
    match root.tables("application").next() {
        None => Ok(()),
        Some((node, table)) => {
            let name = table.text("name").unwrap_or_default();
            let message = format!("the application \"{name}\" needs a live run: it is a real program");
            let remedy =
                "Use `cellrate live run`, or leave applications out and give the connections traffic";
            Err(Fault::new(place_of(table, "name", node.place), message, remedy))
        }
    }
}

fn application(
    whole: &Whole,
    network: &Network,
    connections: &[Connection],
    duration: Duration,
) -> Result<Application, Fault> {
    let table = &whole.table;
    let name = table.text("name").unwrap_or_default().to_string();
    let due = |key: &'static str, about: &'static str| check::missing(whole.place, key, about);
    let kind_node = table.node("kind").ok_or_else(|| due("kind", "what runs"))?;
    let host_node = table.node("host").ok_or_else(|| due("host", "where data comes from"))?;
    let kind = ApplicationKind::read(kind_node)?;
    let host = host(host_node, network)?;
    let peer = optional(table, "peer", |node| self::host(node, network))?;
    match (table.node("peer"), peer) {
        (Some(node), Some(peer)) => reachable(node, network, connections, host, peer)?,
        (_, None) if matches!(kind, ApplicationKind::Command(_)) => {}
        _ => return Err(due("peer", "the host that data goes to")),
    }
    let (start, end) = span(table, duration)?;
    Ok(Application { name, kind, host, peer, start, end })
}

fn host(node: &Node, network: &Network) -> Result<NodeIndex, Fault> {
    let index = network.node(node)?;
    if network.is_host(index) {
        return Ok(index);
    }
    let message = format!("\"{}\" is a switch", network.name(index));
    Err(Fault::new(node.place, message, "Applications run on hosts"))
}

/// There is a connection between the two that leaves room for their packets.
fn reachable(
    node: &Node,
    network: &Network,
    connections: &[Connection],
    host: NodeIndex,
    peer: NodeIndex,
) -> Result<(), Fault> {
    let joins = |connection: &Connection| {
        let (Some(first), Some(last)) = (connection.path.first(), connection.path.last()) else {
            return false;
        };
        let ends = [network.tail(*first), network.head(*last)];
        ends == [host, peer] || ends == [peer, host]
    };
    let (host, peer) = (network.name(host), network.name(peer));
    let between = connections.iter().filter(|connection| joins(connection));
    let remedy = "Packets go over a vc with traffic = { type = \"none\" }, both ways";
    match (between.clone().next(), between.clone().find(|connection| connection.carries_packets())) {
        (_, Some(_)) => Ok(()),
        (None, None) => {
            let message = format!("there is no vc between \"{host}\" and \"{peer}\"");
            Err(Fault::new(node.place, message, format!("Add one. {remedy}")))
        }
        (Some(first), None) => {
            let message =
                format!("the vc \"{}\" between \"{host}\" and \"{peer}\" has traffic of its own", first.name);
            Err(Fault::new(node.place, message, remedy))
        }
    }
}

fn span(table: &Table, duration: Duration) -> Result<(Time, Time), Fault> {
    let last = Time::ZERO.saturating_add(duration);
    let start = optional(table, "start", instant)?.unwrap_or(Time::ZERO);
    let end = optional(table, "end", instant)?.unwrap_or(last);
    if let Some(node) = table.node("start").filter(|_| start >= last) {
        let message = format!("the start, {start}, is not before the end of the run, {last}");
        return Err(Fault::new(node.place, message, "Write an earlier start, or a longer duration"));
    }
    match table.node("end") {
        Some(node) if end <= start => {
            let message = format!("the end, {end}, is not after the start, {start}");
            Err(Fault::new(node.place, message, "Write a later end"))
        }
        _ => Ok((start, end.min(last))),
    }
}
