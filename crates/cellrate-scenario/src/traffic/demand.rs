//! Traffic of a connection that carries the flows or calls of a demand, one after the other.

use std::sync::Arc;

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{Duration, Octets};

use super::{Traffic, TrafficKind};
use crate::values::ClockOffset;

/// Datagrams of flows of a size, over IP over AAL5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagrams {
    /// Largest payload.
    pub payload: Octets,
    /// Octets of UDP and IP header before it.
    pub header: Octets,
    /// How IP packets become AAL5 SDUs.
    pub encapsulation: Encapsulation,
}

/// Flows begin when they arrive.
impl TrafficKind for Datagrams {
    fn delay(&mut self, _phase: Duration) {}
}

/// A call begins when it arrives.
impl TrafficKind for Arc<Traffic> {
    fn delay(&mut self, _phase: Duration) {}

    fn scale(&mut self, offset: ClockOffset) {
        Arc::make_mut(self).kind_mut().scale(offset);
    }
}
