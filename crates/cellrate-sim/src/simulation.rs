//! A run from beginning to end: build, run, account.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use cellrate_drive::given::{Algorithms, Given, Policies, TrafficSources};
use cellrate_proto::{Duration, Time};
use cellrate_scenario::Scenario;

use crate::assembly::{Assembly, Place, assemble, port_number};
use crate::bursts;
use crate::endpoint::RmCount;
use crate::exchange_rows;
use crate::frame_rows;
use crate::kernel::cell::{Cell, MAX_HOPS};
use crate::kernel::cluster::Cluster;
use crate::names::{category_name, describe, flow_name, port_name};
use crate::port::{ABR, Fifo, Port, Queues};
use crate::probe::recorder::Recorder;
use crate::results::{
    FlowSummary, NegotiatedSummary, PortSummary, Progress, RefusedSummary, RunError, RunResult, RunSummary,
    Series, Summary,
};
use crate::tap::{Collector, Tap, TapSink};
use crate::tcp_rows;
use crate::virtual_source_rows::{self, Balance};
use crate::watching::{Look, Watcher};

/// Runs `scenario` and returns what it found. `progress` is called now and then, and may stop the run.
///
/// The same scenario and seed give the same result, bit for bit.
///
/// # Errors
///
/// [`RunError::Interrupted`] when `progress` said so, [`RunError::TooLong`] when the scheduler cannot hold the duration,
/// [`RunError::TooLarge`] when cells cannot number the hops.
/// [`RunError::NotConserved`] would be a defect of the simulator.
pub fn run(
    scenario: &Scenario,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    Simulation::of(scenario).run(progress)
}

/// The same on up to `threads` threads, with the same result: clusters of nodes with links of 100 us or more between them
/// run side by side, so a network without such links runs on one. `progress` is called on the calling thread.
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
    given: Given<'a>,
}

impl<'a> Simulation<'a> {
    /// Of `scenario`.
    pub fn of(scenario: &'a Scenario) -> Simulation<'a> {
        Simulation { scenario, threads: NonZeroUsize::MIN, given: Given::default() }
    }

    /// On up to `threads` threads, as [`run_on`] says; a run that is tapped or watched has one in any case.
    pub fn on_threads(self, threads: NonZeroUsize) -> Simulation<'a> {
        Simulation { threads, ..self }
    }

    /// With `algorithms` for the ports whose algorithm is not built in.
    pub fn with_algorithms(self, algorithms: &'a Algorithms<'a>) -> Simulation<'a> {
        Simulation { given: Given { algorithms, ..self.given }, ..self }
    }

    /// With `policies` for the sources whose use-it-or-lose-it policy is not built in.
    pub fn with_policies(self, policies: &'a Policies<'a>) -> Simulation<'a> {
        Simulation { given: Given { policies, ..self.given }, ..self }
    }

    /// With `traffic` for the ends of connections that send what is not built in.
    pub fn with_traffic(self, traffic: &'a TrafficSources<'a>) -> Simulation<'a> {
        Simulation { given: Given { traffic, ..self.given }, ..self }
    }

    /// With all of this for what is not built in.
    pub fn with(self, given: Given<'a>) -> Simulation<'a> {
        Simulation { given, ..self }
    }

    /// Runs it, as [`run`].
    ///
    /// # Errors
    /// As [`run`], and [`RunError::NotGiven`] when something custom of the scenario is not to be had.
    pub fn run(&self, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<RunResult, RunError> {
        self.run_beside(progress, Beside::Nobody)
    }

    /// As [`run`](Simulation::run), with every cell that leaves a port of `tap` handed to `sink` in the order of instants. The
    /// figures are the same, but for the number of events.
    ///
    /// # Errors
    /// As [`run`](Simulation::run); [`RunError::Interrupted`] also when `sink` said so.
    pub fn run_tapped<'b>(
        &self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        tap: &Tap,
        sink: &'b mut TapSink<'b>,
    ) -> Result<RunResult, RunError> {
        self.run_beside(progress, Beside::Tap(tap, sink))
    }

    /// As [`run`](Simulation::run), with what series have recorded handed to `look` each time that `every` of network time, or
    /// a little more, has passed. The result is the same.
    ///
    /// # Errors
    /// As [`run`](Simulation::run); [`RunError::Interrupted`] also when `look` said so.
    pub fn run_watched(
        &self,
        every: Duration,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        look: &mut dyn FnMut(Look) -> ControlFlow<()>,
    ) -> Result<RunResult, RunError> {
        self.run_beside(progress, Beside::Watcher(Watcher::new(every, look)))
    }

    fn run_beside(
        &self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        beside: Beside<'_>,
    ) -> Result<RunResult, RunError> {
        let &Simulation { scenario, threads, given } = self;
        let hops = scenario.connections.iter().map(|connection| 2 * connection.path.len()).sum();
        if hops > MAX_HOPS {
            return Err(RunError::TooLarge { hops, allowed: MAX_HOPS });
        }
        let end = Time::ZERO + scenario.duration;
        let tapped: Vec<usize> = match &beside {
            Beside::Tap(tap, _) => tap.ports.iter().map(|&port| port_number(port)).collect(),
            Beside::Nobody | Beside::Watcher(_) => Vec::new(),
        };
        let mut assembly = assemble(scenario, &tapped, given)?;
        match beside {
            Beside::Nobody => assembly.kernel.run(end, threads, progress)?,
            Beside::Watcher(mut watcher) => {
                assembly
                    .kernel
                    .run_watched(end, progress, &mut |now, clusters| watcher.pass(now, clusters))?;
            }
            Beside::Tap(tap, sink) => {
                let mut collector = Collector::new(scenario, &mut assembly, tap, sink);
                assembly.kernel.run_watched(end, progress, &mut |_, clusters| collector.collect(clusters))?;
            }
        }
        account(scenario, assembly, end)
    }
}

/// Who else has part in a run.
enum Beside<'a> {
    Nobody,
    Tap(&'a Tap, &'a mut TapSink<'a>),
    Watcher(Watcher<'a>),
}

/// What a network that has run to its end has to tell.
fn account(scenario: &Scenario, mut assembly: Assembly, end: Time) -> Result<RunResult, RunError> {
    let mut in_flight = count_in_flight(&assembly, 2 * scenario.connections.len());
    // Rows take the room of what has been counted, and then of the ports.
    assembly.kernel.clusters.iter_mut().for_each(Cluster::forget_cells);
    let ports = port_summaries(scenario, &mut assembly, end);
    assembly.kernel.clusters.iter_mut().for_each(Cluster::forget_ports);
    let mut vcs = flow_summaries(scenario, &assembly, &in_flight, end);
    let balances = virtual_source_rows::balances(scenario, &assembly)?;
    let clusters = assembly.kernel.clusters.iter();
    let originated = sum_up(clusters.map(|cluster| &cluster.originated), in_flight.len());
    for (((row, in_flight), balance), originated) in
        vcs.iter_mut().zip(&mut in_flight).zip(balances).zip(originated)
    {
        let Balance { sent, received, waiting } = balance;
        let counts = [row.sent + sent + originated, row.delivered + received, row.dropped, *in_flight];
        if counts[0] != counts[1] + counts[2] + counts[3] {
            return Err(RunError::NotConserved { vc: row.vc.clone(), counts });
        }
        *in_flight += waiting;
        row.in_flight = *in_flight;
    }
    let run = RunSummary {
        scenario: scenario.name.clone(),
        seed: scenario.seed,
        duration_s: scenario.duration.as_secs_f64(),
        cell_hops: ports.iter().map(|port| port.transmitted).sum(),
        events: assembly.kernel.clusters.iter().map(|cluster| cluster.events).sum(),
    };
    let vcs = vcs.into_iter().filter(|row| row.sent > 0).collect();
    let (bursts, burst_list) = bursts::collect(scenario, &assembly);
    let tcp = tcp_rows::collect(scenario, &assembly, end);
    let (frames, frame_list) = frame_rows::collect(scenario, &assembly, &in_flight, end);
    let exchange_rows::Rows { exchanges, pages, list: exchange_list } =
        exchange_rows::collect(scenario, &assembly);
    let virtual_sources = virtual_source_rows::collect(scenario, &assembly, end);
    let series = collect_series(scenario, assembly);
    let (refused, negotiated) = set_up_summaries(scenario);
    Ok(RunResult {
        summary: Summary {
            run,
            vcs,
            ports,
            tcp,
            exchanges,
            pages,
            exchange_list,
            bursts,
            burst_list,
            frames,
            frame_list,
            virtual_sources,
            refused,
            negotiated,
        },
        series,
    })
}

/// What set-up refused and changed before anything ran.
fn set_up_summaries(scenario: &Scenario) -> (Vec<RefusedSummary>, Vec<NegotiatedSummary>) {
    let refused = scenario.refused.iter().map(|refused| RefusedSummary {
        vc: refused.vc.clone(),
        category: category_name(refused.category),
        reason: refused.reason.clone(),
    });
    let negotiated = scenario.negotiated.iter().map(|change| NegotiatedSummary {
        vc: if change.backward { format!("{} (back)", change.vc) } else { change.vc.clone() },
        node: change.node.clone(),
        parameter: change.parameter,
        from: change.from.clone(),
        to: change.to.clone(),
        why: change.why.clone(),
    });
    (refused.collect(), negotiated.collect())
}

/// Cells of each direction on links, in ports and between clusters.
fn count_in_flight(assembly: &Assembly, flows: usize) -> Vec<u64> {
    let mut counts = vec![0; flows];
    for cluster in &assembly.kernel.clusters {
        for lane in &cluster.lanes {
            lane.ring.count(|hop, cells| counts[cluster.hops[hop].flow as usize] += cells);
        }
        let mut count = |cell: &Cell| counts[cluster.hops[cell.hop()].flow as usize] += 1;
        for port in &cluster.ports {
            match &port.queues {
                Queues::Fifo(_) => {}
                Queues::Ranked(ranked) => ranked.cells().for_each(&mut count),
                Queues::Served(served) => served.cells().for_each(&mut count),
            }
        }
        for train in cluster.feeds.iter().flat_map(|feed| feed.trains()) {
            counts[cluster.hops[train.last.hop()].flow as usize] += u64::from(train.count);
        }
    }
    counts
}

/// Cells of each direction that some clusters have counted.
fn sum_up<'a>(counted: impl Iterator<Item = &'a BTreeMap<u32, u64>>, flows: usize) -> Vec<u64> {
    let mut counts = vec![0; flows];
    for (&flow, &cells) in counted.flatten() {
        counts[flow as usize] += cells;
    }
    counts
}

fn flow_summaries(
    scenario: &Scenario,
    assembly: &Assembly,
    in_flight: &[u64],
    end: Time,
) -> Vec<FlowSummary> {
    let clusters = &assembly.kernel.clusters;
    let endpoint = |flow: usize| {
        let Place { cluster, index } = assembly.endpoints[flow];
        &clusters[cluster as usize].endpoints[index as usize]
    };
    let dropped = sum_up(clusters.iter().map(|cluster| &cluster.dropped), in_flight.len());
    let mut rows = Vec::with_capacity(in_flight.len());
    for (flow, (&in_flight, dropped)) in in_flight.iter().zip(dropped).enumerate() {
        let connection = &scenario.connections[flow / 2];
        let (sender, receiver) = (endpoint(flow), endpoint(flow ^ 1));
        let bits = receiver.data_delivered() as f64 * cellrate_proto::units::BITS_PER_CELL as f64;
        let statistics = sender.source().map(|source| source.statistics());
        rows.push(FlowSummary {
            vc: flow_name(scenario, flow),
            category: category_name(connection.category),
            sent: sender.counters.sent(),
            data_sent: sender.counters.data_sent,
            delivered: receiver.delivered(),
            data_delivered: receiver.data_delivered(),
            dropped,
            in_flight,
            forward_rm_sent: sender.counters.rm(RmCount::ForwardSent),
            backward_rm_received: sender.counters.rm(RmCount::BackwardReceived),
            throughput_bps: bits / scenario.duration.as_secs_f64(),
            mean_acr: sender.mean_acr(end).map(|rate| rate.as_cells_per_s()),
            final_acr: sender.source().map(|source| source.acr().as_cells_per_s()),
            idle_resets: statistics.map(|s| s.idle_resets),
            cutoff_decreases: statistics.map(|s| s.cutoff_decreases),
            uili_decreases: statistics.map(|s| s.uili_decreases),
            mean_delay_s: receiver.delays().and_then(|delays| delays.mean_s()),
            p50_delay_s: receiver.delays().and_then(|delays| delays.quantile_s(0.5)),
            p99_delay_s: receiver.delays().and_then(|delays| delays.quantile_s(0.99)),
            max_delay_s: receiver.delays().and_then(|delays| delays.max_s()),
        });
    }
    rows
}

fn port_summaries(scenario: &Scenario, assembly: &mut Assembly, end: Time) -> Vec<PortSummary> {
    let mut rows = Vec::with_capacity(assembly.ports.iter().flatten().count());
    for (number, place) in assembly.ports.iter().enumerate() {
        let Some(Place { cluster, index }) = *place else { continue };
        let port = &mut assembly.kernel.clusters[cluster as usize].ports[index as usize];
        let row = port_summary(port_name(scenario, number), port, end);
        if row.transmitted > 0 || row.dropped > 0 {
            rows.push(row);
        }
    }
    rows
}

fn port_summary(name: String, port: &Port, end: Time) -> PortSummary {
    let of_fifo = |fifo: &Fifo, max_abr| {
        // A departure at the very end does not happen any more.
        let last = Time::from_ps(end.as_ps().saturating_sub(1));
        (fifo.transmitted(last), fifo.max_queue().0, max_abr, fifo.queue_integral(end))
    };
    let (transmitted, max_queue, max_abr_queue, integral) = match &port.queues {
        Queues::Fifo(fifo) => {
            of_fifo(fifo, if usize::from(port.only_priority) == ABR { fifo.max_queue().0 } else { 0 })
        }
        Queues::Ranked(ranked) => of_fifo(ranked.all(), ranked.max_abr_queue().0),
        Queues::Served(served) => {
            let max_abr = served.max_queue(ABR).0;
            (served.transmitted(), served.max_total().0, max_abr, served.queue_integral(end))
        }
    };
    let duration = end.as_ps() as f64;
    PortSummary {
        port: name,
        transmitted,
        utilization: port.busy_ps(end) as f64 / duration,
        max_queue,
        mean_queue: integral as f64 / duration,
        max_abr_queue,
        dropped: port.dropped(),
        backward_rm_originated: port.control.originated(),
    }
}

fn collect_series(scenario: &Scenario, assembly: Assembly) -> Vec<Series> {
    let mut recorders: Vec<Option<(Vec<u64>, Vec<f64>)>> = vec![None; scenario.probes.len()];
    for cluster in assembly.kernel.clusters {
        for track in cluster.sampler.into_tracks() {
            let (times, values) = Recorder::into_columns(track.recorder);
            match &mut recorders[track.probe] {
                // Losses of a connection, counted in several clusters at the same instants.
                Some((_, sums)) => sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value),
                empty => *empty = Some((times, values)),
            }
        }
    }
    let probes = scenario.probes.iter().zip(recorders);
    let series = probes.map(|(probe, columns)| {
        let (times_ps, values) = columns.unwrap_or_default();
        let (name, entity, unit) = describe(scenario, probe.quantity);
        Series { probe: name, entity, unit, times_ps, values }
    });
    series.collect()
}
