//! Pareto distributions.

use cellrate_proto::declaration::{Kind, Range, Shape, key, required};

use super::{ALPHA_KEY, Declared, Law, alpha, flow_size, seconds};
use crate::demand::choice;
use crate::keys::{OCTETS, SPAN};
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::or_default;

pub(super) const HOLDING_TIME: Declared = Declared {
    kind: "pareto",
    shape: Shape {
        name: "pareto_holding",
        about: "Pareto distributed.",
        keys: &[required("mean", SPAN, "The mean."), ALPHA_KEY],
    },
    read: |node, table| {
        let (mean, alpha) = (seconds(choice::required(node, table, "mean")?)?, alpha(table)?);
        Ok(Law::Pareto { least: mean * (alpha - 1.0) / alpha, alpha, most: f64::INFINITY })
    },
    file: None,
};

const SIZE_SHAPE: Shape = Shape {
    name: "pareto_size",
    about: "Pareto distributed, up to a largest one.",
    keys: &[
        required("least", OCTETS, "The smallest."),
        key(
            "alpha",
            Kind::Ratio(Range::above(0.0, 100.0)),
            "1.2",
            "Shape; the smaller, the heavier the tail.",
        ),
        key("most", OCTETS, "\"1000 GB\"", "The largest."),
    ],
};

pub(super) const SIZE: Declared = Declared {
    kind: "pareto",
    shape: SIZE_SHAPE,
    read: |node, table| {
        let most = or_default(table, &SIZE_SHAPE, "most", flow_size)?;
        let least = flow_size(choice::required(node, table, "least")?)?;
        if most <= least {
            let place = table.node("most").map_or(node.place, |most| most.place);
            let message = format!("most is {most} octets, and least {least} octets");
            return Err(Fault::new(place, message, "Write more for most than for least"));
        }
        let alpha = or_default(table, &SIZE_SHAPE, "alpha", quantity::ratio)?;
        Ok(Law::Pareto { least, alpha, most })
    },
    file: None,
};
