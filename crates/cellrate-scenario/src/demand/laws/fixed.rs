//! Numbers that are always the same.

use cellrate_proto::declaration::{Shape, required};

use super::{Declared, Law, flow_size, seconds};
use crate::demand::choice;
use crate::keys::{OCTETS, SPAN};

pub(super) const HOLDING_TIME: Declared = Declared {
    kind: "fixed",
    shape: Shape {
        name: "fixed_holding",
        about: "Always the same.",
        keys: &[required("time", SPAN, "How long.")],
    },
    read: |node, table| Ok(Law::Fixed(seconds(choice::required(node, table, "time")?)?)),
    file: None,
};

pub(super) const SIZE: Declared = Declared {
    kind: "fixed",
    shape: Shape {
        name: "fixed_size",
        about: "Always the same.",
        keys: &[required("octets", OCTETS, "How many.")],
    },
    read: |node, table| Ok(Law::Fixed(flow_size(choice::required(node, table, "octets")?)?)),
    file: None,
};
