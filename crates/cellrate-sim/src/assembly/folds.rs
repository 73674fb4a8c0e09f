//! Which sources are worked out where their cells arrive, or ahead of time, instead of sending cell by cell.

use cellrate_scenario::Sender as SenderConfig;
use cellrate_scenario::{AdapterQueue, FlowIndex, NodeKind, PortIndex, Scenario, Traffic};

use super::carried::sends;
use super::hops::Hops;
use super::place::Place;
use super::watched::Watched;
use crate::cell::Significance;
use crate::endpoint::SendMode;
use crate::kernel::build::Parts;
use crate::kernel::hop::NONE;
use crate::kernel::ports::{Port, Queues};
use crate::kernel::state::feed::Feed;
use crate::mechanisms::{Mechanism, Mechanisms};

/// How the transmissions over a host's port are simulated.
#[derive(Clone, Copy, Debug)]
pub(super) enum SendStrategy {
    /// Transmissions stay what they are.
    None,
    /// The only source is folded into this feed.
    Feed(u32),
    /// The only source, this end of a connection, sends ahead of time.
    Ahead(u32),
}

/// Folds the transmissions of every end whose host can lose no cell on its access link to a switch: into the link where
/// it has that to itself, or else before the host's port, where all that leaves it goes on to other clusters. Returns
/// how by port.
pub(super) fn fold(
    scenario: &Scenario,
    hops: &Hops,
    ports: &[Option<Place>],
    endpoints: &[Place],
    parts: &mut [Parts],
    watched: &Watched,
    mechanisms: Mechanisms,
) -> Vec<SendStrategy> {
    let mut folded = vec![SendStrategy::None; ports.len()];
    if !mechanisms.has(Mechanism::Folding) {
        return folded;
    }
    let mut senders: Vec<Vec<FlowIndex>> = vec![Vec::new(); ports.len()];
    // Branches of trees begin at switches.
    let is_of_host =
        |flow: FlowIndex| scenario.node(scenario.tail(scenario.step(flow, 0))).kind == NodeKind::Host;
    for flow in scenario.flows().filter(|&flow| is_of_host(flow) && sends(scenario, flow)) {
        senders[scenario.step(flow, 0).port().index()].push(flow);
    }
    let folds = Folds { scenario, hops, endpoints, watched, mechanisms };
    for (index, flows) in scenario.ports().zip(&senders) {
        let (Some(port), [_, ..]) = (ports[index.index()], &flows[..]) else { continue };
        let parts = &mut parts[port.cluster as usize];
        if !folds.can_lose_nothing(index, &parts.ports[port.index as usize])
            || flows.iter().any(|&flow| folds.needs_events(flow))
        {
            continue;
        }
        match flows[..] {
            [flow] => folded[index.index()] = folds.alone(flow, index, port, parts),
            _ => folds.among_several(flows, index, port, parts),
        }
    }
    folded
}

/// The network that ends are folded in.
struct Folds<'a> {
    scenario: &'a Scenario,
    hops: &'a Hops,
    endpoints: &'a [Place],
    watched: &'a Watched,
    mechanisms: Mechanisms,
}

impl Folds<'_> {
    /// Whether a host's port leads to a switch, loses nothing and is looked at by no series of its queue.
    fn can_lose_nothing(&self, index: PortIndex, port: &Port) -> bool {
        let to_switch = self.scenario.node(self.scenario.head(index.step())).kind == NodeKind::Switch;
        let lossless =
            matches!(port, Port { queues: Queues::Fifo(fifo), outside: false, .. } if fifo.is_lossless());
        to_switch && lossless && !self.watched.port(index).queue
    }

    /// Whether arrivals or departures of `flow` have to be events.
    fn needs_events(&self, flow: FlowIndex) -> bool {
        let connection = self.scenario.connection(flow.connection());
        let hop = self.hops.of(flow);
        // Each arrival is an event where a switch polices cells, or copies them.
        self.hops.policed.contains(&hop)
            || self.hops.branching.contains(&hop)
            // Loopback cells leave between those of the source, and those of a path say whose they are.
            || !connection.loopbacks.is_empty()
            || connection.is_path()
            // What a shaper lets go, and what a marker marks, is known cell by cell.
            || self.scenario.flow(flow).conditioning.is_some()
            || matches!(&self.scenario.flow(flow).sender, SenderConfig::Abr(abr) if abr.mbs > 1)
            // Each departure may let TCP hand over its next segment, whose timer starts then.
            || holds_back(self.scenario, flow)
    }

    /// The port that cells of `flow` come to behind the host's.
    fn next(&self, flow: FlowIndex) -> u32 {
        self.hops.table[self.hops.of(flow) as usize + 1].port
    }

    fn end_of(&self, flow: FlowIndex) -> u32 {
        self.endpoints[flow.index()].index
    }

    /// Folds the only sender over a port.
    fn alone(&self, flow: FlowIndex, index: PortIndex, port: Place, parts: &mut Parts) -> SendStrategy {
        let (scenario, end) = (self.scenario, self.end_of(flow));
        let behind = &parts.ports[self.next(flow) as usize];
        let (strategy, mode) = if behind.deferred
            && self.mechanisms.has(Mechanism::Ahead)
            && is_autonomous(scenario, flow, index, self.watched)
            && (behind.outside || !has_events(scenario, flow))
        {
            (SendStrategy::Ahead(end), SendMode::Ahead { port: port.index })
        } else {
            let number = parts.feeds.len() as u32;
            let mut feed = Feed::new(end, self.next(flow), behind.deferred, behind.significance());
            feed.ends_loop = self.hops.table[self.hops.of(flow) as usize].endpoint != NONE;
            parts.feeds.push(feed);
            (SendStrategy::Feed(number), SendMode::Folded { port: port.index, feed: number })
        };
        parts.endpoints[end as usize].send_mode = mode;
        strategy
    }

    /// Folds all senders over a port, if every cell of theirs leaves the cluster behind it.
    fn among_several(&self, flows: &[FlowIndex], index: PortIndex, port: Place, parts: &mut Parts) {
        let leaves_cluster = |&flow: &FlowIndex| {
            let behind = &parts.ports[self.next(flow) as usize];
            behind.deferred && behind.outside
        };
        if !self.mechanisms.has(Mechanism::SharedHosts)
            || !self.mechanisms.has(Mechanism::Deferral)
            || self.watched.port(index).changes
            || !flows.iter().all(leaves_cluster)
        {
            return;
        }
        parts.ports[port.index as usize].deferred = true;
        for &flow in flows {
            let (number, end) = (parts.feeds.len() as u32, self.end_of(flow));
            parts.feeds.push(Feed::new(end, port.index, true, Significance::NONE));
            let mode = SendMode::Folded { port: port.index, feed: number };
            parts.endpoints[end as usize].send_mode = mode;
        }
    }
}

/// Whether the adapter that sends `flow` holds TCP or its ACKs back.
fn holds_back(scenario: &Scenario, flow: FlowIndex) -> bool {
    [flow, flow.other()].into_iter().any(|flow| {
        matches!(&scenario.flow(flow).traffic,
            Some(Traffic::Tcp(tcp)) if matches!(tcp.adapter_queue, AdapterQueue::HighWater(_) | AdapterQueue::HoldAcks(_)))
    })
}

/// Whether among its cells are some that have to be events before a host: ends of PDUs.
fn has_events(scenario: &Scenario, flow: FlowIndex) -> bool {
    scenario.connection(flow.connection()).carries_pdus(flow.is_backward())
}

/// Whether what a direction sends by its first port depends on its traffic alone, and no series looks at either.
fn is_autonomous(scenario: &Scenario, flow: FlowIndex, port: PortIndex, watched: &Watched) -> bool {
    let own = scenario.flow(flow);
    let alone = own.traffic.as_ref().is_some_and(|traffic| traffic.kind().is_autonomous());
    let looked_at = watched.port(port).probed || watched.connection(flow);
    alone && matches!(own.sender, SenderConfig::Peak(_)) && !looked_at
}
