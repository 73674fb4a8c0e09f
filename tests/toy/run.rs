//! The toys in a scenario: an algorithm with its keys, a policy, a frame discard, traffic and a probe are read, run
//! and recorded by name.

use std::ops::ControlFlow;

use cellrate_scenario::{Document, reference, schema};
use cellrate_sim::Simulation;

const SCENARIO: &str = r#"
name = "toy"
duration = "50 ms"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "sw", algorithm = { type = "toy", share = SHARE, least = "1 Mbps" }, frame_discard = { type = "toy-discard", own_cells = "3 cells" } }]
link = [{ between = ["a", "sw"] }, { between = ["sw", "b"] }]
vc = [
    { name = "vc", path = ["a", "sw", "b"], abr = { uili = { type = "toy-policy", kept = 1 } } },
    { name = "beside", path = ["a", "sw", "b"], category = "ubr", traffic = { type = "toy-traffic", every = "10 ms", bunch = 4, start = "1 ms" } },
]
probe = [{ record = ["grant", "data_queue"], of = ["sw->b"], every = "1 ms" }]
[defaults.link]
rate = "424 Mbps"
length = "1 km"
"#;

fn resolved(share: &str) -> Result<cellrate_scenario::Scenario, String> {
    let document = Document::parse(&SCENARIO.replace("SHARE", share), "toy.toml");
    document.and_then(|document| document.resolve()).map_err(|error| error.to_string())
}

#[test]
fn the_toys_run() {
    let scenario = resolved("0.25").expect("it is known");
    let result = Simulation::of(&scenario).run(&mut |_| ControlFlow::Continue(())).expect("it ends well");
    // A quarter of 1,000,000 cells/s; half a unit in the last place of a rate code less, at most.
    let delivered = result.summary.vcs[0].delivered as f64;
    assert!((delivered / 12_500.0 - 1.0).abs() < 0.1, "{delivered}");
    // Bunches at 1, 11, 21, 31 and 41 ms.
    let beside = result.summary.vcs.iter().find(|row| row.vc == "beside").expect("it sends");
    assert_eq!((beside.delivered, beside.dropped), (20, 0));
    let series = result.series.iter().find(|series| series.probe == "data_queue").expect("it is recorded");
    assert_eq!((series.unit, series.values.len()), ("cells", 50));
}

#[test]
fn their_keys_have_ranges() {
    let error = resolved("1.5").expect_err("more than the line");
    assert!(error.contains("above 0, at most 1"), "{error}");
}

#[test]
fn reference_and_schema_know_them() {
    let pages: String = reference().pages.into_iter().map(|(_, page)| page).collect();
    let schema = schema().to_string();
    for name in ["share", "least", "toy-policy", "kept", "toy-discard", "own_cells", "toy-traffic", "bunch", "toy_loss"] {
        assert!(pages.contains(name) && schema.contains(name), "{name}");
    }
}
