//! The keys of OAM loopback cells.

use cellrate_proto::declaration::{Key, Kind, Shape, key, required};

use crate::keys::{SPAN, TIME};

pub(super) const LOOPBACK_KEY: Key = key(
    "loopback",
    Kind::List(&Kind::Table(&LOOPBACK), 0),
    "[]",
    "OAM loopback cells (F5; F4 of a virtual path) that its ends send at a period and whose round trips are measured, at most 16 (docs/algorithms/oam.md); not with branches.",
);

const LOOPBACK: Shape = Shape {
    name: "loopback",
    about: "OAM loopback requests that one end of a connection sends, and the node that answers them (I.610).",
    keys: &[
        required("every", SPAN, "The period."),
        key("start", TIME, "\"0 s\"", "When the first one leaves."),
        key(
            "at",
            Kind::Reference,
            "the other end",
            "The node that answers: a switch of the path (a segment loopback), or the host at the other end (end to end).",
        ),
        key("backward", Kind::Boolean, "false", "The last host of the path sends them, not the first."),
    ],
};
