//! The loop over events, and what each does: the top of the kernel.
//!
//! Every event is a cell that comes to a port or an end, a cell that leaves, a sample or a timer. A cell that comes to
//! a switch goes one way, [`Cluster::forward`]: what waits before it has come first, the port in the other direction
//! answers it if it is a BRM, the port's meter counts it, and it [joins](Cluster::enqueue) the port's queue and is on
//! the link behind it. Data cells that need not be seen go the same way in the [passes](super::deferred), many at a
//! time.

use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::switch::Settled;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::FlowIndex;

use super::deferred::ranked::WaysOut;
use super::hop::{Hop, NONE, NextHop};
use super::lanes::cell_queue::Batch;
use super::lanes::lane::LaneEnd;
use super::leaf::Leaf;
use super::ports::onward::FedBy;
use super::state::cluster::{Cluster, LONG};
use super::state::event_mark::EventMark;
use super::state::feed::Train;
use crate::cell::Cell;
use crate::endpoint::SendMode;
use crate::kernel::ports::{ABR, Admission, Port, Queues};
use crate::mechanisms::Mechanism;
use crate::transport::{Peer, pick_up};

impl Cluster {
    /// Does everything that happens before `until`.
    pub fn run_until(&mut self, until: Time) {
        self.outboxes.iter_mut().for_each(|outbox| outbox.make_room(&mut self.scratch.octets));
        loop {
            let (now, leaf) = self.schedule.first();
            if now >= until {
                self.openers.reported_until(until);
                return self.end_window(until);
            }
            self.events += 1;
            match self.leaves[leaf] {
                Leaf::Feed(feed) => self.on_feed(now, feed as usize, leaf),
                Leaf::Lane(lane) => match self.lanes[lane as usize].leads_to {
                    LaneEnd::Deferred { port, .. } => self.on_significant(now, lane as usize, port, leaf),
                    LaneEnd::Switch => self.on_transit(now, lane as usize, leaf),
                    LaneEnd::Host { every_cell } => self.on_delivery(now, lane as usize, every_cell, leaf),
                    LaneEnd::Behind { port } => self.on_awaited(now, lane as usize, port as usize),
                    LaneEnd::VirtualEnd => self.on_virtual_end(now, lane as usize, leaf),
                    LaneEnd::Policed => self.on_policed(now, lane as usize, leaf),
                    LaneEnd::BranchPoint => self.on_branch_point(now, lane as usize, leaf),
                    LaneEnd::SegmentEnd => self.on_segment_end(now, lane as usize, leaf),
                },
                Leaf::Opening(opener) => self.on_opening(now, opener as usize),
                Leaf::Report(endpoint) => self.on_report(now, endpoint as usize, leaf),
                Leaf::Transmission(endpoint) if (endpoint as usize) < self.first_virtual => {
                    self.on_transmission(now, endpoint as usize);
                }
                Leaf::Transmission(endpoint) => self.on_virtual_transmission(now, endpoint as usize),
                Leaf::Change(port) => self.on_change(now, port as usize, leaf),
                Leaf::Departure(port) => self.on_departure(now, port as usize, leaf),
                Leaf::Sample => self.on_sample(now, leaf),
                Leaf::Timer(endpoint) => self.on_timer(now, endpoint as usize, leaf),
            }
        }
    }

    /// The run ends at `end`: ends the intervals that end before it and that nothing came after, where their figures
    /// are recorded.
    pub fn finish(&mut self, end: Time) {
        let last = Time::from_ps(end.as_ps().saturating_sub(1));
        for index in 0..self.ports.len() {
            let port = &mut self.ports[index];
            if port.metered && port.keeps_ended() {
                port.end_intervals_before(end);
                self.sampler.note_port(last, index as u32, &mut self.ports);
            }
        }
    }

    /// Takes the cells that came from another cluster to `lane`, in order, and those of them that have to be events.
    pub fn receive(&mut self, lane: usize, batch: Batch<'_>, significant: &[EventMark]) {
        let place = &mut self.lanes[lane];
        let LaneEnd::Deferred { port, .. } = place.leads_to else {
            let Batch::Plain(mut cells) = batch else {
                unreachable!("cells to other lanes are not packed");
            };
            if !matches!(place.leads_to, LaneEnd::Host { .. } | LaneEnd::Behind { .. }) {
                // Each of them is an event.
                if let (true, Some(first)) = (place.cells.is_empty(), cells.first()) {
                    self.schedule.set(place.leaf as usize, first.arrives);
                }
                return place.cells.append(Batch::Plain(cells));
            }
            for cell in cells.drain(..) {
                let endpoint = self.hops[cell.hop()].endpoint;
                self.approach(lane, endpoint, cell);
            }
            return self.lanes[lane].cells.keep(cells);
        };
        for &mark in significant {
            self.announce(lane, port as usize, mark);
        }
        let place = &mut self.lanes[lane];
        let first = place.cells.is_empty();
        place.cells.append(batch);
        // Those that have to be events have the port looked at.
        if significant.is_empty() && place.cells.len() > LONG {
            self.crowded.push(port);
        }
        if first {
            self.note_first(lane);
        }
    }

    /// Takes the cell that reaches a switch.
    #[inline]
    fn on_transit(&mut self, now: Time, lane: usize, leaf: usize) {
        let queue = &mut self.lanes[lane].cells;
        let Some(cell) = queue.pop() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let next = queue.first().map_or(Time::NEVER, |cell| cell.arrives);
        self.schedule.set(leaf, next);
        self.forward(now, leaf, cell);
    }

    /// Takes the cell that has to be an event on a lane to a deferred port, or has its source send more.
    fn on_significant(&mut self, now: Time, lane: usize, port: u32, leaf: usize) {
        let limit = self.schedule.key(leaf, now);
        match self.ports[port as usize].fed_by() {
            // All that comes before it stands before it.
            FedBy::One => self.drain_all(port as usize, limit),
            FedBy::None | FedBy::Mixed => self.drain(port as usize, limit),
        }
        let place = &mut self.lanes[lane];
        if place.significant.pop().is_none() {
            return self.on_ahead(lane);
        }
        let Some(cell) = place.cells.pop() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let next = place.significant.first().copied().unwrap_or(Time::NEVER);
        self.schedule.set(leaf, next);
        self.note_first(lane);
        self.forward(now, leaf, cell);
    }

    /// Another cell may be the first one of a lane to a deferred port: its key, if it is no event, stands in the merge.
    pub(super) fn note_first(&mut self, lane: usize) {
        let lane = &self.lanes[lane];
        if let LaneEnd::Deferred { port, .. } = lane.leads_to {
            self.ports[port as usize].merge.set(lane.place(), lane.first_key(&self.schedule));
        }
    }

    /// Takes the cell that reaches a host, where there is something to do about it at this instant.
    fn on_delivery(&mut self, now: Time, lane: usize, every_cell: bool, leaf: usize) {
        let place = &mut self.lanes[lane];
        let Some(cell) = place.cells.pop() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let next = place.cells.first().map_or(Time::NEVER, |cell| cell.arrives);
        self.schedule.set(leaf, next);
        let endpoint = self.hops[cell.hop()].endpoint;
        if !every_cell {
            return self.on_arrival(now, endpoint as usize, cell);
        }
        if cell.is_in_band() {
            let asked = self.endpoints[endpoint as usize].end.asked_in_band();
            self.on_cell(now, endpoint, cell.data_alone());
            return self.on_cell(now, endpoint, cell.values_alone(asked));
        }
        self.on_cell(now, endpoint, cell);
    }

    /// `cell` has come to `endpoint`, and nothing of it has been done before.
    fn on_cell(&mut self, now: Time, endpoint: u32, cell: Cell) {
        let receiver = &self.endpoints[endpoint as usize];
        let answers = || {
            receiver.end.supply.conversation().is_some_and(|conversation| {
                self.sampler.watches_ends() || conversation.completes_burst(cell.sequence())
            })
        };
        // RM cells see to that themselves: most leave what is planned as it is.
        let interrupted = !cell.is_rm() && (receiver.interface.is_some() || answers());
        if interrupted {
            // What it has sent by now is not touched by what it may send because of this cell, and a series that is
            // noted meanwhile has not seen the cell.
            self.interrupt(endpoint as usize, now);
        }
        match self.endpoints[endpoint as usize].receive(cell) {
            Some(left_to_do) => self.on_arrival(now, endpoint as usize, left_to_do),
            None => {
                self.endpoints[endpoint as usize].end.supply.on_delivered(now, cell.sequence(), cell.sent);
                if interrupted {
                    self.reschedule(now, endpoint as usize);
                }
            }
        }
        self.sampler.note_end(now, endpoint, &self.endpoints[endpoint as usize]);
    }

    /// Passes `cell` on from a switch over its next hop.
    #[inline(always)]
    pub(super) fn forward(&mut self, now: Time, leaf: usize, cell: Cell) {
        let number = cell.hop() + 1;
        let mut cell = cell.on_hop(number);
        let hop = self.hops[number];
        match &self.ports[hop.port as usize] {
            Port { deferred: false, .. } => {}
            port if port.fed_by() == FedBy::One => self.serve(hop.port as usize, now),
            _ => self.catch_up_to(hop.port as usize, self.schedule.key(leaf, now), now),
        }
        if cell.is_backward_rm() {
            cell = self.answer(now, leaf, &hop, cell);
        }
        self.join(now, leaf, &hop, cell);
    }

    /// `cell` comes to the port of `hop`, before which nothing waits.
    #[inline(always)]
    pub(super) fn join(&mut self, now: Time, leaf: usize, hop: &Hop, cell: Cell) {
        let port = &mut self.ports[hop.port as usize];
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, &cell);
            if port.originates() && usize::from(hop.priority) == ABR && !cell.is_backward_rm() {
                self.originate(now, leaf, cell.hop(), hop);
            }
        }
        self.enqueue(now, hop, cell);
    }

    /// The answer to a BRM that comes to the switch that `hop` leaves.
    #[inline(always)]
    pub(super) fn answer(&mut self, now: Time, leaf: usize, hop: &Hop, cell: Cell) -> Cell {
        let (port, slot) = (hop.answering_port as usize, hop.answering_slot);
        let is_settled = match self.ports[port].control.answer_is_fixed(now, slot) {
            _ if !self.mechanisms.has(Mechanism::SettledAnswers) => false,
            // The answer is a change that is noted behind those before it.
            _ if self.ports[port].records_changes() => false,
            Settled::Yes => true,
            Settled::ButForForwardRms => self.no_forward_rm_waits(hop, now),
            Settled::No => false,
        };
        let answered = if is_settled {
            self.ports[port].settled_answer(now, slot, cell)
        } else {
            self.catch_up_to(port, self.schedule.key(leaf, now), now);
            self.ports[port].answer(now, slot, cell)
        };
        self.sampler.note_port(now, hop.answering_port, &mut self.ports);
        answered
    }

    /// Sends `cell` from its host: it comes to the first port of its way.
    #[inline(always)]
    pub(super) fn leave_host(&mut self, now: Time, cell: Cell) {
        let hop = self.hops[cell.hop()];
        self.enqueue(now, &hop, cell);
    }

    /// Puts `cell` into the port of `hop`.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, now: Time, hop: &Hop, mut cell: Cell) {
        let port = &mut self.ports[hop.port as usize];
        if let Queues::Fifo(fifo) = &mut port.queues {
            match fifo.admit(now) {
                Some(arrives) => {
                    cell.arrives = arrives;
                    self.put_on_link(hop.leads_to(), hop.endpoint, cell);
                }
                None => self.lose_for_room(now, hop),
            }
        } else {
            self.enqueue_served(now, hop, cell);
        }
        self.sampler.note_port(now, hop.port, &mut self.ports);
    }

    fn enqueue_served(&mut self, now: Time, hop: &Hop, cell: Cell) {
        if self.ports[hop.port as usize].deferred {
            self.serve(hop.port as usize, now);
        }
        let port = &mut self.ports[hop.port as usize];
        let served = match &mut port.queues {
            Queues::Served(served) => served,
            Queues::Ranked(ranked) => {
                let mut ways_out = WaysOut { hops: &self.hops, outboxes: &mut self.outboxes };
                return ranked.admit(now, usize::from(hop.priority), cell, &mut ways_out);
            }
            Queues::Fifo(_) => return,
        };
        match served.admit(now, usize::from(hop.priority), hop.slot, cell, &mut port.control) {
            Admission::Queued(Some(departure)) if !port.deferred => {
                self.schedule.set(self.departure_leaves[hop.port as usize] as usize, departure);
            }
            Admission::Queued(_) => {}
            Admission::Lost => self.lose_for_room(now, hop),
        }
    }

    #[inline(always)]
    fn put_on_link(&mut self, next: NextHop, endpoint: u32, cell: Cell) {
        match next {
            NextHop::Lane(lane) => self.approach(lane as usize, endpoint, cell),
            NextHop::Outbox(outbox) => self.outboxes[outbox as usize].push(cell),
            NextHop::Feed(feed) => self.feeds[feed as usize].push(Train::of(cell), &mut self.scratch.trains),
        }
    }

    /// Puts `cell` on `lane`, which ends its path if `endpoint` is one.
    #[inline(always)]
    pub(super) fn approach(&mut self, lane: usize, endpoint: u32, cell: Cell) {
        let place = &mut self.lanes[lane];
        let mut cell = cell;
        match place.leads_to {
            LaneEnd::Deferred { port, place: among, significance } => {
                let first = place.cells.is_empty();
                place.cells.push(cell);
                if first && !cell.is_significant(significance) {
                    let key = self.schedule.key(place.leaf as usize, cell.arrives);
                    self.ports[port as usize].merge.set(among as usize, key);
                }
                if place.cells.len().is_multiple_of(LONG) {
                    self.crowded.push(port);
                }
                if cell.is_significant(self.ports[port as usize].significance()) {
                    self.announce(lane, port as usize, EventMark::of(&cell));
                }
                return;
            }
            // What arrives at or after the end of the run stays on the link.
            LaneEnd::Host { every_cell: false } | LaneEnd::Behind { .. }
                if endpoint != NONE && cell.arrives < self.end =>
            {
                match self.endpoints[endpoint as usize].receive(cell) {
                    Some(left_to_do) => cell = left_to_do,
                    None => return,
                }
            }
            _ => {}
        }
        if place.cells.is_empty() {
            self.schedule.set(place.leaf as usize, cell.arrives);
        }
        place.cells.push(cell);
    }

    #[cold]
    fn lose_for_room(&mut self, now: Time, hop: &Hop) {
        self.ports[hop.port as usize].lose_for_room(now, hop.flow);
        *self.dropped.entry(hop.flow).or_default() += 1;
    }

    #[cold]
    pub(super) fn lose(&mut self, port: usize, flow: FlowIndex) {
        self.ports[port].lose();
        *self.dropped.entry(flow).or_default() += 1;
    }

    /// The instant of a cell that `endpoint` has received has come.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Time, endpoint: usize, cell: Cell) {
        if cell.is_rm() {
            self.on_rm(now, endpoint, cell);
        } else if self.endpoints[endpoint].interface.is_some() {
            self.on_pdu(now, endpoint, cell);
        } else {
            self.on_burst(now, endpoint, cell);
        }
    }

    /// A request or a response has come whole with `cell`. What its receiver has sent by now is not touched by what it
    /// may send because of it.
    fn on_burst(&mut self, now: Time, endpoint: usize, cell: Cell) {
        self.interrupt(endpoint, now);
        self.endpoints[endpoint].end.supply.on_delivered(now, cell.sequence(), cell.sent);
        self.reschedule(now, endpoint);
        self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    /// Hands over the PDU, whole, of which `cell` was the last one.
    fn on_pdu(&mut self, now: Time, endpoint: usize, cell: Cell) {
        let replanned = self.catch_up(endpoint, now);
        let Some(interface) = &mut self.endpoints[endpoint].interface else {
            unreachable!("only ends with TCP put PDUs together");
        };
        let departed = match interface.peer {
            Peer::Far => pick_up(&mut interface.arrivals, cell.sequence()),
            Peer::Near(peer) => self.endpoints[peer as usize]
                .end
                .supply
                .adapter_mut()
                .and_then(|adapter| pick_up(&mut adapter.departed, cell.sequence())),
        };
        let Some(departed) = departed else {
            unreachable!("what arrives has left");
        };
        if let Some(over) = self.endpoints[endpoint].on_pdu(now, cell, &departed) {
            self.openers.over(now, &over);
        }
        self.more_waits(now, endpoint, replanned);
        self.reschedule_timer(endpoint);
        self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    fn on_timer(&mut self, now: Time, endpoint: usize, leaf: usize) {
        // Transmissions of this very instant come first, those of others by the same port among them.
        if let SendMode::Folded { port, .. } = self.endpoints[endpoint].send_mode {
            self.catch_up_to(port as usize, self.schedule.key(leaf, now), now);
        }
        let replanned = self.catch_up(endpoint, now + Duration::from_ps(1));
        self.endpoints[endpoint].on_timer(now);
        self.more_waits(now, endpoint, replanned);
        self.reschedule_timer(endpoint);
        self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    /// The next timer of `endpoint` may have moved.
    #[inline]
    pub(super) fn reschedule_timer(&mut self, endpoint: usize) {
        let Some(interface) = &mut self.endpoints[endpoint].interface else { return };
        let next = interface.stack.next_timer();
        if next != interface.scheduled {
            interface.scheduled = next;
            self.schedule.set(self.timer_leaves[endpoint] as usize, next);
        }
    }

    /// The instant of an RM cell that `endpoint` has received has come.
    fn on_rm(&mut self, now: Time, endpoint: usize, cell: Cell) {
        if let Some(contents) = cell.loopback() {
            return self.on_loopback(now, endpoint, contents);
        }
        let at_once = match self.folded(endpoint) {
            Some(mut folded) => folded.on_rm(now, cell),
            None => {
                let at_once = self.endpoints[endpoint].on_rm(now, cell);
                if at_once.is_none() {
                    self.reschedule(now, endpoint);
                }
                at_once
            }
        };
        if let Some(cell) = at_once {
            let port = self.hops[cell.hop()].port as usize;
            self.catch_up_to(port, self.schedule.key(0, now), now);
            self.leave_host(now, cell);
            self.reschedule(now, endpoint);
        }
        self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    /// The destination at `endpoint` is congested, and has a BRM of its own to send, or its loopback a request.
    #[cold]
    fn on_report(&mut self, now: Time, endpoint: usize, leaf: usize) {
        // What others have sent by the same port has come to it before anything that is planned is taken back.
        let port = self.hops[self.endpoints[endpoint].end.first_hop as usize].port as usize;
        self.catch_up_to(port, self.schedule.key(0, now), now);
        self.interrupt(endpoint, now);
        if self.endpoints[endpoint].end.next_report(now) == now
            && let Some(cell) = self.endpoints[endpoint].report(now)
        {
            self.leave_host(now, cell);
        }
        while let Some(cell) = self.endpoints[endpoint].request_loopback(now) {
            self.leave_host(now, cell);
        }
        self.reschedule(now, endpoint);
        self.schedule.set(leaf, self.endpoints[endpoint].end.next_unasked(now));
        self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    #[inline]
    fn on_transmission(&mut self, now: Time, endpoint: usize) {
        if let Some(cell) = self.endpoints[endpoint].transmit(now) {
            let cell = match self.endpoints[endpoint].end.supply.channels() {
                Some(channels) => cell.of_channel(channels.last()),
                None => cell,
            };
            self.leave_host(now, cell);
        }
        if self.endpoints[endpoint].on_room(now) {
            self.reschedule_timer(endpoint);
        }
        self.reschedule(now, endpoint);
        self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
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
        if let (Some(departures), Some(cell)) = (&mut self.departures, &cell) {
            departures.note(now, port, cell);
        }
        self.schedule.set(leaf, next);
        if let Some(Ok(cell) | Err(cell)) = &cell
            && cell.is_backward_rm()
        {
            let explicit_rate = || Some(cell.explicit_rate().rate());
            self.police.on_backward_rm(now, cell.hop() as u32, explicit_rate);
        }
        match cell {
            None => {}
            Some(Ok(cell)) => {
                let hop = self.hops[cell.hop()];
                self.put_on_link(hop.leads_to(), hop.endpoint, cell);
            }
            Some(Err(lost)) => self.lose(port, self.hops[lost.hop()].flow),
        }
        self.sampler.note_port(now, port as u32, &mut self.ports);
    }

    /// The line behind a port changes. Averaging intervals that end before have the rate before.
    #[cold]
    fn on_change(&mut self, now: Time, port: usize, leaf: usize) {
        if self.ports[port].metered {
            self.ports[port].end_intervals_before(now);
        }
        let Port { queues: Queues::Served(served), control, .. } = &mut self.ports[port] else {
            unreachable!("lines that change are behind served ports");
        };
        let departure = served.change(now, control);
        self.schedule.set(leaf, served.next_change());
        if let Some(departure) = departure {
            self.schedule.set(self.departure_leaves[port] as usize, departure);
        }
        self.sampler.note_port(now, port as u32, &mut self.ports);
    }
}
