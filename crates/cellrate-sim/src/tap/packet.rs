//! The IP packet of a simulated segment: IPv4 (RFC 791) and TCP (RFC 9293) headers around a stream of zeros.
//!
//! The model has no handshake, so both streams begin at sequence number 0, the window scale (RFC 7323) is nowhere to be
//! seen, and every segment has ACK set. Headers longer than 40 octets are filled with options that do nothing; where the
//! scenario's header can be no IP and TCP header, because it is shorter than 40 octets, longer than options may make it or
//! no multiple of four, the whole packet is zeros.

use std::net::Ipv4Addr;

use cellrate_proto::Octets;
use cellrate_scenario::TcpTraffic;

use crate::transport::{Contents, Segment, Sequence};

const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const BOTH: usize = IP_HEADER + TCP_HEADER;
const MAX_OPTIONS: usize = 40;
const TCP: u8 = 6;
const ACK: u8 = 1 << 4;
const NO_OPERATION: u8 = 1;
const SACK: u8 = 5;
const DO_NOT_FRAGMENT: u8 = 1 << 6;
const TIME_TO_LIVE: u8 = 64;
/// Dynamic ports (RFC 6335): the side that sends data has one per connection of the VC.
const FIRST_SENDER_PORT: u16 = 49152;
/// Below them: the side that receives has one per VC.
const FIRST_RECEIVER_PORT: u16 = 32768;
const PORTS: usize = 16384;

/// Both ends of a direction, as packets name them.
#[derive(Clone, Debug)]
pub(super) struct Endpoints {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    receiver_port: u16,
    /// TCP and IP before the payload.
    header: Octets,
    /// What the windows in ACKs of this direction are shifted by.
    window_scale: u32,
}

impl Endpoints {
    /// The direction between `addresses` of connection number `vc`: `traffic` made its headers, and its ACKs are those of
    /// `acknowledged`.
    pub fn new(
        addresses: [Ipv4Addr; 2],
        vc: usize,
        traffic: &TcpTraffic,
        acknowledged: &TcpTraffic,
    ) -> Endpoints {
        let [source, destination] = addresses;
        let receiver_port = FIRST_RECEIVER_PORT + (vc % PORTS) as u16;
        let window = acknowledged.tcp.window.0;
        let window_scale = (0..14).find(|scale| window >> scale <= u64::from(u16::MAX)).unwrap_or(14);
        Endpoints { source, destination, receiver_port, header: traffic.tcp.header, window_scale }
    }

    /// The packet of `segment`, the `number`th of its direction (modulo 2^16).
    pub fn packet(&self, segment: &Segment, number: u16) -> Vec<u8> {
        let octets = segment.packet(self.header).0 as usize;
        let payload = match &segment.contents {
            Contents::Data(span) => span.octets().0 as usize,
            Contents::Acknowledgment(_) => 0,
        };
        let mut packet = vec![0; octets];
        let header = octets - payload;
        if (BOTH..=BOTH + MAX_OPTIONS).contains(&header) && header.is_multiple_of(4) && octets <= 0xffff {
            let (ip, tcp) = packet.split_at_mut(IP_HEADER);
            self.write_tcp(segment, tcp, header - IP_HEADER);
            self.write_ip(ip, octets as u16, number);
        }
        packet
    }

    fn write_ip(&self, ip: &mut [u8], octets: u16, number: u16) {
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
        let sender_port = FIRST_SENDER_PORT + (usize::from(segment.connection) % PORTS) as u16;
        let on_wire = |sequence: Sequence| (sequence.0 as u32).to_be_bytes();
        tcp[TCP_HEADER..header].fill(NO_OPERATION);
        let (from, to, window) = match &segment.contents {
            Contents::Data(span) => {
                tcp[4..8].copy_from_slice(&on_wire(span.from));
                // Nothing comes this way, so any window will do.
                (sender_port, self.receiver_port, u64::from(u16::MAX))
            }
            Contents::Acknowledgment(ack) => {
                tcp[8..12].copy_from_slice(&on_wire(ack.next));
                let blocks = &ack.selective;
                if !blocks.is_empty() {
                    // After two octets that do nothing, as RFC 2018 has it; they stand there already.
                    let option = &mut tcp[TCP_HEADER + 2..];
                    option[..2].copy_from_slice(&[SACK, 2 + 8 * blocks.len() as u8]);
                    for (block, place) in blocks.iter().zip(option[2..].chunks_exact_mut(8)) {
                        place[..4].copy_from_slice(&on_wire(block.from));
                        place[4..].copy_from_slice(&on_wire(block.to));
                    }
                }
                (self.receiver_port, sender_port, ack.window.0 >> self.window_scale)
            }
        };
        tcp[..2].copy_from_slice(&from.to_be_bytes());
        tcp[2..4].copy_from_slice(&to.to_be_bytes());
        tcp[12] = ((header / 4) as u8) << 4;
        tcp[13] = ACK;
        tcp[14..16].copy_from_slice(&(window.min(u64::from(u16::MAX)) as u16).to_be_bytes());
        let [s, d] = [self.source, self.destination].map(|address| address.octets());
        let pseudo_header = [&s[..], &d, &[0, TCP], &(tcp.len() as u16).to_be_bytes()].concat();
        let sum = checksum(sum(0, &pseudo_header), tcp);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
    }
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
    use crate::transport::{Acknowledgment, Span};
    use cellrate_proto::Time;
    use cellrate_proto::wire::Encapsulation;
    use cellrate_scenario::{AdapterQueue, Preset};

    fn endpoints(header: u64, window: u64) -> Endpoints {
        let mut tcp = Preset::named("reno").expect("it is there").tcp();
        (tcp.header, tcp.window) = (Octets(header), Octets(window));
        let traffic = TcpTraffic {
            tcp,
            encapsulation: Encapsulation::LlcSnapIpv4,
            connections: 1,
            transfer: None,
            start: Time::ZERO,
            adapter_queue: AdapterQueue::Unbounded,
        };
        Endpoints::new([[10, 0, 0, 1], [10, 0, 0, 2]].map(Ipv4Addr::from), 5, &traffic, &traffic)
    }

    fn data(from: u64, octets: u64) -> Segment {
        let span = Span { from: Sequence(from), to: Sequence(from + octets) };
        Segment { connection: 2, contents: Contents::Data(span) }
    }

    fn ack(next: u64, window: u64, blocks: &[(u64, u64)]) -> Segment {
        let block = |&(from, to): &(u64, u64)| Span { from: Sequence(from), to: Sequence(to) };
        let selective = blocks.iter().map(block).collect();
        let ack = Acknowledgment { next: Sequence(next), window: Octets(window), selective };
        Segment { connection: 2, contents: Contents::Acknowledgment(ack) }
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
        let packet = endpoints(40, 65_535).packet(&data((1 << 32) + 0x0102_0304, 512), 7);
        assert_eq!(packet.len(), 552);
        assert_eq!(packet[..10], [0x45, 0, 0x02, 0x28, 0, 7, 0x40, 0, 64, 6]);
        assert_eq!(packet[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
        // Ports 49154 and 32773, the low 32 bits of the position, ACK 0, 5 words of header.
        assert_eq!(packet[20..34], [0xc0, 2, 0x80, 5, 1, 2, 3, 4, 0, 0, 0, 0, 0x50, 0x10]);
        assert_checksums(&packet);
        assert!(packet[40..].iter().all(|&octet| octet == 0));
    }

    #[test]
    fn an_ack_has_its_window_scaled_and_its_blocks_as_options() {
        // 131070 >> 1 is the largest window that fits.
        let packet = endpoints(40, 131_070).packet(&ack(1000, 131_070, &[(2000, 2512), (4096, 5120)]), 0);
        assert_eq!(packet.len(), 40 + 4 + 16);
        assert_eq!(packet[20..36], [0x80, 5, 0xc0, 2, 0, 0, 0, 0, 0, 0, 3, 0xe8, 0xa0, 0x10, 0xff, 0xff]);
        assert_eq!(packet[40..44], [1, 1, 5, 18]);
        assert_eq!(packet[44..60], [0, 0, 7, 0xd0, 0, 0, 9, 0xd0, 0, 0, 0x10, 0, 0, 0, 0x14, 0]);
        assert_checksums(&packet);
    }

    #[test]
    fn longer_headers_are_filled_and_impossible_ones_are_zeros() {
        let filled = endpoints(52, 65_535).packet(&data(0, 10), 0);
        assert_eq!((filled.len(), filled[32], &filled[40..52]), (62, 0x80, &[1; 12][..]));
        assert_checksums(&filled);
        assert_eq!(endpoints(80, 65_535).packet(&data(0, 10), 0)[0], 0x45);
        for header in [0, 36, 42, 84] {
            let packet = endpoints(header, 65_535).packet(&data(0, 10), 0);
            assert_eq!(packet, vec![0; header as usize + 10]);
        }
    }
}
