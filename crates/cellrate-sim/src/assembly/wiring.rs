//! Lanes between the ports: which lane a cell is in on each link, and the order of the lanes.

use std::collections::BTreeSet;

use cellrate_scenario::{FlowIndex, NodeKind, PortIndex, Scenario};

use super::carried::sends;
use super::folds::SendStrategy;
use super::place::Place;
use crate::kernel::build::Parts;
use crate::kernel::hop::{Hop, NONE, NextHop};
use crate::kernel::lanes::lane::{Lane, LaneEnd};
use crate::kernel::leaf::Leaf;
use crate::kernel::ports::drain_strategy::DrainStrategy;
use crate::kernel::state::cluster::Ahead;
use crate::kernel::state::outbox::Outbox;
use crate::kernel::windows::partition::Partition;

/// Facts about the network that laying lanes needs.
pub(super) struct Wiring<'a> {
    pub scenario: &'a Scenario,
    /// Where each port is.
    pub ports: &'a [Option<Place>],
    pub partition: &'a Partition,
    /// By port, whether every arrival over its link has to be an event.
    pub every_cell: &'a [bool],
    /// By port.
    pub folded: &'a [SendStrategy],
    /// The first hop of each direction of each connection.
    pub first_hops: &'a [u32],
    /// Hops at whose far ends cells are policed.
    pub policed: &'a BTreeSet<u32>,
    /// Hops at whose far ends cells are copied, or BRMs taken in.
    pub branching: &'a BTreeSet<u32>,
    /// Hops at whose far ends loopback requests are answered.
    pub answering: &'a BTreeSet<u32>,
}

/// A hop over a link: its lane, by deferred port and rank, where that leads to, and its number.
type Member = ((Option<u32>, u8), LaneEnd, u32);

impl Wiring<'_> {
    /// Lays the lanes of each link, link after link, and tells each hop its own. The cells of a link that go on by a
    /// deferred port have a lane for that port; all others share one.
    pub fn build(&self, hops: &mut [Hop], parts: &mut [Parts]) {
        // The hops over each link, with the port that it begins at.
        let mut crossing: Vec<(PortIndex, u32)> = Vec::with_capacity(hops.len());
        for (flow, &first) in (0..).map(FlowIndex).zip(self.first_hops) {
            // A direction that never sends anything has no lanes.
            if sends(self.scenario, flow) {
                crossing.extend(self.scenario.steps(flow).map(|step| step.port()).zip(first..));
            }
        }
        crossing.sort_unstable();
        self.make_room(&crossing, parts);
        let mut members = Vec::new();
        for crossing in crossing.chunk_by(|(one, _), (other, _)| one == other) {
            let (port, _) = crossing[0];
            let Some(from) = self.ports[port.index()] else { continue };
            if let SendStrategy::Feed(feed) = self.folded[port.index()] {
                // The feed takes the place of a lane.
                parts[from.cluster as usize].arrivals.push(Leaf::Feed(feed));
                crossing.iter().for_each(|&(_, hop)| hops[hop as usize].lead_to(NextHop::Feed(feed)));
                continue;
            }
            self.add_lanes(port, from, crossing, hops, parts, &mut members);
        }
    }

    /// Lays the lanes of one link.
    fn add_lanes(
        &self,
        port: PortIndex,
        from: Place,
        crossing: &[(PortIndex, u32)],
        hops: &mut [Hop],
        parts: &mut [Parts],
        members: &mut Vec<Member>,
    ) {
        let cell_time = self.scenario.link(port.link()).fastest_rate().cell_time();
        let cluster = self.cluster_behind(port);
        let before = &parts[from.cluster as usize].ports[from.index as usize];
        let is_onward = before.strategy == DrainStrategy::Onward;
        self.sort_into_lanes(port, from, crossing, hops, parts, members);
        for members in members.chunk_by(|(one, ..), (other, ..)| one == other) {
            let (_, leads_to, _) = members[0];
            let own: Vec<u32> = members.iter().map(|&(.., hop)| hop).collect();
            let lane = add_lane(&mut parts[cluster as usize], leads_to);
            if let SendStrategy::Ahead(source) = self.folded[port.index()] {
                parts[cluster as usize].ahead.push(Ahead { lane, source });
            }
            if let (true, LaneEnd::Deferred { port, .. }) = (is_onward, leads_to) {
                parts[cluster as usize].onward_to.push((from.index, port));
            }
            let next = if cluster == from.cluster {
                NextHop::Lane(lane)
            } else {
                let outboxes = &mut parts[from.cluster as usize].outboxes;
                outboxes.push(Outbox::new(cluster, lane, leads_to, cell_time, &own));
                NextHop::Outbox(outboxes.len() as u32 - 1)
            };
            own.into_iter().for_each(|hop| hops[hop as usize].lead_to(next));
        }
    }

    /// Lists the hops over a link by their lanes: the shared one, that to virtual ends, those by a policer, that to
    /// branch points, that to switches that answer loopback requests, then the deferred ports by number.
    fn sort_into_lanes(
        &self,
        port: PortIndex,
        from: Place,
        crossing: &[(PortIndex, u32)],
        hops: &[Hop],
        parts: &[Parts],
        members: &mut Vec<Member>,
    ) {
        let before = &parts[from.cluster as usize].ports[from.index as usize];
        let at_host = self.scenario.node(self.scenario.head(port.step())).kind == NodeKind::Host;
        let shared = match at_host {
            true if before.deferred && !before.outside => LaneEnd::Behind { port: from.index },
            true => LaneEnd::Host { every_cell: self.every_cell[port.index()] },
            false => LaneEnd::Switch,
        };
        let behind = &parts[self.cluster_behind(port) as usize].ports;
        members.clear();
        for &(_, hop) in crossing {
            let ends_here = !at_host && hops[hop as usize].endpoint != NONE;
            let next = (!at_host && !ends_here).then(|| hops[hop as usize + 1].port);
            let deferred = next.filter(|&next| behind[next as usize].deferred);
            let policed = self.policed.contains(&hop);
            let (rank, other) = match (policed, ends_here) {
                _ if self.branching.contains(&hop) => (3, LaneEnd::BranchPoint),
                (true, _) => (2, LaneEnd::Policed),
                (false, true) => (1, LaneEnd::VirtualEnd),
                (false, false) if self.answering.contains(&hop) => (4, LaneEnd::SegmentEnd),
                (false, false) => (0, shared),
            };
            let leads_to = deferred.map_or(other, |port| {
                let significance = behind[port as usize].significance();
                LaneEnd::Deferred { port, place: 0, significance }
            });
            members.push(((deferred, rank), leads_to, hop));
        }
        members.sort_unstable_by_key(|&(lane, _, hop)| (lane, hop));
    }

    /// The cluster that the link behind this port leads to.
    fn cluster_behind(&self, port: PortIndex) -> u32 {
        self.partition.cluster[self.scenario.head(port.step()).0 as usize]
    }

    /// Room for a lane for each hop, which is what most hops have in a large network: lists that grow step by step have
    /// it twice for a while.
    fn make_room(&self, crossing: &[(PortIndex, u32)], parts: &mut [Parts]) {
        let mut counts = vec![(0_usize, 0_usize); parts.len()];
        for &(port, _) in crossing {
            let Some(from) = self.ports[port.index()] else { continue };
            let cluster = self.cluster_behind(port);
            counts[cluster as usize].0 += 1;
            counts[from.cluster as usize].1 += usize::from(cluster != from.cluster);
        }
        for (parts, (lanes, outboxes)) in parts.iter_mut().zip(counts) {
            parts.lanes.reserve_exact(lanes.saturating_sub(parts.feeds.len()));
            parts.arrivals.reserve_exact(lanes);
            parts.outboxes.reserve_exact(outboxes);
        }
    }
}

fn add_lane(parts: &mut Parts, leads_to: LaneEnd) -> u32 {
    let lane = parts.lanes.len() as u32;
    parts.lanes.push(Lane::new(leads_to));
    parts.arrivals.push(Leaf::Lane(lane));
    lane
}
