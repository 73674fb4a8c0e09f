//! The keys of links.

use cellrate_proto::declaration::{Dimension, Key, Kind, Shape, Table, joined, total, without};

use super::changing::CHANGES;
use super::{COUNT, LIKE};
use crate::clocks::Offset;
use crate::courses::{DELAY_COURSE, RATE_COURSE};
use crate::keys::TIME;
use crate::model::LineKeys;
use crate::text::tree::Node;

/// A link as it is written: what other tables decide of it stays text.
#[derive(Debug, Table)]
#[table(written)]
pub(crate) struct LinkTable {
    /// The two nodes. The entry is called by both names with `-` between them; the second link between the same two is
    /// `a-b#2`.
    #[key(kind = Kind::Pair(&Kind::Reference, &Kind::Reference), missing = "")]
    pub between: Node,
    /// Name in paths and ports of `switch` where there are several links between the same nodes.
    #[key(default = "none", kind = Kind::Name)]
    pub name: Option<Node>,
    /// Line rate, headers included, the same both ways; or a table that says how it changes in time
    /// (docs/guides/changing-links.md).
    #[key(
        default = "required here or in defaults.link",
        kind = Kind::Or(&[Kind::Positive(Dimension::LineRate), Kind::Tagged(&RATE_COURSE)])
    )]
    pub rate: Option<Node>,
    /// Length; light takes 5 us per km.
    #[key(default = "required: this or delay", kind = Kind::Quantity(Dimension::Length))]
    pub length: Option<Node>,
    /// One-way propagation delay; or a table that says how it changes in time (docs/guides/changing-links.md).
    #[key(default = "required: this or length", kind = Kind::Or(&[TIME, Kind::Tagged(&DELAY_COURSE)]))]
    pub delay: Option<Node>,
    /// By how much the link is faster than its rate says, in both directions, at most 1000 ppm up or down. Admission
    /// and the default PCR use the rate as written.
    #[key(
        default = "that of its host; between switches \"0 ppm\", or drawn within 20 ppm where defaults.clocks is \"independent\""
    )]
    pub clock_offset: Option<Offset>,
    /// Keys that no other table decides.
    #[key(flatten)]
    pub line: LineKeys,
    /// How the link changes in the run, in order of time (docs/guides/changing-links.md). Switch algorithms use the
    /// rate in force at the end of each averaging interval, the default PCR the largest rate, admission the smallest,
    /// and FRTT the largest delay.
    #[key(default = "[]", kind = CHANGES)]
    pub changes: Option<Node>,
}

pub(super) const LINK: Shape = Shape {
    name: "link",
    about: "A duplex link.",
    keys: {
        const PARTS: &[&[Key]] = &[LinkTable::KEYS, &[COUNT, LIKE]];
        &joined::<_, { total(PARTS) }>(PARTS)
    },
};

pub(super) const LINK_DEFAULTS: Shape = Shape {
    name: "link_defaults",
    about: "Defaults of links.",
    keys: {
        const OWN: &[&str] = &["between", "name", "loss_bursts", "count", "like"];
        &without::<{ LINK.keys.len() - OWN.len() }>(LINK.keys, OWN)
    },
};
