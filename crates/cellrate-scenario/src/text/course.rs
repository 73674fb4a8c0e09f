//! Files with the course of a link's rate or delay: their contents take the place of their names.

use std::sync::Arc;

use crate::keys::MAX_COLUMN;
use crate::text::check;
use crate::text::columns::columns;
use crate::text::error::{Fault, Place};
use crate::text::files::{Contents, Folders, Wrong};
use crate::text::quantity::shortened;
use crate::text::tree::{Node, Table, Value};

/// Most steps of a link's rate or delay.
pub(crate) const MOST_STEPS: usize = 1_000_000;

/// Reads the file that `table` names. Says whether it is of a kind that is known here.
pub(super) fn take_in(table: &mut Table, folders: &Folders<'_>) -> Result<bool, Fault> {
    let Some(kind) = table.text("type").map(str::to_owned) else { return Ok(false) };
    if !matches!(&*kind, "csv" | "mahimahi") {
        return Ok(false);
    }
    let Some(entry) = table.remove("file") else { return Ok(false) };
    let file = check::text(&entry.node)?;
    let (key, value) = if kind == "csv" {
        let column = |key: &str, default: i64| {
            table.node(key).map_or(Ok(default), |node| check::integer(node, 1, MAX_COLUMN))
        };
        let Some(unit) = table.node("unit") else {
            return Err(check::missing(entry.node.place, "unit", "what the file counts"));
        };
        let places = [column("time_column", 1)?, column("column", 2)?].map(|column| column as usize);
        let units = [table.text("time_unit").unwrap_or("s"), check::text(unit)?];
        (
            "steps",
            folders.read(file).and_then(|contents| csv(file, &contents, places, units, entry.node.place)),
        )
    } else {
        ("opportunities", folders.read(file).and_then(|contents| mahimahi(file, &contents)))
    };
    let value = value.map_err(|(message, remedy)| Fault::new(entry.node.place, message, remedy))?;
    table.set(key, entry.place, Node { place: entry.node.place, value });
    Ok(true)
}

/// The instants of a packet-delivery trace, as mahimahi reads it: a whole number in each line, in order, the last one
/// above 0.
fn mahimahi(file: &str, contents: &Contents) -> Result<Value, Wrong> {
    let text = String::from_utf8_lossy(&contents.octets);
    let wrong = |line: usize, what: String| {
        let remedy = "Each line is an instant in ms, in order, and the last one is above 0";
        (format!("line {line} of {}: {what}", shortened(file)), remedy.to_owned())
    };
    let mut instants: Vec<u32> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end_matches('\r');
        let Ok(instant) = line.parse::<u32>() else {
            return Err(wrong(number, format!("{} is no whole number of ms", contents.quoted(line))));
        };
        if let Some(&last) = instants.last().filter(|&&last| instant < last) {
            return Err(wrong(number, format!("{instant} comes after {last}")));
        }
        instants.push(instant);
    }
    match instants.last() {
        Some(0) => Err(wrong(instants.len(), "the last instant is 0".into())),
        Some(_) => Ok(Value::Numbers(instants.into())),
        None => {
            Err((format!("there is nothing in {}", shortened(file)), "Give an instant in each line".into()))
        }
    }
}

/// The steps of a table, each an instant and a value with their units.
fn csv(
    file: &str,
    contents: &Contents,
    [time_column, column]: [usize; 2],
    [time_unit, unit]: [&str; 2],
    place: Place,
) -> Result<Value, Wrong> {
    let octets = &contents.octets;
    let text = String::from_utf8_lossy(octets.strip_prefix("\u{feff}".as_bytes()).unwrap_or(octets));
    let remedy = || {
        format!(
            "Instants are taken from column {time_column}, values from column {column}; see `time_column`"
        )
    };
    let is_row = |line: &str| {
        !line.starts_with(['#', '%']) && line.contains(|character: char| character.is_ascii_digit())
    };
    let text_node = |text: String| Node { place, value: Value::Text(text.into()) };
    let (mut steps, mut last, mut has_names) = (Vec::new(), f64::NEG_INFINITY, false);
    for (number, line) in (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| is_row(line)) {
        let wrong = |what: String| (format!("line {number} of {}: {what}", shortened(file)), remedy());
        let fields = columns(line);
        let field = |column: usize| match fields.get(column - 1) {
            Some(field) => Ok(*field),
            None => Err(wrong(format!("it has {}", check::plural(fields.len(), "column")))),
        };
        let (time, value) = (field(time_column)?, field(column)?);
        let amount =
            |field: &str| field.parse::<f64>().ok().filter(|amount| (0.0..f64::INFINITY).contains(amount));
        let Some(at) = amount(time) else {
            // The names of the columns.
            if steps.is_empty() && !has_names && time.parse::<f64>().is_err() {
                has_names = true;
                continue;
            }
            return Err(wrong(format!("{} is no instant", contents.quoted(time))));
        };
        if amount(value).is_none() {
            return Err(wrong(format!("{} is no value of zero or more", contents.quoted(value))));
        }
        if at <= last {
            return Err(wrong(format!("{time} does not come after the instant before it")));
        }
        if steps.len() == MOST_STEPS {
            return Err(wrong(format!("there are more than {MOST_STEPS} steps")));
        }
        last = at;
        let pair = vec![text_node(format!("{time} {time_unit}")), text_node(format!("{value} {unit}"))];
        steps.push(Node { place, value: Value::from(pair) });
    }
    if steps.is_empty() {
        return Err((format!("there are no steps in {}", shortened(file)), "Give one in each line".into()));
    }
    Ok(Value::List(Arc::new(steps)))
}
