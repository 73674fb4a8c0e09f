//! The table of the format as a JSON Schema for editors, and as the reference for people.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use crate::format::{Dimension, Key, Kind, ROOT, Shape, Tagged};
use crate::text::quantity::Notation;

/// JSON Schema (draft 2020-12) of the scenario format: keys, descriptions, unit patterns, words, ranges.
///
/// What it cannot say is left to [`Document::resolve`](crate::Document::resolve): whether names exist, whether values
/// fit together, and required keys of entries, which defaults and `like` may supply.
pub fn schema() -> Json {
    let mut root = shape(&ROOT, false, true);
    if let Json::Object(root) = &mut root {
        root.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        root.insert("title".into(), json!("cellrate scenario"));
    }
    root
}

/// `groups`: a list may give each member of a group its own value, and `{i}` stand for its number. `complete`: required
/// keys must be there.
fn shape(shape: &Shape, groups: bool, complete: bool) -> Json {
    let properties = shape.keys.iter().map(|key| (key.name.to_string(), property(key, groups)));
    let required: Vec<&str> = shape.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut result = json!({
        "type": "object",
        "description": shape.about,
        "properties": Map::from_iter(properties),
        "additionalProperties": false,
    });
    if complete && !required.is_empty() {
        result["required"] = json!(required);
    }
    result
}

fn property(key: &Key, groups: bool) -> Json {
    let groups = groups && !matches!(key.name, "count" | "like" | "name");
    let description = match key.required {
        true => key.about.to_string(),
        false => format!("{} Default: {}.", key.about, key.default),
    };
    json!({ "description": description, "allOf": [kind(key.kind, groups)] })
}

fn kind(of: Kind, groups: bool) -> Json {
    let single = single(of, groups);
    if !groups || of.is_list() {
        return single;
    }
    let mut ways = vec![single.clone(), json!({ "type": "array", "minItems": 1, "items": single })];
    if takes_numbers(of) {
        ways.push(json!({ "type": "string", "pattern": r"\{i([+-]\d{1,6})?\}" }));
    }
    json!({ "anyOf": ways })
}

/// Whether a text may stand there that has another pattern than names have: in groups, `{i}` among it.
fn takes_numbers(of: Kind) -> bool {
    match of {
        Kind::Quantity(_) | Kind::Positive(_) | Kind::Ratio(_) | Kind::PowerOfTwo | Kind::Choice(_) => true,
        Kind::Or(kinds) => kinds.iter().any(|kind| takes_numbers(*kind)),
        _ => false,
    }
}

fn single(of: Kind, groups: bool) -> Json {
    match of {
        Kind::Text | Kind::Reference => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "pattern": r"^(\w|[-{}])+$", "maxLength": 64 }),
        Kind::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Quantity(dimension) | Kind::Positive(dimension) => quantity(dimension),
        Kind::Ratio(_) | Kind::PowerOfTwo => quantity(Dimension::Ratio),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Or(kinds) => json!({ "anyOf": kinds.iter().map(|of| single(*of, groups)).collect::<Vec<_>>() }),
        Kind::List(element, least) => {
            json!({ "type": "array", "minItems": least, "items": single(*element, false) })
        }
        Kind::Pair(first, second) => json!({
            "type": "array",
            "prefixItems": [single(*first, false), single(*second, false)],
            "minItems": 2,
            "maxItems": 2,
        }),
        Kind::Table(inner) => shape(inner, groups, false),
        Kind::Tagged(family) => tagged(family, groups),
        Kind::Map(inner) => json!({ "type": "object", "additionalProperties": single(*inner, groups) }),
        Kind::Entries(inner) => {
            let is_group = inner.key("count").is_some();
            json!({ "type": "array", "items": shape(inner, is_group, !is_group) })
        }
        Kind::Any => json!(true),
    }
}

fn quantity(dimension: Dimension) -> Json {
    let text = json!({ "type": "string", "pattern": dimension.pattern(), "description": dimension.how() });
    if dimension != Dimension::Ratio {
        return text;
    }
    json!({ "anyOf": [{ "type": "number", "minimum": 0 }, text] })
}

/// One shape per `type`, and one with all their keys for a table that only changes keys of the one below it.
fn tagged(family: &Tagged, groups: bool) -> Json {
    let with_type = |(tag, variant): &(&str, Shape)| {
        let mut result = shape(variant, groups, false);
        result["properties"]["type"] = json!({ "const": tag });
        result["required"] = json!(["type"]);
        result
    };
    let mut any = json!({ "type": "object", "additionalProperties": false, "properties": {} });
    for key in family.variants.iter().flat_map(|(_, variant)| variant.keys) {
        let mut ways = any["properties"][key.name]["anyOf"].as_array().cloned().unwrap_or_default();
        ways.push(property(key, groups));
        any["properties"][key.name] = json!({ "anyOf": ways });
    }
    let mut ways: Vec<Json> = family.variants.iter().map(with_type).collect();
    if groups {
        let mut each = any.clone();
        each["properties"]["type"] = json!({ "type": "array", "items": { "type": "string" } });
        ways.push(each);
    }
    ways.push(any);
    json!({ "anyOf": ways })
}

/// The reference of the format in Markdown: a table of keys for every kind of table.
pub fn reference() -> String {
    let mut text = String::new();
    let mut done = Vec::new();
    section(&mut text, &ROOT, "The file", &mut done);
    text
}

fn section(text: &mut String, shape: &'static Shape, title: &str, done: &mut Vec<String>) {
    if done.iter().any(|done| done == title) {
        return;
    }
    done.push(title.to_string());
    let _ = write!(text, "### {title}\n\n{}\n", shape.about);
    if !shape.keys.is_empty() {
        text.push_str("\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n");
    }
    for key in shape.keys {
        let _ = writeln!(text, "| `{}` | {} | {} | {} |", key.name, phrase(key.kind), key.default, key.about);
    }
    text.push('\n');
    for key in shape.keys {
        inner_sections(text, key.kind, done);
    }
}

fn inner_sections(text: &mut String, kind: Kind, done: &mut Vec<String>) {
    match kind {
        Kind::Table(shape) => section(text, shape, &title(shape), done),
        Kind::Entries(shape) => section(text, shape, &format!("`[[{}]]`", shape.name), done),
        Kind::List(inner, _) | Kind::Map(inner) => inner_sections(text, *inner, done),
        Kind::Or(kinds) => kinds.iter().for_each(|kind| inner_sections(text, *kind, done)),
        Kind::Tagged(family) => {
            for (tag, shape) in family.variants {
                section(text, shape, &format!("`{}` of type \"{tag}\"", family.name), done);
            }
        }
        _ => {}
    }
}

fn title(shape: &Shape) -> String {
    match shape.name.strip_suffix("_defaults") {
        Some(kind) => format!("`[defaults.{kind}]`"),
        None if shape.name.starts_with("host_") => {
            format!("`host.live{}`", if shape.name == "host_tcp" { ".tcp" } else { "" })
        }
        None => format!("`{}`", shape.name),
    }
}

fn phrase(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".into(),
        Kind::Name => "name".into(),
        Kind::Reference => "name of a thing".into(),
        Kind::Integer(low, high) if high >= i64::from(u32::MAX) => format!("whole number from {low}"),
        Kind::Integer(low, high) => format!("whole number from {low} to {high}"),
        Kind::Boolean => "true or false".into(),
        Kind::Quantity(dimension) => dimension_phrase(dimension).into(),
        Kind::Positive(dimension) => format!("{} above 0", dimension_phrase(dimension)),
        Kind::Ratio(range) => format!("ratio, {}", range.phrase()),
        Kind::PowerOfTwo => "ratio, a power of two".into(),
        Kind::Choice(words) => words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "),
        Kind::Or(kinds) => kinds.iter().map(|kind| phrase(*kind)).collect::<Vec<_>>().join("; or "),
        Kind::List(inner, least) if least > 1 => format!("list of at least {least}: {}", phrase(*inner)),
        Kind::List(inner, _) => format!("list: {}", phrase(*inner)),
        Kind::Pair(first, second) => format!("[{}, {}]", phrase(*first), phrase(*second)),
        Kind::Table(shape) => format!("table {}", title(shape)),
        Kind::Tagged(family) => format!("table `{}` with a `type`", family.name),
        Kind::Map(inner) => format!("for each name: {}", phrase(*inner)),
        Kind::Entries(shape) => format!("`[[{}]]` entries", shape.name),
        Kind::Any => "any value".into(),
    }
}

fn dimension_phrase(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Time => "time",
        Dimension::Rate | Dimension::LineRate => "rate",
        Dimension::Cells => "cells",
        Dimension::Octets => "octets",
        Dimension::Length => "length",
        Dimension::Offset => "clock offset",
        Dimension::Angle => "angle",
        Dimension::Ratio => "ratio",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table that is below `shape`, itself included, by its title; of each the names of its keys.
    fn tables(shape: &'static Shape, title: String, found: &mut Vec<(String, Vec<&'static str>)>) {
        let names = shape.keys.iter().map(|key| key.name).collect();
        found.push((title, names));
        shape.keys.iter().for_each(|key| below(key.name, key.kind, found));
    }

    fn below(key: &str, kind: Kind, found: &mut Vec<(String, Vec<&'static str>)>) {
        match kind {
            Kind::Table(shape) => tables(shape, title(shape), found),
            Kind::Entries(shape) => tables(shape, format!("`[[{}]]`", shape.name), found),
            Kind::List(inner, _) | Kind::Map(inner) => below(key, *inner, found),
            Kind::Or(kinds) => kinds.iter().for_each(|kind| below(key, *kind, found)),
            Kind::Tagged(family) => {
                assert_eq!(family.name, key, "a family of tables is called by its key");
                for (tag, shape) in family.variants {
                    tables(shape, format!("`{key}` of type \"{tag}\""), found);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn no_two_tables_with_different_keys_share_a_section_of_the_reference() {
        let mut found = Vec::new();
        tables(&ROOT, "The file".into(), &mut found);
        for (title, keys) in &found {
            assert!(reference().contains(&format!("### {title}\n")), "{title}");
            for (_, others) in found.iter().filter(|(other, _)| other == title) {
                assert_eq!(keys, others, "{title}");
            }
        }
    }
}
