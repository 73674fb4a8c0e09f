//! Hosts as machines with an IP stack.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use super::{Whole, place_of};
use crate::model::{HostSettings, Processing, Shared, address_of};
use crate::text::error::{Fault, Place};
use crate::text::tree::{Node, Table};
use crate::text::written::{Written, octets_from};

/// Settings of all hosts, in their order; their addresses differ.
pub(super) fn settings(hosts: &[Whole]) -> Result<Vec<HostSettings>, Fault> {
    let mut by_address: HashMap<Ipv4Addr, &str> = HashMap::with_capacity(hosts.len());
    let mut tcp = Shared::default();
    let mut list = Vec::with_capacity(hosts.len());
    for (number, whole) in hosts.iter().enumerate() {
        let empty = Table::default();
        let keys = whole.table.node("live").and_then(Node::table).unwrap_or(&empty);
        let mut settings = one(keys, whole.place, number as u32)?;
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

/// Settings of the host whose table `live` is `keys`.
fn one(keys: &Table, place: Place, number: u32) -> Result<HostSettings, Fault> {
    let settings = HostSettings::read(&Written::new(keys, place), address_of(number), Processing::None)?;
    // A packet of the MTU with LLC/SNAP and trailer.
    let packet = (settings.mtu.0 + 16).div_ceil(48);
    if let (Some(node), true) = (keys.node("adapter_queue"), settings.adapter_queue.0 < packet) {
        let message =
            format!("{} cannot hold a packet of {}, which is {packet} cells", node.plain(), settings.mtu);
        return Err(Fault::new(node.place, message, "Write room for one at least"));
    }
    if let Some(mss) = keys.node("tcp").and_then(Node::table).and_then(|tcp| tcp.node("mss")) {
        // The header of IP and that of TCP without options.
        octets_from(mss, 88, settings.mtu.0 - 40)?;
    }
    Ok(settings)
}
