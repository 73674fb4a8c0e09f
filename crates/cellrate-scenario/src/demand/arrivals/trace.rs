//! Traces: flows one by one, each with its instant, its hosts and its size.

use std::sync::Arc;

use cellrate_proto::declaration::{Kind, Shape, key};

use super::{Arrivals, PairOf, Process};
use crate::demand::Traced;
use crate::demand::columns::{
    COLUMN, UNIT_KEY, amount, column, octets_of_unit, size_column, texts, wrong_in,
};
use crate::demand::laws::flow_size;
use crate::keys::{OCTETS, TIME, TIME_COLUMN_KEY, TIME_UNIT_KEY};
use crate::text::columns::{columns, rows};
use crate::text::error::{Fault, Place};
use crate::text::files::{Contents, Folders, Wrong};
use crate::text::quantity::shortened;
use crate::text::reading::instant;
use crate::text::tree::{Node, Table, Value};
use crate::text::{check, quantity};

/// Most flows of a trace: each is a list of texts until the scenario is resolved.
const MOST_FLOWS: usize = 250_000;

pub(super) const PROCESS: Process = Process {
    kind: "trace",
    shape: Shape {
        name: "flow_trace",
        about: "Flows of a trace, each with its instant, its hosts and its size; they go over the way with the fewest links. There are no `pairs` and no `size` beside it.",
        keys: &[
            key(
                "file",
                Kind::Text,
                "required: this or flows",
                "A text file with a flow in each line, in order of time, as seen from the scenario's folder; lines without a digit, those that begin with # or %, and names of columns above the first are passed over. It is read with the scenario, and what is stored beside results has `flows` instead.",
            ),
            TIME_COLUMN_KEY,
            TIME_UNIT_KEY,
            key("from_column", COLUMN, "2", "In which column the hosts are that send."),
            key("to_column", COLUMN, "3", "In which column the hosts are that receive."),
            size_column("4"),
            UNIT_KEY,
            key(
                "prefix",
                Kind::Text,
                "\"\"",
                "Text to put before the names of hosts in the file: with \"h\", 7 in the file is host h7.",
            ),
            key(
                "flows",
                Kind::List(
                    &Kind::Pair(&Kind::Pair(&TIME, &OCTETS), &Kind::Pair(&Kind::Reference, &Kind::Reference)),
                    1,
                ),
                "required: this or file",
                "[[instant, size], [from, to]] of each themselves, in order.",
            ),
        ],
    },
    read,
    file: Some(of_file),
};

fn read(node: &Node, table: &Table, pair: &mut PairOf<'_>) -> Result<Arrivals, Fault> {
    let list = table.node("flows").ok_or_else(|| check::missing_or_unread(node, table, "flows"))?;
    let mut flows: Vec<Traced> = Vec::new();
    for node in check::list(list)? {
        let [ask, ends] = check::pair(node)?;
        let ([at, size], ends) = (check::pair(ask)?, check::pair(ends)?);
        let (instant, octets) = (instant(at)?, quantity::octets(size)?);
        if flows.last().is_some_and(|last| instant < last.at) {
            let message = format!("{} is before the instant that precedes it", at.plain());
            return Err(Fault::new(at.place, message, "Write flows in order of time"));
        }
        flow_size(size)?;
        flows.push(Traced { at: instant, pair: pair(ends, node.place)?, octets });
    }
    Ok(Arrivals::Traced(flows.into()))
}

fn of_file(
    table: &Table,
    file: &str,
    folders: &Folders<'_>,
    place: Place,
) -> Result<(&'static str, Value), Fault> {
    let octets = octets_of_unit(table, place)?;
    let columns = [
        column(table, "time_column", 1)?,
        column(table, "column", 4)?,
        column(table, "from_column", 2)?,
        column(table, "to_column", 3)?,
    ];
    let units = (table.text("time_unit").unwrap_or("s"), octets, table.text("prefix").unwrap_or(""));
    let read = folders.read(file).and_then(|text| flows(file, &text, columns, units, place));
    let flows = read.map_err(|(message, remedy)| Fault::new(place, message, remedy))?;
    Ok(("flows", flows))
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
    for (number, line) in rows(&text) {
        let fields = columns(line);
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
            return Err(wrong(format!("{} is not an instant", contents.quoted(time))));
        };
        let Some(size) = amount(size) else {
            return Err(wrong(format!("{} is not a size", contents.quoted(size))));
        };
        if at < last {
            return Err(wrong(format!("{time} is before the instant that precedes it")));
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
