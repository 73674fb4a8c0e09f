//! Header before an IP packet in an AAL5 SDU (RFC 2684): none, or the LLC/SNAP header that names IPv4.

use crate::declaration::words;
use core::fmt;

/// The LLC/SNAP header of IPv4 (RFC 2684, 5.1): LLC AA-AA-03, OUI 00-00-00, EtherType 08-00.
pub const LLC_SNAP_IPV4: [u8; 8] = [0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00, 0x08, 0x00];

/// The largest IP packet that hosts send over ATM unless they agree on another \[octets\] (RFC 2225, section 7).
pub const DEFAULT_IP_MTU: usize = 9180;

words! {
    /// How packets are wrapped into AAL5 SDUs; both ends of a connection agree on it at set-up.
    #[derive(Hash)]
    pub enum Encapsulation {
        /// The SDU is the LLC/SNAP header of IPv4 and the packet.
        LlcSnapIpv4 = "llc-snap",
        /// The SDU is the packet: one protocol per connection (RFC 2684, section 6).
        VcMultiplexed = "vc-mux",
    }
}

/// Why an SDU holds no IPv4 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LlcSnapError {
    /// Shorter than the header of 8 octets.
    TooShort {
        /// Octets of the SDU.
        octets: usize,
    },
    /// The LLC header is not that of SNAP, AA-AA-03.
    NotSnap([u8; 3]),
    /// A SNAP header of an organisation's own protocols, not of EtherTypes.
    NotEtherType {
        /// The organisation.
        oui: [u8; 3],
    },
    /// Another protocol than IPv4.
    NotIpv4 {
        /// Its EtherType.
        ethertype: u16,
    },
}

impl Encapsulation {
    /// The octets before the packet.
    pub const fn header(self) -> &'static [u8] {
        match self {
            Encapsulation::VcMultiplexed => &[],
            Encapsulation::LlcSnapIpv4 => &LLC_SNAP_IPV4,
        }
    }

    /// The packet within an SDU. [`super::aal5::Segments::encapsulated`] is the way there.
    ///
    /// ```
    /// use cellrate_proto::wire::{Encapsulation, LlcSnapError};
    /// let sdu = b"\xaa\xaa\x03\x00\x00\x00\x08\x00E...";
    /// assert_eq!(Encapsulation::LlcSnapIpv4.strip(sdu), Ok(&b"E..."[..]));
    /// let arp = b"\xaa\xaa\x03\x00\x00\x00\x08\x06....";
    /// assert_eq!(Encapsulation::LlcSnapIpv4.strip(arp), Err(LlcSnapError::NotIpv4 { ethertype: 0x0806 }));
    /// ```
    ///
    /// # Errors
    /// [`LlcSnapError`] when the header is not that of IPv4; never for [`Encapsulation::VcMultiplexed`], which has
    /// none.
    pub fn strip(self, sdu: &[u8]) -> Result<&[u8], LlcSnapError> {
        if self == Encapsulation::VcMultiplexed {
            return Ok(sdu);
        }
        let Some((header, packet)) = sdu.split_first_chunk::<8>() else {
            return Err(LlcSnapError::TooShort { octets: sdu.len() });
        };
        match *header {
            LLC_SNAP_IPV4 => Ok(packet),
            [0xaa, 0xaa, 0x03, 0, 0, 0, high, low] => {
                Err(LlcSnapError::NotIpv4 { ethertype: u16::from_be_bytes([high, low]) })
            }
            [0xaa, 0xaa, 0x03, a, b, c, ..] => Err(LlcSnapError::NotEtherType { oui: [a, b, c] }),
            [a, b, c, ..] => Err(LlcSnapError::NotSnap([a, b, c])),
        }
    }
}

impl fmt::Display for LlcSnapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LlcSnapError::TooShort { octets } => {
                write!(f, "SDU of {octets} octets is too short for an LLC/SNAP header of 8")
            }
            LlcSnapError::NotSnap([a, b, c]) => {
                write!(f, "LLC header is {a:02x}-{b:02x}-{c:02x}, that of SNAP is aa-aa-03")
            }
            LlcSnapError::NotEtherType { oui: [a, b, c] } => {
                write!(f, "OUI is {a:02x}-{b:02x}-{c:02x}, that of EtherTypes is 00-00-00")
            }
            LlcSnapError::NotIpv4 { ethertype } => {
                write!(f, "EtherType is {ethertype:#06x}, that of IPv4 is 0x0800")
            }
        }
    }
}

impl core::error::Error for LlcSnapError {}

#[cfg(test)]
mod tests {
    use super::*;
    use Encapsulation::{LlcSnapIpv4, VcMultiplexed};
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn each_octet_of_the_header_is_looked_at() {
        let expected = |at| match at {
            0..3 => "LLC",
            3..6 => "OUI",
            _ => "Eth",
        };
        for at in 0..8 {
            let mut sdu = LLC_SNAP_IPV4;
            sdu[at] ^= 1;
            let message = std::format!("{}", LlcSnapIpv4.strip(&sdu).unwrap_err());
            assert!(message.starts_with(expected(at)), "octet {at}: {message}");
        }
    }

    #[test]
    fn a_bare_header_holds_an_empty_packet_and_one_octet_less_is_too_short() {
        assert_eq!(LlcSnapIpv4.strip(&LLC_SNAP_IPV4), Ok(&[][..]));
        assert_eq!(LlcSnapIpv4.strip(&LLC_SNAP_IPV4[..7]), Err(LlcSnapError::TooShort { octets: 7 }));
    }

    proptest! {
        #[test]
        fn a_packet_comes_out_as_it_went_in(packet: Vec<u8>) {
            for encapsulation in [VcMultiplexed, LlcSnapIpv4] {
                let sdu = [encapsulation.header(), &packet].concat();
                prop_assert_eq!(encapsulation.strip(&sdu), Ok(&packet[..]));
            }
        }

        #[test]
        fn random_octets_never_panic(sdu: Vec<u8>) {
            prop_assert_eq!(LlcSnapIpv4.strip(&sdu).is_ok(), sdu.starts_with(&LLC_SNAP_IPV4));
        }
    }
}
