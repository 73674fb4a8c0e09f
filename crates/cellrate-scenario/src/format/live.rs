//! The keys of live runs.

use cellrate_proto::declaration::{Kind, Shape, key};

use crate::keys::SPAN;

pub(super) const LIVE: Shape = Shape {
    name: "live",
    about: "Settings of a live run; a simulation ignores them.",
    keys: &[
        key(
            "nodes",
            Kind::Map(&Kind::Text),
            "none",
            "For each host and switch of a distributed run, the UDP address and port at which it takes datagrams of cells, such as \"127.0.0.1:6635\"; of one machine, neither 0.0.0.0 nor a multicast or broadcast address.",
        ),
        key(
            "quantum",
            SPAN,
            "12 cell times of the fastest line, from 50 us to 500 us",
            "How often the engine wakes while cells move.",
        ),
        key(
            "catch_up",
            SPAN,
            "\"100 ms\"",
            "Longest stall of the engine after which it catches up; a longer one fails the run.",
        ),
        key(
            "timestamps",
            Kind::Boolean,
            "false",
            "Whether datagrams carry the instant at which each cell left; other equipment does not accept such datagrams.",
        ),
        key(
            "stamps",
            Kind::Boolean,
            "true",
            "Whether each datagram ends with a stamp of its run and its number, without which it is dropped; other equipment does not accept such datagrams.",
        ),
    ],
};
