//! Traces of frames in files: what they hold takes the place of their names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::keys::{MAX_COLUMN, MAX_FRAME};
use crate::text::check::{self, plural};
use crate::text::columns::{columns, rows};
use crate::text::error::Fault;
use crate::text::files::{Folders, Wrong};
use crate::text::quantity::shortened;
use crate::text::tree::{Node, Table, Value};

/// The key of a trace.
pub(crate) const TRACE: &str = "trace";

/// Lengths by file, column, and whether they are in bits: many connections may have the same.
pub(crate) type Known = BTreeMap<(String, Option<i64>, bool), Arc<[u32]>>;

/// The lengths of a trace, in place of its file. The other keys stay: a sweep may name another file.
pub(crate) fn replace(trace: &mut Table, folders: &Folders<'_>, known: &mut Known) -> Result<(), Fault> {
    let Some(entry) = trace.remove("file") else { return Ok(()) };
    let file = check::text(&entry.node)?;
    let column = trace.node("column").map(|node| check::integer(node, 1, MAX_COLUMN)).transpose()?;
    let in_bits = trace.text("unit") == Some("bits");
    let key = (file.to_owned(), column, in_bits);
    let lengths = match known.get(&key) {
        Some(lengths) => Arc::clone(lengths),
        None => {
            let lengths = read(file, folders, column, in_bits)
                .map_err(|(message, remedy)| Fault::new(entry.node.place, message, remedy))?;
            known.insert(key, Arc::clone(&lengths));
            lengths
        }
    };
    trace.set("sizes", entry.place, Node { place: entry.node.place, value: Value::Numbers(lengths) });
    Ok(())
}

fn read(file: &str, folders: &Folders<'_>, column: Option<i64>, in_bits: bool) -> Result<Arc<[u32]>, Wrong> {
    let contents = folders.read(file)?;
    let text = String::from_utf8_lossy(&contents.octets);
    let number = column.unwrap_or(1);
    let lengths = rows(&text).map(|(line_number, line)| {
        let wrong = |what: String| {
            let remedy = format!("Lengths are taken from column {number}; see the keys `column` and `unit`");
            (format!("line {line_number} of {}: {what}", shortened(file)), remedy)
        };
        if let Some(ambiguous) = ambiguous_comma(line, column.is_some()) {
            let what = format!("{} has a comma between digits", contents.quoted(ambiguous));
            let remedy = "Write lengths without commas; if it parts columns, say so with `column`, or put a space behind it";
            return Err((wrong(what).0, remedy.to_owned()));
        }
        let columns = columns(line);
        let Some(field) = columns.get(number as usize - 1) else {
            return Err(wrong(format!("it has {}", plural(columns.len(), "column"))));
        };
        match length(field, in_bits) {
            Some(octets) if octets <= MAX_FRAME as u64 => Ok(octets as u32),
            Some(octets) => Err(wrong(format!("a frame of {octets} octets is longer than 16 MiB"))),
            None if field.is_empty() => Err(wrong(format!("column {number} is empty"))),
            None => Err(wrong(format!("{} is not a whole number", contents.quoted(field)))),
        }
    });
    let lengths = lengths.collect::<Result<Arc<[u32]>, Wrong>>()?;
    match lengths.is_empty() {
        true => Err((format!("there are no frames in {}", shortened(file)), "Give one in each line".into())),
        false => Ok(lengths),
    }
}

/// A word of the line with a comma between two digits that may be no mark between columns: the thousands of 1,500, or
/// the tenths of 100,5. Where other marks part columns too it never is one; where nothing but commas does, only who
/// names a
/// `column` knows of columns.
fn ambiguous_comma(line: &str, names_column: bool) -> Option<&str> {
    let words = || line.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty());
    let has_comma = |word: &&str| {
        let between =
            |three: &[u8]| three[1] == b',' && three[0].is_ascii_digit() && three[2].is_ascii_digit();
        word.as_bytes().windows(3).any(between)
    };
    let found = words().find(has_comma)?;
    let quoted = found.starts_with('"') && found.ends_with('"');
    (quoted || words().count() > 1 || !names_column).then_some(found)
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
    fn a_comma_between_digits_is_told_unless_columns_are_known_of() {
        for line in ["1,500", "100,5", "1,234,567", "\"1,500\""] {
            assert_eq!(ambiguous_comma(line, false), Some(line));
        }
        assert_eq!(ambiguous_comma("1,500", true), None);
        for line in ["1 1,500", "0;100,5", "1\t1,500", "\"1,500\""] {
            assert!(ambiguous_comma(line, true).is_some(), "{line}");
        }
        for line in ["1500", "2, B, 40.0, 700.0", "1, 500", "I,500", "1,I,500"] {
            assert_eq!(ambiguous_comma(line, false), None, "{line}");
        }
    }

    #[test]
    fn lengths_are_whole_numbers_of_octets_or_bits() {
        let lengths = ["1000", "1000.0", "1e3", "0", "9", "1000.5", "-1", "nan", "inf", "I"]
            .map(|field| [false, true].map(|in_bits| length(field, in_bits)));
        assert_eq!(lengths[..3], [[Some(1000), Some(125)]; 3]);
        assert_eq!(lengths[3..5], [[Some(0), Some(0)], [Some(9), Some(2)]]);
        assert_eq!(lengths[5..], [[None; 2]; 5]);
    }
}
