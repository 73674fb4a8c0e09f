//! The account of a run: what a network that has run to its end has to tell, and whether every cell is in it.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use cellrate_engine::beyond_lines::{overbooked, starts, unkept};
use cellrate_engine::channels::{self, ChannelSummary};
use cellrate_engine::loopback::LoopbackSummary;
use cellrate_engine::rows::{beyond_signalling, clocks, negotiated, refused};
use cellrate_engine::shares::{self, Got, ShareSummary};
use cellrate_proto::Time;
use cellrate_scenario::{NodeKind, PortIndex, Scenario, Span, fair};

use super::conserved::Elsewhere;
use super::exchanges::Rows;
use super::measured::{self, Meter};
use super::{FlowSummary, HostBottleneck, RunResult, RunSummary, Series, Summary, TcpSummary};
use crate::assembly::{Assembly, Place};
use crate::error::RunError;
use crate::kernel::state::cluster::Cluster;
use cellrate_engine::names::{describe, flow_name, port_name};
use cellrate_engine::recorder::Recorder;

/// Rows and series of a network that has run to its end, with what `meter` has read before.
pub(crate) fn account(
    scenario: &Scenario,
    mut assembly: Assembly,
    meter: &Meter,
    end: Time,
) -> Result<RunResult, RunError> {
    let elsewhere = Elsewhere::count(scenario, &assembly)?;
    // Rows take the room of what has been counted, and then of the ports.
    assembly.kernel.clusters.iter_mut().for_each(Cluster::forget_cells);
    let host_bottlenecks = host_bottlenecks(scenario, &assembly, end);
    let phase_effects = super::phase_effects::collect(scenario, &assembly);
    let fair = LazyCell::new(|| {
        let asked = fair::Asked { utilization: None, criterion: fair::Criterion::of(scenario) };
        fair::max_min(scenario, asked).unwrap_or_default()
    });
    let unsettled = super::unsettled::collect(scenario, &assembly, &fair, end);
    let (ports, port_windows) = meter.port_rows(scenario, &assembly, end);
    let starts = starts(scenario, ports.iter(), |port| {
        let place = assembly.ports[port.index()].as_ref()?;
        assembly.kernel.clusters[place.cluster as usize].ports[place.index as usize].control.interval()
    });
    let cell_hops = measured::cell_hops(scenario, &assembly, end);
    assembly.kernel.clusters.iter_mut().for_each(Cluster::forget_ports);
    let virtual_sources = super::virtual_sources::collect(scenario, &assembly, &meter.virtual_sources, end);
    let (vcs, vc_windows) = meter.flow_rows(scenario, &mut assembly, &elsewhere, end);
    let start = scenario.measuring.start();
    let (bursts, burst_list) = super::bursts::collect(scenario, &assembly);
    let tcp = super::tcp::collect(scenario, &assembly, end);
    let tcp = super::tcp::since(tcp, &meter.warm_up.tcp, start, end);
    let (frames, frame_list) = super::frames::collect(scenario, &assembly, &elsewhere.in_flight, end, start);
    let (transport_streams, reference_list) =
        super::transport_streams::collect(scenario, &assembly, start, end);
    let frames = super::frames::since(frames, &meter.warm_up.frames);
    let Rows { exchanges, pages, list: exchange_list } = super::exchanges::collect(scenario, &assembly);
    let (shares, fairness, efficiency) =
        shares::rows(scenario, &got(scenario, &vcs, &tcp, end), Span { start, end });
    let channels = channels(scenario, &assembly, &shares, end);
    Ok(RunResult {
        summary: Summary {
            run: run_row(scenario, &assembly, cell_hops),
            vcs,
            ports,
            vc_windows,
            port_windows,
            policing_windows: meter.policing_windows(scenario, &assembly, end),
            shares,
            fairness,
            efficiency,
            tcp,
            exchanges,
            pages,
            exchange_list,
            bursts,
            burst_list,
            frames,
            frame_list,
            transport_streams,
            reference_list,
            flows: super::flows::collect(scenario, &assembly, end),
            completions: super::flows::completions(scenario, &assembly),
            virtual_sources,
            policing: super::policing::collect(scenario, &assembly, &meter.policing),
            branch_points: super::branch_points::collect(scenario, &assembly),
            loopbacks: loopbacks(scenario, &assembly),
            channels,
            host_bottlenecks,
            refused: refused(scenario),
            negotiated: negotiated(scenario),
            beyond_signalling: beyond_signalling(scenario),
            overbooked: overbooked(scenario),
            unkept: unkept(scenario),
            starts,
            clocks: clocks(scenario),
            phase_effects,
            unsettled,
        },
        series: collect_series(scenario, assembly),
    })
}

/// The row of the run itself.
fn run_row(scenario: &Scenario, assembly: &Assembly, cell_hops: u64) -> RunSummary {
    RunSummary {
        scenario: scenario.name.clone(),
        seed: scenario.seed,
        duration_s: scenario.duration.as_secs_f64(),
        measured_from_s: scenario.measuring.start().as_secs_f64(),
        cell_hops,
        events: assembly.kernel.clusters.iter().map(|cluster| cluster.events).sum(),
    }
}

/// One row per loopback, in the order of the directions.
fn loopbacks(scenario: &Scenario, assembly: &Assembly) -> Vec<LoopbackSummary> {
    let rows = |flow| assembly.sender(flow).end.loopback.iter().flat_map(move |own| own.rows(scenario, flow));
    scenario.flows().flat_map(rows).collect()
}

/// One row per channel of each virtual path, in the order of the directions.
fn channels(
    scenario: &Scenario,
    assembly: &Assembly,
    shares: &[ShareSummary],
    end: Time,
) -> Vec<ChannelSummary> {
    let rows = |flow| {
        let ends =
            [assembly.sender(flow), assembly.receiver(flow)].map(|endpoint| endpoint.end.supply.channels());
        match ends {
            [Some(sent), Some(received)] => channels::rows(scenario, flow, [sent, received], shares, end),
            _ => Vec::new(),
        }
    };
    scenario.flows().flat_map(rows).collect()
}

/// Throughput of each direction with data from the end of the warm-up on.
fn got(scenario: &Scenario, vcs: &[FlowSummary], tcp: &[TcpSummary], end: Time) -> Vec<Got> {
    let span_s = end.since(scenario.measuring.start()).as_secs_f64();
    let mut octets: BTreeMap<&str, u64> = BTreeMap::new();
    tcp.iter().for_each(|row| *octets.entry(&row.vc).or_default() += row.delivered_octets);
    let mut rows = vcs.iter().peekable();
    let mut got = Vec::new();
    for flow in scenario.flows() {
        let connection = scenario.connection(flow.connection());
        // Rows are in the order of directions; of those that sent nothing there is none.
        let name = flow_name(scenario, flow);
        let row = rows.next_if(|row| row.vc == name);
        if scenario.is_slot(flow.connection()) {
            continue;
        }
        if !connection.carries_data(flow.is_backward()) || connection.carries_only_acks(flow.is_backward()) {
            continue;
        }
        let throughput_bps = row.map_or(0.0, |row| row.throughput_bps);
        let goodput_bps = match octets.get(name.as_str()) {
            Some(&octets) => octets as f64 * 8.0 / span_s,
            None => throughput_bps * 48.0 / 53.0,
        };
        got.push(Got { flow, throughput_bps, goodput_bps });
    }
    got
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
    for (probe, recorder) in super::flows::series(&assembly) {
        recorders[probe] = Some(recorder.into_columns());
    }
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
