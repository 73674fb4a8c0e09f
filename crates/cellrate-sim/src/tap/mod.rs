//! Cells as they leave ports, octet by octet: what a capture is made of.
//!
//! A tapped port keeps real queues, so each of its departures is an event ([`crate::kernel`]); every instant and every
//! figure of the run stays what it is. Departures are noted as the words that the kernel's cells are, and become octets
//! between the windows of the kernel, in the order of instants and, at one instant, of ports. Where nothing is tapped,
//! nothing of this costs anything.
//!
//! A cell of the kernel does not carry octets. What stands on the wire is worked out from the scenario:
//!
//! - VPI and VCI are those of [`address`], the same both ways and on every link;
//! - an RM cell is exactly what its source, destination and switches made of it, CRC-10 included;
//! - a data cell of TCP carries its part of the AAL5 PDU, with LLC/SNAP if the VC has it, and IP and TCP headers with
//!   the sequence numbers, windows and selective ACKs of the simulated TCP; the octets of the stream itself are zeros;
//! - the payload of any other data cell is zeros, and its AAL user bit too, because the model knows no octets and no
//!   PDUs.

mod octets;
mod packet;

use std::fmt;
use std::net::Ipv4Addr;
use std::ops::ControlFlow;

use cellrate_proto::Time;
use cellrate_proto::wire::CELL_OCTETS;
use cellrate_scenario::{ConnectionIndex, FlowIndex, NodeIndex, PortIndex, Scenario, Step, Traffic};

use crate::assembly::{Assembly, carries_cells};
use crate::kernel::hop::Hop;
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::departures::{Departure, Departures};
use cellrate_engine::names::port_name;
use octets::Wire;

/// Where to look, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Tap {
    /// The ports, each as the step that leaves by it; no port twice.
    pub ports: Vec<Step>,
    /// End of the tap: cells that leave at or after it are not looked at.
    pub until: Time,
}

/// A cell that has left a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TappedCell<'a> {
    /// The port, by its place in [`Tap::ports`].
    pub port: usize,
    /// When its last bit left.
    pub at: Time,
    /// As it stood on the line, HEC and all.
    pub octets: &'a [u8; CELL_OCTETS],
    /// Whether its payload is part of an AAL5 PDU.
    pub has_pdu: bool,
    /// Whether the line lost it then.
    pub lost: bool,
}

/// Receiver of every tapped cell; a break ends the run as interrupted.
pub type TapSink<'a> = dyn FnMut(TappedCell<'_>) -> ControlFlow<()> + 'a;

/// The first VCI that is not reserved.
const FIRST_VCI: u32 = 32;
const VCIS: u32 = (1 << 16) - FIRST_VCI;

/// VPI and VCI of a connection, by its place in the scenario: VPI 0 and VCI 32, 33 and so on; VPI 1 after 65504
/// connections.
pub const fn address(connection: ConnectionIndex) -> (u8, u16) {
    ((connection.0 / VCIS) as u8, (FIRST_VCI + connection.0 % VCIS) as u16)
}

/// VPI of a connection that is a virtual path, by its place among those of the scenario: 255 for the first, 254 for the
/// second; its channels have VCI 32, 33 and so on. `None` for a channel by itself.
pub fn path_address(scenario: &Scenario, connection: ConnectionIndex) -> Option<u8> {
    let before = scenario.connections.iter().take(connection.0 as usize);
    let is_path = scenario.connection(connection).is_path();
    is_path.then(|| 255 - before.filter(|one| one.is_path()).count() as u8)
}

/// The IPv4 address of a host, by its place among the nodes of the scenario: 10.0.0.1 for the first.
pub fn host_address(node: NodeIndex) -> Ipv4Addr {
    Ipv4Addr::from_bits(10 << 24 | ((node.0 + 1) & 0x00ff_ffff))
}

/// The hosts that have TCP, with their addresses.
pub fn hosts(scenario: &Scenario) -> Vec<(Ipv4Addr, String)> {
    let is_tcp = |traffic: &Option<Traffic>| matches!(traffic, Some(Traffic::Tcp(_)));
    let mut nodes: Vec<NodeIndex> = scenario
        .connections
        .iter()
        .filter(|connection| is_tcp(&connection.forward.traffic) || is_tcp(&connection.backward.traffic))
        .flat_map(|connection| {
            let ends = [connection.path.first(), connection.path.last()];
            [ends[0].map(|step| scenario.tail(*step)), ends[1].map(|step| scenario.head(*step))]
        })
        .flatten()
        .collect();
    nodes.sort();
    nodes.dedup();
    nodes.into_iter().map(|node| (host_address(node), scenario.node(node).name.clone())).collect()
}

/// Legend of a capture of `scenario`, in words: a line for the run, one per connection.
pub fn legend(scenario: &Scenario) -> String {
    let name = |node: NodeIndex| scenario.node(node).name.as_str();
    let mut legend = format!("cellrate scenario {}, seed {}, simulated time", scenario.name, scenario.seed);
    for (index, connection) in (0..).map(ConnectionIndex).zip(&scenario.connections) {
        let (vpi, vci) = address(index);
        let (Some(first), Some(last)) = (connection.path.first(), connection.path.last()) else { continue };
        let (from, to) = (name(scenario.tail(*first)), name(scenario.head(*last)));
        if let Some(vpi) = path_address(scenario, index) {
            legend += &format!("\nVPI {vpi}: virtual path {}, {from} to {to} and back", connection.name);
            let channels = [false, true].map(|backward| connection.channels(backward));
            let most = if channels[0].len() < channels[1].len() { channels[1] } else { channels[0] };
            for (channel, vci) in most.iter().zip(FIRST_VCI..) {
                legend += &format!("\nVPI {vpi} VCI {vci}: {} in {}", channel.name, connection.name);
            }
            continue;
        }
        legend += &format!("\nVPI {vpi} VCI {vci}: {}, {from} to {to} and back", connection.name);
    }
    legend
}

/// The ports that carry cells, in the order of the links, each end after the other. Those of a connection that has no
/// traffic are among them: in a live run hosts send packets over it.
pub fn ports(scenario: &Scenario) -> Vec<Step> {
    let mut used = carries_cells(scenario);
    for flow in scenario.flows().filter(|flow| scenario.connection(flow.connection()).carries_packets()) {
        scenario.steps(flow).for_each(|step| used[step.port().index()] = true);
    }
    scenario.ports().filter(|port| used[port.index()]).map(|port| port.step()).collect()
}

/// The name of the port that a step leaves by: "sw1->sw2".
pub fn name(scenario: &Scenario, step: Step) -> String {
    port_name(scenario, step.port())
}

/// The ports called `names`, in that order, without repetitions.
///
/// # Errors
/// [`UnknownPort`] for the first name that no port with cells has.
pub fn ports_named(scenario: &Scenario, names: &[String]) -> Result<Vec<Step>, UnknownPort> {
    let all: Vec<(String, Step)> =
        ports(scenario).into_iter().map(|step| (name(scenario, step), step)).collect();
    let mut found: Vec<Step> = Vec::new();
    for wanted in names {
        let Some((_, step)) = all.iter().find(|(name, _)| name == wanted) else {
            let there = all.into_iter().map(|(name, _)| name).collect();
            return Err(UnknownPort { name: wanted.clone(), there });
        };
        if !found.contains(step) {
            found.push(*step);
        }
    }
    Ok(found)
}

/// The first of the `ports` by which data cells leave that carry RM values, and the connection that these are of: no
/// standard says what octets they have.
///
/// # Errors
/// [`NoOctets`], if there is one.
pub fn check(scenario: &Scenario, ports: &[Step]) -> Result<(), NoOctets> {
    let in_band = scenario.flows().filter(|&flow| scenario.flow(flow).sender.is_in_band());
    let ways: Vec<(FlowIndex, PortIndex)> =
        in_band.flat_map(|flow| scenario.steps(flow).map(move |step| (flow, step.port()))).collect();
    for &step in ports {
        if let Some((flow, _)) = ways.iter().find(|(_, port)| *port == step.port()) {
            let vc = scenario.connection(flow.connection()).name.clone();
            return Err(NoOctets { port: name(scenario, step), vc });
        }
    }
    Ok(())
}

/// A port sends cells that are not made of octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoOctets {
    /// The port.
    pub port: String,
    /// The connection that the cells are of.
    pub vc: String,
}

impl fmt::Display for NoOctets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoOctets { port, vc } = self;
        write!(
            f,
            "port {port} cannot be captured: data cells of vc \"{vc}\" carry RM values (rm = \"in-band\"), and no standard \
             says what octets they have; name other ports, or write rm = \"own-cells\""
        )
    }
}

/// No port with cells has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPort {
    /// The name.
    pub name: String,
    /// Names of the ports there are.
    pub there: Vec<String>,
}

impl fmt::Display for UnknownPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 12;
        let UnknownPort { name, there } = self;
        write!(f, "no port {name} carries cells; there are {}", there[..there.len().min(SHOWN)].join(", "))?;
        if there.len() > SHOWN {
            write!(f, " and {} more", there.len() - SHOWN)?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownPort {}

/// Collects what clusters note, and hands it on as octets.
pub(crate) struct Collector<'a> {
    hops: std::sync::Arc<[Hop]>,
    wire: Wire,
    until: Time,
    noted: Vec<Departure>,
    sink: &'a mut TapSink<'a>,
}

impl<'a> Collector<'a> {
    /// Begins to look at the ports of `tap`, all of which carry cells.
    pub fn new(
        scenario: &Scenario,
        assembly: &mut Assembly,
        tap: &Tap,
        sink: &'a mut TapSink<'a>,
    ) -> Collector<'a> {
        let clusters = &mut assembly.kernel.clusters;
        for (number, &step) in (0..).zip(&tap.ports) {
            let Some(place) = assembly.ports[step.port().index()] else { continue };
            let cluster = &mut clusters[place.cluster as usize];
            let ports = cluster.ports.len();
            let departures =
                cluster.departures.get_or_insert_with(|| Box::new(Departures::from_none_of(ports)));
            departures.tap(place.index as usize, number);
        }
        let wire = Wire::new(scenario, &assembly.endpoints, tap);
        wire.begin(clusters);
        let hops = std::sync::Arc::clone(&clusters[0].hops);
        Collector { hops, wire, until: tap.until, noted: Vec::new(), sink }
    }

    /// After a window: hands on what has left meanwhile.
    pub fn collect(&mut self, clusters: &mut [Cluster]) -> ControlFlow<()> {
        for cluster in clusters.iter_mut() {
            if let Some(departures) = &mut cluster.departures {
                departures.hand_over(&mut self.noted);
            }
        }
        self.wire.follow(clusters);
        // What leaves a port does so at different instants, so this order is whole.
        self.noted.sort_unstable_by_key(|departure| (departure.at, departure.port));
        for &Departure { at, port, lost, cell } in &self.noted {
            if at >= self.until {
                self.wire.end(clusters);
                clusters.iter_mut().for_each(|cluster| cluster.departures = None);
                break;
            }
            let flow = self.hops[cell.hop()].flow;
            let octets = self.wire.emit(flow, port, cell);
            let has_pdu = !cell.is_rm() && self.wire.has_pdus(flow);
            (self.sink)(TappedCell { port: port as usize, at, octets: &octets, has_pdu, lost })?;
        }
        self.noted.clear();
        ControlFlow::Continue(())
    }
}
