//! The seed corpora of the fuzz targets, replayed through the functions that the targets call.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/lib.rs"]
mod checks;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder that can be read").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}: no seeds", folder.display());
    for path in paths {
        println!("{}", path.display()); // Shown only on failure: the input that failed is the last one.
        check(&fs::read(&path).expect("a seed that can be read"));
    }
}

#[test]
fn cell() {
    replay("cell", checks::cell);
}

#[test]
fn rm_cell() {
    replay("rm_cell", checks::rm_cell);
}

#[test]
fn aal5() {
    replay("aal5", checks::aal5);
}
