//! A scenario file as it was written, with overrides: read, changed by dotted paths, swept, stored and resolved.

mod walk;

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use cellrate_proto::declaration::Kind;

use crate::format::ROOT;
use crate::model::Scenario;
use crate::resolve::files;
use crate::resolve::group;
use crate::text::check::{self, Mode};
use crate::text::error::{Fault, Place, ScenarioError, SourceText};
use crate::text::files::Folders;
use crate::text::pattern;
use crate::text::tree::{self, Node, Table, Value};
use walk::{Known, Walk};

/// A scenario file that is well formed: its keys are known and its values are of the right kind. Whether they fit
/// together [`Document::resolve`] says.
///
/// ```
/// use cellrate_scenario::Document;
///
/// let text = r#"
///     name = "pair"
///     duration = "10 ms"
///     host = [{ name = "a" }, { name = "b" }]
///     link = [{ between = ["a", "b"], rate = "10 Mbps", length = "2 km" }]
///     vc = [{ name = "vc1", path = ["a", "b"] }]
/// "#;
/// let mut document = Document::parse(text, "pair.toml")?;
/// document.set("vc.vc1.abr.nrm", "8")?;
/// assert_eq!(document.resolve()?.links.len(), 1);
/// assert!(document.set("vc.vc1.abr.nmr", "8").is_err());
/// # Ok::<(), cellrate_scenario::ScenarioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    /// The file, then every override: places point into these.
    texts: Arc<Vec<SourceText>>,
    root: Table,
    /// Values still to be set in `root`: those of a point of a sweep, so that thousands of points share the rest.
    pending: Vec<Setting>,
}

/// A value for the key at a path. `as_text` stands in its place where a text is due.
#[derive(Clone, Debug)]
struct Setting {
    path: Arc<str>,
    place: Place,
    node: Node,
    as_text: Node,
}

/// One combination of the values of all sweeps.
#[derive(Clone, Debug)]
pub struct SweepPoint {
    /// Which keys were set to what, in the order of the sweeps; strings without quotes.
    pub set: Vec<(String, String)>,
    /// The document with these values and without sweeps.
    pub document: Document,
}

/// More points than one machine runs in a day.
const MOST_POINTS: usize = 10_000;

/// A digest as a place to write to.
struct Digesting(Sha256);

impl Write for Digesting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Document {
    /// Reads a scenario file. `file` is the name that errors give it.
    ///
    /// # Errors
    /// What is no TOML, unknown keys, values of the wrong type, without unit or out of range, bad sweeps.
    pub fn parse(text: &str, file: &str) -> Result<Document, ScenarioError> {
        // What editors of another system put before a text is no part of it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let source = SourceText { name: file.to_string(), text: text.to_string() };
        if u32::try_from(text.len()).is_err() {
            let fault = Fault::new(Place::default(), "the file is larger than 4 GiB", "Is it a scenario?");
            return Err(source.error(fault, String::new()));
        }
        let mut root = tree::parse_document(text, 0).map_err(|fault| source.error(fault, String::new()))?;
        if root.entries.is_empty() {
            let fault = Fault::new(
                Place::default(),
                "the file is empty",
                "A scenario needs at least a name and a duration",
            );
            return Err(source.error(fault, String::new()));
        }
        if let (None, Some((purpose, place))) = (root.node("purpose"), head_comment(text)) {
            root.set("purpose", place, Node { place, value: Value::from(&*purpose) });
        }
        let document = Document { texts: Arc::new(vec![source]), root, pending: Vec::new() };
        document.check().map_err(|fault| document.error(fault))?;
        document.sweep_points().map_err(|fault| document.error(fault))?;
        Ok(document)
    }

    /// Reads a scenario file that may be anything.
    ///
    /// # Errors
    /// As [`Document::parse`], and where the bytes are not UTF-8.
    pub fn parse_bytes(bytes: &[u8], file: &str) -> Result<Document, ScenarioError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Document::parse(text, file),
            Err(error) => {
                let readable = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
                let at = readable.len() as u32;
                let message =
                    format!("byte {} of the file is 0x{:02x}, which is not UTF-8", at, bytes[at as usize]);
                let source = SourceText { name: file.to_string(), text: readable };
                let fault = Fault::new(
                    Place { text: 0, start: at, end: at },
                    message,
                    "Is it a scenario, and saved as UTF-8?",
                );
                Err(source.error(fault, String::new()))
            }
        }
    }

    /// Reads the files that the document refers to, which are in `folder` or below it: what they hold takes the place
    /// of their names. A document that refers to none needs no reading; without it others cannot be
    /// [resolved](Document::resolve).
    ///
    /// # Errors
    /// Files that cannot be read, or hold something else. The document is as before then.
    pub fn read_files(&mut self, folder: &Path) -> Result<(), ScenarioError> {
        self.read_files_from(folder, &[])
    }

    /// Like [`read_files`](Document::read_files), where files in `allowed` folders may be named too.
    ///
    /// # Errors
    /// As [`read_files`](Document::read_files).
    pub fn read_files_from(&mut self, folder: &Path, allowed: &[PathBuf]) -> Result<(), ScenarioError> {
        let mut root = self.settled().map_err(|fault| self.error(fault))?.into_owned();
        if files::read_files(&mut root, &Folders { own: folder, allowed })
            .map_err(|fault| self.error(fault))?
        {
            (self.root, self.pending) = (root, Vec::new());
        }
        Ok(())
    }

    /// Whether the key at a dotted `path` can be set for all points: a sweep that sets it, too, or what holds it, would
    /// undo that at each of its points.
    ///
    /// # Errors
    /// The sweep that does.
    pub fn check_not_swept(&self, path: &str) -> Result<(), ScenarioError> {
        let Some(swept) = self.sweep_over(path) else { return Ok(()) };
        let message =
            format!("{path} is set, and a sweep of the scenario sets {swept} at each of its points");
        let remedy = "Leave one of the two out, or change the values of the sweep, such as sweep.1.values";
        let source = SourceText { name: "setting".into(), text: path.to_string() };
        let place = Place { text: 0, start: 0, end: path.len() as u32 };
        Err(source.error(Fault::new(place, message, remedy), path.to_string()))
    }

    /// Gives the key at a dotted `path` a value, as `--set path=value` does. Entries are addressed by their names as
    /// written (`vc.vc{i}.abr.nrm`), links by both ends in either order (`link.sw1-sw2.length`), others by their
    /// number; a member of a group (`vc.vc1.abr.nrm`) is first taken out of its group. The value is TOML; what is none
    /// is a string.
    ///
    /// # Errors
    /// Unknown paths, with what is known there; values of the wrong kind. The document is as before then.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), ScenarioError> {
        let text = format!("{path} = {value}");
        let number = self.texts.len() as u32;
        let (offset, end) = (path.len() + 3, text.len() as u32);
        let path_place = Place { text: number, start: 0, end: path.len() as u32 };
        let value_place = Place { text: number, start: offset as u32, end };
        let root = self.settled().map_err(|fault| self.error(fault))?.into_owned();
        let mut changed = Document { texts: Arc::clone(&self.texts), root, pending: Vec::new() };
        Arc::make_mut(&mut changed.texts).push(SourceText { name: "setting".into(), text });
        let as_text = Node { place: value_place, value: Value::from(value) };
        let (node, beyond) = match tree::parse_value(value, number, offset) {
            Ok(node) => (node, None),
            Err(fault) => (as_text.clone(), fault),
        };
        let setting = Setting { path: path.into(), place: path_place, node, as_text };
        let outcome = changed.assign(&setting).and_then(|()| changed.check_at(path));
        let outcome = outcome.and_then(|()| changed.sweep_points().map(drop));
        // An integer out of range is tried as text; if the key takes no text, the range is the error.
        outcome.map_err(|fault| changed.error_at(beyond.unwrap_or(fault), path))?;
        *self = changed;
        Ok(())
    }

    /// The document with another seed, without a look at whether it can have one: a negative seed is refused when it is
    /// [resolved](Document::resolve). It shares all else with this one, as thousands of points of a sweep do.
    #[must_use]
    pub fn with_seed(&self, seed: i64) -> Document {
        let node = Node { place: Place::default(), value: Value::Integer(seed) };
        let as_text = node.clone();
        let mut seeded = self.clone();
        seeded.pending.push(Setting { path: "seed".into(), place: Place::default(), node, as_text });
        seeded
    }

    /// The combinations of all sweeps, the last sweep varying fastest; the document itself when there is none.
    ///
    /// # Errors
    /// Values that do not go where they are to be set, more than 10,000 points.
    pub fn points(&self) -> Result<Vec<SweepPoint>, ScenarioError> {
        self.sweep_points().map_err(|fault| self.error(fault))
    }

    /// Writes out groups, fills in defaults, replaces names by indices, and checks that all of it fits together.
    ///
    /// # Errors
    /// The first thing that does not fit.
    pub fn resolve(&self) -> Result<Scenario, ScenarioError> {
        self.settled().and_then(|root| crate::resolve::scenario(&root)).map_err(|fault| self.error(fault))
    }

    /// Like [`resolve`](Document::resolve), for a run in simulated time.
    ///
    /// # Errors
    /// As for [`resolve`](Document::resolve), and any application: real programs cannot be simulated.
    pub fn resolve_for_simulation(&self) -> Result<Scenario, ScenarioError> {
        self.check_for_simulation()?;
        self.resolve()
    }

    /// Whether nothing in it keeps it from a run in simulated time, as far as can be said without resolving it.
    ///
    /// # Errors
    /// Any application: real programs cannot be simulated.
    pub fn check_for_simulation(&self) -> Result<(), ScenarioError> {
        self.settled()
            .and_then(|root| crate::resolve::check_for_simulation(&root))
            .map_err(|fault| self.error(fault))
    }

    /// Resolves it for a live run.
    ///
    /// # Errors
    /// As for [`resolve`](Document::resolve), and a warm-up or windows: a live run measures all of its time.
    pub fn resolve_for_live(&self) -> Result<Scenario, ScenarioError> {
        self.check_for_live()?;
        self.resolve()
    }

    /// Whether nothing in it keeps it from a live run, as far as can be said without resolving it.
    ///
    /// # Errors
    /// A warm-up or windows: a live run measures all of its time.
    pub fn check_for_live(&self) -> Result<(), ScenarioError> {
        self.settled()
            .and_then(|root| crate::resolve::check_for_live(&root))
            .map_err(|fault| self.error(fault))
    }

    /// Purpose of the scenario: its `purpose`, or the comment at the head of the file; empty without either.
    pub fn purpose(&self) -> String {
        let of = |root: &Table| root.text("purpose").unwrap_or_default().to_string();
        self.settled().map_or_else(|_| of(&self.root), |root| of(&root))
    }

    /// The document as TOML, overrides included, comments not: what is stored beside results. It reads back to a
    /// document of the same [`hash`](Document::hash).
    pub fn to_toml(&self) -> String {
        self.settled().map_or_else(|_| self.root.to_toml(), |root| root.to_toml())
    }

    /// The document as JSON with sorted keys, groups as they are written: what an editor shows of it.
    pub fn to_json(&self) -> serde_json::Value {
        self.settled().map_or_else(|_| self.root.canonical(), |root| root.canonical())
    }

    /// SHA-256, in hexadecimal, of the document as JSON with sorted keys, without its purpose: the same for any layout,
    /// order of keys and comments, also at the head of the file.
    pub fn hash(&self) -> String {
        let mut root = self.settled().map_or_else(|_| self.root.clone(), Cow::into_owned);
        root.remove("purpose");
        let mut digest = BufWriter::new(Digesting(Sha256::new()));
        serde_json::to_writer(&mut digest, &root).expect("every key is a text, and a digest takes all");
        let Ok(Digesting(digest)) = digest.into_inner() else { unreachable!("a digest takes all") };
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn check(&self) -> Result<(), Fault> {
        check::keys(&self.root, Place::default(), &ROOT, Mode::WRITTEN)?;
        check::required_keys(&self.root, Place::default(), &ROOT)
    }

    /// Like [`check`](Document::check), where nothing but the key at `path` has changed.
    fn check_at(&self, path: &str) -> Result<(), Fault> {
        let mut segments = path.split('.').map(str::trim);
        let (kind, name) = (segments.next().unwrap_or_default(), segments.next().unwrap_or_default());
        let (Some(key), Some(node)) = (ROOT.key(kind), self.root.node(kind)) else { return self.check() };
        let Kind::Entries(shape) = key.kind else { return check::value(node, key.kind, Mode::WRITTEN) };
        let entries = node.list().unwrap_or_default();
        match group::called(kind, entries, name) {
            Some(at) => check::entry(&entries[at], shape),
            None => check::value(node, key.kind, Mode::WRITTEN),
        }
    }

    /// The document with what is pending.
    fn settled(&self) -> Result<Cow<'_, Table>, Fault> {
        if self.pending.is_empty() {
            return Ok(Cow::Borrowed(&self.root));
        }
        let mut whole = Document { pending: Vec::new(), ..self.clone() };
        self.pending.iter().try_for_each(|setting| whole.assign(setting))?;
        Ok(Cow::Owned(whole.root))
    }

    /// The key of a sweep that would undo what is set at `path`: the same, or one that holds it.
    fn sweep_over(&self, path: &str) -> Option<&str> {
        let set: Vec<&str> = path.split('.').map(str::trim).collect();
        let is_same = |swept: &str, set: &str| {
            swept == set || pattern::matches(swept, set) || pattern::matches(set, swept)
        };
        let swept = self.root.tables("sweep").filter_map(|(_, sweep)| sweep.text("set"));
        swept.into_iter().find(|swept| {
            let swept: Vec<&str> = swept.split('.').map(str::trim).collect();
            let mut pairs = swept.iter().zip(&set).enumerate();
            let is_link = swept.first() == Some(&"link");
            swept.len() <= set.len()
                && pairs.all(|(at, (swept, set))| {
                    is_same(swept, set)
                        || is_link && at == 1 && group::turned(set).any(|set| is_same(swept, &set))
                })
        })
    }

    fn sweep_points(&self) -> Result<Vec<SweepPoint>, Fault> {
        let mut plain = self.clone();
        plain.root.remove("sweep");
        let mut points = vec![SweepPoint { set: Vec::new(), document: plain }];
        for (place, sweep) in self.root.tables("sweep") {
            let (Some(set), Some(values)) = (sweep.node("set"), sweep.node("values").and_then(Node::list))
            else {
                continue;
            };
            if points.len().saturating_mul(values.len()) > MOST_POINTS {
                let message = format!("the sweeps have more than {MOST_POINTS} combinations");
                return Err(Fault::new(place.place, message, "Sweep fewer values"));
            }
            let path = check::text(set)?;
            if path.split('.').next() == Some("sweep") {
                return Err(Fault::new(set.place, "a sweep cannot vary a sweep", "Name another key"));
            }
            if points[0].set.iter().any(|(swept, _)| swept == path) {
                let message = format!("{path} is varied by two sweeps");
                return Err(Fault::new(set.place, message, "Write all its values into one"));
            }
            let mut next = Vec::with_capacity(points.len() * values.len());
            for point in &points {
                let below = Document {
                    root: point.document.settled()?.into_owned(),
                    pending: Vec::new(),
                    ..point.document.clone()
                };
                for value in values {
                    let as_text = Node { place: value.place, value: Value::from(&*value.plain()) };
                    let setting =
                        Setting { path: path.into(), place: set.place, node: value.clone(), as_text };
                    let mut tried = below.clone();
                    tried.assign(&setting)?;
                    tried.check_at(path)?;
                    let mut point = point.clone();
                    point.document.pending.push(setting);
                    point.set.push((path.to_string(), value.plain()));
                    next.push(point);
                }
            }
            points = next;
        }
        Ok(points)
    }

    fn assign(&mut self, setting: &Setting) -> Result<(), Fault> {
        let segments: Vec<&str> = setting.path.split('.').map(str::trim).collect();
        if let ["host" | "switch" | "link" | "vc" | "application" | "probe" | "window" | "sweep", name, ..] =
            segments[..]
            && self.assign_to_members(setting, segments[0], name)?
        {
            return Ok(());
        }
        let walk = Walk { place: setting.place, segments: &segments };
        let mut table = &mut self.root;
        let mut keys = Known::Shape(&ROOT);
        let mut at = 0;
        loop {
            let Some(&name) = segments.get(at) else {
                return Err(walk.fault("the path is empty".into()));
            };
            let tag = table.text("type").map(str::to_string);
            let Some(kind) = keys.kind(name, tag.as_deref()) else {
                return Err(walk.unknown(at, &keys.names(tag.as_deref())));
            };
            at += 1;
            if let Kind::Entries(shape) = kind {
                let entries = table.node_mut(name).and_then(Node::list_mut);
                table = walk.entry(at, name, entries.map(Vec::as_mut_slice).unwrap_or_default())?;
                keys = Known::Shape(shape);
                at += 1;
                continue;
            }
            if at == segments.len() {
                let wants_text = matches!(kind, Kind::Text | Kind::Name | Kind::Reference);
                // A number may be a name; a value in quotes is a text as it is.
                let as_text = wants_text && setting.node.list().is_none() && setting.node.text().is_none();
                let node = if as_text { &setting.as_text } else { &setting.node };
                table.set(name, setting.place, node.clone());
                return Ok(());
            }
            keys = Known::within(kind)
                .ok_or_else(|| walk.fault(format!("{} has no keys of its own", walk.before(at))))?;
            if table.node(name).and_then(Node::table).is_none() {
                let value = Value::from(Table::default());
                table.set(name, setting.place, Node { place: setting.place, value });
            }
            table = match table.node_mut(name).and_then(Node::table_mut) {
                Some(inner) => inner,
                None => return Err(walk.fault("it is no table".into())),
            };
        }
    }

    /// Assigns to the members of a group that `name` stands for, where no entry has this name; whether there are such.
    fn assign_to_members(&mut self, setting: &Setting, kind: &str, name: &str) -> Result<bool, Fault> {
        // A group that was written out, because one of its members was set, still answers to its name.
        let entries = self.root.node(kind).and_then(Node::list).unwrap_or_default();
        if group::called(kind, entries, name).is_some() {
            return Ok(false);
        }
        let renamed =
            |other: &str| Setting { path: setting.path.replacen(name, other, 1).into(), ..setting.clone() };
        let handles = self.handles(kind);
        if let Some(turned) = turned(kind, name, &handles) {
            self.assign(&renamed(&turned))?;
            return Ok(true);
        }
        if pattern::has_number(name) {
            let members: Vec<&String> =
                handles.iter().filter(|handle| pattern::matches(name, handle)).collect();
            for member in &members {
                self.assign(&renamed(member))?;
            }
            if !members.is_empty() {
                return Ok(true);
            }
        }
        self.take_out(kind, name)?;
        Ok(false)
    }

    /// Names of the entries of a kind, as written.
    fn handles(&self, kind: &str) -> Vec<String> {
        self.root.tables(kind).enumerate().map(|(i, (_, table))| group::handle(table, i + 1)).collect()
    }

    /// Replaces the group that has a member called `name` by its members, so that one of them can be changed.
    fn take_out(&mut self, kind: &str, name: &str) -> Result<(), Fault> {
        let Some(shape) = group::shape_of(kind).filter(|shape| shape.key("count").is_some()) else {
            return Ok(());
        };
        let mut flats = group::flattened(&self.root, kind)?;
        for index in 0..flats.len() {
            let Some(table) = flats[index].table().filter(|table| table.node("count").is_some()) else {
                continue;
            };
            if !group::may_be_called(table, name) {
                continue;
            }
            let members = group::written_out(&flats[index], shape, index + 1)?;
            let is_it = |node: &Node| node.table().is_some_and(|table| group::is_called(table, 0, name));
            if !members.iter().any(|member| is_it(&member.node)) {
                continue;
            }
            // Others may be like the group, which is about to lose its name: all of them have its keys by now.
            flats.splice(index..=index, members.into_iter().map(|member| member.node));
            if let Some(node) = self.root.node_mut(kind) {
                node.value = Value::from(flats);
            }
            return Ok(());
        }
        Ok(())
    }

    /// An error about the key `key` at the top of the document, such as "duration" or "probe", that shows where it
    /// stands: for what whoever runs the scenario cannot do.
    pub fn error_about(&self, key: &str, message: &str, remedy: &str) -> ScenarioError {
        let place = self.root.entry(key).map_or_else(Place::default, |entry| match entry.node.list() {
            Some([first, ..]) => first.place,
            _ => entry.node.place,
        });
        let fault = Fault::new(place, message, remedy);
        self.texts[(place.text as usize).min(self.texts.len() - 1)].error(fault, key.to_string())
    }

    fn error(&self, fault: Fault) -> ScenarioError {
        let key = key_path(&self.root, fault.place).unwrap_or_default();
        self.texts[(fault.place.text as usize).min(self.texts.len() - 1)].error(fault, key)
    }

    /// An error about an override; where the tree does not say which key is meant, it is the one that was set.
    fn error_at(&self, fault: Fault, path: &str) -> ScenarioError {
        let key = key_path(&self.root, fault.place).unwrap_or_else(|| path.to_string());
        self.texts[(fault.place.text as usize).min(self.texts.len() - 1)].error(fault, key)
    }
}

/// Name of a link that is called by its ends in the other order; `None` where that is no link, or it is called by the
/// right order.
fn turned(kind: &str, name: &str, handles: &[String]) -> Option<String> {
    let is_there = |name: &str| handles.iter().any(|handle| pattern::matches(handle, name) || handle == name);
    if kind != "link" || is_there(name) {
        return None;
    }
    group::turned(name).find(|turned| is_there(turned))
}

/// The dotted path of the deepest key or value at a place.
fn key_path(table: &Table, place: Place) -> Option<String> {
    fn inside(table: &Table, place: Place, path: &str) -> Option<String> {
        table.entries.iter().find_map(|entry| {
            let path = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
            let deeper = match &entry.node.value {
                Value::Table(table) => inside(table, place, &path),
                Value::List(nodes) => nodes.iter().enumerate().find_map(|(i, node)| {
                    let is_entry = node.table().is_some();
                    let name = node.table().map_or(String::new(), |table| group::handle(table, i + 1));
                    let path = if is_entry { format!("{path}.{name}") } else { path.clone() };
                    let deeper = node.table().and_then(|table| inside(table, place, &path));
                    deeper.or_else(|| (holds(node, place)).then_some(path))
                }),
                _ => None,
            };
            deeper.or_else(|| (entry.place == place || entry.node.place == place).then_some(path))
        })
    }
    fn holds(node: &Node, place: Place) -> bool {
        node.place == place || node.list().is_some_and(|nodes| nodes.iter().any(|node| holds(node, place)))
    }
    if place == Place::default() { None } else { inside(table, place, "") }
}

/// The comment that the text begins with, without its marks.
fn head_comment(text: &str) -> Option<(String, Place)> {
    let lines = text.lines().take_while(|line| line.starts_with('#'));
    // What stands behind `#:` is for editors, such as where a schema is.
    let words: Vec<&str> = lines
        .filter(|line| !line.starts_with("#:"))
        .map(|line| line.trim_start_matches('#').trim())
        .filter(|line| !line.is_empty())
        .collect();
    if words.is_empty() {
        return None;
    }
    let end = text.lines().next().map_or(0, str::len) as u32;
    Some((words.join(" "), Place { text: 0, start: 0, end }))
}
