//! Segments that the two ends of a connection send each other.

use std::ops::Deref;

use cellrate_proto::Octets;
use cellrate_scenario::TIMESTAMPS_OCTETS;

use super::sequence::{Sequence, Span};
use super::sized_flow::FlowEnd;

/// A segment, without its octets: only their number matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Which of the connections on the VC, from 0 on.
    pub connection: u16,
    /// The bits that its headers have set. A client's or server's packet has a [heading](Packet::heading) of its own.
    pub flags: Flags,
    /// TSval of data, TSecr of an ACK, where it is [stamped](Flags::STAMPED): the other one is not read where data go
    /// one way.
    pub stamp: u32,
    /// Data, or an ACK.
    pub contents: Contents,
}

/// Data one way, ACKs the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Octets of the stream.
    Data(Span),
    /// An acknowledgment, from the receiver.
    Acknowledgment(Acknowledgment),
    /// The last datagram of a flow of a size, or, with TCP, its last octets.
    FlowEnd(Box<FlowEnd>),
    /// A packet of a connection with data both ways. Apart, because others are by far the most where very many wait.
    Duplex(Box<Packet>),
}

/// Bits that the headers of a segment have set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// It has the timestamps option (RFC 7323, section 3).
    pub const STAMPED: Flags = Flags(1);
    /// Its IP packet may be marked: ECT(0) (RFC 3168, section 5).
    pub const ECT: Flags = Flags(1 << 1);
    /// Its IP packet was marked on its way: CE.
    pub const CE: Flags = Flags(1 << 2);
    /// CWR: the sender has reduced its window (RFC 3168, section 6.1).
    pub const CWR: Flags = Flags(1 << 3);
    /// ECE: the receiver tells of marks.
    pub const ECE: Flags = Flags(1 << 4);

    /// Whether all of `others` are set.
    #[inline]
    pub fn has(self, others: Flags) -> bool {
        self.0 & others.0 == others.0
    }

    /// Gives these flags without `others`.
    #[inline]
    pub fn without(self, others: Flags) -> Flags {
        Flags(self.0 & !others.0)
    }

    /// Gives these flags and, where `set`, `others`.
    #[inline]
    pub fn with(self, others: Flags, set: bool) -> Flags {
        if set { Flags(self.0 | others.0) } else { self }
    }
}

/// The heading of a segment: whatever its headers say beside its place in the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The bits that are set.
    pub flags: Flags,
    /// TSval: the clock of who sent it, in ticks modulo 2^32.
    pub value: u32,
    /// TSecr: the TSval that it answers.
    pub echo: u32,
}

impl Heading {
    /// The heading as it has come: on the way the packet was `marked`, if it may be.
    #[inline]
    pub fn come(self, marked: bool) -> Heading {
        Heading { flags: self.flags.with(Flags::CE, marked && self.flags.has(Flags::ECT)), ..self }
    }

    /// TSval, if there is one.
    pub fn value(&self) -> Option<u32> {
        self.flags.has(Flags::STAMPED).then_some(self.value)
    }

    /// TSecr, if there is one.
    pub fn echo(&self) -> Option<u32> {
        self.flags.has(Flags::STAMPED).then_some(self.echo)
    }
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
    /// Its heading.
    pub heading: Heading,
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
            heading: Heading::default(),
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
    /// Blocks that have come beyond it, the latest first. None without SACK.
    pub selective: Blocks,
}

/// Blocks beyond the acknowledged octets that an ACK tells of; at most `MAX_BLOCKS`. No more than a pointer, because
/// most tell of nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks(Option<Box<ReportedBlocks>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ReportedBlocks {
    /// Spans reported; those behind the first `count` are of no meaning.
    spans: [Span; MAX_BLOCKS],
    count: u8,
}

impl Blocks {
    /// None.
    pub const NONE: Blocks = Blocks(None);
}

impl Deref for Blocks {
    type Target = [Span];

    fn deref(&self) -> &[Span] {
        self.0.as_ref().map_or(&[], |told| &told.spans[..usize::from(told.count)])
    }
}

impl FromIterator<Span> for Blocks {
    /// The first ones, as many as fit.
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Blocks {
        let mut spans = spans.into_iter();
        let Some(first) = spans.next() else { return Blocks::NONE };
        let mut told = ReportedBlocks { spans: [first; MAX_BLOCKS], count: 1 };
        for (place, span) in told.spans[1..].iter_mut().zip(spans) {
            *place = span;
            told.count += 1;
        }
        Blocks(Some(Box::new(told)))
    }
}

/// Blocks that fit into the 40 octets of options, where there are no timestamps beside them (RFC 2018, section 3).
pub const MAX_BLOCKS: usize = 4;
/// Blocks that fit beside timestamps.
pub const MAX_BLOCKS_BESIDE_TIMESTAMPS: usize = 3;

impl Segment {
    /// One whose headers say nothing more.
    pub fn plain(connection: u16, contents: Contents) -> Segment {
        Segment { connection, flags: Flags::default(), stamp: 0, contents }
    }

    /// Its heading.
    #[inline]
    pub fn heading(&self) -> Heading {
        match &self.contents {
            Contents::Duplex(packet) => packet.heading,
            _ => Heading { flags: self.flags, value: self.stamp, echo: self.stamp },
        }
    }

    /// Which response its data belong to, if its departure is to be noted.
    pub fn answers(&self) -> Option<u32> {
        match &self.contents {
            Contents::Duplex(packet) => packet.answers,
            _ => None,
        }
    }

    /// Octets of the IP packet: `header` of TCP and IP, options and payload.
    pub fn packet(&self, header: Octets) -> Octets {
        let stamps = if self.heading().flags.has(Flags::STAMPED) { TIMESTAMPS_OCTETS } else { Octets::ZERO };
        header
            + stamps
            + match &self.contents {
                Contents::Data(span) => span.octets(),
                Contents::FlowEnd(end) => end.span.octets(),
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
    fn a_segment_takes_less_than_a_cache_line() {
        assert!(size_of::<Segment>() <= 40);
    }

    #[test]
    fn as_many_blocks_as_fit_are_told_of() {
        let block = |n| Span { from: Sequence(100 * n), to: Sequence(100 * n + 50) };
        for count in 0..6 {
            let blocks: Blocks = (0..count).map(block).collect();
            let told: Vec<Span> = (0..count.min(MAX_BLOCKS as u64)).map(block).collect();
            assert_eq!(*blocks, told);
        }
        assert_eq!((0..0).map(block).collect::<Blocks>(), Blocks::NONE);
    }

    #[test]
    fn segments_take_the_cells_that_the_papers_count() {
        let data = |octets: u64| {
            Segment::plain(0, Contents::Data(Span { from: Sequence(7), to: Sequence(7 + octets) }))
        };
        let cells = |segment: &Segment, how| cells_for(segment.packet(Octets(40)), how);
        // Paper tcp-lrd-vbr: 512 + 56 = 568 octets in 12 cells; 9140 + 56 = 9196 = 191.6 * 48.
        assert_eq!(cells(&data(512), LlcSnapIpv4), Cells(12));
        assert_eq!(cells(&data(9140), LlcSnapIpv4), Cells(192));
        // Paper stop-and-go: 1460 + 48 = 1508 = 31.4 * 48.
        assert_eq!(cells(&data(1460), VcMultiplexed), Cells(32));
        let ack = |blocks: u64| {
            let block = |n| Span { from: Sequence(100 * n), to: Sequence(100 * n + 50) };
            let selective = (1..=blocks).map(block).collect();
            let contents =
                Contents::Acknowledgment(Acknowledgment { next: Sequence(0), window: Octets(1), selective });
            Segment::plain(0, contents)
        };
        // 40 + 8 of trailer is one cell to the octet; with LLC/SNAP it is two; options of 36 octets still fit in those.
        assert_eq!(cells(&ack(0), VcMultiplexed), Cells(1));
        assert_eq!(cells(&ack(0), LlcSnapIpv4), Cells(2));
        assert_eq!(ack(4).packet(Octets(40)), Octets(76));
        assert_eq!(cells(&ack(4), LlcSnapIpv4), Cells(2));
        let duplex = |packet| Segment::plain(0, Contents::Duplex(Box::new(packet)));
        // SYN with its MSS: 44 + 8 octets are two cells without LLC/SNAP, too.
        let syn = Packet { synchronize: true, ..Packet::empty(0) };
        assert_eq!(cells(&duplex(syn), VcMultiplexed), Cells(2));
        let data = Some(Span { from: Sequence(7), to: Sequence(307) });
        let request = Packet { data, ..Packet::empty(0) };
        // 300 + 56 octets.
        assert_eq!(cells(&duplex(request), LlcSnapIpv4), Cells(8));
    }

    #[test]
    fn timestamps_take_twelve_octets() {
        let flags = Flags::default().with(Flags::STAMPED, true);
        let block = Span { from: Sequence(100), to: Sequence(150) };
        let ack = |selective| {
            let ack = Acknowledgment { next: Sequence(0), window: Octets(1), selective };
            Segment { flags, ..Segment::plain(0, Contents::Acknowledgment(ack)) }
        };
        // 52 + 8 of trailer: bare, too, an ACK is two cells now.
        assert_eq!(ack(Blocks::NONE).packet(Octets(40)), Octets(52));
        assert_eq!(cells_for(Octets(52), VcMultiplexed), Cells(2));
        assert_eq!(
            ack([block; 3].into_iter().collect()).packet(Octets(40)),
            Octets(80),
            "all that TCP can say"
        );
    }
}
