//! Response times by cells: for each TCP connection that a host answers, when the request came and the answer left.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use cellrate_proto::Time;

use super::edge::Segment;

/// Connections of a host that are kept.
const MOST: usize = 10_000;

/// The client's address and both ports, the server's first.
type Key = (Ipv4Addr, u16, u16);

/// Requests that came to a host over TCP, and what it answered.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    /// Open ones.
    open: BTreeMap<Key, usize>,
    all: Vec<Exchange>,
}

/// A connection over which data came before the host sent any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub client: (Ipv4Addr, u16),
    pub port: u16,
    /// When the last cell of the first data came.
    pub request_delivered: Time,
    /// When the last cell of all the data so far left the adapter; `None` if there were none.
    pub response_departed: Option<Time>,
    /// Octets of the answer so far, without those sent again.
    pub octets: u64,
    /// Sequence number behind them.
    next: Option<u32>,
}

/// Data that a packet adds to an answer, told when its last cell leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    key: Key,
    next: u32,
    octets: u32,
}

impl Exchanges {
    /// `packet` came to the host at `now`.
    pub fn on_delivery(&mut self, now: Time, packet: &[u8]) {
        let Some(segment) = Segment::find(packet) else { return };
        let key = segment.key_of_receiver(packet);
        if segment.begins(packet) {
            self.open.remove(&key);
        } else if segment.payload > 0 && !self.open.contains_key(&key) && self.all.len() < MOST {
            self.open.insert(key, self.all.len());
            self.all.push(Exchange {
                client: (key.0, key.2),
                port: key.1,
                request_delivered: now,
                response_departed: None,
                octets: 0,
                next: None,
            });
        }
    }

    /// The answer that the host's `packet` carries, if it is one to a request.
    pub fn answer(&self, packet: &[u8]) -> Option<Answer> {
        let segment = Segment::find(packet).filter(|segment| segment.payload > 0)?;
        let key = segment.key(packet);
        self.open.contains_key(&key).then(|| Answer {
            key,
            next: segment.next_sequence(packet),
            octets: segment.payload as u32,
        })
    }

    /// The last cell of the packet with `answer` leaves at `now`.
    pub fn on_departure(&mut self, now: Time, answer: Answer) {
        let Some(exchange) = self.open.get(&answer.key).and_then(|&place| self.all.get_mut(place)) else {
            return;
        };
        let before = exchange.next.unwrap_or(answer.next.wrapping_sub(answer.octets));
        let more = answer.next.wrapping_sub(before);
        // Octets that are sent again are nothing new.
        if (1..=u32::MAX / 2).contains(&more) {
            exchange.octets += u64::from(more);
            exchange.next = Some(answer.next);
            exchange.response_departed = Some(now);
        }
    }

    /// Exchanges that were answered, in the order of their requests.
    pub fn answered(&self) -> impl Iterator<Item = &Exchange> {
        self.all.iter().filter(|exchange| exchange.response_departed.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_segments::TestSegment;
    use super::*;

    const SYN: u8 = 2;
    const ACK: u8 = 16;

    /// A segment from the client to the server's port 80, or back.
    fn segment(back: bool, sequence: u32, flags: u8, payload: usize) -> Vec<u8> {
        let (from, to) = (([10, 0, 0, 2], 4000), ([10, 0, 0, 1], 80));
        let asked = TestSegment { from, to, numbers: [sequence, 0], window: 0, flags, options: &[], payload };
        if back { asked.turned().packet() } else { asked.packet() }
    }

    fn at(us: u64) -> Time {
        Time::from_ps(us * 1_000_000)
    }

    #[test]
    fn an_answer_lasts_from_the_request_to_the_last_cell_of_what_is_new() {
        let mut server = Exchanges::default();
        server.on_delivery(at(1), &segment(false, 0, SYN, 0));
        server.on_delivery(at(2), &segment(false, 1, ACK, 0));
        assert_eq!(server.answer(&segment(true, 500, ACK, 100)), None, "nobody has asked");
        server.on_delivery(at(3), &segment(false, 1, ACK, 80));
        server.on_delivery(at(4), &segment(false, 81, ACK, 5));
        assert_eq!(server.answered().count(), 0);
        for (now, sequence, payload) in [(10, 500, 100), (20, 600, 50), (30, 500, 100), (40, 650, 0)] {
            if let Some(answer) = server.answer(&segment(true, sequence, ACK, payload)) {
                server.on_departure(at(now), answer);
            }
        }
        let [one]: [Exchange; 1] = server.answered().copied().collect::<Vec<_>>().try_into().expect("one");
        assert_eq!((one.request_delivered, one.response_departed, one.octets), (at(3), Some(at(20)), 150));
        assert_eq!((one.client.1, one.port), (4000, 80));
        // A second connection between these ports.
        server.on_delivery(at(50), &segment(false, 0, SYN, 0));
        server.on_delivery(at(51), &segment(false, 1, ACK, 80));
        let answer = server.answer(&segment(true, u32::MAX, ACK, 4)).expect("it answers");
        server.on_departure(at(60), answer);
        let last = server.answered().last().copied().expect("two");
        assert_eq!((last.request_delivered, last.response_departed, last.octets), (at(51), Some(at(60)), 4));
    }
}
