//! A rate-control adapter: one end of a connection, as a host has it. The ABR source of the direction that it sends,
//! the destination of the other one, the queue before the one and the reassembly behind the other.

use cellrate_engine::histogram::Histogram;
use cellrate_engine::loopback::LoopbackEnd;
use cellrate_engine::pacer::Pacer;
use cellrate_proto::wire::{Encapsulation, LLC_SNAP_IPV4, Reassembler, ReassemblyError};
use cellrate_proto::{CellRate, Destination, Direction, Emission, RmCell, Source, Time};

use super::acks::Acks;
use super::cell::Cell;
use super::exchanges::Exchanges;
use super::supply::{PacketQueue, Supply, departure_of_generated};

/// Cells of the direction that an end sends, and of the one that it receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub sent: u64,
    pub data_sent: u64,
    pub forward_rm_sent: u64,
    pub backward_rm_received: u64,
    /// Cells of the other direction that came.
    pub delivered: u64,
    /// Data cells of the other direction that came.
    pub data_delivered: u64,
    /// RM cells of the other direction that came damaged, or make no sense on this connection.
    pub refused_rm: u64,
}

/// Packets of the other direction, put together again.
#[derive(Debug)]
pub(crate) struct Reception {
    reassembler: Reassembler,
    /// The host's place among those attached.
    pub host: u32,
    /// PDUs that came whole and were handed over.
    pub delivered: u64,
    /// Whole, but without room at the host's device.
    pub refused: u64,
    /// PDUs with cells missing.
    pub spoiled: u64,
    /// Whole, but no IPv4 packet behind LLC/SNAP.
    pub foreign: u64,
    /// Requests among them, and what the host answered.
    pub exchanges: Exchanges,
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Adapter {
    pub pacer: Pacer,
    pub supply: Supply,
    /// The destination of the other direction.
    destination: Destination,
    /// The first hop of the direction that it sends.
    pub first_hop: u32,
    /// VPI and VCI.
    address: u32,
    pub counters: Counters,
    /// Delays of the data cells of the other direction.
    pub delays: Histogram,
    pub reception: Option<Box<Reception>>,
    /// ACKs on their way to the host, where they are treated.
    pub acks: Option<Box<Acks>>,
    /// MCR of the other direction.
    received_mcr: CellRate,
    /// OAM loopback, if the connection has any, and who answers each of its requests.
    pub loopback: Option<Box<(LoopbackEnd, Vec<[u8; 16]>)>>,
}

impl Adapter {
    pub fn new(
        pacer: Pacer,
        supply: Supply,
        destination: Destination,
        first_hop: u32,
        address: u32,
        reception: Option<Reception>,
    ) -> Adapter {
        Adapter {
            pacer,
            supply,
            destination,
            first_hop,
            address,
            counters: Counters::default(),
            delays: Histogram::default(),
            reception: reception.map(Box::new),
            acks: None,
            received_mcr: CellRate::ZERO,
            loopback: None,
        }
    }

    /// The direction that comes here has this MCR.
    pub fn receiving(self, mcr: CellRate) -> Adapter {
        Adapter { received_mcr: mcr, ..self }
    }

    /// A run of its own begins at `now`, not at zero.
    pub fn begin_at(&mut self, now: Time) {
        self.pacer.begin_integral(now);
        self.supply.skip_until(now);
        if let Some(loopback) = &mut self.loopback {
            loopback.0.skip_until(now);
        }
    }

    /// When it sends next, not before `now`.
    #[inline]
    pub fn next_transmission(&self, now: Time) -> Time {
        self.pacer.next_transmission(now, |from| self.supply.available_from(from))
    }

    /// The cell that leaves at `now`, the instant of the [next transmission](Adapter::next_transmission): there
    /// something waits, and unless it is a BRM it is data.
    #[inline]
    pub fn transmit(&mut self, now: Time) -> Option<Cell> {
        if self.pacer.transmit_data(now) {
            return Some(self.data_cell(now));
        }
        self.transmit_other(now)
    }

    #[inline]
    fn data_cell(&mut self, now: Time) -> Cell {
        self.counters.sent += 1;
        self.counters.data_sent += 1;
        let (payload, last) = self.supply.take(now, self.counters.data_sent);
        if last {
            self.note_answer(now);
        }
        Cell::data(now, self.first_hop, self.address, &payload, last)
    }

    /// A packet of the host comes into the queue; false if there is no room for it.
    pub fn offer(&mut self, packet: &[u8]) -> bool {
        let answer = self.reception.as_ref().and_then(|reception| reception.exchanges.answer(packet));
        if let Some(acks) = &mut self.acks {
            acks.on_sent(packet);
        }
        let Some(queue) = self.supply.packets_mut() else {
            unreachable!("routes lead to adapters with packets");
        };
        queue.offer(packet, answer)
    }

    /// Place of its host among those attached, if it carries packets.
    pub fn host(&self) -> Option<u32> {
        self.reception.as_ref().map(|reception| reception.host)
    }

    /// A packet has been handed over to the host, or refused by its device.
    pub fn count_handed_over(&mut self, sent: bool) {
        if let Some(reception) = &mut self.reception {
            reception.delivered += u64::from(sent);
            reception.refused += u64::from(!sent);
        }
    }

    /// Cells of packets that wait.
    pub fn waiting_cells(&self) -> u64 {
        self.supply.packets().map_or(0, PacketQueue::waiting_cells)
    }

    /// The last cell of a packet leaves at `now`.
    fn note_answer(&mut self, now: Time) {
        let answer = self.supply.packets_mut().and_then(|queue| queue.left.take());
        if let (Some(answer), Some(reception)) = (answer, &mut self.reception) {
            reception.exchanges.on_departure(now, answer);
        }
    }

    /// Anything but the common case: RM cells, and pacers that are not ABR's.
    fn transmit_other(&mut self, now: Time) -> Option<Cell> {
        let data_waiting = self.supply.available_from(now) <= now;
        let emission = self.pacer.transmit(now, data_waiting, |acr| self.supply.on_acr(now, acr));
        let rm = match emission? {
            Emission::Data => return Some(self.data_cell(now)),
            Emission::ForwardRm(rm) => {
                self.counters.forward_rm_sent += 1;
                rm
            }
            Emission::BackwardRm(rm) => rm,
        };
        Some(self.rm_cell(now, &rm))
    }

    fn rm_cell(&mut self, now: Time, rm: &RmCell) -> Cell {
        self.counters.sent += 1;
        Cell::resource_management(now, self.first_hop, self.address, rm)
    }

    /// A data cell arrives at `now`. Gives the packet that it completes.
    #[inline]
    pub fn receive_data(&mut self, now: Time, cell: &Cell) -> Option<&[u8]> {
        self.counters.delivered += 1;
        self.counters.data_delivered += 1;
        self.destination.on_data(cell.efci());
        let Some(reception) = &mut self.reception else {
            self.delays.record(now.since(departure_of_generated(&cell.payload)));
            return None;
        };
        if cell.sent != Time::NEVER {
            self.delays.record(now.since(cell.sent));
        }
        reception.receive(now, cell)
    }

    /// A data cell arrives, and goes on in another loop.
    pub fn receive_to_relay(&mut self, cell: &Cell) {
        self.counters.delivered += 1;
        self.counters.data_delivered += 1;
        self.destination.on_data(cell.efci());
    }

    /// The destination of the other direction.
    pub fn destination_mut(&mut self) -> &mut Destination {
        &mut self.destination
    }

    /// An RM cell arrives at `now`: a BRM is obeyed, an FRM turned around. Gives a cell that leaves at once, out of
    /// rate.
    ///
    /// # Errors
    /// When it is damaged, or comes to a connection that has no RM cells: then it is counted and has no effect.
    pub fn receive_rm(&mut self, now: Time, cell: &Cell) -> Result<Option<Cell>, ()> {
        let (Some(source), Ok(rm)) = (self.pacer.source_mut(), cell.to_rm()) else {
            self.counters.refused_rm += 1;
            return Err(());
        };
        self.counters.delivered += 1;
        if rm.direction == Direction::Backward {
            self.pacer.on_backward_rm(now, &rm, |acr| self.supply.on_acr(now, acr));
            self.counters.backward_rm_received += 1;
            return Ok(None);
        }
        self.destination.on_time(now);
        let at_once = self.destination.on_forward_rm(&rm, source);
        Ok(at_once.map(|rm| self.rm_cell(now, &rm)))
    }

    /// The first instant from `now` on at which the destination has a BRM of its own to send (destination rule 5).
    pub fn next_report(&self, now: Time) -> Time {
        self.destination.next_origination(now)
    }

    /// The first instant from `now` on at which a loopback request or such a BRM leaves.
    pub fn next_unasked(&self, now: Time) -> Time {
        self.loopback.as_ref().map_or(Time::NEVER, |own| own.0.next()).min(self.next_report(now))
    }

    /// The loopback request that leaves at `now`, if there is one: at once, beside what the source sends.
    pub fn request_loopback(&mut self, now: Time) -> Option<Cell> {
        let (own, locations) = self.loopback.as_deref_mut()?;
        let contents = own.request(now)?;
        let location = locations[contents.loopback() as usize];
        self.counters.sent += 1;
        Some(Cell::oam(now, self.first_hop, self.address, contents, location))
    }

    /// An OAM cell arrives at `now`: the reply that leaves at once, if it was a loopback request.
    ///
    /// # Errors
    /// When it is damaged or of another function, or comes to a connection that has no loopback.
    pub fn receive_oam(&mut self, now: Time, cell: &Cell) -> Result<Option<Cell>, ()> {
        let (Some(loopback), Ok((contents, location))) = (&mut self.loopback, cell.to_loopback()) else {
            self.counters.refused_rm += 1;
            return Err(());
        };
        self.counters.delivered += 1;
        let reply = loopback.0.receive(now, contents);
        Ok(reply.map(|reply| {
            self.counters.sent += 1;
            Cell::oam(now, self.first_hop, self.address, reply, location)
        }))
    }

    /// That instant has come: the BRM leaves at once, out of rate.
    pub fn report(&mut self, now: Time) -> Option<Cell> {
        self.destination.on_time(now);
        let brm = self.destination.originate(now, self.received_mcr)?;
        Some(self.rm_cell(now, &brm))
    }

    /// The ABR source, if there is one.
    pub fn source(&self) -> Option<&Source> {
        self.pacer.source()
    }
}

impl Reception {
    /// For the attached host number `host`, which takes packets of up to `mtu` octets.
    pub fn new(host: u32, mtu: usize) -> Reception {
        let reassembler = Reassembler::new(mtu + LLC_SNAP_IPV4.len());
        Reception {
            reassembler,
            host,
            delivered: 0,
            refused: 0,
            spoiled: 0,
            foreign: 0,
            exchanges: Exchanges::default(),
        }
    }

    #[inline]
    fn receive(&mut self, now: Time, cell: &Cell) -> Option<&[u8]> {
        match self.reassembler.push(&cell.payload, cell.user_bit()) {
            Ok(None) => None,
            Ok(Some(sdu)) => match Encapsulation::LlcSnapIpv4.strip(sdu.octets) {
                Ok(packet) => {
                    self.exchanges.on_delivery(now, packet);
                    Some(packet)
                }
                Err(_) => {
                    self.foreign += 1;
                    None
                }
            },
            Err(
                ReassemblyError::Crc { .. }
                | ReassemblyError::Length { .. }
                | ReassemblyError::TooLong { .. }
                | ReassemblyError::Aborted,
            ) => {
                self.spoiled += 1;
                None
            }
        }
    }
}
