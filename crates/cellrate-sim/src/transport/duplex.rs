//! One end of a TCP connection with data both ways: what opens it, and a sender and a receiver that share its segments.
//!
//! ```text
//!   client                          server
//!   Opening  -- SYN ------------->  (comes to be) Opening
//!   Open     <------- SYN, ACK ---
//!            -- ACK, data ------->  Open
//! ```
//!
//! SYN takes no place in the streams, whose positions count octets only. Without handshake both ends are open at once.
//! A delayed ACK rides on data; one that is due leaves before them, by itself, as a kernel sends it before the
//! application has its turn. There is no FIN: what an end wants to tell when it closes, it says by [`Duplex::close`].

use cellrate_proto::{Octets, Time};
use cellrate_scenario::TcpConfig;

use super::receiver::Receiver;
use super::rto::RtoEstimator;
use super::segment::{Acknowledgment, Flags, Heading, Packet};
use super::sender::Sender;

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Duplex {
    incarnation: u32,
    role: Role,
    /// `None` once open.
    opening: Option<Opening>,
    sender: Sender,
    receiver: Receiver,
    /// Whether both ends have ECN.
    ecn: bool,
}

/// Which of the two ends it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one that opens.
    Client,
    /// The one that waits for that.
    Server,
}

/// Until the other end has answered SYN.
#[derive(Clone, Debug)]
struct Opening {
    rto: RtoEstimator,
    /// Whether SYN is to be sent now.
    due: bool,
    /// When it was sent first, and whether that was the only time.
    sent: Option<(Time, bool)>,
    timer: Time,
}

impl Duplex {
    /// An end with nothing to send. `own` is how it sends, `other` how the other end does.
    pub fn new(
        role: Role,
        incarnation: u32,
        [own, other]: [&TcpConfig; 2],
        handshake: bool,
        now: Time,
    ) -> Duplex {
        // Both have to say on SYN that they use them (RFC 7323, section 3.2; RFC 3168, section 6.1.1).
        let (timestamps, ecn) = (own.timestamps && other.timestamps, own.ecn && other.ecn);
        let [own, other] = [own, other].map(|tcp| TcpConfig { timestamps, ecn, ..tcp.clone() });
        let opening = || Opening {
            rto: RtoEstimator::new(own.timeout),
            due: role == Role::Client,
            sent: None,
            timer: Time::NEVER,
        };
        Duplex {
            incarnation,
            role,
            opening: handshake.then(opening),
            sender: Sender::supplied(&own, now),
            receiver: Receiver::new(&other),
            ecn,
        }
    }

    /// The application has more to send.
    pub fn write(&mut self, octets: Octets) {
        self.sender.supply(octets);
    }

    /// The application has all it wants: what has come is acknowledged now, as the FIN of the other end would be.
    pub fn close(&mut self) {
        self.receiver.acknowledge_what_waits();
    }

    /// A segment of this connection has come in, whose packet was `marked` on its way or not.
    pub fn on_packet(&mut self, now: Time, packet: &Packet, marked: bool) {
        if packet.synchronize {
            self.receiver.on_opening(packet.heading);
        }
        match (&mut self.opening, self.role, packet.synchronize) {
            // SYN, or SYN again because the answer to it was lost.
            (Some(opening), Role::Server, true) => opening.due = true,
            (None, Role::Server, true) => {}
            (Some(_), Role::Client, true) => {
                self.open(now);
                self.receiver.acknowledge();
            }
            (None, Role::Client, true) => self.receiver.acknowledge(),
            (Some(_), Role::Server, false) => self.open(now),
            // Nothing can come before the answer to SYN but what the line has lost the answer before.
            (Some(_), Role::Client, false) => return,
            (None, _, false) => {}
        }
        if let Some(ack) = &packet.acknowledgment {
            // With data it is not a duplicate (RFC 5681, section 2).
            let tells = packet.data.is_none() && !packet.synchronize;
            if tells || ack.next > self.sender.una() {
                let flags = packet.heading.flags;
                // In the answer to SYN ECE says something else (RFC 3168, section 6.1.1).
                let flags = if packet.synchronize { flags.without(Flags::ECE) } else { flags };
                self.sender.on_answer(now, ack, Heading { flags, ..packet.heading });
            }
        }
        if let Some(span) = packet.data {
            self.receiver.on_segment(now, span, packet.heading.come(marked));
        }
    }

    /// The other end has answered: the connection is open. If SYN was sent once, its round trip is known.
    fn open(&mut self, now: Time) {
        match self.opening.take() {
            Some(Opening { sent: Some((sent, true)), .. }) => self.sender.on_round_trip(sent, now),
            Some(Opening { sent: Some((_, false)), .. }) => self.sender.on_opening_lost(),
            _ => {}
        }
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        if let Some(opening) = &mut self.opening {
            if opening.timer <= now {
                opening.timer = Time::NEVER;
                opening.rto.back_off();
                opening.due = true;
            }
            return;
        }
        self.sender.on_timer(now);
        self.receiver.on_timer(now);
    }

    /// When to come back.
    pub fn next_timer(&self) -> Time {
        match &self.opening {
            Some(opening) => opening.timer,
            None => self.sender.next_timer().min(self.receiver.next_timer()),
        }
    }

    /// The next segment to leave. Without `data` none that carries any: ACKs and SYN only.
    pub fn poll_transmit(&mut self, now: Time, data: bool) -> Option<Packet> {
        let incarnation = self.incarnation;
        if let Some(opening) = &mut self.opening {
            if !opening.due {
                return None;
            }
            opening.due = false;
            opening.sent = Some(opening.sent.map_or((now, true), |(first, _)| (first, false)));
            opening.timer = opening.rto.expires(now);
            let acknowledgment = (self.role == Role::Server).then(|| self.receiver.ride());
            let flags = Flags::ECE.with(Flags::CWR, self.role == Role::Client);
            let heading = self.heading(now);
            let heading = Heading { flags: heading.flags.with(flags, self.ecn), ..heading };
            return Some(Packet { synchronize: true, acknowledgment, heading, ..Packet::empty(incarnation) });
        }
        if let Some(ack) = self.receiver.poll_transmit() {
            let heading = self.heading(now);
            return Some(Packet { acknowledgment: Some(ack), heading, ..Packet::empty(incarnation) });
        }
        let span = if data { self.sender.poll_transmit(now)? } else { return None };
        let acknowledgment: Option<Acknowledgment> = Some(self.receiver.ride());
        let heading = self.heading(now);
        let heading = Heading { flags: heading.flags.with(self.sender.heading().flags, true), ..heading };
        Some(Packet { acknowledgment, data: Some(span), heading, ..Packet::empty(incarnation) })
    }

    /// The heading of a segment, by both halves.
    fn heading(&self, now: Time) -> Heading {
        Heading { value: self.sender.rto().clock(now), ..self.receiver.heading() }
    }

    /// Whether the handshake is over.
    pub fn is_open(&self) -> bool {
        self.opening.is_none()
    }

    /// Which of its client's connections it is, from 0 on.
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Marked segments that have come.
    pub fn marked(&self) -> u64 {
        self.receiver.marked()
    }

    /// Octets that the application has read.
    pub fn delivered(&self) -> Octets {
        self.receiver.delivered()
    }

    /// The sending half.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Blocks, Sequence, Span};
    use cellrate_proto::Duration;
    use cellrate_scenario::Preset;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn ends(handshake: bool) -> [Duplex; 2] {
        let tcp = Preset::named("solaris-2.4").expect("it is there").tcp();
        [Role::Client, Role::Server].map(|role| Duplex::new(role, 0, [&tcp, &tcp], handshake, Time::ZERO))
    }

    /// Brings the packets that an end sends now to the other at `ms`.
    fn bring(from: &mut Duplex, to: &mut Duplex, sent_ms: u64, ms: u64) -> Vec<Packet> {
        let packets: Vec<Packet> = std::iter::from_fn(|| from.poll_transmit(at(sent_ms), true)).collect();
        packets.iter().for_each(|packet| to.on_packet(at(ms), packet, false));
        packets
    }

    #[test]
    fn three_segments_open_a_connection_and_its_round_trip_is_measured() {
        let [mut client, mut server] = ends(true);
        client.write(Octets(300));
        let syn = bring(&mut client, &mut server, 0, 10);
        assert!(matches!(syn[..], [Packet { synchronize: true, acknowledgment: None, data: None, .. }]));
        let answer = bring(&mut server, &mut client, 10, 20);
        assert!(matches!(
            answer[..],
            [Packet { synchronize: true, acknowledgment: Some(_), data: None, .. }]
        ));
        assert!(client.is_open() && !server.is_open());
        let third = bring(&mut client, &mut server, 20, 30);
        assert!(matches!(third[..], [Packet { data: None, .. }, Packet { data: Some(_), .. }]), "{third:?}");
        assert!(server.is_open());
        assert_eq!((client.delivered(), server.delivered()), (Octets(0), Octets(300)));
        for end in [&client, &server] {
            assert_eq!(end.sender().rto().smoothed(), Some(Duration::from_ms(20)));
        }
    }

    #[test]
    fn syn_is_sent_again_when_the_timer_says_so_and_not_measured_then() {
        let [mut client, mut server] = ends(true);
        assert!(client.poll_transmit(at(0), true).is_some(), "lost");
        assert_eq!(client.next_timer(), at(1000));
        client.on_timer(at(1000));
        bring(&mut client, &mut server, 1000, 1010);
        assert_eq!(client.next_timer(), at(3000), "twice as long");
        assert!(server.poll_transmit(at(1010), true).is_some(), "lost");
        server.on_timer(at(2010));
        bring(&mut server, &mut client, 2010, 2020);
        bring(&mut client, &mut server, 2020, 2030);
        assert!(client.is_open() && server.is_open());
        assert_eq!(client.sender().rto().smoothed(), None);
        assert_eq!(client.next_timer(), Time::NEVER);
        // SYN and the answer to it were lost: both ends begin with a segment, and wait for three seconds at least.
        for end in [&mut client, &mut server] {
            assert_eq!(end.sender().window(), Octets(1460));
            end.write(Octets(10_000));
            let first = end.poll_transmit(at(2030), true).filter(|packet| packet.data.is_some());
            assert!(
                first.is_some()
                    && end.poll_transmit(at(2030), true).is_none_or(|packet| packet.data.is_none())
            );
            assert_eq!(end.sender().next_timer(), at(5030));
        }
    }

    #[test]
    fn without_handshake_data_leaves_at_once() {
        let [mut client, mut server] = ends(false);
        client.write(Octets(300));
        let packets = bring(&mut client, &mut server, 0, 10);
        assert!(matches!(packets[..], [Packet { synchronize: false, data: Some(_), .. }]));
        assert_eq!(server.delivered(), Octets(300));
    }

    #[test]
    fn a_delayed_ack_rides_on_data_and_one_that_is_due_does_not_wait_for_them() {
        let [mut client, mut server] = ends(false);
        client.write(Octets(300));
        bring(&mut client, &mut server, 0, 10);
        assert_eq!(server.next_timer(), at(60), "50 ms after it came");
        server.write(Octets(600));
        let response = bring(&mut server, &mut client, 30, 40);
        let [Packet { acknowledgment: Some(ack), data: Some(_), .. }] = &response[..] else {
            panic!("{response:?}")
        };
        assert_eq!(ack.next, Sequence(300));
        assert_eq!(client.sender().acknowledged(), Octets(300));
        // The timer of the ACK is gone; only the response's is left: 1 s from 30 ms on.
        assert_eq!(server.next_timer(), at(1030));
        client.close();
        client.write(Octets(10));
        let last = bring(&mut client, &mut server, 40, 50);
        assert!(matches!(last[..], [Packet { data: None, .. }, Packet { data: Some(_), .. }]), "{last:?}");
        assert_eq!(server.sender().acknowledged(), Octets(600));
    }

    #[test]
    fn an_ack_that_rides_on_data_is_no_duplicate() {
        let [mut client, _] = ends(false);
        client.write(Octets(1460 * 3));
        client.poll_transmit(at(0), true);
        let data = |from| Some(Span { from: Sequence(from), to: Sequence(from + 100) });
        for n in 0..5 {
            let acknowledgment =
                Some(Acknowledgment { next: Sequence(0), window: Octets(8760), selective: Blocks::NONE });
            let packet = Packet { acknowledgment, data: data(100 * n), ..Packet::empty(0) };
            client.on_packet(at(1), &packet, false);
        }
        assert_eq!(client.sender().statistics().fast_retransmits, 0);
    }
}
