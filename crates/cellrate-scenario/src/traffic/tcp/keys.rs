//! The keys of TCP.

use cellrate_proto::declaration::{Key, Kind, Setting, Shape, joined, key, total};

use super::config::TcpConfig;
use super::pages::Pages;
use super::presets::NAMES;
use crate::keys::{CELLS, SPAN, TIME, encapsulation};
use crate::text::written::OctetsOrNoEnd;

/// Keys that say how it behaves, and how it is wrapped.
pub(super) const KEYS: &[Key] = {
    const PRESET: &[Key] = &[key(
        "preset",
        Kind::Choice(&NAMES),
        "\"reno\"",
        "Defaults for all keys below except those of the application, as a paper or a system used them (docs/transport.md).",
    )];
    const WRAPPED: &[Key] = &[
        encapsulation("of the preset"),
        key(
            "adapter_queue",
            Kind::Or(&[CELLS, Kind::Table(&ADAPTER_QUEUE), Kind::Choice(&["infinite"])]),
            "\"infinite\"",
            "Room for PDUs that wait at each end of the VC, where a PDU that does not fit whole is lost; or a table that limits the queue in another way.",
        ),
    ];
    const PARTS: &[&[Key]] = &[PRESET, TcpConfig::KEYS, WRAPPED];
    &joined::<_, { total(PARTS) }>(PARTS)
};

/// Keys that say what applications do with it.
pub(super) const APPLICATION: &[Key] = &[
    key(
        "transfer",
        OctetsOrNoEnd::KIND,
        "\"infinite\"",
        "Amount that the application of each connection sends: above 0.",
    ),
    key(
        "start",
        TIME,
        "\"0 ms\"",
        "Instant at which the application hands over its data, over connections that are open by then without a handshake, and at which the first page begins.",
    ),
    key(
        "end",
        TIME,
        "never",
        "Nothing of a transfer is sent for the first time from this instant on; the application drops what it has left. Pages have an end of their own.",
    ),
    key(
        "connections",
        Kind::Integer(0, 65_535),
        "1, or 0 with pages",
        "TCP connections side by side on the VC that send `transfer`; 0 only with pages, this way or the other.",
    ),
    key(
        "pages",
        Kind::Table(&Pages::SHAPE),
        "none",
        "Clients that fetch pages from a server at the other end of the path, beside the connections above.",
    ),
];

const ADAPTER_QUEUE: Shape = Shape {
    name: "adapter_queue",
    about: "Room counted in PDUs, back-pressure, or control by ACKs at the edge: exactly one of the keys.",
    keys: &[
        key(
            "pdus",
            Kind::Integer(1, u32::MAX as i64),
            "required: one of them",
            "Largest number of PDUs, the one in transmission included; a further one is lost.",
        ),
        key(
            "high_water",
            CELLS,
            "required: one of them",
            "TCP hands over data while fewer cells than this wait, and keeps them otherwise: nothing is lost, and round trips are those of the network. At least \"1 cells\".",
        ),
        key(
            "hold_acks",
            CELLS,
            "required: one of them",
            "ACKs for TCP at this end pass the adapter while fewer cells than this wait there, and are held back otherwise (an acknowledgment bucket). At least \"1 cells\".",
        ),
        key(
            "window",
            SPAN,
            "required: one of them",
            "The window in ACKs for TCP at this end becomes what ACR carries in so long, a round trip without queues, shared by the connections, a segment at least (explicit window adaptation). For category abr.",
        ),
    ],
};

pub(crate) const FLOW_TCP: Shape = Shape {
    name: "flow_tcp",
    about: "TCP over IP over AAL5, a new connection for each flow; the ACKs go the other way as data.",
    keys: KEYS,
};
