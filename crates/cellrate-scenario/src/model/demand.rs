//! Flows and calls that come and go while the network runs.
//!
//! A demand offers them one after the other, each between a pair of hosts. The connections that carry them, its slots,
//! are connections of the scenario like all others; a flow or a call has one of its pair's to itself while it lasts.

use std::ops::Range;

use cellrate_proto::admission::Request;
use cellrate_proto::{Duration, Time};

use super::{ConnectionIndex, Scenario};
use crate::demand::{Arrivals, Law};

/// Flows or calls of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Unique among demands.
    pub name: String,
    /// When they arrive.
    pub arrivals: Arrivals,
    /// None arrives before this instant.
    pub start: Time,
    /// Nor at or after this.
    pub end: Time,
    /// How much each asks for.
    pub amount: Amount,
    /// Whom each is between; at least one.
    pub pairs: Vec<Pair>,
    /// Whether the last host of a pair sends as the first does.
    pub both_ways: bool,
}

impl Scenario {
    /// Whether a connection carries flows or calls of a demand.
    pub fn is_slot(&self, connection: ConnectionIndex) -> bool {
        let first = self.demands.iter().flat_map(|demand| &demand.pairs).map(|pair| pair.slots.start).next();
        first.is_some_and(|first| connection.0 >= first)
    }
}

/// Two hosts that flows or calls are between.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// How often it is drawn, against the others of its demand \[no unit, above 0\].
    pub weight: f64,
    /// Indices of its connections: as many may be under way at once.
    pub slots: Range<u32>,
    /// From the arrival of each to its first data: what set-up takes.
    pub set_up: Duration,
    /// Bookings of each, by direction that carries data, where the scenario asks for admission.
    pub bookings: Vec<Booking>,
}

/// A request to all ports on the way of a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Booking {
    /// [Indices](crate::PortIndex) of the ports.
    pub ports: Vec<usize>,
    /// Asked of each of them.
    pub request: Request,
}

/// How much a flow or a call asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// A call lasts so long \[s\]; what it sends meanwhile is the [traffic](crate::Traffic::Call) of its slot.
    Holding(Law),
    /// A flow has so many octets to send, as the traffic of its slot says: in [datagrams](crate::Traffic::Transfers),
    /// or over [successive](crate::TcpTraffic::successive) connections of TCP.
    Octets(Law),
    /// A flow has as many as its [trace](Arrivals::Traced) says, sent in the same way.
    Traced,
}

impl Demand {
    /// Whether these are flows of a size, not calls.
    pub fn is_sized(&self) -> bool {
        !matches!(self.amount, Amount::Holding(_))
    }
}
