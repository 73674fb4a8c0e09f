//! Links that change in time, against what can be worked out by hand.

use std::ops::ControlFlow;

use cellrate_proto::Time;
use cellrate_proto::switch::FORMS;
use cellrate_scenario::Document;
use cellrate_sim::{RunResult, run};

/// From host a over a switch to host b, whose link has these keys; with these lines at the end. Lines take 10,000 cells
/// a second, and nothing takes time but the last link's 5 ms.
fn result(link: &str, lines: &str) -> RunResult {
    let text = format!(
        "name = \"t\"\nduration = \"100 ms\"\ndefaults.link = {{ rate = \"10000 cells/s\", delay = \"0 ms\" }}\n\
         switch = [{{ name = \"sw\" }}]\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"], delay = \"5 ms\", {link} }}]\n\
         [[vc]]\nname = \"v\"\npath = [\"a\", \"sw\", \"b\"]\n{lines}"
    );
    let scenario = Document::parse(&text, "t").and_then(|document| document.resolve());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &mut |_| ControlFlow::Continue(())).expect("the run ends well")
}

/// A cell every 100 us, which is as fast as the lines are.
const FULL: &str = "category = \"ubr\"\npcr = \"10000 cells/s\"\ntraffic = { type = \"greedy\" }";

/// A cell every 1 ms.
const SPARSE: &str = "category = \"ubr\"\ntraffic = { type = \"constant\", rate = \"1000 cells/s\" }";

#[test]
fn a_cell_is_sent_at_all_rates_that_there_are_while_it_is() {
    // The first cell comes to the switch at 100 us. At 10 ms 99 have left, and the next begins: 1 ms each from now on,
    // until 50 ms; then 100 us again. So 99, 40, and up to 100 ms 500 more, the last of which leaves as the run ends
    // and so does not.
    let changes = "changes = [{ at = \"10 ms\", rate = \"1000 cells/s\" }, { at = \"50 ms\", rate = \"10000 cells/s\" }]";
    let summary = result(changes, FULL).summary;
    let port = summary.ports.iter().find(|port| port.port == "sw->b").unwrap();
    assert_eq!(port.transmitted, 99 + 40 + 499);
    // Idle for the first 100 us and never again.
    assert!((port.utilization - 0.999).abs() < 1e-12, "{}", port.utilization);
    // A change amid a cell is for the rest of it: at 10.05 ms half of one has left, and the other half takes 0.5 ms.
    // The last of the next 39 leaves at 49.55 ms, and of the one behind it 0.55 are left at 50 ms: they take 0.055 ms.
    let amid = changes.replace("10 ms", "10.05 ms");
    let summary = result(&amid, FULL).summary;
    let port = summary.ports.iter().find(|port| port.port == "sw->b").unwrap();
    assert_eq!(port.transmitted, 100 + 39 + 1 + 499);
    assert!((port.utilization - 0.999).abs() < 1e-12, "{}", port.utilization);
}

#[test]
fn a_line_that_has_stopped_stands_still_and_goes_on_where_it_was() {
    let changes =
        "changes = [{ at = \"10.05 ms\", rate = \"0 bps\" }, { at = \"20 ms\", rate = \"10000 cells/s\" }]";
    let result = result(changes, FULL);
    let port = result.summary.ports.iter().find(|port| port.port == "sw->b").unwrap();
    // Half of the one that had begun is left, and leaves by 20.05 ms.
    assert_eq!(port.transmitted, 99 + 1 + 799);
    assert!((port.utilization - (0.00995 + 0.080) / 0.1).abs() < 1e-12, "{}", port.utilization);
    assert_eq!(port.max_queue, 101, "it is there when the 100th behind it comes at 20 ms");
}

#[test]
fn no_more_passes_a_trace_than_it_has_chances_for_however_short_its_steps() {
    // A packet of 1504 octets every fourth millisecond, where a millisecond brings ten cells: 28.4 of every 40 pass.
    let chances: Vec<String> = (0..=100).step_by(4).map(|ms| ms.to_string()).collect();
    let transmitted = |step: &str| {
        let trace =
            format!("type = \"mahimahi\", opportunities = [{}], step = \"{step}\"", chances.join(", "));
        let summary = result(&format!("rate = {{ {trace} }}"), FULL).summary;
        summary.ports.iter().find(|port| port.port == "sw->b").unwrap().transmitted
    };
    // In the first step of 1 ms nine cells come; each of the 24 that follow, silent ones between them, is used whole.
    assert_eq!(transmitted("1 ms"), 9 + 24 * 1504 / 53);
    // In steps of 4 ms the line is used from the first cell's arrival at 0.1 ms on: 24.975 of its 25 chances.
    assert_eq!(transmitted("4 ms"), 24_975 * 1504 / 53_000);
}

#[test]
fn a_line_stops_one_way_and_the_other_way_goes_on() {
    // A cell every 1 ms each way; the line out of the switch stops at 50.05 ms, that out of b is 5 ms longer then.
    let changes = "changes = [{ at = \"50.05 ms\", from = \"sw\", rate = \"0 bps\" }, { at = \"50.05 ms\", from = \"b\", delay = \"10 ms\" }]";
    let summary = result(changes, &format!("{SPARSE}\nbidirectional = true")).summary;
    let row = |vc: &str| summary.vcs.iter().find(|row| row.vc == vc).unwrap();
    // 0, 1, ..., 49 ms and 50 ms, whose cell comes to the switch at 50.1 ms.
    assert_eq!((row("v").data_delivered, row("v").in_flight), (50, 50));
    // Back they take 5.2 ms to 50 ms, 10.2 ms from then on: 89 ms is the last that arrives before 100 ms.
    assert_eq!((row("v (back)").data_delivered, row("v (back)").in_flight), (90, 10));
    assert!((row("v (back)").max_delay_s.unwrap() - 0.0102).abs() < 1e-9);
}

#[test]
fn a_delay_that_falls_lets_no_cell_overtake() {
    // Cells leave the switch at 0.2, 1.2, ... ms. Those up to 9.2 ms take 5 ms; the one at 10.2 ms would arrive at
    // 11.2 ms, before the one in front of it at 14.2 ms, and comes a cell time of 0.1 ms behind that; the next are at
    // 14.4, 14.5, 14.6 ms, and that of 14.2 ms is the first to find the way free at 15.2 ms.
    let changes = "changes = [{ at = \"10 ms\", delay = \"1 ms\" }]";
    let probe = "[[probe]]\nrecord = [\"received\"]\nof = [\"v\"]\nevery = \"100 us\"";
    let result = result(changes, &format!("{SPARSE}\n{probe}"));
    let received = result.series.iter().find(|series| series.probe == "received").unwrap();
    let last = |us: u64| {
        let after = received.times_ps.partition_point(|&ps| ps <= us * 1_000_000);
        received.values[after - 1]
    };
    let arrivals = [14_200, 14_300, 14_400, 14_500, 14_600, 15_200, 16_200];
    for (place, us) in arrivals.into_iter().enumerate() {
        assert_eq!((last(us), last(us + 100)), (9.0 + place as f64, 10.0 + place as f64), "at {us} us");
    }
    // From leaving a: 5.2 ms at first, and 1.2 ms in the end.
    let row = &result.summary.vcs[0];
    assert!((row.max_delay_s.unwrap() - 5.2e-3).abs() < 1e-12);
    assert_eq!(row.dropped, 0);
}

#[test]
fn cells_on_the_line_are_lost_where_a_change_says_so_and_hold_up_nobody() {
    let changes = "changes = [{ at = \"10 ms\", delay = \"1 ms\", in_flight = \"lost\" }]";
    let result = result(changes, SPARSE);
    let row = &result.summary.vcs[0];
    // Those that left the switch from 5.2 to 9.2 ms; the one of 4.2 ms came at 9.2 ms.
    assert_eq!(row.dropped, 5);
    assert!((row.max_delay_s.unwrap() - 5.2e-3).abs() < 1e-12);
    // 100 cells are sent, from 0 to 99 ms; the last arrives as the run ends at 100.2 ms, which is after it.
    assert_eq!((row.data_sent, row.data_delivered), (100, 94));
}

#[test]
fn a_loss_that_changes_is_that_of_its_time() {
    let changes = "changes = [{ at = \"20 ms\", loss = 1 }, { at = \"30 ms\", loss = 0 }]";
    let result = result(changes, SPARSE);
    assert_eq!(result.summary.vcs[0].dropped, 10);
}

/// Every algorithm that hands out rates and goes by what comes, on a line that has half of its rate for a while: ACR is
/// the share of the rate in force that the algorithm declares. Those that go by a threshold of the queue swing too
/// widely for one instant to tell (`crates/cellrate-proto/tests/built_in.rs` has them all).
#[test]
fn algorithms_hand_out_the_rate_in_force() {
    let mut tried = 0;
    for form in FORMS.iter().filter(|form| form.shape.keys.iter().all(|key| !key.required)) {
        let name = form.shape.name;
        let figure = form.figures.iter().find(|figure| figure.name == "capacity").or(form.figures.first());
        let figure = figure.map_or("abr_queue", |figure| figure.name);
        let text = format!(
            "name = \"t\"\nduration = \"900 ms\"\ndefaults.link = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n\
             defaults.switch.algorithm = {{ type = \"{name}\" }}\n\
             switch = [{{ name = \"sw1\" }}, {{ name = \"sw2\" }}]\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
             link = [{{ between = [\"a\", \"sw1\"] }}, {{ between = [\"sw2\", \"b\"] }},\n\
             {{ between = [\"sw1\", \"sw2\"], changes = [{{ at = \"300 ms\", rate = \"50 Mbps\" }}, \
             {{ at = \"600 ms\", rate = \"100 Mbps\" }}] }}]\n\
             vc = [{{ name = \"v\", path = [\"a\", \"sw1\", \"sw2\", \"b\"] }}]\n\
             [[probe]]\nrecord = [\"acr\"]\n[[probe]]\nrecord = [\"{figure}\"]\nof = [\"sw1->sw2\"]\nevery = \"100 us\""
        );
        let scenario = Document::parse(&text, "t").and_then(|document| document.resolve());
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let between = scenario.links.iter().find(|link| link.is_changing()).unwrap();
        let algorithm = &between.ports[0].control.algorithm;
        if !algorithm.hands_out_rates() {
            continue;
        }
        tried += 1;
        let result = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
        let at = |name: &str, ms: f64| {
            let series = result.series.iter().find(|series| series.probe == name).unwrap();
            series.values[series.times_ps.partition_point(|&ps| ps as f64 <= ms * 1e9) - 1]
        };
        let acr = [299.0, 599.0, 899.0].map(|ms| at("acr", ms) * 424.0 / 1e6);
        // ERICA may rest up to 10 % above its target.
        let share = algorithm.target_utilization() / (1.0 + algorithm.phantom_weight());
        for (acr, line) in acr.into_iter().zip([100.0, 50.0, 100.0]) {
            assert!((share - 0.06..share * 1.1 + 0.01).contains(&(acr / line)), "{name}: {acr} of {line}");
        }
        if figure == "capacity" && name != "erica+" {
            // The interval that ends as the line changes has the new rate.
            let capacity = [299.9, 300.1, 599.9, 600.1].map(|ms| at("capacity", ms) * 424.0 / 1e6);
            let halves = [capacity[1] / capacity[0], capacity[2] / capacity[1], capacity[3] / capacity[2]];
            assert_eq!(halves.map(|ratio| (ratio * 1e6).round() / 1e6), [0.5, 1.0, 2.0], "{name}");
        }
    }
    assert!(tried >= 7, "{tried}");
}

/// Sentences of docs/guides/changing-links.md on the ready scenario `rain-fade`.
#[test]
fn sources_follow_a_rain_fade() {
    let text = include_str!("../../../../scenarios/rain-fade.toml");
    let scenario = Document::parse(text, "rain-fade").and_then(|document| document.resolve()).unwrap();
    let result = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    let acrs: Vec<_> = result.series.iter().filter(|series| series.probe == "acr").collect();
    let rates = [100.0, 75.0, 50.0, 25.0, 25.0, 50.0, 75.0, 100.0];
    for (second, line) in (1..).zip(rates) {
        let at = |values: &[f64]| {
            values[acrs[0].times_ps.partition_point(|&ps| ps < second * 1_000_000_000_000) - 1]
        };
        let mbps: Vec<f64> = acrs.iter().map(|series| at(&series.values) * 424.0 / 1e6).collect();
        let all: f64 = mbps.iter().sum();
        assert!((0.895..0.91).contains(&(all / line)), "{second} s: {mbps:?}");
        assert!(mbps.iter().all(|acr| (acr * 3.0 / all - 1.0).abs() < 0.01), "{second} s: {mbps:?}");
    }
    let port = result.summary.ports.iter().find(|port| port.port == "sw1->sw2").unwrap();
    assert!(port.max_queue <= 160, "{}", port.max_queue);
    // The coding at 25 Mb/s lets 0.1 % through damaged, for two seconds of 53,000 cells each.
    assert!((70..=140).contains(&port.dropped), "{}", port.dropped);
}

/// Sentences of docs/guides/changing-links.md on the ready scenario `leo-pass`.
#[test]
fn sources_follow_satellites() {
    let text = include_str!("../../../../scenarios/leo-pass.toml");
    let scenario = Document::parse(text, "leo-pass").and_then(|document| document.resolve()).unwrap();
    let link = scenario.links.iter().find(|link| link.is_changing()).unwrap();
    // 6.27 ms of legs and 1 ms beside them at least, 7.49 ms and 1 ms as one sets; a step each 100 ms of 70 s.
    let bounds = [link.shortest_delay(), link.longest_delay()].map(|delay| delay.as_secs_f64() * 1e3);
    assert_eq!(bounds.map(|ms| (ms * 100.0).round() / 100.0), [7.27, 8.49]);
    assert_eq!(link.changes.len(), 699);
    let result = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    let port = result.summary.ports.iter().find(|port| port.port == "sw1->sw2").unwrap();
    assert!((0.91..0.92).contains(&port.utilization) && port.max_queue <= 10, "{port:?}");
    // At each of two hand-overs 8.49 ms of cells, some 370 at 44,000 a second, and few of the BRMs.
    let lost: Vec<u64> = result.summary.vcs.iter().map(|row| row.dropped).collect();
    assert!((700..780).contains(&(lost[0] + lost[2])) && lost[1] + lost[3] < 30, "{lost:?}");
}

/// Sentences of docs/guides/changing-links.md on the ready scenario `cell-5g`.
#[test]
fn sources_follow_a_radio_cell() {
    let text = include_str!("../../../../scenarios/cell-5g.toml");
    let scenario = Document::parse(text, "cell-5g").and_then(|document| document.resolve()).unwrap();
    let link = scenario.links.iter().find(|link| link.is_changing()).unwrap();
    let result = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    let port = result.summary.ports.iter().find(|port| port.port == "sw1->sw2").unwrap();
    let got: f64 = result.summary.vcs.iter().map(|row| row.throughput_bps).sum();
    let end = Time::ZERO + scenario.duration;
    let mean = link.mean_rate_bps(0, Time::ZERO + scenario.measuring.warm_up, end);
    assert!((0.885..0.905).contains(&(got / mean)), "{got} of {mean}");
    assert!(port.max_queue <= 750 && port.dropped == 0, "{port:?}");
}
