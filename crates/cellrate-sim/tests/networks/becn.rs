//! BRMs that switches originate, on the ready scenario `becn`: three sources of 100 Mb/s before a satellite hop that
//! takes half of that.

use std::ops::ControlFlow;

use cellrate_proto::units::BITS_PER_CELL;
use cellrate_scenario::Document;
use cellrate_sim::{PortSummary, RunResult, run};

const SCENARIO: &str = include_str!("../../../../scenarios/becn.toml");

/// Rate that the sources bring to the line and it does not take [cells/s].
const EXCESS: f64 = (300e6 - 149.76e6) / BITS_PER_CELL as f64;

fn with(becn: &str) -> RunResult {
    let mut document = Document::parse(SCENARIO, "becn").unwrap();
    document.set("defaults.switch.becn", becn).unwrap();
    run(&document.resolve().unwrap(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn line(result: &RunResult) -> &PortSummary {
    result.summary.ports.iter().find(|row| row.port == "sw1->sw2").unwrap()
}

/// 5 us per km: there and back over the link of a source, and that with the hop of 275 ms and the link behind it.
const NEAR_S: f64 = 2.0 * 50.0 * 5e-6;
const WHOLE_S: f64 = 2.0 * (NEAR_S + 0.275);

#[test]
fn without_them_the_queue_grows_for_a_round_trip() {
    let result = with("\"off\"");
    assert_eq!(line(&result).backward_rm_originated, 0);
    // The first FRM waits behind nobody, and so does its answer.
    assert!((line(&result).max_queue as f64 / (EXCESS * WHOLE_S) - 1.0).abs() < 0.001, "{:?}", line(&result));
}

#[test]
fn with_them_it_grows_for_as_long_as_the_way_to_the_sources_takes() {
    let result = with("{ threshold = \"2500 cells\", sets = \"ni\" }");
    // One for each: they have enough of it for the 100 ms until there may be another, and then the queue is gone.
    assert_eq!(line(&result).backward_rm_originated, 3);
    let grown = line(&result).max_queue as f64 - 2500.0;
    assert!((grown / (EXCESS * NEAR_S) - 1.0).abs() < 0.05, "{grown} and {}", EXCESS * NEAR_S);
}

#[test]
fn one_that_comes_before_the_port_has_measured_anything_has_to_be_followed_by_another() {
    let result = with("{ threshold = \"100 cells\", sets = \"ni\" }");
    let grown = line(&result).max_queue as f64;
    // 100 ms after the first.
    assert!((grown / (100.0 + EXCESS * (0.1 + NEAR_S)) - 1.0).abs() < 0.01, "{grown}");
}

/// All cells of each direction of a connection are accounted for, with those that nobody sent.
#[test]
fn what_they_add_is_counted() {
    let text = SCENARIO.replace(
        "{ type = \"erica\", target_utilization = \"90 %\" }",
        "{ type = \"relative-rate\", threshold = \"200 cells\" }",
    );
    let mut document = Document::parse(&text, "becn").unwrap();
    document.set("defaults.switch.becn", "{ threshold = \"1 cells\" }").unwrap();
    let summary = run(&document.resolve().unwrap(), &mut |_| ControlFlow::Continue(())).unwrap().summary;
    let originated: u64 = summary.ports.iter().map(|row| row.backward_rm_originated).sum();
    let [sent, accounted] = [
        summary.vcs.iter().map(|row| row.sent).sum::<u64>(),
        summary.vcs.iter().map(|row| row.delivered + row.dropped + row.in_flight).sum(),
    ];
    assert!(originated >= 3 * 14, "3 connections for 1.5 s: {originated}");
    assert_eq!(sent + originated, accounted);
}
