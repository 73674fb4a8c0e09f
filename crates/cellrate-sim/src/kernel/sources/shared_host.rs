//! Hosts that several sources share: their cells meet at the host's port, and are merged there.
//!
//! Each source is [folded](super::folding) into a feed, as one with a link to itself is, only that its cells reach the
//! port of its host when they are sent. This port is a [deferred](crate::kernel::deferred) one: whoever looks at a port
//! of the switch that its link leads to first has it [take in](Cluster::drain_behind_shared) what gets to that port by
//! then, in the order in which the transmissions would be events. From then on the cells are on lanes like any others.
//! Until then they are a few trains, however many wait at the host or are on its link.
//!
//! No cell is missed: one that comes to the switch's port before a limit was sent before it. Where a source has sent a
//! BRM that has not come to the port, or may send one next, the port takes in cells, for a while at a time, from when
//! the BRM could begin to leave it: so it is known well before it is an event at the switch, and however many cells
//! wait at the host, few are more than trains. A timer of TCP may have a source send at the very instant of the timer,
//! after all others that do: so these come to the port first. A host is shared in this way if it can lose no cell, and
//! all that it sends goes to other clusters.

use std::collections::{BTreeMap, BTreeSet};

use cellrate_engine::schedule::Schedule;
use cellrate_engine::tournament::{NEVER, Tournament};
use cellrate_proto::{Duration, Time};

use crate::endpoint::SendMode;
use crate::kernel::hop::{Hop, NextHop};
use crate::kernel::lanes::lane::Lane;
use crate::kernel::leaf::Leaf;
use crate::kernel::ports::drain_strategy::DrainStrategy;
use crate::kernel::ports::merge::{Along, Front};
use crate::kernel::ports::shared_host::{HostsBefore, SharedHost};
use crate::kernel::ports::{Even, Joining, MOST_JOINING, Port, Queues};
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::feed::Feed;

/// For how many cells on the line of the switch hosts take in cells at a time.
const A_WHILE: u64 = 128;

impl Cluster {
    /// Whether `way` is that of a source by the `port` of its host.
    pub(crate) fn sends_by(&self, way: Leaf, port: u32) -> bool {
        let Leaf::Feed(feed) = way else { return false };
        let sender = self.feeds[feed as usize].endpoint as usize;
        matches!(self.endpoints[sender].send_mode, SendMode::Folded { port: own, .. } if own == port)
    }

    /// Finds the hosts that are shared, and what they lead to.
    pub(crate) fn find_shared_hosts(&mut self) {
        let mut lanes = vec![BTreeSet::new(); self.ports.len()];
        let mut hosts = vec![BTreeSet::new(); self.ports.len()];
        for endpoint in &self.endpoints {
            let SendMode::Folded { port, feed } = endpoint.send_mode else { continue };
            if self.feeds[feed as usize].port != port {
                continue;
            }
            let [first, next] = [0, 1].map(|hop| &self.hops[endpoint.end.first_hop as usize + hop]);
            let NextHop::Lane(lane) = first.leads_to() else {
                unreachable!("a host is shared in the cluster of its switch");
            };
            lanes[port as usize].insert(lane);
            hosts[next.port as usize].insert(port);
        }
        let mut next = vec![Vec::new(); self.ports.len()];
        for (index, hosts) in (0..).zip(hosts).filter(|(_, hosts)| !hosts.is_empty()) {
            let hosts: Box<[u32]> = hosts.into_iter().collect();
            (0..).zip(&hosts).for_each(|(place, &host)| next[host as usize].push((index, place)));
            let due = Tournament::new(hosts.len());
            let rare = self.ports[index as usize].rare.get_or_insert_default();
            rare.hosts_before = Some(Box::new(HostsBefore { hosts, due }));
        }
        for (port, (lanes, next)) in self.ports.iter_mut().zip(lanes.into_iter().zip(next)) {
            if !lanes.is_empty() {
                port.strategy = DrainStrategy::SharedHost { number: self.shared_hosts.len() as u32 };
                self.shared_hosts.push(SharedHost { lanes: lanes.into_iter().collect(), next: next.into() });
            }
        }
    }

    /// Deals with the cells that come to `port`, which has shared hosts before it, before `limit`: of these hosts for a
    /// while at a time, so that few of their cells are on lanes at once.
    #[inline(never)]
    pub(crate) fn drain_behind_shared(&mut self, port: usize, limit: u64) {
        loop {
            let part = self.admit_shared(port, limit);
            self.drain_all(port, part);
            if part == limit {
                return;
            }
        }
    }

    /// Shared hosts before `port` take in what was sent and gets there before `limit`, for a while. Returns up to where
    /// they did.
    fn admit_shared(&mut self, port: usize, limit: u64) -> u64 {
        self.note_sooner();
        let (until, _) = self.schedule.split(limit);
        let Some(first) = self.first_host(port, until) else { return limit };
        let end = first.saturating_add(self.ports[port].cell_time().saturating_mul(A_WHILE));
        // What arrives at the instant of the limit may come before it.
        let (part, last) = match end.as_ps().checked_sub(1) {
            Some(last) if end < until => (self.schedule.key(0, end), Time::from_ps(last)),
            _ => (limit, until),
        };
        while self.first_host(port, last).is_some() {
            let Some(HostsBefore { hosts, due }) = self.ports[port].hosts_before() else { break };
            let (_, place) = self.schedule.split(due.first());
            let host = hosts[place] as usize;
            self.drain_shared(host, limit, last + Duration::from_ps(1));
            self.note_due(port, place, host);
        }
        part
    }

    /// Instant at which the next cell of a shared host gets to `port`, or earlier, if that is not after `last`.
    #[inline]
    fn first_host(&self, port: usize, last: Time) -> Option<Time> {
        match self.ports[port].hosts_before()?.due.first() {
            NEVER => None,
            key => Some(self.schedule.split(key).0).filter(|&first| first <= last),
        }
    }

    /// Sources of shared hosts may send sooner than they would have: so do the hosts.
    fn note_sooner(&mut self) {
        while let Some(host) = self.hastened.pop() {
            let DrainStrategy::SharedHost { number } = self.ports[host as usize].strategy else { continue };
            for index in 0..self.shared_hosts[number as usize].next.len() {
                let (port, place) = self.shared_hosts[number as usize].next[index];
                self.note_due(port as usize, place as usize, host as usize);
            }
        }
    }

    /// Takes note of the instant at which the next cell of the `host` of this `place` before `port` gets there.
    fn note_due(&mut self, port: usize, place: usize, host: usize) {
        let key = match self.next_by_host(host, NEVER) {
            Time::NEVER => NEVER,
            at => self.schedule.key(place, at),
        };
        if let Some(rare) = &mut self.ports[port].rare
            && let Some(before) = &mut rare.hosts_before
        {
            before.due.set(place, key);
        }
    }

    /// Instant at which the next cell that is sent by the `port` of a shared host before `limit` reaches the switch, or
    /// earlier.
    #[inline]
    fn next_by_host(&self, port: usize, limit: u64) -> Time {
        let Port { merge, queues: Queues::Fifo(fifo), .. } = &self.ports[port] else { return Time::NEVER };
        let first = merge.first();
        if first < limit { fifo.preview(self.schedule.split(first).0) } else { Time::NEVER }
    }

    /// The cells that were sent before `limit` by way of a shared host come to its `port`, as long as they will reach
    /// the switch before `until`.
    pub(crate) fn drain_shared(&mut self, port: usize, limit: u64, until: Time) {
        let DrainStrategy::SharedHost { number } = self.ports[port].strategy else { return };
        if self.next_by_host(port, limit) >= until {
            return;
        }
        while self.next_by_host(port, limit) < until {
            match self.run_shared(port, limit, until) {
                Some(feed) => self.next_train(feed),
                None if self.next_by_host(port, limit) < until => self.step_shared(port),
                None => {}
            }
        }
        for index in 0..self.shared_hosts[number as usize].lanes.len() {
            self.note_first(self.shared_hosts[number as usize].lanes[index] as usize);
        }
    }

    /// The cells that were sent before `limit` by way of a shared host come to its `port`, as far as they begin to
    /// leave it within a while from `now` on.
    pub(crate) fn drain_for_a_while(&mut self, port: usize, limit: u64, now: Time) {
        let Queues::Fifo(fifo) = &self.ports[port].queues else { return };
        let cell_time = fifo.cell_time();
        let last = now.saturating_add(cell_time.saturating_mul(A_WHILE));
        let until = fifo.arrival_behind(last.saturating_add(cell_time));
        self.drain_shared(port, limit, until);
    }

    /// The cells that were sent before `limit` by way of a shared host come to its `port`, up to one that finds the
    /// line busy beyond `end`: then so do all after it, and they stay what they are, trains of their sources. A host
    /// that sends faster than its line has millions of them in the end.
    pub(crate) fn drain_busy(&mut self, port: usize, limit: u64, end: Time) {
        let Queues::Fifo(fifo) = &self.ports[port].queues else { return };
        let until = fifo.arrival_behind(end.saturating_add(fifo.cell_time()));
        self.drain_shared(port, limit, until + Duration::from_ps(1));
    }

    /// The run is over: cells that wait at shared hosts are counted in the figures of their ports.
    pub(crate) fn end_shared_hosts(&mut self) {
        let mut waiting: BTreeMap<u32, Vec<Even>> = BTreeMap::new();
        for endpoint in &self.endpoints {
            if let SendMode::Folded { port, feed } = endpoint.send_mode
                && self.feeds[feed as usize].port == port
            {
                let trains = self.feeds[feed as usize].trains().map(|train| Even {
                    first: train.first_arrival(),
                    spacing: train.spacing,
                    count: train.count.into(),
                });
                Even::put_together(trains, waiting.entry(port).or_default());
            }
        }
        for (port, trains) in waiting {
            let Queues::Fifo(fifo) = &mut self.ports[port as usize].queues else { continue };
            fifo.admit_waiting(&trains);
        }
    }

    /// The next cell comes to the `port` of a shared host, or what there is instead is known.
    fn step_shared(&mut self, port: usize) {
        let key = self.ports[port].merge.first();
        let (now, leaf) = self.schedule.split(key);
        let Leaf::Feed(index) = self.leaves[leaf] else {
            unreachable!("only sources send by a host");
        };
        let index = index as usize;
        let feed = &mut self.feeds[index];
        if feed.is_empty() {
            if let Some(cell) = self.unannounced(index, now) {
                self.leave_host(now, cell);
            }
            return;
        }
        let cell = feed.front.take(now);
        let ended = feed.is_empty();
        let next = if ended { NEVER } else { key + feed.key_step };
        self.ports[port].merge.set(feed.place as usize, next);
        self.leave_host(now, cell);
        if ended {
            self.next_train(index);
        }
    }

    /// The [same cells](Cluster::drain_shared) come to the port, up to the end of what is known of a source: then
    /// returns its feed. Ends before one that has to wait for very long, too.
    #[inline(never)]
    fn run_shared(&mut self, number: usize, limit: u64, until: Time) -> Option<usize> {
        let Cluster { ports, lanes, feeds, leaves, hops, schedule, .. } = self;
        let Port { queues: Queues::Fifo(fifo), merge, .. } = &mut ports[number] else {
            return None;
        };
        merge.run(RunShared { lanes, feeds, leaves, hops, schedule, joining: fifo.joining(), limit, until })
    }
}

/// Cells on their way into the port of a host.
struct RunShared<'a> {
    lanes: &'a mut [Lane],
    feeds: &'a mut [Feed],
    leaves: &'a [Leaf],
    hops: &'a [Hop],
    schedule: &'a Schedule,
    joining: Joining<'a>,
    limit: u64,
    until: Time,
}

impl Along for RunShared<'_> {
    type Outcome = Option<usize>;

    #[inline(always)]
    fn along<F: Front>(self, merge: &mut F) -> Option<usize> {
        let RunShared { lanes, feeds, leaves, hops, schedule, mut joining, limit, until } = self;
        let (mut count, mut ended) = (0, None);
        let most = if joining.is_usual() { MOST_JOINING } else { 0 };
        while count < most && ended.is_none() {
            let key = merge.first();
            if key >= limit {
                break;
            }
            let (now, leaf) = schedule.split(key);
            let Leaf::Feed(index) = merge.way(leaf, leaves) else {
                unreachable!("only sources send by a host");
            };
            let feed = &mut feeds[index as usize];
            // A BRM has to be announced.
            if feed.is_empty() || feed.front.last.is_backward_rm() {
                break;
            }
            let departs = joining.departure(now);
            let arrives = joining.arrival(departs);
            if arrives >= until || !joining.join(now, departs) {
                break;
            }
            let cell = feed.front.take(now);
            let mut next = key + feed.key_step;
            if feed.front.count == 0 {
                let behind = feed.key_behind(key, schedule);
                ended = behind.is_none().then_some(index as usize);
                next = behind.unwrap_or(NEVER);
            }
            merge.replace_first(feed.place as usize, next);
            count += 1;
            let NextHop::Lane(lane) = hops[cell.hop()].leads_to() else {
                unreachable!("a host is shared in the cluster of its switch");
            };
            lanes[lane as usize].cells.push(cell.arriving(arrives));
        }
        joining.close(count);
        ended
    }
}
