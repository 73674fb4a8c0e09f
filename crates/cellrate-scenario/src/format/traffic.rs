//! Traffic by its `type`: each kind declares its own keys.

use cellrate_proto::declaration::{Shape, Tagged, joined, total};

use super::by_name;
use crate::traffic::{FOR_CALLS, OTHERS, SHAPES};

const NONE: Shape = Shape {
    name: "none",
    about: "No data of its own; for abr, RM cells only. In a live run the packets that the two hosts send each other.",
    keys: &[],
};

const OPEN_LOOP: [(&str, Shape); SHAPES.len()] = by_name(SHAPES);

/// Traffic of a channel within a virtual path.
pub(super) const CHANNEL_TRAFFIC: Tagged =
    Tagged { name: "channel_traffic", default: Some("greedy"), variants: &OPEN_LOOP };

const fn calls() -> usize {
    let (mut count, mut i) = (0, 0);
    while i < FOR_CALLS.len() {
        count += FOR_CALLS[i].1.is_some() as usize;
        i += 1;
    }
    count
}

/// Traffic of a call.
pub(super) const CALL: Tagged = Tagged {
    name: "call",
    default: Some("greedy"),
    variants: {
        const DECLARED: [(&str, Shape); calls()] = {
            let mut declared = [("", NONE); calls()];
            let (mut place, mut i) = (0, 0);
            while i < FOR_CALLS.len() {
                if let (name, Some(shape)) = FOR_CALLS[i] {
                    declared[place] = (name, shape);
                    place += 1;
                }
                i += 1;
            }
            declared
        };
        &DECLARED
    },
};

pub(super) const TRAFFIC: Tagged = Tagged {
    name: "traffic",
    default: Some("greedy"),
    variants: {
        const DECLARED: [(&str, Shape); OTHERS.len()] = by_name(OTHERS);
        const PARTS: &[&[(&str, Shape)]] = &[&OPEN_LOOP, &DECLARED, &[("none", NONE)]];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};
