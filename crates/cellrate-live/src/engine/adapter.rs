//! A rate-control adapter: one end of a connection, as a host has it. The [`ConnectionEnd`] of both worlds in cells of
//! 53 octets, the queue of packets before it, and the reassembly behind it.

use cellrate_engine::connection_end::ConnectionEnd;
use cellrate_proto::wire::{Encapsulation, LLC_SNAP_IPV4, Reassembler, ReassemblyError};
use cellrate_proto::{Emission, RmCell, Time};

use super::acks::Acks;
use super::advice::Advice;
use super::cell::Cell;
use super::exchanges::Exchanges;
use super::supply::{PacketQueue, Supply, departure_of_generated};

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
    /// Source, destination, supply and counts.
    pub end: ConnectionEnd<Supply>,
    /// VPI and VCI.
    address: u32,
    /// Data cells that came with no known instant of departure.
    undated: u64,
    /// RM and OAM cells that came damaged, or make no sense on this connection.
    pub refused: u64,
    pub reception: Option<Box<Reception>>,
    /// ACKs on their way to the host, where they are treated.
    pub acks: Option<Box<Acks>>,
    /// Elements of SCONE, where it has some.
    pub advice: Option<Box<Advice>>,
    /// By loopback of the end, who answers its requests.
    locations: Vec<[u8; 16]>,
}

impl Adapter {
    pub fn new(end: ConnectionEnd<Supply>, address: u32, locations: Vec<[u8; 16]>) -> Adapter {
        Adapter { end, address, undated: 0, refused: 0, reception: None, acks: None, advice: None, locations }
    }

    /// A run of its own begins at `now`, not at zero.
    pub fn begin_at(&mut self, now: Time) {
        self.end.pacer.begin_integral(now);
        self.end.supply.skip_until(now);
        if let Some(loopback) = &mut self.end.loopback {
            loopback.skip_until(now);
        }
    }

    /// The cell that leaves at `now`, the instant of the [next transmission](ConnectionEnd::next_transmission): there
    /// something waits, and unless it is a BRM it is data.
    #[inline]
    pub fn transmit(&mut self, now: Time) -> Option<Cell> {
        if self.end.transmit_data(now) {
            return Some(self.data_cell(now));
        }
        match self.end.transmit(now)? {
            Emission::Data => {
                let cell = self.data_cell(now);
                Some(if self.end.pacer.marks(now, cell.user_bit()) { cell.tagged() } else { cell })
            }
            Emission::ForwardRm(rm) | Emission::BackwardRm(rm) => Some(self.rm_cell(now, &rm)),
            Emission::DataWithRm(_) => unreachable!("a live run refuses values in band"),
        }
    }

    #[inline]
    fn data_cell(&mut self, now: Time) -> Cell {
        let (payload, last) = self.end.supply.take(now, self.end.counts.data_sent);
        if last {
            self.note_answer(now);
        }
        Cell::data(now, self.end.first_hop, self.address, &payload, last)
    }

    fn rm_cell(&self, now: Time, rm: &RmCell) -> Cell {
        Cell::resource_management(now, self.end.first_hop, self.address, rm)
    }

    /// A packet of the host is on its way into the queue: its element writes what it advises.
    pub fn advise(&mut self, now: Time, packet: &mut [u8]) {
        if let Some(advice) = &mut self.advice {
            advice.on_leaving(now, packet, self.end.source());
        }
    }

    /// Whether packets for the host may be changed before it has them.
    pub fn changes_arriving(&self) -> bool {
        self.acks.is_some() || self.advice.as_ref().is_some_and(|advice| advice.looks_at_arriving())
    }

    /// A packet of the host comes into the queue; false if there is no room for it.
    pub fn offer(&mut self, packet: &[u8]) -> bool {
        let answer = self.reception.as_ref().and_then(|reception| reception.exchanges.answer(packet));
        if let Some(acks) = &mut self.acks {
            acks.on_sent(packet);
        }
        let Some(queue) = self.end.supply.packets_mut() else {
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
        self.end.supply.packets().map_or(0, PacketQueue::waiting_cells)
    }

    /// The last cell of a packet leaves at `now`.
    fn note_answer(&mut self, now: Time) {
        let answer = self.end.supply.packets_mut().and_then(|queue| queue.left.take());
        if let (Some(answer), Some(reception)) = (answer, &mut self.reception) {
            reception.exchanges.on_departure(now, answer);
        }
    }

    /// A data cell arrives at `now`. Gives the packet that it completes.
    #[inline]
    pub fn receive_data(&mut self, now: Time, cell: &Cell) -> Option<&[u8]> {
        let sent = if self.reception.is_some() { cell.sent } else { departure_of_generated(&cell.payload) };
        self.count_data(now, cell, sent);
        self.reception.as_mut()?.receive(now, cell)
    }

    /// A data cell arrives, and goes on in another loop.
    pub fn receive_to_relay(&mut self, now: Time, cell: &Cell) {
        self.count_data(now, cell, cell.sent);
    }

    #[inline]
    fn count_data(&mut self, now: Time, cell: &Cell, sent: Time) {
        if sent == Time::NEVER {
            self.end.destination_mut().on_data(cell.efci());
            self.undated += 1;
        } else {
            self.end.receive_data(cell.efci(), now.since(sent));
        }
    }

    /// Data cells of the other direction that came.
    pub fn data_delivered(&self) -> u64 {
        self.end.data_delivered() + self.undated
    }

    /// Cells of the other direction that came.
    pub fn delivered(&self) -> u64 {
        self.end.delivered() + self.undated
    }

    /// An RM cell arrives at `now`: a BRM is obeyed, an FRM turned around. Gives a cell that leaves at once, out of
    /// rate.
    ///
    /// # Errors
    /// When it is damaged, or comes to a connection that has no RM cells: then it is counted and has no effect.
    pub fn receive_rm(&mut self, now: Time, cell: &Cell) -> Result<Option<Cell>, ()> {
        let (Some(_), Ok(rm)) = (self.end.source(), cell.to_rm()) else {
            self.refused += 1;
            return Err(());
        };
        let at_once = self.end.receive_rm(now, &rm);
        Ok(at_once.map(|rm| self.rm_cell(now, &rm)))
    }

    /// The loopback request that leaves at `now`, if there is one.
    pub fn request_loopback(&mut self, now: Time) -> Option<Cell> {
        let contents = self.end.request_loopback(now)?;
        let location = self.locations[contents.loopback() as usize];
        Some(Cell::oam(now, self.end.first_hop, self.address, contents, location))
    }

    /// An OAM cell arrives at `now`: the reply that leaves at once, if it was a loopback request.
    ///
    /// # Errors
    /// When it is damaged or of another function, or comes to a connection that has no loopback.
    pub fn receive_oam(&mut self, now: Time, cell: &Cell) -> Result<Option<Cell>, ()> {
        let (Some(_), Ok((contents, location))) = (&self.end.loopback, cell.to_loopback()) else {
            self.refused += 1;
            return Err(());
        };
        let reply = self.end.on_loopback(now, contents);
        Ok(reply.map(|reply| Cell::oam(now, self.end.first_hop, self.address, reply, location)))
    }

    /// The BRM that the destination sends when it has [one of its own](ConnectionEnd::next_report), at once.
    pub fn report(&mut self, now: Time) -> Option<Cell> {
        let brm = self.end.report(now)?;
        Some(self.rm_cell(now, &brm))
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
