//! Datagrams of UDP within packets of IP: where they are, whose they are, and their checksum after a change.
//!
//! IPv4 and IPv6, extension headers of the latter included. Fragments are left alone: only the first has the head of
//! the datagram, and its checksum covers the others.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const DESTINATION_OPTIONS: u8 = 60;

/// A datagram of UDP within a packet of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    /// Address and port of the sender.
    pub from: SocketAddr,
    /// Address and port of the receiver.
    pub to: SocketAddr,
    /// Where the header of UDP begins in the packet \[octets\].
    header: usize,
    /// Where the datagram's octets end in the packet \[octets\].
    end: usize,
}

impl Located {
    /// Finds the datagram of UDP that a packet of IP carries whole; `None` for fragments, for other protocols and for
    /// what is malformed.
    pub fn find(packet: &[u8]) -> Option<Located> {
        let (from, to, header, end) = match packet.first()? >> 4 {
            4 => ipv4(packet)?,
            6 => ipv6(packet)?,
            _ => return None,
        };
        let udp = packet.get(header..end)?;
        let length = usize::from(word(udp, 4)?);
        if !(UDP_HEADER..=udp.len()).contains(&length) {
            return None;
        }
        let [from, to] = [(from, word(udp, 0)?), (to, word(udp, 2)?)].map(SocketAddr::from);
        Some(Located { from, to, header, end: header + length })
    }

    /// The datagram's own octets, those behind the header of UDP.
    pub fn payload(self, packet: &mut [u8]) -> &mut [u8] {
        &mut packet[self.header + UDP_HEADER..self.end]
    }

    /// Puts the checksum right after the first two octets of the payload have changed (RFC 1624, equation 3). A
    /// checksum of zero, which says over IPv4 that there is none, stays.
    pub fn mend_checksum(self, packet: &mut [u8], before: [u8; 2]) {
        let Some(&after) = self.payload(packet).first_chunk() else { return };
        let at = self.header + 6;
        let checksum = u16::from_be_bytes([packet[at], packet[at + 1]]);
        if checksum != 0 {
            let mended = mended(checksum, u16::from_be_bytes(before), u16::from_be_bytes(after));
            packet[at..at + 2].copy_from_slice(&mended.to_be_bytes());
        }
    }
}

/// The checksum of UDP after one of the words that it covers has changed. It is never zero, which stands for none.
fn mended(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    let mended = !(((folded & 0xffff) + (folded >> 16)) as u16);
    if mended == 0 { 0xffff } else { mended }
}

fn ipv4(packet: &[u8]) -> Option<(IpAddr, IpAddr, usize, usize)> {
    let header = usize::from(packet[0] & 0x0f) * 4;
    let end = usize::from(word(packet, 2)?);
    // More fragments, or an offset.
    let is_fragment = word(packet, 6)? & 0x3fff != 0;
    if header < IPV4_HEADER || end < header || end > packet.len() || is_fragment || *packet.get(9)? != UDP {
        return None;
    }
    let address =
        |at: usize| packet[at..at + 4].first_chunk::<4>().map(|&octets| Ipv4Addr::from(octets).into());
    Some((address(12)?, address(16)?, header, end))
}

fn ipv6(packet: &[u8]) -> Option<(IpAddr, IpAddr, usize, usize)> {
    let end = IPV6_HEADER + usize::from(word(packet, 4)?);
    if end > packet.len() {
        return None;
    }
    let address =
        |at: usize| packet[at..at + 16].first_chunk::<16>().map(|&octets| Ipv6Addr::from(octets).into());
    let (mut next, mut at) = (packet[6], IPV6_HEADER);
    // Each extension header is at least 8 octets long, so the walk ends with the packet.
    while matches!(next, HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS) {
        let [kind, length] = *packet.get(at..end)?.first_chunk()?;
        (next, at) = (kind, at + (usize::from(length) + 1) * 8);
    }
    (next == UDP && at <= end).then_some((address(8)?, address(24)?, at, end))
}

fn word(octets: &[u8], at: usize) -> Option<u16> {
    octets.get(at..)?.first_chunk().map(|&pair| u16::from_be_bytes(pair))
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// The checksum of UDP as RFC 768 sums it, over the pseudo-header too.
    fn checksum(addresses: &[u8], udp: &[u8]) -> u16 {
        let mut octets = addresses.to_vec();
        octets.extend([0, UDP]);
        octets.extend((udp.len() as u16).to_be_bytes());
        octets.extend(udp);
        octets.resize(octets.len().next_multiple_of(2), 0);
        let sum = octets.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum::<u32>();
        let folded = (sum & 0xffff) + (sum >> 16);
        !((folded & 0xffff) + (folded >> 16)) as u16
    }

    fn udp(payload: &[u8], sum: u16) -> Vec<u8> {
        let mut octets = vec![0x10, 0x00, 0x01, 0xbb];
        octets.extend((UDP_HEADER as u16 + payload.len() as u16).to_be_bytes());
        octets.extend(sum.to_be_bytes());
        octets.extend(payload);
        octets
    }

    fn over_ipv4(udp: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend(udp);
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet
    }

    fn over_ipv6(extensions: &[u8], first: u8, udp: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend((extensions.len() as u16 + udp.len() as u16).to_be_bytes());
        packet.extend([first, 64]);
        packet.extend([1; 16]);
        packet.extend([2; 16]);
        packet.extend(extensions);
        packet.extend(udp);
        packet
    }

    #[test]
    fn a_mended_checksum_is_the_one_that_is_summed_anew() {
        let addresses = [10, 0, 0, 1, 10, 0, 0, 2];
        for old in (0..=u16::MAX).step_by(251) {
            for new in (0..=u16::MAX).step_by(509) {
                let mut payload = [0, 0, 7, 8, 9];
                payload[..2].copy_from_slice(&old.to_be_bytes());
                let sum = match checksum(&addresses, &udp(&payload, 0)) {
                    0 => 0xffff,
                    sum => sum,
                };
                let mut packet = over_ipv4(&udp(&payload, sum));
                let located = Located::find(&packet).unwrap();
                located.payload(&mut packet)[..2].copy_from_slice(&new.to_be_bytes());
                located.mend_checksum(&mut packet, old.to_be_bytes());
                // Over header and data a right checksum sums to zero, however zero itself is written.
                assert_eq!(checksum(&addresses, &packet[20..]), 0, "{old:x} to {new:x}");
                assert_ne!(packet[26..28], [0, 0]);
            }
        }
    }

    #[test]
    fn no_checksum_over_ipv4_stays_none() {
        let mut packet = over_ipv4(&udp(&[1, 2, 3], 0));
        let located = Located::find(&packet).unwrap();
        located.payload(&mut packet)[0] = 9;
        located.mend_checksum(&mut packet, [1, 2]);
        assert_eq!(packet[26..28], [0, 0]);
    }

    #[test]
    fn datagrams_are_found_behind_options_and_extension_headers() {
        let mut packet = over_ipv4(&udp(&[1, 2, 3], 0));
        assert_eq!(Located::find(&packet).unwrap().to, SocketAddr::from(([10, 0, 0, 2], 443)));
        assert_eq!(Located::find(&packet).unwrap().payload(&mut packet), [1, 2, 3]);
        let mut with_options = packet.clone();
        with_options[0] = 0x46;
        with_options[3] += 4;
        with_options.splice(20..20, [1, 1, 1, 1]);
        assert_eq!(Located::find(&with_options).unwrap().payload(&mut with_options), [1, 2, 3]);
        let mut options = over_ipv6(&[UDP, 0, 0, 0, 0, 0, 0, 0], HOP_BY_HOP, &udp(&[4, 5], 1));
        assert_eq!(Located::find(&options).unwrap().payload(&mut options), [4, 5]);
        assert_eq!(Located::find(&options).unwrap().from.ip(), IpAddr::from([1u8; 16]));
    }

    #[test]
    fn fragments_other_protocols_and_lengths_that_lie_are_left_alone() {
        let packet = over_ipv4(&udp(&[1, 2, 3], 0));
        let but = |at: usize, octet: u8| {
            let mut other = packet.clone();
            other[at] = octet;
            Located::find(&other)
        };
        assert_eq!(but(6, 0x20), None, "more fragments");
        assert_eq!(but(7, 1), None, "an offset");
        assert_eq!(but(9, 6), None, "TCP");
        assert_eq!(but(0, 0x44), None, "a header of 16 octets");
        assert_eq!(but(0, 0x55), None, "IPv5");
        assert_eq!(but(3, 200), None, "longer than the packet");
        assert_eq!(but(25, 200), None, "UDP longer than its packet");
        assert_eq!(but(25, 7), None, "UDP shorter than its header");
        assert_eq!(
            Located::find(&over_ipv6(&[UDP, 0, 0, 1, 0, 0, 0, 0], 44, &udp(&[1], 1))),
            None,
            "a fragment"
        );
        for end in 0..packet.len() {
            assert_eq!(Located::find(&packet[..end]), None);
        }
    }
}
