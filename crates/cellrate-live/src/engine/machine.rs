//! The network at work in logical time: every event at its ideal instant, whenever it is done.
//!
//! # Order at the same instant
//!
//! As in the simulator: changes of lines, departures from ports, samples of series, arrivals over links, BRMs that
//! congested destinations originate and loopback requests, transmissions; each in the order of the ports and
//! connections; then, on lines that were idle, the turn of the highest category that has come. So a run with generated
//! traffic alone, in one process, goes the way that the simulated one does, cell by cell. Packets and datagrams, which
//! come from outside, come between events.

use std::collections::BTreeMap;
use std::io;

use cellrate_engine::schedule::Schedule;
use cellrate_engine::supply::CellSupply;
use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::{Direction, Source, Time};
use cellrate_scenario::{FlowIndex, LineState, LinkIndex};

use super::acks::Arrival;
use super::cell::{self, Cell};
use super::changes::LinkChange;
use super::counters::{HostCounters, Passage};
use super::edge::Verdict;
use super::error::Error;
use super::network::{Hop, NONE, Network};
use super::options::Host;
use super::port::{ABR, LineEnd};
use super::sampler::{NetworkReadings, Recording};
use super::tap::{CellTap, TapDirection};

/// Things that wait in the schedule: one for each of its leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    /// The line behind a port changes.
    Change(u32),
    /// The cell in transmission at a port leaves.
    Departure(u32),
    /// Series are sampled.
    Sample,
    /// A cell reaches a node.
    Arrival(u32),
    /// The destination of this adapter, which is congested, has a BRM of its own to send, or its loopback a request.
    Report(u32),
    /// An end of a connection sends.
    Transmission(u32),
    /// ACKs that the adapters of an attached host have kept leave.
    Edge(u32),
    /// ACKs that this adapter holds may pass to its host, which has not answered those before.
    Acks(u32),
}

/// The network, its schedule, and the outside world.
pub(crate) struct Machine<'a> {
    pub network: Network,
    pub recording: Recording,
    pub hosts: Vec<Host>,
    pub host_counters: Vec<HostCounters>,
    pub passages: Vec<Passage>,
    pub events: u64,
    schedule: Schedule,
    leaves: Vec<Leaf>,
    /// The leaf of the first port, of the first input and of the first adapter; those of changes begin at zero.
    first_port: u32,
    first_input: u32,
    first_adapter: u32,
    first_edge: u32,
    /// By adapter that treats ACKs, its leaf.
    ack_leaves: BTreeMap<u32, usize>,
    sample_leaf: usize,
    tap: Option<Box<dyn CellTap + 'a>>,
    /// Everything before this has happened, and what hosts sent before it has been taken in.
    done: Time,
    /// End of the stretch that is being done.
    stretch: Time,
}

impl<'a> Machine<'a> {
    /// `network` at `start`, with the first transmission of every end scheduled.
    pub fn new(
        mut network: Network,
        recording: Recording,
        hosts: Vec<Host>,
        tap: Option<Box<dyn CellTap + 'a>>,
        span: [Time; 2],
    ) -> Result<Machine<'a>, Error> {
        let [start, end] = span;
        let changing = (0..).zip(&network.ports).filter(|(_, port)| port.served.line().is_changing());
        let mut leaves: Vec<Leaf> = changing.map(|(number, _)| Leaf::Change(number)).collect();
        let first_port = leaves.len() as u32;
        leaves.extend((0..network.ports.len() as u32).map(Leaf::Departure));
        let sample_leaf = leaves.len();
        leaves.push(Leaf::Sample);
        let first_input = leaves.len() as u32;
        leaves.extend((0..network.inputs.len() as u32).map(Leaf::Arrival));
        let first_report = leaves.len();
        let with_reports = (0..).zip(&network.adapters).filter_map(|(number, adapter)| {
            (adapter.end.next_unasked(start) != Time::NEVER).then_some(Leaf::Report(number))
        });
        leaves.extend(with_reports);
        let first_adapter = leaves.len() as u32;
        leaves.extend((0..network.adapters.len() as u32).map(Leaf::Transmission));
        let first_edge = leaves.len() as u32;
        leaves.extend((0..network.edges.len() as u32).map(Leaf::Edge));
        let with_acks = (0..).zip(&network.adapters).filter(|(_, adapter)| adapter.acks.is_some());
        let ack_leaves: BTreeMap<u32, usize> =
            with_acks.zip(leaves.len()..).map(|((number, _), leaf)| (number, leaf)).collect();
        leaves.extend(ack_leaves.keys().map(|&number| Leaf::Acks(number)));
        let allowed = Schedule::last_instant(leaves.len());
        if end > allowed {
            return Err(Error::TooLong { given_s: end.as_secs_f64(), allowed_s: allowed.as_secs_f64() });
        }
        if start > Time::ZERO {
            network.adapters.iter_mut().for_each(|adapter| adapter.begin_at(start));
        }
        let mut machine = Machine {
            passages: vec![Passage::default(); network.sender_of.len()],
            host_counters: vec![HostCounters::default(); hosts.len()],
            schedule: Schedule::new(leaves.len()),
            network,
            recording,
            hosts,
            events: 0,
            leaves,
            first_port,
            first_input,
            first_adapter,
            first_edge,
            ack_leaves,
            sample_leaf,
            tap,
            done: start,
            stretch: start,
        };
        for leaf in 0..first_port as usize {
            machine.begin_changes(start, leaf);
        }
        for leaf in first_report..first_adapter as usize {
            machine.schedule_report(start, leaf);
        }
        for adapter in 0..machine.network.adapters.len() {
            machine.reschedule(start, adapter);
        }
        machine.recording.sampler.begin_at(start);
        machine.schedule.set(sample_leaf, machine.recording.sampler.next());
        machine.note_everything(start);
        Ok(machine)
    }

    /// The instant of the next event.
    pub fn next_event(&self) -> Time {
        self.schedule.first().0
    }

    /// Everything before this has happened.
    pub fn done(&self) -> Time {
        self.done
    }

    /// Does everything that happens before `until`.
    pub fn run_until(&mut self, until: Time) {
        self.stretch = until;
        loop {
            let (now, leaf) = self.schedule.first();
            if now >= until {
                self.done = self.done.max(until);
                return;
            }
            self.events += 1;
            match self.leaves[leaf] {
                Leaf::Change(port) => self.on_change(now, port as usize, leaf),
                Leaf::Departure(port) => self.on_departure(now, port as usize, leaf),
                Leaf::Arrival(input) => self.on_arrival(now, input as usize, leaf),
                Leaf::Report(adapter) => self.on_report(now, adapter as usize, leaf),
                Leaf::Transmission(adapter) => self.on_transmission(now, adapter as usize),
                Leaf::Edge(host) => self.on_edge(now, host as usize),
                Leaf::Acks(adapter) => self.release_acks(now, adapter as usize),
                Leaf::Sample => self.on_sample(now),
            }
        }
    }

    /// The host number `host` has sent `packet`, which goes into the queue of `adapter`, if the host's adapters do not
    /// keep it; `None` where no connection leads to its destination.
    pub fn on_packet(&mut self, host: usize, adapter: Option<u32>, packet: &mut [u8]) {
        let now = self.done;
        self.host_counters[host].received += 1;
        let Some(adapter) = adapter else {
            self.host_counters[host].without_vc += 1;
            return;
        };
        if let Some(edge) = &mut self.network.edges[host] {
            let verdict = edge.on_packet(now, adapter, packet);
            self.schedule.set(self.first_edge as usize + host, edge.due());
            if verdict == Verdict::Kept {
                return;
            }
        }
        self.network.adapters[adapter as usize].advise(now, packet);
        self.offer(now, adapter, packet);
    }

    /// A packet comes into the queue of an adapter.
    fn offer(&mut self, now: Time, adapter: u32, packet: &[u8]) {
        if self.network.adapters[adapter as usize].offer(packet) {
            self.reschedule(now, adapter as usize);
            self.note_adapter(now, adapter as usize);
        }
    }

    /// ACKs leave that the adapters of a host have kept until `now`.
    fn on_edge(&mut self, now: Time, host: usize) {
        while let Some((adapter, packet)) =
            self.network.edges[host].as_mut().and_then(|edge| edge.release(now))
        {
            self.offer(now, adapter, &packet);
        }
        let due = self.network.edges[host].as_ref().map_or(Time::NEVER, |edge| edge.due());
        self.schedule.set(self.first_edge as usize + host, due);
    }

    /// A cell came from another process over the link of `input`, and reaches the node at `arrives`, or now if that is
    /// past. Its header may be anything.
    pub fn on_foreign_cell(&mut self, input: usize, mut foreign: Cell) {
        let place = &mut self.network.inputs[input];
        let connection = cell::connection(foreign.header);
        let hop = connection.and_then(|connection| place.hops.get(connection.0 as usize)).copied();
        let Some(hop) = hop.filter(|&hop| hop != NONE) else {
            self.network.nodes[place.node.0 as usize].unknown_vc += 1;
            return;
        };
        self.passages[self.network.hops[hop as usize].flow.index()].entered += 1;
        let last = place.cells.back().map_or(Time::ZERO, |last| last.arrives);
        foreign.hop = hop;
        foreign.arrives = foreign.arrives.max(self.done).max(last);
        if place.cells.is_empty() {
            self.schedule.set(self.first_input as usize + input, foreign.arrives);
        }
        place.cells.push_back(foreign);
    }

    /// The line behind the port of a leaf is as it has become before `start`, and its next change is in the schedule.
    fn begin_changes(&mut self, start: Time, leaf: usize) {
        let Leaf::Change(number) = self.leaves[leaf] else { return };
        let port = &mut self.network.ports[number as usize];
        while port.served.next_change() < start {
            port.served.change(start, &mut port.control);
        }
        self.schedule.set(leaf, port.served.next_change());
    }

    /// Both lines of a link become what `change` says, now; what it leaves out stays as it is.
    #[cold]
    pub fn change_link(&mut self, change: &LinkChange) {
        let now = self.done;
        for leaf in 0..self.first_port as usize {
            let Leaf::Change(number) = self.leaves[leaf] else { continue };
            if self.network.port_indices[number as usize].link() != change.link {
                continue;
            }
            let line = self.network.ports[number as usize].served.line_mut();
            if let Some(state) = line.state() {
                line.insert(now, change.of(state));
                self.on_change(now, number as usize, leaf);
            }
        }
    }

    /// State of each link that may change, as its first line has it now.
    pub fn link_states(&self) -> impl Iterator<Item = (LinkIndex, LineState)> {
        let ports = self.network.port_indices.iter().zip(&self.network.ports);
        ports
            .filter(|(index, _)| index.end() == 0)
            .filter_map(|(index, port)| Some((index.link(), port.served.line().state()?)))
    }

    /// The line behind a port changes. Averaging intervals that end before have the rate before.
    #[cold]
    fn on_change(&mut self, now: Time, number: usize, leaf: usize) {
        let port = &mut self.network.ports[number];
        if port.metered {
            port.end_intervals_before(now);
        }
        let departure = port.served.change(now, &mut port.control);
        self.schedule.set(leaf, port.served.next_change());
        if let Some(departure) = departure {
            self.schedule.set(self.first_port as usize + number, departure);
        }
        self.recording.sampler.note_port(now, number as u32, &mut self.network.ports);
    }

    #[inline]
    fn on_departure(&mut self, now: Time, number: usize, leaf: usize) {
        let port = &mut self.network.ports[number];
        if port.metered {
            // A cell that leaves at the very end of an interval has left, so only earlier ends come first.
            port.end_intervals_before(now);
        }
        let (cell, next) = port.depart(now);
        let line_end = port.line_end;
        self.schedule.set(leaf, next);
        let Some(cell) = cell else { return };
        let (Ok(left) | Err(left)) = &cell;
        self.network.police.on_departure(now, left);
        if let Some(tap) = &mut self.tap {
            let (direction, cell) = match &cell {
                Ok(cell) => (TapDirection::Sent, cell),
                Err(cell) => (TapDirection::Lost, cell),
            };
            tap.cell(now, self.network.port_indices[number], direction, &cell.octets());
        }
        match cell {
            Ok(cell) => match line_end {
                LineEnd::Inside(input) => {
                    let place = &mut self.network.inputs[input as usize];
                    if place.cells.is_empty() {
                        self.schedule.set((self.first_input + input) as usize, cell.arrives);
                    }
                    place.cells.push_back(cell);
                }
                LineEnd::Outside(outgoing) => {
                    let flow = self.network.hops[cell.hop as usize].flow;
                    self.passages[flow.index()].left += 1;
                    // The other process works out the arrival.
                    let departed = Cell { arrives: now, ..cell };
                    self.network.outgoing[outgoing as usize].cells.push(departed);
                }
            },
            Err(lost) => {
                let flow = self.network.hops[lost.hop as usize].flow;
                self.passages[flow.index()].dropped += 1;
            }
        }
        self.recording.sampler.note_port(now, number as u32, &mut self.network.ports);
    }

    #[inline]
    fn on_arrival(&mut self, now: Time, input: usize, leaf: usize) {
        let place = &mut self.network.inputs[input];
        let Some(cell) = place.cells.pop_front() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let at_host = place.at_host;
        let next = place.cells.front().map_or(Time::NEVER, |cell| cell.arrives);
        self.schedule.set(leaf, next);
        if let Some(tap) = &mut self.tap {
            // The node's own port towards the sender is the other end of the same link.
            let interface = self.network.inputs[input].port.other();
            tap.cell(now, interface, TapDirection::Received, &cell.octets());
        }
        if at_host {
            return self.deliver(now, input, &cell);
        }
        let Some(cell) = self.network.police.on_arrival(now, cell) else {
            let flow = self.network.hops[cell.hop as usize].flow;
            self.passages[flow.index()].dropped += 1;
            return;
        };
        if cell.is_oam() {
            self.pass_oam(now, input, cell);
        } else if self.network.hops[cell.hop as usize].adapter != NONE {
            self.on_virtual_end(now, input, cell);
        } else {
            self.forward(now, input, cell);
        }
    }

    /// `cell` reaches the host at the end of its connection.
    #[inline]
    fn deliver(&mut self, now: Time, input: usize, cell: &Cell) {
        let Hop { adapter: number, flow, .. } = self.network.hops[cell.hop as usize];
        if cell.is_oam() {
            return self.deliver_oam(now, input, number as usize, flow, cell);
        }
        if !cell.is_data() {
            self.deliver_rm(now, input, number as usize, flow, cell);
            return;
        }
        let adapter = &mut self.network.adapters[number as usize];
        let host = adapter.reception.as_ref().map_or(0, |reception| reception.host as usize);
        let changes = adapter.changes_arriving();
        if let Some(packet) = adapter.receive_data(now, cell) {
            if changes {
                let packet = packet.to_vec();
                self.on_packet_for_host(now, number as usize, packet);
            } else {
                let sent = send(&mut self.hosts[host], packet);
                adapter.count_handed_over(sent);
            }
        }
        self.note_adapter(now, number as usize);
    }

    /// `packet` has come for the host of the adapter of this number, which treats ACKs or advises.
    fn on_packet_for_host(&mut self, now: Time, number: usize, mut packet: Vec<u8>) {
        let adapter = &mut self.network.adapters[number];
        let (acr, waiting) = (adapter.end.source().map(Source::acr), adapter.waiting_cells());
        if let Some(advice) = &mut adapter.advice {
            advice.on_arriving(now, &mut packet);
        }
        let Some(acks) = &mut adapter.acks else { return self.hand_over(number, &packet) };
        acks.on_taken_in(self.done);
        match acks.on_arrival(now, &mut packet, acr, waiting) {
            Arrival::Passes => self.hand_over(number, &packet),
            // Those before it may have waited for an answer that never came.
            Arrival::Held => self.release_acks(now, number),
        }
    }

    /// ACKs that an adapter holds, and that may pass, go to its host.
    fn release_acks(&mut self, now: Time, number: usize) {
        loop {
            let adapter = &mut self.network.adapters[number];
            let waiting = adapter.waiting_cells();
            let Some(acks) = &mut adapter.acks else { return };
            acks.on_taken_in(self.done);
            let Some(packet) = acks.release(now, waiting) else {
                if let Some(&leaf) = self.ack_leaves.get(&(number as u32)) {
                    // What the host has sent is taken in at the end of this stretch.
                    let due = acks.due();
                    self.schedule.set(leaf, if due <= now { self.stretch } else { due });
                }
                return;
            };
            self.hand_over(number, &packet);
        }
    }

    /// The host of the adapter of this number gets `packet`.
    fn hand_over(&mut self, number: usize, packet: &[u8]) {
        let adapter = &mut self.network.adapters[number];
        let host = adapter.reception.as_ref().map_or(0, |reception| reception.host as usize);
        let sent = send(&mut self.hosts[host], packet);
        adapter.count_handed_over(sent);
    }

    pub(super) fn deliver_rm(
        &mut self,
        now: Time,
        input: usize,
        number: usize,
        flow: FlowIndex,
        cell: &Cell,
    ) {
        let received = self.network.adapters[number].receive_rm(now, cell);
        self.answer_control(now, input, number, flow, received);
    }

    /// The end of this number has received an RM or OAM cell of `flow`: its answer, if there is one, leaves at once,
    /// and a damaged cell is counted.
    pub(super) fn answer_control(
        &mut self,
        now: Time,
        input: usize,
        number: usize,
        flow: FlowIndex,
        received: Result<Option<Cell>, ()>,
    ) {
        match received {
            Err(()) => return self.count_damaged(input, flow),
            Ok(None) => {}
            Ok(Some(answer)) => self.leave(now, number, answer),
        }
        self.reschedule(now, number);
        self.note_adapter(now, number);
    }

    /// An RM or OAM cell of `flow` is damaged, or of another protocol, where `input` ends.
    fn count_damaged(&mut self, input: usize, flow: FlowIndex) {
        self.passages[flow.index()].dropped += 1;
        let node = self.network.inputs[input].node;
        self.network.nodes[node.0 as usize].damaged_rm += 1;
    }

    /// A switch passes `cell` on over its next hop.
    #[inline]
    pub(super) fn forward(&mut self, now: Time, input: usize, mut cell: Cell) {
        cell.hop += 1;
        let hop = self.network.hops[cell.hop as usize];
        let mut rm = None;
        if cell.is_rm() {
            let Ok(mut contents) = cell.to_rm() else {
                return self.count_damaged(input, hop.flow);
            };
            if contents.direction == Direction::Backward && hop.answering_port != NONE {
                let answering = &mut self.network.ports[hop.answering_port as usize];
                if hop.answering_slot.0 != NONE && answering.answer(now, hop.answering_slot, &mut contents) {
                    cell.set_rm(&contents);
                }
                self.recording.sampler.note_port(now, hop.answering_port, &mut self.network.ports);
            }
            rm = Some(contents);
        }
        let port = &mut self.network.ports[hop.port as usize];
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, rm.as_ref());
            let goes_back = rm.is_some_and(|rm| rm.direction == Direction::Backward);
            if port.originates && usize::from(hop.priority) == ABR && !goes_back {
                self.originate(now, &cell, &hop);
            }
        }
        self.enqueue(now, cell);
    }

    /// `cell` comes to the port of its hop.
    #[inline]
    pub(super) fn enqueue(&mut self, now: Time, cell: Cell) {
        let hop = self.network.hops[cell.hop as usize];
        match self.network.ports[hop.port as usize].admit(now, hop.priority, hop.slot, cell) {
            Ok(None) => {}
            Ok(Some(departure)) => self.schedule.set((self.first_port + hop.port) as usize, departure),
            Err(()) => self.passages[hop.flow.index()].dropped += 1,
        }
        self.recording.sampler.note_port(now, hop.port, &mut self.network.ports);
    }

    /// The destination at the adapter of this number is congested, and has a BRM of its own to send, or its loopback a
    /// request.
    fn on_report(&mut self, now: Time, number: usize, leaf: usize) {
        if self.network.adapters[number].end.next_report(now) == now
            && let Some(cell) = self.network.adapters[number].report(now)
        {
            self.leave(now, number, cell);
        }
        while let Some(cell) = self.network.adapters[number].request_loopback(now) {
            self.leave(now, number, cell);
        }
        self.reschedule(now, number);
        self.schedule_report(now, leaf);
        self.note_adapter(now, number);
    }

    /// The next cell that this adapter sends unasked, not before `now`.
    fn schedule_report(&mut self, now: Time, leaf: usize) {
        if let Leaf::Report(number) = self.leaves[leaf] {
            self.schedule.set(leaf, self.network.adapters[number as usize].end.next_unasked(now));
        }
    }

    #[inline]
    fn on_transmission(&mut self, now: Time, number: usize) {
        if let Some(cell) = self.network.adapters[number].transmit(now) {
            self.leave(now, number, cell);
        }
        if self.network.adapters[number].acks.as_ref().is_some_and(|acks| acks.holds_any()) {
            self.release_acks(now, number);
        }
        self.reschedule(now, number);
        self.note_adapter(now, number);
    }

    /// `cell` leaves the adapter of this number.
    #[inline]
    pub(super) fn leave(&mut self, now: Time, number: usize, cell: Cell) {
        if self.is_virtual(number) {
            self.leave_virtual_end(now, number, cell);
        } else {
            self.enqueue(now, cell);
        }
    }

    /// The next transmission of an adapter, not before `now`, may have moved.
    #[inline]
    pub(super) fn reschedule(&mut self, now: Time, number: usize) {
        let next = self.network.adapters[number].end.next_transmission(now);
        self.schedule.set(self.first_adapter as usize + number, next);
    }

    /// Something happened at the adapter of this number.
    #[inline]
    pub(super) fn note_adapter(&mut self, now: Time, number: usize) {
        self.recording.sampler.note_end(now, number as u32, &self.network.adapters[number]);
    }

    fn on_sample(&mut self, now: Time) {
        let sampler = &mut self.recording.sampler;
        sampler.sample(now, &mut NetworkReadings { network: &mut self.network, passages: &self.passages });
        self.schedule.set(self.sample_leaf, sampler.next());
    }

    /// Every series of changes takes its value at `now`.
    fn note_everything(&mut self, now: Time) {
        for port in 0..self.network.ports.len() as u32 {
            self.recording.sampler.note_port(now, port, &mut self.network.ports);
        }
        for adapter in 0..self.network.adapters.len() as u32 {
            self.note_adapter(now, adapter as usize);
        }
    }

    /// Cells of each flow on links and in ports.
    pub fn in_flight(&self) -> Vec<u64> {
        let mut counts = vec![0; self.passages.len()];
        let on_links = self.network.inputs.iter().flat_map(|input| &input.cells);
        for cell in on_links.chain(self.network.ports.iter().flat_map(|port| port.served.cells())) {
            counts[self.network.hops[cell.hop as usize].flow.index()] += 1;
        }
        counts
    }

    /// Whether everything that came in is accounted for, flow by flow: cells, and packets at their adapters.
    pub fn check_conservation(&self, name: impl Fn(FlowIndex) -> String) -> Result<(), Error> {
        let mut relayed = vec![[0, 0]; self.passages.len()];
        for (end, sender, receiver) in self.network.virtual_sources() {
            let [sent, received] = &mut relayed[end.flow.index()];
            *sent += sender.end.sent();
            *received += receiver.delivered();
            let waiting = sender.end.supply.waiting(self.done).unwrap_or(0);
            if receiver.data_delivered() != sender.end.counts.data_sent + waiting {
                let account = format!(
                    "data cells at a virtual source: {} came, {} went on, {waiting} wait",
                    receiver.data_delivered(),
                    sender.end.counts.data_sent
                );
                return Err(Error::NotConserved { vc: name(end.flow), account });
            }
        }
        let flows = (0..).map(FlowIndex).zip(&self.passages);
        for ((flow, passage), in_flight) in flows.zip(self.in_flight()) {
            let [relayed, received] = relayed[flow.index()];
            let [sender, receiver] = [flow, flow.other()].map(|flow| self.network.sending(flow));
            let sent = relayed + sender.map_or(0, |sender| sender.end.sent());
            let delivered = received + receiver.map_or(0, |receiver| receiver.delivered());
            let Passage { dropped, entered, left, originated, answered } = *passage;
            if sent + entered + originated != delivered + dropped + left + answered + in_flight {
                let account = format!(
                    "cells: sent {sent}, came from other nodes {entered}, originated {originated}; delivered {delivered}, dropped {dropped}, went \
                     to other nodes {left}, answered {answered}, in flight {in_flight}"
                );
                return Err(Error::NotConserved { vc: name(flow), account });
            }
            let Some(queue) = sender.and_then(|sender| sender.end.supply.packets()) else { continue };
            let (counters, waiting) = (queue.counters, queue.waiting_packets());
            if counters.offered != counters.dropped + counters.sent + waiting {
                let account = format!("packets: {counters:?}, waiting {waiting}");
                return Err(Error::NotConserved { vc: name(flow), account });
            }
        }
        Ok(())
    }
}

/// Hands `packet` to the host; false if it is lost.
fn send(host: &mut Host, packet: &[u8]) -> bool {
    loop {
        match host.device.send(packet) {
            Ok(()) => return true,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}
