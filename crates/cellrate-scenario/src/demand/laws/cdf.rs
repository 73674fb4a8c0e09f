//! Points of a cumulative distribution, written or from a file.

use std::sync::Arc;

use cellrate_proto::declaration::{Kind, Range, Shape, key};

use super::{Declared, Law, MOST_OCTETS};
use crate::demand::columns::{
    COLUMN, UNIT_KEY, amount, column, octets_of_unit, size_column, texts, wrong_in,
};
use crate::keys::OCTETS;
use crate::text::columns::{columns, rows};
use crate::text::error::{Fault, Place};
use crate::text::files::{Contents, Folders, Wrong};
use crate::text::quantity::shortened;
use crate::text::tree::{Node, Table, Value};
use crate::text::{check, quantity};

/// Most points of a distribution.
const MOST_POINTS: usize = 100_000;

pub(super) const SIZE: Declared = Declared {
    kind: "cdf",
    shape: Shape {
        name: "cdf",
        about: "Straight lines between points of a cumulative distribution; a first share above 0 is that of flows of exactly the first size.",
        keys: &[
            key(
                "points",
                Kind::List(&Kind::Pair(&OCTETS, &Kind::Ratio(Range::closed(0.0, 1.0))), 1),
                "required: this or file",
                "[size, share of flows up to it], in order; the last share is 1.",
            ),
            key(
                "file",
                Kind::Text,
                "required: this or points",
                "A text file with a point in each line, as such tables are published, as seen from the scenario's folder; lines without a digit, those that begin with # or %, and names of columns above the first are passed over. It is read with the scenario, and what is stored beside results has `points` instead.",
            ),
            size_column("1"),
            key("share_column", COLUMN, "2", "In which column shares are."),
            UNIT_KEY,
            key(
                "shares",
                Kind::Choice(&["ratio", "percent"]),
                "\"ratio\"",
                "Whether the last share in the file is 1 or 100.",
            ),
        ],
    },
    read,
    file: Some(of_file),
};

fn read(node: &Node, table: &Table) -> Result<Law, Fault> {
    let list = table.node("points").ok_or_else(|| check::missing_or_unread(node, table, "points"))?;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for node in check::list(list)? {
        let [size, share] = check::pair(node)?;
        let point = (quantity::octets(size)?.0 as f64, quantity::ratio(share)?);
        if let Some(last) = points.last().filter(|last| point.0 < last.0 || point.1 < last.1) {
            let message = format!(
                "the point [{} octets, {}] is below the one before it, [{} octets, {}]",
                point.0, point.1, last.0, last.1
            );
            return Err(Fault::new(node.place, message, "Write sizes and shares in order"));
        }
        points.push(point);
    }
    match points.last() {
        Some(&(size, share)) if share == 1.0 && (1.0..=MOST_OCTETS).contains(&size) => {
            Ok(Law::Table(points.into()))
        }
        Some((size, 1.0)) if *size > MOST_OCTETS => {
            let message = format!("the last point is [{size} octets, 1]");
            Err(Fault::new(list.place, message, "Write at most 1000 GB as the largest size"))
        }
        Some((size, share)) => {
            let message = format!("the last point is [{size} octets, {share}]");
            Err(Fault::new(list.place, message, "Write the largest size, 1 octet or more, with a share of 1"))
        }
        None => {
            Err(Fault::new(list.place, "there are no points", "Write the largest size with a share of 1"))
        }
    }
}

fn of_file(
    table: &Table,
    file: &str,
    folders: &Folders<'_>,
    place: Place,
) -> Result<(&'static str, Value), Fault> {
    let octets = octets_of_unit(table, place)?;
    let percent = table.text("shares") == Some("percent");
    let columns = [column(table, "column", 1)?, column(table, "share_column", 2)?];
    let read = folders.read(file).and_then(|text| points(file, &text, columns, octets, percent, place));
    let points = read.map_err(|(message, remedy)| Fault::new(place, message, remedy))?;
    Ok(("points", points))
}

/// The points of a cumulative distribution: a size and a share in each line.
fn points(
    file: &str,
    contents: &Contents,
    places: [usize; 2],
    octets: f64,
    percent: bool,
    place: Place,
) -> Result<Value, Wrong> {
    let [size_column, share_column] = places;
    let text = String::from_utf8_lossy(&contents.octets);
    let remedy = format!(
        "Sizes are taken from column {size_column}, shares from column {share_column}; see `column` and `shares`"
    );
    let (mut points, mut last, mut has_names) = (Vec::new(), [0.0; 2], false);
    let whole = if percent { 100.0 } else { 1.0 };
    for (number, line) in rows(&text) {
        let fields = columns(line);
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
            return Err(wrong(format!(
                "{} is not a number of zero or more",
                contents.quoted(written[which])
            )));
        };
        if size < last[0] || share < last[1] {
            return Err(wrong("the point is below the one before it".into()));
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
