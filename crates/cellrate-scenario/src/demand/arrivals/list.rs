//! Arrivals at given instants.

use cellrate_proto::Time;
use cellrate_proto::declaration::{Kind, Shape, required};

use super::{Arrivals, Process};
use crate::demand::choice;
use crate::keys::TIME;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::reading::instant;

pub(super) const PROCESS: Process = Process {
    kind: "list",
    shape: Shape {
        name: "list",
        about: "Arrivals at given instants.",
        keys: &[required("instants", Kind::List(&TIME, 1), "The instants, in order.")],
    },
    read: |node, table, _| {
        let mut instants: Vec<Time> = Vec::new();
        for node in check::list(choice::required(node, table, "instants")?)? {
            let at = instant(node)?;
            if instants.last().is_some_and(|last| at < *last) {
                let message = format!("{} is before the instant that precedes it", node.plain());
                return Err(Fault::new(node.place, message, "Write instants in order of time"));
            }
            instants.push(at);
        }
        Ok(Arrivals::At(instants.into()))
    },
    file: None,
};
