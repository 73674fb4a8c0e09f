//! From a scenario to a network ready to run: ports, lines, ends of connections, and the table of hops.

use std::collections::{BTreeMap, VecDeque};

use cellrate_engine::becn::{Origin, origins};
use cellrate_engine::connection_end::ConnectionEnd;
use cellrate_engine::frame_discards::FrameDiscards;
use cellrate_engine::line::Line;
use cellrate_engine::loopback::{locations, segment_ends};
use cellrate_engine::pacer::Pacer;
use cellrate_engine::per_vc_queue::PerVcQueue;
use cellrate_engine::plugins::MissingPlugin;
use cellrate_engine::policing::checkpoints;
use cellrate_engine::priority::priority;
use cellrate_engine::random::{Owner, Random, Stream};
use cellrate_engine::segments::{VirtualEnd, virtual_ends};
use cellrate_engine::served::Served;
use cellrate_engine::set_up;
use cellrate_engine::supply::CommonSupply;
use cellrate_proto::switch::Slot;
use cellrate_proto::{CellRate, Cells, Time};
use cellrate_scenario::{AdapterTcp, FlowIndex, NodeIndex, NodeKind, PortIndex, Scenario, Traffic};

use super::acks::Acks;
use super::adapter::{Adapter, Reception};
use super::advice::Advice;
use super::cell::{self, Cell, MAX_CONNECTIONS};
use super::edge::Edge;
use super::error::Error;
use super::faults::{Faults, InjectedFaults};
use super::incoming::Incoming;
use super::options::Options;
use super::police::Police;
use super::port::{LineEnd, Port};
use super::supply::{PacketQueue, Supply};

/// The adapter queue of hosts of which the scenario says nothing.
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
    /// The direction.
    pub flow: FlowIndex,
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
    /// The port at its far end.
    pub port: PortIndex,
    /// The node that receives.
    pub node: NodeIndex,
    pub at_host: bool,
    /// The cells on the link.
    pub cells: VecDeque<Cell>,
    /// For cells from another process: the hop that each connection crosses here; [`NONE`] for none.
    pub hops: Vec<u32>,
    /// The line, by which such cells are timed.
    pub line: Incoming,
}

/// A link into another process.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// The port.
    pub port: PortIndex,
    /// The node that it is of.
    pub node: NodeIndex,
    /// The node at its far end.
    pub neighbour: NodeIndex,
    /// The cells that have left since the last datagrams, each stamped with its departure in place of its arrival.
    pub cells: Vec<Cell>,
}

/// Counters of a node.
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
    /// Places of the ports in the scenario.
    pub port_indices: Vec<PortIndex>,
    pub inputs: Vec<Input>,
    pub outgoing: Vec<Outgoing>,
    /// The ends of connections, in the order of the flows that they send, and behind them those inside switches.
    pub adapters: Vec<Adapter>,
    /// The flow that each of those at hosts sends.
    pub flows: Vec<FlowIndex>,
    /// The others; each pair stands together.
    pub virtual_ends: Vec<VirtualEnd>,
    /// By flow, the adapter that sends it; [`NONE`] in another process.
    pub sender_of: Vec<u32>,
    pub nodes: Vec<NodeCounters>,
    /// The hop of the other direction that leaves the same switch, by hops of ports that [originate](super::becn) BRMs.
    pub ways_back: BTreeMap<u32, u32>,
    pub police: Police,
    /// The hop by which the reply leaves, by the hop at whose far end a switch answers loopback requests and the number
    /// of the loopback.
    pub segment_ends: BTreeMap<(u32, u32), u32>,
    /// By attached host: what its adapters make of its TCP, if anything.
    pub edges: Vec<Option<Box<Edge>>>,
}

/// By port, whether a connection crosses it.
pub(crate) fn used_ports(scenario: &Scenario) -> Vec<bool> {
    let mut used = vec![false; scenario.ports().len()];
    for step in scenario.flows().flat_map(|flow| scenario.steps(flow)) {
        used[step.port().index()] = true;
    }
    used
}

/// Treatment of the TCP of this host.
fn edge(scenario: &Scenario, host: NodeIndex) -> Option<Box<Edge>> {
    let settings = scenario.hosts.get(host.0 as usize)?.adapter_tcp;
    let AdapterTcp { window, delayed_ack, .. } = settings;
    (window.is_some() || delayed_ack.is_some()).then(|| Box::new(Edge::new(settings)))
}

/// Keys of a host that go by ACR, and what does without.
const ACR_WINDOW: (&str, &str) = ("adapter_tcp.acr_window", "hold_acks needs no rate");
const ACR_ADVICE: (&str, &str) = ("scone.leaving = \"acr\"", "a rate by policy needs none");

struct Builder<'a> {
    scenario: &'a Scenario,
    options: &'a Options<'a>,
    /// By node, whether it is in this process.
    local: Vec<bool>,
    /// By port, whether a connection crosses it.
    used: Vec<bool>,
    network: Network,
    /// By port, the place in `network.ports`.
    port_places: Vec<u32>,
}

impl Network {
    /// The place of the adapter that sends `flow`, if that is in this process.
    pub fn sender(&self, flow: FlowIndex) -> Option<u32> {
        Some(self.sender_of[flow.index()]).filter(|&place| place != NONE)
    }

    /// The adapter that sends `flow`, if that is in this process.
    pub fn sending(&self, flow: FlowIndex) -> Option<&Adapter> {
        Some(&self.adapters[self.sender(flow)? as usize])
    }

    /// The place of the virtual source of `flow` at `switch`, if that is in this process.
    pub fn virtual_source(&self, flow: FlowIndex, switch: NodeIndex) -> Option<u32> {
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
    pub fn offered(&self) -> impl Iterator<Item = (FlowIndex, CellRate)> {
        let ends = self.adapters.iter().zip(&self.flows);
        ends.filter_map(|(adapter, &flow)| Some((flow, adapter.end.source()?.acr())))
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
        let used = used_ports(scenario);
        let ports = used.len();
        let network = Network {
            hops: Vec::new(),
            ports: Vec::new(),
            port_indices: Vec::new(),
            inputs: Vec::new(),
            outgoing: Vec::new(),
            adapters: Vec::new(),
            flows: Vec::new(),
            virtual_ends: Vec::new(),
            sender_of: vec![NONE; scenario.flows().len()],
            nodes: vec![NodeCounters::default(); scenario.nodes.len()],
            ways_back: BTreeMap::new(),
            police: Police::default(),
            segment_ends: BTreeMap::new(),
            edges: options.hosts.iter().map(|host| edge(scenario, host.node)).collect(),
        };
        let mut builder = Builder { scenario, options, local, used, network, port_places: vec![NONE; ports] };
        builder.build_inputs();
        builder.build_ports()?;
        builder.number_adapters();
        let first_hops = builder.build_hops();
        builder.build_adapters(&first_hops)?;
        builder.build_virtual_ends(&first_hops)?;
        let number = |flow: FlowIndex, hop: usize| first_hops[flow.index()] + hop as u32;
        let ways_back = origins(scenario)
            .into_iter()
            .map(|Origin { flow, hop, hop_back, .. }| (number(flow, hop), number(flow.other(), hop_back)));
        builder.network.ways_back = ways_back.collect();
        for end in segment_ends(scenario) {
            if builder.is_local(end.switch) {
                let key = (number(end.flow, end.hop), end.loopback);
                builder.network.segment_ends.insert(key, number(end.flow.other(), end.hop_back));
            }
        }
        for checkpoint in checkpoints(scenario) {
            if builder.is_local(checkpoint.switch) {
                let hop = number(checkpoint.flow, checkpoint.hop);
                let hop_back = number(checkpoint.flow.other(), checkpoint.hop_back);
                builder.network.police.add(checkpoint, hop, hop_back);
            }
        }
        builder.find_hops_of_inputs();
        Ok(builder.network)
    }
}

impl Builder<'_> {
    fn is_local(&self, node: NodeIndex) -> bool {
        self.local[node.0 as usize]
    }

    fn build_inputs(&mut self) {
        for port in self.scenario.ports() {
            let head = self.scenario.head(port.step());
            if !self.used[port.index()] || !self.is_local(head) {
                continue;
            }
            let link = self.scenario.link(port.link());
            self.network.inputs.push(Input {
                port,
                node: head,
                at_host: self.scenario.node(head).kind == NodeKind::Host,
                cells: VecDeque::new(),
                hops: Vec::new(),
                line: Incoming::of(link, port.end()),
            });
        }
    }

    fn build_ports(&mut self) -> Result<(), MissingPlugin> {
        for port in self.scenario.ports() {
            let [tail, head] = [self.scenario.tail(port.step()), self.scenario.head(port.step())];
            if !self.used[port.index()] || !self.is_local(tail) {
                continue;
            }
            let inside = (0..).zip(&self.network.inputs).find(|(_, input)| input.port == port);
            let line_end = match inside {
                Some((place, _)) => LineEnd::Inside(place),
                None => {
                    self.network.outgoing.push(Outgoing {
                        port,
                        node: tail,
                        neighbour: head,
                        cells: Vec::new(),
                    });
                    LineEnd::Outside(self.network.outgoing.len() as u32 - 1)
                }
            };
            self.port_places[port.index()] = self.network.ports.len() as u32;
            self.network.ports.push(self.build_port(port, line_end)?);
            self.network.port_indices.push(port);
        }
        Ok(())
    }

    fn build_port(&self, port: PortIndex, line_end: LineEnd) -> Result<Port, MissingPlugin> {
        let config = self.scenario.port(port);
        let mut line = Line::of(self.scenario, port);
        if self.options.changes.is_some() {
            line.open(self.scenario, port);
        }
        let control = self.options.plugins.control(self.scenario, port)?;
        let tail = self.scenario.tail(port.step());
        let is_switch = self.scenario.node(tail).kind == NodeKind::Switch;
        let Faults { rm_damage, data_loss, .. } = self.options.faults;
        let injected = (rm_damage > 0.0 || data_loss > 0.0).then(|| InjectedFaults {
            rates: self.options.faults,
            random: Random::new(self.scenario.seed, Stream::Faults(Owner::port(self.scenario, port))),
        });
        let discards = FrameDiscards::of(self.scenario, port);
        let marks = Random::new(self.scenario.seed, Stream::Marks(Owner::port(self.scenario, port)));
        Ok(Port::new(Served::new(line, config, discards, marks), control, is_switch, line_end, injected))
    }

    fn number_adapters(&mut self) {
        for flow in self.scenario.flows() {
            if self.is_local(self.scenario.tail(self.scenario.step(flow, 0))) {
                self.network.sender_of[flow.index()] = self.network.flows.len() as u32;
                self.network.flows.push(flow);
            }
        }
    }

    /// Writes the table of hops; returns the first of each flow.
    fn build_hops(&mut self) -> Vec<u32> {
        let mut first = Vec::new();
        for flow in self.scenario.flows() {
            first.push(self.network.hops.len() as u32);
            let steps = self.scenario.steps(flow);
            let last = steps.len() - 1;
            for (index, step) in steps.enumerate() {
                let port = self.port_places[step.port().index()];
                let slot = self
                    .network
                    .ports
                    .get_mut(port as usize)
                    .and_then(|port| {
                        let parts = port.served.connected();
                        set_up::connect(self.scenario, flow, step.port(), &mut port.control, parts)
                    })
                    .unwrap_or(Slot(NONE));
                let category = self.scenario.connection(flow.connection()).category;
                self.network.hops.push(Hop {
                    port,
                    slot,
                    flow,
                    answering_port: NONE,
                    answering_slot: Slot(NONE),
                    // The direction ends where the other one begins.
                    adapter: if index == last { self.network.sender_of[flow.other().index()] } else { NONE },
                    priority: priority(category) as u8,
                });
            }
        }
        // Hop j of n (from 1 on) leaves the node that hop n - j of the other direction leaves.
        for flow in self.scenario.flows() {
            let [own, other] = [flow, flow.other()].map(|flow| first[flow.index()] as usize);
            let n = self.scenario.steps(flow).len();
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
        for flow in self.scenario.flows() {
            if self.network.sender(flow).is_none() {
                continue;
            }
            let (number, first_hop) = (flow.connection(), first_hops[flow.index()]);
            let vc = || self.scenario.connection(number).name.clone();
            let carries_packets = self.options.routes.iter().any(|route| route.connection == number);
            let pacer = Pacer::at_host(self.scenario, flow, self.options.plugins)?;
            let (mut acks, mut advice) = (None, None);
            let (supply, reception) = if carries_packets {
                let host = self.scenario.tail(self.scenario.step(flow, 0));
                let own = self.scenario.hosts.get(host.0 as usize);
                acks = own.and_then(|own| Acks::new(own.adapter_tcp.arriving_acks));
                advice = own.and_then(|own| Advice::new(own.scone));
                let by_acks = acks.as_ref().filter(|acks| acks.goes_by_rate()).map(|_| ACR_WINDOW);
                let by_advice = advice.as_ref().filter(|advice| advice.goes_by_rate()).map(|_| ACR_ADVICE);
                if let (None, Some(key)) = (pacer.source(), by_acks.or(by_advice)) {
                    let host = self.scenario.node(host).name.clone();
                    return Err(Error::NoRate { vc: vc(), host, key });
                }
                let own = own.map(|host| host.adapter_queue);
                let room = self.options.adapter_queue.or(own).unwrap_or(DEFAULT_ADAPTER_QUEUE);
                let room = usize::try_from(room.0).unwrap_or(usize::MAX);
                let attached = (0..).zip(&self.options.hosts).find(|(_, of)| of.node == host);
                let (place, attached) = attached.ok_or_else(|| Error::NoDevice {
                    vc: vc(),
                    host: self.scenario.node(host).name.clone(),
                })?;
                let reception = Reception::new(place, attached.mtu);
                (Supply::Packets(Box::new(PacketQueue::new(room))), Some(reception))
            } else {
                let asks = &self.scenario.flow(flow.other()).traffic;
                let answers = flow.is_backward() && matches!(asks, Some(Traffic::RequestResponse(_)));
                let supply = CommonSupply::of_traffic(self.scenario, flow, end, self.options.plugins)?;
                match supply {
                    Some(supply) if !answers => (Supply::Common(supply), None),
                    _ => return Err(Error::NoApplication { vc: vc() }),
                }
            };
            let end = ConnectionEnd::at_host(self.scenario, flow, pacer, supply, first_hop);
            let mut adapter = Adapter::new(end, cell::address(number), locations(self.scenario, flow));
            adapter.reception = reception.map(Box::new);
            adapter.acks = acks.map(Box::new);
            adapter.advice = advice.map(Box::new);
            self.network.adapters.push(adapter);
        }
        Ok(())
    }

    /// Ends inside the switches of this process, with the hops that lead to them.
    fn build_virtual_ends(&mut self, first_hops: &[u32]) -> Result<(), MissingPlugin> {
        for end in virtual_ends(self.scenario) {
            if !self.is_local(end.switch) {
                continue;
            }
            let (flow, back) = (end.flow, end.flow.other());
            let received =
                first_hops[back.index()] as usize + end.received_step(self.scenario.steps(flow).len());
            self.network.hops[received].adapter = self.network.adapters.len() as u32;
            let queue = PerVcQueue::new(end.coupling);
            let supply = Supply::Common(CommonSupply::Relayed(Box::new(queue)));
            let (first_hop, plugins) = (first_hops[flow.index()], self.options.plugins);
            let virtual_end = ConnectionEnd::in_switch(self.scenario, &end, supply, first_hop, plugins)?;
            let address = cell::address(flow.connection());
            self.network.adapters.push(Adapter::new(virtual_end, address, Vec::new()));
            self.network.virtual_ends.push(end);
        }
        Ok(())
    }

    /// Where cells come from another process, their addresses say which hop they cross.
    fn find_hops_of_inputs(&mut self) {
        let outside = |input: &Input| !self.local[self.scenario.tail(input.port.step()).0 as usize];
        let connections = self.scenario.connections.len();
        for input in self.network.inputs.iter_mut().filter(|input| outside(input)) {
            input.hops = vec![NONE; connections];
            let mut hop = 0;
            for flow in self.scenario.flows() {
                for step in self.scenario.steps(flow) {
                    if step.port() == input.port {
                        input.hops[flow.connection().0 as usize] = hop;
                    }
                    hop += 1;
                }
            }
        }
    }
}
