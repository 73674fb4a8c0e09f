//! Algorithms that a run is given: they do what the same algorithm does that is built in.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::plain::plain;
use cellrate_proto::switch::{
    AveragingInterval, EricaConfig, Feedback, IntervalLoad, Meter, Metering, Promises, Slot, SwitchAlgorithm,
    SwitchAlgorithmConfig,
};
use cellrate_proto::{CellRate, Cells, Duration, Time};
use cellrate_scenario::{CustomAlgorithm, CustomParameter, Document, Scenario};
use cellrate_sim::{AlgorithmPort, CustomKind, MissingPlugin, RunError, RunResult, Simulation, Wanted, run};

const TRANSIENT: &str = include_str!("../../../../scenarios/two-source-transient.toml");
const BUILT_IN: &str = r#"{ type = "erica", target_utilization = "90 %", interval = "5 ms" }"#;
const PROBE: &str =
    "\n[[probe]]\nrecord = [\"z\", \"fair_share\"]\nof = [\"sw1->sw2\"]\nevery = \"change\"\n";

fn transient(algorithm: &str) -> Scenario {
    assert!(TRANSIENT.contains(BUILT_IN));
    let text = TRANSIENT.replace(BUILT_IN, algorithm) + PROBE;
    Document::parse(&text, "transient").and_then(|document| document.resolve()).unwrap()
}

fn carry_on(_: cellrate_sim::Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn make(custom: &CustomAlgorithm, port: AlgorithmPort<'_>) -> Option<Box<dyn SwitchAlgorithm + Send>> {
    if custom.name != "plain" {
        return None;
    }
    let interval = match &custom.parameters[..] {
        [(name, CustomParameter::Integer(ms))] if name == "interval_ms" => Duration::from_ms(*ms as u64),
        other => panic!("{other:?}"),
    };
    let config = EricaConfig { interval: AveragingInterval::of_time(interval), ..EricaConfig::erica() };
    plain(&SwitchAlgorithmConfig::Erica(Arc::new(config)), port.link_rate)
}

/// A result without the number of events, which is the kernel's own affair, without units, which are not known of
/// custom figures, and without fair shares: how much of a line a custom algorithm hands out is not known either.
fn figures(mut result: RunResult) -> RunResult {
    result.summary.run.events = 0;
    result.summary.shares.clear();
    result.summary.fairness.clear();
    result.series.iter_mut().for_each(|series| series.unit = "");
    result
}

#[test]
fn erica_as_a_custom_algorithm_gives_what_the_built_in_one_gives() {
    let built_in = figures(run(&transient(BUILT_IN), &mut carry_on).unwrap());
    let custom = transient(
        r#"{ type = "custom", name = "plain", figures = ["z", "n", "fair_share"], parameters = { interval_ms = 5 } }"#,
    );
    for threads in [1, 2] {
        let threads = NonZeroUsize::new(threads).unwrap();
        let simulation = Simulation::of(&custom).on_threads(threads).with_algorithms(&make);
        assert_eq!(figures(simulation.run(&mut carry_on).unwrap()), built_in);
    }
    let z = built_in.series.iter().find(|series| series.probe == "z").expect("it is recorded");
    assert!(z.values.iter().any(|&z| z > 1.1), "the transient is there");
}

#[test]
fn who_makes_algorithms_is_told_the_port() {
    let custom = transient(
        r#"{ type = "custom", name = "plain", figures = ["z", "n", "fair_share"], parameters = { interval_ms = 5 } }"#,
    );
    let seen = Mutex::new(Vec::new());
    let telling = |custom: &CustomAlgorithm, port: AlgorithmPort<'_>| {
        seen.lock().unwrap().push((port.name.to_owned(), port.link_rate));
        make(custom, port)
    };
    Simulation::of(&custom).with_algorithms(&telling).run(&mut carry_on).unwrap();
    let mut seen = seen.into_inner().unwrap();
    seen.sort_by(|one, other| one.0.cmp(&other.0));
    let names: Vec<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["sw1->s1", "sw1->s2", "sw1->sw2", "sw2->d1", "sw2->d2", "sw2->sw1"]);
    assert!((seen[0].1.as_cells_per_s() - 155.52e6 / 424.0).abs() < 1.0, "{:?}", seen[0].1);
}

#[test]
fn a_run_that_is_not_given_an_algorithm_says_which_and_where() {
    let custom = transient(r#"{ type = "custom", name = "mine", figures = ["z", "fair_share"] }"#);
    let error = Simulation::of(&custom).with_algorithms(&make).run(&mut carry_on).unwrap_err();
    let RunError::MissingPlugin(MissingPlugin(Wanted { kind, name, owner })) = &error else {
        panic!("{error}")
    };
    assert_eq!((*kind, name.as_str(), owner.contains("->")), (CustomKind::Algorithm, "mine", true));
    assert!(error.to_string().ends_with("has the custom algorithm \"mine\", which the run was not given"));
    assert_eq!(run(&custom, &mut carry_on).unwrap_err(), error);
}

/// Counts the intervals that end, and is never at rest.
struct Counted(Arc<AtomicU64>);

impl Promises for Counted {}

impl SwitchAlgorithm for Counted {
    fn metering(&self) -> Option<Metering> {
        let interval = AveragingInterval::of_time(Duration::from_us(1));
        Some(Metering { interval, bidirectional: false, history: false })
    }

    fn on_backward_rm(&mut self, _: Time, _: Slot, _: Cells, _: &Meter, feedback: &mut Feedback) {
        feedback.limit(CellRate::new(1000.0));
    }

    fn on_interval_end(&mut self, _: &IntervalLoad, _: &Meter) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A run is interrupted between its steps. Ports that nothing comes to for long would end all their intervals in one.
#[test]
fn no_step_of_a_run_ends_more_than_some_intervals() {
    let windows = "windows = [{ start = \"0 s\", end = \"5 ms\" }, { start = \"390 ms\", end = \"400 ms\" }]";
    let nodes = r#"host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "sw1" }, { name = "sw2" }]
defaults = { link = { rate = "100 Mbps", length = "10 km" }, switch.algorithm = { type = "custom", name = "counted" } }"#;
    // Ports with a queue that an outage holds, ports before hosts, and ports before switches far away.
    for line in ["changes = [{ at = \"4 ms\", rate = \"0 Mbps\" }]", "", "length = \"2000 km\""] {
        let text = format!(
            "name = \"silent\"\nduration = \"400 ms\"\n{nodes}\n\
             [[link]]\nbetween = [\"a\", \"sw1\"]\n[[link]]\nbetween = [\"sw1\", \"sw2\"]\n{line}\n\
             [[link]]\nbetween = [\"sw2\", \"b\"]\n\
             [[vc]]\nname = \"v\"\npath = [\"a\", \"sw1\", \"sw2\", \"b\"]\ntraffic = {{ type = \"greedy\", {windows} }}\n"
        );
        let scenario = Document::parse(&text, "silent").and_then(|document| document.resolve()).unwrap();
        let (ended, mut before, mut most) = (Arc::new(AtomicU64::new(0)), 0, 0);
        let make = |_: &CustomAlgorithm, _: AlgorithmPort<'_>| -> Option<Box<dyn SwitchAlgorithm + Send>> {
            Some(Box::new(Counted(ended.clone())))
        };
        let mut progress = |_: cellrate_sim::Progress| {
            let now = ended.load(Ordering::Relaxed);
            most = most.max(now - before);
            before = now;
            ControlFlow::Continue(())
        };
        Simulation::of(&scenario).with_algorithms(&make).run(&mut progress).unwrap();
        let all = ended.load(Ordering::Relaxed);
        // Four ports of switches, and windows of at most 10 ms.
        assert!(all >= 350_000 && most <= 4 * 20_000, "{line}: {most} of {all} at once");
    }
}
