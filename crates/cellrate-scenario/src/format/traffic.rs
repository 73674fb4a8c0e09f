//! Traffic by its `type`: each kind declares its own keys.

use cellrate_proto::declaration::{Shape, Tagged, joined, total};

use super::by_name;
use crate::traffic::{OTHERS, SHAPES};

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
        const DECLARED: [(&str, Shape); OTHERS.len()] = by_name(OTHERS);
        const PARTS: &[&[(&str, Shape)]] = &[&OPEN_LOOP, &DECLARED, &[("none", NONE)]];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};
