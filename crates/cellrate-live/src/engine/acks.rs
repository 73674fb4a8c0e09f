//! ACKs on their way through an adapter to the TCP of its host, which they tell of the adapter's rate or queue.
//!
//! Explicit rates end at the adapter, and what TCP's window lets out beyond ACR waits there. Linux needs no change to
//! hear of it: the adapter writes a window into the ACKs that ACR carries in a round trip (explicit window adaptation,
//! ATM Forum 98-0152), or holds ACKs until few cells wait (after Narvaez and Siu, An acknowledgment bucket scheme,
//! GLOBECOM 1997; the threshold on the queue is ours). The simulator's adapters do both likewise, with TCP at their
//! side; here the kernel answers an ACK at some later wake-up of the engine.

use std::collections::{BTreeMap, VecDeque};

use cellrate_proto::wire::{Encapsulation, cells_for};
use cellrate_proto::{CellRate, Cells, Duration, Octets, Time};
use cellrate_scenario::ArrivingAcks;

use super::edge::{ACK, FIN, Key, MOST_CONNECTIONS, RST, SYN, Segment};

/// Packets that are held at most; then the first one passes.
const MOST_HELD: usize = 10_000;
/// Time within which a host answers an ACK with data, if it has any: some wake-ups of the engine (ours).
const ANSWER: Duration = Duration::from_ms(5);
/// The largest shift of window scaling (RFC 7323, section 2.3).
const LARGEST_SHIFT: u8 = 14;

/// The ACKs that come over one VC.
#[derive(Debug)]
pub(crate) struct Acks {
    treatment: ArrivingAcks,
    connections: BTreeMap<Key, Connection>,
    held: VecDeque<Vec<u8>>,
    /// Cells of the data that ACKs which have passed let the host send, and which have not come from it.
    expected: u64,
    /// When nothing is expected any more.
    answered: Time,
    /// Everything that the host sent before this has been taken in.
    taken_in: Time,
    /// ACKs whose window was lowered.
    pub windows_written: u64,
    /// ACKs that were held.
    pub acks_held: u64,
}

/// A TCP connection, with what its host sends.
#[derive(Debug)]
struct Connection {
    /// Whether the host's own SYN has window scaling.
    scales: bool,
    /// The shift of the peer's windows, from its SYN.
    shift: u8,
    /// Sequence number behind the last octet sent, and that of the first one that is not acknowledged.
    next: u32,
    acknowledged: u32,
    /// Octets of data in the largest segment, and the cells of its packet.
    segment: (u32, u32),
    is_over: bool,
    /// Packets that are held.
    held: u32,
    /// Window that the last ACK had, and the one written into it.
    offered: u16,
    told: u16,
}

/// Fate of a packet that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It passes, changed or not.
    Passes,
    /// It is held.
    Held,
}

impl Acks {
    /// ACKs that are treated so; `None` where they pass as they come.
    pub fn new(treatment: ArrivingAcks) -> Option<Acks> {
        (treatment != ArrivingAcks::Passed).then(|| Acks {
            treatment,
            connections: BTreeMap::new(),
            held: VecDeque::new(),
            expected: 0,
            answered: Time::ZERO,
            taken_in: Time::ZERO,
            windows_written: 0,
            acks_held: 0,
        })
    }

    /// Whether a rate is needed.
    pub fn goes_by_rate(&self) -> bool {
        matches!(self.treatment, ArrivingAcks::Window(_))
    }

    /// Everything that the host sent before `taken_in` has been taken in. An engine that is late runs ahead of that,
    /// and the host has had no chance to answer what passes meanwhile.
    pub fn on_taken_in(&mut self, taken_in: Time) {
        self.taken_in = taken_in;
    }

    /// The host sends `packet`.
    pub fn on_sent(&mut self, packet: &[u8]) {
        let Some(segment) = Segment::find(packet) else { return };
        let (key, flags) = (segment.key(packet), segment.flags(packet));
        let next = segment.next_sequence(packet).wrapping_add(u32::from(flags & (SYN | FIN) != 0));
        if flags & SYN != 0 {
            if self.connections.len() < MOST_CONNECTIONS || self.connections.contains_key(&key) {
                // A server's SYN follows the client's.
                let shift = self.connections.get(&key).map_or(0, |before| before.shift);
                let scales = segment.option(packet, 3, 3).is_some();
                self.connections.insert(key, Connection { scales, shift, next, ..Connection::new(next) });
            }
            return;
        }
        if flags & RST != 0 {
            self.connections.remove(&key);
            return;
        }
        let Some(connection) = self.connections.get_mut(&key) else { return };
        connection.is_over |= flags & FIN != 0;
        if is_after(next, connection.next) {
            connection.next = next;
        }
        if segment.payload > 0 {
            let cells = cells_for(Octets(packet.len() as u64), Encapsulation::LlcSnapIpv4).0;
            self.expected = self.expected.saturating_sub(cells);
            let (octets, _) = connection.segment;
            if segment.payload as u32 > octets {
                connection.segment = (segment.payload as u32, cells as u32);
            }
        }
    }

    /// `packet` has come for the host at `now`, while ACR is so much and so many cells wait in the adapter.
    pub fn on_arrival(
        &mut self,
        now: Time,
        packet: &mut [u8],
        acr: Option<CellRate>,
        waiting: u64,
    ) -> Arrival {
        let Some(segment) = Segment::find(packet) else { return Arrival::Passes };
        let (key, flags) = (segment.key_of_receiver(packet), segment.flags(packet));
        if flags & SYN != 0 {
            let shift = segment.option(packet, 3, 3).map_or(0, |at| packet[at + 2].min(LARGEST_SHIFT));
            if flags & ACK != 0 {
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.shift = shift;
                    connection.acknowledged = segment.acknowledgement(packet);
                }
            } else if self.connections.len() < MOST_CONNECTIONS {
                self.connections.insert(key, Connection { shift, ..Connection::new(0) });
            }
            return Arrival::Passes;
        }
        if flags & RST != 0 {
            self.connections.remove(&key);
            return Arrival::Passes;
        }
        if !self.connections.contains_key(&key) || flags & ACK == 0 {
            return Arrival::Passes;
        }
        match (self.treatment, acr) {
            (ArrivingAcks::Window(round_trip), Some(acr)) => {
                let carried = acr.cells_in(round_trip) / self.with_data(&key);
                if let Some(connection) = self.connections.get_mut(&key) {
                    self.windows_written += u64::from(connection.write(segment, packet, carried));
                    if connection.is_over && connection.next == connection.acknowledged {
                        self.connections.remove(&key);
                    }
                }
                Arrival::Passes
            }
            (ArrivingAcks::Held(_), _) => {
                // Nothing overtakes an ACK of its connection.
                let waits = if segment.is_ack_alone(packet) {
                    !(self.held.is_empty() && self.has_room(waiting))
                } else {
                    self.connections.get(&key).is_some_and(|connection| connection.held > 0)
                };
                if !waits {
                    self.note_passing(now, packet);
                    return Arrival::Passes;
                }
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.held += 1;
                }
                self.acks_held += 1;
                self.held.push_back(packet.to_vec());
                Arrival::Held
            }
            _ => Arrival::Passes,
        }
    }

    /// The next ACK that may pass at `now`, while so many cells wait.
    pub fn release(&mut self, now: Time, waiting: u64) -> Option<Vec<u8>> {
        if !(self.held.len() > MOST_HELD || self.has_room(waiting)) {
            return None;
        }
        let packet = self.held.pop_front()?;
        if let Some(segment) = Segment::find(&packet)
            && let Some(connection) = self.connections.get_mut(&segment.key_of_receiver(&packet))
        {
            connection.held = connection.held.saturating_sub(1);
        }
        self.note_passing(now, &packet);
        Some(packet)
    }

    /// Whether any is held.
    pub fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// When those that are held may pass for want of an answer to those before; never if none is.
    pub fn due(&self) -> Time {
        if self.holds_any() && self.expected > 0 { self.answered } else { Time::NEVER }
    }

    /// Number of connections with data on their way, that of `key` among them.
    fn with_data(&self, key: &Key) -> f64 {
        let on_their_way =
            self.connections.iter().filter(|&(other, of)| other == key || of.next != of.acknowledged);
        on_their_way.count().max(1) as f64
    }

    fn has_room(&mut self, waiting: u64) -> bool {
        let ArrivingAcks::Held(Cells(mark)) = self.treatment else { return true };
        if self.taken_in >= self.answered {
            self.expected = 0;
        }
        waiting + self.expected < mark
    }

    /// An ACK passes, for which the host may send as much as it acknowledges.
    fn note_passing(&mut self, now: Time, packet: &[u8]) {
        let Some(segment) = Segment::find(packet) else { return };
        let key = segment.key_of_receiver(packet);
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let news = connection.acknowledge(segment.acknowledgement(packet));
        let (octets, cells) = connection.segment;
        if octets > 0 && news > 0 {
            self.expected += u64::from(news.div_ceil(octets)) * u64::from(cells);
            self.answered = now.saturating_add(ANSWER);
        }
        if connection.is_over && connection.next == connection.acknowledged {
            self.connections.remove(&key);
        }
    }
}

impl Connection {
    fn new(next: u32) -> Connection {
        Connection {
            scales: false,
            shift: 0,
            next,
            acknowledged: next,
            segment: (0, 0),
            is_over: false,
            held: 0,
            offered: 0,
            told: 0,
        }
    }

    /// Everything before `number` is acknowledged: the octets of it that were not before.
    fn acknowledge(&mut self, number: u32) -> u32 {
        if !is_after(number, self.acknowledged) {
            return 0;
        }
        let news = number.wrapping_sub(self.acknowledged);
        self.acknowledged = number;
        news
    }

    /// Writes what `carried` cells take of this connection's data as the window of an ACK; whether that lowers it. One
    /// that acknowledges nothing new and offers as much as the one before keeps the window of that, or TCP would not
    /// see it as a duplicate (RFC 5681, section 2).
    fn write(&mut self, segment: Segment, packet: &mut [u8], carried: f64) -> bool {
        let offered = segment.window(packet);
        let news = self.acknowledge(segment.acknowledgement(packet));
        let before = std::mem::replace(&mut self.offered, offered);
        let (octets, cells) = self.segment;
        if octets == 0 {
            self.told = offered;
            return false;
        }
        if news > 0 || offered != before {
            let unit = 1_u64 << if self.scales { self.shift } else { 0 };
            let least = u64::from(octets).div_ceil(unit);
            let allowed = (carried * f64::from(octets) / f64::from(cells)) as u64 / unit;
            self.told = u64::from(offered).min(allowed.max(least)) as u16;
        }
        segment.set_window(packet, self.told);
        self.told < offered
    }
}

/// Whether a sequence number is after another one.
fn is_after(number: u32, other: u32) -> bool {
    (1..=u32::MAX / 2).contains(&number.wrapping_sub(other))
}

#[cfg(test)]
mod tests {
    use super::super::test_segments::{TestSegment, checksum};
    use super::*;

    const SCALED: &[u8] = &[2, 4, 5, 180, 1, 3, 3, 7, 4, 2, 1, 1];
    const MS: u64 = 1_000_000_000;

    /// A segment of the host's connection, which the host sends or its peer does.
    fn segment(
        is_sent: bool,
        numbers: [u32; 2],
        window: u16,
        flags: u8,
        options: &[u8],
        payload: usize,
    ) -> Vec<u8> {
        let (from, to) = (([10, 0, 0, 1], 0x1234), ([10, 0, 0, 2], 80));
        let sent = TestSegment { from, to, numbers, window, flags, options, payload };
        if is_sent { sent.packet() } else { sent.turned().packet() }
    }

    /// ACKs of a host whose connection has had its handshake, and which has sent 60 segments of 1448 octets, of 32
    /// cells each: octets 1 to 86,880.
    fn sending(treatment: ArrivingAcks) -> Acks {
        let mut acks = Acks::new(treatment).expect("they are treated");
        acks.on_sent(&segment(true, [0, 0], 64_240, SYN, SCALED, 0));
        let mut answer = segment(false, [500, 1], 65_160, SYN | ACK, SCALED, 0);
        let before = answer.clone();
        assert_eq!(acks.on_arrival(Time::ZERO, &mut answer, acr(32_000.0), 0), Arrival::Passes);
        assert_eq!(answer, before, "a SYN stays as it is");
        (0..60).for_each(|n| acks.on_sent(&segment(true, [1 + 1448 * n, 501], 502, ACK, &[], 1448)));
        acks
    }

    fn acr(rate: f64) -> Option<CellRate> {
        Some(CellRate::new(rate))
    }

    /// The window of an ACK as it passes.
    fn window(acks: &mut Acks, number: u32, offered: u16, rate: f64) -> u16 {
        let mut packet = segment(false, [501, number], offered, ACK, &[], 0);
        assert_eq!(acks.on_arrival(Time::ZERO, &mut packet, acr(rate), 1000), Arrival::Passes);
        assert_eq!(checksum(&packet), 0);
        Segment::find(&packet).expect("it is one").window(&packet)
    }

    #[test]
    fn the_window_is_what_acr_carries_in_a_round_trip_in_steps_of_the_peer() {
        // 1448 octets are 32 cells; 32,000 cells/s for 20 ms are 640 cells, 20 segments of 1448: 226 * 128 and 32.
        let mut acks = sending(ArrivingAcks::Window(Duration::from_ms(20)));
        assert_eq!(window(&mut acks, 1449, 500, 32_000.0), 226);
        assert_eq!(window(&mut acks, 2897, 500, 16_000.0), 113);
        assert_eq!(window(&mut acks, 2897, 500, 32_000.0), 113, "a duplicate stays one");
        assert_eq!(window(&mut acks, 2897, 499, 32_000.0), 226, "news of the receiver's room is none");
        assert_eq!(window(&mut acks, 4345, 500, 10.0), 12, "a segment at least: 11.3 steps");
        assert_eq!(window(&mut acks, 5793, 500, 1e9), 500, "and never more than the receiver offers");
        assert_eq!(acks.windows_written, 5);
    }

    #[test]
    fn connections_with_data_on_their_way_have_equal_parts() {
        let mut acks = sending(ArrivingAcks::Window(Duration::from_ms(20)));
        let other = |packet: Vec<u8>, at: usize| {
            let mut packet = packet;
            packet[at + 1] = 0x35;
            packet
        };
        acks.on_sent(&other(segment(true, [0, 0], 64_240, SYN, SCALED, 0), 20));
        assert_eq!(window(&mut acks, 1449, 500, 32_000.0), 226, "it has none");
        acks.on_sent(&other(segment(true, [1, 501], 502, ACK, &[], 1448), 20));
        assert_eq!(window(&mut acks, 2897, 500, 32_000.0), 113);
        let mut last = other(segment(false, [501, 1449], 500, ACK, &[], 0), 22);
        acks.on_arrival(Time::ZERO, &mut last, acr(32_000.0), 0);
        assert_eq!(window(&mut acks, 4345, 500, 32_000.0), 226, "all of it has come");
    }

    #[test]
    fn windows_without_scaling_are_octets() {
        let mut acks = Acks::new(ArrivingAcks::Window(Duration::from_ms(20))).expect("they are treated");
        acks.on_sent(&segment(true, [0, 0], 64_240, SYN, &[2, 4, 5, 180], 0));
        acks.on_arrival(Time::ZERO, &mut segment(false, [500, 1], 65_160, SYN | ACK, SCALED, 0), None, 0);
        acks.on_sent(&segment(true, [1, 501], 502, ACK, &[], 1448));
        assert_eq!(window(&mut acks, 1449, 65_000, 32_000.0), 28_960);
    }

    fn arrives(acks: &mut Acks, at: u64, number: u32, waiting: u64) -> Arrival {
        let mut packet = segment(false, [501, number], 500, ACK, &[], 0);
        acks.on_taken_in(Time::from_ps(at));
        acks.on_arrival(Time::from_ps(at), &mut packet, acr(1.0), waiting)
    }

    #[test]
    fn acks_are_held_while_cells_wait_or_are_expected() {
        let mut acks = sending(ArrivingAcks::Held(Cells(100)));
        assert_eq!(arrives(&mut acks, 0, 1449, 100), Arrival::Held);
        assert_eq!(arrives(&mut acks, 0, 2897, 0), Arrival::Held, "it does not overtake");
        assert_eq!(acks.release(Time::ZERO, 100), None);
        let first = acks.release(Time::ZERO, 99).expect("99 wait");
        assert_eq!(Segment::find(&first).expect("it is one").acknowledgement(&first), 1449);
        // 32 cells are expected for it.
        assert_eq!(acks.release(Time::ZERO, 68), None);
        assert_eq!(acks.due(), Time::from_ps(5 * MS));
        acks.on_sent(&segment(true, [86_881, 501], 502, ACK, &[], 1448));
        assert!(acks.release(Time::ZERO, 99).is_some(), "they have come");
        assert_eq!((acks.release(Time::ZERO, 0), acks.acks_held, acks.due()), (None, 2, Time::NEVER));
    }

    #[test]
    fn a_host_that_has_no_more_to_send_holds_nothing_up() {
        let mut acks = sending(ArrivingAcks::Held(Cells(20)));
        assert_eq!(arrives(&mut acks, 0, 1449, 0), Arrival::Passes);
        assert_eq!(arrives(&mut acks, MS, 2897, 0), Arrival::Held, "32 cells are expected");
        let late = Time::from_ps(20 * MS);
        acks.on_taken_in(Time::from_ps(5 * MS - 1));
        assert_eq!(acks.release(late, 0), None, "what it has sent meanwhile is not taken in");
        acks.on_taken_in(Time::from_ps(5 * MS));
        assert!(acks.release(late, 0).is_some());
    }

    #[test]
    fn data_and_the_end_of_a_connection_wait_behind_its_acks_and_no_others() {
        let mut acks = sending(ArrivingAcks::Held(Cells(100)));
        let mut data = segment(false, [501, 1449], 500, ACK, &[], 10);
        assert_eq!(acks.on_arrival(Time::ZERO, &mut data, None, 100), Arrival::Passes, "no ACK is held");
        assert_eq!(arrives(&mut acks, 0, 2897, 100), Arrival::Held);
        let mut end = segment(false, [511, 4345], 500, ACK | FIN, &[], 0);
        assert_eq!(acks.on_arrival(Time::ZERO, &mut end, None, 100), Arrival::Held);
        acks.on_sent(&{
            let mut syn = segment(true, [0, 0], 64_240, SYN, SCALED, 0);
            syn[21] = 0x35;
            syn
        });
        let mut other = segment(false, [501, 1], 500, ACK, &[], 10);
        other[23] = 0x35;
        assert_eq!(
            acks.on_arrival(Time::ZERO, &mut other, None, 100),
            Arrival::Passes,
            "of another connection"
        );
        assert!(acks.release(Time::ZERO, 67).is_some_and(|packet| packet.len() == 40));
        assert_eq!(acks.release(Time::ZERO, 36), None, "64 cells are expected");
        assert!(acks.release(Time::ZERO, 35).is_some());
        acks.on_sent(&segment(true, [86_881, 512], 502, ACK | FIN, &[], 0));
        assert_eq!(arrives(&mut acks, 9 * MS, 86_882, 0), Arrival::Passes);
        assert_eq!(acks.connections.len(), 1, "it is over");
    }
}
