//! No input makes the crate panic, and the schema accepts what the parser accepts.

use proptest::prelude::*;

use crate::{GOOD, support};
use cellrate_scenario::{Document, fair, schema};

/// Goes all the way that a user could; what it finds wrong must be printable.
fn all_the_way(text: &[u8]) {
    let document = match Document::parse_bytes(text, "any.toml") {
        Ok(document) => document,
        Err(error) => return drop(error.to_string()),
    };
    drop(document.points().map(|points| points.len()));
    match document.resolve() {
        Ok(scenario) => {
            let _ = fair::max_min(&scenario, None).map_err(|error| error.to_string());
            let stored = document.to_toml();
            let again =
                Document::parse(&stored, "stored.toml").unwrap_or_else(|error| panic!("{error}\n{stored}"));
            assert_eq!(again.resolve().unwrap(), scenario, "{stored}");
        }
        Err(error) => drop(error.to_string()),
    }
}

/// Pieces that mean something to the format, to put where they do not belong.
const PIECES: &[&str] = &[
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\n",
    "#",
    "{i}",
    "{i+1}",
    "0",
    "-1",
    "1e308",
    "\"0 ms\"",
    "\"1e300 Mbps\"",
    "\"infinite\"",
    "\"1/0\"",
    "like = \"vc{i}\"\n",
    "count = 65536\n",
    "count = 0\n",
    "[[vc]]\n",
    "[[sweep]]\n",
    "type = \"timed\", ",
    "nan",
    "true",
    "1979-05-27",
    "\u{fc}",
    "\0",
    "\r",
    "abr = []\n",
    "\"sw1\", ",
    "[defaults.vc]\n",
    "9223372036854775807",
];

fn edited() -> impl Strategy<Value = Vec<u8>> {
    let edit = (0..GOOD.len(), 0..12_usize, 0..PIECES.len());
    proptest::collection::vec(edit, 1..4).prop_map(|edits| {
        let mut text = GOOD.as_bytes().to_vec();
        for (at, removed, piece) in edits {
            let at = at.min(text.len());
            let end = (at + removed).min(text.len());
            text.splice(at..end, PIECES[piece].bytes());
        }
        text
    })
}

/// Texts that an expression matches, which is read once; written as the strategy itself, it is read anew for each text.
fn like(expression: &str) -> impl Strategy<Value = String> + use<> {
    proptest::string::string_regex(expression).expect("the expression is one")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edited_file_is_resolved_or_refused(text in edited()) {
        all_the_way(&text);
    }

    #[test]
    fn any_bytes_are_resolved_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        all_the_way(&bytes);
    }

    #[test]
    fn any_override_is_taken_or_refused(
        path in prop_oneof![
            like("[a-z{}.0-9-]{0,20}"),
            like("(vc|link|switch|host|probe)\\.(vc1|vc2|1|sw1|s1-sw1|s[{]i[}])\\.[a-z.]{1,12}"),
        ],
        value in prop_oneof![like("\\PC{0,12}"), like("[0-9.]{1,6} (ms|Mbps|cells)")],
    ) {
        let mut document = Document::parse(GOOD, "good.toml").unwrap();
        if let Err(error) = document.set(&path, &value) {
            drop(error.to_string());
        }
        all_the_way(document.to_toml().as_bytes());
    }
}

#[test]
fn the_schema_accepts_the_good_file_and_refuses_an_unknown_key() {
    let schema = schema();
    support::validate(&schema, &support::json(GOOD)).unwrap_or_else(|error| panic!("{error}"));
    for (from, to) in [
        ("lengt", "lenght = \"1 km\"\nlengt"),
        ("duration = \"400 ms\"", "duration = 400"),
        ("\"relative-rate\"", "\"relative\""),
        ("seed = 7", "seed = -7"),
        ("category = \"vbr\"", "category = \"vbrr\""),
    ] {
        let text = GOOD.replacen(from, to, 1);
        assert!(support::validate(&schema, &support::json(&text)).is_err(), "{to}");
        assert!(Document::parse(&text, "bad.toml").is_err(), "{to}");
    }
}
