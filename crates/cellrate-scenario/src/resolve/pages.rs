//! Pages that are fetched over TCP.

use cellrate_proto::{Duration, Octets, Time};

use crate::model::{ConnectionUse, PageObject, Pages, Period};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{instant, optional, period};
use crate::text::tree::{Node, Table};

/// A request with the headers of a browser of 1996; none of the papers says it.
const REQUEST: Octets = Octets(300);

/// The pages that a checked table describes, of clients that begin at `start`.
pub(super) fn read(node: &Node, start: Time) -> Result<Pages, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let count = |key: &str, low, high, default| {
        optional(table, key, |node| check::integer(node, low, high)).map(|given| given.unwrap_or(default))
    };
    let end = optional(table, "end", instant)?.unwrap_or(Time::NEVER);
    if let Some(node) = table.node("end").filter(|_| end <= start) {
        let message = format!("the end, {end}, is not after the start of the traffic, {start}");
        return Err(Fault::new(node.place, message, "Write a later end"));
    }
    let objects = table
        .node("objects")
        .ok_or_else(|| check::missing(node.place, "objects", "such as [{ response = \"10 kB\" }]"))?;
    Ok(Pages {
        objects: check::list(objects)?.iter().map(object).collect::<Result<_, _>>()?,
        clients: count("clients", 1, 65_535, 1)? as u16,
        count: match table.node("count") {
            Some(node) if node.text() != Some("infinite") => {
                Some(check::integer(node, 1, i64::from(u32::MAX))? as u64)
            }
            _ => None,
        },
        object_gap: optional(table, "object_gap", quantity::time)?.unwrap_or(Duration::ZERO),
        think_time: optional(table, "think_time", think_time)?.unwrap_or(Period::Fixed(Duration::ZERO)),
        connection: match table.text("connection") {
            Some("persistent") => ConnectionUse::Persistent,
            Some("per-page") => ConnectionUse::PerPage,
            _ => ConnectionUse::PerObject,
        },
        handshake: optional(table, "handshake", check::boolean)?.unwrap_or(true),
        end,
        record: count("record", 0, i64::from(u32::MAX), 0)? as u32,
    })
}

fn object(node: &Node) -> Result<PageObject, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    Ok(PageObject {
        request: optional(table, "request", size)?.unwrap_or(REQUEST),
        response: optional(table, "response", size)?
            .ok_or_else(|| check::missing(node.place, "response", "its size, such as \"300 kB\""))?,
        server_time: optional(table, "server_time", quantity::time)?.unwrap_or(Duration::ZERO),
    })
}

fn size(node: &Node) -> Result<Octets, Fault> {
    let octets = quantity::octets(node)?;
    if octets.0 == 0 || octets.0 > MAX_SIZE {
        let message = format!("{} is {octets}", node.plain());
        return Err(Fault::new(node.place, message, "It must be from 1 octet to 1024 GiB"));
    }
    Ok(octets)
}

/// So that no number of pages makes a stream whose octets 64 bits cannot count.
const MAX_SIZE: u64 = 1 << 40;

fn think_time(node: &Node) -> Result<Period, Fault> {
    if node.table().is_some() { period(node) } else { quantity::time(node).map(Period::Fixed) }
}
