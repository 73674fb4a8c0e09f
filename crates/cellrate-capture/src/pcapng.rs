//! pcapng: one section, an interface per port, packets with stamps in nanoseconds (draft-ietf-opsawg-pcapng).
//!
//! ```text
//! block     type 4 | total length 4 | body, padded to 4 | total length 4
//! option    code 2 | length 2 | value, padded to 4;  a list ends with four zeros
//! ```
//!
//! Numbers are little-endian, which the byte-order magic of the section header says.

use std::io::{self, BufWriter, Write};
use std::net::Ipv4Addr;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

const COMMENT: u16 = 1;
const USER_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_SPEED: u16 = 8;
const TIMESTAMP_RESOLUTION: u16 = 9;
const PACKETS_RECEIVED: u16 = 4;
const PACKETS_DROPPED: u16 = 5;
const IPV4_RECORD: u16 = 1;

/// 10^-9 s.
const NANOSECONDS: u8 = 9;
/// Options have a 16-bit length.
const MAX_OPTION_OCTETS: usize = u16::MAX as usize;
/// All the memory that a writer takes, besides a block of options at a time.
const BUFFER_OCTETS: usize = 1 << 18;
/// Lengths and type around the body of a block.
const FRAME_OCTETS: usize = 12;
/// Octets of an enhanced packet block before its packet.
const PACKET_HEADER_OCTETS: usize = 20;

/// An interface, numbered in the order of description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, as Wireshark shows and filters it (`frame.interface_name`).
    pub name: String,
    /// Its link type, such as [`super::erf::LINK_TYPE`].
    pub link_type: u16,
    /// Its speed \[bit/s\], if known.
    pub bits_per_s: Option<u64>,
}

/// Writes one section to `out`, through a buffer of bounded size.
///
/// ```
/// use cellrate_capture::{erf, pcapng};
/// let port = pcapng::Interface { name: "sw1->sw2".into(), link_type: erf::LINK_TYPE, bits_per_s: None };
/// let mut writer = pcapng::Writer::new(Vec::new(), "", &[port], &[])?;
/// writer.packet(0, 2_831, &[&erf::cell(2_831, [0, 0, 2, 0], &[0; 48])], 68, Some("the first"))?;
/// let octets = writer.finish(&[])?;
/// assert_eq!(octets.len() % 4, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: BufWriter<W>,
    octets: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a section: `comment` says what it is, if not empty (cut at 65535 octets); `hosts` gives names to
    /// addresses.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(
        out: W,
        comment: &str,
        interfaces: &[Interface],
        hosts: &[(Ipv4Addr, String)],
    ) -> io::Result<Writer<W>> {
        let mut writer = Writer { out: BufWriter::with_capacity(BUFFER_OCTETS, out), octets: 0 };
        let mut body = Vec::new();
        body.extend_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
        body.extend_from_slice(&[1, 0, 0, 0]); // version 1.0
        body.extend_from_slice(&(-1_i64).to_le_bytes()); // the section's length is not known yet
        if !comment.is_empty() {
            option(&mut body, COMMENT, comment.as_bytes());
        }
        option(&mut body, USER_APPLICATION, concat!("cellrate ", env!("CARGO_PKG_VERSION")).as_bytes());
        end_of_options(&mut body);
        writer.block(SECTION_HEADER, &body)?;
        for Interface { name, link_type, bits_per_s } in interfaces {
            body.clear();
            body.extend_from_slice(&u32::from(*link_type).to_le_bytes());
            body.extend_from_slice(&0_u32.to_le_bytes()); // packets of any length
            option(&mut body, INTERFACE_NAME, name.as_bytes());
            if let Some(speed) = bits_per_s {
                option(&mut body, INTERFACE_SPEED, &speed.to_le_bytes());
            }
            option(&mut body, TIMESTAMP_RESOLUTION, &[NANOSECONDS]);
            end_of_options(&mut body);
            writer.block(INTERFACE_DESCRIPTION, &body)?;
        }
        if !hosts.is_empty() {
            body.clear();
            for (address, name) in hosts {
                let record: Vec<u8> =
                    address.octets().iter().chain(name.as_bytes()).chain(&[0]).copied().collect();
                option(&mut body, IPV4_RECORD, &record);
            }
            end_of_options(&mut body);
            writer.block(NAME_RESOLUTION, &body)?;
        }
        Ok(writer)
    }

    /// A packet of `interface`, seen at `instant_ns` \[ns since 1970\], in `pieces` that stand one after the other;
    /// `octets_on_wire` is more than there are where it was cut.
    ///
    /// # Errors
    /// What `out` says.
    pub fn packet(
        &mut self,
        interface: u32,
        instant_ns: u64,
        pieces: &[&[u8]],
        octets_on_wire: u32,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let captured: usize = pieces.iter().map(|piece| piece.len()).sum();
        let total = (packet_octets(captured, comment) as u32).to_le_bytes();
        self.put(&ENHANCED_PACKET.to_le_bytes())?;
        self.put(&total)?;
        self.put(&interface.to_le_bytes())?;
        self.put(&((instant_ns >> 32) as u32).to_le_bytes())?;
        self.put(&(instant_ns as u32).to_le_bytes())?;
        self.put(&(captured as u32).to_le_bytes())?;
        self.put(&octets_on_wire.to_le_bytes())?;
        for piece in pieces {
            self.put(piece)?;
        }
        self.put(&[0; 3][..padding(captured)])?;
        if let Some(comment) = comment {
            let mut options = Vec::new();
            option(&mut options, COMMENT, comment.as_bytes());
            end_of_options(&mut options);
            self.put(&options)?;
        }
        self.put(&total)
    }

    /// Octets written so far, those in the buffer included.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Ends the section, with how many packets each interface saw and how many of them are not here, and gives `out`
    /// back.
    ///
    /// # Errors
    /// What `out` says.
    pub fn finish(mut self, counts: &[PacketCounts]) -> io::Result<W> {
        for &PacketCounts { interface, until_ns, seen, left_out } in counts {
            let mut body = Vec::new();
            body.extend_from_slice(&interface.to_le_bytes());
            body.extend_from_slice(&((until_ns >> 32) as u32).to_le_bytes());
            body.extend_from_slice(&(until_ns as u32).to_le_bytes());
            option(&mut body, PACKETS_RECEIVED, &seen.to_le_bytes());
            option(&mut body, PACKETS_DROPPED, &left_out.to_le_bytes());
            end_of_options(&mut body);
            self.block(INTERFACE_STATISTICS, &body)?;
        }
        self.out.flush()?;
        self.out.into_inner().map_err(io::IntoInnerError::into_error)
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let total = ((FRAME_OCTETS + body.len()) as u32).to_le_bytes();
        self.put(&kind.to_le_bytes())?;
        self.put(&total)?;
        self.put(body)?;
        self.put(&total)
    }

    #[inline]
    fn put(&mut self, octets: &[u8]) -> io::Result<()> {
        self.octets += octets.len() as u64;
        self.out.write_all(octets)
    }
}

/// Packets that an interface saw, written at the end of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketCounts {
    /// Number of the interface.
    pub interface: u32,
    /// When it was last looked at \[ns since 1970\].
    pub until_ns: u64,
    /// Packets seen.
    pub seen: u64,
    /// Packets seen that were not written.
    pub left_out: u64,
}

/// Octets of the block of a packet with `captured` octets.
pub fn packet_octets(captured: usize, comment: Option<&str>) -> usize {
    let options = comment.map_or(0, |comment| {
        let value = comment.len().min(MAX_OPTION_OCTETS);
        4 + value.next_multiple_of(4) + 4
    });
    FRAME_OCTETS + PACKET_HEADER_OCTETS + captured.next_multiple_of(4) + options
}

fn padding(octets: usize) -> usize {
    octets.next_multiple_of(4) - octets
}

/// An option, or a record of the same shape. A text that is too long is cut between two characters.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let mut length = value.len().min(MAX_OPTION_OCTETS);
    while length < value.len() && length > 0 && value[length] & 0xc0 == 0x80 {
        length -= 1;
    }
    let value = &value[..length];
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    body.extend_from_slice(&[0; 3][..padding(value.len())]);
}

fn end_of_options(body: &mut Vec<u8>) {
    body.extend_from_slice(&[0; 4]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Type and body of every block; the two lengths of each must agree.
    pub fn blocks(mut octets: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let number = |octets: &[u8]| u32::from_le_bytes(octets.try_into().unwrap());
        let mut blocks = Vec::new();
        while !octets.is_empty() {
            let total = number(&octets[4..8]) as usize;
            assert_eq!(number(&octets[total - 4..total]) as usize, total);
            blocks.push((number(&octets[..4]), octets[8..total - 4].to_vec()));
            octets = &octets[total..];
        }
        blocks
    }

    fn interface(name: &str) -> Interface {
        Interface { name: name.into(), link_type: 197, bits_per_s: Some(149_760_000) }
    }

    #[test]
    fn a_section_begins_with_its_header_and_its_interfaces() {
        let writer = Writer::new(Vec::new(), "why", &[interface("a"), interface("sw1.p2")], &[]).unwrap();
        let octets = writer.finish(&[]).unwrap();
        assert_eq!(octets[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
        let blocks = blocks(&octets);
        assert_eq!(blocks.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [0x0a0d_0d0a, 1, 1]);
        assert_eq!(blocks[0].1[..8], [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
        assert_eq!(blocks[0].1[16..24], [1, 0, 3, 0, b'w', b'h', b'y', 0]);
        let second = &blocks[2].1;
        assert_eq!(second[..12], [197, 0, 0, 0, 0, 0, 0, 0, 2, 0, 6, 0]);
        assert_eq!(&second[12..20], b"sw1.p2\0\0");
        assert_eq!(
            second[20..32],
            [8, 0, 8, 0, 0x00, 0x28, 0xed, 0x08, 0, 0, 0, 0],
            "149760000 = 0x08ed2800"
        );
        assert_eq!(second[32..], [9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0], "nanoseconds; end");
    }

    #[test]
    fn hosts_and_counts_have_blocks_of_their_own() {
        let hosts = [(Ipv4Addr::new(10, 0, 0, 1), "s1".to_owned())];
        let writer = Writer::new(Vec::new(), "", &[interface("a")], &hosts).unwrap();
        let counts = PacketCounts { interface: 0, until_ns: 1 << 32, seen: 7, left_out: 2 };
        let blocks = blocks(&writer.finish(&[counts]).unwrap());
        assert_eq!(blocks[2], (4, vec![1, 0, 7, 0, 10, 0, 0, 1, b's', b'1', 0, 0, 0, 0, 0, 0]));
        let (kind, body) = &blocks[3];
        assert_eq!((*kind, &body[..12]), (5, &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0][..]));
        assert_eq!(body[12..24], [4, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(body[24..36], [5, 0, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_comment_that_is_too_long_ends_between_two_characters() {
        let long = "é".repeat(40_000);
        let octets = Writer::new(Vec::new(), &long, &[], &[]).unwrap().finish(&[]).unwrap();
        let (_, body) = &blocks(&octets)[0];
        assert_eq!(body[18..20], 65_534_u16.to_le_bytes());
        assert!(std::str::from_utf8(&body[20..20 + 65_534]).is_ok());
    }

    proptest! {
        #[test]
        fn a_packet_is_read_back_as_it_was_written(
            packet in proptest::collection::vec(any::<u8>(), 0..200), cut: proptest::sample::Index,
            instant_ns: u64, comment in proptest::option::of("[a-zé]{0,9}"),
        ) {
            let mut writer = Writer::new(Vec::new(), "", &[interface("a")], &[]).unwrap();
            let before = writer.octets();
            let (left, right) = packet.split_at(cut.index(packet.len() + 1));
            writer.packet(0, instant_ns, &[left, right], 500, comment.as_deref()).unwrap();
            let octets = writer.octets() - before;
            prop_assert_eq!(octets, packet_octets(packet.len(), comment.as_deref()) as u64);
            let blocks = blocks(&writer.finish(&[]).unwrap());
            let (kind, body) = &blocks[2];
            prop_assert_eq!(*kind, 6);
            let number = |at: usize| u64::from(u32::from_le_bytes(body[at..at + 4].try_into().unwrap()));
            prop_assert_eq!(number(4) << 32 | number(8), instant_ns);
            prop_assert_eq!((number(12), number(16)), (packet.len() as u64, 500));
            prop_assert_eq!(&body[20..20 + packet.len()], &packet[..]);
            let options = &body[20 + packet.len().next_multiple_of(4)..];
            match comment {
                None => prop_assert!(options.is_empty()),
                Some(text) => prop_assert_eq!(&options[4..4 + text.len()], text.as_bytes()),
            }
        }
    }
}
