//! From the three words of a cell in the kernel to its 53 octets.

use std::collections::VecDeque;

use cellrate_engine::loopback::locations;
use cellrate_proto::wire::{
    AddressedRmCell, CELL_OCTETS, Cell as WireCell, Encapsulation, Header, LOOPBACK_END_POINT, OamFlow,
};
use cellrate_proto::wire::{PAYLOAD_OCTETS, Path, PayloadType, Segments};
use cellrate_proto::{Direction, RateCode};
use cellrate_scenario::{Flow, FlowIndex, Scenario, Step, TcpTraffic, Traffic};

use super::packet::Endpoints;
use super::{FIRST_VCI, Tap, address, host_address, path_address};
use crate::assembly::Place;
use crate::cell::{Cell, SEQUENCE_MASK};
use crate::kernel::state::cluster::Cluster;
use crate::transport::{Offered, Segment};

/// VCI of the RM cells of a virtual path (TM 4.0, 5.10.3).
const PATH_RM_VCI: u16 = 6;

/// Headers and addresses on the wire of every direction of every connection.
pub(super) struct Wire {
    flows: Vec<FlowOnWire>,
}

/// A direction of a connection.
struct FlowOnWire {
    vpi: u8,
    vci: u16,
    /// Whether it is a virtual path.
    is_path: bool,
    /// MCR of the direction, which its FRMs and the BRMs of the other one carry.
    mcr: RateCode,
    /// Who answers the loopback cells that its sending end sends.
    locations: Vec<[u8; 16]>,
    stream: Option<Box<Stream>>,
}

/// The PDUs of a direction with TCP, from the first one that a tapped port may still see.
struct Stream {
    /// Where the adapter is.
    place: Place,
    endpoints: Endpoints,
    encapsulation: Encapsulation,
    pdus: VecDeque<Pdu>,
    /// By tapped port on the path: its place among them, and the last cell that it has seen.
    seen: Vec<(u32, u64)>,
}

struct Pdu {
    first_cell: u64,
    last_cell: u64,
    segment: Segment,
    /// The identification of its IP packet.
    number: u16,
    /// Its octets before it is marked and behind; empty until a port sees them.
    octets: [Vec<u8>; 2],
}

impl Wire {
    /// `places` are those of the ends of connections.
    pub fn new(scenario: &Scenario, places: &[Place], tap: &Tap) -> Wire {
        let on_wire = |flow: FlowIndex| {
            let [own, other] = [scenario.flow(flow), scenario.flow(flow.other())];
            let (vpi, vci) = match path_address(scenario, flow.connection()) {
                // That of RM cells of a path.
                Some(vpi) => (vpi, PATH_RM_VCI),
                None => address(flow.connection()),
            };
            let is_path = scenario.connection(flow.connection()).is_path();
            let steps: Vec<Step> = scenario.steps(flow).collect();
            // What the direction carries is the adapter's: its own TCP's data, or ACKs of the other one's.
            let stream = tcp(own).or(if own.traffic.is_none() { tcp(other) } else { None }).map(|traffic| {
                let watching = (0..).zip(&tap.ports).filter(|(_, port)| steps.contains(port));
                let [from, to] = [scenario.tail(steps[0]), scenario.head(steps[steps.len() - 1])];
                Box::new(Stream {
                    place: places[flow.index()],
                    endpoints: Endpoints::new(
                        [host_address(from), host_address(to)],
                        flow,
                        traffic,
                        tcp(other).unwrap_or(traffic),
                    ),
                    encapsulation: traffic.encapsulation,
                    pdus: VecDeque::new(),
                    seen: watching.map(|(place, _)| (place, 0)).collect(),
                })
            });
            let mcr = RateCode::floor(own.sender.mcr());
            let locations = locations(scenario, flow);
            FlowOnWire {
                vpi,
                vci,
                is_path,
                mcr,
                locations,
                stream: stream.filter(|stream| !stream.seen.is_empty()),
            }
        };
        Wire { flows: scenario.flows().map(on_wire).collect() }
    }

    /// Adapters begin to say what they take in.
    pub fn begin(&self, clusters: &mut [Cluster]) {
        for stream in self.flows.iter().filter_map(|flow| flow.stream.as_deref()) {
            if let Some(adapter) = stream.adapter(clusters) {
                adapter.journal = Some(Vec::new());
            }
        }
    }

    /// Not looked at any more.
    pub fn end(&mut self, clusters: &mut [Cluster]) {
        for stream in self.flows.iter_mut().filter_map(|flow| flow.stream.take()) {
            if let Some(adapter) = stream.adapter(clusters) {
                adapter.journal = None;
            }
        }
    }

    /// Takes up what adapters have taken in, and forgets what every tapped port has seen.
    pub fn follow(&mut self, clusters: &mut [Cluster]) {
        for stream in self.flows.iter_mut().filter_map(|flow| flow.stream.as_deref_mut()) {
            stream.forget();
            let journal = stream.adapter(clusters).and_then(|adapter| adapter.journal.as_mut());
            for Offered { number, first_cell, last_cell, segment } in
                journal.into_iter().flat_map(|journal| journal.drain(..))
            {
                let number = number as u16;
                let octets = Default::default();
                stream.pdus.push_back(Pdu { first_cell, last_cell, segment, number, octets });
            }
        }
    }

    /// Whether the data cells of a direction are parts of PDUs.
    pub fn has_pdus(&self, flow: FlowIndex) -> bool {
        self.flows[flow.index()].stream.is_some()
    }

    /// A cell of direction `flow` as it leaves tapped port `port`.
    pub fn emit(&mut self, flow: FlowIndex, port: u32, cell: Cell) -> [u8; CELL_OCTETS] {
        let path = Path::uni(self.flows[flow.index()].vpi);
        let vci = self.flows[flow.index()].vci;
        if let Some(contents) = cell.loopback() {
            let sender = if contents.is_reply { flow.other() } else { flow };
            let places = &self.flows[sender.index()].locations;
            let location = places.get(contents.loopback() as usize).copied().unwrap_or(LOOPBACK_END_POINT);
            let mut cell = contents.on_wire(self.flows[flow.index()].vpi, vci, location);
            if self.flows[flow.index()].is_path {
                cell.flow = if contents.is_segment { OamFlow::PathSegment } else { OamFlow::PathEndToEnd };
            }
            return cell.emit();
        }
        if cell.is_rm() {
            let controlled = if cell.direction() == Direction::Backward { flow.other() } else { flow };
            return AddressedRmCell { path, vci, rm: cell.to_rm(self.flows[controlled.index()].mcr) }.emit();
        }
        let vci = match self.flows[flow.index()].is_path {
            true => FIRST_VCI as u16 + cell.sequence() as u16,
            false => vci,
        };
        let payload_type = PayloadType::User { efci: cell.efci(), user_bit: cell.ends_pdu() };
        let header = Header { path, vci, payload_type, clp: cell.clp() };
        let zeros = [0; PAYLOAD_OCTETS];
        let stream = self.flows[flow.index()].stream.as_deref_mut();
        let payload = stream
            .and_then(|stream| stream.payload(port, cell.sequence(), cell.is_marked()))
            .unwrap_or(&zeros);
        WireCell { header, payload }.emit()
    }
}

impl Stream {
    fn adapter<'a>(&self, clusters: &'a mut [Cluster]) -> Option<&'a mut crate::transport::Adapter> {
        let Place { cluster, index } = self.place;
        clusters[cluster as usize].endpoints[index as usize].end.supply.adapter_mut()
    }

    /// The payload of data cell `sequence` (modulo 2^30), which port `port` has just sent. `marked`: as the first and
    /// last cells of a packet say; those between are alike.
    fn payload(&mut self, port: u32, sequence: u32, marked: bool) -> Option<&[u8; PAYLOAD_OCTETS]> {
        let (_, last) = self.seen.iter_mut().find(|(place, _)| *place == port)?;
        // Data cells of a direction stay in order, so the number is the next one with these low bits.
        let cell = *last + (u64::from(sequence).wrapping_sub(*last) & SEQUENCE_MASK);
        *last = cell;
        let place = self.pdus.partition_point(|pdu| pdu.last_cell < cell);
        let pdu = self.pdus.get_mut(place).filter(|pdu| pdu.first_cell <= cell)?;
        let octets = &mut pdu.octets[usize::from(marked)];
        if octets.is_empty() {
            let packet = self.endpoints.packet(&pdu.segment, pdu.number, marked);
            let cells = (pdu.last_cell + 1 - pdu.first_cell) as usize;
            *octets = match Segments::encapsulated(self.encapsulation, &packet) {
                Ok(segments) => segments.flat_map(|segment| segment.payload).collect(),
                // A packet of no octets has a cell nevertheless.
                Err(_) => vec![0; cells * PAYLOAD_OCTETS],
            };
        }
        let from = (cell - pdu.first_cell) as usize * PAYLOAD_OCTETS;
        octets.get(from..)?.first_chunk()
    }

    fn forget(&mut self) {
        let everybody = self.seen.iter().map(|&(_, last)| last).min().unwrap_or(u64::MAX);
        while self.pdus.front().is_some_and(|pdu| pdu.last_cell <= everybody) {
            self.pdus.pop_front();
        }
    }
}

fn tcp(flow: &Flow) -> Option<&TcpTraffic> {
    if let Some(Traffic::Tcp(tcp)) = &flow.traffic { Some(tcp) } else { None }
}
