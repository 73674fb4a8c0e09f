//! The keys of links that change.

use cellrate_proto::declaration::{Kind, Range, SpanOrZero, Table};
use cellrate_proto::{BitRate, Duration, Time};

use crate::model::InFlight;
use crate::text::tree::Node;

/// State of a link from an instant on; values that are not given stay as they were.
#[derive(Debug, Table)]
#[table(name = "change", written)]
pub(crate) struct Change {
    /// The instant; a change at 0 is what the link begins with.
    #[key(missing = "")]
    pub at: Time,
    /// An end of the link: the change is of the line out of it alone. Both lines may change at one instant, in an entry
    /// each.
    #[key(default = "both ways", kind = Kind::Reference)]
    pub from: Option<Node>,
    /// Line rate, for each bit that leaves from then on, of a cell in transmission too, both ways; "0 bps": none
    /// leaves.
    #[key(default = "as before")]
    pub rate: Option<BitRate>,
    /// One-way propagation delay, of each cell whose transmission ends from then on. If it decreases, a cell arrives no
    /// earlier than those before it.
    #[key(default = "as before", as = Option<SpanOrZero>)]
    pub delay: Option<Duration>,
    /// Probability that such a cell is lost on the line, either way.
    #[key(default = "as before", range = Range::FRACTION)]
    pub loss: Option<f64>,
    /// Fate of the cells that are on the line then, either way: they arrive as they would have, or are lost, and
    /// counted as lost when their transmission ends.
    #[key(default = "kept")]
    pub in_flight: InFlight,
}

/// Changes of a link.
pub(super) const CHANGES: Kind = Kind::List(&Kind::Table(&Change::SHAPE), 0);
