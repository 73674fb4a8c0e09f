//! What the two ends say to each other.

use cellrate_proto::Octets;

use super::sequence::{Sequence, Span};

/// A segment, without its octets: only their number matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Which of the connections on the VC, from 0 on.
    pub connection: u16,
    /// Data, or an ACK.
    pub contents: Contents,
}

/// Data one way, ACKs the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// These octets of the stream.
    Data(Span),
    /// From the receiver.
    Acknowledgment(Acknowledgment),
    /// Of a connection with data both ways.
    Duplex(Packet),
}

/// A segment of a client's connection, which has data both ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Which of the client's connections, one after the other, from 0 on.
    pub incarnation: u32,
    /// SYN.
    pub synchronize: bool,
    /// ACK; all but the first SYN have it.
    pub acknowledgment: Option<Acknowledgment>,
    /// Octets of the sender's stream.
    pub data: Option<Span>,
    /// Whether a request begins here and is sent for the first time: then the departure of its first cell is noted.
    pub begins_request: bool,
    /// Which of the server's responses to the client its data belong to, from 0 on, if its departure is to be noted.
    pub answers: Option<u32>,
}

impl Packet {
    /// One that says nothing yet.
    pub fn empty(incarnation: u32) -> Packet {
        Packet {
            incarnation,
            synchronize: false,
            acknowledgment: None,
            data: None,
            begins_request: false,
            answers: None,
        }
    }
}

/// An ACK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgment {
    /// Everything before this has come.
    pub next: Sequence,
    /// So much beyond it may be sent.
    pub window: Octets,
    /// What has come beyond it, the latest first; at most [`MAX_BLOCKS`]. Empty without SACK.
    pub selective: Vec<Span>,
}

/// Blocks that fit into the options of a segment without timestamps (RFC 2018, section 3), less one for them.
pub const MAX_BLOCKS: usize = 3;

impl Segment {
    /// Which response its data belong to, if its departure is to be noted.
    pub fn answers(&self) -> Option<u32> {
        match &self.contents {
            Contents::Duplex(packet) => packet.answers,
            _ => None,
        }
    }

    /// Octets of the IP packet: `header` of TCP and IP, options and payload.
    pub fn packet(&self, header: Octets) -> Octets {
        header
            + match &self.contents {
                Contents::Data(span) => span.octets(),
                Contents::Acknowledgment(ack) => ack.options(),
                Contents::Duplex(packet) => {
                    let data = packet.data.map_or(Octets::ZERO, Span::octets);
                    let ack = packet.acknowledgment.as_ref().map_or(Octets::ZERO, Acknowledgment::options);
                    // The largest segment that the other end may send (RFC 793, section 3.1).
                    let syn = if packet.synchronize { Octets(4) } else { Octets::ZERO };
                    data + ack + syn
                }
            }
    }

    /// Whether a request begins in it, for the first time.
    pub fn begins_request(&self) -> bool {
        matches!(&self.contents, Contents::Duplex(packet) if packet.begins_request)
    }
}

impl Acknowledgment {
    /// Octets of options: two of padding, kind and length, eight per block (RFC 2018, section 3).
    fn options(&self) -> Octets {
        let blocks = self.selective.len() as u64;
        if blocks == 0 { Octets::ZERO } else { Octets(4 + 8 * blocks) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::Cells;
    use cellrate_proto::wire::{Encapsulation::*, cells_for};

    #[test]
    fn segments_take_the_cells_that_the_papers_count() {
        let data = |octets: u64| Segment {
            connection: 0,
            contents: Contents::Data(Span { from: Sequence(7), to: Sequence(7 + octets) }),
        };
        let cells = |segment: &Segment, how| cells_for(segment.packet(Octets(40)), how);
        // Paper 001: 512 + 56 = 568 octets in 12 cells; 9140 + 56 = 9196 = 191.6 * 48.
        assert_eq!(cells(&data(512), LlcSnapIpv4), Cells(12));
        assert_eq!(cells(&data(9140), LlcSnapIpv4), Cells(192));
        // Paper 003: 1460 + 48 = 1508 = 31.4 * 48.
        assert_eq!(cells(&data(1460), VcMultiplexed), Cells(32));
        let ack = |blocks: u64| {
            let block = |n| Span { from: Sequence(100 * n), to: Sequence(100 * n + 50) };
            let selective = (1..=blocks).map(block).collect();
            let contents =
                Contents::Acknowledgment(Acknowledgment { next: Sequence(0), window: Octets(1), selective });
            Segment { connection: 0, contents }
        };
        // 40 + 8 of trailer is one cell to the octet; with LLC/SNAP it is two; options of 28 octets still fit in those.
        assert_eq!(cells(&ack(0), VcMultiplexed), Cells(1));
        assert_eq!(cells(&ack(0), LlcSnapIpv4), Cells(2));
        assert_eq!(ack(3).packet(Octets(40)), Octets(68));
        assert_eq!(cells(&ack(3), LlcSnapIpv4), Cells(2));
        let duplex = |packet| Segment { connection: 0, contents: Contents::Duplex(packet) };
        // SYN with its MSS: 44 + 8 octets are two cells without LLC/SNAP, too.
        let syn = Packet { synchronize: true, ..Packet::empty(0) };
        assert_eq!(cells(&duplex(syn), VcMultiplexed), Cells(2));
        let data = Some(Span { from: Sequence(7), to: Sequence(307) });
        let request = Packet { data, ..Packet::empty(0) };
        // 300 + 56 octets.
        assert_eq!(cells(&duplex(request), LlcSnapIpv4), Cells(8));
    }
}
