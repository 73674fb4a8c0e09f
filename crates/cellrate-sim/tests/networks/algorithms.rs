//! EPRCA, APRC, CAPC, Phantom, the OSU scheme and consistent marking on the ready scenario `algorithms`: ten
//! connections of one line, of which six end after half the time; APRC, Phantom and consistent marking where
//! connections are held back at different places.

use std::ops::ControlFlow;

use cellrate_proto::units::BITS_PER_CELL;
use cellrate_scenario::{Document, Scenario, fair};
use cellrate_sim::{RunResult, Series, run};

const SCENARIO: &str = include_str!("../../../../scenarios/algorithms.toml");

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
fn aprc_keeps_the_line_full_and_swings_up_to_its_threshold() {
    let result = under("aprc");
    for (from, to) in [(200, 400), (600, 800)] {
        let [least, most] = ends(values(&result, "queue", "sw1->sw2", from, to));
        assert!(least < 500.0 && most > 900.0 && most < 1200.0, "{least} to {most}");
        assert!(mean(values(&result, "utilization", "sw1->sw2", from, to)) > 0.99);
    }
    // Those who stay have more than twice as much when the others have gone.
    let before = mean(values(&result, "acr", "stays1", 200, 400));
    assert!(mean(values(&result, "acr", "stays1", 600, 800)) > 2.0 * before);
    let delivered = |vc: &str| result.summary.vcs.iter().find(|row| row.vc == vc).unwrap().delivered as f64;
    assert!((delivered("stays1") / delivered("stays4") - 1.0).abs() < 0.02);
}

#[test]
fn phantom_leaves_a_fifth_of_what_each_connection_has() {
    let result = under("phantom");
    let line = 149.76e6 / BITS_PER_CELL as f64;
    // n u / (1 + n u) of the line, when the queue of the beginning has gone: 50 / 51, and 20 / 21.
    for (from, to, sharers) in [(300, 400, 10.0), (700, 800, 4.0)] {
        let share = line * 5.0 / (1.0 + 5.0 * sharers);
        for rate in values(&result, "acr", "stays1", from, to) {
            assert!((rate / share - 1.0).abs() < 0.01, "{rate} of {share}");
        }
    }
    assert!((mean(values(&result, "utilization", "sw1->sw2", 700, 800)) - 20.0 / 21.0).abs() < 0.003);
    assert!(mean(values(&result, "queue", "sw1->sw2", 700, 800)) < 5.0);
    let [one, other] = ["stays1", "ends1"].map(|vc| mean(values(&result, "acr", vc, 300, 400)));
    assert!((one / other - 1.0).abs() < 0.002, "{one} and {other}");
}

/// Ten connections that hear of it after 1.7 ms have 50 times MACR: 1/108 of an interval of 0.5 ms is the most that
/// MACR may take in at once (docs/algorithms/phantom.md).
#[test]
fn phantom_settles_up_to_the_weight_that_its_loop_allows_and_swings_above() {
    let share = 149.76e6 / BITS_PER_CELL as f64 * 5.0 / 51.0;
    let swing = |alpha: &str| {
        let mut document = Document::parse(SCENARIO, "algorithms").unwrap();
        let algorithm = format!("{{ type = \"phantom\", alpha = \"{alpha}\" }}");
        document.set("defaults.switch.algorithm", &algorithm).unwrap();
        let result = run(&document.resolve().unwrap(), &mut |_| ControlFlow::Continue(())).unwrap();
        ends(values(&result, "acr", "stays1", 300, 400)).map(|rate| rate / share)
    };
    let [least, most] = swing("1/112");
    assert!(least > 0.98 && most < 1.02, "{least} to {most}");
    let [least, most] = swing("1/104");
    assert!(least < 0.8 && most > 1.2, "{least} to {most}");
}

/// The rule (docs/algorithms/pi.md) allows 6.5 ms: there are 2.5 ms with lines of 100 km, 13.5 ms with such of 1200 km.
#[test]
fn the_pi_controller_keeps_the_line_full_and_the_queue_at_its_set_point_where_its_rule_says_so() {
    let queue = |length: &str| {
        let mut document = Document::parse(SCENARIO, "algorithms").unwrap();
        document.set("defaults.switch.algorithm", "{ type = \"pi\" }").unwrap();
        document.set("defaults.link.length", length).unwrap();
        let result = run(&document.resolve().unwrap(), &mut |_| ControlFlow::Continue(())).unwrap();
        let queue = ends(values(&result, "queue", "sw1->sw2", 300, 400));
        (result, queue)
    };
    let (result, [least, most]) = queue("100 km");
    assert!(least > 240.0 && most < 260.0, "{least} to {most}");
    let share = 149.76e6 / BITS_PER_CELL as f64 / 10.0;
    for vc in ["stays1", "ends1"] {
        let rate = mean(values(&result, "acr", vc, 300, 400));
        assert!((rate / share - 1.0).abs() < 0.01, "{rate}");
    }
    assert!(mean(values(&result, "utilization", "sw1->sw2", 300, 400)) > 0.999);
    let (_, [least, most]) = queue("1200 km");
    assert!(most - least > 500.0, "{least} to {most}");
}

/// All divide by the same until the load is near the target, and come to equal shares in steps of the band.
#[test]
fn the_osu_scheme_comes_to_equal_rates_and_stays_in_its_band() {
    let mut document = Document::parse(SCENARIO, "algorithms").unwrap();
    document.set("defaults.switch.algorithm", "{ type = \"osu\" }").unwrap();
    let result = run(&document.resolve().unwrap(), &mut |_| ControlFlow::Continue(())).unwrap();
    let target = 0.9 * 149.76e6 / BITS_PER_CELL as f64;
    for (from, to, sharers) in [(100, 400, 10.0), (500, 800, 4.0)] {
        for rate in values(&result, "acr", "stays1", from, to) {
            assert!((rate * sharers / target - 1.0).abs() < 0.1, "{rate}");
        }
        let used = mean(values(&result, "utilization", "sw1->sw2", from, to));
        assert!((0.89..0.9).contains(&used), "{used}");
        assert!(values(&result, "queue", "sw1->sw2", from, to).iter().all(|&cells| cells <= sharers));
    }
    let [one, other] = ["stays1", "ends1"].map(|vc| mean(values(&result, "acr", vc, 100, 400)));
    assert!((one / other - 1.0).abs() < 0.002, "{one} and {other}");
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
const BOTTLENECKS: &str = include_str!("../../../../scenarios/bottlenecks.toml");

/// Each rate over its max-min share of what the algorithm hands out of every line: the smallest and the largest from
/// 600 ms on.
fn beside_max_min(algorithm: &str) -> [f64; 2] {
    settled(&bottlenecks(algorithm)).1
}

fn bottlenecks(algorithm: &str) -> Scenario {
    let mut document = Document::parse(BOTTLENECKS, "bottlenecks").unwrap();
    document.set("defaults.switch.algorithm", algorithm).unwrap();
    document.resolve().unwrap()
}

/// A run, and each rate over its share: the smallest and the largest from 600 ms on.
fn settled(scenario: &Scenario) -> (RunResult, [f64; 2]) {
    let shares = fair::max_min(scenario, None).unwrap();
    let result = run(scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    let parts = shares.iter().flat_map(|share| {
        let name = &scenario.connection(share.flow.connection()).name;
        ends(&series(&result, "acr", name).values[600..]).map(|rate| rate / share.rate.as_cells_per_s())
    });
    let ends = ends(&parts.collect::<Vec<_>>());
    (result, ends)
}

/// The smallest and the largest.
fn ends(values: &[f64]) -> [f64; 2] {
    values.iter().fold([f64::INFINITY, 0.0], |[least, most], &value| [value.min(least), value.max(most)])
}

/// Queues of few cells grow by chance: that is congestion by the published rule, and keeps lines from being full.
/// Growth by more than two cells is not by chance.
#[test]
fn aprc_leaves_less_unused_where_little_growth_is_none() {
    let means = |algorithm: &str| {
        let scenario = bottlenecks(algorithm);
        let (shares, result) = (fair::max_min(&scenario, None).unwrap(), settled(&scenario).0);
        let parts = shares.iter().map(|share| {
            let name = &scenario.connection(share.flow.connection()).name;
            mean(&series(&result, "acr", name).values[600..]) / share.rate.as_cells_per_s()
        });
        ends(&parts.collect::<Vec<_>>())
    };
    let [least, _] = means("{ type = \"aprc\", high_threshold = \"1000 cells\" }");
    assert!(least < 0.85, "{least}");
    let [least, most] =
        means("{ type = \"aprc\", high_threshold = \"1000 cells\", growth_threshold = \"2 cells\" }");
    assert!(least > 0.9 && most < 1.1, "{least} to {most}");
}

#[test]
fn consistent_marking_is_fair_wherever_connections_are_held_back() {
    let [least, most] = beside_max_min("{ type = \"consistent-marking\" }");
    assert!(least > 0.99 && most < 1.01, "{least} to {most}");
}

/// The phantom has a fifth of each line of what those have who are held back there; max-min shares are of the rest.
#[test]
fn phantom_is_fair_wherever_connections_are_held_back() {
    let [least, most] = beside_max_min("{ type = \"phantom\" }");
    assert!(least > 0.99 && most < 1.01, "{least} to {most}");
}

#[test]
fn the_effective_number_makes_erica_fair_wherever_connections_are_held_back() {
    let [least, most] = beside_max_min("{ type = \"erica\", effective_number = true }");
    assert!(least > 0.99 && most < 1.01, "{least} to {most}");
    // Without it some rest above their share of the target, and others below.
    let [least, most] = beside_max_min("{ type = \"erica\" }");
    assert!(least < 0.995 && most > 1.04, "{least} to {most}");
}

/// A bit marked at any of three lines is a bit: who crosses all of them is marked most.
#[test]
fn relative_rate_beats_down_the_longest_way() {
    let [least, most] = beside_max_min("{ type = \"relative-rate\", threshold = \"250 cells\" }");
    assert!(least < 0.3 && most > 1.3, "{least} to {most}");
}

/// One line of 149.76 Mb/s with connections from its left to its right, and others from right to left. The way back of
/// each is a direction that sends RM cells only: BRMs, and FRMs that claim all it was given.
fn both_ways(algorithm: &str, to_the_right: &[&str], to_the_left: &[&str]) -> Scenario {
    let mut text = format!(
        "name = \"both-ways\"\nduration = \"1 s\"\n\
         [defaults]\nlink = {{ rate = \"622 Mbps\", length = \"100 km\" }}\nswitch = {{ algorithm = {algorithm} }}\n\
         [[switch]]\nname = \"sw{{i}}\"\ncount = 2\n\
         [[link]]\nbetween = [\"sw1\", \"sw2\"]\nrate = \"149.76 Mbps\"\n\
         [[probe]]\nrecord = [\"acr\"]\nevery = \"1 ms\"\n\
         [[probe]]\nrecord = [\"queue\", \"utilization\"]\nof = [\"sw1->sw2\"]\nevery = \"1 ms\"\n",
    );
    for (way, settings) in [("right", to_the_right), ("left", to_the_left)] {
        let [near, far] = if way == "right" { ["sw1", "sw2"] } else { ["sw2", "sw1"] };
        for (i, setting) in settings.iter().enumerate() {
            let [from, to, vc] = ["from", "to", "vc"].map(|what| format!("{what}-{way}{i}"));
            text += &format!(
                "[[host]]\nname = \"{from}\"\n[[host]]\nname = \"{to}\"\n\
                 [[link]]\nbetween = [\"{from}\", \"{near}\"]\n[[link]]\nbetween = [\"{far}\", \"{to}\"]\n\
                 [[vc]]\nname = \"{vc}\"\npath = [\"{from}\", \"{near}\", \"{far}\", \"{to}\"]\n{setting}\n",
            );
        }
    }
    Document::parse(&text, "both-ways").and_then(|document| document.resolve()).unwrap()
}

/// The queue that the line has at most from 600 ms on, in cells.
fn longest_queue(result: &RunResult) -> f64 {
    values(result, "queue", "sw1->sw2", 600, 1000).iter().copied().fold(0.0, f64::max)
}

#[test]
fn consistent_marking_gives_no_share_to_ways_back() {
    for (right, left) in [(1, 1), (3, 3), (1, 9), (9, 1)] {
        let scenario = both_ways("{ type = \"consistent-marking\" }", &vec![""; right], &vec![""; left]);
        let (result, [least, most]) = settled(&scenario);
        assert!(least > 0.99 && most < 1.01, "{right} and {left}: {least} to {most}");
        assert!(longest_queue(&result) < 50.0, "{}", longest_queue(&result));
    }
    // 90 ways back have one RM cell in two intervals, each with a claim of all the line.
    let scenario = both_ways("{ type = \"consistent-marking\" }", &[""], &[""; 90]);
    let (_, [least, most]) = settled(&scenario);
    assert!(least > 0.9 && most < 1.02, "{least} to {most}");
}

/// As ERICA does, which measures: see docs/algorithms/consistent-marking.md.
#[test]
fn consistent_marking_takes_back_what_is_not_used() {
    let slow = "abr = { icr = \"2 Mbps\" }\ntraffic = { type = \"constant\", rate = \"10 Mbps\" }";
    let result = settled(&both_ways("{ type = \"consistent-marking\" }", &["", slow], &[])).0;
    let all = mean(values(&result, "utilization", "sw1->sw2", 600, 1000));
    assert!((all - 0.95).abs() < 0.003, "{all}");
    assert!(longest_queue(&result) < 10.0, "{}", longest_queue(&result));
}

/// A virtual source may have less to send than its ACR: another line before holds it back.
#[test]
fn consistent_marking_is_fair_between_virtual_sources() {
    let mut document = Document::parse(BOTTLENECKS, "bottlenecks").unwrap();
    document.set("defaults.switch.algorithm", "{ type = \"consistent-marking\" }").unwrap();
    document.set("defaults.switch.vs_vd", "{}").unwrap();
    let [least, most] = settled(&document.resolve().unwrap()).1;
    assert!(least > 0.99 && most < 1.01, "{least} to {most}");
}

/// An MCR counts as used as far as it is, and not as far as it is claimed, which is always whole.
#[test]
fn weighted_erica_rests_beside_mcrs_that_are_not_used() {
    for mcr in [20, 30] {
        let settings = format!("abr = {{ mcr = \"{mcr} Mbps\" }}");
        let three = [settings.as_str(); 3];
        let scenario = both_ways("{ type = \"erica\", fairness = \"weighted\" }", &three, &three);
        let (result, [least, most]) = settled(&scenario);
        // Anywhere between z = 1 and 1 + delta.
        assert!(least > 0.99 && most < 1.1, "MCR {mcr}: {least} to {most}");
        assert!(most / least < 1.01, "MCR {mcr}: {least} to {most}");
        assert!(longest_queue(&result) < 50.0, "{}", longest_queue(&result));
    }
    let little = "abr = { mcr = \"100 Mbps\" }\ntraffic = { type = \"constant\", rate = \"1 Mbps\" }";
    let scenario = both_ways("{ type = \"erica\", fairness = \"weighted\" }", &[little, "", ""], &[]);
    let result = settled(&scenario).0;
    let line = 149.76e6 / BITS_PER_CELL as f64;
    for vc in ["vc-right1", "vc-right2"] {
        let rates = values(&result, "acr", vc, 600, 1000);
        let [least, most] = ends(rates);
        assert!(least > 0.44 * line && most < 0.5 * line && most / least < 1.01, "{vc}: {least} to {most}");
    }
}

/// As with the max-min rate of each alone, whatever the ways back claim.
#[test]
fn the_effective_number_makes_early_and_late_equal_beside_ways_back() {
    let early = "abr = { icr = \"2 Mbps\" }";
    let late = "abr = { icr = \"2 Mbps\" }\ntraffic = { type = \"greedy\", start = \"300 ms\" }";
    for left in [1, 6] {
        let algorithm = "{ type = \"erica\", effective_number = true }";
        let (_, [least, most]) = settled(&both_ways(algorithm, &[early, late], &vec![""; left]));
        assert!(least > 0.99 && most < 1.01, "{left} ways back: {least} to {most}");
    }
}
