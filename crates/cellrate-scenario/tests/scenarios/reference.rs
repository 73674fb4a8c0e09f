//! docs/scenarios.md and the pages in docs/scenarios/ list the tables and keys as the parser knows them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cellrate_scenario::reference;

const START: &str = "<!-- tables: written from the parser's own table; UPDATE_REFERENCE=1 with this crate's tests renews them -->\n\n";
const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

#[test]
fn the_documentation_is_what_the_parser_knows() {
    let (index, folder) = (Path::new(DOCS).join("scenarios.md"), Path::new(DOCS).join("scenarios"));
    let (text, reference) = (fs::read_to_string(&index).unwrap(), reference());
    let (head, tables) = text.split_once(START).expect("the marker");
    let wanted: BTreeMap<PathBuf, String> =
        reference.pages.into_iter().map(|(file, text)| (folder.join(file), text)).collect();
    let entries = fs::read_dir(&folder).into_iter().flatten();
    let there: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::write(&index, format!("{head}{START}{}", reference.index)).unwrap();
        fs::create_dir_all(&folder).unwrap();
        there
            .iter()
            .filter(|file| !wanted.contains_key(*file))
            .for_each(|file| fs::remove_file(file).unwrap());
        wanted.iter().for_each(|(file, text)| fs::write(file, text).unwrap());
        return;
    }
    const RENEW: &str = "is out of date: run this test with UPDATE_REFERENCE=1";
    assert!(tables == reference.index, "docs/scenarios.md {RENEW}");
    for file in there.iter().chain(wanted.keys()) {
        assert!(fs::read_to_string(file).ok().as_ref() == wanted.get(file), "{} {RENEW}", file.display());
    }
}
