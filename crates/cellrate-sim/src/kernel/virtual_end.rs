//! Virtual ends: where a switch segments the control loops of ABR connections (VS/VD), a loop ends at one and the next
//! begins at its partner.
//!
//! Both are [ends](Endpoint) of a connection like those at hosts, but data cells that come to one wait at its partner
//! ([`PerVcQueue`]), and what one sends comes to a port of the switch at once. The port by which a connection goes on
//! sees its cells when they come to the switch, not when they come to the port: so its load is what the loop before
//! brings. It answers that loop, in the FRMs that are turned around, and its own, in the BRMs that come back.
//!
//! Each arrival and transmission is an event, and no port that they send by is deferred: what they send has to come
//! there when it is sent. Transmissions of virtual ends come after all others at the same instant, in their own order.

use cellrate_engine::per_vc_queue::PerVcQueue;
use cellrate_engine::supply::CommonSupply;
use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::Time;

use super::hop::Hop;
use super::state::cluster::Cluster;
use crate::cell::Cell;
use crate::endpoint::Endpoint;
use crate::kernel::ports::Port;
use crate::traffic::Supply;

impl Cluster {
    /// Takes the cell that reaches a switch that ends its control loop.
    pub(super) fn on_virtual_end(&mut self, now: Time, lane: usize, leaf: usize) {
        let place = &mut self.lanes[lane];
        let Some(cell) = place.cells.pop() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let next = place.cells.first().map_or(Time::NEVER, |cell| cell.arrives);
        self.schedule.set(leaf, next);
        if cell.loopback().is_some() {
            return self.pass_loopback(now, leaf, cell);
        }
        self.end_loop(now, cell);
    }

    /// Takes `cell`, which has reached a switch that ends its control loop.
    pub(super) fn end_loop(&mut self, now: Time, cell: Cell) {
        let endpoint = self.hops[cell.hop()].endpoint as usize;
        let next = self.hops[cell.hop() + 1];
        if !cell.is_backward_rm() {
            observe(&mut self.ports[next.port as usize], now, &next, &cell);
        }
        if cell.is_in_band() {
            // Without room for its data the cell is lost, values and all.
            if self.relay(now, endpoint, &next, cell.data_alone()) {
                let asked = self.endpoints[endpoint].end.asked_in_band();
                self.on_virtual_rm(now, endpoint, &next, cell.values_alone(asked));
            }
        } else if cell.is_rm() {
            self.on_virtual_rm(now, endpoint, &next, cell);
        } else {
            self.relay(now, endpoint, &next, cell);
        }
        self.sampler.note_port(now, next.port, &mut self.ports);
        self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    /// Has a data cell, which goes on over the hop `next`, wait for the source of the next loop. Whether it had room.
    fn relay(&mut self, now: Time, endpoint: usize, next: &Hop, cell: Cell) -> bool {
        let partner = self.partner(endpoint);
        let queue = per_vc_queue(&mut self.endpoints[partner]);
        let was_empty = queue.is_empty();
        // EFCI is for the loop that ends here.
        if !queue.push(now, cell.without_efci()) {
            self.lose(next.port as usize, next.flow);
            return false;
        }
        let left_to_do = self.endpoints[endpoint].receive(cell);
        debug_assert!(left_to_do.is_none(), "PDUs are not put together here");
        // Behind others, it changes nothing about when the first one leaves.
        if was_empty {
            self.plan_virtual(now, partner);
        }
        self.sampler.note_end(now, partner as u32, &self.endpoints[partner]);
        true
    }

    /// Ends an RM cell here, whose direction goes on over the hop `next`.
    fn on_virtual_rm(&mut self, now: Time, endpoint: usize, next: &Hop, mut cell: Cell) {
        if cell.is_backward_rm() {
            let own = self.hops[self.endpoints[endpoint].end.first_hop as usize];
            cell = self.ports[own.port as usize].answer(now, own.slot, cell);
            observe(&mut self.ports[next.port as usize], now, next, &cell);
            self.sampler.note_port(now, own.port, &mut self.ports);
        } else {
            cell = self.ports[next.port as usize].answer(now, next.slot, cell);
            let partner = self.partner(endpoint);
            let partner = &mut self.endpoints[partner];
            let acr = partner.end.source().map(|source| source.acr()).unwrap_or_default();
            let queue = per_vc_queue(partner);
            let (coupling, waiting) = (*queue.coupling(), queue.len());
            coupling.tell(self.endpoints[endpoint].end.destination_mut(), waiting, acr);
        }
        let end = &mut self.endpoints[endpoint];
        let at_once = end.receive(cell).and_then(|cell| end.on_rm(now, cell));
        if let Some(cell) = at_once {
            self.enter_switch(now, cell);
        }
        self.plan_virtual(now, endpoint);
    }

    /// The virtual source `endpoint` sends: a cell comes to the port of the switch.
    pub(super) fn on_virtual_transmission(&mut self, now: Time, endpoint: usize) {
        let sender = &mut self.endpoints[endpoint];
        let cell = if sender.end.transmit_data(now) {
            let hop = sender.end.first_hop as usize;
            per_vc_queue(sender).pop(now).map(|waited| waited.on_hop(hop))
        } else {
            // Among other cells it may be data after all: the one that waited.
            sender.transmit(now).map(|cell| {
                let waited = per_vc_queue(sender).take_leaving().map(|waited| waited.on_hop(cell.hop()));
                match waited {
                    Some(waited) if cell.is_in_band() => waited.carrying(cell.current_cell_rate()),
                    waited => waited.unwrap_or(cell),
                }
            })
        };
        if let Some(cell) = cell {
            self.enter_switch(now, cell);
        }
        self.plan_virtual(now, endpoint);
        self.sampler.note_end(now, endpoint as u32, &self.endpoints[endpoint]);
    }

    /// The next transmission of the virtual source `endpoint`, not before `now`, may have moved.
    #[inline]
    fn plan_virtual(&mut self, now: Time, endpoint: usize) {
        let sender = &mut self.endpoints[endpoint];
        let is_empty = per_vc_queue(sender).is_empty();
        let data_from = |from| if is_empty { Time::NEVER } else { from };
        sender.transmits = sender.end.pacer.next_transmission(now, data_from);
        self.schedule.set(self.transmission_leaves[endpoint] as usize, sender.transmits);
    }

    #[inline]
    fn enter_switch(&mut self, now: Time, cell: Cell) {
        let hop = self.hops[cell.hop()];
        let port = &mut self.ports[hop.port as usize];
        if port.metered && port.control.interval_due(now) {
            // What the port counts has come before, but its queue may be looked at only before this cell.
            port.end_intervals(now);
        }
        self.enqueue(now, &hop, cell);
    }

    /// The end at which the next loop begins.
    fn partner(&self, endpoint: usize) -> usize {
        // The first virtual end of a cluster faces the first host of its path, and they come in pairs.
        self.first_virtual + ((endpoint - self.first_virtual) ^ 1)
    }
}

/// Has `port` observe `cell`, which has come to its switch and goes on over `hop`.
#[inline]
fn observe(port: &mut Port, now: Time, hop: &Hop, cell: &Cell) {
    if port.metered {
        port.observe(now, usize::from(hop.priority), hop.slot, cell);
    }
}

#[inline]
fn per_vc_queue(endpoint: &mut Endpoint) -> &mut PerVcQueue<Cell> {
    match &mut endpoint.end.supply {
        Supply::Common(CommonSupply::Relayed(queue)) => queue,
        _ => unreachable!("this is a virtual end"),
    }
}
