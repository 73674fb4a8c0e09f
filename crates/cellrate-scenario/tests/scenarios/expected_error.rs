//! Errors that scenarios are expected to give, the text of each in a file of `errors`.

use std::fs;

/// Asserts that an error is the text of the file `name`; with UPDATE_REFERENCE=1 it is written there instead.
pub fn assert_error(name: &str, error: &str) {
    let file = format!("{}/tests/scenarios/errors/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let error = format!("{error}\n");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::write(file, error).unwrap();
    } else {
        let expected = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(expected == error, "{name} is expected to be\n{expected}and is\n{error}");
    }
}
