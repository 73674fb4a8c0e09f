//! Delayed ACKs: when a receiver acknowledges segments in order.

use cellrate_proto::Duration;
use cellrate_proto::declaration::{Kind, Shape, key};

use crate::keys::SPAN;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::Node;
use crate::text::written::{from_node, setting};

/// When a receiver sends ACKs. Segments out of order, and those that fill a hole, are acknowledged at once by all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// For every segment.
    EverySegment,
    /// For every second segment, and at the beats of a clock for a single one (BSD: every 200 ms).
    Heartbeat(Duration),
    /// For every second segment, and for a single one this long after it came.
    Timer(Duration),
    /// For every second segment, and for a single one at the first tick of a clock that is not earlier than so long
    /// after it came (Solaris 2.4: 50 ms, ticks of 10 ms).
    TimerOnTicks {
        /// How long.
        timer: Duration,
        /// From one tick to the next.
        ticks: Duration,
    },
}

const DELAYED_ACK: Shape = Shape {
    name: "delayed_ack",
    about: "Every second segment is acknowledged at once, a single one later: heartbeat, or timer.",
    keys: &[
        key("heartbeat", SPAN, "required: this or timer", "At the beats of a clock with this period (BSD)."),
        key("timer", SPAN, "required: this or heartbeat", "So long after it came (Solaris)."),
        key(
            "ticks",
            SPAN,
            "none: exactly then",
            "With `timer`: at the first tick of a clock with this period that is not earlier (Solaris: 10 ms).",
        ),
    ],
};

/// Values of a key for delayed ACKs.
pub(super) const DELAYED_ACK_OR_NONE: Kind =
    Kind::Or(&[Kind::Table(&DELAYED_ACK), Kind::Choice(&["every-segment"])]);

setting!(DelayedAck, Kind::Table(&DELAYED_ACK));

from_node! {
    DelayedAck: delayed_ack;
}

fn delayed_ack(node: &Node) -> Result<DelayedAck, Fault> {
    let Some(table) = node.table() else { return Ok(DelayedAck::EverySegment) };
    let heartbeat = optional(table, "heartbeat", quantity::span)?;
    let ticks = optional(table, "ticks", quantity::span)?;
    match (heartbeat, optional(table, "timer", quantity::span)?) {
        (Some(period), None) => match table.node("ticks") {
            None => Ok(DelayedAck::Heartbeat(period)),
            Some(node) => {
                let message = "ticks needs a timer, and there is a heartbeat";
                Err(Fault::new(node.place, message, "Leave ticks out, or write timer instead of heartbeat"))
            }
        },
        (None, Some(timer)) => {
            Ok(ticks.map_or(DelayedAck::Timer(timer), |ticks| DelayedAck::TimerOnTicks { timer, ticks }))
        }
        (both, _) => {
            let message = if both.is_some() { "both keys are given" } else { "neither key is given" };
            Err(Fault::new(node.place, message, "Write { heartbeat = \"200 ms\" } or { timer = \"50 ms\" }"))
        }
    }
}
