//! Sizes in the columns of a file: the keys that say where they are, and what they count.

use cellrate_proto::declaration::{Key, Kind, key};

use crate::keys::MAX_COLUMN;
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::files::Wrong;
use crate::text::quantity::shortened;
use crate::text::tree::{Node, Table, Value};

/// Octets that a packet of a table in packets stands for.
pub(super) const PACKET: f64 = 1500.0;

pub(super) const COLUMN: Kind = Kind::Integer(1, MAX_COLUMN);

/// Where sizes are in a file, by default in this column.
pub(super) const fn size_column(default: &'static str) -> Key {
    key(
        "column",
        COLUMN,
        default,
        "In which column sizes are; spaces, tabs, commas and semicolons are between columns.",
    )
}

pub(super) const UNIT_KEY: Key = key(
    "unit",
    Kind::Choice(&["octets", "kB", "packets"]),
    "required with file",
    "Unit of sizes in the file; a packet is 1500 octets.",
);

/// Octets of the unit of sizes in a file that is named at `place`.
pub(super) fn octets_of_unit(table: &Table, place: Place) -> Result<f64, Fault> {
    let Some(unit) = table.node("unit") else {
        return Err(check::missing(place, "unit", "what sizes in the file count"));
    };
    Ok(match check::text(unit)? {
        "packets" => PACKET,
        "kB" => 1000.0,
        _ => 1.0,
    })
}

/// The number of a column.
pub(super) fn column(table: &Table, key: &str, default: i64) -> Result<usize, Fault> {
    let given = table.node(key).map_or(Ok(default), |node| check::integer(node, 1, MAX_COLUMN))?;
    Ok(given as usize)
}

/// A number of zero or more.
pub(super) fn amount(field: &str) -> Option<f64> {
    field.parse::<f64>().ok().filter(|amount| (0.0..f64::INFINITY).contains(amount))
}

/// A list of these texts.
pub(super) fn texts(place: Place, texts: [String; 2]) -> Node {
    let node = |text: String| Node { place, value: Value::Text(text.into()) };
    Node { place, value: Value::from(texts.map(node).to_vec()) }
}

/// Fault in a line of a file.
pub(super) fn wrong_in(file: &str, line: usize, what: String, remedy: &str) -> Wrong {
    (format!("line {line} of {}: {what}", shortened(file)), remedy.to_owned())
}
