//! The account of a run: what a network that has run to its end has to tell, and whether every cell is in it.

use std::collections::BTreeMap;

use cellrate_engine::rows::{clocks, negotiated, refused};
use cellrate_proto::Time;
use cellrate_proto::switch::FrameDiscard;
use cellrate_scenario::{FlowIndex, NodeKind, PortIndex, Scenario};

use super::exchanges::Rows;
use super::virtual_sources::{self, Balance};
use super::{FlowSummary, HostBottleneck, PortSummary, RunResult, RunSummary, Series, Summary};
use crate::assembly::{Assembly, Place};
use crate::endpoint::RmCount;
use crate::error::RunError;
use crate::kernel::cell::Cell;
use crate::kernel::state::cluster::Cluster;
use crate::names::{category_name, describe, flow_name, port_name};
use crate::port::{ABR, Fifo, Port, Queues};
use crate::probe::recorder::Recorder;

/// Rows and series of a network that has run to its end.
pub(crate) fn account(scenario: &Scenario, mut assembly: Assembly, end: Time) -> Result<RunResult, RunError> {
    let mut in_flight = count_in_flight(&assembly, scenario.flows().len());
    // Rows take the room of what has been counted, and then of the ports.
    assembly.kernel.clusters.iter_mut().for_each(Cluster::forget_cells);
    let ports = port_summaries(scenario, &mut assembly, end);
    let host_bottlenecks = host_bottlenecks(scenario, &assembly, end);
    let phase_effects = super::phase_effects::collect(scenario, &assembly);
    let unsettled = super::unsettled::collect(scenario, &assembly, end);
    assembly.kernel.clusters.iter_mut().for_each(Cluster::forget_ports);
    let mut vcs = flow_summaries(scenario, &assembly, &in_flight, end);
    let balances = virtual_sources::balances(scenario, &assembly)?;
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
    let (bursts, burst_list) = super::bursts::collect(scenario, &assembly);
    let tcp = super::tcp::collect(scenario, &assembly, end);
    let (frames, frame_list) = super::frames::collect(scenario, &assembly, &in_flight, end);
    let Rows { exchanges, pages, list: exchange_list } = super::exchanges::collect(scenario, &assembly);
    let virtual_sources = super::virtual_sources::collect(scenario, &assembly, end);
    let series = collect_series(scenario, assembly);
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
            host_bottlenecks,
            refused: refused(scenario),
            negotiated: negotiated(scenario),
            clocks: clocks(scenario),
            phase_effects,
            unsettled,
        },
        series,
    })
}

/// Cells of each direction on links, in ports and between clusters.
fn count_in_flight(assembly: &Assembly, flows: usize) -> Vec<u64> {
    let mut counts = vec![0; flows];
    for cluster in &assembly.kernel.clusters {
        for lane in &cluster.lanes {
            lane.ring.count(|hop, cells| counts[cluster.hops[hop].flow.index()] += cells);
        }
        let mut count = |cell: &Cell| counts[cluster.hops[cell.hop()].flow.index()] += 1;
        for port in &cluster.ports {
            match &port.queues {
                Queues::Fifo(_) => {}
                Queues::Ranked(ranked) => ranked.cells().for_each(&mut count),
                Queues::Served(served) => served.cells().for_each(&mut count),
            }
        }
        for train in cluster.feeds.iter().flat_map(|feed| feed.trains()) {
            counts[cluster.hops[train.last.hop()].flow.index()] += u64::from(train.count);
        }
    }
    counts
}

/// Cells of each direction that some clusters have counted.
fn sum_up<'a>(counted: impl Iterator<Item = &'a BTreeMap<FlowIndex, u64>>, flows: usize) -> Vec<u64> {
    let mut counts = vec![0; flows];
    for (&flow, &cells) in counted.flatten() {
        counts[flow.index()] += cells;
    }
    counts
}

fn flow_summaries(
    scenario: &Scenario,
    assembly: &Assembly,
    in_flight: &[u64],
    end: Time,
) -> Vec<FlowSummary> {
    let clusters = assembly.kernel.clusters.iter();
    let dropped = sum_up(clusters.map(|cluster| &cluster.dropped), in_flight.len());
    let mut rows = Vec::with_capacity(in_flight.len());
    for ((flow, &in_flight), dropped) in scenario.flows().zip(in_flight).zip(dropped) {
        let (sender, receiver) = (assembly.sender(flow), assembly.receiver(flow));
        let bits = receiver.data_delivered() as f64 * cellrate_proto::units::BITS_PER_CELL as f64;
        let statistics = sender.source().map(|source| source.statistics());
        rows.push(FlowSummary {
            vc: flow_name(scenario, flow),
            category: category_name(scenario.connection(flow.connection()).category),
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
    for (index, place) in scenario.ports().zip(&assembly.ports) {
        let Some(place) = *place else { continue };
        let port = &mut assembly.kernel.clusters[place.cluster as usize].ports[place.index as usize];
        let row = port_summary(port_name(scenario, index), port, end);
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
    let frame_discard = match &port.queues {
        Queues::Served(served) => served.frame_discard(),
        Queues::Fifo(_) | Queues::Ranked(_) => None,
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
        pdus_refused: frame_discard.map_or(0, FrameDiscard::refused),
        pdus_cut: frame_discard.map_or(0, FrameDiscard::cut),
    }
}

/// More cells than this that wait at a host in the end are no burst.
const BURST: u64 = 1000;

fn host_bottlenecks(scenario: &Scenario, assembly: &Assembly, end: Time) -> Vec<HostBottleneck> {
    let at_host = |port: PortIndex| scenario.node(scenario.tail(port.step())).kind == NodeKind::Host;
    let waiting = |(port, place): (PortIndex, &Option<Place>)| {
        let &Place { cluster, index } = place.as_ref().filter(|_| at_host(port))?;
        let waiting = assembly.kernel.clusters[cluster as usize].ports[index as usize].total_queue(end).0;
        (waiting > BURST).then(|| HostBottleneck { port: port_name(scenario, port), waiting })
    };
    scenario.ports().zip(&assembly.ports).filter_map(waiting).collect()
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
