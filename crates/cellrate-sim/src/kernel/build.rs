//! How a cluster is put together: leaves for what can happen in it, and merges before its deferred ports.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellrate_engine::policing::Police;
use cellrate_engine::schedule::Schedule;
use cellrate_proto::Time;

use super::hop::{Hop, NONE};
use super::lanes::lane::{Lane, LaneEnd};
use super::leaf::Leaf;
use super::ports::merge::Merge;
use super::ports::onward::Onward;
use super::state::branch_points::BranchPoints;
use super::state::cluster::{Ahead, Cluster};
use super::state::feed::Feed;
use super::state::openers::Openers;
use super::state::outbox::Outbox;
use super::state::sampled::Sampled;
use super::state::scratch::Scratch;
use super::state::segment_ends::SegmentEnds;
use crate::endpoint::{Endpoint, SendMode};
use crate::kernel::ports::{Port, Queues};
use crate::mechanisms::{Mechanism, Mechanisms};
use cellrate_engine::sampler::Sampler;

/// Parts that a cluster is made of.
pub(crate) struct Parts {
    pub hops: Arc<[Hop]>,
    pub ports: Vec<Port>,
    pub lanes: Vec<Lane>,
    pub feeds: Vec<Feed>,
    /// Lanes and feeds in the order in which they stand in the schedule.
    pub arrivals: Vec<Leaf>,
    pub endpoints: Vec<Endpoint>,
    /// Deferred ports [from switch to switch](super::deferred::onward), each behind those that its cells come to.
    pub onward: Vec<u32>,
    /// Pairs of such a port and of a deferred one that it leads to.
    pub onward_to: Vec<(u32, u32)>,
    pub outboxes: Vec<Outbox>,
    /// Planned sources, in the order of their lanes.
    pub ahead: Vec<Ahead>,
    /// Number of the first endpoint that is [virtual](super::virtual_end); all behind it are, too.
    pub first_virtual: usize,
    /// The hop of the other direction that leaves the same switch, by hops of ports that [originate](super::becn) BRMs.
    pub ways_back: BTreeMap<u32, u32>,
    pub police: Police,
    /// Openers of flows and calls, without leaves.
    pub openers: Openers,
    pub branching: BranchPoints,
    pub segment_ends: SegmentEnds,
    pub sampler: Sampler,
    pub end: Time,
    pub mechanisms: Mechanisms,
}

/// Notes that `leaf` is that of the thing of this `index`; the list ends with the last thing that has one.
fn note_leaf(leaves: &mut Vec<u32>, index: u32, leaf: u32) {
    let index = index as usize;
    if index >= leaves.len() {
        leaves.resize(index + 1, NONE);
    }
    leaves[index] = leaf;
}

impl Cluster {
    /// Makes a cluster at time zero, with the first transmission of every end scheduled.
    pub fn new(parts: Parts) -> Cluster {
        let Parts {
            hops,
            ports,
            mut lanes,
            mut feeds,
            arrivals,
            endpoints,
            onward,
            onward_to,
            mut outboxes,
            ahead,
            first_virtual,
            ways_back,
            police,
            mut openers,
            branching,
            segment_ends,
            mut sampler,
            end,
            mechanisms,
        } = parts;
        // Their number is known only now.
        lanes.shrink_to_fit();
        feeds.shrink_to_fit();
        outboxes.shrink_to_fit();
        let served = |port: &Port| matches!(port.queues, Queues::Served(_)) && !port.deferred;
        let transmission = |(index, endpoint): (u32, &Endpoint)| match endpoint.send_mode {
            SendMode::Scheduled => Some(Leaf::Transmission(index)),
            // At a host that is shared.
            SendMode::Folded { port, feed } if feeds[feed as usize].port == port => Some(Leaf::Feed(feed)),
            SendMode::Folded { .. } | SendMode::Ahead { .. } => None,
        };
        let next_change = |port: &Port| match &port.queues {
            Queues::Served(served) => served.next_change(),
            Queues::Fifo(_) | Queues::Ranked(_) => Time::NEVER,
        };
        let changing = (0..).zip(&ports).filter(|(_, port)| next_change(port) != Time::NEVER);
        let changes = changing.map(|(i, _)| Leaf::Change(i));
        let departures = (0..).zip(&ports).filter(|(_, port)| served(port)).map(|(i, _)| Leaf::Departure(i));
        let transmissions = (0..).zip(&endpoints).filter_map(transmission);
        let mut leaves: Vec<Leaf> = changes.chain(departures).collect();
        leaves.push(Leaf::Sample);
        leaves.extend(arrivals);
        leaves.extend((0..openers.list.len() as u32).map(Leaf::Opening));
        openers.leaves = vec![0; openers.list.len()];
        let reports = |endpoint: &Endpoint| endpoint.end.next_unasked(Time::ZERO);
        let with_reports = (0..).zip(&endpoints).filter(|(_, endpoint)| reports(endpoint) != Time::NEVER);
        leaves.extend(with_reports.map(|(i, _)| Leaf::Report(i)));
        leaves.extend(transmissions);
        let with_tcp = (0..).zip(&endpoints).filter(|(_, endpoint)| endpoint.interface.is_some());
        leaves.extend(with_tcp.map(|(i, _)| Leaf::Timer(i)));
        leaves.shrink_to_fit();
        let mut cluster = Cluster {
            schedule: Schedule::new(leaves.len()),
            intervals_ended: Time::ZERO,
            gateways: Vec::new(),
            crowded: Vec::new(),
            onward: Onward::new(ports.len(), &onward, &onward_to),
            shared_hosts: Vec::new(),
            hastened: Vec::new(),
            scratch: Scratch::default(),
            departure_leaves: Vec::new(),
            sample_leaf: 0,
            transmission_leaves: Vec::new(),
            timer_leaves: Vec::new(),
            departures: None,
            sampled: Sampled::new(&mut sampler, &ports, &endpoints),
            dropped: BTreeMap::new(),
            originated: BTreeMap::new(),
            absorbed: BTreeMap::new(),
            events: 0,
            moved: 0,
            hops,
            ports,
            lanes,
            feeds,
            endpoints,
            outboxes,
            ahead,
            first_virtual,
            ways_back,
            police: Box::new(police),
            openers: Box::new(openers),
            branching: Box::new(branching),
            segment_ends: Box::new(segment_ends),
            sampler,
            end,
            leaves,
            mechanisms,
        };
        for (number, &leaf) in (0..).zip(&cluster.leaves) {
            match leaf {
                Leaf::Change(port) => {
                    cluster.schedule.set(number as usize, next_change(&cluster.ports[port as usize]));
                }
                Leaf::Departure(port) => note_leaf(&mut cluster.departure_leaves, port, number),
                Leaf::Sample => cluster.sample_leaf = number,
                Leaf::Feed(feed) => cluster.feeds[feed as usize].leaf = number,
                Leaf::Lane(lane) => cluster.lanes[lane as usize].leaf = number,
                Leaf::Opening(opener) => cluster.openers.leaves[opener as usize] = number,
                Leaf::Report(endpoint) => {
                    cluster.schedule.set(number as usize, reports(&cluster.endpoints[endpoint as usize]));
                }
                Leaf::Transmission(endpoint) => note_leaf(&mut cluster.transmission_leaves, endpoint, number),
                Leaf::Timer(endpoint) => note_leaf(&mut cluster.timer_leaves, endpoint, number),
            }
        }
        cluster.build_merges();
        cluster.begin_ahead();
        for endpoint in 0..cluster.endpoints.len() {
            cluster.reschedule(Time::ZERO, endpoint);
            cluster.reschedule_timer(endpoint);
        }
        cluster.begin_openers();
        cluster.schedule.set(cluster.sample_leaf as usize, cluster.sampler.next());
        cluster.note_everything(Time::ZERO);
        cluster
    }

    /// Makes a merge for each deferred port, with a place for each lane and feed that leads to it.
    fn build_merges(&mut self) {
        let mut ways_in = vec![Vec::new(); self.ports.len()];
        let mut next_place = |port: u32, way: Leaf| {
            let ways: &mut Vec<Leaf> = &mut ways_in[port as usize];
            ways.push(way);
            ways.len() as u32 - 1
        };
        for (index, lane) in (0..).zip(&mut self.lanes) {
            if let LaneEnd::Deferred { port, place, .. } = &mut lane.leads_to {
                *place = next_place(*port, Leaf::Lane(index));
            }
        }
        for (index, feed) in (0..).zip(&mut self.feeds).filter(|(_, feed)| feed.deferred) {
            feed.place = next_place(feed.port, Leaf::Feed(index));
        }
        for (index, ways) in ways_in.iter().enumerate() {
            let is_host = ways.first().is_some_and(|&way| self.sends_by(way, index as u32));
            let port = &mut self.ports[index];
            port.merge = match port.queues {
                // A connection with priority has no part in what is shared out evenly, nor have most of those that
                // share a host; and before real queues cells come in bursts.
                Queues::Ranked(_) | Queues::Served(_) => Merge::tree(ways.len()),
                Queues::Fifo(_) if is_host => Merge::tree(ways.len()),
                _ if ways.len() > 1 && !self.mechanisms.has(Mechanism::Few) => Merge::tree(ways.len()),
                _ => Merge::new(ways),
            };
        }
        self.find_shortcuts();
        self.find_shared_hosts();
        let deferred = (0..).zip(&self.ports).filter(|(_, port)| port.deferred);
        self.gateways = deferred
            .filter(|(_, port)| port.outside || port.records_changes() || port.keeps_arrivals())
            .map(|(index, _)| index)
            .collect();
    }

    /// Records the value of every series of changes at `now`.
    fn note_everything(&mut self, now: Time) {
        self.sampler.begin_queues(now);
        for index in 0..self.ports.len() as u32 {
            self.sampler.note_port(now, index, &mut self.ports);
        }
        for index in 0..self.endpoints.len() as u32 {
            self.sampler.note_end(now, index, &self.endpoints[index as usize]);
        }
    }
}
