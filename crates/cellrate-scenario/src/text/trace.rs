//! Traces of frames in files: what they hold takes the place of their names.
//!
//! A document is whole without them then: it can be stored, hashed and run elsewhere.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::format::{MAX_COLUMN, MAX_FRAME};
use crate::text::check::{self, plural};
use crate::text::error::Fault;
use crate::text::quantity::shortened;
use crate::text::tree::{Node, Table, Value};

/// Lengths by file, column, and whether they are in bits: many connections may have the same.
type Known = BTreeMap<(String, i64, bool), Arc<[u32]>>;

/// Reads the file of every trace in `table`, or below it, as seen from `folder`. Says whether there is any.
pub(crate) fn take_in(table: &mut Table, folder: &Path) -> Result<bool, Fault> {
    let mut known = Known::new();
    below(table, folder, &mut known)?;
    Ok(!known.is_empty())
}

fn below(table: &mut Table, folder: &Path, known: &mut Known) -> Result<(), Fault> {
    // What the keys of a custom algorithm are called is its own affair.
    for entry in table.entries.iter_mut().filter(|entry| &*entry.key != "parameters") {
        let is_trace = &*entry.key == "trace";
        // What names no file is not touched, so that it stays shared with its copies.
        let is_file = is_trace && entry.node.table().is_some_and(|trace| trace.node("file").is_some());
        if !is_file && !names_a_file(&entry.node) {
            continue;
        }
        match &mut entry.node.value {
            Value::Table(trace) if is_file => replace(Arc::make_mut(trace), folder, known)?,
            Value::Table(inner) => below(Arc::make_mut(inner), folder, known)?,
            Value::List(nodes) => {
                Arc::make_mut(nodes)
                    .iter_mut()
                    .filter_map(Node::table_mut)
                    .try_for_each(|inner| below(inner, folder, known))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether there is a trace with a file in `node`.
fn names_a_file(node: &Node) -> bool {
    match &node.value {
        Value::Table(table) => table.entries.iter().any(|entry| {
            let is_file = &*entry.key == "trace"
                && entry.node.table().is_some_and(|trace| trace.node("file").is_some());
            is_file || &*entry.key != "parameters" && names_a_file(&entry.node)
        }),
        Value::List(nodes) => nodes.iter().any(names_a_file),
        _ => false,
    }
}

/// The lengths of a trace, in place of its file. The other keys stay: a sweep may name another file.
fn replace(trace: &mut Table, folder: &Path, known: &mut Known) -> Result<(), Fault> {
    let Some(entry) = trace.remove("file") else { return Ok(()) };
    let file = check::text(&entry.node)?;
    let column = trace.node("column").map_or(Ok(1), |node| check::integer(node, 1, MAX_COLUMN))?;
    let in_bits = trace.text("unit") == Some("bits");
    let key = (file.to_owned(), column, in_bits);
    let lengths = match known.get(&key) {
        Some(lengths) => Arc::clone(lengths),
        None => {
            let lengths = read(file, folder, column, in_bits)
                .map_err(|(message, remedy)| Fault::new(entry.node.place, message, remedy))?;
            known.insert(key, Arc::clone(&lengths));
            lengths
        }
    };
    trace.set("sizes", entry.place, Node { place: entry.node.place, value: Value::Numbers(lengths) });
    Ok(())
}

/// What is wrong, and what to do about it.
type Wrong = (String, String);

fn read(file: &str, folder: &Path, column: i64, in_bits: bool) -> Result<Arc<[u32]>, Wrong> {
    let octets = std::fs::read(folder.join(file)).map_err(|error| {
        let message = format!("{} cannot be read: {error}", shortened(file));
        (message, "Write its place as seen from the folder of the scenario".to_owned())
    })?;
    let text = String::from_utf8_lossy(&octets);
    let is_frame = |line: &str| {
        !line.starts_with(['#', '%']) && line.contains(|character: char| character.is_ascii_digit())
    };
    let lines = (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| is_frame(line));
    let lengths = lines.map(|(number, line)| {
        let wrong = |what: String| {
            let remedy = format!("Lengths are taken from column {column}; see the keys `column` and `unit`");
            (format!("line {number} of {}: {what}", shortened(file)), remedy)
        };
        let columns = || {
            let ends = |character: char| character.is_whitespace() || [',', ';'].contains(&character);
            line.split(ends).filter(|field| !field.is_empty())
        };
        let Some(field) = columns().nth(column as usize - 1) else {
            return Err(wrong(format!("it has {}", plural(columns().count(), "column"))));
        };
        match length(field, in_bits) {
            Some(octets) if octets <= MAX_FRAME as u64 => Ok(octets as u32),
            Some(octets) => Err(wrong(format!("a frame of {octets} octets is longer than 16 MiB"))),
            None => Err(wrong(format!("\"{}\" is no whole number", shortened(field)))),
        }
    });
    let lengths = lengths.collect::<Result<Arc<[u32]>, Wrong>>()?;
    match lengths.is_empty() {
        true => Err((format!("there are no frames in {}", shortened(file)), "Give one in each line".into())),
        false => Ok(lengths),
    }
}

/// The octets of a frame; some traces have whole numbers with a decimal point.
fn length(field: &str, in_bits: bool) -> Option<u64> {
    let whole =
        |number: f64| (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64);
    let count = field.parse::<u64>().ok().or_else(|| field.parse().ok().and_then(whole))?;
    Some(if in_bits { count.div_ceil(8) } else { count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_whole_numbers_of_octets_or_bits() {
        let lengths = ["1000", "1000.0", "1e3", "0", "9", "1000.5", "-1", "nan", "inf", "I"]
            .map(|field| [false, true].map(|in_bits| length(field, in_bits)));
        assert_eq!(lengths[..3], [[Some(1000), Some(125)]; 3]);
        assert_eq!(lengths[3..5], [[Some(0), Some(0)], [Some(9), Some(2)]]);
        assert_eq!(lengths[5..], [[None; 2]; 5]);
    }
}
