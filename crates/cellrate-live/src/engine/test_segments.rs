//! TCP segments over IPv4, for tests of what adapters make of them.

/// A segment between two ends, each an address and a port.
#[derive(Clone, Copy)]
pub(super) struct TestSegment<'a> {
    pub from: ([u8; 4], u16),
    pub to: ([u8; 4], u16),
    /// Sequence number and acknowledgement number.
    pub numbers: [u32; 2],
    pub window: u16,
    pub flags: u8,
    pub options: &'a [u8],
    /// Octets of the application.
    pub payload: usize,
}

impl TestSegment<'_> {
    /// The segment that the other end would send.
    pub fn turned(self) -> Self {
        TestSegment { from: self.to, to: self.from, ..self }
    }

    /// Its packet, with the right checksum of TCP.
    pub fn packet(&self) -> Vec<u8> {
        let header = 20 + self.options.len();
        let length = 20 + header + self.payload;
        let mut packet = vec![7; length];
        packet[..12].copy_from_slice(&[0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 6, 0, 0]);
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[12..16].copy_from_slice(&self.from.0);
        packet[16..20].copy_from_slice(&self.to.0);
        packet[20..22].copy_from_slice(&self.from.1.to_be_bytes());
        packet[22..24].copy_from_slice(&self.to.1.to_be_bytes());
        packet[24..28].copy_from_slice(&self.numbers[0].to_be_bytes());
        packet[28..32].copy_from_slice(&self.numbers[1].to_be_bytes());
        packet[32] = (header / 4 * 16) as u8;
        packet[33] = self.flags;
        packet[34..36].copy_from_slice(&self.window.to_be_bytes());
        packet[36..40].fill(0);
        packet[40..20 + header].copy_from_slice(self.options);
        let sum = checksum(&packet);
        packet[36..38].copy_from_slice(&sum.to_be_bytes());
        packet
    }
}

/// The checksum of a TCP segment with its pseudo header; zero where it has the right one.
pub(super) fn checksum(packet: &[u8]) -> u16 {
    let mut octets = packet[12..].to_vec();
    octets.extend([0, 6]);
    octets.extend((packet.len() as u16 - 20).to_be_bytes());
    // The pseudo header is of whole words, so an odd payload is padded before it.
    let pseudo = octets.split_off(octets.len() - 4);
    if octets.len() % 2 == 1 {
        octets.push(0);
    }
    octets.extend(pseudo);
    let sum: u32 = octets.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
