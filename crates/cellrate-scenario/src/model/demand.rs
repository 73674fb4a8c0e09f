//! Flows and calls that come and go while the network runs.
//!
//! A demand offers them one after the other, each between a pair of hosts. The connections that carry them, its slots,
//! are connections of the scenario like all others; a flow or a call has one of its pair's to itself while it lasts.

use std::ops::Range;
use std::sync::Arc;

use cellrate_proto::admission::Request;
use cellrate_proto::{Duration, Octets, Time};

use crate::model::{ConnectionIndex, Scenario};

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

/// When flows or calls arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Poisson: gaps exponentially distributed.
    Poisson {
        /// Mean gap.
        gap: Duration,
    },
    /// A Poisson process whose mean gap is now the one, now the other (MMPP of two states).
    Mmpp {
        /// Mean gap in each state.
        gaps: [Duration; 2],
        /// Mean time in each state, exponentially distributed.
        stays: [Duration; 2],
    },
    /// Gaps of a Pareto distribution.
    Pareto {
        /// Mean gap.
        gap: Duration,
        /// Shape \[no unit, above 1\].
        alpha: f64,
    },
    /// At these instants, in order.
    At(Arc<[Time]>),
    /// These flows, in order of time.
    Traced(Arc<[Traced]>),
}

/// A flow of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When it arrives.
    pub at: Time,
    /// An index into the demand's pairs.
    pub pair: u32,
    /// Its size, at least 1.
    pub octets: Octets,
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

/// A distribution of positive numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Always the same.
    Fixed(f64),
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Lognormal: the logarithm is normal.
    Lognormal {
        /// Mean of the number itself.
        mean: f64,
        /// Standard deviation of its natural logarithm \[no unit\].
        sigma: f64,
    },
    /// Pareto, cut off at `most` by drawing from what is left below.
    Pareto {
        /// The least.
        least: f64,
        /// Shape \[no unit, above 0\].
        alpha: f64,
        /// The most; infinite without one.
        most: f64,
    },
    /// Straight lines between points of the cumulative distribution.
    Table(Arc<[(f64, f64)]>),
}
