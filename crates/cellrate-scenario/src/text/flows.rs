//! Files with the sizes of flows, or with the flows themselves: their contents take the place of their names.

use std::sync::Arc;

use crate::keys::MAX_COLUMN;
use crate::text::check;
use crate::text::columns::columns;
use crate::text::error::{Fault, Place};
use crate::text::files::{Contents, Folders, Wrong};
use crate::text::quantity::shortened;
use crate::text::tree::{Node, Table, Value};

/// Most flows of a trace: each is a list of texts until the scenario is resolved.
const MOST_FLOWS: usize = 250_000;
/// Most points of a distribution.
const MOST_POINTS: usize = 100_000;
/// Octets that a packet of a table in packets stands for.
pub(crate) const PACKET: f64 = 1500.0;

/// Reads the file that `table` names. Says whether it is of a kind that is known here.
pub(crate) fn read_file(table: &mut Table, folders: &Folders<'_>) -> Result<bool, Fault> {
    let Some(kind) = table.text("type").map(str::to_owned) else { return Ok(false) };
    if !matches!(&*kind, "cdf" | "trace") {
        return Ok(false);
    }
    let Some(entry) = table.remove("file") else { return Ok(false) };
    let (file, place) = (check::text(&entry.node)?, entry.node.place);
    let column = |key: &str, default: i64| {
        let given = table.node(key).map_or(Ok(default), |node| check::integer(node, 1, MAX_COLUMN))?;
        Ok::<usize, Fault>(given as usize)
    };
    let Some(unit) = table.node("unit") else {
        return Err(check::missing(place, "unit", "what sizes in the file count"));
    };
    let octets = match check::text(unit)? {
        "packets" => PACKET,
        "kB" => 1000.0,
        _ => 1.0,
    };
    let (key, value) = if kind == "cdf" {
        let percent = table.text("shares") == Some("percent");
        let columns = [column("column", 1)?, column("share_column", 2)?];
        ("points", folders.read(file).and_then(|text| points(file, &text, columns, octets, percent, place)))
    } else {
        let columns = [
            column("time_column", 1)?,
            column("column", 4)?,
            column("from_column", 2)?,
            column("to_column", 3)?,
        ];
        let time_unit = table.text("time_unit").unwrap_or("s");
        let prefix = table.text("prefix").unwrap_or("");
        let read = folders.read(file);
        ("flows", read.and_then(|text| flows(file, &text, columns, (time_unit, octets, prefix), place)))
    };
    let value = value.map_err(|(message, remedy)| Fault::new(place, message, remedy))?;
    table.set(key, entry.place, Node { place, value });
    Ok(true)
}

/// Rows of a table in a file: the number of the line, and its columns.
fn rows(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let is_row = |line: &str| {
        !line.starts_with(['#', '%']) && line.contains(|character: char| character.is_ascii_digit())
    };
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim));
    lines.filter(move |(_, line)| is_row(line)).map(|(number, line)| (number, columns(line)))
}

/// A number of zero or more.
fn amount(field: &str) -> Option<f64> {
    field.parse::<f64>().ok().filter(|amount| (0.0..f64::INFINITY).contains(amount))
}

/// A list of these texts.
fn texts(place: Place, texts: [String; 2]) -> Node {
    let node = |text: String| Node { place, value: Value::Text(text.into()) };
    Node { place, value: Value::from(texts.map(node).to_vec()) }
}

/// Fault in a line of a file.
fn wrong_in(file: &str, line: usize, what: String, remedy: &str) -> Wrong {
    (format!("line {line} of {}: {what}", shortened(file)), remedy.to_owned())
}

/// The points of a cumulative distribution: a size and a share in each line.
fn points(
    file: &str,
    contents: &Contents,
    [size_column, share_column]: [usize; 2],
    octets: f64,
    percent: bool,
    place: Place,
) -> Result<Value, Wrong> {
    let text = String::from_utf8_lossy(&contents.octets);
    let remedy = format!(
        "Sizes are taken from column {size_column}, shares from column {share_column}; see `column` and `shares`"
    );
    let (mut points, mut last, mut has_names) = (Vec::new(), [0.0; 2], false);
    let whole = if percent { 100.0 } else { 1.0 };
    for (number, fields) in rows(&text) {
        let wrong = |what: String| wrong_in(file, number, what, &remedy);
        let field = |column: usize| match fields.get(column - 1) {
            Some(field) => Ok(*field),
            None => Err(wrong(format!("it has {}", check::plural(fields.len(), "column")))),
        };
        let written = [field(size_column)?, field(share_column)?];
        let point = written.map(amount);
        let [Some(size), Some(share)] = point else {
            if points.is_empty() && !has_names && point[0].is_none() {
                has_names = true;
                continue;
            }
            let which = if point[0].is_none() { 0 } else { 1 };
            return Err(wrong(format!("{} is no number of zero or more", contents.quoted(written[which]))));
        };
        if size < last[0] || share < last[1] {
            return Err(wrong("the point is below the one in front of it".into()));
        }
        if share > whole {
            return Err(wrong(format!("the share is above {whole}")));
        }
        if points.len() == MOST_POINTS {
            return Err(wrong(format!("there are more than {MOST_POINTS} points")));
        }
        last = [size, share];
        let share = if percent { format!("{share} %") } else { share.to_string() };
        points.push(texts(place, [format!("{} octets", (size * octets).round()), share]));
    }
    if last[1] < whole {
        let message = format!("the last share of {} is {}, not {whole}", shortened(file), last[1]);
        let remedy =
            "Write the largest size with all of the flows; shares = \"percent\" has them from 0 to 100";
        return Err((message, remedy.to_owned()));
    }
    Ok(Value::List(Arc::new(points)))
}

/// Flows one by one: an instant, two hosts and a size in each line.
fn flows(
    file: &str,
    contents: &Contents,
    [time_column, size_column, from_column, to_column]: [usize; 4],
    (time_unit, octets, prefix): (&str, f64, &str),
    place: Place,
) -> Result<Value, Wrong> {
    let text = String::from_utf8_lossy(&contents.octets);
    let remedy = format!(
        "Instants are taken from column {time_column}, hosts from {from_column} and {to_column}, sizes from {size_column}; see `time_column`"
    );
    let (mut flows, mut last, mut has_names) = (Vec::new(), 0.0, false);
    for (number, fields) in rows(&text) {
        let wrong = |what: String| wrong_in(file, number, what, &remedy);
        let field = |column: usize| match fields.get(column - 1) {
            Some(field) if !field.is_empty() => Ok(*field),
            Some(_) => Err(wrong(format!("column {column} is empty"))),
            None => Err(wrong(format!("it has {}", check::plural(fields.len(), "column")))),
        };
        let (time, size) = (field(time_column)?, field(size_column)?);
        let Some(at) = amount(time) else {
            if flows.is_empty() && !has_names {
                has_names = true;
                continue;
            }
            return Err(wrong(format!("{} is no instant", contents.quoted(time))));
        };
        let Some(size) = amount(size) else {
            return Err(wrong(format!("{} is no size", contents.quoted(size))));
        };
        if at < last {
            return Err(wrong(format!("{time} is before the instant in front of it")));
        }
        if flows.len() == MOST_FLOWS {
            return Err(wrong(format!("there are more than {MOST_FLOWS} flows")));
        }
        last = at;
        let ask =
            texts(place, [format!("{time} {time_unit}"), format!("{} octets", (size * octets).round())]);
        let host = |column| field(column).map(|name| format!("{prefix}{name}"));
        let ends = texts(place, [host(from_column)?, host(to_column)?]);
        flows.push(Node { place, value: Value::from(vec![ask, ends]) });
    }
    if flows.is_empty() {
        return Err((format!("there are no flows in {}", shortened(file)), "Give one in each line".into()));
    }
    Ok(Value::List(Arc::new(flows)))
}
