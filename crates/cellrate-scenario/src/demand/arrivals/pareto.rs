//! Gaps of a Pareto distribution.

use cellrate_proto::declaration::{Shape, required};

use super::{Arrivals, GAP, Process};
use crate::demand::choice;
use crate::demand::laws::{ALPHA_KEY, alpha};
use crate::keys::SPAN;
use crate::text::quantity;

pub(super) const PROCESS: Process = Process {
    kind: "pareto",
    shape: Shape {
        name: "pareto_gaps",
        about: "Times from one to the next that are Pareto distributed.",
        keys: &[required("gap", SPAN, GAP), ALPHA_KEY],
    },
    read: |node, table, _| {
        let gap = quantity::span(choice::required(node, table, "gap")?)?;
        Ok(Arrivals::Pareto { gap, alpha: alpha(table)? })
    },
    file: None,
};
