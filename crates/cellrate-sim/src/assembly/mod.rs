//! From a scenario to a network ready to run.
//!
//! Ports are built first, of the kind that what they carry and who looks at them ask for ([`ports`], [`carried`],
//! [`watched`]); then the [`hops`] of all directions, and their [`ends`]; then what saves events before cells leave
//! ([`folds`]); then the lanes on the links between ([`wiring`]), which hang on all of that; last the series
//! ([`tracks`]). Ends of requests and responses are [`announced`] to those who receive them.

mod announced;
mod branching;
mod carried;
mod ends;
mod folds;
mod hops;
mod onward;
mod openers;
mod place;
mod ports;
mod tracks;
mod watched;
mod wiring;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cellrate_engine::becn::{Origin, origins};
use cellrate_engine::branch_point::{self, Ways};
use cellrate_engine::loopback::segment_ends;
use cellrate_engine::plugins::Plugins;
use cellrate_engine::policing::{Checkpoint, Police, checkpoints};
use cellrate_engine::segments::{VirtualEnd, virtual_ends};
use cellrate_proto::Time;
use cellrate_proto::policing::usage::Rule;
use cellrate_proto::switch::SwitchAlgorithmConfig;
use cellrate_scenario::{BranchPoint, FlowIndex, NodeIndex, NodeKind, Port, PortIndex, Scenario, Shared};

use crate::endpoint::Endpoint;
use crate::error::RunError;
use crate::kernel::Kernel;
use crate::kernel::build::Parts;
use crate::kernel::state::branch_points::BranchPoints;
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::openers::Openers;
use crate::kernel::state::segment_ends::SegmentEnds;
use crate::kernel::windows::partition::Partition;
use crate::mechanisms::{Mechanism, Mechanisms};
use announced::Announced;
pub(crate) use carried::carries_cells;
use carried::{categories_by_port, most_cells};
use cellrate_engine::sampler::Sampler;
use ends::{build_endpoints, build_virtual_ends, conduits};
use folds::fold;
use hops::{Hops, build_hops, own};
use onward::defer_onward;
use openers::build_openers;
pub(crate) use place::Place;
use ports::{Ends, build_port};
use tracks::build_tracks;
use watched::{Watched, watched_receivers};
use wiring::Wiring;

/// A network at time zero, and where to find in it what the scenario names.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub kernel: Kernel,
    /// By port: where it is, if a connection uses it or a probe looks at it.
    pub ports: Vec<Option<Place>>,
    /// By direction of a connection: where the end is that sends it.
    pub endpoints: Vec<Place>,
    /// Ends inside switches, and where they are.
    pub virtual_ends: Vec<(VirtualEnd, Place)>,
    /// Policers, each with its cluster and the number of the hop at whose far end it stands.
    pub checkpoints: Vec<(Checkpoint, u32, u32)>,
    /// Branch points, each with its cluster and its place there.
    pub branch_points: Vec<(BranchPoint, Place)>,
}

impl Assembly {
    /// The end that sends `flow`.
    pub fn sender(&self, flow: FlowIndex) -> &Endpoint {
        self.endpoint(self.endpoints[flow.index()])
    }

    /// The end that receives it: the one that sends the other direction.
    pub fn receiver(&self, flow: FlowIndex) -> &Endpoint {
        self.sender(flow.other())
    }

    /// The end that receives `flow`, to take something from it.
    pub fn receiver_mut(&mut self, flow: FlowIndex) -> &mut Endpoint {
        let place = self.endpoints[flow.other().index()];
        &mut self.kernel.clusters[place.cluster as usize].endpoints[place.index as usize]
    }

    /// The end at `place`.
    pub fn endpoint(&self, place: Place) -> &Endpoint {
        &self.kernel.clusters[place.cluster as usize].endpoints[place.index as usize]
    }
}

/// Builds the network of `scenario`. `tapped` are ports whose departures have to be events; `given` makes what is not
/// built in.
pub(crate) fn assemble(
    scenario: &Scenario,
    tapped: &[PortIndex],
    plugins: Plugins<'_>,
    mechanisms: Mechanisms,
) -> Result<Assembly, RunError> {
    let end = Time::ZERO + scenario.duration;
    // What waits at a shared host is counted once, at the end of the run.
    let mechanisms = match first_pause(scenario) < end {
        true => mechanisms.without(Mechanism::SharedHosts),
        false => mechanisms,
    };
    let partition = Partition::of(scenario, mechanisms);
    let cluster_of = |node: NodeIndex| partition.cluster[node.0 as usize];
    let used = categories_by_port(scenario);
    let watched = Watched::of(scenario);
    let is_needed = |port: PortIndex| used[port.index()].contains(&true) || watched.port(port).probed;

    let mut counts = vec![0; partition.clusters];
    let mut next_place = |cluster: u32| {
        let index = counts[cluster as usize];
        counts[cluster as usize] += 1;
        Place { cluster, index }
    };
    let mut place_of = |port: PortIndex| next_place(cluster_of(scenario.tail(port.step())));
    let ports: Vec<Option<Place>> =
        scenario.ports().map(|port| is_needed(port).then(|| place_of(port))).collect();
    let mut parts: Vec<Parts> = counts.iter().map(|_| empty_parts(scenario, mechanisms)).collect();
    for (parts, &count) in parts.iter_mut().zip(&counts) {
        parts.ports.reserve_exact(count as usize);
    }

    let virtual_ends = virtual_ends(scenario);
    let sends_by = |end: &VirtualEnd| scenario.step(end.flow, end.step).port();
    let mut joined: BTreeSet<PortIndex> = virtual_ends.iter().map(sends_by).collect();
    let checkpoints = checkpoints(scenario);
    joined.extend(checkpoints.iter().map(|point| scenario.step(point.flow, point.hop + 1).port()));
    let branch_points = branch_point::ways(scenario);
    let joined_by = |ways: &Ways| {
        ways.on.iter().chain([&ways.up]).map(|hop| hop.step(scenario).port()).collect::<Vec<_>>()
    };
    joined.extend(branch_points.iter().flat_map(joined_by));
    // Loopback cells come when they are sent, and cells of channels are told apart one by one.
    let with_loopback = |flow: &FlowIndex| {
        let connection = scenario.connection(flow.connection());
        !connection.loopbacks.is_empty() || connection.is_path()
    };
    let of_loopback = scenario.flows().filter(with_loopback);
    joined.extend(of_loopback.flat_map(|flow| scenario.steps(flow)).map(|step| step.port()));
    let mut origins = origins(scenario);
    let mut most_there = most_cells(scenario, &origins);
    for (port, most) in scenario.ports().zip(&mut most_there) {
        most.take_if(|_| joined.contains(&port) || !mechanisms.has(Mechanism::WithoutQueue));
    }
    // A cell finds fewer than there are with it. Where an algorithm measures, one that ends an interval ends it before
    // it joins the queue.
    origins.retain(|origin| {
        let port = origin.step.port();
        let Port { control, custom, .. } = scenario.port(port);
        let measures = control.algorithm != SwitchAlgorithmConfig::None || custom.is_some();
        let threshold = control.becn.map_or(0, |becn| becn.threshold.0);
        measures || most_there[port.index()].is_none_or(|most| most > threshold)
    });
    let originating: BTreeSet<PortIndex> = origins.iter().map(|origin| origin.step.port()).collect();
    joined.extend(&originating);
    // Where BRMs leave that a policer has to see.
    let watched_brms: BTreeSet<PortIndex> = checkpoints
        .iter()
        .filter(|point| matches!(point.usage.rule, Rule::Abr(_)))
        .map(|point| point.step_back.port())
        .collect();
    let announced = Announced { scenario, tapped, mechanisms };
    let every_cell = watched_receivers(scenario, &announced);
    let mut outlets = Shared::default();
    // Cluster after cluster, so that what a port has elsewhere in memory is near that of its neighbours.
    let mut in_order: Vec<(u32, PortIndex)> = scenario
        .ports()
        .zip(&ports)
        .filter_map(|(port, place)| place.map(|place| (place.cluster, port)))
        .collect();
    in_order.sort_unstable();
    for (cluster, port) in in_order {
        let head = scenario.head(port.step());
        let ends = Ends {
            outside: cluster_of(head) != cluster,
            at_host: scenario.node(head).kind == NodeKind::Host,
            every_cell: every_cell[port.index()],
            tapped: tapped.contains(&port) || watched_brms.contains(&port),
            joined: joined.contains(&port),
            originates: originating.contains(&port),
            most_there: most_there[port.index()],
            watched: watched.port(port),
            mechanisms,
        };
        let port = build_port(scenario, port, &used[port.index()], ends, &mut outlets, plugins)?;
        parts[cluster as usize].ports.push(port);
    }
    defer_onward(scenario, &ports, &mut parts);

    let mut endpoints = Vec::with_capacity(scenario.flows().len());
    let mut ends = vec![0; partition.clusters];
    for flow in scenario.flows() {
        let cluster = cluster_of(scenario.tail(scenario.step(flow, 0)));
        endpoints.push(Place { cluster, index: ends[cluster as usize] });
        ends[cluster as usize] += 1;
    }
    for (parts, &count) in parts.iter_mut().zip(&ends) {
        parts.endpoints.reserve_exact(count as usize);
        parts.first_virtual = count as usize;
        // At most as many.
        parts.feeds.reserve_exact(count as usize);
    }
    let mut next_end = |end: VirtualEnd| {
        let cluster = cluster_of(end.switch);
        ends[cluster as usize] += 1;
        (end, Place { cluster, index: ends[cluster as usize] - 1 })
    };
    let virtual_ends: Vec<_> = virtual_ends.into_iter().map(&mut next_end).collect();
    let mut hops = build_hops(scenario, &ports, &endpoints, &mut parts);
    build_endpoints(&announced, &hops.first, &endpoints, &mut parts, plugins)?;
    build_virtual_ends(scenario, &virtual_ends, &mut hops, &mut parts, plugins)?;
    for Origin { flow, hop, step, hop_back, .. } in origins {
        let (number, way_back) = (hops.of(flow) + hop as u32, hops.of(flow.other()) + hop_back as u32);
        parts[cluster_of(scenario.tail(step)) as usize].ways_back.insert(number, way_back);
    }
    let point = |point: Checkpoint| {
        let (cluster, hop) = (cluster_of(point.switch), hops.of(point.flow) + point.hop as u32);
        let police = &mut parts[cluster as usize].police;
        police.add(&point, hop, hops.of(point.flow.other()) + point.hop_back as u32);
        (point, cluster, hop)
    };
    let checkpoints: Vec<_> = checkpoints.into_iter().map(point).collect();
    hops.policed.extend(checkpoints.iter().map(|&(.., hop)| hop));
    for end in segment_ends(scenario) {
        let (hop, back) =
            (hops.of(end.flow) + end.hop as u32, hops.of(end.flow.other()) + end.hop_back as u32);
        let ends = &mut parts[cluster_of(end.switch) as usize].segment_ends;
        ends.ways_back.insert((hop, end.loopback), back);
        hops.answering.insert(hop);
    }
    let branch_points =
        branching::build(scenario, branch_points, &partition, &endpoints, &mut hops, &mut parts);
    let folded = fold(scenario, &hops, &ports, &endpoints, &mut parts, &watched, mechanisms);
    let Hops { mut table, first, policed, branching, answering } = hops;
    let wiring = Wiring {
        scenario,
        ports: &ports,
        partition: &partition,
        every_cell: &every_cell,
        folded: &folded,
        first_hops: &first,
        policed: &policed,
        branching: &branching,
        answering: &answering,
    };
    wiring.build(own(&mut table), &mut parts);

    build_openers(scenario, &endpoints, &mut parts);
    let tracks = build_tracks(scenario, &ports, &endpoints, &virtual_ends, partition.clusters);
    let conduits = conduits(&parts, &endpoints);
    let clusters = parts.into_iter().zip(tracks).map(|(parts, tracks)| {
        let sampler = Sampler::new(tracks, &parts.ports, parts.endpoints.len());
        Cluster::new(Parts { hops: Arc::clone(&table), sampler, ..parts })
    });
    let kernel = Kernel::new(clusters.collect(), conduits, partition.window, end, mechanisms);
    Ok(Assembly { kernel, ports, endpoints, virtual_ends, checkpoints, branch_points })
}

/// The first instant that the kernel runs to: for which counts have to be exact, or the end of the run.
fn first_pause(scenario: &Scenario) -> Time {
    let end = Time::ZERO + scenario.duration;
    scenario.measuring.instants(end).first().copied().unwrap_or(end)
}

fn empty_parts(scenario: &Scenario, mechanisms: Mechanisms) -> Parts {
    Parts {
        hops: Arc::new([]),
        ports: Vec::new(),
        lanes: Vec::new(),
        feeds: Vec::new(),
        arrivals: Vec::new(),
        endpoints: Vec::new(),
        onward: Vec::new(),
        onward_to: Vec::new(),
        outboxes: Vec::new(),
        ahead: Vec::new(),
        first_virtual: 0,
        ways_back: BTreeMap::new(),
        police: Police::default(),
        openers: Openers::default(),
        branching: BranchPoints::default(),
        segment_ends: SegmentEnds::default(),
        sampler: Sampler::default(),
        end: first_pause(scenario),
        mechanisms,
    }
}
