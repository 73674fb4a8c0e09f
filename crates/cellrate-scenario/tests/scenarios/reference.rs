//! docs/scenarios.md lists the keys as the parser knows them.

use cellrate_scenario::reference;

const START: &str = "<!-- keys: written from the parser's own table; UPDATE_REFERENCE=1 with this crate's tests renews it -->\n\n";

#[test]
fn the_documentation_is_what_the_parser_knows() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenarios.md");
    let text = std::fs::read_to_string(file).unwrap();
    let (head, keys) = text.split_once(START).expect("the marker");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(file, format!("{head}{START}{}", reference())).unwrap();
    } else {
        assert!(
            keys == reference(),
            "docs/scenarios.md is out of date: run this test with UPDATE_REFERENCE=1"
        );
    }
}
