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
    let mut senders: Vec<Vec<FlowIndex>> = vec![Vec::new(); ports.len()];
    // Branches of trees begin at switches.
    let is_of_host =
        |flow: FlowIndex| scenario.node(scenario.tail(scenario.step(flow, 0))).kind == NodeKind::Host;
    for flow in scenario.flows().filter(|&flow| is_of_host(flow) && sends(scenario, flow)) {
        senders[scenario.step(flow, 0).port().index()].push(flow);
    }
    let mut folded = vec![SendStrategy::None; ports.len()];
    if !mechanisms.has(Mechanism::Folding) {
        return folded;
    }
    for (index, flows) in scenario.ports().zip(&senders) {
        let (Some(port), [_, ..]) = (ports[index.index()], &flows[..]) else { continue };
        let parts = &mut parts[port.cluster as usize];
        let to_switch = scenario.node(scenario.head(index.step())).kind == NodeKind::Switch;
        let Port { queues: Queues::Fifo(fifo), outside: false, .. } = &parts.ports[port.index as usize]
        else {
            continue;
        };
        if !to_switch || !fifo.is_lossless() || watched.port(index).queue {
            continue;
        }
        // Each arrival is an event where a switch polices what comes, or copies it.
        let is_looked_at = |hop: u32| hops.policed.contains(&hop) || hops.branching.contains(&hop);
        if flows.iter().any(|&flow| is_looked_at(hops.of(flow))) {
            continue;
        }
        // Loopback cells leave between those of the source, and those of a path say whose they are.
        let has_loopback = |flow: &FlowIndex| {
            let connection = scenario.connection(flow.connection());
            !connection.loopbacks.is_empty() || connection.is_path()
        };
        if flows.iter().any(has_loopback) {
            continue;
        }
        // Each departure may let TCP hand over its next segment, whose timer starts then.
        if flows.iter().any(|&flow| holds_back(scenario, flow)) {
            continue;
        }
        let next = |flow: FlowIndex| hops.table[hops.of(flow) as usize + 1].port;
        let end_of = |flow: FlowIndex| endpoints[flow.index()].index;
        let feed = |flow: FlowIndex, port: u32, deferred, significance| {
            Feed::new(end_of(flow), port, deferred, significance)
        };
        if let &[flow] = &flows[..] {
            let behind = &parts.ports[next(flow) as usize];
            let mode = if behind.deferred
                && mechanisms.has(Mechanism::Ahead)
                && is_autonomous(scenario, flow, index, watched)
                && (behind.outside || !has_events(scenario, flow))
            {
                folded[index.index()] = SendStrategy::Ahead(end_of(flow));
                SendMode::Ahead { port: port.index }
            } else {
                let number = parts.feeds.len() as u32;
                folded[index.index()] = SendStrategy::Feed(number);
                let mut feed = feed(flow, next(flow), behind.deferred, behind.significance());
                feed.ends_loop = hops.table[hops.of(flow) as usize].endpoint != NONE;
                parts.feeds.push(feed);
                SendMode::Folded { port: port.index, feed: number }
            };
            parts.endpoints[end_of(flow) as usize].send_mode = mode;
            continue;
        }
        let leaves_cluster = |&flow: &FlowIndex| {
            let behind = &parts.ports[next(flow) as usize];
            behind.deferred && behind.outside
        };
        if !mechanisms.has(Mechanism::SharedHosts)
            || !mechanisms.has(Mechanism::Deferral)
            || watched.port(index).changes
            || !flows.iter().all(leaves_cluster)
        {
            continue;
        }
        parts.ports[port.index as usize].deferred = true;
        for &flow in flows {
            let number = parts.feeds.len() as u32;
            parts.feeds.push(feed(flow, port.index, true, Significance::NONE));
            let mode = SendMode::Folded { port: port.index, feed: number };
            parts.endpoints[end_of(flow) as usize].send_mode = mode;
        }
    }
    folded
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
