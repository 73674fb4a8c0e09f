//! A cluster: nodes that share one scheduler, with their ports, their ends of connections and the links that come in.
//!
//! Everything that can happen has a fixed leaf in the schedule, in this order, which is also the order of events at the
//! same instant: departures from served ports, samples of series, arrivals over links, transmissions of sources; within
//! each kind in the order of the scenario. It is the same order whatever the clusters are, because only events of one
//! node can touch one another at the same instant, and a node is in one cluster.

use std::sync::Arc;

use cellrate_proto::{Direction, Time};

use super::cell::Cell;
use super::hop::{Hop, NONE};
use super::ring::Ring;
use super::schedule::Schedule;
use crate::endpoint::Endpoint;
use crate::port::{Admission, Port, Queues};
use crate::probe::sampler::Sampler;

/// What a leaf of the schedule stands for; the number is an index into the cluster's list of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leaf {
    /// The cell in transmission at a served port leaves.
    Departure(u32),
    /// Series are sampled.
    Sample,
    /// A cell reaches this end of a link.
    Arrival(u32),
    /// An end of a connection sends.
    Transmission(u32),
}

/// Where the link behind a port goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exit {
    /// To a node of this cluster: an index into `inputs`.
    Inside(u32),
    /// To another cluster: an index into `outboxes`.
    Outside(u32),
}

/// The cells that left for another cluster since the last exchange.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// The cluster.
    pub cluster: u32,
    /// Its input.
    pub input: u32,
    /// In order of arrival.
    pub cells: Vec<Cell>,
}

/// Nodes with one scheduler. Lists are in the order of the scenario.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub hops: Arc<[Hop]>,
    pub ports: Vec<Port>,
    pub exits: Vec<Exit>,
    pub inputs: Vec<Ring>,
    pub endpoints: Vec<Endpoint>,
    pub outboxes: Vec<Outbox>,
    pub sampler: Sampler,
    /// Cells of each direction of each connection lost in this cluster.
    pub dropped: Vec<u64>,
    schedule: Schedule,
    leaves: Vec<Leaf>,
    departure_leaves: Vec<u32>,
    sample_leaf: u32,
    arrival_leaves: Vec<u32>,
    transmission_leaves: Vec<u32>,
    pub events: u64,
}

/// What a cluster is made of.
pub(crate) struct Parts {
    pub hops: Arc<[Hop]>,
    pub ports: Vec<Port>,
    pub exits: Vec<Exit>,
    pub inputs: usize,
    pub endpoints: Vec<Endpoint>,
    pub outboxes: Vec<Outbox>,
    pub sampler: Sampler,
    pub flows: usize,
}

impl Cluster {
    /// A cluster at time zero, with the first transmission of every end scheduled.
    pub fn new(parts: Parts) -> Cluster {
        let Parts { hops, ports, exits, inputs, endpoints, outboxes, sampler, flows } = parts;
        let served = |port: &Port| matches!(port.queues, Queues::Served(_));
        let departures = (0..).zip(&ports).filter(|(_, port)| served(port)).map(|(i, _)| Leaf::Departure(i));
        let mut leaves: Vec<Leaf> = departures.collect();
        leaves.push(Leaf::Sample);
        leaves.extend((0..inputs as u32).map(Leaf::Arrival));
        leaves.extend((0..endpoints.len() as u32).map(Leaf::Transmission));
        let mut cluster = Cluster {
            schedule: Schedule::new(leaves.len()),
            departure_leaves: vec![NONE; ports.len()],
            sample_leaf: 0,
            arrival_leaves: vec![NONE; inputs],
            transmission_leaves: vec![NONE; endpoints.len()],
            inputs: (0..inputs).map(|_| Ring::new()).collect(),
            dropped: vec![0; flows],
            events: 0,
            hops,
            ports,
            exits,
            endpoints,
            outboxes,
            sampler,
            leaves,
        };
        for (number, &leaf) in (0..).zip(&cluster.leaves) {
            match leaf {
                Leaf::Departure(port) => cluster.departure_leaves[port as usize] = number,
                Leaf::Sample => cluster.sample_leaf = number,
                Leaf::Arrival(input) => cluster.arrival_leaves[input as usize] = number,
                Leaf::Transmission(endpoint) => cluster.transmission_leaves[endpoint as usize] = number,
            }
        }
        for endpoint in 0..cluster.endpoints.len() {
            cluster.reschedule(Time::ZERO, endpoint);
        }
        cluster.schedule.set(cluster.sample_leaf as usize, cluster.sampler.next());
        cluster
    }

    /// The last instant that the schedule can hold.
    pub fn last_instant(&self) -> Time {
        Schedule::last_instant(self.leaves.len())
    }

    /// Does everything that happens before `end`.
    pub fn run_until(&mut self, end: Time) {
        loop {
            let (now, leaf) = self.schedule.first();
            if now >= end {
                return;
            }
            self.events += 1;
            match self.leaves[leaf] {
                Leaf::Arrival(input) => self.on_arrival(now, input as usize, leaf),
                Leaf::Transmission(endpoint) => self.on_transmission(now, endpoint as usize),
                Leaf::Departure(port) => self.on_departure(now, port as usize, leaf),
                Leaf::Sample => self.on_sample(now, leaf),
            }
        }
    }

    /// Cells that came from another cluster over the link of `input`, in order.
    pub fn receive(&mut self, input: usize, cells: &[Cell]) {
        let ring = &mut self.inputs[input];
        if let (true, Some(first)) = (ring.is_empty(), cells.first()) {
            self.schedule.set(self.arrival_leaves[input] as usize, first.arrives);
        }
        cells.iter().for_each(|&cell| ring.push(cell));
    }

    #[inline]
    fn on_arrival(&mut self, now: Time, input: usize, leaf: usize) {
        let ring = &mut self.inputs[input];
        let Some(cell) = ring.pop() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let next = ring.first().map_or(Time::NEVER, |cell| cell.arrives);
        self.schedule.set(leaf, next);
        let crossed = &self.hops[cell.hop()];
        if crossed.endpoint == NONE {
            self.forward(now, cell);
        } else {
            self.deliver(now, crossed.endpoint as usize, cell);
        }
    }

    /// A switch passes `cell` on over its next hop.
    #[inline]
    fn forward(&mut self, now: Time, cell: Cell) {
        let number = cell.hop() + 1;
        let mut cell = cell.on_hop(number);
        let hop = self.hops[number];
        if cell.is_rm() && cell.direction() == Direction::Backward {
            let port = &mut self.ports[hop.answering_port as usize];
            cell = port.answer(now, hop.answering_slot, cell);
            self.sampler.note_port(now, hop.answering_port, port);
        }
        let port = &mut self.ports[hop.port as usize];
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, &cell);
        }
        self.enqueue(now, &hop, cell);
    }

    /// `cell` comes to the port of `hop`.
    #[inline]
    fn enqueue(&mut self, now: Time, hop: &Hop, cell: Cell) {
        let port = &mut self.ports[hop.port as usize];
        let admission = match &mut port.queues {
            Queues::Fifo(fifo) => fifo.admit(now, cell),
            Queues::Served(served) => served.admit(now, usize::from(hop.priority), cell, &mut port.control),
        };
        match admission {
            Admission::OnLink(cell) => self.put_on_link(hop.port as usize, cell),
            Admission::Queued(departure) => {
                if let Some(departure) = departure {
                    self.schedule.set(self.departure_leaves[hop.port as usize] as usize, departure);
                }
            }
            Admission::Lost => self.lose(hop.port as usize, hop.flow as usize),
        }
        self.sampler.note_port(now, hop.port, &self.ports[hop.port as usize]);
    }

    #[inline]
    fn put_on_link(&mut self, port: usize, cell: Cell) {
        match self.exits[port] {
            Exit::Inside(input) => {
                let ring = &mut self.inputs[input as usize];
                if ring.is_empty() {
                    self.schedule.set(self.arrival_leaves[input as usize] as usize, cell.arrives);
                }
                ring.push(cell);
            }
            Exit::Outside(outbox) => self.outboxes[outbox as usize].cells.push(cell),
        }
    }

    #[cold]
    fn lose(&mut self, port: usize, flow: usize) {
        self.ports[port].dropped += 1;
        self.dropped[flow] += 1;
    }

    /// `cell` has reached the end of its path.
    #[inline]
    fn deliver(&mut self, now: Time, endpoint: usize, cell: Cell) {
        if !cell.is_rm() {
            if self.endpoints[endpoint].on_data(now, &cell) {
                self.reschedule(now, endpoint);
            }
        } else {
            let at_once = self.endpoints[endpoint].on_rm(now, cell);
            if let Some(cell) = at_once {
                let hop = self.hops[cell.hop()];
                self.enqueue(now, &hop, cell);
            }
            self.reschedule(now, endpoint);
        }
        self.sampler.note_endpoint(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    #[inline]
    fn on_transmission(&mut self, now: Time, endpoint: usize) {
        if let Some(cell) = self.endpoints[endpoint].transmit(now) {
            let hop = self.hops[cell.hop()];
            self.enqueue(now, &hop, cell);
        }
        self.reschedule(now, endpoint);
        self.sampler.note_endpoint(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    #[inline]
    fn reschedule(&mut self, now: Time, endpoint: usize) {
        let next = self.endpoints[endpoint].next_transmission(now);
        self.schedule.set(self.transmission_leaves[endpoint] as usize, next);
    }

    fn on_departure(&mut self, now: Time, port: usize, leaf: usize) {
        let Port { queues: Queues::Served(_), metered, .. } = &self.ports[port] else {
            unreachable!("only served ports have departures");
        };
        if *metered {
            // A cell that leaves at the very end of an interval has left, so only earlier ends come first.
            self.ports[port].end_intervals_before(now);
        }
        let Port { queues: Queues::Served(served), control, .. } = &mut self.ports[port] else { return };
        let (cell, next) = served.depart(now, control);
        self.schedule.set(leaf, next);
        match cell {
            Ok(cell) => self.put_on_link(port, cell),
            Err(lost) => self.lose(port, self.hops[lost.hop()].flow as usize),
        }
        self.sampler.note_port(now, port as u32, &self.ports[port]);
    }

    fn on_sample(&mut self, now: Time, leaf: usize) {
        self.sampler.sample(now, &mut self.ports, &self.endpoints, &self.dropped);
        self.schedule.set(leaf, self.sampler.next());
    }
}
