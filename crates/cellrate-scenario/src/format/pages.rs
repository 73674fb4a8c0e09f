//! The keys of pages that are fetched over TCP.

use cellrate_proto::declaration::{Dimension, Key, Kind, Shape, key, required};

use super::kinds::TIME;
use super::timing::EXPONENTIAL;

const OBJECT: Shape = Shape {
    name: "object",
    about: "A part of a page: a request, and the response to it.",
    keys: &[
        required("response", Kind::Positive(Dimension::Octets), "Length of the server's answer."),
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
            "From the last octet of the request to the first of the response, at the server.",
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
        "From the last octet of an object to the beginning of the next one of its page.",
    ),
    key(
        "think_time",
        Kind::Or(&[TIME, Kind::Table(&EXPONENTIAL)]),
        "\"0 ms\"",
        "From the last octet of a page to the beginning of the next.",
    ),
    key(
        "connection",
        Kind::Choice(&["per-object", "per-page", "persistent"]),
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
        "How many objects of each client the results list one by one.",
    ),
];

pub(super) const PAGES: Shape = Shape {
    name: "pages",
    about: "Clients at the first host fetch pages from a server at the last: request, response, next object. The responses are data of the reverse direction, with the settings of reverse.traffic if that is of type tcp (connections = 0 for the settings alone), else with the same as the requests.",
    keys: KEYS,
};
