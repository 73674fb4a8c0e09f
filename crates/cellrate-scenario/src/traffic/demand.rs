//! Traffic of a connection that carries the flows or calls of a demand, one after the other.

use std::sync::Arc;

use cellrate_proto::declaration::{Key, Setting, Shape, key};
use cellrate_proto::wire::{Encapsulation, cells_for};
use cellrate_proto::{Cells, Duration, Octets};

use super::{Traffic, TrafficKind};
use crate::keys::{MOST_HEADER, MOST_PAYLOAD, OCTETS};
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{encapsulation, or_default};
use crate::text::tree::{Node, Table};
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

impl Datagrams {
    /// Their keys, which stand among those of the flows.
    pub(crate) const KEYS: &[Key] = &[
        key(
            "datagram",
            OCTETS,
            "\"1472 octets\"",
            "For `size` without `tcp`: largest payload of a datagram, 1 to 65000 octets.",
        ),
        key(
            "header",
            OCTETS,
            "\"28 octets\"",
            "For `size` without `tcp`: octets of UDP and IP header before the payload, at most 120.",
        ),
        key(
            "encapsulation",
            Encapsulation::KIND,
            "\"llc-snap\"",
            "For `size` without `tcp`: how IP packets become AAL5 SDUs, with the 8 octets of LLC/SNAP or bare.",
        ),
    ];

    /// Cells of a flow of so many octets: all datagrams are full but for the last.
    pub fn cells(&self, octets: Octets) -> Cells {
        let cells_of = |octets| cells_for(self.header + Octets(octets), self.encapsulation).0;
        let (full, rest) = (octets.0 / self.payload.0, octets.0 % self.payload.0);
        Cells(full * cells_of(self.payload.0) + if rest > 0 { cells_of(rest) } else { 0 })
    }

    /// The datagrams that the checked keys of flows describe.
    pub(crate) fn read(table: &Table) -> Result<Datagrams, Fault> {
        const SHAPE: Shape = Shape { name: "", about: "", keys: Datagrams::KEYS };
        let octets = |key: &str, low: u64, high: u64| {
            let within = |node: &Node| match quantity::octets(node)? {
                octets if (low..=high).contains(&octets.0) => Ok(octets),
                octets => {
                    let message = format!("{key} is {octets}");
                    Err(Fault::new(node.place, message, format!("It must be from {low} to {high} octets")))
                }
            };
            or_default(table, &SHAPE, key, within)
        };
        Ok(Datagrams {
            payload: octets("datagram", 1, MOST_PAYLOAD)?,
            header: octets("header", 0, MOST_HEADER)?,
            encapsulation: encapsulation(table).unwrap_or(Encapsulation::LlcSnapIpv4),
        })
    }
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
