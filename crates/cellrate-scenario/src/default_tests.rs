//! Defaults that the reference states are those that hold: a file that writes one of them out means the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cellrate_proto::declaration::{Key, Kind, Shape};
use toml::{Table, Value};

use crate::format::ROOT;
use crate::{Document, Scenario};

/// A step from a table to one within it.
#[derive(Clone)]
enum Step {
    Key(String),
    Place(usize),
}

/// Keys that are left out, by table and name, each with the places in a file where it might be written.
type LeftOut = BTreeMap<String, (&'static Key, Vec<Vec<Step>>)>;

/// Notes the keys that a table of this shape leaves out, and those of the tables in it.
fn table(shape: &Shape, given: &Table, place: &[Step], found: &mut LeftOut) {
    for key in shape.keys {
        match given.get(key.name) {
            Some(given) => value(key.kind, given, &[place, &[Step::Key(key.name.into())]].concat(), found),
            None if key.required => {}
            None => {
                let name = format!("{}: {}", shape.name, key.name);
                found.entry(name).or_insert((key, Vec::new())).1.push(place.to_vec());
            }
        }
    }
}

fn value(kind: Kind, given: &Value, place: &[Step], found: &mut LeftOut) {
    match (kind, given) {
        (Kind::Table(shape), Value::Table(given)) => table(shape, given, place, found),
        (Kind::Tagged(family), Value::Table(given)) => {
            let tag = given.get("type").and_then(Value::as_str).or(family.default);
            if let Some(shape) = tag.and_then(|tag| family.variant(tag)) {
                table(shape, given, place, found);
            }
        }
        (Kind::Map(of), Value::Table(given)) => {
            for (key, given) in given {
                value(*of, given, &[place, &[Step::Key(key.clone())]].concat(), found);
            }
        }
        (Kind::Entries(shape), Value::Array(list)) => each(Kind::Table(shape), list, place, found),
        (Kind::List(of, _), Value::Array(list)) => each(*of, list, place, found),
        (Kind::Or(kinds), given) => kinds.iter().for_each(|kind| value(*kind, given, place, found)),
        _ => {}
    }
}

fn each(kind: Kind, list: &[Value], place: &[Step], found: &mut LeftOut) {
    for (i, given) in list.iter().enumerate() {
        value(kind, given, &[place, &[Step::Place(i)]].concat(), found);
    }
}

/// All keys that have a default to be written, by table and name.
fn all(kind: Kind, names: &mut BTreeSet<String>) {
    match kind {
        Kind::Table(shape) | Kind::Entries(shape) => {
            for key in shape.keys {
                if written(key).is_none() || names.insert(format!("{}: {}", shape.name, key.name)) {
                    all(key.kind, names);
                }
            }
        }
        Kind::Tagged(family) => family.variants.iter().for_each(|(_, shape)| all(Kind::Table(shape), names)),
        Kind::Map(of) | Kind::List(of, _) => all(*of, names),
        Kind::Or(kinds) => kinds.iter().for_each(|kind| all(*kind, names)),
        _ => {}
    }
}

/// The default of a key as a file would have it; `None` where it is a phrase.
fn written(key: &Key) -> Option<Value> {
    let alone = |text: &str| toml::from_str::<Table>(&format!("x = {text}")).ok()?.remove("x");
    // A ratio, and a number of cells, without the quotes that a file needs.
    let number = key.default.strip_suffix(" cells").unwrap_or(key.default);
    let is_value = number.split('/').all(|part| part.parse::<u32>().is_ok());
    alone(key.default).or_else(|| is_value.then(|| key.default.into()))
}

/// The file with a key more.
fn with(file: &Table, place: &[Step], key: &str, value: Value) -> Table {
    let mut file = Value::Table(file.clone());
    let mut at = &mut file;
    for step in place {
        at = match step {
            Step::Key(key) => &mut at[key.as_str()],
            Step::Place(i) => &mut at[*i],
        };
    }
    at.as_table_mut().expect("a table").insert(key.to_string(), value);
    file.as_table().expect("a table").clone()
}

fn resolved(file: &Table, folder: &Path) -> Result<Scenario, String> {
    let text = toml::to_string(file).unwrap();
    let mut document = Document::parse(&text, "t").map_err(|error| error.to_string())?;
    document.read_files(folder).map_err(|error| error.to_string())?;
    document.resolve().map_err(|error| error.to_string())
}

/// The files in a folder and in those within it that are scenarios: each has a duration.
fn scenarios(folder: &Path, found: &mut Vec<(PathBuf, Table)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            let file: Table = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            if file.contains_key("duration") {
                found.push((path, file));
            }
        }
    }
}

/// Keys whose default is another where it is left out, and why.
const OTHERWISE: [(&str, &str); 3] = [
    ("host_tcp: initial_window", "the host's own, which is left alone: 10 on Linux"),
    ("host_tcp: minimum_rto", "the host's own, which is left alone: 200 ms on Linux"),
    ("port: algorithm", "that of the switch, whose table of keys it shares"),
];

/// Each default is written out at every place of the scenarios of this repository that leaves it out, until one is
/// found at which it may be. Those in tests/scenarios/tables have the tables that no other has, with as few keys as
/// each may have.
#[test]
fn defaults_in_the_reference_hold_where_a_key_is_left_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["scenarios", "papers", "crates/cellrate-scenario/tests/scenarios"] {
        scenarios(&root.join(folder), &mut files);
    }
    let mut missing = BTreeSet::new();
    all(Kind::Table(&ROOT), &mut missing);
    assert!(OTHERWISE.iter().all(|(name, _)| missing.remove(*name)));
    for (path, file) in files {
        let folder = path.parent().unwrap();
        let plain = resolved(&file, folder).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let mut found = LeftOut::new();
        table(&ROOT, &file, &[], &mut found);
        for (name, (key, places)) in found {
            let Some(default) = written(key).filter(|_| missing.contains(&name)) else { continue };
            let same = |place: &Vec<Step>| {
                resolved(&with(&file, place, key.name, default.clone()), folder)
                    .is_ok_and(|with| with == plain)
            };
            if places.iter().any(same) {
                missing.remove(&name);
            }
        }
    }
    assert!(missing.is_empty(), "another default than the reference has: {missing:#?}");
}
