//! The keys of destinations that are congested themselves.

use cellrate_proto::declaration::{Key, Kind, Shape, key, required};

use crate::keys::{RATE, TIME};

pub(super) const CONGESTED_KEY: Key = key(
    "congested",
    Kind::List(&Kind::Table(&CONGESTED), 0),
    "[]",
    "Spans in which the destination itself is congested and says so in BRMs (docs/algorithms/congested-destination.md); in order, apart.",
);

const CONGESTED: Shape = Shape {
    name: "congested",
    about: "A span in which a destination is congested, and what it writes into the BRMs that leave it (TM 4.0, 5.10.5, rules 2 and 5).",
    keys: &[
        required("during", Kind::Pair(&TIME, &TIME), "The span, [start, end]; the end is outside."),
        key("ci", Kind::Boolean, "true without `ni` and `er`, else false", "It sets CI."),
        key("ni", Kind::Boolean, "false", "It sets NI."),
        key("er", RATE, "none", "It lowers ER to this."),
        key(
            "originates",
            Kind::Boolean,
            "false",
            "It also sends BRMs of its own (BN = 1, CLP = 1) that carry CI or NI, one of which must be set: as the span begins and every 100 ms within it, never sooner than 100 ms after the one before.",
        ),
    ],
};
