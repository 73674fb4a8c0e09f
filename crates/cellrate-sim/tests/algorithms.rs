//! EPRCA, CAPC and consistent marking on the ready scenario `algorithms`: ten connections of one line, of which six end after half
//! the time; consistent marking where connections are held back at different places.

use std::ops::ControlFlow;

use cellrate_proto::units::BITS_PER_CELL;
use cellrate_scenario::{Document, fair};
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

#[test]
fn consistent_marking_hands_out_its_target_and_gives_what_is_left_to_those_who_stay() {
    let result = under("consistent-marking");
    let target = 0.95 * 149.76e6 / BITS_PER_CELL as f64;
    for (from, to, sharers) in [(50, 400, 10.0), (450, 800, 4.0)] {
        for rate in values(&result, "acr", "stays1", from, to) {
            let share = target / sharers;
            assert!(*rate <= share && *rate > share * (1.0 - 1.0 / 256.0), "{rate} of {share}");
        }
        // Equal rates leave a queue of those cells that happen to come at once.
        assert!(values(&result, "queue", "sw1->sw2", from, to).iter().all(|&cells| cells <= sharers));
        assert!((mean(values(&result, "utilization", "sw1->sw2", from, to)) - 0.95).abs() < 0.003);
    }
}

/// Three lines of different rates in a row, with connections that are held back at different places.
const BOTTLENECKS: &str = include_str!("../../../scenarios/bottlenecks.toml");

/// Each rate over its max-min share of that part of every line: the smallest and the largest from 600 ms on.
fn beside_max_min(algorithm: &str, utilization: f64) -> [f64; 2] {
    let mut document = Document::parse(BOTTLENECKS, "bottlenecks").unwrap();
    document.set("defaults.switch.algorithm", algorithm).unwrap();
    let scenario = document.resolve().unwrap();
    let shares = fair::max_min(&scenario, utilization).unwrap();
    let result = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    let mut ends = [f64::INFINITY, 0.0_f64];
    for share in shares {
        let name = &scenario.connections[share.connection.0 as usize].name;
        for rate in &series(&result, "acr", name).values[600..] {
            let part = rate / share.rate.as_cells_per_s();
            ends = [ends[0].min(part), ends[1].max(part)];
        }
    }
    ends
}

#[test]
fn consistent_marking_is_fair_wherever_connections_are_held_back() {
    let [least, most] = beside_max_min("{ type = \"consistent-marking\" }", 0.95);
    assert!(least > 0.99 && most < 1.01, "{least} to {most}");
}

#[test]
fn the_effective_number_makes_erica_fair_wherever_connections_are_held_back() {
    let [least, most] = beside_max_min("{ type = \"erica\", effective_number = true }", 0.9);
    assert!(least > 0.99 && most < 1.01, "{least} to {most}");
    // Without it some rest above their share of the target, and others below.
    let [least, most] = beside_max_min("{ type = \"erica\" }", 0.9);
    assert!(least < 0.995 && most > 1.04, "{least} to {most}");
}

/// A bit marked at any of three lines is a bit: who crosses all of them is marked most.
#[test]
fn relative_rate_beats_down_the_longest_way() {
    let [least, most] = beside_max_min("{ type = \"relative-rate\", threshold = \"250 cells\" }", 1.0);
    assert!(least < 0.3 && most > 1.3, "{least} to {most}");
}
