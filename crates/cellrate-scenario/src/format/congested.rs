//! The keys of destinations that are congested themselves.

use cellrate_proto::CellRate;
use cellrate_proto::declaration::{Key, Kind, Table, key};

use crate::keys::TIME;
use crate::text::tree::Node;

pub(super) const CONGESTED_KEY: Key = key(
    "congested",
    Kind::List(&Kind::Table(&Congested::SHAPE), 0),
    "[]",
    "Spans in which the destination itself is congested and says so in BRMs (docs/algorithms/congested-destination.md); in order, apart.",
);

/// A span in which a destination is congested, and what it writes into the BRMs that leave it (TM 4.0, 5.10.5, rules 2
/// and 5).
#[derive(Debug, Table)]
#[table(name = "congested", written)]
pub(crate) struct Congested {
    /// The span, [start, end]; the end is outside.
    #[key(kind = Kind::Pair(&TIME, &TIME), missing = "the span, [start, end]")]
    pub during: Node,
    /// It sets CI.
    #[key(default = "true without `ni` and `er`, else false")]
    pub ci: Option<bool>,
    /// It sets NI.
    #[key(default = "false")]
    pub ni: bool,
    /// It lowers ER to this.
    #[key(default = "none")]
    pub er: Option<CellRate>,
    /// It also sends BRMs of its own (BN = 1, CLP = 1) that carry CI or NI, one of which must be set: as the span
    /// begins and every 100 ms within it, never sooner than 100 ms after the one before.
    #[key(default = "false")]
    pub originates: bool,
}
