//! TCP of a host as its adapter lets it out: with a window that is clamped and ACKs that are held back, where the host
//! is to look like one of another time.
//!
//! Linux neither keeps to a window of one segment nor waits with an ACK for as long as older systems did. So the
//! adapter does it for the host, in the packets that come out of it: it takes the window scale option out of a SYN,
//! lowers the window of what follows, and keeps an ACK without data until its time has come, or another segment has.
//! The host itself acknowledges every segment at once then. What is sent has its checksum put right (RFC 1624).
//!
//! A clamped window is of whole segments, where it holds one: Linux would send a few octets into what is left beside
//! them. The ACK that ends the handshake offers twice as much, and a SYN what the host says: a sender takes the largest
//! window that it has seen since for the receiver's buffer, and Linux cuts its segments to half of that. So two
//! segments may come at first where later ones come alone.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use cellrate_proto::Time;
use cellrate_scenario::{AdapterTcp, DelayedAck};

/// Connections that are remembered at once; more are let through as they are.
pub(super) const MOST_CONNECTIONS: usize = 10_000;
pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const RST: u8 = 4;
pub(super) const ACK: u8 = 16;
/// Bits of the flags that do not make an ACK more than an ACK: PSH, and those of ECN.
const MEANINGLESS: u8 = 8 | 64 | 128;

/// An adapter's treatment of the TCP of its host.
#[derive(Debug)]
pub(crate) struct Edge {
    settings: AdapterTcp,
    connections: BTreeMap<Key, Connection>,
    /// ACKs that were never sent, because a later one told more.
    pub withheld: u64,
}

/// Name of a TCP connection at its host: the peer's address, the host's own port and the peer's.
pub(super) type Key = (Ipv4Addr, u16, u16);

/// One end of a TCP connection.
#[derive(Debug)]
struct Connection {
    /// The largest segment that the host takes \[octets\].
    mss: u32,
    /// The acknowledgement number that was sent last, once the handshake is over.
    acknowledged: Option<u32>,
    /// The window that the host offered last.
    window: u16,
    held: Option<Held>,
}

/// An ACK that waits.
#[derive(Debug)]
struct Held {
    packet: Vec<u8>,
    /// The adapter that it goes to.
    adapter: u32,
    number: u32,
    due: Time,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It goes on, changed or not.
    Sent,
    /// It is kept, or told nothing new.
    Kept,
}

impl Edge {
    pub fn new(settings: AdapterTcp) -> Edge {
        Edge { settings, connections: BTreeMap::new(), withheld: 0 }
    }

    /// The host sends `packet` at `now`, which goes to `adapter`; it may be changed.
    pub fn on_packet(&mut self, now: Time, adapter: u32, packet: &mut [u8]) -> Verdict {
        let Some(segment) = Segment::find(packet) else { return Verdict::Sent };
        let flags = segment.flags(packet);
        let key = segment.key(packet);
        if flags & SYN != 0 {
            if self.connections.len() < MOST_CONNECTIONS || self.connections.contains_key(&key) {
                let mss = segment.largest(packet);
                if self.settings.window.is_some() {
                    segment.take_out_window_scale(packet);
                }
                let window = segment.window(packet);
                self.connections.insert(key, Connection { mss, acknowledged: None, window, held: None });
            }
            return Verdict::Sent;
        }
        let Some(connection) = self.connections.get_mut(&key) else { return Verdict::Sent };
        let offered = segment.window(packet);
        let before = std::mem::replace(&mut connection.window, offered);
        let number = segment.acknowledgement(packet);
        // The largest window that gets out.
        let most = self.settings.window.map_or(u32::from(u16::MAX), |most| {
            let most = u32::from(most);
            if most >= connection.mss { most - most % connection.mss } else { most }
        });
        let least = |window: u16, most: u32| u32::from(window).min(most) as u16;
        let Some(acknowledged) = connection.acknowledged else {
            connection.acknowledged = Some(number);
            segment.set_window(packet, least(offered, 2 * most));
            return Verdict::Sent;
        };
        let clamped = |window: u16| least(window, most);
        segment.set_window(packet, clamped(offered));
        if flags & (FIN | RST) != 0 {
            self.withheld += u64::from(connection.held.is_some());
            self.connections.remove(&key);
            return Verdict::Sent;
        }
        let is_ack = segment.is_ack_alone(packet);
        let Some(delayed) = self.settings.delayed_ack.filter(|_| is_ack) else {
            self.withheld += u64::from(connection.held.take().is_some());
            connection.acknowledged = Some(number);
            return Verdict::Sent;
        };
        if let Some(held) = &mut connection.held {
            if number == held.number && offered != before {
                // It tells of room, and of nothing that has come.
                self.withheld += 1;
                held.packet = packet.to_vec();
                return Verdict::Kept;
            }
            // A second segment has come, or one out of order.
            self.withheld += 1;
            connection.held = None;
            connection.acknowledged = Some(number);
            return Verdict::Sent;
        }
        let news = number.wrapping_sub(acknowledged);
        if news == 0 && offered != before && clamped(offered) == clamped(before) {
            // It would look like a segment out of order.
            self.withheld += 1;
            return Verdict::Kept;
        }
        if news == 0 || news > u32::MAX / 2 || news >= 2 * connection.mss {
            connection.acknowledged =
                Some(acknowledged.wrapping_add(if news > u32::MAX / 2 { 0 } else { news }));
            return Verdict::Sent;
        }
        connection.held = Some(Held { packet: packet.to_vec(), adapter, number, due: expiry(delayed, now) });
        Verdict::Kept
    }

    /// When the first ACK that is kept has to leave; never if none is.
    pub fn due(&self) -> Time {
        self.connections
            .values()
            .filter_map(|connection| connection.held.as_ref())
            .map(|held| held.due)
            .min()
            .unwrap_or(Time::NEVER)
    }

    /// An ACK whose time has come by `now`, and its adapter.
    pub fn release(&mut self, now: Time) -> Option<(u32, Vec<u8>)> {
        let connection = self
            .connections
            .values_mut()
            .find(|connection| connection.held.as_ref().is_some_and(|held| held.due <= now))?;
        let held = connection.held.take()?;
        connection.acknowledged = Some(held.number);
        Some((held.adapter, held.packet))
    }

    /// ACKs that wait.
    #[cfg(test)]
    fn kept(&self) -> u64 {
        self.connections.values().filter(|connection| connection.held.is_some()).count() as u64
    }
}

/// When an ACK leaves that is delayed from `now` on.
fn expiry(delayed: DelayedAck, now: Time) -> Time {
    let (at, period) = match delayed {
        DelayedAck::EverySegment => return now,
        DelayedAck::Timer(timer) => return now.saturating_add(timer),
        DelayedAck::Heartbeat(period) => (now, period),
        DelayedAck::TimerOnTicks { timer, ticks } => (now.saturating_add(timer), ticks),
    };
    Time::from_ps(at.as_ps().div_ceil(period.as_ps()).saturating_mul(period.as_ps()))
}

/// Places of a TCP segment in the IPv4 packet that it came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// Where its header begins, and ends.
    at: usize,
    end: usize,
    /// Octets of the application.
    pub payload: usize,
}

impl Segment {
    /// The segment in `packet`, if that is one of TCP over IPv4 and no fragment.
    pub fn find(packet: &[u8]) -> Option<Segment> {
        let at = usize::from(packet.first()? & 15) * 4;
        let is_tcp = packet[0] >> 4 == 4 && *packet.get(9)? == 6;
        let is_fragment = be16(packet, 6) & 0x3fff != 0;
        let total = usize::from(be16(packet, 2));
        let end = at + usize::from(*packet.get(at + 12)? >> 4) * 4;
        let is_whole = at >= 20 && end >= at + 20 && end <= total && total <= packet.len();
        (is_tcp && !is_fragment && is_whole).then(|| Segment { at, end, payload: total - end })
    }

    /// Names the connection of a packet that its host sends: the destination's address, the source port and the
    /// destination port.
    pub fn key(self, packet: &[u8]) -> Key {
        let address = Ipv4Addr::new(packet[16], packet[17], packet[18], packet[19]);
        (address, be16(packet, self.at), be16(packet, self.at + 2))
    }

    /// Key of the connection as its receiver has it: the sender's address, and the receiver's port first.
    pub fn key_of_receiver(self, packet: &[u8]) -> Key {
        let address = Ipv4Addr::new(packet[12], packet[13], packet[14], packet[15]);
        (address, be16(packet, self.at + 2), be16(packet, self.at))
    }

    /// Sequence number behind its payload.
    pub fn next_sequence(self, packet: &[u8]) -> u32 {
        be32(packet, self.at + 4).wrapping_add(self.payload as u32)
    }

    /// Whether it begins or ends a connection, in its direction.
    pub fn begins(self, packet: &[u8]) -> bool {
        self.flags(packet) & SYN != 0
    }

    /// Whether it is an ACK and nothing more.
    pub fn is_ack_alone(self, packet: &[u8]) -> bool {
        self.payload == 0 && self.flags(packet) & !MEANINGLESS == ACK
    }

    pub fn flags(self, packet: &[u8]) -> u8 {
        packet[self.at + 13]
    }

    pub fn acknowledgement(self, packet: &[u8]) -> u32 {
        be32(packet, self.at + 8)
    }

    pub fn window(self, packet: &[u8]) -> u16 {
        be16(packet, self.at + 14)
    }

    pub fn set_window(self, packet: &mut [u8], window: u16) {
        self.set(packet, self.at + 14, window);
    }

    /// The MSS option of a SYN; 536 octets without (RFC 9293).
    fn largest(self, packet: &[u8]) -> u32 {
        self.option(packet, 2, 4).map_or(536, |at| u32::from(be16(packet, at + 2)))
    }

    fn take_out_window_scale(self, packet: &mut [u8]) {
        if let Some(at) = self.option(packet, 3, 3) {
            for place in at..at + 3 {
                // A word at a time, as the checksum has it.
                let start = self.at + (place - self.at) / 2 * 2;
                let mut word = be16(packet, start).to_be_bytes();
                word[place - start] = 1;
                self.set(packet, start, u16::from_be_bytes(word));
            }
        }
    }

    /// Where the option of this kind and length stands.
    pub fn option(self, packet: &[u8], kind: u8, length: usize) -> Option<usize> {
        let mut at = self.at + 20;
        while at < self.end {
            match packet[at] {
                0 => return None,
                1 => at += 1,
                found => {
                    let octets = usize::from(*packet.get(at + 1)?);
                    if octets < 2 || at + octets > self.end {
                        return None;
                    }
                    if found == kind && octets == length {
                        return Some(at);
                    }
                    at += octets;
                }
            }
        }
        None
    }

    /// Writes a word of the header, and has the checksum fit (RFC 1624, equation 3).
    fn set(self, packet: &mut [u8], at: usize, word: u16) {
        let before = be16(packet, at);
        packet[at..at + 2].copy_from_slice(&word.to_be_bytes());
        let place = self.at + 16;
        let sum = u32::from(!be16(packet, place)) + u32::from(!before) + u32::from(word);
        let folded = (sum & 0xffff) + (sum >> 16);
        let folded = (folded & 0xffff) + (folded >> 16);
        packet[place..place + 2].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    }
}

fn be16(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

fn be32(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::super::test_segments::{TestSegment, checksum};
    use super::*;
    use cellrate_proto::Duration;

    const MS: u64 = 1_000_000_000;

    /// A packet of a client with this acknowledgement number, window, flags, options and payload.
    fn packet(ack: u32, window: u16, flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
        let (from, to) = (([10, 0, 0, 1], 0x1234), ([10, 0, 0, 2], 80));
        TestSegment { from, to, numbers: [99, ack], window, flags, options, payload }.packet()
    }

    const SYN_OPTIONS: [u8; 12] = [2, 4, 0x23, 0xb4, 1, 3, 3, 7, 4, 2, 1, 1];

    fn edge() -> Edge {
        let timer = Duration::from_ms(50);
        let delayed_ack = Some(DelayedAck::TimerOnTicks { timer, ticks: Duration::from_ms(10) });
        Edge::new(AdapterTcp { window: Some(9148), delayed_ack, ..AdapterTcp::default() })
    }

    /// An edge whose host has had its handshake, and has acknowledged 1000.
    fn connected() -> Edge {
        let mut edge = edge();
        let mut syn = packet(0, 64_240, SYN, &SYN_OPTIONS, 0);
        assert_eq!(edge.on_packet(Time::ZERO, 0, &mut syn), Verdict::Sent);
        let mut last = packet(1000, 64_240, ACK, &[], 0);
        assert_eq!(edge.on_packet(Time::ZERO, 0, &mut last), Verdict::Sent);
        assert_eq!((be16(&last, 34), checksum(&last)), (2 * 9140, 0), "half of it is a segment");
        edge
    }

    fn sends(edge: &mut Edge, at: u64, ack: u32, window: u16, payload: usize) -> Verdict {
        edge.on_packet(Time::from_ps(at), 3, &mut packet(ack, window, ACK, &[], payload))
    }

    #[test]
    fn windows_are_clamped_scaling_is_taken_out_and_checksums_fit() {
        let mut edge = edge();
        let mut syn = packet(0, 64_240, SYN, &SYN_OPTIONS, 0);
        edge.on_packet(Time::ZERO, 0, &mut syn);
        assert_eq!(syn[40..52], [2, 4, 0x23, 0xb4, 1, 1, 1, 1, 4, 2, 1, 1]);
        assert_eq!((checksum(&syn), be16(&syn, 34)), (0, 64_240));
        edge.on_packet(Time::ZERO, 0, &mut packet(1000, 64_240, ACK, &[], 0));
        for payload in [0, 5, 100] {
            let mut request = packet(1000, 64_000, ACK | 8, &[], payload);
            edge.on_packet(Time::ZERO, 0, &mut request);
            assert_eq!((checksum(&request), be16(&request, 34)), (0, 9140), "{payload}");
        }
        let mut small = packet(1000, 3000, ACK | 8, &[], 9);
        edge.on_packet(Time::ZERO, 0, &mut small);
        assert_eq!(be16(&small, 34), 3000, "one that is smaller stays");
    }

    #[test]
    fn a_single_segment_is_acknowledged_at_a_tick_and_a_second_one_at_once() {
        let mut edge = connected();
        assert_eq!(sends(&mut edge, 3 * MS, 10_140, 60_000, 0), Verdict::Kept);
        assert_eq!(edge.due(), Time::from_ps(60 * MS), "the first tick not before 53 ms");
        assert_eq!(edge.release(Time::from_ps(60 * MS - 1)), None);
        let (adapter, ack) = edge.release(Time::from_ps(60 * MS)).expect("it is due");
        assert_eq!((adapter, be32(&ack, 28), be16(&ack, 34), checksum(&ack)), (3, 10_140, 9140, 0));
        assert_eq!(edge.due(), Time::NEVER);
        assert_eq!(sends(&mut edge, 70 * MS, 19_280, 60_000, 0), Verdict::Kept);
        assert_eq!(sends(&mut edge, 71 * MS, 28_420, 60_000, 0), Verdict::Sent, "a second segment");
        assert_eq!((edge.due(), edge.withheld), (Time::NEVER, 1));
        assert_eq!(sends(&mut edge, 72 * MS, 46_700, 60_000, 0), Verdict::Sent, "two segments in one ACK");
    }

    #[test]
    fn data_take_an_ack_along_and_so_does_the_end() {
        let mut edge = connected();
        assert_eq!(sends(&mut edge, MS, 10_140, 60_000, 0), Verdict::Kept);
        assert_eq!(sends(&mut edge, 2 * MS, 10_140, 60_000, 40), Verdict::Sent);
        assert_eq!((edge.due(), edge.kept()), (Time::NEVER, 0));
        assert_eq!(sends(&mut edge, 3 * MS, 19_280, 60_000, 0), Verdict::Kept);
        let mut end = packet(19_281, 60_000, ACK | FIN, &[], 0);
        assert_eq!(edge.on_packet(Time::from_ps(4 * MS), 3, &mut end), Verdict::Sent);
        assert_eq!((edge.kept(), edge.withheld), (0, 2));
        assert_eq!(
            sends(&mut edge, 5 * MS, 30_000, 60_000, 0),
            Verdict::Sent,
            "nothing is known of it any more"
        );
    }

    #[test]
    fn duplicates_go_at_once_and_news_of_room_alone_do_not_look_like_them() {
        let mut edge = connected();
        assert_eq!(sends(&mut edge, MS, 1000, 64_240, 0), Verdict::Sent, "a segment out of order has come");
        assert_eq!(sends(&mut edge, MS, 1000, 50_000, 0), Verdict::Kept, "above the clamp both are one");
        assert_eq!(sends(&mut edge, MS, 1000, 4000, 0), Verdict::Sent, "there is less room than that");
        assert_eq!(sends(&mut edge, 2 * MS, 10_140, 4000, 0), Verdict::Kept);
        assert_eq!(
            sends(&mut edge, 3 * MS, 10_140, 60_000, 0),
            Verdict::Kept,
            "the host's buffer is empty again"
        );
        assert_eq!(sends(&mut edge, 4 * MS, 10_140, 60_000, 0), Verdict::Sent, "one after it is missing");
        assert_eq!(edge.due(), Time::NEVER);
        assert_eq!(sends(&mut edge, 5 * MS, 9000, 60_000, 0), Verdict::Sent, "an old one");
    }

    #[test]
    fn other_packets_are_left_alone() {
        let mut edge = edge();
        for mut other in [vec![], vec![0x45; 10], vec![0x60; 60], vec![0x45; 60]] {
            let before = other.clone();
            assert_eq!(edge.on_packet(Time::ZERO, 0, &mut other), Verdict::Sent);
            assert_eq!(other, before);
        }
        let mut unknown = packet(5, 64_240, ACK, &[], 0);
        let before = unknown.clone();
        assert_eq!(edge.on_packet(Time::ZERO, 0, &mut unknown), Verdict::Sent);
        assert_eq!(unknown, before, "its window may be scaled");
    }

    #[test]
    fn acks_leave_by_the_clock_that_the_system_had() {
        let at = |delayed| expiry(delayed, Time::from_ps(7 * MS)).as_ps();
        let [ten, fifty, beat] = [10, 50, 200].map(Duration::from_ms);
        assert_eq!(at(DelayedAck::EverySegment), 7 * MS);
        assert_eq!(at(DelayedAck::Timer(fifty)), 57 * MS);
        assert_eq!(at(DelayedAck::Heartbeat(beat)), 200 * MS);
        assert_eq!(at(DelayedAck::TimerOnTicks { timer: fifty, ticks: ten }), 60 * MS);
        assert_eq!(
            expiry(DelayedAck::TimerOnTicks { timer: fifty, ticks: ten }, Time::ZERO).as_ps(),
            50 * MS
        );
    }
}
