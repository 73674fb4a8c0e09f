//! A live run that goes on tells its caller all that its series record, and takes changes of links.

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use cellrate_live::engine::{Changes, LinkChange, Options, Progress, Stop, run, series_of};
use cellrate_proto::{BitRate, Duration, Time};
use cellrate_scenario::LinkIndex;

/// Two sources for half a second; series of every change and at intervals, of TCP that is not there, of a port nobody
/// uses.
const SCENARIO: &str = r#"
name = "watched"
duration = "500 ms"
defaults.link = { rate = "10 Mbps", length = "10 km" }
defaults.switch.algorithm = { type = "erica" }
host = [{ name = "a" }, { name = "b" }, { name = "d" }, { name = "idle" }]
switch = [{ name = "sw" }]
link = [{ between = ["a", "sw"] }, { between = ["b", "sw"] }, { between = ["sw", "d"] }, { between = ["sw", "idle"] }]
[[vc]]
name = "one"
path = ["a", "sw", "d"]
[[vc]]
name = "other"
path = ["b", "sw", "d"]
traffic = { start = "200 ms" }
[[probe]]
record = ["acr", "abr_queue"]
every = "change"
[[probe]]
record = ["utilization", "z", "received"]
every = "10 ms"
[[probe]]
record = ["queue"]
of = ["sw->d", "sw->idle"]
every = "10 ms"
"#;

#[test]
fn what_is_told_are_the_series_in_parts() {
    let scenario = common::parse(SCENARIO, "watched.toml");
    let names = series_of(&scenario);
    let mut parts = vec![(Vec::new(), Vec::new()); names.len()];
    let (mut last, mut looks) = (Time::ZERO, 0);
    let mut progress = |so_far: Progress| -> ControlFlow<Stop> {
        assert!(so_far.now >= last);
        (last, looks) = (so_far.now, looks + usize::from(!so_far.recent.is_empty()));
        for recent in so_far.recent {
            assert!(recent.times_ps.iter().all(|&ps| ps < so_far.now.as_ps()));
            parts[recent.series].0.extend(recent.times_ps);
            parts[recent.series].1.extend(recent.values);
        }
        ControlFlow::Continue(())
    };
    let options = Options { watched: true, progress: Some(Box::new(&mut progress)), ..Options::default() };
    let outcome = run(&scenario, options).unwrap_or_else(|error| panic!("{error}"));
    assert!(looks >= 3, "{looks} looks");
    let recorded: Vec<_> =
        outcome.series.iter().map(|s| (s.probe.clone(), s.entity.clone(), s.unit, s.every)).collect();
    assert_eq!(recorded, names);
    assert!(names.iter().all(|(_, entity, ..)| entity != "sw->idle"), "nothing crosses it");
    for ((times, values), series) in parts.iter().zip(&outcome.series) {
        assert_eq!(times[..], series.times_ps[..times.len()], "{} of {}", series.probe, series.entity);
        assert_eq!(values[..], series.values[..values.len()], "{} of {}", series.probe, series.entity);
        // Nothing that was there has been left out.
        assert!(series.times_ps.get(times.len()).is_none_or(|&ps| ps >= last.as_ps()));
    }
    assert!(parts.iter().any(|(times, _)| times.len() > 20));
}

#[test]
fn nothing_is_told_that_was_not_asked_for() {
    let scenario = common::parse(SCENARIO, "watched.toml");
    let mut told = 0;
    let mut progress = |so_far: Progress| -> ControlFlow<Stop> {
        told += so_far.recent.len();
        ControlFlow::Continue(())
    };
    run(&scenario, Options { progress: Some(Box::new(&mut progress)), ..Options::default() })
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(told, 0);
}

/// A change in the middle of a run holds from then on: half the rate, a longer way, and no cell that arrives.
#[test]
fn a_link_changes_while_the_network_runs() {
    const LINE: &str = r#"
name = "changed"
duration = "10 min"
defaults.link = { rate = "4.24 Mbps", delay = "1 ms" }
host = [{ name = "a" }, { name = "d" }]
switch = [{ name = "sw" }]
link = [{ between = ["a", "sw"] }, { between = ["sw", "d"] }]
[[vc]]
name = "vc"
category = "cbr"
path = ["a", "sw", "d"]
pcr = "10000 cells/s"
traffic = { type = "constant", rate = "10000 cells/s" }
[[probe]]
record = ["received", "delay", "port_drops"]
every = "10 ms"
"#;
    let scenario = common::parse(LINE, "changed.toml");
    let changes = Arc::new(Changes::new(&scenario));
    let nothing = LinkChange { link: LinkIndex(1), rate: None, delay: None, cell_loss: None };
    let slower = LinkChange { rate: Some(BitRate::from_bps(2_120_000)), ..nothing };
    let longer =
        LinkChange { rate: Some(BitRate::from_bps(4_240_000)), delay: Some(Duration::from_ms(5)), ..nothing };
    let lost = LinkChange { cell_loss: Some(1.0), ..nothing };
    // When each was asked for, and the end.
    let (mut reports, mut asked) = (0, Vec::new());
    let mut progress = |so_far: Progress| -> ControlFlow<Stop> {
        reports += 1;
        let change = match reports {
            4 => slower,
            8 => longer,
            12 => lost,
            16 => return ControlFlow::Break(Stop::Finish),
            _ => return ControlFlow::Continue(()),
        };
        assert_eq!(changes.ask(change), Ok(()));
        asked.push(so_far.now);
        ControlFlow::Continue(())
    };
    let options = Options {
        progress: Some(Box::new(&mut progress)),
        changes: Some(Arc::clone(&changes)),
        ..Options::default()
    };
    let outcome = run(&scenario, options).unwrap_or_else(|error| panic!("{error}"));
    let received = &outcome.series.iter().find(|s| s.probe == "received" && s.entity == "vc").unwrap();
    // Cells within the last 10 ms before an instant.
    let rate_before = |until: Time| {
        let place = received.times_ps.partition_point(|&ps| ps <= until.as_ps()) - 1;
        received.values[place] - received.values[place - 1]
    };
    let end = Time::from_ps(*received.times_ps.last().unwrap());
    assert_eq!(rate_before(asked[0]), 100.0);
    assert_eq!(rate_before(asked[1]), 50.0);
    assert_eq!(rate_before(asked[2]), 100.0, "what waited goes at the rate of the line");
    assert_eq!(rate_before(end), 0.0);
    let last = changes.states()[1];
    assert_eq!(
        (last.rate, last.delay, last.cell_loss),
        (BitRate::from_bps(4_240_000), Duration::from_ms(5), 1.0)
    );
    assert_eq!(changes.states()[0], scenario.links[0].first_state());
}
