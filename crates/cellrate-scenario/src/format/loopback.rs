//! The keys of OAM loopback cells.

use cellrate_proto::declaration::{Key, Kind, key};

use crate::model::Loopback;

pub(super) const LOOPBACK_KEY: Key = key(
    "loopback",
    Kind::List(&Kind::Table(&Loopback::SHAPE), 0),
    "[]",
    "OAM loopback cells (F5; F4 of a virtual path) that its ends send at a period and whose round trips are measured, at most 16 (docs/algorithms/oam.md); not with branches.",
);
