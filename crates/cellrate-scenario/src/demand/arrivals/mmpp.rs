//! Markov-modulated Poisson processes of two states.

use cellrate_proto::Duration;
use cellrate_proto::declaration::{Kind, Shape, required};

use super::{Arrivals, Process};
use crate::demand::choice;
use crate::keys::SPAN;
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};

pub(super) const PROCESS: Process = Process {
    kind: "mmpp",
    shape: Shape {
        name: "mmpp",
        about: "A Markov-modulated Poisson process of two states: a Poisson process whose rate is now the one, now the other.",
        keys: &[
            required("gaps", Kind::Pair(&SPAN, &SPAN), "Mean time from one to the next, in each state."),
            required(
                "stays",
                Kind::Pair(&SPAN, &SPAN),
                "Mean time in each state, exponentially distributed.",
            ),
        ],
    },
    read: |node, table, _| {
        Ok(Arrivals::Mmpp { gaps: two(node, table, "gaps")?, stays: two(node, table, "stays")? })
    },
    file: None,
};

/// A span for each state.
fn two(node: &Node, table: &Table, key: &str) -> Result<[Duration; 2], Fault> {
    let [one, other] = check::pair(choice::required(node, table, key)?)?;
    Ok([quantity::span(one)?, quantity::span(other)?])
}
