//! Kinds of arrivals and distributions: what their lists hold, and the choice by `type`.

use cellrate_proto::declaration::{Shape, Tagged};

use super::FromFile;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};

/// A kind as a scenario writes it. `R` reads its table, which has been checked against the keys.
#[derive(Clone, Copy)]
pub(super) struct Choice<R> {
    /// Its `type`.
    pub kind: &'static str,
    /// A sentence on it, and its keys.
    pub shape: Shape,
    /// Reads it.
    pub read: R,
    /// Reads a file that it may name.
    pub file: Option<FromFile>,
}

/// Types and tables of a list, in its order.
pub(super) const fn variants<R, const N: usize>(list: &[Choice<R>]) -> [(&'static str, Shape); N] {
    let mut variants = [(list[0].kind, list[0].shape); N];
    let mut i = 0;
    while i < N {
        variants[i] = (list[i].kind, list[i].shape);
        i += 1;
    }
    variants
}

/// The table of a checked key, and what reads the kind that its `type` names; `about` says what a word in place of a
/// table lacks.
pub(super) fn chosen<'a, R: Copy>(
    list: &'static [Choice<R>],
    tagged: &Tagged,
    node: &'a Node,
    about: &str,
) -> Result<(&'a Table, R), Fault> {
    let missing = || check::missing(node.place, "type", about);
    let table = node.table().ok_or_else(missing)?;
    let kind = table.text("type").or(tagged.default).ok_or_else(missing)?;
    let choice = list.iter().find(|choice| choice.kind == kind).ok_or_else(missing)?;
    Ok((table, choice.read))
}

/// The value of a key that its kind requires.
pub(super) fn required<'a>(node: &Node, table: &'a Table, key: &str) -> Result<&'a Node, Fault> {
    table.node(key).ok_or_else(|| check::missing(node.place, key, "it is required for this type"))
}
