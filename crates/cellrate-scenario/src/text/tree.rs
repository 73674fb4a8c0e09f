//! The tree that a TOML text is, in the order of the text, with the place of every key and value.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::text::error::{Fault, Place};

/// A value and where it stands. A copy shares lists and tables with its original until one of the two is changed, so
/// that what many entries, members of groups or points of sweeps have in common is there once.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(Arc<str>),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// A date or a time of day, which no key takes.
    Date(String),
    List(Arc<Vec<Node>>),
    /// A long list of whole numbers, which was read from elsewhere.
    Numbers(Arc<[u32]>),
    Table(Arc<Table>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<Vec<Node>> for Value {
    fn from(nodes: Vec<Node>) -> Value {
        Value::List(Arc::new(nodes))
    }
}

impl From<Table> for Value {
    fn from(table: Table) -> Value {
        Value::Table(Arc::new(table))
    }
}

/// Keys and values in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Arc<str>,
    pub place: Place,
    pub node: Node,
}

impl Table {
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| *entry.key == *key)
    }

    pub fn node(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.node(key).and_then(Node::text)
    }

    pub fn node_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|entry| *entry.key == *key).map(|entry| &mut entry.node)
    }

    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| *entry.key == *key)?;
        Some(self.entries.remove(at))
    }

    /// Gives `key` the value, in the place of the one it had.
    pub fn set(&mut self, key: &str, place: Place, node: Node) {
        match self.entries.iter_mut().find(|entry| *entry.key == *key) {
            Some(entry) => (entry.place, entry.node) = (place, node),
            None => self.entries.push(Entry { key: key.into(), place, node }),
        }
    }

    /// The tables of an array of tables; none when there is no such key.
    pub fn tables(&self, key: &str) -> impl Iterator<Item = (&Node, &Table)> {
        let nodes = self.node(key).and_then(Node::list).unwrap_or_default();
        nodes.iter().filter_map(|node| node.table().map(|table| (node, table)))
    }
}

impl Node {
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub fn list(&self) -> Option<&[Node]> {
        if let Value::List(nodes) = &self.value { Some(nodes) } else { None }
    }

    pub fn list_mut(&mut self) -> Option<&mut Vec<Node>> {
        if let Value::List(nodes) = &mut self.value { Some(Arc::make_mut(nodes)) } else { None }
    }

    pub fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    pub fn table_mut(&mut self) -> Option<&mut Table> {
        if let Value::Table(table) = &mut self.value { Some(Arc::make_mut(table)) } else { None }
    }

    /// Kind of the value, as a noun for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Date(_) => "a date or time of day",
            Value::List(_) | Value::Numbers(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value as TOML on one line.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        self.write_toml(&mut text, true);
        text
    }

    /// Writes the value; a text of several lines in several lines, unless it is to be on one.
    fn write_toml(&self, text: &mut String, on_one_line: bool) {
        match &self.value {
            Value::Text(own) if is_plain(own) => text.extend(["\"", own, "\""]),
            Value::Text(own) if on_one_line => text.push_str(&quoted(own)),
            Value::Text(own) => text.push_str(&toml::Value::String(own.to_string()).to_string()),
            Value::Integer(number) => text.push_str(&number.to_string()),
            Value::Float(number) => text.push_str(&toml::Value::Float(*number).to_string()),
            Value::Boolean(flag) => text.push_str(if *flag { "true" } else { "false" }),
            Value::Date(own) => text.push_str(own),
            Value::List(nodes) => {
                write_list(text, nodes, |node, text| node.write_toml(text, on_one_line));
            }
            Value::Numbers(numbers) => {
                write_list(text, numbers, |number, text| text.push_str(&number.to_string()));
            }
            Value::Table(table) if table.entries.is_empty() => text.push_str("{}"),
            Value::Table(table) => {
                let mut before = "{ ";
                for entry in &table.entries {
                    text.push_str(before);
                    write_key_and_value(text, entry, on_one_line);
                    before = ", ";
                }
                text.push_str(" }");
            }
        }
    }

    /// The value for people: a string without its quotes.
    pub fn plain(&self) -> String {
        self.text().map_or_else(|| self.to_toml(), str::to_string)
    }
}

impl Table {
    /// The table as JSON with the keys of every table in alphabetical order.
    pub fn canonical(&self) -> Json {
        serde_json::to_value(self).expect("every key is a text")
    }

    /// The table as a TOML document: plain keys, then tables of tables, then arrays of tables.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let is_section = |node: &Node| node.table().is_some_and(|table| !table.entries.is_empty());
        let is_array = |node: &Node| {
            node.list()
                .is_some_and(|nodes| !nodes.is_empty() && nodes.iter().all(|node| node.table().is_some()))
        };
        for entry in self.entries.iter().filter(|entry| !is_section(&entry.node) && !is_array(&entry.node)) {
            write_pair(&mut text, entry);
        }
        // Written with a dotted key inside a section it would fall into that.
        let mut dotted = String::new();
        for entry in self.entries.iter().filter(|entry| is_section(&entry.node)) {
            for inner in entry.node.table().map_or(&[][..], |table| &table.entries) {
                match inner.node.table() {
                    Some(table) => {
                        let _ = write!(text, "\n[{}.{}]\n", quoted_key(&entry.key), quoted_key(&inner.key));
                        table.entries.iter().for_each(|entry| write_pair(&mut text, entry));
                    }
                    None => {
                        let _ = write!(dotted, "{}.", quoted_key(&entry.key));
                        write_pair(&mut dotted, inner);
                    }
                }
            }
        }
        let mut text = dotted + &text;
        for entry in self.entries.iter().filter(|entry| is_array(&entry.node)) {
            for table in entry.node.list().unwrap_or_default().iter().filter_map(Node::table) {
                let _ = write!(text, "\n[[{}]]\n", quoted_key(&entry.key));
                table.entries.iter().for_each(|entry| write_pair(&mut text, entry));
            }
        }
        text
    }
}

/// The canonical form: the keys of every table in alphabetical order, whatever their order in the text.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        serializer.collect_map(entries.into_iter().map(|entry| (&*entry.key, &entry.node)))
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Date(text) => serializer.serialize_str(text),
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::Boolean(flag) => serializer.serialize_bool(*flag),
            Value::List(nodes) => serializer.collect_seq(nodes.iter()),
            Value::Numbers(numbers) => serializer.collect_seq(numbers.iter()),
            Value::Table(table) => table.serialize(serializer),
        }
    }
}

fn write_pair(text: &mut String, entry: &Entry) {
    write_key_and_value(text, entry, false);
    text.push('\n');
}

fn write_key_and_value(text: &mut String, entry: &Entry, on_one_line: bool) {
    text.extend([&*quoted_key(&entry.key), " = "]);
    entry.node.write_toml(text, on_one_line);
}

fn write_list<T>(text: &mut String, items: &[T], write: impl Fn(&T, &mut String)) {
    text.push('[');
    for (place, item) in items.iter().enumerate() {
        text.push_str(if place == 0 { "" } else { ", " });
        write(item, text);
    }
    text.push(']');
}

fn quoted_key(key: &str) -> Cow<'_, str> {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { Cow::Borrowed(key) } else { Cow::Owned(quoted(key)) }
}

/// A text between quotes, on one line: all that JSON escapes TOML does, and DEL besides.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Whether TOML has a text between plain quotes as it is.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() && !matches!(c, '"' | '\'' | '\\'))
}

/// `over` on top of `base`: tables are merged key by key, all else is replaced. A table with a `type` of its own
/// replaces a table whole, because the keys of another type would make no sense in it.
pub(crate) fn merged(base: &Table, over: &Table) -> Table {
    if over.entries.is_empty() {
        return base.clone();
    }
    let mut entries = Vec::with_capacity(base.entries.len() + over.entries.len());
    entries.extend_from_slice(&base.entries);
    let mut result = Table { entries };
    // Most tables have few keys; in one of thousands each is found by an index.
    let index: Option<HashMap<&str, usize>> = (base.entries.len() > 16)
        .then(|| base.entries.iter().enumerate().map(|(at, entry)| (&*entry.key, at)).collect());
    for entry in &over.entries {
        let at = match &index {
            Some(index) => index.get(&*entry.key).copied(),
            None => base.entries.iter().position(|below| below.key == entry.key),
        };
        let Some(at) = at else {
            result.entries.push(entry.clone());
            continue;
        };
        let mut entry = entry.clone();
        if let (Some(below), Some(above)) = (base.entries[at].node.table(), entry.node.table())
            && above.node("type").is_none()
        {
            entry.node.value = Value::from(merged(below, above));
        }
        result.entries[at] = entry;
    }
    result
}

/// Reads a document; `text_number` goes into every place.
pub(crate) fn parse_document(text: &str, text_number: u32) -> Result<Table, Fault> {
    if let Some(root) = in_parts(text, text_number, PART) {
        return Ok(root);
    }
    let root = DeTable::parse(text).map_err(|error| not_toml(&error, text_number, text.len()))?;
    Reading { text: text_number, offset: 0, keys: HashMap::new() }.table(root.into_inner())
}

/// Least length of a part of a document \[octets\]: the parser takes some fifty times as much memory for it.
const PART: usize = 1 << 15;

/// A document read part by part: what the parser makes of one is gone before the next, where that of a hundred thousand
/// connections would take a gigabyte. None where it has one part, where a part is no TOML by itself, as when it ends
/// within a value, and where parts have more in common than arrays of tables that grow: the whole says all of that.
fn in_parts(text: &str, text_number: u32, least: usize) -> Option<Table> {
    let (head, rest) = parts(text, least);
    let mut reading = Reading { text: text_number, offset: 0, keys: HashMap::new() };
    let mut read = |part| {
        let table = reading.table(DeTable::parse(part).ok()?.into_inner()).ok()?;
        reading.offset += part.len();
        Some(table)
    };
    if text.len() <= least {
        return None;
    }
    let mut root = read(head)?;
    let of_head = root.entries.len();
    let mut places: HashMap<Arc<str>, usize> =
        root.entries.iter().zip(0..).map(|(entry, at)| (Arc::clone(&entry.key), at)).collect();
    for part in rest {
        for mut entry in read(part)?.entries {
            let at = *places.entry(Arc::clone(&entry.key)).or_insert(root.entries.len());
            let Some(known) = root.entries.get_mut(at) else {
                root.entries.push(entry);
                continue;
            };
            // An array before the first header is no array of tables, which another header would add to.
            let (all, more) = (known.node.list_mut()?, entry.node.list_mut()?);
            if at < of_head {
                return None;
            }
            all.append(more);
        }
    }
    Some(root)
}

/// Parts of a document that each begin, but for the first, with a line that opens as the header of an array of tables
/// does: all before the first such line, and parts no shorter than `least`, but for the last.
fn parts(text: &str, least: usize) -> (&str, impl Iterator<Item = &str>) {
    let next_header = move |from: usize| {
        let behind = text.as_bytes().get(from..)?;
        behind.windows(3).position(|octets| octets == b"\n[[").map(|at| from + at + 1)
    };
    let head = if text.starts_with("[[") { 0 } else { next_header(0).unwrap_or(text.len()) };
    let mut begin = head;
    let rest = iter::from_fn(move || {
        let end = next_header(begin + least).unwrap_or(text.len());
        let part = &text[begin..end];
        begin = end;
        (!part.is_empty()).then_some(part)
    });
    (&text[..head], rest)
}

/// Reads a single value that stands `offset` bytes into its text. What is not TOML has no fault: it may be a text.
pub(crate) fn parse_value(text: &str, text_number: u32, offset: usize) -> Result<Node, Option<Fault>> {
    let value = DeValue::parse(text).map_err(|_| None)?;
    Reading { text: text_number, offset, keys: HashMap::new() }.node(value).map_err(Some)
}

fn not_toml(error: &toml::de::Error, text: u32, length: usize) -> Fault {
    let span = error.span().unwrap_or(length..length);
    let message = format!("this is not TOML: {}", error.message().replace('\n', ", "));
    Fault::new(Place { text, start: span.start as u32, end: span.end as u32 }, message, "")
}

/// A text on its way from the parser's tables, each of which is gone as soon as it is read.
struct Reading<'t> {
    text: u32,
    offset: usize,
    /// Keys that were read: those of many entries are the same few.
    keys: HashMap<Cow<'t, str>, Arc<str>>,
}

impl<'t> Reading<'t> {
    fn place(&self, span: Range<usize>) -> Place {
        Place {
            text: self.text,
            start: (span.start + self.offset) as u32,
            end: (span.end + self.offset) as u32,
        }
    }

    fn table(&mut self, table: DeTable<'t>) -> Result<Table, Fault> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let place = self.place(key.span());
            let key = key.into_inner();
            let key = match self.keys.get(&key) {
                Some(known) => Arc::clone(known),
                None => {
                    let new: Arc<str> = Arc::from(&*key);
                    self.keys.insert(key, Arc::clone(&new));
                    new
                }
            };
            entries.push(Entry { key, place, node: self.node(value)? });
        }
        // A table whose header stands below those of its own tables comes before them in the parser's.
        entries.sort_by_key(|entry| entry.place.start);
        Ok(Table { entries })
    }

    fn node(&mut self, value: Spanned<DeValue<'t>>) -> Result<Node, Fault> {
        let place = self.place(value.span());
        let value = match value.into_inner() {
            DeValue::String(string) => Value::from(&*string),
            DeValue::Integer(integer) => {
                let number = i64::from_str_radix(integer.as_str(), integer.radix()).map_err(|_| {
                    Fault::new(place, format!("{integer} is too large a number"), "Write one below 2^63")
                })?;
                Value::Integer(number)
            }
            DeValue::Float(float) => match float.as_str().parse() {
                Ok(number) if f64::is_finite(number) => Value::Float(number),
                _ => {
                    return Err(Fault::new(
                        place,
                        format!("{float} is not a finite number"),
                        "Write a finite one",
                    ));
                }
            },
            DeValue::Boolean(flag) => Value::Boolean(flag),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(array) => {
                let nodes: Vec<Node> =
                    array.into_iter().map(|value| self.node(value)).collect::<Result<_, _>>()?;
                Value::from(nodes)
            }
            DeValue::Table(inner) => Value::from(self.table(inner)?),
        };
        Ok(Node { place, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_know_their_place_and_order() {
        let text = "b = 1\na = [\"x\", { c = 2.5 }]\n";
        let table = parse_document(text, 0).unwrap();
        assert_eq!(table.entries.iter().map(|entry| &*entry.key).collect::<Vec<_>>(), ["b", "a"]);
        let list = table.node("a").unwrap().list().unwrap();
        let inner = &list[1].table().unwrap().entries[0];
        assert_eq!(&text[inner.place.start as usize..inner.place.end as usize], "c");
        assert_eq!(&text[inner.node.place.start as usize..inner.node.place.end as usize], "2.5");
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let text = "z = 1\nd.e = \"q\"\nd.f = {}\nnone = {}\nno_entries = []\nname = 'a \"quoted\" \\ back'\n[s.t]\nx = 1e300\n\"a b\" = [[\"1 ms\", 2], [true, 1979-05-27]]\n\
                    [[host]]\nname = \"h\"\np = { \"sw{i}\" = { a = 1.0 } }\nempty = {}\n[[host]]\nname = \"g\"\n";
        let table = parse_document(text, 0).unwrap();
        let again = parse_document(&table.to_toml(), 0).unwrap();
        assert_eq!(table.canonical(), again.canonical(), "{}", table.to_toml());
    }

    #[test]
    fn texts_stand_between_the_quotes_that_toml_chooses() {
        for text in [
            "",
            "plain, {i} = [1] # \u{b5}s",
            "it's",
            "a \"b\"",
            "a\\b",
            "a\nb",
            "tab\t",
            "\u{7f}\u{85}",
            "'\"'",
        ] {
            let node = Node { place: Place::default(), value: Value::from(text) };
            let mut in_document = String::new();
            node.write_toml(&mut in_document, false);
            assert_eq!(in_document, toml::Value::String(text.to_string()).to_string());
            // By itself a value is on one line, and the same text.
            let alone = node.to_toml();
            assert!(alone.starts_with('"') && !alone.contains('\n'), "{alone}");
            assert_eq!(parse_value(&alone, 0, 0).unwrap().text(), Some(text));
        }
    }

    /// A document whose parts do as well as the whole.
    const PARTS: &str = "name = \"a\"\nhost = 1\n[defaults.link]\nrate = \"1 Mbps\"\n# [[vc]]\n[[vc]]\nname = \"v\"\n\
                         [vc.abr]\nnrm = 2\n[[probe]]\nof = [\"v\"]\r\n[[vc]]\nname = \"\u{b5}\"\n[late.table]\nx = 1\n[late]\n[[vc]]";

    #[test]
    fn parts_of_a_document_make_what_the_whole_makes() {
        let whole = DeTable::parse(PARTS).unwrap().into_inner();
        let mut reading = Reading { text: 3, offset: 0, keys: HashMap::new() };
        let whole = format!("{:?}", reading.table(whole).unwrap());
        for least in 1..PARTS.len() {
            let (head, rest) = parts(PARTS, least);
            assert_eq!([head].into_iter().chain(rest).collect::<String>(), PARTS);
            assert_eq!(
                in_parts(PARTS, 3, least).map(|root| format!("{root:?}")).as_deref(),
                Some(&*whole),
                "{least}"
            );
        }
        assert!(in_parts(PARTS, 3, PARTS.len()).is_none(), "one part is the whole");
    }

    #[test]
    fn what_parts_cannot_say_is_left_to_the_whole() {
        for text in [
            // Lines within values begin like headers.
            "a = [\n[[1]],\n]\n",
            "a = \"\"\"\n[[b]]\n\"\"\"\n",
            "a = '''\n[[b]]\n'''\n",
            // Tables of one key in two parts.
            "[[a]]\n[b.c]\n[[a]]\n[b.d]\n",
            "[a.b]\n[[c]]\n[a.d]\n",
            // Tables within the last of an array.
            "[[a]]\n[[a.b]]\n[[a.b]]\n",
        ] {
            assert!(in_parts(text, 0, 1).is_none(), "{text}");
            let whole = DeTable::parse(text).unwrap().into_inner();
            let whole = Reading { text: 0, offset: 0, keys: HashMap::new() }.table(whole).unwrap();
            assert_eq!(format!("{:?}", parse_document(text, 0).unwrap()), format!("{whole:?}"));
        }
        // And what is no TOML.
        for text in [
            "a = [1]\n[[a]]\n",
            "[a]\n[[a]]\n",
            "[[a]]\n[[b]]\n[a]\n",
            "[[a]]\nb = 1\nb = 2\n[[a]]\n",
            "[[a]]\n[[a]\n",
        ] {
            assert!(in_parts(text, 0, 1).is_none() && DeTable::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn merging_goes_key_by_key_unless_a_type_is_named() {
        let read = |text: &str| parse_document(text, 0).unwrap();
        let base = read("abr = { nrm = 8, tbe = 1 }\nalgorithm = { type = \"erica\", delta = 0.2 }\n");
        let keys = merged(&base, &read("abr = { nrm = 16 }\nalgorithm = { alpha = 1 }\n"));
        let expected =
            read("abr = { nrm = 16, tbe = 1 }\nalgorithm = { type = \"erica\", delta = 0.2, alpha = 1 }\n");
        assert_eq!(keys.canonical(), expected.canonical());
        let replaced = merged(&base, &read("algorithm = { type = \"none\" }\n"));
        assert_eq!(replaced.node("algorithm").unwrap().to_toml(), "{ type = \"none\" }");
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused_with_their_place() {
        assert_eq!(parse_document("a = 9223372036854775808", 0).unwrap_err().place.start, 4);
        assert!(parse_document("a = 9223372036854775807", 0).is_ok());
        assert!(parse_document("a = nan", 0).is_err());
        assert!(parse_document("a = 1e999", 0).is_err());
    }
}
