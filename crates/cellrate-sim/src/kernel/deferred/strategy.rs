//! How each [deferred](super) port is drained: found once, when the network is built.

use std::collections::BTreeSet;

use crate::cell::Significance;
use crate::kernel::hop::{NONE, NextHop};
use crate::kernel::lanes::lane::LaneEnd;
use crate::kernel::leaf::Leaf;
use crate::kernel::ports::drain_strategy::DrainStrategy;
use crate::kernel::ports::{ABR, Queues};
use crate::kernel::state::cluster::Cluster;
use crate::mechanisms::Mechanism;

impl Cluster {
    /// Whether there may be [stretches](crate::stretch) on `lane`, because its cells are handled many at a time.
    pub(in crate::kernel) fn takes_stretches(&self, lane: u32) -> bool {
        match self.lanes[lane as usize].leads_to {
            LaneEnd::Deferred { port, .. } => {
                matches!(self.ports[port as usize].strategy, DrainStrategy::Host { .. })
            }
            _ => false,
        }
    }

    /// Finds the ports that have a strategy, and tells lanes and feeds of it.
    pub(in crate::kernel) fn find_shortcuts(&mut self) {
        let ways_in = self.ways_in();
        self.find_before_clusters();
        self.find_before_hosts(&ways_in);
        self.find_fed(&ways_in);
        self.find_hosts_of_several();
        self.set_lane_ends();
        self.tell_feeds();
        self.find_sources_alone(&ways_in);
        self.find_answered_early();
    }

    /// For each port, the number of lanes and feeds that lead there if it is deferred.
    fn ways_in(&self) -> Vec<u32> {
        let lanes = self.lanes.iter().filter_map(|lane| match lane.leads_to {
            LaneEnd::Deferred { port, .. } => Some(port),
            _ => None,
        });
        let feeds = self.feeds.iter().filter(|feed| feed.deferred).map(|feed| feed.port);
        let mut ways_in = vec![0; self.ports.len()];
        lanes.chain(feeds).for_each(|port| ways_in[port as usize] += 1);
        ways_in
    }

    fn find_before_clusters(&mut self) {
        let mechanisms = self.mechanisms;
        for port in &mut self.ports {
            if port.records_changes() {
                continue;
            }
            match port.queues {
                Queues::Ranked(_) if mechanisms.has(Mechanism::Ranked) => {
                    port.strategy = DrainStrategy::Ranked;
                }
                Queues::Fifo(_)
                    if port.deferred && port.outside && mechanisms.has(Mechanism::BeforeCluster) =>
                {
                    port.strategy = DrainStrategy::BeforeCluster;
                }
                Queues::Served(_)
                    if port.deferred && !port.metered && mechanisms.has(Mechanism::BeforeCluster) =>
                {
                    port.strategy = DrainStrategy::Served;
                }
                _ => {}
            }
        }
    }

    /// Finds ports to hosts with a single way in, which is a lane.
    fn find_before_hosts(&mut self, ways_in: &[u32]) {
        if !self.mechanisms.has(Mechanism::BeforeHost) {
            return;
        }
        let mut links = vec![NONE; self.ports.len()];
        for (index, lane) in (0..).zip(&self.lanes) {
            if let LaneEnd::Behind { port } = lane.leads_to {
                links[port as usize] = index;
            }
        }
        for (lane, leads_to) in (0..).zip(self.lanes.iter().map(|lane| lane.leads_to)) {
            let LaneEnd::Deferred { port: number, .. } = leads_to else { continue };
            let (link, ways_in) = (links[number as usize], ways_in[number as usize]);
            let port = &mut self.ports[number as usize];
            let is_before_host = !port.outside && port.strategy != DrainStrategy::Onward;
            let may_pass = is_before_host && !port.records_changes();
            if matches!(port.queues, Queues::Fifo(_)) && may_pass && ways_in == 1 {
                port.strategy = DrainStrategy::Host { lane, link, several: false };
            }
        }
    }

    /// Finds the hosts behind a port of the strategy [`DrainStrategy::Host`] have several connections. One in another
    /// cluster than its switch may count for a port that is not its own: that costs time, and nothing else, because
    /// cells are dealt with alike either way.
    fn find_hosts_of_several(&mut self) {
        let mut counts = vec![0_u32; self.ports.len()];
        for endpoint in &self.endpoints {
            let first = endpoint.end.first_hop as usize;
            // Behind the first hop, the other direction leaves by the port that leads to the host.
            if self.hops[first].endpoint == NONE
                && let Some(count) = counts.get_mut(self.hops[first + 1].answering_port as usize)
            {
                *count += 1;
            }
        }
        for (port, count) in self.ports.iter_mut().zip(counts) {
            if let DrainStrategy::Host { several, .. } = &mut port.strategy {
                *several = count > 1;
            }
        }
    }

    /// Says where cells go that are on lanes to ports of the strategy [`DrainStrategy::Host`], and behind ports
    /// without.
    fn set_lane_ends(&mut self) {
        for lane in &mut self.lanes {
            let before = |port: u32| self.ports[port as usize].strategy;
            match &mut lane.leads_to {
                LaneEnd::Deferred { port, significance, .. } => {
                    if let DrainStrategy::Host { .. } = before(*port) {
                        *significance = Significance::AWAITED;
                    }
                }
                &mut LaneEnd::Behind { port } if !matches!(before(port), DrainStrategy::Host { .. }) => {
                    lane.leads_to = LaneEnd::Host { every_cell: false };
                }
                _ => {}
            }
        }
    }

    /// Tells feeds the second hop of the way of their cells.
    fn tell_feeds(&mut self) {
        for feed in &mut self.feeds {
            let first = self.endpoints[feed.endpoint as usize].end.first_hop;
            let hop = &self.hops[first as usize + 1];
            feed.slot = hop.slot;
            feed.priority = hop.priority;
            if let NextHop::Outbox(number) | NextHop::Lane(number) = hop.leads_to() {
                feed.way_out = number;
            }
        }
    }

    /// Finds sources whose BRMs need no look at the port that they leave by when they are answered.
    fn find_answered_early(&mut self) {
        for feed in &mut self.feeds {
            let port = &self.ports[feed.port as usize];
            let runs = matches!(port.strategy, DrainStrategy::BeforeCluster | DrainStrategy::InTurn);
            let is_own = feed.significance == Significance::BEFORE_CLUSTER && !feed.ends_loop;
            feed.answers_early =
                self.mechanisms.has(Mechanism::EarlyAnswers) && is_own && runs && !port.originates();
        }
    }

    /// Finds ports to other clusters that several sources, and only they, send to, each with a lane of its own behind
    /// it.
    fn find_sources_alone(&mut self, ways_in: &[u32]) {
        for (port, &ways_in) in self.ports.iter_mut().zip(ways_in) {
            // Meters count cells of ABR one by one there.
            let counts_abr = usize::from(port.only_priority) == ABR || !port.metered;
            if port.strategy != DrainStrategy::BeforeCluster || ways_in < 2 || !counts_abr {
                continue;
            }
            let (ways, strategy) = match port.merge.in_order() {
                Some(order) => (order.ways().to_vec(), DrainStrategy::InTurn),
                None => (port.merge.ways().to_vec(), DrainStrategy::Sorted),
            };
            let needed =
                if strategy == DrainStrategy::InTurn { Mechanism::InTurn } else { Mechanism::Sorted };
            // Where each arrival is kept there are no rounds.
            let is_kept = strategy == DrainStrategy::InTurn && port.keeps_arrivals();
            if !self.mechanisms.has(needed) || ways.is_empty() || is_kept {
                continue;
            }
            let outbox = |way: &Leaf| match *way {
                Leaf::Feed(feed) => Some(self.feeds[feed as usize].way_out),
                _ => None,
            };
            let outboxes: Option<BTreeSet<u32>> = ways.iter().map(outbox).collect();
            if outboxes.is_some_and(|outboxes| outboxes.len() == ways_in as usize) {
                port.strategy = strategy;
            }
        }
    }
}
