//! OAM loopback cells, whose round trips are worked out by hand.

use std::ops::ControlFlow;

use cellrate_scenario::{Document, Scenario};
use cellrate_sim::{LoopbackSummary, RunResult, run};

/// Two links of different rates and lengths, and a connection over them with these keys.
fn pair(vc: &str, link: &str) -> Scenario {
    let text = format!(
        r#"
name = "pair"
duration = "100 ms"
[[host]]
name = "s"
[[host]]
name = "d"
[[switch]]
name = "sw"
[[link]]
between = ["s", "sw"]
rate = "42.4 Mbps"
delay = "1 ms"
[[link]]
between = ["sw", "d"]
rate = "4.24 Mbps"
delay = "3 ms"
{link}
[[vc]]
name = "vc"
path = ["s", "sw", "d"]
{vc}
[[probe]]
record = ["loopback_time"]
of = ["vc"]
every = "change"
"#
    );
    Document::parse(&text, "pair").unwrap().resolve().unwrap_or_else(|error| panic!("{error}"))
}

fn ran(scenario: &Scenario) -> RunResult {
    run(scenario, &mut |_| ControlFlow::Continue(())).unwrap()
}

const SILENT: &str =
    "category = \"ubr\"\ntraffic = { type = \"constant\", rate = \"1 Mbps\", start = \"200 ms\" }";

fn rows(result: &RunResult) -> Vec<(&str, &str, &str, u64, u64, u64, u64)> {
    let row = |row: &'_ LoopbackSummary| (row.sent, row.answered, row.lost, row.unanswered);
    let all = result.summary.loopbacks.iter();
    all.map(|one| {
        let (sent, answered, lost, unanswered) = row(one);
        (&*one.vc, &*one.at, one.flow, sent, answered, lost, unanswered)
    })
    .collect()
}

/// Picoseconds, as whole ones.
fn ps(seconds: Option<f64>) -> u64 {
    (seconds.unwrap() * 1e12).round() as u64
}

#[test]
fn on_idle_lines_a_round_trip_is_twice_the_delays_and_the_time_of_a_cell_on_each() {
    // A cell takes 10 us on the first link and 100 us on the second one.
    let loopback = "loopback = [{ every = \"10 ms\" }, { every = \"20 ms\", at = \"sw\", start = \"5 ms\" }, { every = \"10 ms\", start = \"5 ms\", backward = true }, { every = \"50 ms\", start = \"6 ms\", at = \"sw\", backward = true }]";
    let result = ran(&pair(&format!("{SILENT}\n{loopback}"), ""));
    let expected = [
        ("vc", "d", "end-to-end", 10, 10, 0, 0),
        ("vc", "sw", "segment", 5, 5, 0, 0),
        ("vc (back)", "s", "end-to-end", 10, 9, 0, 1),
        ("vc (back)", "sw", "segment", 2, 2, 0, 0),
    ];
    assert_eq!(rows(&result), expected);
    let whole = 2 * (1_000_000_000 + 10_000_000 + 3_000_000_000 + 100_000_000);
    let first = 2 * (1_000_000_000 + 10_000_000);
    for (row, span) in result.summary.loopbacks.iter().zip([whole, first, whole, whole - first]) {
        assert_eq!([row.min_s, row.mean_s, row.max_s].map(ps), [span; 3], "{row:?}");
    }
    let series = &result.series[0];
    assert_eq!((series.probe.as_str(), series.unit), ("loopback_time", "s"));
    // The forward ones of 10 ms take 8.22 ms; those of the segment, from 5 ms on every 20, take 2.02 ms.
    let values: Vec<u64> = series.values.iter().map(|&value| ps(Some(value))).collect();
    assert_eq!(values[..4], [0, first, whole, first]);
    assert_eq!(series.times_ps[..3], [0, 7_020_000_000, 8_220_000_000]);
    // OAM cells are cells, and no data.
    let [forward, backward] = &result.summary.vcs[..] else { panic!("two directions") };
    assert_eq!((forward.sent, forward.data_sent), (10 + 5 + 10, 0));
    assert_eq!((backward.sent, backward.data_sent, backward.delivered), (10 + 10 + 2, 0, 10 + 10 + 5));
}

#[test]
fn behind_a_queue_a_round_trip_has_the_time_of_the_cells_before_it() {
    // 80 cells leave the source at time 0, one after the other, and the request of 900 us finds all of them at the
    // switch, or on their way: 80 of 10 us in, 100 us each out.
    let burst = "category = \"ubr\"\npcr = \"42.4 Mbps\"\ntraffic = { type = \"timed\", cells = [[\"0 s\", 80]] }\nloopback = [{ every = \"1 s\", start = \"900 us\" }]";
    let result = ran(&pair(burst, ""));
    // The first cell begins on the second line at 1.01 ms; the request is behind 80 of them there.
    let back = 3_000_000_000 + 100_000_000 + 1_000_000_000 + 10_000_000;
    let there = 1_010_000_000 + 81 * 100_000_000 + 3_000_000_000;
    assert_eq!(ps(result.summary.loopbacks[0].max_s), there + back - 900_000_000);
}

#[test]
fn requests_that_the_line_loses_are_told_by_the_replies_behind_them() {
    let vc = format!("{SILENT}\nloopback = [{{ every = \"1 ms\" }}]");
    let result = ran(&pair(&vc, "outages = [[\"10 ms\", \"20 ms\"]]"));
    // Requests leave the switch 1.11 ms after they were sent: 9 to 18 ms are lost. Replies leave their host 4.21 ms
    // after, which takes 6 to 15 ms: 6 to 18 in all. The last 8 ms are under way.
    assert_eq!(rows(&result), [("vc", "d", "end-to-end", 100, 100 - 13 - 8, 13, 8)]);
    assert_eq!(result.summary.vcs[0].dropped + result.summary.vcs[1].dropped, 13);
}

#[test]
fn loopback_cells_are_not_in_rate_and_are_nothing_to_the_source_and_to_policers() {
    let abr = |more: &str| {
        let text = format!(
            "abr = {{ pcr = \"2 Mbps\", icr = \"2 Mbps\" }}\npolice = {{ cdvt = \"1 us\", action = \"count\" }}\n{more}"
        );
        ran(&pair(&text, ""))
    };
    let (plain, result) = (
        abr("loopback = [{ every = \"1 s\", start = \"1 s\" }]"),
        abr("loopback = [{ every = \"100 us\" }]"),
    );
    let [before, after] = [&plain, &result].map(|result| &result.summary.vcs[0]);
    assert_eq!((before.data_sent, before.forward_rm_sent), (after.data_sent, after.forward_rm_sent));
    assert_eq!(after.sent, before.sent + 1000);
    let [policed, as_before] = [&result, &plain].map(|result| &result.summary.policing[0]);
    assert!((policed.conforming + policed.nonconforming).abs_diff(as_before.conforming) <= 1);
}

#[test]
fn the_ready_scenario_tells_where_a_connection_waits() {
    let text = include_str!("../../../../scenarios/oam-loopback.toml");
    let scenario = Document::parse(text, "oam-loopback").unwrap().resolve().unwrap();
    let result = ran(&scenario);
    let mean = |vc: &str, at: &str| {
        let found = result.summary.loopbacks.iter().find(|row| (&*row.vc, &*row.at) == (vc, at)).unwrap();
        assert_eq!(found.lost, 0);
        found.mean_s.unwrap() * 1e3
    };
    // 1 ms for each 100 km, there and back.
    assert!((mean("abr", "sw1") - 1.0).abs() < 0.02, "{}", mean("abr", "sw1"));
    assert!((mean("cbr", "d3") - 3.0).abs() < 0.05, "{}", mean("cbr", "d3"));
    // The queue of the bottleneck, a hundred cells or more of 2.83 us, is between the two switches.
    let wait = mean("abr", "sw2") - 2.0;
    assert!(wait > 0.2, "{wait}");
    assert!((mean("abr", "d1") - 1.0 - mean("abr", "sw2")).abs() < 0.1);
}
