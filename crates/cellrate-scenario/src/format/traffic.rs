//! The keys of traffic: open-loop traffic declares its own.

use cellrate_proto::declaration::{Dimension, Kind, Shape, Tagged, joined, key, required, total};

use super::custom::{NAME_KEY, PARAMETERS_KEY};
use super::kinds::{POSITIVE_RATE, TIME};
use super::timing::START_KEY;
use super::{by_name, frames, mpeg2, tcp, video};
use crate::traffic::SHAPES;

const REQUEST_RESPONSE: Shape = Shape {
    name: "request-response",
    about: "A client sends requests, the server at the other end of the path answers each when it is whole, and the next cycle begins after the last answer (paper uili, section 7.2.1). The reverse direction carries the answers. Nothing is sent again: a burst is whole with its last cell, whatever was lost of it before, and a conversation whose last cell of a burst is lost stands still from then on.",
    keys: &[
        required("response", Kind::Positive(Dimension::Cells), "Length of a response, 1 cell or more."),
        key(
            "request",
            Kind::Positive(Dimension::Cells),
            "\"16 cells\"",
            "Length of a request, 1 cell or more.",
        ),
        key("requests", Kind::Integer(1, 1_000_000), "1", "Requests in a cycle."),
        key("request_gap", TIME, "\"0 ms\"", "From the end of one request to the next in its cycle."),
        key("cycle_gap", TIME, "\"1 ms\"", "From the arrival of a cycle's last response to the next cycle."),
        key("server_time", TIME, "\"0 ms\"", "From the arrival of a request to its response."),
        key("rate", POSITIVE_RATE, "pcr", "Rate of the cells of a burst as the application hands it over."),
        key(
            "record",
            Kind::Integer(0, u32::MAX as i64),
            "0",
            "How many bursts of each direction the results list one by one.",
        ),
        START_KEY,
        key("end", TIME, "never", "No cycle begins at or after this."),
    ],
};

const CUSTOM: Shape = Shape {
    name: "custom",
    about: "Traffic that is not built in. The run is given it by its name (docs/guides/sources.md).",
    keys: &[NAME_KEY, PARAMETERS_KEY],
};

const NONE: Shape = Shape {
    name: "none",
    about: "No data of its own; for abr, RM cells only. In a live run the packets that the two hosts send each other.",
    keys: &[],
};

const OPEN_LOOP: [(&str, Shape); SHAPES.len()] = by_name(SHAPES);

/// Traffic of a channel within a virtual path.
pub(super) const CHANNEL_TRAFFIC: Tagged =
    Tagged { name: "channel_traffic", default: Some("greedy"), variants: &OPEN_LOOP };

pub(super) const TRAFFIC: Tagged = Tagged {
    name: "traffic",
    default: Some("greedy"),
    variants: {
        const OTHERS: &[(&str, Shape)] = &[
            ("request-response", REQUEST_RESPONSE),
            ("tcp", tcp::TCP),
            ("video", video::VIDEO),
            ("frames", frames::FRAMES),
            ("mpeg2", mpeg2::MPEG2),
            ("custom", CUSTOM),
            ("none", NONE),
        ];
        const PARTS: &[&[(&str, Shape)]] = &[&OPEN_LOOP, OTHERS];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};
