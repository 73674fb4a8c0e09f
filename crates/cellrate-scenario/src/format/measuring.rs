//! Keys that say over which time figures count.

use cellrate_proto::declaration::{Key, Shape, key};

use super::NAME;
use crate::keys::TIME;

pub(super) const WARM_UP_KEY: Key = key(
    "warm_up",
    TIME,
    "\"0 s\"",
    "Time at the beginning of the run, shorter than the run, that all figures of the summary leave out; a queue that stands at its end counts with its length. Series include it.",
);

pub(super) const WINDOW: Shape = Shape {
    name: "window",
    about: "A part of the run for which figures of VCs and ports are given in addition to the summary (docs/results.md). At most 64.",
    keys: &[
        NAME,
        key("from", TIME, "the end of the warm-up", "Instant at which it begins."),
        key(
            "until",
            TIME,
            "the end of the run",
            "Instant at which it ends, at most the end of the run; cells at that instant do not count.",
        ),
    ],
};
