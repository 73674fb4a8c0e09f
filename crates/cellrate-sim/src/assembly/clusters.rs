//! Clusters while they are being filled: places of ports and ends, and the tables that cells are looked up in.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellrate_engine::becn::Origin;
use cellrate_engine::loopback::segment_ends;
use cellrate_engine::plugins::Plugins;
use cellrate_engine::policing::{Checkpoint, Police};
use cellrate_engine::sampler::Sampler;
use cellrate_engine::segments::VirtualEnd;
use cellrate_proto::Time;
use cellrate_scenario::{NodeIndex, NodeKind, PortIndex, Scenario, Shared};

use super::hops::Hops;
use super::place::Place;
use super::ports::{Ends, build_port};
use super::watched::Watched;
use super::within_switches::WithinSwitches;
use crate::error::RunError;
use crate::kernel::build::Parts;
use crate::kernel::ports::PRIORITIES;
use crate::kernel::state::branch_points::BranchPoints;
use crate::kernel::state::openers::Openers;
use crate::kernel::state::segment_ends::SegmentEnds;
use crate::kernel::windows::partition::Partition;
use crate::mechanisms::Mechanisms;

/// Parts of all clusters, filled step by step.
pub(super) struct Clusters<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) partition: &'a Partition,
    pub(super) parts: Vec<Parts>,
    mechanisms: Mechanisms,
}

/// Facts about all ports, known before any of them is built.
pub(super) struct PortsToBuild<'a> {
    /// By port, whether it carries cells of each priority.
    pub(super) used: &'a [[bool; PRIORITIES]],
    pub(super) watched: &'a Watched,
    pub(super) within: &'a WithinSwitches,
    /// By port, whether every arrival over its link has to be an event.
    pub(super) every_cell: &'a [bool],
    /// Ports whose departures have to be events.
    pub(super) tapped: &'a [PortIndex],
}

impl<'a> Clusters<'a> {
    /// Clusters without ports and ends, which run to `end`.
    pub(super) fn empty(
        scenario: &'a Scenario,
        partition: &'a Partition,
        mechanisms: Mechanisms,
        end: Time,
    ) -> Clusters<'a> {
        let parts = (0..partition.clusters).map(|_| empty_parts(mechanisms, end)).collect();
        Clusters { scenario, partition, parts, mechanisms }
    }

    /// The cluster of a node.
    fn of(&self, node: NodeIndex) -> u32 {
        self.partition.cluster[node.0 as usize]
    }

    /// Gives each port that is needed its place, and each cluster the room for them.
    pub(super) fn place_ports(&mut self, is_needed: impl Fn(PortIndex) -> bool) -> Vec<Option<Place>> {
        let mut counts = vec![0; self.partition.clusters];
        let mut place_of = |port: PortIndex| {
            let cluster = self.of(self.scenario.tail(port.step()));
            next_place(&mut counts, cluster)
        };
        let ports = self.scenario.ports().map(|port| is_needed(port).then(|| place_of(port))).collect();
        for (parts, &count) in self.parts.iter_mut().zip(&counts) {
            parts.ports.reserve_exact(count as usize);
        }
        ports
    }

    /// Builds the ports that have a place: cluster after cluster, so that memory of a port is near that of its
    /// neighbours.
    pub(super) fn build_ports(
        &mut self,
        ports: &[Option<Place>],
        known: &PortsToBuild<'_>,
        plugins: Plugins<'_>,
    ) -> Result<(), RunError> {
        let (scenario, within) = (self.scenario, known.within);
        let mut outlets = Shared::default();
        let mut in_order: Vec<(u32, PortIndex)> = scenario
            .ports()
            .zip(ports)
            .filter_map(|(port, place)| place.map(|place| (place.cluster, port)))
            .collect();
        in_order.sort_unstable();
        for (cluster, port) in in_order {
            let head = scenario.head(port.step());
            let ends = Ends {
                outside: self.of(head) != cluster,
                at_host: scenario.node(head).kind == NodeKind::Host,
                every_cell: known.every_cell[port.index()],
                tapped: known.tapped.contains(&port) || within.watched_brms.contains(&port),
                joined: within.joined.contains(&port),
                originates: within.originating.contains(&port),
                most_there: within.most_there[port.index()],
                watched: known.watched.port(port),
                mechanisms: self.mechanisms,
            };
            let port = build_port(scenario, port, &known.used[port.index()], ends, &mut outlets, plugins)?;
            self.parts[cluster as usize].ports.push(port);
        }
        Ok(())
    }

    /// Gives each sending end its place, by direction of a connection, then each end inside a switch.
    pub(super) fn place_ends(
        &mut self,
        virtual_ends: &[VirtualEnd],
    ) -> (Vec<Place>, Vec<(VirtualEnd, Place)>) {
        let mut counts = vec![0; self.partition.clusters];
        let scenario = self.scenario;
        let mut endpoints = Vec::with_capacity(scenario.flows().len());
        for flow in scenario.flows() {
            let cluster = self.of(scenario.tail(scenario.step(flow, 0)));
            endpoints.push(next_place(&mut counts, cluster));
        }
        for (parts, &count) in self.parts.iter_mut().zip(&counts) {
            parts.endpoints.reserve_exact(count as usize);
            parts.first_virtual = count as usize;
            // At most as many.
            parts.feeds.reserve_exact(count as usize);
        }
        let placed = |&end: &VirtualEnd| (end, next_place(&mut counts, self.of(end.switch)));
        (endpoints, virtual_ends.iter().map(placed).collect())
    }

    /// Tells each cluster by which hop BRMs leave that its ports originate.
    pub(super) fn add_ways_back(&mut self, origins: Vec<Origin>, hops: &Hops) {
        for Origin { flow, hop, step, hop_back, .. } in origins {
            let (number, way_back) = (hops.of(flow) + hop as u32, hops.of(flow.other()) + hop_back as u32);
            let cluster = self.of(self.scenario.tail(step));
            self.parts[cluster as usize].ways_back.insert(number, way_back);
        }
    }

    /// Puts each policer into its cluster; returns it with the cluster and the hop at whose far end it stands.
    pub(super) fn add_policers(
        &mut self,
        checkpoints: Vec<Checkpoint>,
        hops: &mut Hops,
    ) -> Vec<(Checkpoint, u32, u32)> {
        let point = |point: Checkpoint| {
            let (cluster, hop) = (self.of(point.switch), hops.of(point.flow) + point.hop as u32);
            let hop_back = hops.of(point.flow.other()) + point.hop_back as u32;
            self.parts[cluster as usize].police.add(&point, hop, hop_back);
            (point, cluster, hop)
        };
        let placed: Vec<_> = checkpoints.into_iter().map(point).collect();
        hops.policed.extend(placed.iter().map(|&(.., hop)| hop));
        placed
    }

    /// Tells each cluster which loopback requests its switches answer, and by which hop.
    pub(super) fn add_segment_ends(&mut self, hops: &mut Hops) {
        for end in segment_ends(self.scenario) {
            let hop = hops.of(end.flow) + end.hop as u32;
            let back = hops.of(end.flow.other()) + end.hop_back as u32;
            let cluster = self.of(end.switch);
            self.parts[cluster as usize].segment_ends.ways_back.insert((hop, end.loopback), back);
            hops.answering.insert(hop);
        }
    }
}

/// The next place of a cluster, which it is counted in.
fn next_place(counts: &mut [u32], cluster: u32) -> Place {
    let index = counts[cluster as usize];
    counts[cluster as usize] += 1;
    Place { cluster, index }
}

fn empty_parts(mechanisms: Mechanisms, end: Time) -> Parts {
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
        end,
        mechanisms,
    }
}
