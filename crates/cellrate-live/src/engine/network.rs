//! From a scenario to a network ready to run: ports, lines, ends of connections, and the table of hops.

use std::collections::{BTreeMap, VecDeque};

use cellrate_drive::becn::{Origin, origins};
use cellrate_drive::given::{Given, NotGiven};
use cellrate_drive::line::Line;
use cellrate_drive::per_vc_queue::PerVcQueue;
use cellrate_drive::priority::priority;
use cellrate_drive::random::{Random, Stream};
use cellrate_drive::segments::{VirtualEnd, virtual_ends};
use cellrate_drive::set_up;
use cellrate_proto::switch::Slot;
use cellrate_proto::{CellRate, Cells, Destination, DestinationConfig, Duration, Time};
use cellrate_scenario::Sender as SenderConfig;
use cellrate_scenario::{
    Connection, ConnectionIndex, Flow, LinkIndex, NodeIndex, NodeKind, Scenario, Step, Traffic, WaitingBrm,
};

use super::adapter::{Adapter, Reception, Sender};
use super::cell::{self, Cell, MAX_CONNECTIONS};
use super::error::Error;
use super::faults::{Faults, InjectedFaults};
use super::options::Options;
use super::port::{Exit, Port};
use super::supply::{PacketQueue, Supply};

/// Of hosts of which the scenario says nothing.
const DEFAULT_ADAPTER_QUEUE: Cells = Cells(4096);

/// No such index.
pub(crate) const NONE: u32 = u32::MAX;

/// One link crossed by one direction of a connection. The hops of a direction stand one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// The output port that the link begins at, by its place in [`Network::ports`]; [`NONE`] in another process.
    pub port: u32,
    /// The direction's number at that port's control.
    pub slot: Slot,
    /// The direction: twice the connection's index, plus one for the backward one.
    pub flow: u32,
    /// The port at the same node that the other direction of the connection leaves by: it answers the BRMs that cross
    /// this hop. [`NONE`] at a host.
    pub answering_port: u32,
    /// The other direction's number there.
    pub answering_slot: Slot,
    /// Where the direction ends, if this is its last hop, or its control loop, at a switch that segments it: a place in
    /// [`Network::adapters`]; else [`NONE`].
    pub adapter: u32,
    /// Service priority of the connection.
    pub priority: u8,
}

/// The near end of a link, as seen by the node that receives from it.
#[derive(Debug)]
pub(crate) struct Input {
    /// Number of the port at its far end.
    pub port_number: usize,
    /// The node that receives.
    pub node: NodeIndex,
    pub at_host: bool,
    /// The cells on the link.
    pub cells: VecDeque<Cell>,
    /// For cells from another process: the hop that each connection crosses here; [`NONE`] for none.
    pub hops: Vec<u32>,
    /// The link's delay and cell time, by which such cells are timed.
    pub delay: Duration,
    pub cell_time: Duration,
}

/// A link into another process.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Number of the port.
    pub port_number: usize,
    /// The node that it is of.
    pub node: NodeIndex,
    /// The node at its far end.
    pub neighbour: NodeIndex,
    /// The cells that have left since the last datagrams, each stamped with its arrival.
    pub cells: Vec<Cell>,
    /// What takes the arrival back to the departure.
    pub delay: Duration,
}

/// What is counted at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeCounters {
    /// RM cells that came with a wrong CRC-10, or were none of ABR's: discarded.
    pub damaged_rm: u64,
    /// Cells of connections that do not cross this link: discarded.
    pub unknown_vc: u64,
}

/// A network at time zero, or the part of it that this process is.
#[derive(Debug)]
pub(crate) struct Network {
    pub hops: Vec<Hop>,
    pub ports: Vec<Port>,
    /// Numbers of the ports: twice the link's index plus the end.
    pub port_numbers: Vec<usize>,
    pub inputs: Vec<Input>,
    pub outgoing: Vec<Outgoing>,
    /// The ends of connections, in the order of the flows that they send, and behind them those inside switches.
    pub adapters: Vec<Adapter>,
    /// The flow that each of those at hosts sends.
    pub flows: Vec<u32>,
    /// The others; each pair stands together.
    pub virtual_ends: Vec<VirtualEnd>,
    /// By flow, the adapter that sends it; [`NONE`] in another process.
    pub sender_of: Vec<u32>,
    pub nodes: Vec<NodeCounters>,
    /// Of hops by ports that [originate](super::becn) BRMs: the hop of the other direction that leaves the same switch.
    pub ways_back: BTreeMap<u32, u32>,
}

/// Number of an output port: twice its link's index plus the end it sends from.
pub(crate) fn port_number(step: Step) -> usize {
    2 * step.link.0 as usize + usize::from(step.end)
}

/// The step over the link of a port.
pub(crate) fn step_of(number: usize) -> Step {
    Step { link: LinkIndex((number / 2) as u32), end: (number % 2) as u8 }
}

/// The steps of a direction of a connection.
pub(crate) fn steps(connection: &Connection, backward: bool) -> Vec<Step> {
    let turned = |step: &Step| Step { link: step.link, end: 1 - step.end };
    if backward { connection.path.iter().rev().map(turned).collect() } else { connection.path.clone() }
}

/// Both directions of all connections, in the order of the flows.
pub(crate) fn flows(scenario: &Scenario) -> impl Iterator<Item = (&Connection, bool)> {
    scenario.connections.iter().flat_map(|connection| [(connection, false), (connection, true)])
}

struct Builder<'a> {
    scenario: &'a Scenario,
    options: &'a Options<'a>,
    /// By node, whether it is in this process.
    local: Vec<bool>,
    /// By port number, whether a connection crosses it.
    used: Vec<bool>,
    network: Network,
    /// By port number, the place in `network.ports`.
    port_places: Vec<u32>,
}

impl Network {
    /// The place of the virtual source of `flow` at `switch`, if that is in this process.
    pub fn virtual_source(&self, flow: usize, switch: NodeIndex) -> Option<u32> {
        let at = |end: &VirtualEnd| (end.flow, end.switch) == (flow, switch);
        let place = self.virtual_ends.iter().position(at)?;
        Some((self.flows.len() + place) as u32)
    }

    /// The virtual ends with their adapters, and those that the loops before them lead to.
    pub fn virtual_sources(&self) -> impl Iterator<Item = (&VirtualEnd, &Adapter, &Adapter)> {
        let adapters = &self.adapters[self.flows.len()..];
        let ends = self.virtual_ends.iter().enumerate();
        ends.map(|(place, end)| (end, &adapters[place], &adapters[place ^ 1]))
    }

    /// The flows whose ends are here and follow ACR, each with ACR now.
    pub fn offered(&self) -> impl Iterator<Item = (u32, CellRate)> {
        let ends = self.adapters.iter().zip(&self.flows);
        ends.filter_map(|(adapter, &flow)| Some((flow, adapter.source()?.acr())))
    }

    /// Builds what `options.part` names of the network of `scenario`.
    pub fn build(scenario: &Scenario, options: &Options<'_>) -> Result<Network, Error> {
        if scenario.connections.len() > MAX_CONNECTIONS {
            return Err(Error::TooLarge {
                connections: scenario.connections.len(),
                allowed: MAX_CONNECTIONS,
            });
        }
        let nodes = (0..).take(scenario.nodes.len()).map(NodeIndex);
        let local = nodes.map(|node| options.part.has(node)).collect();
        let mut used = vec![false; 2 * scenario.links.len()];
        for (connection, backward) in flows(scenario) {
            for step in steps(connection, backward) {
                used[port_number(step)] = true;
            }
        }
        let ports = used.len();
        let network = Network {
            hops: Vec::new(),
            ports: Vec::new(),
            port_numbers: Vec::new(),
            inputs: Vec::new(),
            outgoing: Vec::new(),
            adapters: Vec::new(),
            flows: Vec::new(),
            virtual_ends: Vec::new(),
            sender_of: vec![NONE; 2 * scenario.connections.len()],
            nodes: vec![NodeCounters::default(); scenario.nodes.len()],
            ways_back: BTreeMap::new(),
        };
        let mut builder = Builder { scenario, options, local, used, network, port_places: vec![NONE; ports] };
        builder.build_inputs();
        builder.build_ports()?;
        builder.number_adapters();
        let first_hops = builder.build_hops();
        builder.build_adapters(&first_hops)?;
        builder.build_virtual_ends(&first_hops)?;
        let number = |flow: usize, hop: usize| first_hops[flow] + hop as u32;
        let ways_back = origins(scenario)
            .into_iter()
            .map(|Origin { flow, hop, hop_back, .. }| (number(flow, hop), number(flow ^ 1, hop_back)));
        builder.network.ways_back = ways_back.collect();
        builder.find_hops_of_inputs();
        Ok(builder.network)
    }
}

impl Builder<'_> {
    fn is_local(&self, node: NodeIndex) -> bool {
        self.local[node.0 as usize]
    }

    fn build_inputs(&mut self) {
        for number in 0..self.used.len() {
            let head = self.scenario.head(step_of(number));
            if !self.used[number] || !self.is_local(head) {
                continue;
            }
            let link = &self.scenario.links[number / 2];
            self.network.inputs.push(Input {
                port_number: number,
                node: head,
                at_host: self.scenario.nodes[head.0 as usize].kind == NodeKind::Host,
                cells: VecDeque::new(),
                hops: Vec::new(),
                delay: link.delay,
                cell_time: link.rate.cell_time(),
            });
        }
    }

    fn build_ports(&mut self) -> Result<(), NotGiven> {
        for number in 0..self.used.len() {
            let step = step_of(number);
            if !self.used[number] || !self.is_local(self.scenario.tail(step)) {
                continue;
            }
            let inside = (0..).zip(&self.network.inputs).find(|(_, input)| input.port_number == number);
            let exit = match inside {
                Some((place, _)) => Exit::Inside(place),
                None => {
                    self.network.outgoing.push(Outgoing {
                        port_number: number,
                        node: self.scenario.tail(step),
                        neighbour: self.scenario.head(step),
                        cells: Vec::new(),
                        delay: self.scenario.links[number / 2].delay,
                    });
                    Exit::Outside(self.network.outgoing.len() as u32 - 1)
                }
            };
            self.port_places[number] = self.network.ports.len() as u32;
            self.network.ports.push(self.build_port(number, exit)?);
            self.network.port_numbers.push(number);
        }
        Ok(())
    }

    fn build_port(&self, number: usize, exit: Exit) -> Result<Port, NotGiven> {
        let link = &self.scenario.links[number / 2];
        let config = &link.ports[number % 2];
        let seed = self.scenario.seed;
        let random = Random::new(seed, Stream::Loss(number as u32));
        let line = Line::new(link.rate.cell_time(), link.delay, link.cell_loss, &link.outages, random);
        let control = self.options.given.control(self.scenario, number)?;
        let tail = self.scenario.tail(step_of(number));
        let is_switch = self.scenario.nodes[tail.0 as usize].kind == NodeKind::Switch;
        let Faults { rm_damage, data_loss, .. } = self.options.faults;
        let injected = (rm_damage > 0.0 || data_loss > 0.0).then(|| InjectedFaults {
            rates: self.options.faults,
            random: Random::new(seed, Stream::Faults(number as u32)),
        });
        Ok(Port::new(line, config, control, is_switch, exit, injected))
    }

    fn number_adapters(&mut self) {
        for (flow, (connection, backward)) in flows(self.scenario).enumerate() {
            let first = steps(connection, backward)[0];
            if self.is_local(self.scenario.tail(first)) {
                self.network.sender_of[flow] = self.network.flows.len() as u32;
                self.network.flows.push(flow as u32);
            }
        }
    }

    /// Writes the table of hops; returns the first of each flow.
    fn build_hops(&mut self) -> Vec<u32> {
        let mut first = Vec::new();
        for (flow, (connection, backward)) in flows(self.scenario).enumerate() {
            first.push(self.network.hops.len() as u32);
            let steps = steps(connection, backward);
            for (index, &step) in steps.iter().enumerate() {
                let port = self.port_places[port_number(step)];
                let slot = self
                    .network
                    .ports
                    .get_mut(port as usize)
                    .and_then(|port| {
                        set_up::connect(connection, backward, &mut port.control, port.frame_discard.as_mut())
                    })
                    .unwrap_or(Slot(NONE));
                let is_last = index + 1 == steps.len();
                self.network.hops.push(Hop {
                    port,
                    slot,
                    flow: flow as u32,
                    answering_port: NONE,
                    answering_slot: Slot(NONE),
                    // The direction ends where the other one begins.
                    adapter: if is_last { self.network.sender_of[flow ^ 1] } else { NONE },
                    priority: priority(connection.category) as u8,
                });
            }
        }
        // Hop j of n (from 1 on) leaves the node that hop n - j of the other direction leaves.
        for (flow, (connection, _)) in flows(self.scenario).enumerate() {
            let (own, other, n) = (first[flow] as usize, first[flow ^ 1] as usize, connection.path.len());
            for j in 1..n {
                let answering = self.network.hops[other + n - j];
                let hop = &mut self.network.hops[own + j];
                hop.answering_port = answering.port;
                hop.answering_slot = answering.slot;
            }
        }
        first
    }

    fn build_adapters(&mut self, first_hops: &[u32]) -> Result<(), Error> {
        let end = Time::ZERO + self.scenario.duration;
        for (flow, (connection, backward)) in flows(self.scenario).enumerate() {
            if self.network.sender_of[flow] == NONE {
                continue;
            }
            let number = ConnectionIndex((flow / 2) as u32);
            let back = if backward { &connection.forward } else { &connection.backward };
            let carries_packets = self.options.routes.iter().any(|route| route.connection == number);
            let (supply, reception) = if carries_packets {
                let host = self.scenario.tail(steps(connection, backward)[0]);
                let own = self.scenario.hosts.get(host.0 as usize).map(|host| host.adapter_queue);
                let room = self.options.adapter_queue.or(own).unwrap_or(DEFAULT_ADAPTER_QUEUE);
                let room = usize::try_from(room.0).unwrap_or(usize::MAX);
                let attached = (0..).zip(&self.options.hosts).find(|(_, of)| of.node == host);
                let (place, attached) = attached.ok_or_else(|| Error::NoDevice {
                    vc: connection.name.clone(),
                    host: self.scenario.nodes[host.0 as usize].name.clone(),
                })?;
                let reception = Reception::new(place, attached.mtu);
                (Supply::Packets(Box::new(PacketQueue::new(room))), Some(reception))
            } else {
                let answers = backward && matches!(back.traffic, Some(Traffic::RequestResponse(_)));
                let generator = Supply::generator(self.scenario, flow as u32, end, self.options.given)?;
                match generator {
                    Some(generator) if !answers => (generator, None),
                    _ => return Err(Error::NoApplication { vc: connection.name.clone() }),
                }
            };
            self.network.adapters.push(Adapter::new(
                build_sender(self.scenario, flow, self.options.given)?,
                supply,
                Destination::new(destination_config(back)),
                first_hops[flow],
                cell::address(number.0),
                reception,
            ));
        }
        Ok(())
    }

    /// Ends inside the switches of this process, with the hops that lead to them.
    fn build_virtual_ends(&mut self, first_hops: &[u32]) -> Result<(), NotGiven> {
        for end in virtual_ends(self.scenario) {
            if !self.is_local(end.switch) {
                continue;
            }
            let connection = &self.scenario.connections[end.flow / 2];
            let back = if end.flow % 2 == 1 { &connection.forward } else { &connection.backward };
            let received = first_hops[end.flow ^ 1] as usize + end.received_step(connection.path.len());
            self.network.hops[received].adapter = self.network.adapters.len() as u32;
            self.network.adapters.push(Adapter::new(
                build_sender(self.scenario, end.flow, self.options.given)?,
                Supply::Relayed(Box::new(PerVcQueue::new(end.coupling))),
                Destination::new(destination_config(back)),
                first_hops[end.flow] + end.step as u32,
                cell::address((end.flow / 2) as u32),
                None,
            ));
            self.network.virtual_ends.push(end);
        }
        Ok(())
    }

    /// Where cells come from another process, their addresses say which hop they cross.
    fn find_hops_of_inputs(&mut self) {
        let outside = |input: &Input| !self.local[self.scenario.tail(step_of(input.port_number)).0 as usize];
        let connections = self.scenario.connections.len();
        for input in self.network.inputs.iter_mut().filter(|input| outside(input)) {
            input.hops = vec![NONE; connections];
            let mut hop = 0;
            for (flow, (connection, backward)) in flows(self.scenario).enumerate() {
                for step in steps(connection, backward) {
                    if port_number(step) == input.port_number {
                        input.hops[flow / 2] = hop;
                    }
                    hop += 1;
                }
            }
        }
    }
}

fn build_sender(scenario: &Scenario, flow: usize, given: Given<'_>) -> Result<Sender, NotGiven> {
    let connection = &scenario.connections[flow / 2];
    let out = if flow % 2 == 1 { &connection.backward } else { &connection.forward };
    Ok(match &out.sender {
        SenderConfig::Abr(abr) => Sender::Abr(given.source(scenario, flow, abr)?),
        SenderConfig::Peak(rate) => Sender::Peak { spacing: rate.interval(), earliest: Time::ZERO },
    })
}

/// What the receiving end of `flow` does.
fn destination_config(flow: &Flow) -> DestinationConfig {
    match &flow.sender {
        SenderConfig::Abr(abr) => DestinationConfig {
            clear_efci_state: abr.clear_efci_state,
            send_waiting_out_of_rate: abr.waiting_brm == WaitingBrm::SendOutOfRate,
        },
        SenderConfig::Peak(_) => DestinationConfig::default(),
    }
}
