//! Exponential distributions.

use cellrate_proto::declaration::{Shape, required};

use super::{Declared, Law, flow_size, seconds};
use crate::demand::choice;
use crate::keys::{OCTETS, SPAN};

pub(super) const HOLDING_TIME: Declared = Declared {
    kind: "exponential",
    shape: Shape {
        name: "exponential_holding",
        about: "Exponentially distributed.",
        keys: &[required("mean", SPAN, "The mean.")],
    },
    read: |node, table| Ok(Law::Exponential { mean: seconds(choice::required(node, table, "mean")?)? }),
    file: None,
};

pub(super) const SIZE: Declared = Declared {
    kind: "exponential",
    shape: Shape {
        name: "exponential_size",
        about: "Exponentially distributed.",
        keys: &[required("mean", OCTETS, "The mean.")],
    },
    read: |node, table| Ok(Law::Exponential { mean: flow_size(choice::required(node, table, "mean")?)? }),
    file: None,
};
