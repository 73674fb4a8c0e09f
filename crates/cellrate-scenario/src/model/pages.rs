//! Pages that clients fetch over TCP: what a browser of the time of ABR does.

use cellrate_proto::{Duration, Octets, Time};

use crate::model::Period;

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
    /// From the last octet of a page to the beginning of the next.
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

/// For how much a TCP connection is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionUse {
    /// For one object (HTTP/1.0).
    PerObject,
    /// For all objects of a page.
    PerPage,
    /// For everything that the client fetches.
    Persistent,
}
