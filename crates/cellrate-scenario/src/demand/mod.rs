//! Demands of flows and calls: when they arrive, and how much each asks for.
//!
//! A process of arrivals is a file in `arrivals`, a distribution of sizes or of holding times one in `laws`: its keys,
//! how they are read, and how a file that they name is read. It has a line in the list of its folder, from which
//! format, schema and reference follow.

mod arrivals;
mod choice;
mod columns;
mod laws;

use std::sync::Arc;

use cellrate_proto::declaration::Tagged;
use cellrate_proto::{Duration, Octets, Time};

use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::files::Folders;
use crate::text::tree::{Node, Table, Value};
use arrivals::PROCESSES;
use choice::{Choice, chosen, variants};
use laws::{HOLDING_TIMES, SIZES};

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
    /// Arrivals at these instants, in order.
    At(Arc<[Time]>),
    /// Flows of a trace, in order of time.
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

/// Gives the index of the pair of hosts that a trace names at a place, which the demand has from then on.
pub(crate) type PairOf<'a> = dyn FnMut(&[Node; 2], Place) -> Result<u32, Fault> + 'a;

pub(crate) const ARRIVALS: Tagged =
    Tagged { name: "arrivals", default: None, variants: &variants::<_, { PROCESSES.len() }>(PROCESSES) };

pub(crate) const HOLDING: Tagged = Tagged {
    name: "holding",
    default: Some("exponential"),
    variants: &variants::<_, { HOLDING_TIMES.len() }>(HOLDING_TIMES),
};

pub(crate) const SIZE: Tagged =
    Tagged { name: "size", default: None, variants: &variants::<_, { SIZES.len() }>(SIZES) };

/// When flows or calls arrive, as a checked table says.
pub(crate) fn arrivals(node: &Node, pair: &mut PairOf<'_>) -> Result<Arrivals, Fault> {
    let (table, read) = chosen(PROCESSES, &ARRIVALS, node, "how they arrive")?;
    read(node, table, pair)
}

/// How long calls last \[s\], as a checked table says.
pub(crate) fn holding_time(node: &Node) -> Result<Law, Fault> {
    let (table, read) = chosen(HOLDING_TIMES, &HOLDING, node, "its distribution")?;
    read(node, table)
}

/// How large flows are \[octets\], as a checked table says.
pub(crate) fn size(node: &Node) -> Result<Law, Fault> {
    let (table, read) = chosen(SIZES, &SIZE, node, "its distribution")?;
    read(node, table)
}

/// Reads the file that `table` names. Says whether it is of a kind that is known here.
pub(crate) fn read_file(table: &mut Table, folders: &Folders<'_>) -> Result<bool, Fault> {
    let Some(kind) = table.text("type") else { return Ok(false) };
    let of_sizes = SIZES.iter().find(|size| size.kind == kind).and_then(|size| size.file);
    let of_flows = || PROCESSES.iter().find(|process| process.kind == kind).and_then(|process| process.file);
    let Some(read) = of_sizes.or_else(of_flows) else { return Ok(false) };
    let Some(entry) = table.remove("file") else { return Ok(false) };
    let (file, place) = (check::text(&entry.node)?, entry.node.place);
    let (key, value) = read(table, file, folders, place)?;
    table.set(key, entry.place, Node { place, value });
    Ok(true)
}

/// Reads from the file that a table named at a place, as its keys say. Gives the key that takes its place, and the
/// value of that.
type FromFile = fn(&Table, &str, &Folders<'_>, Place) -> Result<(&'static str, Value), Fault>;
