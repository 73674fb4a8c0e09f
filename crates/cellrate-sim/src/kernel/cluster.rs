//! A cluster: nodes that share one scheduler, with their ports, their ends of connections and the links that come in.
//!
//! Everything that can happen has a fixed leaf in the schedule, in this order, which is also the order of events at the
//! same instant: departures from served ports, samples of series, arrivals over links, transmissions of sources, timers of
//! TCP; within each kind in the order of the scenario. It is the same order whatever the clusters are, because only events of one
//! node can touch one another at the same instant, and a node is in one cluster.
//!
//! Two kinds of events are not spent. The transmissions of a source that has its access link to itself are *folded*: they
//! are worked out when their arrival at the switch is due ([`Access::Folded`]), or just before something reaches the
//! host that may change them. And a data cell on the last link of its path is counted as soon as its arrival is known
//! ([`Endpoint::receive`]), because nothing but the order of cells matters there. Both leave every instant exact; where a
//! series wants to see every arrival as it happens, or the host answers what arrives, arrivals are events after all
//! ([`Input::every_cell`]).
//!
//! For TCP the cells of a PDU are put together in the order of the cells, too; only the last one of a whole PDU is an
//! event, because what the segment says counts from its instant on. Whatever changes the queue of a folded source first
//! lets the transmissions before it catch up, then changes the queue, then works out the next transmission anew.

use std::sync::Arc;

use cellrate_proto::{Direction, Duration, Time};

use super::cell::Cell;
use super::hop::{Hop, NONE};
use super::ring::Ring;
use super::schedule::Schedule;
use crate::endpoint::{Access, Endpoint};
use crate::port::{Admission, Exit, Port, Queues};
use crate::probe::sampler::Sampler;
use crate::tap::Departures;
use crate::transport::{Peer, pick_up};

/// What a leaf of the schedule stands for; the number is an index into the cluster's list of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leaf {
    /// The cell in transmission at a served port leaves.
    Departure(u32),
    /// Series are sampled.
    Sample,
    /// A cell reaches a switch over a link that a source has to itself.
    Folded(u32),
    /// A cell reaches a switch over any other link.
    Transit(u32),
    /// A cell reaches a host.
    Delivery(u32),
    /// An end of a connection sends.
    Transmission(u32),
    /// A timer of TCP at an end of a connection.
    Timer(u32),
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

/// The near end of a link, as seen by the node that receives from it.
#[derive(Debug)]
pub(crate) struct Input {
    /// The cells on the link that are still to be dealt with.
    pub ring: Ring,
    /// The end of a connection whose transmissions are folded into this link, or [`NONE`].
    pub feeder: u32,
    /// Whether it belongs to a host.
    pub at_host: bool,
    /// Whether every arrival has to be an event.
    pub every_cell: bool,
    leaf: u32,
}

impl Input {
    pub fn new() -> Input {
        Input { ring: Ring::new(), feeder: NONE, at_host: false, every_cell: false, leaf: NONE }
    }
}

/// Nodes with one scheduler. Lists are in the order of the scenario.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub hops: Arc<[Hop]>,
    pub ports: Vec<Port>,
    pub inputs: Vec<Input>,
    pub endpoints: Vec<Endpoint>,
    pub outboxes: Vec<Outbox>,
    pub sampler: Sampler,
    /// What leaves ports that somebody taps.
    pub departures: Option<Box<Departures>>,
    /// Cells of each direction of each connection lost in this cluster.
    pub dropped: Vec<u64>,
    /// Nothing happens at or after this.
    end: Time,
    schedule: Schedule,
    leaves: Vec<Leaf>,
    departure_leaves: Vec<u32>,
    sample_leaf: u32,
    transmission_leaves: Vec<u32>,
    timer_leaves: Vec<u32>,
    pub events: u64,
}

/// What a cluster is made of.
pub(crate) struct Parts {
    pub hops: Arc<[Hop]>,
    pub ports: Vec<Port>,
    pub inputs: Vec<Input>,
    pub endpoints: Vec<Endpoint>,
    pub outboxes: Vec<Outbox>,
    pub sampler: Sampler,
    pub flows: usize,
    pub end: Time,
}

impl Cluster {
    /// A cluster at time zero, with the first transmission of every end scheduled.
    pub fn new(parts: Parts) -> Cluster {
        let Parts { hops, ports, inputs, endpoints, outboxes, sampler, flows, end } = parts;
        let served = |port: &Port| matches!(port.queues, Queues::Served(_));
        let scheduled = |endpoint: &Endpoint| endpoint.access == Access::Scheduled;
        let departures = (0..).zip(&ports).filter(|(_, port)| served(port)).map(|(i, _)| Leaf::Departure(i));
        let transmissions = (0..).zip(&endpoints).filter(|(_, endpoint)| scheduled(endpoint));
        let mut leaves: Vec<Leaf> = departures.collect();
        leaves.push(Leaf::Sample);
        leaves.extend((0..).zip(&inputs).map(|(number, input)| match input {
            Input { at_host: true, .. } => Leaf::Delivery(number),
            Input { feeder: NONE, .. } => Leaf::Transit(number),
            _ => Leaf::Folded(number),
        }));
        leaves.extend(transmissions.map(|(i, _)| Leaf::Transmission(i)));
        let with_tcp = (0..).zip(&endpoints).filter(|(_, endpoint)| endpoint.interface.is_some());
        leaves.extend(with_tcp.map(|(i, _)| Leaf::Timer(i)));
        let mut cluster = Cluster {
            schedule: Schedule::new(leaves.len()),
            departure_leaves: vec![NONE; ports.len()],
            sample_leaf: 0,
            transmission_leaves: vec![NONE; endpoints.len()],
            timer_leaves: vec![NONE; endpoints.len()],
            departures: None,
            dropped: vec![0; flows],
            events: 0,
            hops,
            ports,
            inputs,
            endpoints,
            outboxes,
            sampler,
            end,
            leaves,
        };
        for (number, &leaf) in (0..).zip(&cluster.leaves) {
            match leaf {
                Leaf::Departure(port) => cluster.departure_leaves[port as usize] = number,
                Leaf::Sample => cluster.sample_leaf = number,
                Leaf::Folded(input) | Leaf::Transit(input) | Leaf::Delivery(input) => {
                    cluster.inputs[input as usize].leaf = number;
                }
                Leaf::Transmission(endpoint) => cluster.transmission_leaves[endpoint as usize] = number,
                Leaf::Timer(endpoint) => cluster.timer_leaves[endpoint as usize] = number,
            }
        }
        for endpoint in 0..cluster.endpoints.len() {
            cluster.reschedule(Time::ZERO, endpoint);
            cluster.reschedule_timer(endpoint);
        }
        cluster.schedule.set(cluster.sample_leaf as usize, cluster.sampler.next());
        cluster.note_everything(Time::ZERO);
        cluster
    }

    /// Every series of changes takes its value at `now`.
    fn note_everything(&mut self, now: Time) {
        for index in 0..self.ports.len() as u32 {
            self.sampler.note_port(now, index, &mut self.ports);
        }
        for index in 0..self.endpoints.len() as u32 {
            self.sampler.note_endpoint(now, index, &self.endpoints);
        }
    }

    /// The last instant that the schedule can hold.
    pub fn last_instant(&self) -> Time {
        Schedule::last_instant(self.leaves.len())
    }

    /// Does everything that happens before `until`.
    pub fn run_until(&mut self, until: Time) {
        loop {
            let (now, leaf) = self.schedule.first();
            if now >= until {
                return;
            }
            self.events += 1;
            match self.leaves[leaf] {
                Leaf::Folded(input) => self.on_folded(now, input as usize, leaf),
                Leaf::Transit(input) => self.on_transit(now, until, input as usize, leaf),
                Leaf::Delivery(input) => self.on_delivery(now, input as usize, leaf),
                Leaf::Transmission(endpoint) => self.on_transmission(now, endpoint as usize),
                Leaf::Departure(port) => self.on_departure(now, port as usize, leaf),
                Leaf::Sample => self.on_sample(now, leaf),
                Leaf::Timer(endpoint) => self.on_timer(now, endpoint as usize),
            }
        }
    }

    /// Ends the intervals that end before `end`, the end of the run, and that nothing came after, where their figures
    /// are recorded.
    pub fn finish(&mut self, end: Time) {
        let last = Time::from_ps(end.as_ps().saturating_sub(1));
        for index in 0..self.ports.len() {
            let port = &mut self.ports[index];
            if port.metered && port.ended.is_some() {
                port.end_intervals_before(end);
                self.sampler.note_port(last, index as u32, &mut self.ports);
            }
        }
    }

    /// Cells that came from another cluster over the link of `input`, in order.
    pub fn receive(&mut self, input: usize, cells: &[Cell]) {
        for &cell in cells {
            let endpoint = self.hops[cell.hop()].endpoint;
            self.approach(input, endpoint, cell);
        }
    }

    /// The transmissions before `until` have all been made: for looking at the hosts.
    pub fn catch_up_all(&mut self, until: Time) {
        for endpoint in 0..self.endpoints.len() {
            self.catch_up(endpoint, until);
        }
    }

    /// A cell reaches a switch from a source that has the link to itself: off the link, or worked out only now.
    #[inline]
    fn on_folded(&mut self, now: Time, input: usize, leaf: usize) {
        let place = &mut self.inputs[input];
        let feeder = place.feeder as usize;
        let cell = match place.ring.pop() {
            Some(cell) => cell,
            None => self.feed(feeder),
        };
        let next = match self.inputs[input].ring.first() {
            Some(cell) => cell.arrives,
            None => self.next_folded_arrival(feeder),
        };
        self.schedule.set(leaf, next);
        self.forward(now, cell);
    }

    /// Cells reach a switch, one after the other for as long as nothing else in the cluster comes first.
    #[inline]
    fn on_transit(&mut self, now: Time, until: Time, input: usize, leaf: usize) {
        self.schedule.hold(leaf);
        let mut now = now;
        loop {
            let Some(cell) = self.inputs[input].ring.pop() else {
                unreachable!("an arrival is scheduled only while a cell is on the link");
            };
            self.forward(now, cell);
            let next = self.inputs[input].ring.first().map_or(Time::NEVER, |cell| cell.arrives);
            if next >= until || !self.schedule.precedes(leaf, next) {
                return self.schedule.set(leaf, next);
            }
            now = next;
            self.events += 1;
        }
    }

    /// A cell reaches a host, and there is something to do about it at this instant.
    fn on_delivery(&mut self, now: Time, input: usize, leaf: usize) {
        let place = &mut self.inputs[input];
        let every_cell = place.every_cell;
        let Some(cell) = place.ring.pop() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let next = place.ring.first().map_or(Time::NEVER, |cell| cell.arrives);
        self.schedule.set(leaf, next);
        let endpoint = self.hops[cell.hop()].endpoint;
        if !every_cell {
            return self.on_arrival(now, endpoint as usize, cell);
        }
        let end = &self.endpoints[endpoint as usize];
        let answers = end.supply.conversation().is_some();
        if answers || end.interface.is_some() {
            // What it has sent by now is not touched by what it may send because of this cell, and a series that is
            // noted meanwhile has not seen the cell.
            self.catch_up(endpoint as usize, now);
        }
        match self.endpoints[endpoint as usize].receive(cell) {
            Some(left_to_do) => self.on_arrival(now, endpoint as usize, left_to_do),
            None if answers
                && self.endpoints[endpoint as usize].supply.on_delivered(now, cell.sequence()) =>
            {
                self.reschedule(now, endpoint as usize);
            }
            None => {}
        }
        self.sampler.note_endpoint(now, endpoint, &self.endpoints);
    }

    /// The next folded transmission of `endpoint`, put on its access link.
    #[inline(always)]
    fn feed(&mut self, endpoint: usize) -> Cell {
        let sender = &mut self.endpoints[endpoint];
        let Access::Folded { port, .. } = sender.access else {
            unreachable!("an arrival is scheduled only while a cell is on the link, or for a folded source");
        };
        let at = sender.transmits;
        let Some(mut cell) = sender.transmit(at) else {
            unreachable!("something waits at the next transmission");
        };
        sender.transmits = sender.next_transmission(at);
        self.sampler.note_endpoint(at, endpoint as u32, &self.endpoints);
        let Port { queues: Queues::Fifo(fifo), .. } = &mut self.ports[port as usize] else {
            unreachable!("only sources behind a FIFO are folded");
        };
        let Some(arrives) = fifo.admit(at) else {
            unreachable!("only sources behind a lossless port are folded");
        };
        cell.arrives = arrives;
        cell
    }

    #[inline(always)]
    fn next_folded_arrival(&self, endpoint: usize) -> Time {
        let sender = &self.endpoints[endpoint];
        match (sender.access, sender.transmits) {
            (_, Time::NEVER) | (Access::Scheduled, _) => Time::NEVER,
            (Access::Folded { port, .. }, at) => match &self.ports[port as usize].queues {
                Queues::Fifo(fifo) => fifo.preview(at),
                Queues::Served(_) => unreachable!("only sources behind a FIFO are folded"),
            },
        }
    }

    /// Puts the folded transmissions of `endpoint` before `until` on its access link.
    fn catch_up(&mut self, endpoint: usize, until: Time) {
        let Access::Folded { input, .. } = self.endpoints[endpoint].access else { return };
        while self.endpoints[endpoint].transmits < until {
            let cell = self.feed(endpoint);
            let place = &mut self.inputs[input as usize];
            if place.ring.is_empty() {
                self.schedule.set(place.leaf as usize, cell.arrives);
            }
            place.ring.push(cell);
        }
    }

    /// A switch passes `cell` on over its next hop.
    #[inline(always)]
    fn forward(&mut self, now: Time, cell: Cell) {
        let number = cell.hop() + 1;
        let mut cell = cell.on_hop(number);
        let hop = self.hops[number];
        if cell.is_rm() && cell.direction() == Direction::Backward {
            cell = self.ports[hop.answering_port as usize].answer(now, hop.answering_slot, cell);
            self.sampler.note_port(now, hop.answering_port, &mut self.ports);
        }
        let port = &mut self.ports[hop.port as usize];
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, &cell);
        }
        self.enqueue(now, &hop, cell);
    }

    /// `cell` comes to the port of `hop`.
    #[inline(always)]
    fn enqueue(&mut self, now: Time, hop: &Hop, mut cell: Cell) {
        let port = &mut self.ports[hop.port as usize];
        if let Queues::Fifo(fifo) = &mut port.queues {
            match fifo.admit(now) {
                Some(arrives) => {
                    cell.arrives = arrives;
                    let exit = port.exit;
                    self.put_on_link(exit, hop.endpoint, cell);
                }
                None => self.lose(hop.port as usize, hop.flow as usize),
            }
        } else {
            self.enqueue_served(now, hop, cell);
        }
        self.sampler.note_port(now, hop.port, &mut self.ports);
    }

    fn enqueue_served(&mut self, now: Time, hop: &Hop, cell: Cell) {
        let port = &mut self.ports[hop.port as usize];
        let Queues::Served(served) = &mut port.queues else { return };
        match served.admit(now, usize::from(hop.priority), cell, &mut port.control) {
            Admission::Queued(None) => {}
            Admission::Queued(Some(departure)) => {
                self.schedule.set(self.departure_leaves[hop.port as usize] as usize, departure);
            }
            Admission::Lost => self.lose(hop.port as usize, hop.flow as usize),
        }
    }

    #[inline(always)]
    fn put_on_link(&mut self, exit: Exit, endpoint: u32, cell: Cell) {
        match exit {
            Exit::Inside(input) => self.approach(input as usize, endpoint, cell),
            Exit::Outside(outbox) => self.outboxes[outbox as usize].cells.push(cell),
        }
    }

    /// `cell` is on the link of `input`, which ends its path if `endpoint` is one.
    #[inline(always)]
    fn approach(&mut self, input: usize, endpoint: u32, cell: Cell) {
        let place = &mut self.inputs[input];
        let mut cell = cell;
        // What arrives at or after the end of the run stays on the link.
        if endpoint != NONE && !place.every_cell && cell.arrives < self.end {
            match self.endpoints[endpoint as usize].receive(cell) {
                Some(left_to_do) => cell = left_to_do,
                None => return,
            }
        }
        if place.ring.is_empty() {
            self.schedule.set(place.leaf as usize, cell.arrives);
        }
        place.ring.push(cell);
    }

    #[cold]
    fn lose(&mut self, port: usize, flow: usize) {
        self.ports[port].dropped += 1;
        self.dropped[flow] += 1;
    }

    /// The instant of a cell that `endpoint` has received has come.
    #[inline]
    fn on_arrival(&mut self, now: Time, endpoint: usize, cell: Cell) {
        if cell.is_rm() { self.on_rm(now, endpoint, cell) } else { self.on_pdu(now, endpoint, cell) }
    }

    /// `cell` was the last one of a whole PDU.
    fn on_pdu(&mut self, now: Time, endpoint: usize, cell: Cell) {
        self.catch_up(endpoint, now);
        let Some(interface) = &mut self.endpoints[endpoint].interface else {
            unreachable!("only ends with TCP put PDUs together");
        };
        let departed = match interface.peer {
            Peer::Far => pick_up(&mut interface.arrivals, cell.sequence()),
            Peer::Near(peer) => self.endpoints[peer as usize]
                .supply
                .adapter_mut()
                .and_then(|adapter| pick_up(&mut adapter.departed, cell.sequence())),
        };
        let Some(departed) = departed else {
            unreachable!("what arrives has left");
        };
        if self.endpoints[endpoint].on_pdu(now, cell, &departed) {
            self.reschedule(now, endpoint);
        }
        self.reschedule_timer(endpoint);
        self.sampler.note_endpoint(now, endpoint as u32, &self.endpoints);
    }

    fn on_timer(&mut self, now: Time, endpoint: usize) {
        // Transmissions of this very instant come first.
        self.catch_up(endpoint, now + Duration::from_ps(1));
        if self.endpoints[endpoint].on_timer(now) {
            self.reschedule(now, endpoint);
        }
        self.reschedule_timer(endpoint);
        self.sampler.note_endpoint(now, endpoint as u32, &self.endpoints);
    }

    /// The next timer of `endpoint` may have moved.
    #[inline]
    fn reschedule_timer(&mut self, endpoint: usize) {
        let Some(interface) = &mut self.endpoints[endpoint].interface else { return };
        let next = interface.stack.next_timer();
        if next != interface.scheduled {
            interface.scheduled = next;
            self.schedule.set(self.timer_leaves[endpoint] as usize, next);
        }
    }

    /// The instant of an RM cell that `endpoint` has received has come.
    fn on_rm(&mut self, now: Time, endpoint: usize, cell: Cell) {
        self.catch_up(endpoint, now);
        if let Some(cell) = self.endpoints[endpoint].on_rm(now, cell) {
            let hop = self.hops[cell.hop()];
            self.enqueue(now, &hop, cell);
        }
        self.reschedule(now, endpoint);
        self.sampler.note_endpoint(now, endpoint as u32, &self.endpoints);
    }

    #[inline]
    fn on_transmission(&mut self, now: Time, endpoint: usize) {
        if let Some(cell) = self.endpoints[endpoint].transmit(now) {
            let hop = self.hops[cell.hop()];
            self.enqueue(now, &hop, cell);
        }
        self.reschedule(now, endpoint);
        self.sampler.note_endpoint(now, endpoint as u32, &self.endpoints);
    }

    /// The next transmission of `endpoint`, not before `now`, may have moved.
    #[inline]
    fn reschedule(&mut self, now: Time, endpoint: usize) {
        let sender = &mut self.endpoints[endpoint];
        sender.transmits = sender.next_transmission(now);
        match sender.access {
            Access::Scheduled => {
                self.schedule.set(self.transmission_leaves[endpoint] as usize, sender.transmits);
            }
            Access::Folded { input, .. } => {
                if self.inputs[input as usize].ring.is_empty() {
                    let arrival = self.next_folded_arrival(endpoint);
                    self.schedule.set(self.inputs[input as usize].leaf as usize, arrival);
                }
            }
        }
    }

    fn on_departure(&mut self, now: Time, port: usize, leaf: usize) {
        if self.ports[port].metered {
            // A cell that leaves at the very end of an interval has left, so only earlier ends come first.
            self.ports[port].end_intervals_before(now);
        }
        let Port { queues: Queues::Served(served), control, .. } = &mut self.ports[port] else {
            unreachable!("only served ports have departures");
        };
        let (cell, next) = served.depart(now, control);
        if let Some(departures) = &mut self.departures {
            departures.note(now, port, &cell);
        }
        self.schedule.set(leaf, next);
        match cell {
            Ok(cell) => {
                let exit = self.ports[port].exit;
                self.put_on_link(exit, self.hops[cell.hop()].endpoint, cell);
            }
            Err(lost) => self.lose(port, self.hops[lost.hop()].flow as usize),
        }
        self.sampler.note_port(now, port as u32, &mut self.ports);
    }

    fn on_sample(&mut self, now: Time, leaf: usize) {
        self.catch_up_all(now);
        self.sampler.sample(now, &mut self.ports, &self.endpoints, &self.dropped);
        self.schedule.set(leaf, self.sampler.next());
    }
}
