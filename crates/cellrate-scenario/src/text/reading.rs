//! Reading of keys that may be left out, and of times that several parts of a scenario have.

use cellrate_proto::declaration::Shape;
use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{Duration, Octets, Time};

use super::error::{Fault, Place};
use super::tree::{Node, Table, Value, parse_value};
use super::{check, quantity};
use crate::keys::DRAWN;
use crate::values::Period;

/// Reads an optional key.
pub(crate) fn optional<T>(
    table: &Table,
    key: &str,
    read: impl FnOnce(&Node) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    table.node(key).map(read).transpose()
}

/// Reads a key of a checked table, or the default that the key declares in `shape` where the table does not have it.
pub(crate) fn or_default<T>(
    table: &Table,
    shape: &Shape,
    key: &str,
    read: impl FnOnce(&Node) -> Result<T, Fault>,
) -> Result<T, Fault> {
    match table.node(key) {
        Some(node) => read(node),
        None => read(&written(shape.key(key).map_or("", |key| key.default))),
    }
}

/// The value that a declared default would be if it stood in a file.
pub(crate) fn written(default: &str) -> Node {
    let text = |_| Node { place: Place::default(), value: Value::from(default) };
    parse_value(default, 0, 0).unwrap_or_else(text)
}

/// Reads an instant of network time.
pub(crate) fn instant(node: &Node) -> Result<Time, Fault> {
    Ok(Time::ZERO.saturating_add(quantity::time(node)?))
}

/// Reads `start` and `end` of traffic.
pub(crate) fn start_and_end(table: &Table) -> Result<(Time, Time), Fault> {
    let start = optional(table, "start", instant)?.unwrap_or(Time::ZERO);
    let end = optional(table, "end", instant)?.unwrap_or(Time::NEVER);
    match table.node("end") {
        Some(node) if end <= start => {
            let message = format!("the end, {end}, is not after the start, {start}");
            Err(Fault::new(node.place, message, "Write a later end"))
        }
        _ => Ok((start, end)),
    }
}

/// Reads the word at `key` of a checked table as a value of the type whose words `named` knows, or gives the type's
/// default where the table lacks the key.
pub(crate) fn word<T: Default>(table: &Table, key: &str, named: fn(&str) -> Option<T>) -> T {
    table.text(key).and_then(named).unwrap_or_default()
}

/// Reads how IP packets become AAL5 SDUs, where that is written.
pub(crate) fn encapsulation(table: &Table) -> Option<Encapsulation> {
    table.text("encapsulation").and_then(Encapsulation::named)
}

/// Reads the shortest span and the longest.
pub(crate) fn spans(node: &Node) -> Result<[Duration; 2], Fault> {
    let [low, high] = check::pair(node)?;
    let spans = [quantity::span(low)?, quantity::span(high)?];
    if spans[1] < spans[0] {
        let message = format!("the longest span, {}, is shorter than the shortest, {}", spans[1], spans[0]);
        return Err(Fault::new(high.place, message, "Write the shorter one first"));
    }
    Ok(spans)
}

/// Reads a fixed time, or one of an exponential or a Pareto distribution.
pub(crate) fn period(node: &Node) -> Result<Period, Fault> {
    let Some(table) = node.table() else { return quantity::span(node).map(Period::Fixed) };
    match (table.node("exponential"), table.node("pareto"), table.node("alpha")) {
        (Some(mean), None, None) => quantity::span(mean).map(Period::Exponential),
        (None, Some(mean), _) => {
            let alpha = or_default(table, &DRAWN, "alpha", quantity::ratio)?;
            Ok(Period::Pareto(quantity::span(mean)?, alpha))
        }
        (None, None, _) => Err(check::missing(node.place, "exponential", "or pareto: the mean of the time")),
        (Some(_), None, Some(alpha)) => {
            let message =
                "alpha is the shape of a Pareto distribution, and the time is exponentially distributed";
            Err(Fault::new(alpha.place, message, "Leave it out, or write pareto for exponential"))
        }
        (Some(_), Some(other), _) => {
            let message = "the time has two distributions";
            Err(Fault::new(other.place, message, "Write exponential or pareto"))
        }
    }
}

/// Reads a span of whole milliseconds.
pub(crate) fn whole_ms(node: &Node) -> Result<Duration, Fault> {
    let span = quantity::span(node)?;
    if span.as_ps().is_multiple_of(Duration::from_ms(1).as_ps()) {
        return Ok(span);
    }
    Err(Fault::new(node.place, format!("{} is not whole", node.plain()), "Write whole milliseconds"))
}

/// Reads an amount of data above 0.
pub(crate) fn some_octets(node: &Node) -> Result<Octets, Fault> {
    match quantity::octets(node)? {
        Octets(0) => Err(Fault::new(node.place, format!("{} is nothing", node.plain()), "Write more than 0")),
        octets => Ok(octets),
    }
}

#[cfg(test)]
mod tests {
    use cellrate_proto::declaration::{Dimension, Kind, key};

    use super::*;

    #[test]
    fn a_default_is_read_as_if_it_stood_in_the_file() {
        const SHAPE: Shape = Shape {
            name: "",
            about: "",
            keys: &[
                key("gap", Kind::Quantity(Dimension::Time), "\"1 s\"", ""),
                key("share", Kind::Any, "1/16", ""),
                key("many", Kind::Boolean, "false", ""),
            ],
        };
        let none = Table::default();
        let gap = |table: &Table| or_default(table, &SHAPE, "gap", quantity::time);
        assert_eq!(gap(&none).unwrap(), Duration::from_secs(1));
        assert_eq!(or_default(&none, &SHAPE, "share", quantity::ratio).unwrap(), 1.0 / 16.0);
        assert!(!or_default(&none, &SHAPE, "many", check::boolean).unwrap());
        let mut own = Table::default();
        own.set("gap", Place::default(), written("\"5 ms\""));
        assert_eq!(gap(&own).unwrap(), Duration::from_ms(5));
    }
}
