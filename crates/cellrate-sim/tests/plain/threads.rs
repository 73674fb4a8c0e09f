//! Runs do the same work, and give the same, on any number of threads.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use cellrate_scenario::Scenario;
use cellrate_sim::{RunResult, Simulation};

use super::sources::plugins;

/// How a run on two threads, or on one where `result` is of several, has other events than `result`.
pub fn other_events(scenario: &Scenario, threads: NonZeroUsize, result: &RunResult) -> Option<String> {
    let others = NonZeroUsize::new(if threads.get() == 1 { 2 } else { 1 }).expect("not zero");
    let simulation = Simulation::of(scenario).on_threads(others).with(plugins());
    let other = simulation.run(&mut |_| ControlFlow::Continue(())).expect("the run ends well");
    let (own, other) = (result.summary.run.events, other.summary.run.events);
    (own != other).then(|| format!("{own} events on {threads} threads, {other} on {others}"))
}
