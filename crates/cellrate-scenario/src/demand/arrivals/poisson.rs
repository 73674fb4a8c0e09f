//! Poisson processes.

use cellrate_proto::declaration::{Shape, required};

use super::{Arrivals, GAP, Process};
use crate::demand::choice;
use crate::keys::SPAN;
use crate::text::quantity;

pub(super) const PROCESS: Process = Process {
    kind: "poisson",
    shape: Shape { name: "poisson", about: "A Poisson process.", keys: &[required("gap", SPAN, GAP)] },
    read: |node, table, _| {
        Ok(Arrivals::Poisson { gap: quantity::span(choice::required(node, table, "gap")?)? })
    },
    file: None,
};
