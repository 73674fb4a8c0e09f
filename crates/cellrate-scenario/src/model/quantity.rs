//! Quantities that probes record: each declares its name, its unit, who has it and where its value comes from, once.
//!
//! A new one is an entry here, and its value a line of `cellrate_engine::quantities`, which both worlds share: that is
//! a
//! `match` without a default, as is the one of the judge in the tests, so that the compiler names what is missing. The
//! format, its reference, names and units in results, remedies, and what has to be up to date for a sample follow.

/// A quantity of a direction of a connection as it declares itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowDeclared {
    /// Its name in `record` and in results.
    pub name: &'static str,
    /// Its unit in results; empty where it has none.
    pub unit: &'static str,
    /// The directions that have it.
    pub owner: Owner,
    /// Where its value comes from.
    pub source: FlowSource,
    /// Whether virtual sources have it, too.
    pub of_virtual_sources: bool,
    /// Why it has no changes that could be recorded one by one, as a phrase behind its name; `None` where it has.
    pub at_intervals_only: Option<&'static str>,
}

/// A quantity of an output port as it declares itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortDeclared {
    /// Its name in `record` and in results.
    pub name: &'static str,
    /// Its unit in results; empty where it has none.
    pub unit: &'static str,
    /// Where its value comes from.
    pub source: PortSource,
    /// Why it has no changes that could be recorded one by one, as a phrase behind its name; `None` where it has.
    pub at_intervals_only: Option<&'static str>,
}

/// A quantity of flows or calls that come and go as it declares itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DemandDeclared {
    /// Its name in `record` and in results.
    pub name: &'static str,
    /// Its unit in results; empty where it has none.
    pub unit: &'static str,
}

/// The directions of connections that have a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Directions of category ABR.
    Abr,
    /// Directions with cells of any kind: data, packets or RM cells.
    Cells,
    /// Directions with data or packets.
    Data,
    /// Directions with TCP.
    Tcp,
    /// Directions whose TCP fetches pages.
    Pages,
    /// Directions of connections whose sending end sends loopback cells.
    Loopback,
}

impl Owner {
    /// Remedy for who asks another direction for it; `None` where every direction with data has it.
    pub const fn remedy(self) -> Option<&'static str> {
        match self {
            Owner::Abr => Some("Only connections of category abr have it"),
            Owner::Tcp => Some("Only directions with traffic of type \"tcp\" have it"),
            Owner::Pages => Some("Only connections whose traffic of type \"tcp\" has pages have it"),
            Owner::Loopback => Some("Only directions whose sending end has a loopback have it"),
            Owner::Cells | Owner::Data => None,
        }
    }
}

/// Where the value of a direction's quantity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowSource {
    /// The sending end, and only RM cells change it.
    RmCells,
    /// The sending end.
    Sender,
    /// The TCP of the sending end.
    SenderTcp,
    /// The receiving end.
    Receiver,
    /// Several places of the network.
    Network,
}

/// Where the value of a port's quantity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortSource {
    /// Cells that wait, which arrivals and departures change.
    Queue,
    /// The line: cells that have left.
    Line,
    /// Anything of the port.
    Port,
    /// The port's algorithm.
    Algorithm,
}

const fn flow(name: &'static str, unit: &'static str, owner: Owner, source: FlowSource) -> FlowDeclared {
    FlowDeclared { name, unit, owner, source, of_virtual_sources: false, at_intervals_only: None }
}

impl FlowDeclared {
    const fn of_virtual_sources(self) -> FlowDeclared {
        FlowDeclared { of_virtual_sources: true, ..self }
    }

    const fn at_intervals_only(self, reason: &'static str) -> FlowDeclared {
        FlowDeclared { at_intervals_only: Some(reason), ..self }
    }
}

const fn port(name: &'static str, unit: &'static str, source: PortSource) -> PortDeclared {
    PortDeclared { name, unit, source, at_intervals_only: None }
}

impl PortDeclared {
    const fn at_intervals_only(self, reason: &'static str) -> PortDeclared {
        PortDeclared { at_intervals_only: Some(reason), ..self }
    }
}

const AVERAGE: &str = "is an average since the last value";
const SINCE: &str = "is of all cells since the last value";

/// Declares an enum of quantities, each with its declaration.
macro_rules! quantities {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $declaration:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $declared:expr,)+
        }
        $($(#[$other_meta:meta])* beside $other:ident($of:ty))?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
            $($(#[$other_meta])* $other($of),)?
        }

        impl $name {
            const ALL: &[($name, $declaration)] = &[$(($name::$variant, $declared)),+];

            /// The names of all, in the order of their declaration.
            pub(crate) const NAMES: &[&str] = &[$($declared.name),+];

            /// The quantity of this name.
            pub(crate) fn named(name: &str) -> Option<$name> {
                $name::ALL.iter().find(|(_, declared)| declared.name == name).map(|(quantity, _)| *quantity)
            }

            /// Its declaration; `None` for a figure of an algorithm, which declares that itself.
            pub(crate) fn declared(self) -> Option<&'static $declaration> {
                $name::ALL.iter().find(|(quantity, _)| *quantity == self).map(|(_, declared)| declared)
            }

            /// Its name and its unit in results; `None` for a figure of an algorithm, which has its own.
            pub fn name_and_unit(self) -> Option<(&'static str, &'static str)> {
                self.declared().map(|declared| (declared.name, declared.unit))
            }
        }
    };
}

use FlowSource::{Network, Receiver, RmCells, Sender, SenderTcp};
use Owner::{Abr, Cells, Data, Loopback, Pages, Tcp};
use PortSource::{Line, Port, Queue};

quantities! {
    /// Quantities of one direction of a connection.
    pub enum FlowQuantity: FlowDeclared {
        /// ACR \[cells/s\].
        Acr = flow("acr", "cells/s", Abr, RmCells).of_virtual_sources(),
        /// Rate of all cells that left the source since the last value \[cells/s\].
        SourceRate = flow("source_rate", "cells/s", Cells, Sender).of_virtual_sources().at_intervals_only(AVERAGE),
        /// Data cells that arrived at the destination since the start \[cells\].
        Received = flow("received", "cells", Data, Receiver),
        /// Data cells waiting at the source for their turn \[cells\].
        SourceQueue = flow("source_queue", "cells", Data, Sender)
            .of_virtual_sources()
            .at_intervals_only("is worked out when it is asked for"),
        /// Cells of this direction lost so far \[cells\].
        Drops = flow("drops", "cells", Cells, Network)
            .at_intervals_only("is counted in several places of the network"),
        /// Forward RM cells sent so far \[cells\].
        ForwardRm = flow("forward_rm", "cells", Abr, RmCells).of_virtual_sources(),
        /// Backward RM cells received so far at the source of this direction \[cells\].
        BackwardRm = flow("backward_rm", "cells", Abr, RmCells).of_virtual_sources(),
        /// Congestion windows of the direction's TCP connections, together \[octets\].
        Cwnd = flow("cwnd", "octets", Tcp, SenderTcp),
        /// Mean of their smoothed round-trip times \[s\]; 0 before the first measurement.
        Rtt = flow("rtt", "s", Tcp, SenderTcp),
        /// Segments that they have sent again so far \[segments\].
        Retransmissions = flow("retransmissions", "segments", Tcp, SenderTcp),
        /// Objects of pages that the direction's clients have whole so far \[objects\].
        Responses = flow("responses", "objects", Pages, SenderTcp),
        /// Time that the last of these objects took, from its client's turn to it to its last octet \[s\]; 0 before the
        /// first.
        ResponseTime = flow("response_time", "s", Pages, SenderTcp),
        /// Last round trip of the loopback cells that the direction's sending end sends \[s\]; 0 before the first.
        LoopbackTime = flow("loopback_time", "s", Loopback, Sender),
        /// Mean time from source to destination of the data cells that arrived since the last value \[s\]; NaN of none.
        Delay = flow("delay", "s", Data, Receiver).at_intervals_only(SINCE),
        /// Largest time from source to destination of the same cells \[s\]; NaN of none.
        MaxDelay = flow("max_delay", "s", Data, Receiver).at_intervals_only(SINCE),
    }
}

impl FlowQuantity {
    /// Where its value comes from.
    pub fn source(self) -> FlowSource {
        self.declared().map_or(Sender, |declared| declared.source)
    }

    /// Whether the destination knows it.
    pub fn is_of_receiver(self) -> bool {
        self.source() == Receiver
    }

    /// Whether a virtual source has it as a source has.
    pub fn is_of_virtual_source(self) -> bool {
        self.declared().is_some_and(|declared| declared.of_virtual_sources)
    }
}

quantities! {
    /// Quantities of an output port.
    pub enum PortQuantity: PortDeclared {
        /// Cells waiting and in transmission, of all categories \[cells\].
        Queue = port("queue", "cells", Queue),
        /// Queue of CBR and VBR \[cells\].
        GuaranteedQueue = port("guaranteed_queue", "cells", Queue),
        /// Queue of ABR \[cells\].
        AbrQueue = port("abr_queue", "cells", Queue),
        /// Queue of UBR \[cells\].
        UbrQueue = port("ubr_queue", "cells", Queue),
        /// Share of the line in use since the last value [0 to 1].
        Utilization = port("utilization", "", Line).at_intervals_only(AVERAGE),
        /// Cells lost at this port so far \[cells\].
        Drops = port("port_drops", "cells", Port),
    }
    /// A figure of the port's algorithm, by its place in `metrics()`: z, N, FairShare and others.
    beside Metric(u8)
}

impl PortQuantity {
    /// Where its value comes from.
    pub fn source(self) -> PortSource {
        self.declared().map_or(PortSource::Algorithm, |declared| declared.source)
    }
}

quantities! {
    /// Quantities of the flows or calls of one [demand](crate::Demand).
    pub enum DemandQuantity: DemandDeclared {
        /// How many are under way.
        Concurrent = DemandDeclared { name: "concurrent", unit: "flows" },
    }
}
