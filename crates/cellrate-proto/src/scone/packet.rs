//! The SCONE packet at the head of a datagram: a long header of QUIC by the invariants (RFC 8999) and nothing behind
//! it.
//!
//! | octets | field |
//! | --- | --- |
//! | 0 | header form (0x80, set), reserved (0x40), high six bits of the rate signal |
//! | 1-4 | version: 0x6f7dc0fd or 0xef7dc0fd, whose highest bit is the lowest of the rate signal |
//! | 5 | length of the destination connection ID, then as many octets |
//! | then 1 | length of the source connection ID, then as many octets |

use alloc::vec::Vec;
use core::fmt;

use super::RateSignal;

const LONG_HEADER: u8 = 0x80;
const RESERVED: u8 = 0x40;
/// The version but for its highest bit.
const VERSION: u32 = 0x6f7d_c0fd;
const VERSION_BITS: u32 = 0x7fff_ffff;
const FIXED_OCTETS: usize = 5;

/// A SCONE packet, as it was read from the head of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SconePacket<'a> {
    /// Advice of the elements passed so far.
    pub signal: RateSignal,
    /// Destination connection ID, that of the other packets of the datagram.
    pub destination: &'a [u8],
    /// Source connection ID, that of the next packet, or empty where that has a short header.
    pub source: &'a [u8],
    /// Octets behind it: the packets that it came with.
    pub rest: &'a [u8],
}

/// Why the head of a datagram is not a SCONE packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketError {
    /// The first octet is not that of a long header.
    ShortHeader,
    /// A long header of another version of QUIC.
    OtherVersion(u32),
    /// The datagram ends within the packet.
    Truncated,
    /// Nothing follows it. Such a packet is never believed, since no other packet vouches for it.
    Alone,
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketError::ShortHeader => f.write_str("the first packet has no long header"),
            PacketError::OtherVersion(version) => write!(f, "version 0x{version:08x} is not SCONE's"),
            PacketError::Truncated => f.write_str("the datagram ends within the packet"),
            PacketError::Alone => f.write_str("no other packet follows in the datagram"),
        }
    }
}

impl core::error::Error for PacketError {}

impl<'a> SconePacket<'a> {
    /// Reads the SCONE packet that a datagram begins with.
    ///
    /// # Errors
    /// [`PacketError`], for whatever begins otherwise; connection IDs may have any length up to 255 octets.
    pub fn parse(datagram: &'a [u8]) -> Result<SconePacket<'a>, PacketError> {
        let signal = signal_of(datagram)?;
        let (destination, rest) = connection_id(&datagram[FIXED_OCTETS..]).ok_or(PacketError::Truncated)?;
        let (source, rest) = connection_id(rest).ok_or(PacketError::Truncated)?;
        if rest.is_empty() {
            return Err(PacketError::Alone);
        }
        Ok(SconePacket { signal, destination, source, rest })
    }
}

/// Octets of a SCONE packet with these connection IDs, of which each has at most 255 octets; `None` where one is
/// longer.
///
/// Endpoints send it with [`RateSignal::UNKNOWN`].
///
/// ```
/// use cellrate_proto::scone::RateSignal;
/// use cellrate_proto::scone::packet::{SconePacket, emit};
/// let mut datagram = emit(RateSignal::UNKNOWN, &[1, 2, 3], &[]).unwrap();
/// assert_eq!(datagram, [0xff, 0xef, 0x7d, 0xc0, 0xfd, 3, 1, 2, 3, 0]);
/// datagram.push(0x40); // a packet with a short header follows
/// assert_eq!(SconePacket::parse(&datagram).unwrap().signal, RateSignal::UNKNOWN);
/// ```
pub fn emit(signal: RateSignal, destination: &[u8], source: &[u8]) -> Option<Vec<u8>> {
    let lengths = [u8::try_from(destination.len()).ok()?, u8::try_from(source.len()).ok()?];
    let version = VERSION | u32::from(signal.as_u8() & 1) << 31;
    let mut octets = Vec::with_capacity(FIXED_OCTETS + 2 + destination.len() + source.len());
    octets.push(LONG_HEADER | RESERVED | signal.as_u8() >> 1);
    octets.extend(version.to_be_bytes());
    for (length, id) in lengths.into_iter().zip([destination, source]) {
        octets.push(length);
        octets.extend(id);
    }
    Some(octets)
}

/// Writes a signal into the first two octets of a datagram that begins with a SCONE packet; all else stays.
pub(super) fn write_signal(datagram: &mut [u8], signal: RateSignal) {
    let bits = signal.as_u8();
    datagram[0] = (datagram[0] & (LONG_HEADER | RESERVED)) | bits >> 1;
    datagram[1] = (datagram[1] & 0x7f) | bits << 7;
}

fn signal_of(datagram: &[u8]) -> Result<RateSignal, PacketError> {
    let [first, rest @ ..] = datagram else { return Err(PacketError::Truncated) };
    if first & LONG_HEADER == 0 {
        return Err(PacketError::ShortHeader);
    }
    let (version, _) = rest.split_first_chunk().ok_or(PacketError::Truncated)?;
    let version = u32::from_be_bytes(*version);
    if version & VERSION_BITS != VERSION {
        return Err(PacketError::OtherVersion(version));
    }
    Ok(RateSignal::from_bits((first & 0x3f) << 1 | (version >> 31) as u8))
}

/// A connection ID behind its length, and what follows.
fn connection_id(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = octets.split_first()?;
    rest.split_at_checked(usize::from(length))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn every_signal_and_length_survives_the_wire() {
        for signal in (0..=127).map(RateSignal::from_bits) {
            for (destination, source) in [(0, 0), (8, 0), (20, 20), (255, 255)] {
                let (destination, source) = (vec![0xaa; destination], vec![0x55; source]);
                let mut datagram = emit(signal, &destination, &source).unwrap();
                datagram.extend([0x40, 9]);
                let packet =
                    SconePacket { signal, destination: &destination, source: &source, rest: &[0x40, 9] };
                assert_eq!(SconePacket::parse(&datagram), Ok(packet));
            }
        }
        assert_eq!(emit(RateSignal::UNKNOWN, &[0; 256], &[]), None);
    }

    #[test]
    fn what_begins_otherwise_is_refused_with_its_reason() {
        let whole = emit(RateSignal::UNKNOWN, &[1, 2], &[3]).unwrap();
        assert_eq!(SconePacket::parse(&whole), Err(PacketError::Alone));
        for end in 0..whole.len() {
            assert_eq!(SconePacket::parse(&whole[..end]), Err(PacketError::Truncated), "{end}");
        }
        assert_eq!(SconePacket::parse(&[0x40, 0, 0, 0, 1, 0]), Err(PacketError::ShortHeader));
        assert_eq!(SconePacket::parse(&[0xc0, 0, 0, 0, 1, 0, 0, 0]), Err(PacketError::OtherVersion(1)));
    }
}
