//! Keys that are declared of a link: each changes what a run gives. One that nothing uses is named here.

use std::ops::ControlFlow;

use cellrate_proto::declaration::{Dimension, Kind};
use cellrate_scenario::{Document, LineKeys};
use cellrate_sim::Simulation;

const SCENARIO: &str = r#"
name = "keys"
duration = "50 ms"
host = [{ name = "a" }, { name = "b" }]
link = [{ between = ["a", "b"], KEYS }]
vc = [{ name = "vc", path = ["a", "b"] }]
[defaults.link]
rate = "42.4 Mbps"
length = "1 km"
loss = 0.01
"#;

/// Summary of a run with these keys of its link.
fn summary(keys: &str) -> String {
    let text = SCENARIO.replace(", KEYS", keys);
    let document = Document::parse(&text, "keys.toml").unwrap_or_else(|error| panic!("{error}"));
    let scenario = document.resolve_for_simulation().unwrap_or_else(|error| panic!("{error}"));
    let result = Simulation::of(&scenario).run(&mut |_| ControlFlow::Continue(())).expect("it ends well");
    format!("{:?}", result.summary)
}

/// A value of this kind that no key has by default.
fn example(kind: Kind) -> String {
    match kind {
        Kind::Boolean => "true".into(),
        Kind::Integer(low, high) => i64::midpoint(low, high).to_string(),
        Kind::Ratio(_) => "0.25".into(),
        Kind::Quantity(Dimension::Time) | Kind::Positive(Dimension::Time) => "\"1 ms\"".into(),
        Kind::Pair(_, _) => "[\"1 ms\", \"9 ms\"]".into(),
        Kind::List(inner, _) => format!("[{}]", example(*inner)),
        Kind::Table(shape) => {
            let required = shape.keys.iter().filter(|key| key.required);
            let keys: Vec<_> = required.map(|key| format!("{} = {}", key.name, example(key.kind))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        other => panic!("write an example of {other:?} here"),
    }
}

#[test]
fn every_key_of_a_link_changes_what_a_run_gives() {
    let without = summary("");
    for key in LineKeys::KEYS {
        let with = summary(&format!(", {} = {}", key.name, example(key.kind)));
        assert_ne!(with, without, "{} of a link is declared, and nothing uses it", key.name);
    }
}
