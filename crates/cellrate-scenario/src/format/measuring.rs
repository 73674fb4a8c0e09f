//! Keys that say over which time figures count.

use cellrate_proto::declaration::{Key, Shape, key};

use super::NAME;
use crate::keys::TIME;

pub(super) const WARM_UP_KEY: Key = key(
    "warm_up",
    TIME,
    "\"0 s\"",
    "The beginning of the run that all figures of the summary leave out; a queue that stands when it ends counts with its length. Before the end of the run. Series have it.",
);

pub(super) const WINDOW: Shape = Shape {
    name: "window",
    about: "A part of the run with figures of VCs and ports of its own, beside the summary (docs/results.md). At most 64.",
    keys: &[
        NAME,
        key("from", TIME, "the end of the warm-up", "The first instant that counts."),
        key(
            "until",
            TIME,
            "the end of the run",
            "The first instant that does not count any more, at most that.",
        ),
    ],
};
