//! The IP packet of a simulated segment: IPv4 (RFC 791) and TCP (RFC 9293) headers around a stream of zeros.
//!
//! Initial sequence numbers are 0, so the first octet of a stream is number 1, whether a SYN can be seen or the
//! connection is open from the start. No SYN says a window scale (RFC 7323), even where windows are scaled. Where data
//! go one way, the receiver's timestamps repeat those that they answer: they are not read. Headers longer than 40
//! octets are filled with options that do nothing; where the scenario's header can be no IP and TCP header, because it
//! is shorter than 40 octets, longer than options may make it or no multiple of four, the whole packet is zeros.

use std::net::Ipv4Addr;

use cellrate_proto::Octets;
use cellrate_scenario::{FlowIndex, TIMESTAMPS_OCTETS, TcpTraffic};

use crate::transport::{Acknowledgment, Contents, Flags, Segment, Sequence};

const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const BOTH: usize = IP_HEADER + TCP_HEADER;
const MAX_OPTIONS: usize = 40;
const TCP: u8 = 6;
/// The ECN field of an IP header, the lowest two bits of its second octet (RFC 3168, section 5).
const ECT_0: u8 = 0b10;
const CE: u8 = 0b11;
const CWR: u8 = 1 << 7;
const ECE: u8 = 1 << 6;
const ACK: u8 = 1 << 4;
const SYN: u8 = 1 << 1;
const MSS: u8 = 2;
const NO_OPERATION: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const DO_NOT_FRAGMENT: u8 = 1 << 6;
const TIME_TO_LIVE: u8 = 64;
/// The first of the dynamic ports (RFC 6335). The side that sends data, or asks for it, has one per connection of the
/// VC; connections beyond the dynamic ports have those from 1 on.
const FIRST_SENDER_PORT: u16 = 49152;
/// Below them: the side that receives has one per VC.
const FIRST_RECEIVER_PORT: u16 = 32768;
/// And a server of pages another one.
const FIRST_SERVER_PORT: u16 = 16384;
const PORTS: u32 = 16384;
/// All ports but 0, which none may have.
const ALL_PORTS: usize = u16::MAX as usize;

/// Both ends of a direction, as packets name them.
#[derive(Clone, Debug)]
pub(super) struct Endpoints {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    /// Modulo the number of ports.
    vc: u16,
    /// Whether it is the direction from the last host to the first, where servers are.
    backward: bool,
    /// Clients of the VC.
    clients: usize,
    /// How many ports of the side that sends data, or asks for it, are in use before the first comes again.
    sender_ports: usize,
    /// The largest segment that may come the other way.
    announced_mss: u16,
    /// TCP and IP before the payload.
    header: Octets,
    /// Shift of the windows in ACKs of this direction.
    window_scale: u32,
}

impl Endpoints {
    /// The direction `flow`, between `addresses`: `traffic` made its headers, and its ACKs are those of
    /// `acknowledged`.
    pub fn new(
        addresses: [Ipv4Addr; 2],
        flow: FlowIndex,
        traffic: &TcpTraffic,
        acknowledged: &TcpTraffic,
    ) -> Endpoints {
        let [source, destination] = addresses;
        let window = acknowledged.tcp.window.0;
        let window_scale = (0..14).find(|scale| window >> scale <= u64::from(u16::MAX)).unwrap_or(14);
        let pages = traffic.pages.as_ref().or(acknowledged.pages.as_ref());
        let clients = pages.map_or(0, |pages| pages.clients.into());
        let most = [traffic.connections, acknowledged.connections].map(usize::from).into_iter().max();
        Endpoints {
            source,
            destination,
            vc: (flow.connection().0 % PORTS) as u16,
            backward: flow.is_backward(),
            clients,
            sender_ports: clients.max(most.unwrap_or(0)).max(PORTS as usize),
            announced_mss: acknowledged.tcp.mss.0 as u16,
            header: traffic.tcp.header,
            window_scale,
        }
    }

    /// The packet of `segment`, the `number`th of its direction (modulo 2^16), as it is before it is marked, or behind.
    pub fn packet(&self, segment: &Segment, number: u16, marked: bool) -> Vec<u8> {
        let octets = segment.packet(self.header).0 as usize;
        let payload = match &segment.contents {
            Contents::Data(span) => span.octets().0 as usize,
            Contents::FlowEnd(end) => end.span.octets().0 as usize,
            Contents::Acknowledgment(_) => 0,
            Contents::Duplex(packet) => packet.data.map_or(0, |span| span.octets().0 as usize),
        };
        let mut packet = vec![0; octets];
        let header = octets - payload;
        if (BOTH..=BOTH + MAX_OPTIONS).contains(&header) && header.is_multiple_of(4) && octets <= 0xffff {
            let (ip, tcp) = packet.split_at_mut(IP_HEADER);
            self.write_tcp(segment, tcp, header - IP_HEADER);
            let may_be_marked = segment.heading().flags.has(Flags::ECT);
            let ecn = if may_be_marked { if marked { CE } else { ECT_0 } } else { 0 };
            self.write_ip(ip, octets as u16, number, ecn);
        }
        packet
    }

    fn write_ip(&self, ip: &mut [u8], octets: u16, number: u16, ecn: u8) {
        ip[1] = ecn;
        ip[0] = 4 << 4 | (IP_HEADER / 4) as u8;
        ip[2..4].copy_from_slice(&octets.to_be_bytes());
        ip[4..6].copy_from_slice(&number.to_be_bytes());
        ip[6] = DO_NOT_FRAGMENT;
        ip[8] = TIME_TO_LIVE;
        ip[9] = TCP;
        ip[12..16].copy_from_slice(&self.source.octets());
        ip[16..20].copy_from_slice(&self.destination.octets());
        let sum = checksum(0, ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
    }

    fn write_tcp(&self, segment: &Segment, tcp: &mut [u8], header: usize) {
        let Said { ports: [from, to], synchronize, position, ack } = self.said(segment);
        let on_wire = |sequence: Sequence| (sequence.0 as u32).wrapping_add(1).to_be_bytes();
        tcp[..2].copy_from_slice(&from.to_be_bytes());
        tcp[2..4].copy_from_slice(&to.to_be_bytes());
        if synchronize {
            tcp[13] |= SYN;
        } else {
            tcp[4..8].copy_from_slice(&on_wire(position.unwrap_or(Sequence::START)));
        }
        tcp[12] = ((header / 4) as u8) << 4;
        let heading = segment.heading();
        for (flag, bit) in [(Flags::ECE, ECE), (Flags::CWR, CWR)] {
            tcp[13] |= if heading.flags.has(flag) { bit } else { 0 };
        }
        // Where nothing is known to have come, nothing can have, and any window will do.
        let mut window = u64::from(u16::MAX);
        let options = &mut tcp[TCP_HEADER..header];
        options.fill(NO_OPERATION);
        let mut rest = options;
        if synchronize {
            let [high, low] = self.announced_mss.to_be_bytes();
            let (option, others) = rest.split_at_mut(4);
            option.copy_from_slice(&[MSS, 4, high, low]);
            rest = others;
        }
        if heading.flags.has(Flags::STAMPED) {
            // Two octets that do nothing go before it (RFC 7323, appendix A); they stand there already.
            let (option, others) = rest.split_at_mut(TIMESTAMPS_OCTETS.0 as usize);
            option[2..4].copy_from_slice(&[TIMESTAMPS, 10]);
            option[4..8].copy_from_slice(&heading.value.to_be_bytes());
            let echo = if ack.is_some() { heading.echo } else { 0 };
            option[8..].copy_from_slice(&echo.to_be_bytes());
            rest = others;
        }
        if let Some(ack) = ack
            && !ack.selective.is_empty()
        {
            // After two octets that do nothing, as RFC 2018 has it; they stand there already.
            let option = &mut rest[2..];
            option[..2].copy_from_slice(&[SACK, 2 + 8 * ack.selective.len() as u8]);
            for (block, place) in ack.selective.iter().zip(option[2..].chunks_exact_mut(8)) {
                place[..4].copy_from_slice(&on_wire(block.from));
                place[4..].copy_from_slice(&on_wire(block.to));
            }
        }
        if let Some(ack) = ack {
            window = ack.window.0 >> self.window_scale;
        }
        if ack.is_some() || !synchronize {
            tcp[13] |= ACK;
            let next = ack.map_or(Sequence::START, |ack| ack.next);
            tcp[8..12].copy_from_slice(&on_wire(next));
        }
        tcp[14..16].copy_from_slice(&(window.min(u64::from(u16::MAX)) as u16).to_be_bytes());
        let [s, d] = [self.source, self.destination].map(|address| address.octets());
        let pseudo_header = [&s[..], &d, &[0, TCP], &(tcp.len() as u16).to_be_bytes()].concat();
        let sum = checksum(sum(0, &pseudo_header), tcp);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
    }

    /// The segment in the terms of a header.
    fn said<'a>(&self, segment: &'a Segment) -> Said<'a> {
        let before = usize::from(FIRST_SENDER_PORT) - 1;
        let dynamic = |number: usize| (1 + (before + number % self.sender_ports) % ALL_PORTS) as u16;
        let transfer = [dynamic(segment.connection.into()), FIRST_RECEIVER_PORT + self.vc];
        let turned = |[sender, receiver]: [u16; 2], turn: bool| {
            if turn { [receiver, sender] } else { [sender, receiver] }
        };
        match &segment.contents {
            Contents::Data(span) => {
                Said { ports: transfer, synchronize: false, position: Some(span.from), ack: None }
            }
            Contents::FlowEnd(end) => {
                Said { ports: transfer, synchronize: false, position: Some(end.span.from), ack: None }
            }
            Contents::Acknowledgment(ack) => {
                Said { ports: turned(transfer, true), synchronize: false, position: None, ack: Some(ack) }
            }
            Contents::Duplex(packet) => {
                let number = usize::from(segment.connection) + packet.incarnation as usize * self.clients;
                Said {
                    ports: turned([dynamic(number), FIRST_SERVER_PORT + self.vc], self.backward),
                    synchronize: packet.synchronize,
                    position: packet.data.map(|span| span.from),
                    ack: packet.acknowledgment.as_ref(),
                }
            }
        }
    }
}

/// Fields of a TCP header.
struct Said<'a> {
    /// Source and destination.
    ports: [u16; 2],
    synchronize: bool,
    /// The position of the first octet.
    position: Option<Sequence>,
    ack: Option<&'a Acknowledgment>,
}

/// The Internet checksum (RFC 1071) of `octets` and what has been added up before.
fn checksum(before: u32, octets: &[u8]) -> u16 {
    let mut total = sum(before, octets);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    !(total as u16)
}

fn sum(before: u32, octets: &[u8]) -> u32 {
    octets.chunks(2).fold(before, |total, pair| {
        total + u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Packet, Span};
    use cellrate_proto::Time;
    use cellrate_proto::wire::Encapsulation;
    use cellrate_scenario::{AdapterQueue, Preset};
    use std::collections::BTreeSet;

    fn endpoints(header: u64, window: u64) -> Endpoints {
        endpoints_of(1, header, window)
    }

    fn endpoints_of(connections: u16, header: u64, window: u64) -> Endpoints {
        let mut tcp = Preset::named("reno").expect("it is there").tcp();
        (tcp.header, tcp.window) = (Octets(header), Octets(window));
        let traffic = TcpTraffic {
            tcp,
            encapsulation: Encapsulation::LlcSnapIpv4,
            connections,
            transfer: None,
            start: Time::ZERO,
            end: Time::NEVER,
            pages: None,
            adapter_queue: AdapterQueue::Unbounded,
            successive: false,
        };
        Endpoints::new([[10, 0, 0, 1], [10, 0, 0, 2]].map(Ipv4Addr::from), FlowIndex(10), &traffic, &traffic)
    }

    fn data(from: u64, octets: u64) -> Segment {
        let span = Span { from: Sequence(from), to: Sequence(from + octets) };
        Segment::plain(2, Contents::Data(span))
    }

    fn ack(next: u64, window: u64, blocks: &[(u64, u64)]) -> Segment {
        let block = |&(from, to): &(u64, u64)| Span { from: Sequence(from), to: Sequence(to) };
        let selective = blocks.iter().map(block).collect();
        let ack = Acknowledgment { next: Sequence(next), window: Octets(window), selective };
        Segment::plain(2, Contents::Acknowledgment(ack))
    }

    /// A checksum over octets that hold their own is zero.
    fn assert_checksums(packet: &[u8]) {
        assert_eq!(checksum(0, &packet[..20]), 0);
        let length = (packet.len() - 20) as u16;
        let pseudo = sum(sum(0, &packet[12..20]), &[&[0, 6][..], &length.to_be_bytes()].concat());
        assert_eq!(checksum(pseudo, &packet[20..]), 0);
    }

    #[test]
    fn a_data_segment_is_an_ip_packet_with_its_place_in_the_stream() {
        let packet = endpoints(40, 65_535).packet(&data((1 << 32) + 0x0102_0304, 512), 7, false);
        assert_eq!(packet.len(), 552);
        assert_eq!(packet[..10], [0x45, 0, 0x02, 0x28, 0, 7, 0x40, 0, 64, 6]);
        assert_eq!(packet[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
        // Ports 49154 and 32773, the low 32 bits of the position and one for SYN, ACK 1, 5 words of header.
        assert_eq!(packet[20..34], [0xc0, 2, 0x80, 5, 1, 2, 3, 5, 0, 0, 0, 1, 0x50, 0x10]);
        assert_checksums(&packet);
        assert!(packet[40..].iter().all(|&octet| octet == 0));
    }

    #[test]
    fn connections_of_a_vc_have_ports_of_their_own_up_to_as_many_as_there_may_be() {
        let endpoints = endpoints_of(u16::MAX, 40, 65_535);
        let port = |connection| {
            let segment = Segment { connection, ..data(0, 1) };
            endpoints.said(&segment).ports[0]
        };
        assert_eq!([0, 16_383, 16_384, u16::MAX - 1].map(port), [49_152, u16::MAX, 1, 49_151]);
        let ports: BTreeSet<u16> = (0..u16::MAX).map(port).collect();
        assert_eq!(ports.len(), usize::from(u16::MAX));
    }

    #[test]
    fn an_ack_has_its_window_scaled_and_its_blocks_as_options() {
        // 131070 >> 1 is the largest window that fits.
        let packet =
            endpoints(40, 131_070).packet(&ack(1000, 131_070, &[(2000, 2512), (4096, 5120)]), 0, false);
        assert_eq!(packet.len(), 40 + 4 + 16);
        assert_eq!(packet[20..36], [0x80, 5, 0xc0, 2, 0, 0, 0, 1, 0, 0, 3, 0xe9, 0xa0, 0x10, 0xff, 0xff]);
        assert_eq!(packet[40..44], [1, 1, 5, 18]);
        assert_eq!(packet[44..60], [0, 0, 7, 0xd1, 0, 0, 9, 0xd1, 0, 0, 0x10, 1, 0, 0, 0x14, 1]);
        assert_checksums(&packet);
    }

    #[test]
    fn timestamps_stand_before_blocks() {
        let stamped = Flags::default().with(Flags::STAMPED, true);
        let ack = Segment { flags: stamped, stamp: 0x0102_0304, ..ack(1000, 65_535, &[(2000, 2512)]) };
        let packet = endpoints(40, 65_535).packet(&ack, 0, false);
        // 13 words of header: 5, 3 of timestamps, 3 of a block with its two octets before.
        assert_eq!((packet.len(), packet[32]), (40 + 12 + 12, 0xb0));
        assert_eq!(packet[40..52], [1, 1, 8, 10, 1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(packet[52..64], [1, 1, 5, 10, 0, 0, 7, 0xd1, 0, 0, 9, 0xd1]);
        assert_checksums(&packet);
        let data = Segment { flags: stamped, stamp: 7, ..data(0, 100) };
        let packet = endpoints(40, 65_535).packet(&data, 0, false);
        assert_eq!((packet.len(), &packet[40..52]), (152, &[1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 0][..]));
        assert_checksums(&packet);
    }

    #[test]
    fn a_handshake_announces_the_mss_and_data_carry_acks() {
        let duplex = |packet| Segment::plain(2, Contents::Duplex(Box::new(packet)));
        let endpoints = endpoints(40, 65_535);
        let syn = endpoints.packet(&duplex(Packet { synchronize: true, ..Packet::empty(0) }), 0, false);
        // From a dynamic port to 16384 + 5; SEQ and ACK 0, 6 words of header, SYN alone; 1460 octets.
        assert_eq!(syn[20..34], [0xc0, 2, 0x40, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0x60, 0x02]);
        assert_eq!(syn[40..], [2, 4, 0x05, 0xb4]);
        assert_checksums(&syn);
        let Contents::Acknowledgment(acknowledgment) = ack(500, 8760, &[]).contents else { unreachable!() };
        let data = Some(Span { from: Sequence(0), to: Sequence(100) });
        let acknowledgment = Some(acknowledgment);
        let request =
            endpoints.packet(&duplex(Packet { data, acknowledgment, ..Packet::empty(0) }), 0, false);
        assert_eq!(request[24..36], [0, 0, 0, 1, 0, 0, 0x01, 0xf5, 0x50, 0x10, 0x22, 0x38]);
        assert_eq!(request.len(), 140);
        assert_checksums(&request);
    }

    #[test]
    fn longer_headers_are_filled_and_impossible_ones_are_zeros() {
        let filled = endpoints(52, 65_535).packet(&data(0, 10), 0, false);
        assert_eq!((filled.len(), filled[32], &filled[40..52]), (62, 0x80, &[1; 12][..]));
        assert_checksums(&filled);
        assert_eq!(endpoints(80, 65_535).packet(&data(0, 10), 0, false)[0], 0x45);
        for header in [0, 36, 42, 84] {
            let packet = endpoints(header, 65_535).packet(&data(0, 10), 0, false);
            assert_eq!(packet, vec![0; header as usize + 10]);
        }
    }

    #[test]
    fn ecn_stands_in_both_headers() {
        let endpoints = endpoints(40, 65_535);
        let flags = Flags::ECT.with(Flags::CWR, true);
        let data = Segment { flags, ..data(0, 100) };
        for (marked, expected) in [(false, 0b10), (true, 0b11)] {
            let packet = endpoints.packet(&data, 0, marked);
            assert_eq!((packet[1], packet[33]), (expected, 0b1001_0000));
            assert_checksums(&packet);
        }
        // An ACK may not be marked, whatever a port has done.
        let ack = Segment { flags: Flags::ECE, ..ack(1000, 65_535, &[]) };
        let packet = endpoints.packet(&ack, 0, true);
        assert_eq!((packet[1], packet[33]), (0, 0b0101_0000));
        assert_checksums(&packet);
    }
}
