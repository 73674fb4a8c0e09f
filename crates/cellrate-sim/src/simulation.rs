//! A run from beginning to end: build, run, account.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use cellrate_engine::plugins::{Algorithms, Plugins, Policies, TrafficSources};
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{PortIndex, Scenario};

use crate::assembly::{Assembly, assemble};
use crate::backlog;
use crate::cell::{LONGEST_IN_BAND, MAX_HOPS};
use crate::error::RunError;
use crate::kernel::Kernel;
use crate::kernel::state::cluster::Cluster;
use crate::kernel::windows::partition::Partition;
use crate::mechanisms::{Mechanism, Mechanisms};
use crate::progress::Progress;
use crate::results::{Meter, RunResult, account};
use crate::tap::{Collector, Tap, TapSink};
use crate::watching::{Look, Watcher};
use cellrate_engine::names::describe;

/// Runs `scenario` and returns what it found. `progress` is called now and then, and may stop the run.
///
/// The same scenario and seed give the same result, bit for bit.
///
/// # Errors
///
/// [`RunError::Interrupted`] when `progress` said so, [`RunError::TooLong`] when the schedule cannot hold the
/// duration, [`RunError::TooLarge`] when cells cannot number the hops, [`RunError::BacklogTooLong`] when a queue could
/// last longer than instants can tell. [`RunError::NotConserved`] would be a defect of the simulator.
pub fn run(
    scenario: &Scenario,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    Simulation::of(scenario).run(progress)
}

/// Runs `scenario` on up to `threads` threads, with the same result. Clusters of nodes with links of 250 us or more
/// between them, or somewhat less where few connections cross them, run side by side, so a network without such links
/// runs on one ([`clusters_of`] says how many there are). `progress` is called on the calling thread.
///
/// # Errors
///
/// As for [`run`].
pub fn run_on(
    scenario: &Scenario,
    threads: NonZeroUsize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    Simulation::of(scenario).on_threads(threads).run(progress)
}

/// The number of clusters of `scenario`: as many threads can share a run, and no more.
pub fn clusters_of(scenario: &Scenario) -> usize {
    Partition::of(scenario, Mechanisms::default()).clusters
}

/// Name, entity and unit of each series that a run of `scenario` records, in the order of
/// [`RunResult::series`](crate::RunResult::series).
pub fn series_of(scenario: &Scenario) -> Vec<(String, String, &'static str)> {
    scenario.probes.iter().map(|probe| describe(scenario, probe.quantity)).collect()
}

/// A run to be: of a scenario, on one thread, with nothing that is not built in, unless it is told otherwise.
///
/// ```
/// use std::ops::ControlFlow;
/// use cellrate_scenario::Document;
/// use cellrate_sim::Simulation;
/// # let text = include_str!("../../../scenarios/two-source-transient.toml");
/// let scenario = Document::parse(text, "two-source-transient")?.resolve()?;
/// let result = Simulation::of(&scenario).run(&mut |_| ControlFlow::Continue(()))?;
/// assert_eq!(result.summary.vcs[0].dropped, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    threads: NonZeroUsize,
    plugins: Plugins<'a>,
    mechanisms: Mechanisms,
}

impl<'a> Simulation<'a> {
    /// A simulation of `scenario`.
    pub fn of(scenario: &'a Scenario) -> Simulation<'a> {
        Simulation {
            scenario,
            threads: NonZeroUsize::MIN,
            plugins: Plugins::default(),
            mechanisms: Mechanisms::default(),
        }
    }

    /// On up to `threads` threads, as [`run_on`] says; a run that is tapped or watched has one in any case.
    pub fn on_threads(self, threads: NonZeroUsize) -> Simulation<'a> {
        Simulation { threads, ..self }
    }

    /// With `algorithms` for the ports whose algorithm is not built in.
    pub fn with_algorithms(self, algorithms: &'a Algorithms<'a>) -> Simulation<'a> {
        Simulation { plugins: Plugins { algorithms, ..self.plugins }, ..self }
    }

    /// With `policies` for the sources whose use-it-or-lose-it policy is not built in.
    pub fn with_policies(self, policies: &'a Policies<'a>) -> Simulation<'a> {
        Simulation { plugins: Plugins { policies, ..self.plugins }, ..self }
    }

    /// With `traffic` for the ends of connections that send what is not built in.
    pub fn with_traffic(self, traffic: &'a TrafficSources<'a>) -> Simulation<'a> {
        Simulation { plugins: Plugins { traffic, ..self.plugins }, ..self }
    }

    /// With all of this for what is not built in.
    pub fn with(self, plugins: Plugins<'a>) -> Simulation<'a> {
        Simulation { plugins, ..self }
    }

    /// Without this mechanism of the kernel: the result is the same, but for the number of events. For tests.
    pub fn without(self, mechanism: Mechanism) -> Simulation<'a> {
        Simulation { mechanisms: self.mechanisms.without(mechanism), ..self }
    }

    /// Runs it, as [`run`].
    ///
    /// # Errors
    /// As [`run`], and [`RunError::MissingPlugin`] when something custom of the scenario is not to be had.
    pub fn run(&self, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<RunResult, RunError> {
        self.run_observed(progress, Observer::Nobody)
    }

    /// As [`run`](Simulation::run), with every cell that leaves a port of `tap` handed to `sink` in the order of
    /// instants. The figures are the same, but for the number of events.
    ///
    /// # Errors
    /// As [`run`](Simulation::run); [`RunError::Interrupted`] also when `sink` said so.
    pub fn run_tapped<'b>(
        &self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        tap: &Tap,
        sink: &'b mut TapSink<'b>,
    ) -> Result<RunResult, RunError> {
        self.run_observed(progress, Observer::Tap(tap, sink))
    }

    /// As [`run`](Simulation::run), with what series have recorded handed to `look` each time that `every` of network
    /// time, or a little more, has passed. The result is the same.
    ///
    /// # Errors
    /// As [`run`](Simulation::run); [`RunError::Interrupted`] also when `look` said so.
    pub fn run_watched(
        &self,
        every: Duration,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        look: &mut dyn FnMut(Look) -> ControlFlow<()>,
    ) -> Result<RunResult, RunError> {
        self.run_observed(progress, Observer::Watcher(Watcher::new(every, look)))
    }

    fn run_observed(
        &self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        observer: Observer<'_>,
    ) -> Result<RunResult, RunError> {
        let &Simulation { scenario, threads, plugins, mechanisms } = self;
        check_size(scenario)?;
        let end = Time::ZERO + scenario.duration;
        let tapped: Vec<PortIndex> = match &observer {
            Observer::Tap(tap, _) => tap.ports.iter().map(|step| step.port()).collect(),
            Observer::Nobody | Observer::Watcher(_) => Vec::new(),
        };
        let mut assembly = assemble(scenario, &tapped, plugins, mechanisms)?;
        let mut meter = Meter::default();
        match observer {
            Observer::Nobody => run_and_read(scenario, &mut assembly, &mut meter, &mut |kernel, until| {
                kernel.run(until, threads, progress)
            })?,
            Observer::Watcher(mut watcher) => {
                let watch = &mut |now: Time, clusters: &mut [Cluster]| watcher.pass(now, clusters);
                run_and_read(scenario, &mut assembly, &mut meter, &mut |kernel, until| {
                    kernel.run_watched(until, progress, watch)
                })?;
            }
            Observer::Tap(tap, sink) => {
                let mut collector = Collector::new(scenario, &mut assembly, tap, sink);
                let watch = &mut |_: Time, clusters: &mut [Cluster]| collector.collect(clusters);
                run_and_read(scenario, &mut assembly, &mut meter, &mut |kernel, until| {
                    kernel.run_watched(until, progress, watch)
                })?;
            }
        }
        account(scenario, assembly, &meter, end)
    }
}

/// Whether cells can number the hops and tell their instants, and instants tell how long queues last.
pub(crate) fn check_size(scenario: &Scenario) -> Result<(), RunError> {
    let hops = scenario.connections.iter().map(|connection| 2 * connection.path.len()).sum();
    if hops > MAX_HOPS {
        return Err(RunError::TooLarge { hops, allowed: MAX_HOPS });
    }
    let in_band = || scenario.flows().any(|flow| scenario.flow(flow).sender.is_in_band());
    if scenario.duration > LONGEST_IN_BAND && in_band() {
        return Err(RunError::TooLongInBand { given: scenario.duration, allowed: LONGEST_IN_BAND });
    }
    backlog::check(scenario)
}

/// Has the kernel `run` to the end, by way of all instants for which counts have to be exact: there `meter` reads them.
fn run_and_read(
    scenario: &Scenario,
    assembly: &mut Assembly,
    meter: &mut Meter,
    run: &mut dyn FnMut(&mut Kernel, Time) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let end = Time::ZERO + scenario.duration;
    let instants = scenario.measuring.instants(end);
    for (place, &at) in instants.iter().enumerate() {
        run(&mut assembly.kernel, at)?;
        meter.read(scenario, assembly, at)?;
        assembly.kernel.resume(instants.get(place + 1).copied().unwrap_or(end));
    }
    run(&mut assembly.kernel, end)
}

/// Who else has part in a run.
enum Observer<'a> {
    Nobody,
    Tap(&'a Tap, &'a mut TapSink<'a>),
    Watcher(Watcher<'a>),
}
