//! The keys of virtual channels within a virtual path.

use cellrate_proto::declaration::{Key, Kind, Range, Shape, key, required};

use super::traffic::CHANNEL_TRAFFIC;

pub(super) const CHANNELS_KEY: Key = key(
    "channels",
    Kind::List(&Kind::Table(&CHANNEL), 1),
    "none: it is a channel by itself",
    "Makes an abr connection a virtual path: these virtual channels, at most 1000, share its ACR (docs/algorithms/virtual-paths.md). Instead of traffic, and not with branches.",
);

const CHANNEL: Shape = Shape {
    name: "channel",
    about: "A virtual channel within a virtual path.",
    keys: &[
        required("name", Kind::Name, "Its name, unique within the path."),
        key("traffic", Kind::Tagged(&CHANNEL_TRAFFIC), "{ type = \"greedy\" }", "What it has to send."),
        key(
            "weight",
            Kind::Ratio(Range::closed(0.001, 1000.0)),
            "1",
            "Weight of its share of ACR among the channels that have cells, rounded to thousandths.",
        ),
    ],
};
