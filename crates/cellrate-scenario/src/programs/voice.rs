//! Telephony.

use cellrate_proto::Duration;
use cellrate_proto::declaration::{Kind, Shape, key};

use super::Program;
use crate::keys::{SPAN, TIME};
use crate::text::error::{Fault, Place};
use crate::text::reading::{or_default, whole_ms};
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};

/// Voice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// Voice in a packet, whole milliseconds [10 to 200 ms].
    pub packet: Duration,
    /// Each packet has a copy of the one so many before it (RFC 2198); 0: none.
    pub redundancy: u32,
    /// From the earliest instant at which a packet could have come to its playing.
    pub playout_delay: Duration,
}

impl Program for Voice {
    const SHAPE: Shape = Shape {
        name: "voice",
        about: "G.711 over RTP, sent by GStreamer; packets, gaps and jitter counted at the receiver.",
        keys: &[
            key("packet", SPAN, "\"20 ms\"", "Voice in a packet, in whole ms: 10 to 200."),
            key(
                "redundancy",
                Kind::Integer(0, 4),
                "0",
                "Each packet also carries a copy of the packet so many before it (RFC 2198); 0: none.",
            ),
            key(
                "playout_delay",
                TIME,
                "\"100 ms\"",
                "A packet is played so long after the earliest instant it could have come; later ones are silence.",
            ),
        ],
    };

    fn read(table: &Table, _place: Place) -> Result<Voice, Fault> {
        Ok(Voice {
            packet: or_default(table, &Self::SHAPE, "packet", packet)?,
            redundancy: or_default(table, &Self::SHAPE, "redundancy", |node| check::integer(node, 0, 4))?
                as u32,
            playout_delay: or_default(table, &Self::SHAPE, "playout_delay", quantity::time)?,
        })
    }
}

fn packet(node: &Node) -> Result<Duration, Fault> {
    let packet = whole_ms(node)?;
    if packet < Duration::from_ms(10) || packet > Duration::from_ms(200) {
        let message = format!("{} of voice are out of range", node.plain());
        return Err(Fault::new(node.place, message, "It must be from 10 to 200 ms"));
    }
    Ok(packet)
}
