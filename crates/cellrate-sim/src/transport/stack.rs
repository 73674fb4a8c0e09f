//! One end of a VC with TCP: the senders of its own direction, the receivers of the other one.

use std::sync::Arc;

use cellrate_proto::{CellRate, Time};
use cellrate_scenario::TcpTraffic;

use super::client::{Client, Site};
use super::duplex::Duplex;
use super::edge::Edge;
use super::receiver::Receiver;
use super::segment::{Contents, Flags, Heading, Segment};
use super::sender::Sender;
use super::server::Server;
use super::sized_flow::SizedFlow;
use super::succession::{Succession, data};
use super::tally::Tally;
use cellrate_engine::random::{Owner, Random, Stream};

/// TCP at one end of a VC.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    clients: Vec<Client>,
    servers: Vec<Server>,
    /// Where connections come one after the other: there is one sender, or receiver, at most then.
    succession: Option<Box<Succession>>,
    /// An adapter that depends on the ACKs of its senders.
    edge: Option<Box<Edge>>,
    quiet: Quiet,
    turns: Turns,
}

/// How many of the first of each kind have nothing to send, since they were asked and nothing has happened to them.
#[derive(Clone, Debug, Default)]
struct Quiet {
    receivers: usize,
    senders: usize,
    clients: usize,
    servers: usize,
}

/// Whose turn it is to hand over data to an adapter that takes a segment at a time.
#[derive(Clone, Debug, Default)]
struct Turns {
    /// The number of the next one: senders, then clients, then servers.
    next: usize,
    /// No connection had data when all were last asked, and nothing has happened since.
    none_had_data: bool,
}

/// First packet that one of `all` gives, asked from the first that is not known to be `quiet` on.
fn first<T, P>(
    all: &mut [T],
    quiet: &mut usize,
    mut poll: impl FnMut(&mut T) -> Option<P>,
) -> Option<(u16, P)> {
    while let Some(one) = all.get_mut(*quiet) {
        if let Some(given) = poll(one) {
            return Some((*quiet as u16, given));
        }
        *quiet += 1;
    }
    None
}

/// A segment of which only the connection is not yet said.
struct Said {
    flags: Flags,
    stamp: u32,
    contents: Contents,
}

impl Said {
    fn plain(contents: Contents) -> Said {
        Said { flags: Flags::default(), stamp: 0, contents }
    }

    fn of(self, connection: u16, succession: Option<&Succession>) -> Segment {
        let Said { flags, stamp, contents } = self;
        let (connection, contents) = match succession {
            Some(succession) => succession.number(contents),
            None => (connection, contents),
        };
        Segment { connection, flags, stamp, contents }
    }
}

fn poll_receiver(receiver: &mut Receiver) -> Option<Said> {
    let ack = receiver.poll_transmit()?;
    let Heading { flags, echo, .. } = receiver.heading();
    Some(Said { flags, stamp: echo, contents: Contents::Acknowledgment(ack) })
}

fn poll_sender(sender: &mut Sender, now: Time) -> Option<Said> {
    let span = sender.poll_transmit(now)?;
    let Heading { flags, value, .. } = sender.heading();
    Some(Said { flags, stamp: value, contents: Contents::Data(span) })
}

impl Stack {
    /// The end that sends `own` traffic, if that is TCP, as the direction `owner`, and receives that of the `other`
    /// direction, if that is. What clients think is drawn under `seed`.
    pub fn new(own: Option<&TcpTraffic>, other: Option<&TcpTraffic>, seed: u64, owner: Owner) -> Stack {
        let sender = |traffic: &TcpTraffic| {
            Sender::new(&traffic.tcp, traffic.transfer, traffic.start).until(traffic.end)
        };
        let lasting = |traffic: &&TcpTraffic| !traffic.successive;
        let senders = own.filter(lasting);
        let senders = senders.into_iter().flat_map(|own| (0..own.connections).map(move |_| sender(own)));
        let receivers = other.filter(lasting).into_iter();
        let receivers =
            receivers.flat_map(|other| (0..other.connections).map(move |_| Receiver::new(&other.tcp)));
        let successive = |traffic: Option<&TcpTraffic>| {
            traffic.filter(|traffic| traffic.successive).map(|traffic| traffic.tcp.clone())
        };
        let client = |(number, site, start)| {
            Client::new(site, start, Random::new(seed, Stream::Thoughts(owner, number)))
        };
        Stack {
            senders: senders.collect(),
            receivers: receivers.collect(),
            clients: sites(own, other).map(client).collect(),
            servers: sites(other, own).map(|(_, site, _)| Server::new(site)).collect(),
            succession: Succession::new([successive(own), successive(other)]),
            edge: own.and_then(Edge::of).map(Box::new),
            quiet: Quiet::default(),
            turns: Turns::default(),
        }
    }

    /// The next ACK that is at the adapter passes to its sender, while ACR is so much; whether there was any.
    pub fn pass_ack(&mut self, now: Time, acr: Option<CellRate>) -> bool {
        let Some((connection, ack, heading)) = self.edge.as_mut().and_then(|edge| edge.pass(acr)) else {
            return false;
        };
        self.quiet.senders = connection.min(self.quiet.senders);
        self.turns.none_had_data = false;
        self.senders[connection].on_answer(now, &ack, heading);
        true
    }

    /// Whether ACKs are at the adapter.
    pub fn has_acks(&self) -> bool {
        self.edge.as_ref().is_some_and(|edge| edge.holds_any())
    }

    /// A flow of a size begins now: the connection before is over.
    pub fn begin_flow(&mut self, flow: SizedFlow) {
        let Some(succession) = &mut self.succession else { return };
        let before = self.senders.pop();
        self.senders.extend(succession.begin(flow, before));
        self.quiet.senders = 0;
        self.turns.none_had_data = false;
    }

    /// Whether no flow of a size is under way, as far as this end knows: all of the last one is acknowledged.
    pub fn is_free(&self) -> bool {
        self.senders.iter().all(|sender| sender.statistics().completed.is_some())
    }

    /// A segment has come in, whose packet a port has `marked` on its way or not. The flow of a size that is complete
    /// with it.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, marked: bool) -> Option<SizedFlow> {
        let mut connection = usize::from(segment.connection);
        if let Some(succession) = &mut self.succession {
            if !succession.takes(segment, &mut self.receivers) {
                return None;
            }
            connection = 0;
        }
        if let (Some(edge), Contents::Acknowledgment(ack)) = (&mut self.edge, &segment.contents) {
            edge.on_acknowledgment((connection, ack.clone(), segment.heading()));
            return None;
        }
        self.turns.none_had_data = false;
        let Quiet { receivers, senders, clients, servers } = &mut self.quiet;
        match &segment.contents {
            contents @ (Contents::Data(_) | Contents::FlowEnd(_)) => {
                let (span, end) = data(contents)?;
                *receivers = connection.min(*receivers);
                let receiver = &mut self.receivers[connection];
                if let (Some(succession), Some(end)) = (&mut self.succession, end) {
                    succession.on_end(end, receiver.delivered());
                }
                receiver.on_segment(now, span, segment.heading().come(marked));
                return self.succession.as_mut()?.complete(receiver.delivered());
            }
            Contents::Acknowledgment(ack) => {
                *senders = connection.min(*senders);
                self.senders[connection].on_answer(now, ack, segment.heading());
            }
            // Pages are fetched one way only: an end has clients, or servers.
            Contents::Duplex(packet) => match self.clients.get_mut(connection) {
                Some(client) => {
                    *clients = connection.min(*clients);
                    client.on_packet(now, packet, marked);
                }
                None => {
                    *servers = connection.min(*servers);
                    self.servers[connection].on_packet(now, packet, marked);
                }
            },
        }
        None
    }

    /// The first cell of a request of `client` has left, its last bit at `at`. Told before whatever answers it.
    pub fn on_request_departed(&mut self, client: u16, at: Time) {
        self.clients[usize::from(client)].on_request_departed(at);
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        self.quiet = Quiet::default();
        self.turns.none_had_data = false;
        self.senders.iter_mut().for_each(|sender| sender.on_timer(now));
        self.receivers.iter_mut().for_each(|receiver| receiver.on_timer(now));
        self.clients.iter_mut().for_each(|client| client.on_timer(now));
        self.servers.iter_mut().for_each(|server| server.on_timer(now));
    }

    /// When to come back; [`Time::NEVER`] when only a segment can change anything.
    pub fn next_timer(&self) -> Time {
        let senders = self.senders.iter().map(Sender::next_timer);
        let receivers = self.receivers.iter().map(Receiver::next_timer);
        let clients = self.clients.iter().map(Client::next_timer);
        let servers = self.servers.iter().map(Server::next_timer);
        senders.chain(receivers).chain(clients).chain(servers).min().unwrap_or(Time::NEVER)
    }

    /// The next segment to leave: ACKs first, then data in the order of the connections, then what clients and servers
    /// say.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let Stack { senders, receivers, clients, servers, succession, quiet, .. } = self;
        let succession = succession.as_deref();
        if let Some((connection, ack)) = first(receivers, &mut quiet.receivers, poll_receiver) {
            return Some(ack.of(connection, succession));
        }
        if let Some((connection, data)) =
            first(senders, &mut quiet.senders, |sender| poll_sender(sender, now))
        {
            return Some(data.of(connection, succession));
        }
        let packet = first(clients, &mut quiet.clients, |client| client.poll_transmit(now, true))
            .or_else(|| first(servers, &mut quiet.servers, |server| server.poll_transmit(now, true)));
        let (connection, packet) = packet?;
        Some(Segment::plain(connection, Contents::Duplex(packet.into())))
    }

    /// The next segment to leave where the adapter holds data back: ACKs and SYN at any time, data only where it
    /// `takes` any now. Connections take turns, a segment each, for none would ever have any left to the last one
    /// otherwise.
    pub fn poll_in_turn(&mut self, now: Time, takes: bool) -> Option<Segment> {
        let Stack { senders, receivers, clients, servers, succession, quiet, turns, .. } = self;
        let succession = succession.as_deref();
        if let Some((connection, ack)) = first(receivers, &mut quiet.receivers, poll_receiver) {
            return Some(ack.of(connection, succession));
        }
        let [transfers, fetching] = [senders.len(), senders.len() + clients.len()];
        let all = fetching + servers.len();
        if all == 0 || takes && turns.none_had_data {
            return None;
        }
        for place in 0..all {
            let number = (turns.next + place) % all;
            let (connection, said) = if number < transfers {
                (number, if takes { poll_sender(&mut senders[number], now) } else { None })
            } else {
                let (connection, packet) = if number < fetching {
                    (number - transfers, clients[number - transfers].poll_transmit(now, takes))
                } else {
                    (number - fetching, servers[number - fetching].poll_transmit(now, takes))
                };
                (connection, packet.map(|packet| Said::plain(Contents::Duplex(packet.into()))))
            };
            if let Some(said) = said {
                if takes {
                    turns.next = (number + 1) % all;
                }
                return Some(said.of(connection as u16, succession));
            }
        }
        turns.none_had_data = takes;
        None
    }

    /// The senders of transfers, in the order of the connections.
    pub fn senders(&self) -> &[Sender] {
        &self.senders
    }

    /// The receivers of transfers, in the order of the other end's connections.
    pub fn receivers(&self) -> &[Receiver] {
        &self.receivers
    }

    /// Statistics of objects and pages begin anew.
    pub fn begin_statistics(&mut self) {
        self.clients.iter_mut().for_each(Client::begin_statistics);
    }

    /// The clients that fetch pages.
    pub fn clients(&self) -> &[Client] {
        &self.clients
    }

    /// The servers, one for each client of the other end.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Segments sent again so far, on connections that are over too.
    pub fn retransmitted(&self) -> u64 {
        let past = self.succession.iter().map(|succession| succession.retransmitted());
        let transfers = self.senders.iter().map(|sender| sender.statistics().retransmitted);
        let clients = self.clients.iter().map(|client| client.tally().statistics.retransmitted);
        let servers = self.servers.iter().map(|server| server.tally().statistics.retransmitted);
        past.chain(transfers).chain(clients).chain(servers).sum()
    }

    /// Tally of all connections that came one after the other, if this end has such: what it has sent on them, and what
    /// it has received.
    pub fn successive(&self) -> Option<Tally> {
        let succession = self.succession.as_ref()?;
        Some(succession.tally(self.senders.first(), self.receivers.first()))
    }

    /// Whether it sends on such connections.
    pub fn sends_flows(&self) -> bool {
        self.succession.as_ref().is_some_and(|succession| succession.sends())
    }

    /// Every sender that there is now: those of transfers, and those of clients' connections.
    pub fn all_senders(&self) -> impl Iterator<Item = &Sender> {
        let clients = self.clients.iter().filter_map(Client::connection);
        let servers = self.servers.iter().filter_map(Server::connection);
        self.senders.iter().chain(clients.chain(servers).map(Duplex::sender))
    }
}

/// Number, terms and start of each client whose requests are `own` traffic and whose responses are the `other`
/// direction's.
fn sites(
    own: Option<&TcpTraffic>,
    other: Option<&TcpTraffic>,
) -> impl Iterator<Item = (u32, Arc<Site>, Time)> {
    let site = own.and_then(|own| {
        let pages = own.pages.clone()?;
        let clients = pages.clients;
        let tcp = [own.tcp.clone(), other.unwrap_or(own).tcp.clone()];
        Some((clients, Arc::new(Site { pages, tcp }), own.start))
    });
    site.into_iter().flat_map(|(clients, site, start)| {
        (0..u32::from(clients)).map(move |number| (number, Arc::clone(&site), start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Acknowledgment, Blocks, Sequence};
    use cellrate_proto::wire::Encapsulation;
    use cellrate_proto::{Duration, Octets};
    use cellrate_scenario::{AdapterQueue, DelayedAck, Preset};
    use std::collections::VecDeque;

    fn traffic(preset: &str, connections: u16, octets: u64) -> TcpTraffic {
        TcpTraffic {
            tcp: Preset::named(preset).expect("it is there").tcp(),
            encapsulation: Encapsulation::LlcSnapIpv4,
            connections,
            transfer: Some(Octets(octets)),
            start: Time::ZERO,
            end: Time::NEVER,
            pages: None,
            adapter_queue: AdapterQueue::Unbounded,
            successive: false,
        }
    }

    /// Two ends with `delay` between them; `loses(n)` tells whether the n-th segment from the first end is lost.
    fn converse(traffic: &TcpTraffic, delay: Duration, loses: impl Fn(u64) -> bool) -> (Stack, Stack, Time) {
        let mut ends = [
            Stack::new(Some(traffic), None, 1, Owner::named("there")),
            Stack::new(None, Some(traffic), 1, Owner::named("back")),
        ];
        let mut wires: [VecDeque<(Time, Segment)>; 2] = Default::default();
        let (mut now, mut count) = (Time::ZERO, 0);
        loop {
            for end in 0..2 {
                loop {
                    if wires[1 - end].front().is_some_and(|(at, _)| *at <= now) {
                        let (_, segment) = wires[1 - end].pop_front().expect("it is there");
                        ends[end].on_segment(now, &segment, false);
                    } else if ends[end].next_timer() <= now {
                        ends[end].on_timer(now);
                    } else {
                        break;
                    }
                    while let Some(segment) = ends[end].poll_transmit(now) {
                        count += u64::from(end == 0);
                        if end == 1 || !loses(count) {
                            wires[end].push_back((now + delay, segment));
                        }
                    }
                }
            }
            let timers = ends.iter().map(Stack::next_timer);
            let arrivals = wires.iter().filter_map(|wire| wire.front().map(|(at, _)| *at));
            match timers.chain(arrivals).min() {
                Some(next) if next != Time::NEVER => now = next,
                _ => break,
            }
        }
        let [first, second] = ends;
        (first, second, now)
    }

    #[test]
    fn everything_arrives_whatever_is_lost_and_however_it_recovers() {
        let presets =
            ["reno", "newreno", "sack", "cubic", "linux", "tcp-lrd-vbr", "stop-and-go", "solaris-2.4"];
        for preset in presets {
            for period in [2, 3, 7, 19, 1000] {
                let traffic = traffic(preset, 3, 300_000);
                let (first, second, _) =
                    converse(&traffic, Duration::from_ms(20), |n| n.is_multiple_of(period));
                for (sender, receiver) in first.senders().iter().zip(second.receivers()) {
                    assert_eq!(receiver.delivered(), Octets(300_000), "{preset}, every {period}th lost");
                    assert_eq!(sender.acknowledged(), Octets(300_000));
                    assert!(sender.statistics().completed.is_some());
                    let statistics = sender.statistics();
                    assert_eq!(statistics.octets - statistics.retransmitted_octets, Octets(300_000));
                }
            }
        }
    }

    #[test]
    fn connections_take_turns_at_an_adapter_that_holds_data_back() {
        let traffic = traffic("reno", 3, 4000);
        let mut stack = Stack::new(Some(&traffic), None, 1, Owner::named("there"));
        stack.on_timer(Time::ZERO);
        assert_eq!(stack.poll_in_turn(Time::ZERO, false), None, "no room, and no ACKs");
        let connections = std::iter::from_fn(|| stack.poll_in_turn(Time::ZERO, true));
        // An initial window of two segments each.
        assert_eq!(connections.map(|segment| segment.connection).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        let ack = Acknowledgment { next: Sequence(1460), window: Octets(65_535), selective: Blocks::NONE };
        stack.on_segment(Time::ZERO, &Segment::plain(1, Contents::Acknowledgment(ack)), false);
        assert_eq!(stack.poll_in_turn(Time::ZERO, true).map(|segment| segment.connection), Some(1));
    }

    #[test]
    fn nothing_is_sent_again_when_nothing_is_lost() {
        let mut traffic = traffic("newreno", 1, 1_000_000);
        traffic.tcp.delayed_ack = DelayedAck::EverySegment;
        let (first, _, end) = converse(&traffic, Duration::from_ms(20), |_| false);
        assert_eq!(first.senders()[0].statistics().retransmitted, 0);
        // 685 segments: 2, 4, 8, 16 and 32 in the first five round trips of 40 ms, the other 623 at 44 each in 15 more.
        assert_eq!(end, Time::ZERO + Duration::from_ms(800));
    }
}
