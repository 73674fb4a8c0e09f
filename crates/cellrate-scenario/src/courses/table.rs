//! Tables of instants and values.

use std::sync::Arc;

use cellrate_proto::Time;
use cellrate_proto::declaration::{Dimension, Key, Kind, Shape, key};

use super::MOST_STEPS;
use crate::keys::{FILE_TIME_UNIT, MAX_COLUMN, TIME, TIME_COLUMN_KEY, TIME_UNIT_KEY};
use crate::text::check;
use crate::text::columns::{columns, rows};
use crate::text::error::{Fault, Place};
use crate::text::files::{Contents, Folders, Wrong};
use crate::text::quantity::shortened;
use crate::text::reading::instant;
use crate::text::tree::{Node, Table, Value};

const COLUMN_KEY: Key = key(
    "column",
    Kind::Integer(1, MAX_COLUMN),
    "2",
    "In which column values are; spaces, tabs, commas and semicolons are between columns.",
);

const TABLE_KEY: Key = key(
    "file",
    Kind::Text,
    "required: this or steps",
    "A text file with an instant and a value in each line, in order of time, as seen from the scenario's folder; lines without a digit, those that begin with # or %, and names of columns above the first are passed over. It is read with the scenario, and what is stored beside results has `steps` instead.",
);

pub(super) const RATE: Shape = Shape {
    name: "csv_rate",
    about: "The rate by a table of instants and rates: each holds from its instant on, the first from the beginning.",
    keys: &[
        TABLE_KEY,
        TIME_COLUMN_KEY,
        TIME_UNIT_KEY,
        COLUMN_KEY,
        key(
            "unit",
            Kind::Choice(&["bps", "kbps", "Mbps", "Gbps", "Tbps", "cells/s"]),
            "required with file",
            "Unit of the values in the file.",
        ),
        key(
            "steps",
            Kind::List(&Kind::Pair(&TIME, &Kind::Quantity(Dimension::LineRate)), 1),
            "required: this or file",
            "[instant, rate] themselves, in order; at a rate of 0 nothing leaves.",
        ),
    ],
};

pub(super) const DELAY: Shape = Shape {
    name: "csv_delay",
    about: "The delay by a table of instants and delays: each holds from its instant on, the first from the beginning.",
    keys: &[
        TABLE_KEY,
        TIME_COLUMN_KEY,
        TIME_UNIT_KEY,
        COLUMN_KEY,
        key("unit", FILE_TIME_UNIT, "required with file", "Unit of the values in the file."),
        key(
            "steps",
            Kind::List(&Kind::Pair(&TIME, &TIME), 1),
            "required: this or file",
            "[instant, delay] themselves, in order.",
        ),
    ],
};

/// The steps of a table. The first holds from the beginning.
pub(super) fn steps<T>(
    node: &Node,
    table: &Table,
    read: impl Fn(&Node) -> Result<T, Fault>,
) -> Result<Vec<(Time, T)>, Fault> {
    let Some(steps) = table.node("steps") else { return Err(check::missing_or_unread(node, table, "steps")) };
    let mut all: Vec<(Time, T)> = Vec::new();
    for step in check::list(steps)? {
        let [at, value] = check::pair(step)?;
        let instant = instant(at)?;
        if all.last().is_some_and(|(last, _)| instant <= *last) {
            let message = format!("the step at {instant} is not after the one before it");
            return Err(Fault::new(step.place, message, "Write steps in order of time"));
        }
        all.push((instant, read(value)?));
    }
    if let Some(first) = all.first_mut() {
        first.0 = Time::ZERO;
    }
    Ok(all)
}

/// The steps of the file that `table` named at `place`, as its keys say.
pub(super) fn of_file(
    table: &Table,
    file: &str,
    folders: &Folders<'_>,
    place: Place,
) -> Result<(&'static str, Value), Fault> {
    let column = |key: &str, default: i64| {
        table.node(key).map_or(Ok(default), |node| check::integer(node, 1, MAX_COLUMN))
    };
    let Some(unit) = table.node("unit") else {
        return Err(check::missing(place, "unit", "what the file counts"));
    };
    let places = [column("time_column", 1)?, column("column", 2)?].map(|column| column as usize);
    let units = [table.text("time_unit").unwrap_or("s"), check::text(unit)?];
    let read = folders.read(file).and_then(|contents| csv(file, &contents, places, units, place));
    let steps = read.map_err(|(message, remedy)| Fault::new(place, message, remedy))?;
    Ok(("steps", steps))
}

/// The steps of a table, each an instant and a value with their units.
fn csv(
    file: &str,
    contents: &Contents,
    [time_column, column]: [usize; 2],
    [time_unit, unit]: [&str; 2],
    place: Place,
) -> Result<Value, Wrong> {
    let text = String::from_utf8_lossy(&contents.octets);
    let remedy = || {
        format!(
            "Instants are taken from column {time_column}, values from column {column}; see `time_column`"
        )
    };
    let text_node = |text: String| Node { place, value: Value::Text(text.into()) };
    let (mut steps, mut last, mut has_names) = (Vec::new(), f64::NEG_INFINITY, false);
    for (number, line) in rows(&text) {
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
            return Err(wrong(format!("{} is not an instant", contents.quoted(time))));
        };
        if amount(value).is_none() {
            return Err(wrong(format!("{} is not a value of zero or more", contents.quoted(value))));
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
