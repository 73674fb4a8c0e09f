//! How a network is run live.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use super::network::Network;
use crate::model::LiveSettings;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::tree::{Entry, Node, Table};
use crate::text::written::Written;

pub(super) fn read(root: &Table, network: &Network) -> Result<LiveSettings, Fault> {
    let Some(node) = root.node("live") else { return Ok(LiveSettings::default()) };
    let values = Written::of(node);
    let mut settings = LiveSettings::read(&values)?;
    let nodes = values.node("nodes").and_then(Node::table);
    settings.addresses = vec![None; nodes.map_or(0, |_| network.nodes.len())];
    let mut taken = BTreeSet::new();
    for entry in nodes.iter().flat_map(|nodes| &nodes.entries) {
        let (node, address) = address(entry, network)?;
        if !taken.insert(address) {
            let message = format!("another node takes datagrams at {address}");
            return Err(Fault::new(entry.node.place, message, "Give each an address and port of its own"));
        }
        settings.addresses[node] = Some(address);
    }
    Ok(settings)
}

fn address(entry: &Entry, network: &Network) -> Result<(usize, SocketAddr), Fault> {
    let node = network.named(&entry.key).map(|node| node.0 as usize).ok_or_else(|| {
        let message = format!("there is no host or switch \"{}\"", entry.key);
        Fault::new(entry.place, message, "Write the name of a node and its address")
    })?;
    let text = check::text(&entry.node)?;
    let address: SocketAddr = text.parse().map_err(|_| {
        let message = format!("\"{}\" is not an address and a port", quantity::shortened(text));
        Fault::new(entry.node.place, message, "Write both in digits, such as \"127.0.0.1:6635\"")
    })?;
    if let Some(kind) = unsuited(address) {
        let message = format!("{address} {kind}, and a node takes datagrams from its neighbours alone");
        return Err(Fault::new(entry.node.place, message, "Give the address of one machine, and a port"));
    }
    Ok((node, address))
}

/// Why datagrams at `address` would not be those of one node; `None` for an address that suits.
fn unsuited(address: SocketAddr) -> Option<&'static str> {
    let ip = address.ip().to_canonical();
    let broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    match () {
        () if ip.is_unspecified() => Some("means every address of a machine"),
        () if ip.is_multicast() => Some("is a multicast address"),
        () if broadcast => Some("is a broadcast address"),
        () if address.port() == 0 => Some("has port 0, which means any"),
        () => None,
    }
}
