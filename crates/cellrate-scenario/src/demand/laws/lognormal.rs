//! Lognormal distributions.

use cellrate_proto::declaration::{Key, Kind, Range, Shape, key, required, written};

use super::{Declared, Law, flow_size, seconds};
use crate::demand::choice;
use crate::keys::{OCTETS, SPAN};
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::Table;

const SIGMA_KEY: Key = key(
    "sigma",
    Kind::Ratio(Range::above(0.0, 10.0)),
    "1",
    "Standard deviation of their natural logarithms.",
);

pub(super) const HOLDING_TIME: Declared = Declared {
    kind: "lognormal",
    shape: Shape {
        name: "lognormal_holding",
        about: "Lognormally distributed.",
        keys: &[required("mean", SPAN, "The mean of the times themselves."), SIGMA_KEY],
    },
    read: |node, table| with_mean(seconds(choice::required(node, table, "mean")?)?, table),
    file: None,
};

pub(super) const SIZE: Declared = Declared {
    kind: "lognormal",
    shape: Shape {
        name: "lognormal_size",
        about: "Lognormally distributed.",
        keys: &[required("mean", OCTETS, "The mean of the sizes themselves."), SIGMA_KEY],
    },
    read: |node, table| with_mean(flow_size(choice::required(node, table, "mean")?)?, table),
    file: None,
};

fn with_mean(mean: f64, table: &Table) -> Result<Law, Fault> {
    Ok(Law::Lognormal {
        mean,
        sigma: optional(table, "sigma", quantity::ratio)?
            .unwrap_or(const { written::ratio(SIGMA_KEY.default) }),
    })
}
