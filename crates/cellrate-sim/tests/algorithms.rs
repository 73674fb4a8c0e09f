//! EPRCA and CAPC on the ready scenario `algorithms`: ten connections of one line, of which six end after half the time.

use std::ops::ControlFlow;

use cellrate_proto::units::BITS_PER_CELL;
use cellrate_scenario::Document;
use cellrate_sim::{RunResult, Series, run};

const SCENARIO: &str = include_str!("../../../scenarios/algorithms.toml");

fn under(algorithm: &str) -> RunResult {
    let document = Document::parse(SCENARIO, "algorithms").unwrap();
    let points = document.points().unwrap();
    let is_it = |setting: &(String, String)| setting.1.contains(&format!("\"{algorithm}\""));
    let point = points.into_iter().find(|point| point.set.iter().any(is_it)).expect("it is in the sweep");
    run(&point.document.resolve().unwrap(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn series<'a>(result: &'a RunResult, probe: &str, entity: &str) -> &'a Series {
    result
        .series
        .iter()
        .find(|series| series.probe == probe && series.entity == entity)
        .expect("it is recorded")
}

/// The values from `from` to `to` [ms], which are sampled every millisecond.
fn values<'a>(result: &'a RunResult, probe: &str, entity: &str, from: usize, to: usize) -> &'a [f64] {
    &series(result, probe, entity).values[from..to]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn capc_settles_at_equal_rates_that_are_its_target_and_follows_those_that_leave() {
    let result = under("capc");
    let target = 0.95 * 149.76e6 / BITS_PER_CELL as f64;
    for (from, to, sharers) in [(200, 400, 10.0), (600, 800, 4.0)] {
        for rate in values(&result, "acr", "stays1", from, to) {
            assert!((rate * sharers / target - 1.0).abs() < 0.01, "{rate}");
        }
        assert!(mean(values(&result, "queue", "sw1->sw2", from, to)) < 5.0);
        assert!((mean(values(&result, "utilization", "sw1->sw2", from, to)) - 0.95).abs() < 0.005);
    }
    // All have the same, but for when each is told.
    let [one, other] = ["stays1", "ends1"].map(|vc| mean(values(&result, "acr", vc, 200, 400)));
    assert!((one / other - 1.0).abs() < 0.002, "{one} and {other}");
}

#[test]
fn eprca_keeps_the_line_full_and_the_queue_about_its_thresholds() {
    let result = under("eprca");
    for (from, to) in [(200, 400), (600, 800)] {
        let queue = values(&result, "queue", "sw1->sw2", from, to);
        assert!((250.0..1000.0).contains(&mean(queue)), "{}", mean(queue));
        assert!(
            queue.iter().any(|&cells| cells > 900.0) && queue.iter().any(|&cells| cells < 250.0),
            "it swings"
        );
        assert!(mean(values(&result, "utilization", "sw1->sw2", from, to)) > 0.99);
    }
    // Those who stay have more than twice as much when the others have gone.
    let before = mean(values(&result, "acr", "stays1", 200, 400));
    assert!(mean(values(&result, "acr", "stays1", 600, 800)) > 2.0 * before);
    let delivered = |vc: &str| result.summary.vcs.iter().find(|row| row.vc == vc).unwrap().delivered as f64;
    assert!((delivered("stays1") / delivered("stays4") - 1.0).abs() < 0.01);
}
