//! Files that a scenario refers to: what they hold takes the place of their names.
//!
//! A document is whole without them then: it can be stored, hashed and run elsewhere.

use std::sync::Arc;

use crate::courses;
use crate::demand;
use crate::text::error::Fault;
use crate::text::files::Folders;
use crate::text::tree::{Node, Table, Value};
use crate::traffic::frame_trace::{Known, TRACE, replace};

/// Reads the file of every trace in `table`, or below it, as seen from the first of `folders`. Says whether there is
/// any.
pub(crate) fn read_files(table: &mut Table, folders: &Folders<'_>) -> Result<bool, Fault> {
    let mut known = Known::new();
    let found = below(table, folders, &mut known)?;
    Ok(found || !known.is_empty())
}

/// Keys whose tables may name a file: traces of frames, what links follow, and flows with their sizes.
const KEYS: [&str; 5] =
    [TRACE, courses::RATE_COURSE.name, courses::DELAY_COURSE.name, demand::SIZE.name, demand::ARRIVALS.name];

/// Whether what links follow, or what flows are, has been found.
fn below(table: &mut Table, folders: &Folders<'_>, known: &mut Known) -> Result<bool, Fault> {
    let mut found = false;
    // What the keys of a custom algorithm are called is its own affair.
    for entry in table.entries.iter_mut().filter(|entry| &*entry.key != "parameters") {
        let may_name_a_file = KEYS.contains(&&*entry.key);
        // What names no file is not touched, so that it stays shared with its copies.
        let is_file = may_name_a_file && entry.node.table().is_some_and(|trace| trace.node("file").is_some());
        if !is_file && !names_a_file(&entry.node) {
            continue;
        }
        match &mut entry.node.value {
            Value::Table(trace) if is_file && &*entry.key == TRACE => {
                replace(Arc::make_mut(trace), folders, known)?;
            }
            Value::Table(table) if is_file => {
                let table = Arc::make_mut(table);
                found |= courses::read_file(table, folders)? || demand::read_file(table, folders)?;
            }
            Value::Table(inner) => found |= below(Arc::make_mut(inner), folders, known)?,
            Value::List(nodes) => {
                for inner in Arc::make_mut(nodes).iter_mut().filter_map(Node::table_mut) {
                    found |= below(inner, folders, known)?;
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Whether there is a trace with a file in `node`.
fn names_a_file(node: &Node) -> bool {
    match &node.value {
        Value::Table(table) => table.entries.iter().any(|entry| {
            let is_file = KEYS.contains(&&*entry.key)
                && entry.node.table().is_some_and(|trace| trace.node("file").is_some());
            is_file || &*entry.key != "parameters" && names_a_file(&entry.node)
        }),
        Value::List(nodes) => nodes.iter().any(names_a_file),
        _ => false,
    }
}
