//! From a scenario to a network ready to run.
//!
//! Ports are built first: their kind depends on the cells that they carry ([`carried`]), the series that look at them
//! ([`watched`]) and the mechanisms of their switch ([`within_switches`]). Then follow the [`hops`] of all directions
//! and their [`ends`], sources that need no events before their cells leave ([`folds`]), the lanes on the links
//! between ([`wiring`]), which depend on all of these, and the series ([`tracks`]). Ends of requests and responses are
//! [`announced`] to those who receive them.

mod announced;
mod branching;
mod carried;
mod clusters;
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
mod within_switches;

use std::sync::Arc;

use cellrate_engine::plugins::Plugins;
use cellrate_engine::policing::Checkpoint;
use cellrate_engine::sampler::Sampler;
use cellrate_engine::segments::VirtualEnd;
use cellrate_proto::Time;
use cellrate_scenario::{BranchPoint, FlowIndex, PortIndex, Scenario};

use crate::endpoint::Endpoint;
use crate::error::RunError;
use crate::kernel::Kernel;
use crate::kernel::build::Parts;
use crate::kernel::state::cluster::Cluster;
use crate::kernel::windows::partition::Partition;
use crate::mechanisms::{Mechanism, Mechanisms};
use announced::Announced;
pub(crate) use carried::carries_cells;
use carried::categories_by_port;
use clusters::{Clusters, PortsToBuild};
use ends::{build_endpoints, build_virtual_ends, conduits};
use folds::fold;
use hops::{Hops, build_hops, own};
use onward::defer_onward;
use openers::build_openers;
pub(crate) use place::Place;
use tracks::build_tracks;
use watched::{Watched, watched_receivers};
use wiring::Wiring;
use within_switches::WithinSwitches;

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
    let first_pause = first_pause(scenario);
    let mechanisms = match first_pause < end {
        true => mechanisms.without(Mechanism::SharedHosts),
        false => mechanisms,
    };
    let partition = Partition::of(scenario, mechanisms);
    let (used, watched) = (categories_by_port(scenario), Watched::of(scenario));
    let within = WithinSwitches::of(scenario, mechanisms);
    let announced = Announced { scenario, tapped, mechanisms };
    let every_cell = watched_receivers(scenario, &announced);
    let mut clusters = Clusters::empty(scenario, &partition, mechanisms, first_pause);

    let is_needed = |port: PortIndex| used[port.index()].contains(&true) || watched.port(port).probed;
    let ports = clusters.place_ports(is_needed);
    let known =
        PortsToBuild { used: &used, watched: &watched, within: &within, every_cell: &every_cell, tapped };
    clusters.build_ports(&ports, &known, plugins)?;
    defer_onward(scenario, &ports, &mut clusters.parts);

    let (endpoints, virtual_ends) = clusters.place_ends(&within.virtual_ends);
    let mut hops = build_hops(scenario, &ports, &endpoints, &mut clusters.parts);
    build_endpoints(&announced, &hops.first, &endpoints, &mut clusters.parts, plugins)?;
    build_virtual_ends(scenario, &virtual_ends, &mut hops, &mut clusters.parts, plugins)?;
    clusters.add_ways_back(within.origins, &hops);
    let checkpoints = clusters.add_policers(within.checkpoints, &mut hops);
    clusters.add_segment_ends(&mut hops);
    let mut parts = clusters.parts;
    let branch_points =
        branching::build(scenario, within.branch_points, &partition, &endpoints, &mut hops, &mut parts);
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
