//! A run in steps gives the result that it gives at once, and those who follow cells see each of them leave each port.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Document, Scenario};
use cellrate_sim::{Plugins, RunResult, Steps, Traveller, run};

const READY: [&str; 5] = [
    include_str!("../../../../scenarios/two-source-transient.toml"),
    include_str!("../../../../scenarios/cbr-and-abr.toml"),
    include_str!("../../../../scenarios/relative-rate.toml"),
    include_str!("../../../../scenarios/tcp-over-abr.toml"),
    include_str!("../../../../scenarios/vs-vd.toml"),
];

fn resolved(text: &str) -> Arc<Scenario> {
    let text = text.split("[[sweep]]").next().unwrap_or_default();
    let mut document = Document::parse(text, "ready").unwrap();
    document.set("duration", "60 ms").unwrap();
    Arc::new(document.resolve().unwrap())
}

fn at_once(scenario: &Scenario) -> RunResult {
    run(scenario, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn steps_of_any_length_give_the_result_of_a_run_at_once() {
    for text in READY {
        let scenario = resolved(text);
        let plain = at_once(&scenario);
        for every in [Duration::from_us(1), Duration::from_ms(7), Duration::FOREVER] {
            let mut steps = Steps::new(Arc::clone(&scenario), Plugins::default(), false).unwrap();
            let mut parts = vec![Vec::new(); scenario.probes.len()];
            while !steps.is_over() {
                let until = steps.now().saturating_add(every);
                let step = steps.advance(until);
                assert!(step.now == steps.now() && (step.now >= until || steps.is_over()));
                assert!(step.passing.is_empty());
                step.recent.into_iter().for_each(|recent| parts[recent.probe].extend(recent.values));
            }
            let result = steps.finish().unwrap();
            assert_eq!(result.summary, plain.summary, "{}", scenario.name);
            assert_eq!(result.series, plain.series);
            for (part, series) in parts.iter().zip(&plain.series) {
                assert_eq!(*part, series.values[..part.len()]);
            }
        }
    }
}

#[test]
fn every_cell_is_seen_at_every_port_and_changes_nothing() {
    for text in READY {
        let scenario = resolved(text);
        let plain = at_once(&scenario);
        let mut steps = Steps::new(Arc::clone(&scenario), Plugins::default(), true).unwrap();
        let (mut left, mut last) = (BTreeMap::new(), Time::ZERO);
        let mut forward_rm = 0;
        while !steps.is_over() {
            for passing in steps.advance(steps.now() + Duration::from_ms(3)).passing {
                assert!(passing.at >= last);
                last = passing.at;
                *left.entry(passing.port.index()).or_insert(0) += 1;
                let from_source = passing.port == scenario.step(passing.flow, 0).port();
                forward_rm += u64::from(from_source && passing.cell == Traveller::ForwardRm);
            }
        }
        let result = steps.finish().unwrap();
        assert_eq!((&result.summary.vcs, &result.summary.ports), (&plain.summary.vcs, &plain.summary.ports));
        let seen: Vec<u64> = left.into_values().filter(|&cells| cells > 0).collect();
        // Rows of ports are in the order of ports, too.
        let counted: Vec<u64> = plain.summary.ports.iter().map(|port| port.transmitted).collect();
        assert_eq!(seen, counted, "{}", scenario.name);
        // One that is still in its port at the end has been sent and has not left.
        let sent: u64 = plain.summary.vcs.iter().map(|vc| vc.forward_rm_sent).sum();
        assert!(
            forward_rm <= sent && (sent == 0 || forward_rm > 0),
            "{}: {forward_rm} of {sent}",
            scenario.name
        );
    }
}

#[test]
fn cells_are_told_from_the_instant_that_is_asked_for() {
    let scenario = resolved(READY[0]);
    let mut steps = Steps::new(scenario, Plugins::default(), true).unwrap();
    let from = Time::ZERO + Duration::from_us(31_234);
    steps.follow_from(from);
    let passing = steps.advance(Time::ZERO + Duration::from_ms(40)).passing;
    assert!(passing.iter().all(|passing| passing.at >= from));
    assert!(passing.first().is_some_and(|first| first.at < from + Duration::from_us(100)));
}
