//! A run that somebody watches gives the result that it gives anyway, and all of its series as it goes on.

use std::ops::ControlFlow;

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Document, Scenario};
use cellrate_sim::{RunError, Simulation, run};

const READY: [&str; 4] = [
    include_str!("../../../../scenarios/two-source-transient.toml"),
    include_str!("../../../../scenarios/cbr-and-abr.toml"),
    include_str!("../../../../scenarios/relative-rate.toml"),
    include_str!("../../../../scenarios/tcp-over-abr.toml"),
];

fn resolved(text: &str) -> Scenario {
    Document::parse(text, "ready").and_then(|document| document.resolve()).unwrap()
}

#[test]
fn what_is_seen_is_the_series_in_parts_and_changes_no_result() {
    for text in READY {
        // Some are of every change, some at intervals, and losses are counted in several clusters.
        let probes = "[[probe]]\nrecord = [\"abr_queue\", \"acr\"]\nevery = \"change\"\n\
                      [[probe]]\nrecord = [\"queue\", \"utilization\", \"drops\", \"received\"]\nevery = \"3 ms\"\n";
        let network = text.split("[[probe]]").next().unwrap_or_default();
        let scenario = resolved(&format!("{network}{probes}"));
        let plain = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
        let every = Duration::from_ms(7);
        let mut parts = vec![(Vec::new(), Vec::new()); scenario.probes.len()];
        let (mut last, mut looks) = (Time::ZERO, 0);
        let watched = Simulation::of(&scenario)
            .run_watched(every, &mut |_| ControlFlow::Continue(()), &mut |look| {
                assert!(look.now >= last + every);
                (last, looks) = (look.now, looks + 1);
                for recent in look.recent {
                    assert!(
                        !recent.values.is_empty() && recent.times_ps.iter().all(|&ps| ps < look.now.as_ps())
                    );
                    parts[recent.probe].0.extend(recent.times_ps);
                    parts[recent.probe].1.extend(recent.values);
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        assert!(looks > 20, "{}: {looks} looks", scenario.name);
        assert_eq!(watched.summary.vcs, plain.summary.vcs);
        assert_eq!(watched.summary.ports, plain.summary.ports);
        for ((times, values), (series, same)) in parts.iter().zip(plain.series.iter().zip(&watched.series)) {
            assert_eq!((&series.times_ps, &series.values), (&same.times_ps, &same.values));
            assert!(!times.is_empty(), "{} of {}", series.probe, series.entity);
            // What came after the last look is in the result alone.
            assert_eq!(times[..], series.times_ps[..times.len()]);
            assert_eq!(values[..], series.values[..values.len()]);
            assert!(series.times_ps.get(times.len()).is_none_or(|&ps| Time::from_ps(ps) + every * 2 > last));
        }
    }
}

#[test]
fn who_watches_may_end_the_run() {
    let mut looks = 0;
    let ended = Simulation::of(&resolved(READY[0])).run_watched(
        Duration::from_ms(1),
        &mut |_| ControlFlow::Continue(()),
        &mut |_| {
            looks += 1;
            if looks == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    assert!(matches!(ended, Err(RunError::Interrupted)));
    assert_eq!(looks, 3);
}
