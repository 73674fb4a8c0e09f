//! Ends inside switches that segment control loops (VS/VD), as in the simulator: data cells that come to one wait at
//! its partner for the next loop, what one sends comes to a port of the switch at once, and that port counts what comes
//! to the switch, answers the loop before it in the FRMs that are turned around, and its own in the BRMs that come
//! back.

use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::{CellRate, Direction, RmCell, Time};

use super::cell::Cell;
use super::machine::Machine;
use super::network::Hop;

impl Machine<'_> {
    /// Whether the adapter of this number is inside a switch.
    #[inline]
    pub(super) fn is_virtual(&self, number: usize) -> bool {
        number >= self.network.flows.len()
    }

    /// The end that the next loop begins at.
    fn partner(&self, number: usize) -> usize {
        let first = self.network.flows.len();
        first + ((number - first) ^ 1)
    }

    /// `cell` reaches a switch that ends its control loop.
    pub(super) fn on_virtual_end(&mut self, now: Time, input: usize, cell: Cell) {
        let number = self.network.hops[cell.hop as usize].adapter as usize;
        let next = self.network.hops[cell.hop as usize + 1];
        if cell.is_data() {
            self.observe(now, &next, None);
            self.relay(now, number, &next, cell);
        } else {
            self.on_virtual_rm(now, input, number, &next, cell);
        }
        self.recording.sampler.note_port(now, next.port, &mut self.network.ports);
        self.note_adapter(now, number);
    }

    /// A cell has come to the switch, and goes on over `hop`; `rm` is what it says, if it is an RM cell.
    fn observe(&mut self, now: Time, hop: &Hop, rm: Option<&RmCell>) {
        let port = &mut self.network.ports[hop.port as usize];
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, rm);
        }
    }

    /// A data cell, which goes on over the hop `next`, waits for the source of the next loop.
    fn relay(&mut self, now: Time, number: usize, next: &Hop, cell: Cell) {
        let partner = self.partner(number);
        let Some(queue) = self.network.adapters[partner].end.supply.relayed_mut() else { return };
        // EFCI is for the loop that ends here.
        if !queue.push(now, cell.without_efci()) {
            self.passages[next.flow.index()].dropped += 1;
            self.network.ports[next.port as usize].losses.buffer[usize::from(next.priority)] += 1;
            return;
        }
        self.network.adapters[number].receive_to_relay(now, &cell);
        self.reschedule(now, partner);
        self.note_adapter(now, partner);
    }

    /// An RM cell, whose direction goes on over the hop `next`, ends here.
    fn on_virtual_rm(&mut self, now: Time, input: usize, number: usize, next: &Hop, mut cell: Cell) {
        let flow = next.flow;
        match cell.to_rm() {
            Ok(mut rm) if rm.direction == Direction::Backward => {
                let own = self.network.hops[self.network.adapters[number].end.first_hop as usize];
                if self.network.ports[own.port as usize].answer(now, own.slot, &mut rm) {
                    cell.set_rm(&rm);
                }
                self.observe(now, next, Some(&rm));
                self.recording.sampler.note_port(now, own.port, &mut self.network.ports);
            }
            Ok(mut rm) => {
                self.observe(now, next, Some(&rm));
                if self.network.ports[next.port as usize].answer(now, next.slot, &mut rm) {
                    cell.set_rm(&rm);
                }
                let partner = &self.network.adapters[self.partner(number)].end;
                let acr = partner.source().map_or(CellRate::ZERO, |source| source.acr());
                if let Some(queue) = partner.supply.relayed() {
                    let (coupling, waiting) = (*queue.coupling(), queue.len());
                    coupling.tell(self.network.adapters[number].end.destination_mut(), waiting, acr);
                }
            }
            // Whoever receives it refuses it.
            Err(_) => {}
        }
        self.deliver_rm(now, input, number, flow, &cell);
    }

    /// `cell` leaves the end of this number at `now`; a data cell is the one that waited.
    pub(super) fn leave_virtual_end(&mut self, now: Time, number: usize, cell: Cell) {
        let queue = self.network.adapters[number].end.supply.relayed_mut();
        let waited = queue.and_then(|queue| queue.take_leaving());
        let cell = waited.map_or(cell, |waited| Cell { hop: cell.hop, ..waited });
        let hop = self.network.hops[cell.hop as usize];
        let port = &mut self.network.ports[hop.port as usize];
        if port.metered && port.control.interval_due(now) {
            // What the port counts has come before, but its queue may be looked at only before this cell.
            port.end_intervals(now);
        }
        self.enqueue(now, cell);
    }
}
