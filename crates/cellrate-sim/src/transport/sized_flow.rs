//! Flows of a size: what each is, what its last datagram or segment says of it, and that it is over.

use cellrate_proto::{Duration, Octets, Time};

use super::sequence::{Sequence, Span};

/// The last datagram or segment of a flow, which says what the flow was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// Its octets, of a datagram among all that the VC has carried.
    pub span: Span,
    /// The first octet of the flow.
    pub from: Sequence,
    /// Which flow of its VC, from 1 on; 0 with TCP, whose segments say it otherwise.
    pub number: u64,
    /// The flow.
    pub flow: SizedFlow,
}

/// A flow of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizedFlow {
    /// An index into the scenario's demands.
    pub demand: u32,
    /// When it arrived.
    pub arrived: Time,
    /// When its set-up was over.
    pub begins: Time,
    /// Its size.
    pub octets: Octets,
    /// From its arrival to the arrival of its last cell, if no other had sent.
    pub alone: Duration,
}

/// A flow of a size that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    /// The flow.
    pub flow: SizedFlow,
    /// Whether all of it has come.
    pub whole: bool,
    /// How many flows of its VC are over with it: those before it of whose ends nothing was heard, too.
    pub count: u64,
}
