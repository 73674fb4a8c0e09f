//! Destinations that are congested, on the ready scenario `congested-destination`: what their sources do is worked out
//! by hand.

use std::ops::ControlFlow;

use cellrate_proto::{CellRate, RateCode};
use cellrate_scenario::Document;
use cellrate_sim::{FlowSummary, RunResult, run};

const SCENARIO: &str = include_str!("../../../../scenarios/congested-destination.toml");

fn with(congested: &str) -> RunResult {
    with_also(congested, &[])
}

/// The first point of the scenario with these spans, and with other keys.
fn with_also(congested: &str, keys: &[(&str, &str)]) -> RunResult {
    let mut document = Document::parse(SCENARIO, "congested-destination").unwrap();
    document.set("vc.slow.abr.congested", congested).unwrap();
    for (key, value) in keys {
        document.set(key, value).unwrap();
    }
    run(&document.resolve().unwrap(), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// ACR of a connection at an instant \[ms\].
fn acr(result: &RunResult, vc: &str, at_ms: f64) -> f64 {
    let series = result.series.iter().find(|series| series.probe == "acr" && series.entity == vc).unwrap();
    series.values[series.times_ps.partition_point(|&ps| ps as f64 <= at_ms * 1e9) - 1]
}

fn row<'a>(result: &'a RunResult, vc: &str) -> &'a FlowSummary {
    result.summary.vcs.iter().find(|row| row.vc == vc).unwrap()
}

/// 20 Mb/s in cells/s, as ER says it.
fn told() -> f64 {
    RateCode::floor(CellRate::new(20e6 / 424.0)).rate().as_cells_per_s()
}

#[test]
fn the_source_has_the_rate_that_its_destination_says_and_the_other_one_the_rest() {
    let result = with("[{ during = [\"100 ms\", \"400 ms\"], er = \"20 Mbps\" }]");
    let (target, line) = (0.9 * 149.76e6 / 424.0, 149.76e6 / 424.0);
    // Both have their half before and after.
    for at in [95.0, 590.0] {
        assert!(
            (acr(&result, "slow", at) / (target / 2.0) - 1.0).abs() < 0.1,
            "{}",
            acr(&result, "slow", at)
        );
    }
    // The first BRM that says so arrives 6 ms after it has left, and FRMs are less than a millisecond apart.
    assert!(acr(&result, "slow", 105.0) > target / 3.0);
    for at in [107.0, 108.0, 200.0, 400.0, 405.0] {
        assert!((acr(&result, "slow", at) - told()).abs() < 1e-6, "{at}: {}", acr(&result, "slow", at));
    }
    let rest = acr(&result, "other", 300.0);
    assert!(rest > 0.95 * (target - told()) && rest < line - told(), "{rest}");
    // With RIF of 1/16 the way up begins with the first BRM that says nothing.
    assert!(acr(&result, "slow", 408.0) > told());
}

#[test]
fn ci_takes_rdf_off_at_each_brm_and_ni_leaves_a_share_as_it_is() {
    let result = with("[{ during = [\"100 ms\", \"400 ms\"], ci = true }]");
    // At 15/16 a BRM, with one for 32 cells, a rate of r is down to 4 cells/s after the sum of 32 / r, a geometric
    // series: 16 times its last term. It is far below TCR long before 400 ms.
    assert!(acr(&result, "slow", 400.0) < 1000.0);
    let plain = with("[]");
    let held = with("[{ during = [\"100 ms\", \"400 ms\"], ni = true }]");
    let [plain, held] = [plain, held].map(|result| acr(&result, "slow", 399.0));
    assert!((held / plain - 1.0).abs() < 0.1, "{held} and {plain}");
}

#[test]
fn brms_of_its_own_are_three_in_300_ms_and_say_what_the_others_say() {
    let spans = |originates: &str| {
        format!(
            "[{{ during = [\"100 ms\", \"101 ms\"], ni = true, originates = {originates} }}, \
             {{ during = [\"150 ms\", \"340 ms\"], ni = true, originates = {originates} }}]"
        )
    };
    // Sources that are at PCR all the time, whatever they are told by NI.
    let steady = [("defaults.switch.algorithm", "{ type = \"none\" }"), ("defaults.abr.pcr", "\"10 Mbps\"")];
    // At 100, 200 and 300 ms: the second span waits for the 100 ms to pass.
    let [without, with] = ["false", "true"].map(|originates| with_also(&spans(originates), &steady));
    let [without, with] = [&without, &with].map(|result| row(result, "slow"));
    assert_eq!(with.backward_rm_received, without.backward_rm_received + 3);
    assert_eq!(with.sent, with.delivered + with.dropped + with.in_flight);
    let once = "[{ during = [\"100 ms\", \"200 ms\"], ni = true, originates = true }]";
    let once = with_also(once, &steady);
    assert_eq!(row(&once, "slow").backward_rm_received, without.backward_rm_received + 1);
}
