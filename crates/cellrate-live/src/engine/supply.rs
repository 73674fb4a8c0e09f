//! Supplies of a sending end: those that a simulation has too, or the packets of a real host, cut into cells.

use std::collections::VecDeque;

use cellrate_engine::per_vc_queue::PerVcQueue;
use cellrate_engine::supply::{CellSupply, CommonSupply};
use cellrate_proto::wire::{Encapsulation, PAYLOAD_OCTETS, Segments};
use cellrate_proto::{CellRate, Time};

use super::cell::Cell;
use super::exchanges::Answer;

type Payload = [u8; PAYLOAD_OCTETS];

/// The data that one direction of a connection has to send.
#[derive(Debug)]
pub(crate) enum Supply {
    /// One that both worlds have.
    Common(CommonSupply<Cell>),
    Packets(Box<PacketQueue>),
}

impl Supply {
    /// The waiting cell leaves at `now`, number `sequence` of its direction: its payload, and whether it ends its PDU.
    #[inline]
    pub fn take(&mut self, now: Time, sequence: u64) -> (Payload, bool) {
        match self {
            Supply::Packets(queue) => queue.take(),
            Supply::Common(common) => {
                // Of a relayed cell the machine sends what was taken.
                common.take(now);
                (generated(sequence, now), false)
            }
        }
    }

    /// Passes over what should have been sent before `start`: a node that begins late does not send it after all.
    pub fn skip_until(&mut self, start: Time) {
        if let Supply::Common(common) = self {
            common.skip_until(start);
        }
    }

    /// The queue of a virtual source, if this is one's supply.
    pub fn relayed(&self) -> Option<&PerVcQueue<Cell>> {
        if let Supply::Common(common) = self { common.relayed() } else { None }
    }

    /// The queue of relayed cells, to change it.
    pub fn relayed_mut(&mut self) -> Option<&mut PerVcQueue<Cell>> {
        if let Supply::Common(common) = self { common.relayed_mut() } else { None }
    }

    pub fn packets(&self) -> Option<&PacketQueue> {
        if let Supply::Packets(queue) = self { Some(queue) } else { None }
    }

    pub fn packets_mut(&mut self) -> Option<&mut PacketQueue> {
        if let Supply::Packets(queue) = self { Some(queue) } else { None }
    }
}

impl CellSupply for Supply {
    #[inline]
    fn available_from(&self, from: Time) -> Time {
        match self {
            Supply::Common(common) => common.available_from(from),
            Supply::Packets(queue) if queue.cells.is_empty() => Time::NEVER,
            Supply::Packets(_) => from,
        }
    }

    fn waiting(&self, now: Time) -> Option<u64> {
        match self {
            Supply::Common(common) => common.waiting(now),
            Supply::Packets(queue) => Some(queue.waiting_cells()),
        }
    }

    #[inline]
    fn on_acr(&mut self, now: Time, acr: CellRate) {
        if let Supply::Common(common) = self {
            common.on_acr(now, acr);
        }
    }
}

/// A generated cell says which one it is and when it left, so that its receiver knows its delay wherever it is.
fn generated(sequence: u64, now: Time) -> Payload {
    let mut payload = [0; PAYLOAD_OCTETS];
    payload[..8].copy_from_slice(&sequence.to_be_bytes());
    payload[8..16].copy_from_slice(&now.as_ps().to_be_bytes());
    payload
}

/// When a generated cell left its source.
pub(crate) fn departure_of_generated(payload: &Payload) -> Time {
    let mut octets = [0; 8];
    octets.copy_from_slice(&payload[8..16]);
    Time::from_ps(u64::from_be_bytes(octets))
}

/// The queue of a rate-control adapter: packets in, cells out. A packet that does not fit whole is dropped whole.
#[derive(Debug)]
pub(crate) struct PacketQueue {
    cells: VecDeque<(Payload, bool)>,
    /// Answers that the packets carry, if they do.
    answers: VecDeque<Option<Answer>>,
    /// The answer of the packet whose last cell was taken last, given once.
    pub left: Option<Answer>,
    capacity: usize,
    pub counters: PacketCounters,
}

/// Counters of the packets that came to an adapter, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketCounters {
    pub offered: u64,
    /// Found no room.
    pub dropped: u64,
    /// Their last cell has left.
    pub sent: u64,
    pub max_cells: u64,
}

impl PacketQueue {
    /// An empty queue of up to `capacity` cells.
    pub fn new(capacity: usize) -> PacketQueue {
        // A limit that no one will reach is no reason to take the memory for it at once.
        let first = capacity.min(1 << 16);
        PacketQueue {
            cells: VecDeque::with_capacity(first),
            answers: VecDeque::new(),
            left: None,
            capacity,
            counters: PacketCounters::default(),
        }
    }

    /// A packet comes, and what it answers; false if there is no room for all its cells, or it is not a packet AAL5 can
    /// carry.
    pub fn offer(&mut self, packet: &[u8], answer: Option<Answer>) -> bool {
        self.counters.offered += 1;
        match Segments::encapsulated(Encapsulation::LlcSnapIpv4, packet) {
            Ok(segments) if self.cells.len() + segments.len() <= self.capacity => {
                self.cells.extend(segments.map(|segment| (segment.payload, segment.last)));
                self.answers.push_back(answer);
                self.counters.max_cells = self.counters.max_cells.max(self.cells.len() as u64);
                true
            }
            _ => {
                self.counters.dropped += 1;
                false
            }
        }
    }

    #[inline]
    fn take(&mut self) -> (Payload, bool) {
        let Some((payload, last)) = self.cells.pop_front() else {
            unreachable!("a cell is taken only where one waits");
        };
        if last {
            self.counters.sent += 1;
            self.left = self.answers.pop_front().flatten();
        }
        (payload, last)
    }

    /// Cells that have not left.
    pub fn waiting_cells(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Packets of which not every cell has left.
    pub fn waiting_packets(&self) -> u64 {
        self.cells.iter().filter(|(_, last)| *last).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::wire::Reassembler;
    use proptest::prelude::*;

    #[test]
    fn a_packet_without_room_is_dropped_whole() {
        // 552 octets are 12 cells.
        let mut queue = PacketQueue::new(23);
        assert!(queue.offer(&[0x45; 552], None));
        assert!(!queue.offer(&[0x45; 552], None));
        assert!(queue.offer(&[0x45; 400], None), "9 cells still fit");
        assert_eq!((queue.counters.offered, queue.counters.dropped, queue.cells.len()), (3, 1, 21));
        assert_eq!(queue.waiting_packets(), 2);
    }

    #[test]
    fn a_generated_cell_carries_its_departure() {
        let mut supply = Supply::Common(CommonSupply::Nothing);
        let (payload, last) = supply.take(Time::from_ps(42_400_000), 7);
        assert_eq!((departure_of_generated(&payload), last), (Time::from_ps(42_400_000), false));
    }

    proptest! {
        #[test]
        fn packets_come_out_as_they_went_in(packets in proptest::collection::vec(1_usize..3000, 1..8)) {
            let mut queue = PacketQueue::new(10_000);
            for (number, &length) in packets.iter().enumerate() {
                prop_assert!(queue.offer(&vec![number as u8; length], None));
            }
            let mut reassembler = Reassembler::new(4000);
            let mut lengths = Vec::new();
            while !queue.cells.is_empty() {
                let (payload, last) = queue.take();
                if let Some(sdu) = reassembler.push(&payload, last).unwrap() {
                    let packet = Encapsulation::LlcSnapIpv4.strip(sdu.octets).unwrap();
                    prop_assert!(packet.iter().all(|&octet| usize::from(octet) == lengths.len()));
                    lengths.push(packet.len());
                }
            }
            prop_assert_eq!(queue.counters.sent, packets.len() as u64);
            prop_assert_eq!(lengths, packets);
        }
    }
}
