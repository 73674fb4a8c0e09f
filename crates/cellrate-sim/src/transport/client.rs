//! A client that fetches pages: its turn comes, it asks, it waits for the whole answer, it goes on.

use std::collections::VecDeque;
use std::sync::Arc;

use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::traffic::Draws;
use cellrate_scenario::{ConnectionUse, Pages, TcpConfig};

use super::duplex::{Duplex, Role};
use super::exchange::{Exchange, Spans};
use super::segment::{Acknowledgment, Blocks, Flags, Heading, Packet};
use super::sequence::Sequence;
use super::tally::Tally;
use cellrate_engine::random::Random;

/// Facts that both ends of the connections know.
#[derive(Clone, Debug)]
pub struct Site {
    /// Pages that are fetched.
    pub pages: Pages,
    /// How requests are sent, and how responses are.
    pub tcp: [TcpConfig; 2],
}

/// A client.
#[derive(Clone, Debug)]
pub struct Client {
    site: Arc<Site>,
    random: Random,
    state: State,
    connection: Option<Duplex>,
    /// Connections opened so far.
    opened: u32,
    /// Last packets of connections that were given up.
    outgoing: VecDeque<Packet>,
    /// Tally of connections that were given up.
    past: Tally,
    start: Time,
    page: u64,
    object: usize,
    page_start: Time,
    /// Where the request that is to be sent, or was, begins in its stream, and whether it has left.
    request: (Sequence, bool),
    /// Octets of the connection's responses before the one waited for.
    before: Octets,
    current: Option<Exchange>,
    complete: u64,
    /// Response time of the last complete one, and when it was.
    last: (Duration, Time),
    finished: Option<Time>,
    list: Vec<Exchange>,
    of_objects: Vec<[Spans; 2]>,
    of_pages: Spans,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The next object's turn comes then.
    Idle(Time),
    /// For the rest of a response.
    Waiting,
    /// All pages are there.
    Done,
}

impl Client {
    /// One whose first page begins at `start`.
    pub fn new(site: Arc<Site>, start: Time, random: Random) -> Client {
        let of_objects = vec![Default::default(); site.pages.objects.len()];
        Client {
            site,
            random,
            state: State::Idle(start),
            connection: None,
            opened: 0,
            outgoing: VecDeque::new(),
            past: Tally::default(),
            start,
            page: 0,
            object: 0,
            page_start: start,
            request: (Sequence::START, true),
            before: Octets::ZERO,
            current: None,
            complete: 0,
            last: (Duration::ZERO, Time::ZERO),
            finished: None,
            list: Vec::new(),
            of_objects,
            of_pages: Spans::default(),
        }
    }

    /// A segment has come in, whose packet was `marked` on its way or not.
    pub fn on_packet(&mut self, now: Time, packet: &Packet, marked: bool) {
        match &mut self.connection {
            Some(connection) if connection.incarnation() == packet.incarnation => {
                connection.on_packet(now, packet, marked);
            }
            // Of a connection that is closed: the server does not know that all has come.
            _ => {
                if let Some(span) = packet.data {
                    let window = self.site.tcp[1].offered_window();
                    let ack = Acknowledgment { next: span.to, window, selective: Blocks::NONE };
                    let acknowledgment = Some(ack);
                    let flags = Flags::default().with(Flags::STAMPED, packet.heading.value().is_some());
                    let heading = Heading { flags, value: 0, echo: packet.heading.value };
                    let answer = Packet { acknowledgment, heading, ..Packet::empty(packet.incarnation) };
                    self.outgoing.push_back(answer);
                }
                return;
            }
        }
        self.look(now);
    }

    /// The first cell of the last request has left, its last bit at `at`.
    pub fn on_request_departed(&mut self, at: Time) {
        if let Some(current) = &mut self.current {
            current.request_cell.get_or_insert(at);
        }
    }

    /// Looks at what has come.
    fn look(&mut self, now: Time) {
        let (Some(connection), Some(current)) = (&self.connection, &mut self.current) else { return };
        if connection.is_open() {
            current.opened.get_or_insert(now);
        }
        let delivered = connection.delivered();
        if delivered > self.before {
            current.first_octet.get_or_insert(now);
        }
        if delivered >= self.before + self.site.pages.objects[self.object].response {
            current.last_octet = Some(now);
            let exchange = *current;
            self.before = delivered;
            self.finish(now, exchange);
        }
    }

    /// An object is whole.
    fn finish(&mut self, now: Time, exchange: Exchange) {
        self.current = None;
        self.complete += 1;
        let spans = [exchange.response_time(), exchange.cell_response_time()];
        for (kept, span) in self.of_objects[self.object].iter_mut().zip(spans) {
            span.iter().for_each(|&span| kept.record(span));
        }
        self.last = (spans[0].unwrap_or_default(), now);
        self.keep(exchange);
        let pages = &self.site.pages;
        let mut gap = pages.object_gap;
        self.object += 1;
        if self.object == pages.objects.len() {
            self.object = 0;
            self.page += 1;
            self.of_pages.record(now.since(self.page_start));
            gap = self.random.period(pages.think_time);
        }
        let next = now.saturating_add(gap);
        let is_over = pages.count == Some(self.page) || self.object == 0 && next >= pages.end;
        let opens_another = self.opens_another();
        if (is_over || opens_another)
            && let Some(connection) = &mut self.connection
        {
            connection.close();
        }
        if is_over {
            self.state = State::Done;
            self.finished = Some(now);
        } else {
            self.state = State::Idle(next);
            self.begin_next_object(now);
        }
    }

    fn keep(&mut self, exchange: Exchange) {
        if self.list.len() < self.site.pages.record as usize {
            self.list.push(exchange);
        }
    }

    /// Whether the object whose turn is next has a connection of its own.
    fn opens_another(&self) -> bool {
        match self.site.pages.connection {
            ConnectionUse::PerObject => true,
            ConnectionUse::PerPage => self.object == 0,
            ConnectionUse::Persistent => self.connection.is_none(),
        }
    }

    /// The turn of the next object, if it has come.
    fn begin_next_object(&mut self, now: Time) {
        let State::Idle(until) = self.state else { return };
        if until > now {
            return;
        }
        if self.object == 0 {
            self.page_start = now;
        }
        if self.opens_another() {
            self.open(now);
        }
        let Some(connection) = &mut self.connection else { return };
        self.request = (connection.sender().end(), false);
        connection.write(self.site.pages.objects[self.object].request);
        self.current = Some(Exchange {
            page: self.page,
            object: self.object,
            incarnation: connection.incarnation(),
            start: now,
            opened: connection.is_open().then_some(now),
            request_cell: None,
            first_octet: None,
            last_octet: None,
        });
        self.state = State::Waiting;
    }

    fn open(&mut self, now: Time) {
        if let Some(mut old) = self.connection.take() {
            self.outgoing.extend(std::iter::from_fn(|| old.poll_transmit(now, true)));
            self.past.add(&old);
        }
        let [requests, responses] = &self.site.tcp;
        let handshake = self.site.pages.handshake;
        self.connection = Some(Duplex::new(Role::Client, self.opened, [requests, responses], handshake, now));
        self.opened += 1;
        self.before = Octets::ZERO;
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        if let Some(connection) = &mut self.connection {
            connection.on_timer(now);
        }
        self.begin_next_object(now);
    }

    /// When to come back.
    pub fn next_timer(&self) -> Time {
        let of_connection = self.connection.as_ref().map_or(Time::NEVER, Duplex::next_timer);
        match self.state {
            State::Idle(until) => until.min(of_connection),
            State::Waiting | State::Done => of_connection,
        }
    }

    /// The next segment to leave. Without `data` none that carries any: ACKs and SYN only.
    pub fn poll_transmit(&mut self, now: Time, data: bool) -> Option<Packet> {
        if let Some(packet) = self.outgoing.pop_front() {
            return Some(packet);
        }
        let mut packet = self.connection.as_mut()?.poll_transmit(now, data)?;
        let (begins, has_left) = self.request;
        if !has_left && packet.data.is_some_and(|span| span.from == begins) {
            packet.begins_request = true;
            self.request.1 = true;
        }
        Some(packet)
    }

    /// When its first page began, or will.
    pub fn start(&self) -> Time {
        self.start
    }

    /// When it was done with all its pages.
    pub fn finished(&self) -> Option<Time> {
        self.finished
    }

    /// Objects that are whole.
    pub fn complete(&self) -> u64 {
        self.complete
    }

    /// Response time of the last of them; none before the first.
    pub fn last_response(&self) -> Duration {
        self.last.0
    }

    /// When that was.
    pub fn last_complete(&self) -> Time {
        self.last.1
    }

    /// The first objects one by one, as many as are recorded, the one that it waits for among them.
    pub fn list(&self) -> impl Iterator<Item = &Exchange> {
        let room = (self.site.pages.record as usize).saturating_sub(self.list.len());
        self.list.iter().chain(self.current.iter().take(room))
    }

    /// Statistics of objects and pages begin anew.
    pub fn begin_statistics(&mut self) {
        self.of_objects.fill(Default::default());
        self.of_pages = Spans::default();
    }

    /// The response times of each object of a page, and those from cell to cell.
    pub fn of_objects(&self) -> &[[Spans; 2]] {
        &self.of_objects
    }

    /// Times that whole pages took.
    pub fn of_pages(&self) -> &Spans {
        &self.of_pages
    }

    /// The connection that it has now, or had last.
    pub fn connection(&self) -> Option<&Duplex> {
        self.connection.as_ref()
    }

    /// Tally of all its connections.
    pub fn tally(&self) -> Tally {
        self.past.with(self.connection.as_ref())
    }
}
