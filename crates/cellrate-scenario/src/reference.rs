//! The table of the format as the reference for people: a page of Markdown for each table, and an index of them.

use std::fmt::Write as _;

use cellrate_proto::declaration::{Dimension, Kind, Shape};

use crate::format::ROOT;

/// The reference of the format in Markdown.
pub struct Reference {
    /// A line for each page, below the line of the table that it belongs to, with links as they are in `docs/`.
    pub index: String,
    /// Names of files in `docs/scenarios/`, each with its text.
    pub pages: Vec<(String, String)>,
}

/// The reference of the format: a page for each table that a file may have.
pub fn reference() -> Reference {
    let tables = tables();
    let mut index = String::new();
    for table in &tables {
        let _ = writeln!(
            index,
            "{}- {}: {}",
            "  ".repeat(table.depth),
            table.name.link("scenarios/"),
            line(table)
        );
    }
    let pages = tables.iter().map(|table| (table.name.file(), page(table))).collect();
    Reference { index, pages }
}

/// A table of the format with the forms that it may have.
pub(crate) struct Table {
    name: Name,
    /// How many tables it lies within.
    depth: usize,
    /// Tables that may have it as a value.
    within: Vec<Name>,
    about: &'static str,
    /// The form without a `type`, if there is one among several.
    default: Option<&'static str>,
    /// Each form with its `type`, if it has one.
    pub(crate) forms: Vec<(Option<&'static str>, &'static Shape)>,
}

/// Every table of the format once, each before those within it. Defaults come last: entries have the same tables, and
/// there a reader looks for them.
pub(crate) fn tables() -> Vec<Table> {
    let mut found = Vec::new();
    table(&mut found, Name::Root, 0, None, ROOT.about, None, vec![(None, &ROOT)]);
    found
}

fn table(
    found: &mut Vec<Table>,
    name: Name,
    depth: usize,
    within: Option<Name>,
    about: &'static str,
    default: Option<&'static str>,
    forms: Vec<(Option<&'static str>, &'static Shape)>,
) {
    if let Some(known) = found.iter_mut().find(|known| known.name == name) {
        known.within.extend(within.filter(|within| !known.within.contains(within)));
        return;
    }
    let shapes: Vec<_> = forms.iter().map(|(_, shape)| *shape).collect();
    found.push(Table { name, depth, within: within.into_iter().collect(), about, default, forms });
    let mut keys: Vec<_> = shapes.iter().flat_map(|shape| shape.keys).collect();
    keys.sort_by_key(|key| key.name == "defaults");
    for key in keys {
        inner(found, key.kind, key.about, name, depth + 1);
    }
}

fn inner(found: &mut Vec<Table>, kind: Kind, about: &'static str, within: Name, depth: usize) {
    match kind {
        Kind::Table(shape) | Kind::Entries(shape) => {
            let name = Name::of(kind).expect("a table");
            table(found, name, depth, Some(within), shape.about, None, vec![(None, shape)]);
        }
        Kind::Tagged(family) => {
            let forms = family.variants.iter().map(|(tag, shape)| (Some(*tag), shape)).collect();
            let name = Name::of(kind).expect("a table");
            table(found, name, depth, Some(within), about, family.default, forms);
        }
        Kind::List(kind, _) | Kind::Map(kind) => inner(found, *kind, about, within, depth),
        Kind::Or(kinds) => kinds.iter().for_each(|kind| inner(found, *kind, about, within, depth)),
        _ => {}
    }
}

/// How a table is called.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Name {
    Root,
    /// The value of a key, or the family of tables that are.
    Table(&'static str),
    /// An array of tables.
    Entries(&'static str),
}

impl Name {
    fn of(kind: Kind) -> Option<Name> {
        match kind {
            Kind::Table(shape) => Some(Name::Table(shape.name)),
            Kind::Tagged(family) => Some(Name::Table(family.name)),
            Kind::Entries(shape) => Some(Name::Entries(shape.name)),
            _ => None,
        }
    }

    fn title(self) -> String {
        match self {
            Name::Root => "The file".into(),
            Name::Entries(name) => format!("`[[{name}]]`"),
            Name::Table(name) => match name.strip_suffix("_defaults") {
                Some(kind) => format!("`[defaults.{kind}]`"),
                None if name == "host_tcp" => "`host.live.tcp`".into(),
                None if name.starts_with("host_") => "`host.live`".into(),
                None => format!("`{name}`"),
            },
        }
    }

    /// The file of its page. An array of tables and a table may have the same name.
    fn file(self) -> String {
        match self {
            Name::Root => "file.md".into(),
            Name::Table(name) => format!("{name}.md"),
            Name::Entries(name) => format!("{name}_entries.md"),
        }
    }

    fn link(self, folder: &str) -> String {
        format!("[{}]({folder}{})", self.title(), self.file())
    }
}

/// The line of a table in the index.
fn line(table: &Table) -> String {
    let first = table.about.split_once(". ").map_or(table.about, |(first, _)| first);
    let mut text = linked(first.trim_end_matches('.'), "");
    let tags: Vec<_> =
        table.forms.iter().filter_map(|(tag, _)| *tag).map(|tag| format!("\"{tag}\"")).collect();
    if !tags.is_empty() {
        let _ = write!(text, ". Types: {}", tags.join(", "));
    }
    text + "."
}

fn page(table: &Table) -> String {
    let mut text = format!("# {}\n\n", table.name.title());
    if !table.within.is_empty() {
        let within: Vec<_> = table.within.iter().map(|name| name.link("")).collect();
        let _ = writeln!(text, "In: {}; [all tables](../scenarios.md#tables).\n", within.join(", "));
    }
    let _ = writeln!(text, "{}", linked(table.about, "../"));
    if let Some(tag) = table.default {
        let _ = writeln!(text, "\nWithout `type` it is of type \"{tag}\".");
    }
    for (tag, shape) in &table.forms {
        if let Some(tag) = tag {
            let _ = writeln!(text, "\n## Type \"{tag}\"\n\n{}", linked(shape.about, "../"));
        }
        if shape.keys.is_empty() {
            continue;
        }
        text.push_str("\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n");
        for key in shape.keys {
            let about = linked(key.about, "../");
            let _ = writeln!(text, "| `{}` | {} | {} | {about} |", key.name, phrase(key.kind), key.default);
        }
    }
    text
}

/// A text in which the pages that it names are links; `to_docs` leads from the page to `docs/`.
fn linked(text: &str, to_docs: &str) -> String {
    const FOLDER: &str = "docs/";
    const ENDING: &str = ".md";
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(FOLDER) {
        let (page, behind) = after.split_once(ENDING).expect("a page that a text names ends in .md");
        let _ = write!(done, "{before}[{FOLDER}{page}{ENDING}]({to_docs}{page}{ENDING})");
        rest = behind;
    }
    done + rest
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
        Kind::Table(shape) => format!("table {}", Name::Table(shape.name).link("")),
        Kind::Tagged(family) => format!("table {} with a `type`", Name::Table(family.name).link("")),
        Kind::Map(inner) => format!("for each name: {}", phrase(*inner)),
        Kind::Entries(shape) => format!("{} entries", Name::Entries(shape.name).link("")),
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

    /// Every table below a kind of value, each with its name and the keys of its forms.
    fn below(key: &str, kind: Kind, found: &mut Vec<(Name, String)>) {
        let mut keys_below = |shape: &'static Shape| {
            shape.keys.iter().for_each(|key| below(key.name, key.kind, found));
            shape.keys.iter().map(|key| key.name).collect::<Vec<_>>().join(" ")
        };
        match kind {
            Kind::Table(shape) | Kind::Entries(shape) => {
                let keys = keys_below(shape);
                found.push((Name::of(kind).unwrap(), format!("{keys}\n")));
            }
            Kind::List(inner, _) | Kind::Map(inner) => below(key, *inner, found),
            Kind::Or(kinds) => kinds.iter().for_each(|kind| below(key, *kind, found)),
            Kind::Tagged(family) => {
                // `frame_discard` for one category, `frame_discard_abr` for another; `channel_traffic` is less than
                // `traffic`.
                let behind = key
                    .strip_prefix(family.name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
                let before = family.name.strip_suffix(key).is_some_and(|rest| rest.ends_with('_'));
                let is_its_key = behind || before;
                assert!(is_its_key, "a family of tables is called by its key: {key}, {}", family.name);
                let forms = family.variants.iter();
                let keys = forms.map(|(tag, shape)| format!("{tag}: {}\n", keys_below(shape))).collect();
                found.push((Name::of(kind).unwrap(), keys));
            }
            _ => {}
        }
    }

    #[test]
    fn no_two_tables_with_different_keys_share_a_page_of_the_reference() {
        let mut found = Vec::new();
        ROOT.keys.iter().for_each(|key| below(key.name, key.kind, &mut found));
        let tables = tables();
        let mut files: Vec<_> = tables.iter().map(|table| table.name.file().to_lowercase()).collect();
        files.sort_unstable();
        files.dedup();
        assert_eq!(files.len(), tables.len(), "a file for each");
        for (name, keys) in &found {
            assert!(tables.iter().any(|table| table.name == *name), "{name:?}");
            for (_, others) in found.iter().filter(|(other, _)| other == name) {
                assert_eq!(keys, others, "{name:?}");
            }
        }
    }

    #[test]
    fn every_table_has_a_line_in_the_index_and_a_page_that_leads_back() {
        let Reference { index, pages } = reference();
        assert_eq!(index.lines().count(), pages.len());
        for (file, text) in &pages {
            assert!(index.contains(&format!("(scenarios/{file})")), "{file}");
            assert!(text.contains("(../scenarios.md#tables)") || file == "file.md", "{file}");
        }
    }

    #[test]
    fn pages_that_a_text_names_are_links() {
        assert_eq!(linked("None.", "../"), "None.");
        let text = linked("See docs/a.md, and docs/guides/b.md.", "../");
        assert_eq!(text, "See [docs/a.md](../a.md), and [docs/guides/b.md](../guides/b.md).");
    }
}
