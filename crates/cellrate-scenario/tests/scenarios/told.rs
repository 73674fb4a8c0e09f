//! Errors as they are told, each kept in a file of its own beside this one.

use std::fs;

/// Holds an error to the text that is kept under `name`; with UPDATE_REFERENCE=1 it is kept as it is told today.
pub fn as_kept(name: &str, told: &str) {
    let file = format!("{}/tests/scenarios/told/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let told = format!("{told}\n");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::write(file, told).unwrap();
    } else {
        let kept = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(kept == told, "{name} was told as\n{kept}and is told today as\n{told}");
    }
}
