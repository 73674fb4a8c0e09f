//! `docs/rules.md` is true: every rule has a row, and every row names code and tests that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every rule that the table must have a row for.
const RULES: &[&str] = &[
    "source 1",
    "source 2",
    "source 3 a",
    "source 3 b",
    "source 3 c",
    "source 4",
    "source 5",
    "source 6",
    "source 7",
    "source 5, 6, 7 in order",
    "source 8",
    "source 9",
    "source 8, 9 in order",
    "source 10",
    "source 11",
    "source 12",
    "source 13",
    "rescheduling",
    "destination 1",
    "destination 2",
    "destination 3",
    "destination 4",
    "destination 5",
    "destination 6",
    "switch EFCI",
    "switch relative rate",
    "switch explicit rate",
    "switch feedback only lowers",
    "switch BRMs of its own",
    "switch RM order",
    "parameters",
    "conformance GCRA",
    "conformance definitions",
    "conformance ABR.1",
    "conformance GFR",
    "OAM loopback",
    "SCONE signal",
    "SCONE packet",
    "SCONE element",
    "SCONE endpoint",
    "SCONE monitor",
    "RM cells of a virtual path",
];

struct Row {
    rule: String,
    /// `file::function` each.
    code: Vec<String>,
    tests: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Texts between backquotes in `cell`.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// The rows of every table in `text` whose first heading is "rule".
fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [rule, _, code, tests] = cells[..] else {
            inside = false;
            continue;
        };
        match rule {
            "rule" => inside = true,
            _ if rule.starts_with("---") => {}
            _ if inside => rows.push(Row { rule: rule.into(), code: quoted(code), tests: quoted(tests) }),
            _ => {}
        }
    }
    rows
}

/// All Rust files under `directory`, read.
fn sources(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
        let path = entry.expect("readable").path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(fs::read_to_string(&path).expect("UTF-8"));
        }
    }
}

/// The names of the functions under `#[test]` in `text`.
fn tests_in(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            marked = true;
        } else if marked && let Some(rest) = line.strip_prefix("fn ") {
            names.insert(rest.split('(').next().unwrap_or_default().into());
            marked = false;
        }
    }
    names
}

fn defines(text: &str, function: &str) -> bool {
    [format!("fn {function}("), format!("fn {function}<")].iter().any(|definition| text.contains(definition))
}

/// Everything that is wrong with the table `text`, a line each.
fn faults(text: &str, rules: &[&str], tests: &BTreeSet<String>, root: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let rows = rows(text);
    for rule in rules {
        let count = rows.iter().filter(|row| row.rule == *rule).count();
        if count != 1 {
            faults.push(format!("{rule}: {count} rows"));
        }
    }
    for Row { rule, code, tests: named } in &rows {
        if !rules.contains(&rule.as_str()) {
            faults.push(format!("{rule}: no such rule"));
        }
        if code.is_empty() {
            faults.push(format!("{rule}: names no code"));
        }
        if named.is_empty() {
            faults.push(format!("{rule}: names no test"));
        }
        for place in code {
            let (file, function) = place.split_once("::").unwrap_or((place, ""));
            let text = fs::read_to_string(root.join("crates/cellrate-proto/src").join(file))
                .or_else(|_| fs::read_to_string(root.join(file)));
            match text {
                Err(_) => faults.push(format!("{rule}: no file {file}")),
                Ok(text) if !defines(&text, function) => faults.push(format!("{rule}: no function {place}")),
                Ok(_) => {}
            }
        }
        let missing = named.iter().filter(|name| !tests.contains(*name));
        faults.extend(missing.map(|name| format!("{rule}: no test {name}")));
    }
    faults
}

fn all_tests() -> BTreeSet<String> {
    let mut texts = Vec::new();
    sources(&root().join("crates"), &mut texts);
    texts.iter().flat_map(|text| tests_in(text)).collect()
}

#[test]
fn the_table_of_rules_names_every_rule_and_code_and_tests_that_exist() {
    let text = fs::read_to_string(root().join("docs/rules.md")).expect("docs/rules.md");
    let faults = faults(&text, RULES, &all_tests(), &root());
    assert!(faults.is_empty(), "docs/rules.md:\n{}", faults.join("\n"));
}

#[test]
fn every_test_that_names_a_rule_is_in_the_table() {
    let text = fs::read_to_string(root().join("docs/rules.md")).expect("docs/rules.md");
    let listed: BTreeSet<String> = rows(&text).into_iter().flat_map(|row| row.tests).collect();
    let numbered = ["source_rule", "destination_rule", "switch_", "parameters_", "rescheduling_"];
    let mut texts = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules"), &mut texts);
    let missing: Vec<String> = texts
        .iter()
        .flat_map(|text| tests_in(text))
        .filter(|name| numbered.iter().any(|prefix| name.starts_with(prefix)) && !listed.contains(name))
        .collect();
    assert!(missing.is_empty(), "not in docs/rules.md:\n{}", missing.join("\n"));
}

#[test]
fn a_table_with_faults_is_refused() {
    let table = "\
| rule | in few words | obeyed by | held by |
| --- | --- | --- | --- |
| one | fine | `source.rs::transmit` | `good` |
| two | no test | `source.rs::transmit` | |
| three | unknown test | `source.rs::transmit` | `bad` |
| four | unknown function | `source.rs::nothing` | `good` |
| five | unknown file | `nowhere.rs::transmit` | `good` |
| six | no code | | `good` |
| seven | not a rule | `source.rs::transmit` | `good` |
";
    let tests = BTreeSet::from([String::from("good")]);
    let found = faults(table, &["one", "two", "three", "four", "five", "six", "eight"], &tests, &root());
    let expected = [
        "eight: 0 rows",
        "two: names no test",
        "three: no test bad",
        "four: no function source.rs::nothing",
        "five: no file nowhere.rs",
        "six: names no code",
        "seven: no such rule",
    ];
    assert_eq!(found, expected);
}
