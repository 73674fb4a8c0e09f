//! Rates that do not settle are said to, by rule and by what a run shows; others are not.

use std::ops::ControlFlow;

use cellrate_scenario::{Document, Scenario};
use cellrate_sim::UnsettledSummary;

fn resolve(text: &str) -> Scenario {
    Document::parse(text, "t")
        .and_then(|document| document.resolve())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn unsettled(scenario: &Scenario) -> Vec<UnsettledSummary> {
    cellrate_sim::run(scenario, &mut |_| ControlFlow::Continue(())).unwrap().summary.unsettled
}

/// Twenty greedy connections over lines of so many kilometres each, with this algorithm.
fn twenty(algorithm: &str, km: u32) -> Scenario {
    resolve(&format!(
        "name = \"t\"\nduration = \"1 s\"\n\
         defaults.link = {{ rate = \"149.76 Mbps\", length = \"{km} km\" }}\n\
         defaults.switch.algorithm = {{ {algorithm} }}\n\
         defaults.abr = {{ icr = \"2 Mbps\", rif = \"1/64\" }}\n\
         host = [{{ name = \"s{{i}}\", count = 20 }}, {{ name = \"d\" }}]\nswitch = [{{ name = \"sw\" }}]\n\
         link = [{{ between = [\"s{{i}}\", \"sw\"], count = 20 }}, {{ between = [\"sw\", \"d\"] }}]\n\
         vc = [{{ name = \"v{{i}}\", count = 20, path = [\"s{{i}}\", \"sw\", \"d\"] }}]\n"
    ))
}

#[test]
fn phantom_on_long_lines_is_said_to_swing_by_rule_and_by_run() {
    let rows = unsettled(&twenty("type = \"phantom\"", 1000));
    assert_eq!(rows.iter().map(|row| row.by).collect::<Vec<_>>(), ["rule", "run"]);
    assert!(
        rows.iter().all(|row| row.port == "sw->d" && row.algorithm == "Phantom" && row.connections == 20)
    );
    assert!(rows[1].swing.unwrap() > 1.0, "{rows:?}");
}

#[test]
fn a_warm_up_and_windows_take_no_row_away() {
    let plain = unsettled(&twenty("type = \"phantom\"", 1000));
    for measuring in
        ["warm_up = \"100 ms\"", "window = [{ name = \"end\", from = \"800 ms\", until = \"1 s\" }]"]
    {
        let mut scenario = twenty("type = \"phantom\"", 1000);
        scenario.measuring = resolve(&format!(
            "name = \"t\"\nduration = \"1 s\"\n{measuring}\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
             link = [{{ between = [\"a\", \"b\"], rate = \"149.76 Mbps\", length = \"1 km\" }}]\n"
        ))
        .measuring;
        assert_eq!(unsettled(&scenario), plain, "{measuring}");
    }
}

#[test]
fn what_settles_is_not_said_to_swing() {
    for (algorithm, km) in [
        ("type = \"phantom\", alpha = 0.002", 10),
        ("type = \"consistent-marking\"", 1000),
        ("type = \"erica\", delta = 0, effective_number = true, interval = \"10 ms\"", 10),
    ] {
        assert_eq!(unsettled(&twenty(algorithm, km)), [], "{algorithm}");
    }
}
