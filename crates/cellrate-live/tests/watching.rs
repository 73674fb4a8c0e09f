//! Whoever watches a live run is told all that its series record, as it goes on.

mod common;

use std::ops::ControlFlow;

use cellrate_live::engine::{Options, Progress, Stop, run, series_of};
use cellrate_proto::Time;

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
