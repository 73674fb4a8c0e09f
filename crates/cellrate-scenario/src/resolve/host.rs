//! Hosts as machines with an IP stack.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use cellrate_proto::{Cells, Octets};

use super::{Whole, place_of};
use crate::model::{AdapterTcp, ArrivingAcks, HostSettings, HostTcp, Shared};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{optional, whole_ms};
use crate::text::tree::{Node, Table};
use crate::traffic::tcp::delayed_ack;

/// Settings of all hosts, in their order; their addresses differ.
pub(super) fn settings(hosts: &[Whole]) -> Result<Vec<HostSettings>, Fault> {
    let mut by_address: HashMap<Ipv4Addr, &str> = HashMap::with_capacity(hosts.len());
    let mut tcp = Shared::default();
    let mut list = Vec::with_capacity(hosts.len());
    for (number, whole) in hosts.iter().enumerate() {
        let empty = Table::default();
        let keys = whole.table.node("live").and_then(Node::table).unwrap_or(&empty);
        let mut settings = one(keys, HostSettings::of_host(number as u32))?;
        settings.tcp = tcp.get(&settings.tcp);
        let name = whole.table.text("name").unwrap_or_default();
        if let Some(other) = by_address.insert(settings.address, name) {
            let message = format!("\"{name}\" has the address {}, and so has \"{other}\"", settings.address);
            let place = place_of(keys, "address", whole.place);
            return Err(Fault::new(place, message, "Give each host an address of its own"));
        }
        list.push(settings);
    }
    Ok(list)
}

fn one(keys: &Table, mut settings: HostSettings) -> Result<HostSettings, Fault> {
    settings.address = optional(keys, "address", address)?.unwrap_or(settings.address);
    settings.mtu = optional(keys, "mtu", |node| octets(node, 576, 65_527))?.unwrap_or(settings.mtu);
    settings.adapter_queue =
        optional(keys, "adapter_queue", quantity::cells)?.unwrap_or(settings.adapter_queue);
    let queue = optional(keys, "transmit_queue", |node| check::integer(node, 1, 1_000_000))?;
    settings.transmit_queue = queue.map_or(settings.transmit_queue, |packets| packets as u32);
    // A packet of the MTU with LLC/SNAP and trailer.
    let packet = (settings.mtu.0 + 16).div_ceil(48);
    if let (Some(node), true) = (keys.node("adapter_queue"), settings.adapter_queue.0 < packet) {
        let message =
            format!("{} cannot hold a packet of {}, which is {packet} cells", node.plain(), settings.mtu);
        return Err(Fault::new(node.place, message, "Write room for one at least"));
    }
    if let Some(table) = keys.node("tcp").and_then(Node::table) {
        settings.tcp = Arc::new(tcp(table, settings.mtu)?);
    }
    if let Some(table) = keys.node("adapter_tcp").and_then(Node::table) {
        let window = optional(table, "window", |node| octets(node, 536, u64::from(u16::MAX)))?;
        settings.adapter_tcp = AdapterTcp {
            window: window.map(|window| window.0 as u16),
            delayed_ack: optional(table, "delayed_ack", delayed_ack)?,
            arriving_acks: arriving_acks(table)?,
        };
    }
    Ok(settings)
}

fn arriving_acks(table: &Table) -> Result<ArrivingAcks, Fault> {
    let round_trip = optional(table, "acr_window", quantity::span)?;
    let Some(node) = table.node("hold_acks") else {
        return Ok(round_trip.map_or(ArrivingAcks::Passed, ArrivingAcks::Window));
    };
    let mark = quantity::cells(node)?;
    if mark == Cells::ZERO {
        return Err(Fault::new(
            node.place,
            "hold_acks is 0 cells, which lets nothing through",
            "Write 1 cell at least",
        ));
    }
    if round_trip.is_some() {
        let message = "acr_window and hold_acks are both given, and only one of them can treat ACKs";
        return Err(Fault::new(node.place, message, "Write one of them"));
    }
    Ok(ArrivingAcks::Held(mark))
}

fn tcp(keys: &Table, mtu: Octets) -> Result<HostTcp, Fault> {
    let flag = |key: &str| optional(keys, key, check::boolean).map(|flag| flag.unwrap_or(true));
    let default = HostTcp::default();
    Ok(HostTcp {
        congestion_control: optional(keys, "congestion_control", algorithm)?
            .unwrap_or(default.congestion_control),
        receive_window: optional(keys, "receive_window", |node| octets(node, 536, 1 << 30))?,
        send_buffer: optional(keys, "send_buffer", |node| octets(node, 4096, 1 << 30))?,
        // The header of IP and that of TCP without options.
        mss: optional(keys, "mss", |node| octets(node, 88, mtu.0 - 40))?,
        initial_window: optional(keys, "initial_window", |node| check::integer(node, 1, 1000))?
            .map(|segments| segments as u32),
        delayed_ack: flag("delayed_ack")?,
        minimum_rto: optional(keys, "minimum_rto", whole_ms)?,
        sack: flag("sack")?,
        timestamps: flag("timestamps")?,
    })
}

fn octets(node: &Node, low: u64, high: u64) -> Result<Octets, Fault> {
    let octets = quantity::octets(node)?;
    if (low..=high).contains(&octets.0) {
        return Ok(octets);
    }
    let message = format!("{} is out of range", node.plain());
    Err(Fault::new(node.place, message, format!("It must be from {low} to {high} octets")))
}

fn address(node: &Node) -> Result<Ipv4Addr, Fault> {
    let text = check::text(node)?;
    let is_host = |address: &Ipv4Addr| {
        !(address.is_loopback()
            || address.is_multicast()
            || address.is_unspecified()
            || address.is_broadcast()
            || address.is_link_local())
    };
    text.parse().ok().filter(is_host).ok_or_else(|| {
        let message = format!("\"{}\" is not an IPv4 address of a host", quantity::shortened(text));
        Fault::new(node.place, message, "Write one such as \"10.0.0.1\"")
    })
}

/// The name becomes a word of a command to the kernel.
fn algorithm(node: &Node) -> Result<String, Fault> {
    let text = check::text(node)?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if (1..=15).contains(&text.len()) && text.chars().all(fits) {
        return Ok(text.to_string());
    }
    let message = format!("\"{}\" is not the name of a congestion control", quantity::shortened(text));
    Err(Fault::new(node.place, message, "Write one such as \"reno\" or \"cubic\""))
}
