//! Pages that clients fetch over TCP: what a browser of the time of ABR does.

use cellrate_proto::declaration::{Dimension, Key, Kind, Setting, Shape, key, required, words};
use cellrate_proto::{Duration, Octets, Time};

use crate::keys::{EXPONENTIAL, TIME};
use crate::text::error::Fault;
use crate::text::reading::{instant, optional, or_default, period, word};
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};
use crate::values::Period;

/// Clients at the first host of the path, a server at the last. A client sends a request; when it is whole at the
/// server, the server answers; when the answer is whole at the client, the client goes on to the next object of the
/// page.
#[derive(Clone, Debug, PartialEq)]
pub struct Pages {
    /// Objects of a page, in the order in which they are fetched; at least one.
    pub objects: Vec<PageObject>,
    /// Clients side by side, each with its own connections [1 to 65535].
    pub clients: u16,
    /// Pages that each client fetches [at least 1]; `None` is without end.
    pub count: Option<u64>,
    /// From the last octet of an object to the beginning of the next one of the same page.
    pub object_gap: Duration,
    /// Time from the last octet of a page to the beginning of the next.
    pub think_time: Period,
    /// For how much a TCP connection is used.
    pub connection: ConnectionUse,
    /// Whether a connection opens with SYN, SYN and ACK, ACK: one round trip before the request leaves.
    pub handshake: bool,
    /// No page begins at or after this.
    pub end: Time,
    /// How many objects of each client are listed one by one, from the first on; all of them are in the quantiles.
    pub record: u32,
}

/// A part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageObject {
    /// Length of the client's request [octets, at least 1].
    pub request: Octets,
    /// Length of the server's response [octets, at least 1].
    pub response: Octets,
    /// From the last octet of the request to the first of the response, at the server.
    pub server_time: Duration,
}

words! {
    /// For how much a TCP connection is used.
    #[derive(Default)]
    pub enum ConnectionUse {
        /// For one object (HTTP/1.0; default).
        #[default]
        PerObject = "per-object",
        /// For all objects of a page.
        PerPage = "per-page",
        /// For everything that the client fetches.
        Persistent = "persistent",
    }
}

const OBJECT: Shape = Shape {
    name: "object",
    about: "A part of a page: a request, and the response to it.",
    keys: &[
        required("response", Kind::Positive(Dimension::Octets), "Length of the server's answer."),
        // With the headers of a browser of 1996; none of the papers says how long it is.
        key(
            "request",
            Kind::Positive(Dimension::Octets),
            "\"300 octets\"",
            "Length of the client's request.",
        ),
        key(
            "server_time",
            TIME,
            "\"0 ms\"",
            "Time from the last octet of the request to the first of the response, at the server.",
        ),
    ],
};

const KEYS: &[Key] = &[
    required(
        "objects",
        Kind::List(&Kind::Table(&OBJECT), 1),
        "Objects of a page, fetched one after the other.",
    ),
    key("clients", Kind::Integer(1, 65_535), "1", "Clients side by side, each with its own connections."),
    key(
        "count",
        Kind::Or(&[Kind::Integer(1, u32::MAX as i64), Kind::Choice(&["infinite"])]),
        "\"infinite\"",
        "Pages that each client fetches.",
    ),
    key(
        "object_gap",
        TIME,
        "\"0 ms\"",
        "Time from the last octet of an object to the beginning of the next one of its page.",
    ),
    key(
        "think_time",
        Kind::Or(&[TIME, Kind::Table(&EXPONENTIAL)]),
        "\"0 ms\"",
        "Time from the last octet of a page to the beginning of the next.",
    ),
    key(
        "connection",
        ConnectionUse::KIND,
        "\"per-object\"",
        "A new TCP connection for each object (HTTP/1.0), for each page, or one for everything.",
    ),
    key(
        "handshake",
        Kind::Boolean,
        "true",
        "A connection opens with SYN, SYN and ACK, ACK, which takes a round trip; false: it is open at once.",
    ),
    key("end", TIME, "never", "No page begins at or after this."),
    key(
        "record",
        Kind::Integer(0, u32::MAX as i64),
        "0",
        "Number of objects of each client that the results list one by one.",
    ),
];

pub(super) const PAGES: Shape = Shape {
    name: "pages",
    about: "Clients at the first host fetch pages from a server at the last: request, response, next object. The responses are data of the reverse direction, with the settings of reverse.traffic if that is of type tcp (connections = 0 for the settings alone), else with the same as the requests.",
    keys: KEYS,
};

/// The pages that a checked table describes, of clients that begin at `start`.
pub(super) fn read(node: &Node, start: Time) -> Result<Pages, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let count = |key: &str, low, high| or_default(table, &PAGES, key, |node| check::integer(node, low, high));
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
        clients: count("clients", 1, 65_535)? as u16,
        count: match table.node("count") {
            Some(node) if node.text() != Some("infinite") => {
                Some(check::integer(node, 1, i64::from(u32::MAX))? as u64)
            }
            _ => None,
        },
        object_gap: or_default(table, &PAGES, "object_gap", quantity::time)?,
        think_time: or_default(table, &PAGES, "think_time", think_time)?,
        connection: word(table, "connection", ConnectionUse::named),
        handshake: or_default(table, &PAGES, "handshake", check::boolean)?,
        end,
        record: count("record", 0, i64::from(u32::MAX))? as u32,
    })
}

fn object(node: &Node) -> Result<PageObject, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    Ok(PageObject {
        request: or_default(table, &OBJECT, "request", size)?,
        response: optional(table, "response", size)?
            .ok_or_else(|| check::missing(node.place, "response", "its size, such as \"300 kB\""))?,
        server_time: or_default(table, &OBJECT, "server_time", quantity::time)?,
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
