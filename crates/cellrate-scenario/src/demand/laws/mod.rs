//! Distributions of sizes and of holding times.

mod cdf;
mod exponential;
mod fixed;
mod lognormal;
mod pareto;
mod published;

use cellrate_proto::Duration;
use cellrate_proto::declaration::{Key, Kind, Range, key, written};

use super::{Choice, Law};
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::{Node, Table};

/// A distribution as a scenario writes it.
type Declared = Choice<fn(&Node, &Table) -> Result<Law, Fault>>;

/// Distributions of holding times, in the order of the reference.
pub(super) const HOLDING_TIMES: &[Declared] =
    &[exponential::HOLDING_TIME, lognormal::HOLDING_TIME, pareto::HOLDING_TIME, fixed::HOLDING_TIME];

/// Distributions of sizes, in the order of the reference.
pub(super) const SIZES: &[Declared] = &[
    published::WEB_SEARCH,
    published::DATA_MINING,
    published::CACHE_FOLLOWER,
    published::HADOOP,
    cdf::SIZE,
    exponential::SIZE,
    lognormal::SIZE,
    pareto::SIZE,
    fixed::SIZE,
];

/// Largest flow \[octets\].
const MOST_OCTETS: f64 = 1e12;

/// Reads the size of a flow \[octets\].
pub(super) fn flow_size(node: &Node) -> Result<f64, Fault> {
    match quantity::octets(node)?.0 as f64 {
        octets if (1.0..=MOST_OCTETS).contains(&octets) => Ok(octets),
        _ => {
            let message = format!("{} is not a size of a flow", node.plain());
            Err(Fault::new(node.place, message, "Write from 1 octet to 1000 GB"))
        }
    }
}

/// Reads a span \[s\].
fn seconds(node: &Node) -> Result<f64, Fault> {
    quantity::span(node).map(Duration::as_secs_f64)
}

pub(super) const ALPHA_KEY: Key =
    key("alpha", Kind::Ratio(Range::above(1.0, 100.0)), "1.5", "Shape; up to 2 the variance is infinite.");

/// The shape of a Pareto distribution that has a mean.
pub(super) fn alpha(table: &Table) -> Result<f64, Fault> {
    Ok(optional(table, "alpha", quantity::ratio)?.unwrap_or(const { written::ratio(ALPHA_KEY.default) }))
}
