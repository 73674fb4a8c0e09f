//! The toy algorithm in a scenario: it is read, runs, and is probed, by its name and its key.

use std::ops::ControlFlow;

use cellrate_scenario::Document;
use cellrate_sim::Simulation;

const SCENARIO: &str = r#"
name = "toy"
duration = "50 ms"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "sw", algorithm = { type = "toy", share = SHARE } }]
link = [{ between = ["a", "sw"] }, { between = ["sw", "b"] }]
vc = [{ name = "vc", path = ["a", "sw", "b"] }]
probe = [{ record = ["grant"], of = ["sw->b"], every = "1 ms" }]
[defaults.link]
rate = "424 Mbps"
length = "1 km"
"#;

fn resolved(share: &str) -> Result<cellrate_scenario::Scenario, String> {
    let document = Document::parse(&SCENARIO.replace("SHARE", share), "toy.toml");
    document.and_then(|document| document.resolve()).map_err(|error| error.to_string())
}

#[test]
fn the_toy_runs() {
    let scenario = resolved("0.25").expect("it is known");
    let result = Simulation::of(&scenario).run(&mut |_| ControlFlow::Continue(())).expect("it ends well");
    // A quarter of 1,000,000 cells/s; half a unit in the last place of a rate code less, at most.
    let delivered = result.summary.vcs[0].delivered as f64;
    assert!((delivered / 12_500.0 - 1.0).abs() < 0.1, "{delivered}");
}

#[test]
fn its_key_has_a_range() {
    let error = resolved("1.5").expect_err("more than the line");
    assert!(error.contains("above 0, at most 1"), "{error}");
}
