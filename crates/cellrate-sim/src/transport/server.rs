//! The server of one client: answers each request when it is whole.
//!
//! It knows which object is asked for, because it knows the pages and counts requests. When its client opens the next
//! connection it forgets the one before, whose data have all come: else the client would not have gone on.

use std::sync::Arc;

use cellrate_proto::{Octets, Time};
use cellrate_scenario::ConnectionUse;

use super::client::Site;
use super::duplex::{Duplex, Role};
use super::segment::Packet;
use super::tally::Tally;

/// The server of one client.
#[derive(Clone, Debug)]
pub struct Server {
    site: Arc<Site>,
    connection: Option<Duplex>,
    past: Tally,
    /// Requests answered on this connection.
    answered: u64,
    /// Where the request ends that comes next, or is being answered.
    request_end: Octets,
    /// When the response to it begins, and its size.
    response: Option<(Time, Octets)>,
    /// When the first requests of all were whole, as many as are recorded.
    requests: Vec<Time>,
    /// Responses begun so far, on all connections.
    responses: u32,
}

impl Server {
    /// One that waits.
    pub fn new(site: Arc<Site>) -> Server {
        Server {
            site,
            connection: None,
            past: Tally::default(),
            answered: 0,
            request_end: Octets::ZERO,
            response: None,
            requests: Vec::new(),
            responses: 0,
        }
    }

    /// A segment has come in, whose packet was `marked` on its way or not.
    pub fn on_packet(&mut self, now: Time, packet: &Packet, marked: bool) {
        let current = self.connection.as_ref().map(Duplex::incarnation);
        if current.is_none_or(|current| packet.incarnation > current) {
            self.accept(now, packet.incarnation);
        }
        let Some(connection) = &mut self.connection else { return };
        if connection.incarnation() != packet.incarnation {
            return;
        }
        connection.on_packet(now, packet, marked);
        if self.response.is_none() && connection.delivered() >= self.request_end {
            let object = self.site.pages.objects[self.object(packet.incarnation)];
            if self.requests.len() < self.site.pages.record as usize {
                self.requests.push(now);
            }
            self.response = Some((now.saturating_add(object.server_time), object.response));
            self.answer(now);
        }
    }

    fn accept(&mut self, now: Time, incarnation: u32) {
        if let Some(old) = self.connection.take() {
            self.past.add(&old);
        }
        let [requests, responses] = &self.site.tcp;
        let handshake = self.site.pages.handshake;
        self.connection = Some(Duplex::new(Role::Server, incarnation, [responses, requests], handshake, now));
        self.answered = 0;
        self.response = None;
        self.request_end = self.site.pages.objects[self.object(incarnation)].request;
    }

    /// The object that the next request on a connection asks for.
    fn object(&self, incarnation: u32) -> usize {
        let objects = self.site.pages.objects.len() as u64;
        let number = match self.site.pages.connection {
            ConnectionUse::PerObject => u64::from(incarnation),
            ConnectionUse::PerPage | ConnectionUse::Persistent => self.answered,
        };
        (number % objects) as usize
    }

    /// The response begins, if it is time.
    fn answer(&mut self, now: Time) {
        let (Some((due, octets)), Some(connection)) = (self.response, &mut self.connection) else { return };
        if due > now {
            return;
        }
        connection.write(octets);
        let incarnation = connection.incarnation();
        self.response = None;
        self.answered += 1;
        self.responses += 1;
        self.request_end += self.site.pages.objects[self.object(incarnation)].request;
    }

    /// Time has come to `now`.
    pub fn on_timer(&mut self, now: Time) {
        if let Some(connection) = &mut self.connection {
            connection.on_timer(now);
        }
        self.answer(now);
    }

    /// When to come back.
    pub fn next_timer(&self) -> Time {
        let of_connection = self.connection.as_ref().map_or(Time::NEVER, Duplex::next_timer);
        self.response.map_or(of_connection, |(due, _)| due.min(of_connection))
    }

    /// The next segment to leave. Without `data` none that carries any: ACKs and SYN only.
    pub fn poll_transmit(&mut self, now: Time, data: bool) -> Option<Packet> {
        let mut packet = self.connection.as_mut()?.poll_transmit(now, data)?;
        // A client asks again only when it has all: what is sent belongs to the last response.
        let last = self.responses.checked_sub(1).filter(|&last| last < self.site.pages.record);
        packet.answers = packet.data.and(last);
        Some(packet)
    }

    /// When the first requests were whole here, as many as are recorded.
    pub fn requests(&self) -> &[Time] {
        &self.requests
    }

    /// The connection that it has now.
    pub fn connection(&self) -> Option<&Duplex> {
        self.connection.as_ref()
    }

    /// Tally of all connections at this end.
    pub fn tally(&self) -> Tally {
        self.past.with(self.connection.as_ref())
    }
}
