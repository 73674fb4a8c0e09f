//! Quantities that probes record: name, unit, and who has each, once.
//!
//! A new one is an entry here. The format, its reference, names and units in results and remedies follow; where its
//! value comes from is a `match` without a default in the simulator, the testbed and the judge of the tests, so that
//! the compiler names every place that does not know it yet.

/// A quantity as it declares itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    /// Its name in `record` and in results.
    pub name: &'static str,
    /// Its unit in results; empty where it has none.
    pub unit: &'static str,
    /// Who has it, as a remedy for who asks another for it; `None` where every one of its kind has it.
    pub owner: Option<&'static str>,
    /// Why it has no changes that could be recorded one by one, as a phrase behind its name; `None` where it has.
    pub at_intervals_only: Option<&'static str>,
}

const fn declared(name: &'static str, unit: &'static str) -> Declared {
    Declared { name, unit, owner: None, at_intervals_only: None }
}

impl Declared {
    const fn of(self, owner: &'static str) -> Declared {
        Declared { owner: Some(owner), ..self }
    }

    const fn at_intervals_only(self, reason: &'static str) -> Declared {
        Declared { at_intervals_only: Some(reason), ..self }
    }
}

const ABR: &str = "Only connections of category abr have it";
const TCP: &str = "Only directions with traffic of type \"tcp\" have it";
const PAGES: &str = "Only connections whose traffic of type \"tcp\" has pages have it";
const AVERAGE: &str = "is an average since the last value";
const SINCE: &str = "is of all cells since the last value";

/// Declares an enum of quantities, each with its [`Declared`].
macro_rules! quantities {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
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
            const ALL: &[($name, Declared)] = &[$(($name::$variant, $declared)),+];

            /// The names of all, in the order of their declaration.
            pub(crate) const NAMES: &[&str] = &[$($declared.name),+];

            /// The quantity of this name.
            pub(crate) fn named(name: &str) -> Option<$name> {
                $name::ALL.iter().find(|(_, declared)| declared.name == name).map(|(quantity, _)| *quantity)
            }

            /// Its declaration; `None` for a figure of an algorithm, which declares that itself.
            pub(crate) fn declared(self) -> Option<&'static Declared> {
                $name::ALL.iter().find(|(quantity, _)| *quantity == self).map(|(_, declared)| declared)
            }

            /// Its name and its unit in results; `None` for a figure of an algorithm, which has its own.
            pub fn name_and_unit(self) -> Option<(&'static str, &'static str)> {
                self.declared().map(|declared| (declared.name, declared.unit))
            }
        }
    };
}

quantities! {
    /// Quantities of one direction of a connection.
    pub enum FlowQuantity {
        /// ACR \[cells/s\].
        Acr = declared("acr", "cells/s").of(ABR),
        /// Rate of all cells that left the source since the last value \[cells/s\].
        SourceRate = declared("source_rate", "cells/s").at_intervals_only(AVERAGE),
        /// Data cells that arrived at the destination since the start \[cells\].
        Received = declared("received", "cells"),
        /// Data cells waiting at the source for their turn \[cells\].
        SourceQueue = declared("source_queue", "cells").at_intervals_only("is worked out when it is asked for"),
        /// Cells of this direction lost so far \[cells\].
        Drops = declared("drops", "cells").at_intervals_only("is counted in several places of the network"),
        /// Forward RM cells sent so far \[cells\].
        ForwardRm = declared("forward_rm", "cells").of(ABR),
        /// Backward RM cells received so far at the source of this direction \[cells\].
        BackwardRm = declared("backward_rm", "cells").of(ABR),
        /// Congestion windows of the direction's TCP connections, together \[octets\].
        Cwnd = declared("cwnd", "octets").of(TCP),
        /// Mean of their smoothed round-trip times \[s\]; 0 before the first measurement.
        Rtt = declared("rtt", "s").of(TCP),
        /// Segments that they have sent again so far \[segments\].
        Retransmissions = declared("retransmissions", "segments").of(TCP),
        /// Objects of pages that the direction's clients have whole so far \[objects\].
        Responses = declared("responses", "objects").of(PAGES),
        /// Time that the last object took, from its client's turn to it to its last octet \[s\]; 0 before the first.
        ResponseTime = declared("response_time", "s").of(PAGES),
        /// Mean time from source to destination of the data cells that arrived since the last value \[s\]; NaN of none.
        Delay = declared("delay", "s").at_intervals_only(SINCE),
        /// Largest time from source to destination of the same cells \[s\]; NaN of none.
        MaxDelay = declared("max_delay", "s").at_intervals_only(SINCE),
    }
}

impl FlowQuantity {
    /// Whether the destination knows it.
    pub const fn is_of_receiver(self) -> bool {
        matches!(self, FlowQuantity::Received | FlowQuantity::Delay | FlowQuantity::MaxDelay)
    }

    /// Whether a virtual source has it as a source has.
    pub const fn is_of_virtual_source(self) -> bool {
        use FlowQuantity::{Acr, BackwardRm, ForwardRm, SourceQueue, SourceRate};
        matches!(self, Acr | SourceRate | SourceQueue | ForwardRm | BackwardRm)
    }
}

quantities! {
    /// Quantities of an output port.
    pub enum PortQuantity {
        /// Cells waiting and in transmission, of all categories \[cells\].
        Queue = declared("queue", "cells"),
        /// Queue of CBR and VBR \[cells\].
        GuaranteedQueue = declared("guaranteed_queue", "cells"),
        /// Queue of ABR \[cells\].
        AbrQueue = declared("abr_queue", "cells"),
        /// Queue of UBR \[cells\].
        UbrQueue = declared("ubr_queue", "cells"),
        /// Share of the line in use since the last value [0 to 1].
        Utilization = declared("utilization", "").at_intervals_only(AVERAGE),
        /// Cells lost at this port so far \[cells\].
        Drops = declared("port_drops", "cells"),
    }
    /// A figure of the port's algorithm, by its place in `metrics()`: z, N, FairShare and others.
    beside Metric(u8)
}
