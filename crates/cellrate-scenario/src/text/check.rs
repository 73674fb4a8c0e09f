//! Holds a tree against the table of the format: unknown keys, wrong types, missing units, values out of range.

use std::borrow::Cow;

use cellrate_proto::declaration::Dimension;
use cellrate_proto::declaration::{Kind, Shape, Tagged};
use cellrate_proto::parameters::{ParameterError, PowerOfTwo};

use crate::text::error::{Fault, Place, nearest, suggestion};
use crate::text::pattern::{first_number, of_first_member};
use crate::text::quantity::{self, shortened};
use crate::text::tree::{Node, Table, Value};

/// How a tree is checked.
#[derive(Clone, Copy)]
pub(crate) struct Mode {
    /// A list may stand where a single value is due, one value for each member of a group; and `{i}` in a text for the
    /// number of the member.
    pub groups: bool,
    /// Required keys must be there. As written they need not: they may come from defaults or from `like`.
    pub complete: bool,
}

impl Mode {
    pub const WRITTEN: Mode = Mode { groups: false, complete: false };
    pub const COMPLETE: Mode = Mode { groups: false, complete: true };
}

/// Whether `node` may stand where a value of `kind` is due.
pub(crate) fn value(node: &Node, kind: Kind, mode: Mode) -> Result<(), Fault> {
    if mode.groups && !kind.is_list() {
        let alone = Mode { groups: false, ..mode };
        if let Some(members) = node.list() {
            // How many there must be is known when the group is written out.
            return members.iter().try_for_each(|member| value(member, kind, alone));
        }
        if let Some(first) = of_first_member(node) {
            // Those of the others are looked at when the group is written out, too.
            return value(&first, kind, alone);
        }
    }
    if let (Value::Numbers(_), Kind::List(..)) = (&node.value, kind) {
        // They were looked at when they were read.
        return Ok(());
    }
    match kind {
        Kind::Text | Kind::Reference => text(node).map(drop),
        Kind::Name => name(node),
        Kind::Integer(low, high) => integer(node, low, high).map(drop),
        Kind::Boolean => boolean(node).map(drop),
        Kind::Quantity(dimension) => quantity(node, dimension),
        Kind::Positive(dimension) => positive(node, dimension),
        Kind::Ratio(range) => {
            let ratio = quantity::ratio(node)?;
            if range.contains(ratio) {
                return Ok(());
            }
            let message = format!("{} is out of range", shortened(&node.plain()));
            Err(Fault::new(node.place, message, format!("It must be {}", range.phrase())))
        }
        Kind::PowerOfTwo => power_of_two(node).map(drop),
        Kind::Choice(words) => choice(node, words),
        Kind::Or(kinds) => either(node, kinds, mode),
        Kind::List(element, least) => {
            let nodes = list(node)?;
            if nodes.len() < least {
                let message = format!("the list has {}", plural(nodes.len(), "value"));
                return Err(Fault::new(node.place, message, format!("Write at least {least}")));
            }
            nodes.iter().try_for_each(|node| value(node, *element, Mode { groups: false, ..mode }))
        }
        Kind::Pair(first, second) => {
            let [a, b] = pair(node)?;
            value(a, *first, Mode { groups: false, ..mode })?;
            value(b, *second, Mode { groups: false, ..mode })
        }
        Kind::Table(shape) => table(node, shape, mode),
        Kind::Tagged(tagged) => tagged_table(node, tagged, mode),
        Kind::Map(inner) => {
            let Some(map) = node.table() else { return Err(wrong_type(node, "a table", "")) };
            // What a map holds goes over something else, so nothing in it is required.
            let mode = Mode { complete: false, ..mode };
            map.entries.iter().try_for_each(|entry| value(&entry.node, *inner, mode))
        }
        Kind::Entries(shape) => entries(node, shape),
        Kind::Any => Ok(()),
    }
}

/// The entries of a kind, as written.
fn entries(node: &Node, shape: &'static Shape) -> Result<(), Fault> {
    let example = format!("Write each as [[{}]]", shape.name);
    let nodes = node.list().ok_or_else(|| wrong_type(node, "an array of tables", &example))?;
    nodes.iter().try_for_each(|node| entry(node, shape))
}

/// An entry of a kind, as written.
pub(crate) fn entry(node: &Node, shape: &'static Shape) -> Result<(), Fault> {
    let Some(keys) = node.table() else {
        let example = format!("Write each as [[{}]]", shape.name);
        return Err(wrong_type(node, "an array of tables", &example));
    };
    // Only what can be a group may take its keys from elsewhere, too.
    let can_be_group = shape.key("count").is_some();
    let is_group = can_be_group && (keys.node("count").is_some() || keys.node("like").is_some());
    if let Some(count) = keys.node("count").filter(|_| can_be_group) {
        integer(count, 1, 65_536)?;
    }
    table(node, shape, Mode { groups: is_group, complete: !can_be_group })
}

/// Whether `node` is a table of this shape.
pub(crate) fn table(node: &Node, shape: &'static Shape, mode: Mode) -> Result<(), Fault> {
    let Some(table) = node.table() else {
        let example =
            shape.keys.first().map_or(String::new(), |key| format!("Write {{ {} = ... }}", key.name));
        return Err(wrong_type(node, "a table", &example));
    };
    keys(table, node.place, shape, mode)
}

/// Like [`table`], for a table that stands at `place`.
pub(crate) fn keys(table: &Table, place: Place, shape: &'static Shape, mode: Mode) -> Result<(), Fault> {
    for entry in &table.entries {
        let Some(key) = shape.key(&entry.key) else {
            return Err(unknown_key(&entry.key, entry.place, shape.keys.iter().map(|key| key.name)));
        };
        value(&entry.node, key.kind, mode)?;
    }
    if mode.complete { required_keys(table, place, shape) } else { Ok(()) }
}

/// Names the first key that must be there and is not.
pub(crate) fn required_keys(table: &Table, place: Place, shape: &'static Shape) -> Result<(), Fault> {
    match shape.keys.iter().find(|key| key.required && table.node(key.name).is_none()) {
        Some(key) => Err(missing(place, key.name, key.about)),
        None => Ok(()),
    }
}

/// A key that must be there and is not.
pub(crate) fn missing(place: Place, key: &str, about: &str) -> Fault {
    Fault::new(
        place,
        format!("the key \"{key}\" is missing"),
        format!("Add it: {}", about.trim_end_matches('.')),
    )
}

/// A table that has neither the key with what a file would hold nor the name of that file.
pub(crate) fn missing_or_unread(node: &Node, table: &Table, key: &str) -> Fault {
    match table.node("file") {
        Some(file) => Fault::new(
            file.place,
            "file needs a scenario that is read from a file itself: its place is as seen from there",
            format!("Write {key} itself, or store the scenario as a file and load that"),
        ),
        None => missing(node.place, key, "or a file"),
    }
}

/// The core's own check of a small configuration, with the place of the key that it complains of.
pub(crate) fn configuration<'a>(
    result: Result<(), ParameterError>,
    key: impl Fn(&str) -> Option<&'a Node>,
    place: Place,
) -> Result<(), Fault> {
    let Err(ParameterError { name, value, unit, allowed }) = result else { return Ok(()) };
    let space = if unit.is_empty() { "" } else { " " };
    let place = key(name).map_or(place, |node| node.place);
    Err(Fault::new(place, format!("{name} is {value}{space}{unit}"), format!("It must be {allowed}")))
}

fn tagged_table(node: &Node, tagged: &'static Tagged, mode: Mode) -> Result<(), Fault> {
    let tags: Vec<&str> = tagged.variants.iter().map(|(tag, _)| *tag).collect();
    let Some(keys) = node.table() else {
        let example = format!("Write {{ type = \"{}\", ... }}", tags.last().unwrap_or(&""));
        return Err(wrong_type(node, "a table", &example));
    };
    let tag = match keys.node("type") {
        // In a group, a type for each member: the keys are held against it when the group is written out.
        Some(types) if mode.groups && types.list().is_some() => {
            value(types, Kind::Text, mode)?;
            None
        }
        Some(tag) => {
            let written = text(tag)?;
            if tagged.variant(written).is_none() {
                let message = format!("there is no type \"{}\"", shortened(written));
                return Err(Fault::new(tag.place, message, suggestion(written, "types", &tags)));
            }
            Some(written)
        }
        None => tagged.default.filter(|_| mode.complete),
    };
    if mode.complete && tag.is_none() {
        let remedy = format!("Add type = one of {}", quoted_list(&tags));
        return Err(Fault::new(node.place, "the key \"type\" is missing", remedy));
    }
    for entry in keys.entries.iter().filter(|entry| &*entry.key != "type") {
        let shapes = || tagged.shapes(tag).filter_map(|shape| shape.key(&entry.key));
        if shapes().next().is_none() {
            let known: Vec<&str> =
                tagged.shapes(tag).flat_map(|shape| shape.keys).map(|key| key.name).collect();
            let mut fault = unknown_key(&entry.key, entry.place, known.into_iter());
            let others = tagged.variants.iter().filter(|(_, shape)| shape.key(&entry.key).is_some());
            let owners: Vec<&str> = others.map(|(tag, _)| *tag).collect();
            if let (Some(tag), false) = (tag, owners.is_empty()) {
                fault.message =
                    format!("type \"{tag}\" has no key \"{}\"; type {} has", entry.key, quoted_list(&owners));
            }
            return Err(fault);
        }
        let mut checks = shapes().map(|key| value(&entry.node, key.kind, mode)).collect::<Vec<_>>();
        if !checks.iter().any(Result::is_ok) {
            return checks.swap_remove(0);
        }
    }
    match tag.and_then(|tag| tagged.variant(tag)) {
        Some(shape) if mode.complete => required_keys(keys, node.place, shape),
        _ => Ok(()),
    }
}

fn either(node: &Node, kinds: &'static [Kind], mode: Mode) -> Result<(), Fault> {
    // The error of the alternative that was probably meant: the one of the same type of value.
    let takes_tables = |kind: &Kind| matches!(kind, Kind::Table(_) | Kind::Tagged(_));
    let is_word = |kind: &Kind| matches!(kind, Kind::Choice(_));
    let mut words: Vec<&str> = Vec::new();
    let (mut fault, mut is_meant) = (None, false);
    for kind in kinds {
        if let Kind::Choice(choices) = kind {
            words.extend(*choices);
        }
        match value(node, *kind, mode) {
            Ok(()) => return Ok(()),
            Err(this) => {
                let means_this = takes_tables(kind) == node.table().is_some() && !is_word(kind);
                if fault.is_none() || means_this && !is_meant {
                    fault = Some(this);
                }
                is_meant |= means_this;
            }
        }
    }
    let mut fault = fault.unwrap_or_else(|| wrong_type(node, "a value", ""));
    if !words.is_empty() && node.table().is_none() {
        fault.remedy = format!("{}; or write {}", fault.remedy, quoted_list(&words));
    }
    Err(fault)
}

fn unknown_key<'a>(given: &str, place: Place, known: impl Iterator<Item = &'a str>) -> Fault {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let remedy = match nearest(given, known.iter().copied()) {
        Some(near) => format!("Did you mean \"{near}\"? (known here: {})", known.join(", ")),
        None if known.is_empty() => "No keys are known here".to_string(),
        None => format!("Known here: {}", known.join(", ")),
    };
    Fault::new(place, format!("there is no key \"{}\" here", shortened(given)), remedy)
}

fn wrong_type(node: &Node, due: &str, remedy: &str) -> Fault {
    Fault::new(node.place, format!("{due} is due here, not {}", node.kind()), remedy)
}

pub(crate) fn text(node: &Node) -> Result<&str, Fault> {
    node.text().ok_or_else(|| {
        wrong_type(node, "a string", &format!("Write it in quotes: \"{}\"", shortened(&node.plain())))
    })
}

fn name(node: &Node) -> Result<(), Fault> {
    let name = text(node)?;
    let bare = match first_number(name) {
        Some((before, after)) => [before, "1", after].concat().into(),
        None => Cow::Borrowed(name),
    };
    let fits = !name.is_empty()
        && name.chars().count() <= 64
        && bare.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if fits {
        return Ok(());
    }
    let message = format!("\"{}\" cannot be a name", shortened(name));
    Err(Fault::new(
        node.place,
        message,
        "Write 1 to 64 letters, digits, _ and -, and {i} or such as {i+15} at most once",
    ))
}

pub(crate) fn integer(node: &Node, low: i64, high: i64) -> Result<i64, Fault> {
    let Value::Integer(number) = node.value else {
        return Err(wrong_type(node, "a whole number", "Write it without quotes and without a unit"));
    };
    if (low..=high).contains(&number) {
        return Ok(number);
    }
    Err(Fault::new(
        node.place,
        format!("{number} is out of range"),
        format!("It must be from {low} to {high}"),
    ))
}

pub(crate) fn boolean(node: &Node) -> Result<bool, Fault> {
    match node.value {
        Value::Boolean(flag) => Ok(flag),
        _ => Err(wrong_type(node, "true or false", "Write it without quotes")),
    }
}

pub(crate) fn list(node: &Node) -> Result<&[Node], Fault> {
    node.list().ok_or_else(|| wrong_type(node, "a list", "Write [...]"))
}

pub(crate) fn pair(node: &Node) -> Result<&[Node; 2], Fault> {
    let nodes = list(node)?;
    nodes.try_into().map_err(|_| {
        Fault::new(node.place, format!("the list has {}", plural(nodes.len(), "value")), "Write exactly 2")
    })
}

pub(crate) fn power_of_two(node: &Node) -> Result<PowerOfTwo, Fault> {
    let ratio = quantity::ratio(node)?;
    PowerOfTwo::exact(ratio).ok_or_else(|| {
        let message = format!("{} is not a power of two from 1/32768 to 1", shortened(&node.plain()));
        Fault::new(node.place, message, "Write one such as \"1/16\"")
    })
}

/// Whether `node` is one of these words.
pub(crate) fn choice(node: &Node, words: &[&str]) -> Result<(), Fault> {
    let given = text(node)?;
    if words.contains(&given) {
        return Ok(());
    }
    let message = format!("\"{}\" is not one of the words allowed here", shortened(given));
    let near = nearest(given, words.iter().copied())
        .map_or(String::new(), |near| format!("Did you mean \"{near}\"? "));
    Err(Fault::new(node.place, message, format!("{near}Write {}", quoted_list(words))))
}

fn quantity(node: &Node, dimension: Dimension) -> Result<(), Fault> {
    match dimension {
        Dimension::Time => quantity::time(node).map(drop),
        Dimension::Rate => quantity::cell_rate(node).map(drop),
        Dimension::LineRate => quantity::line_rate_or_none(node).map(drop),
        Dimension::Cells => quantity::cells(node).map(drop),
        Dimension::Octets => quantity::octets(node).map(drop),
        Dimension::Length => quantity::length_delay(node).map(drop),
        Dimension::Offset => quantity::clock_offset(node).map(drop),
        Dimension::Angle => quantity::elevation(node).map(drop),
        Dimension::Ratio => quantity::ratio(node).map(drop),
    }
}

fn positive(node: &Node, dimension: Dimension) -> Result<(), Fault> {
    match dimension {
        Dimension::Time => quantity::span(node).map(drop),
        Dimension::Rate => quantity::positive_cell_rate(node).map(drop),
        Dimension::LineRate => quantity::line_rate(node).map(drop),
        _ => quantity(node, dimension),
    }
}

pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn quoted_list(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
}
