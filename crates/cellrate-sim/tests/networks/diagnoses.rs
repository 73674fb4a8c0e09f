//! Rows that are worked out from counts, by hand and on either side of their thresholds.

use std::ops::ControlFlow;

use cellrate_scenario::Document;
use cellrate_sim::{RunResult, run};

/// From host a over a switch to host b, by lines of 1,000 cells a second without delay, for `duration`; with this `vc`.
fn result(duration: &str, vc: &str, lines: &str) -> RunResult {
    let text = format!(
        "name = \"t\"\nduration = \"{duration}\"\ndefaults.link = {{ rate = \"1000 cells/s\", delay = \"0 ms\" }}\n\
         switch = [{{ name = \"sw\" }}]\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"] }}]\n\
         [[vc]]\nname = \"v\"\npath = [\"a\", \"sw\", \"b\"]\ncategory = \"ubr\"\n{vc}\n{lines}"
    );
    let scenario = Document::parse(&text, "t").and_then(|document| document.resolve());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &mut |_| ControlFlow::Continue(())).expect("the run ends well")
}

#[test]
fn a_host_is_a_bottleneck_with_more_than_a_thousand_cells_that_wait() {
    // A cell comes every 0.5 ms from 0 on, and one leaves every 1 ms: by 999.2 ms 1999 have come and 999 have left, by
    // 999.7 ms one more has come.
    let vc = "pcr = \"2000 cells/s\"\ntraffic = { type = \"greedy\" }";
    let waiting = |duration| {
        let rows = result(duration, vc, "").summary.host_bottlenecks;
        rows.into_iter().map(|row| (row.port, row.waiting)).collect::<Vec<_>>()
    };
    assert_eq!(waiting("999.2 ms"), []);
    assert_eq!(waiting("999.7 ms"), [("a->sw".to_owned(), 1001)]);
}

#[test]
fn goodput_is_48_octets_of_each_cell_and_efficiency_its_part_of_the_line() {
    // A cell every 4 ms, which takes 2 ms: 0, 4, ..., 996 ms all arrive within the second.
    let vc = "traffic = { type = \"constant\", rate = \"250 cells/s\" }";
    let summary = result("1 s", vc, "").summary;
    assert_eq!(summary.shares.len(), 1);
    assert_eq!(summary.shares[0].goodput_bps, 250.0 * 48.0 * 8.0);
    assert_eq!(summary.vcs[0].throughput_bps, 250.0 * 53.0 * 8.0);
    let lines: Vec<_> = summary.efficiency.iter().map(|row| (row.port.as_str(), row.efficiency)).collect();
    let part = 0.25 * 48.0 / 53.0;
    let [(first, one), (second, other)] = lines[..] else { panic!("{lines:?}") };
    assert_eq!((first, second), ("a->sw", "sw->b"));
    assert!((one - part).abs() < 1e-12 && (other - part).abs() < 1e-12, "{lines:?}");
}

#[test]
fn a_series_of_sums_begins_with_zero_where_there_is_nothing_to_add() {
    // A server has no connection before its client opens one.
    let vc = "traffic = { type = \"tcp\", connections = 0, start = \"5 ms\", pages = { objects = [{ response = \"1 kB\" }] } }";
    let probe = "[[probe]]\nrecord = [\"cwnd\"]\nof = [\"v (back)\"]\nevery = \"1 ms\"";
    let result = result("10 ms", vc, probe);
    assert_eq!(result.series[0].values[0].to_bits(), 0.0_f64.to_bits());
    assert_eq!(result.series[0].values.len(), 10);
}
