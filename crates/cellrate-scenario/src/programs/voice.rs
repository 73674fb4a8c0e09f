//! Telephony.

use cellrate_proto::Duration;
use cellrate_proto::declaration::{Dimension, Kind, Shape, SpanOrZero, Table};

use super::Program;
use crate::text::error::{Fault, Place};
use crate::text::reading::whole_ms;
use crate::text::tree::{Node, Table};
use crate::text::written::{CountOrZero, Written, from_node, setting};

/// G.711 over RTP, sent by GStreamer; packets, gaps and jitter counted at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(name = "voice", written)]
pub struct Voice {
    /// Voice in a packet, in whole ms: 10 to 200.
    #[key(default = "\"20 ms\"", or = Duration::from_ms(20), as = Packet)]
    pub packet: Duration,
    /// Each packet also carries a copy of the packet so many before it (RFC 2198); 0: none.
    #[key(default = "0", or = 0, as = CountOrZero, kind = Kind::Integer(0, 4))]
    pub redundancy: u32,
    /// A packet is played so long after the earliest instant it could have come; later ones are silence.
    #[key(default = "\"100 ms\"", or = Duration::from_ms(100), as = SpanOrZero)]
    pub playout_delay: Duration,
}

/// The time of the voice in a packet.
struct Packet;

setting!(Packet => Duration, Kind::Positive(Dimension::Time), true);

from_node! {
    Packet: packet;
}

impl Program for Voice {
    const SHAPE: Shape = Voice::SHAPE;

    fn read(table: &Table, place: Place) -> Result<Voice, Fault> {
        Voice::read(&Written::new(table, place))
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
