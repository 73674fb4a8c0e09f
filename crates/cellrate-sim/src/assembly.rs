//! From a scenario to a network ready to run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cellrate_drive::becn::{Origin, origins};
use cellrate_drive::given::{Given, NotGiven};
use cellrate_drive::per_vc_queue::PerVcQueue;
use cellrate_drive::segments::{VirtualEnd, virtual_ends};
use cellrate_drive::set_up;
use cellrate_proto::switch::Slot;
use cellrate_proto::{CellRate, Cells, Destination, DestinationConfig, Time};
use cellrate_scenario::Sender as SenderConfig;
use cellrate_scenario::{
    Buffers, Category, Connection, Every, Flow, FlowQuantity, NodeIndex, NodeKind, PortQuantity, Quantity,
    RmCells, Scenario, Shared, Step, Traffic, WaitingBrm,
};

use crate::endpoint::{Access, Endpoint, Sender};
use crate::kernel::Kernel;
use crate::kernel::cell::Significance;
use crate::kernel::cluster::{Cluster, Parts};
use crate::kernel::deferred::merge::Merge;
use crate::kernel::deferred::shortcut::Shortcut;
use crate::kernel::hop::{Hop, NONE};
use crate::kernel::sources::feed::Feed;
use crate::kernel::windows::partition::Partition;
use crate::port::{ABR, Fifo, Line, Outlet, PRIORITIES, Port, Queues, Ranked, Served, UBR, priority};
use crate::probe::sampler::{Sampler, Subject, Track};
use crate::random::{Random, Stream};
use crate::results::RunError;
use crate::traffic::{Site, Supply};
use crate::transport::{Interface, Peer, Stack};
use crate::wiring::{Fold, Wiring};

/// A thing of the scenario, where it lives: its cluster and its index there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub cluster: u32,
    pub index: u32,
}

/// A network at time zero, and where to find in it what the scenario names.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub kernel: Kernel,
    /// By port, twice the link's index plus the end: where it is, if a connection uses it or a probe looks at it.
    pub ports: Vec<Option<Place>>,
    /// By end of a connection, twice the connection's index plus the end: where it is.
    pub endpoints: Vec<Place>,
    /// Ends inside switches, and where they are.
    pub virtual_ends: Vec<(VirtualEnd, Place)>,
}

/// Number of an output port: twice its link's index plus the end it sends from.
pub(crate) fn port_number(step: Step) -> usize {
    2 * step.link.0 as usize + usize::from(step.end)
}

/// The steps of a direction of a connection.
pub(crate) fn steps(connection: &Connection, backward: bool) -> Vec<Step> {
    let turned = |step: &Step| Step { link: step.link, end: 1 - step.end };
    if backward { connection.path.iter().rev().map(turned).collect() } else { connection.path.clone() }
}

/// Builds the network of `scenario`. `tapped` are the numbers of ports whose departures have to be events; `given`
/// makes what is not built in.
pub(crate) fn assemble(
    scenario: &Scenario,
    tapped: &[usize],
    given: Given<'_>,
) -> Result<Assembly, RunError> {
    let partition = Partition::of(scenario);
    let cluster_of = |node: NodeIndex| partition.cluster[node.0 as usize];
    let used = categories_by_port(scenario);
    let is_needed = |number: usize| used[number].contains(&true) || is_probed(scenario, number);

    let mut counts = vec![0; partition.clusters];
    let mut next_place = |cluster: u32| {
        let index = counts[cluster as usize];
        counts[cluster as usize] += 1;
        Place { cluster, index }
    };
    let tail = |number: usize| scenario.links[number / 2].ends[number % 2];
    let head = |number: usize| scenario.links[number / 2].ends[1 - number % 2];
    let ports: Vec<Option<Place>> =
        (0..used.len()).map(|n| is_needed(n).then(|| next_place(cluster_of(tail(n))))).collect();
    let mut parts: Vec<Parts> = counts.iter().map(|_| empty_parts(scenario)).collect();
    for (parts, &count) in parts.iter_mut().zip(&counts) {
        parts.ports.reserve_exact(count as usize);
    }

    let virtual_ends = virtual_ends(scenario);
    let first_step =
        |end: &VirtualEnd| steps(&scenario.connections[end.flow / 2], end.flow % 2 == 1)[end.step];
    let mut joined: BTreeSet<usize> = virtual_ends.iter().map(|end| port_number(first_step(end))).collect();
    let origins = origins(scenario);
    joined.extend(origins.iter().flat_map(|origin| [origin.step, origin.step_back].map(port_number)));
    let every_cell = watched_receivers(scenario);
    let mut outlets = Shared::default();
    // Cluster after cluster, so that what a port has elsewhere in memory is near that of its neighbours.
    let mut in_order: Vec<(u32, u32)> =
        (0..).zip(&ports).filter_map(|(number, place)| place.map(|place| (place.cluster, number))).collect();
    in_order.sort_unstable();
    for (cluster, number) in in_order {
        let number = number as usize;
        let ends = Ends {
            outside: cluster_of(head(number)) != cluster,
            at_host: scenario.nodes[head(number).0 as usize].kind == NodeKind::Host,
            every_cell: every_cell[number],
            tapped: tapped.contains(&number),
            joined: joined.contains(&number),
        };
        let port = build_port(scenario, number, &used[number], ends, &mut outlets, given)?;
        parts[cluster as usize].ports.push(port);
    }

    let mut endpoints = Vec::with_capacity(2 * scenario.connections.len());
    let mut ends = vec![0; partition.clusters];
    for connection in &scenario.connections {
        for backward in [false, true] {
            let first = steps(connection, backward)[0];
            let cluster = cluster_of(scenario.tail(first));
            endpoints.push(Place { cluster, index: ends[cluster as usize] });
            ends[cluster as usize] += 1;
        }
    }
    for (parts, &count) in parts.iter_mut().zip(&ends) {
        parts.endpoints.reserve_exact(count as usize);
        parts.first_virtual = count as usize;
        // At most as many.
        parts.feeds.reserve_exact(count as usize);
    }
    let mut next_end = |end: VirtualEnd| {
        let cluster = cluster_of(end.switch);
        ends[cluster as usize] += 1;
        (end, Place { cluster, index: ends[cluster as usize] - 1 })
    };
    let virtual_ends: Vec<_> = virtual_ends.into_iter().map(&mut next_end).collect();
    let mut hops = build_hops(scenario, &ports, &endpoints, &mut parts);
    build_endpoints(scenario, &hops.first, &endpoints, &mut parts, given)?;
    build_virtual_ends(scenario, &virtual_ends, &mut hops, &mut parts, given)?;
    for Origin { flow, hop, step, hop_back, .. } in origins {
        let (number, way_back) = (hops.first[flow] + hop as u32, hops.first[flow ^ 1] + hop_back as u32);
        parts[cluster_of(scenario.tail(step)) as usize].ways_back.insert(number, way_back);
    }
    let folded = fold(scenario, &hops, &ports, &endpoints, &mut parts);
    let Hops { mut table, first } = hops;
    let wiring = Wiring {
        scenario,
        ports: &ports,
        partition: &partition,
        every_cell: &every_cell,
        folded: &folded,
        first_hops: &first,
    };
    wiring.lay(own(&mut table), &mut parts);

    let tracks = build_tracks(scenario, &ports, &endpoints, &virtual_ends, partition.clusters);
    let conduits = conduits(&parts, &endpoints);
    let clusters = parts.into_iter().zip(tracks).map(|(parts, tracks)| {
        let sampler = Sampler::new(tracks, parts.ports.len(), parts.endpoints.len());
        Cluster::new(Parts { hops: Arc::clone(&table), sampler, ..parts })
    });
    let kernel = Kernel { clusters: clusters.collect(), conduits, window: partition.window };
    Ok(Assembly { kernel, ports, endpoints, virtual_ends })
}

fn empty_parts(scenario: &Scenario) -> Parts {
    Parts {
        hops: Arc::new([]),
        ports: Vec::new(),
        lanes: Vec::new(),
        feeds: Vec::new(),
        arrivals: Vec::new(),
        endpoints: Vec::new(),
        outboxes: Vec::new(),
        ahead: Vec::new(),
        first_virtual: 0,
        ways_back: BTreeMap::new(),
        sampler: Sampler::default(),
        end: Time::ZERO + scenario.duration,
    }
}

/// Which priorities each port serves.
fn categories_by_port(scenario: &Scenario) -> Vec<[bool; PRIORITIES]> {
    let mut used = vec![[false; PRIORITIES]; 2 * scenario.links.len()];
    for connection in &scenario.connections {
        for backward in [false, true] {
            if !sends(connection, backward) {
                continue;
            }
            for step in steps(connection, backward) {
                used[port_number(step)][priority(connection.category)] = true;
            }
        }
    }
    used
}

/// Which ports carry cells, by number.
pub(crate) fn carries_cells(scenario: &Scenario) -> Vec<bool> {
    categories_by_port(scenario).into_iter().map(|used| used.contains(&true)).collect()
}

/// Whether a direction ever sends a cell.
pub(crate) fn sends(connection: &Connection, backward: bool) -> bool {
    connection.category == Category::Abr || connection.carries_data(backward)
}

/// Whether a series of this port is recorded, even if it is one of zeros.
fn is_probed(scenario: &Scenario, number: usize) -> bool {
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { link, end, .. } => port_number(Step { link, end }) == number,
        Quantity::Flow { .. } | Quantity::VirtualSource { .. } => false,
    })
}

/// Whether every change of a queue of this port is recorded: then departures have to be events.
fn queue_is_watched(scenario: &Scenario, number: usize) -> bool {
    use PortQuantity::{AbrQueue, GuaranteedQueue, Queue, UbrQueue};
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { quantity: Queue | GuaranteedQueue | AbrQueue | UbrQueue, link, end } => {
            probe.every == Every::Change && port_number(Step { link, end }) == number
        }
        _ => false,
    })
}

/// Whether every change of anything at this port is recorded: then whatever comes to it has to be an event.
fn changes_are_watched(scenario: &Scenario, number: usize) -> bool {
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { link, end, .. } => {
            probe.every == Every::Change && port_number(Step { link, end }) == number
        }
        Quantity::Flow { .. } | Quantity::VirtualSource { .. } => false,
    })
}

/// Whether every change of a figure of this port's algorithm is recorded.
fn figures_are_watched(scenario: &Scenario, number: usize) -> bool {
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { quantity: PortQuantity::Metric(_), link, end } => {
            probe.every == Every::Change && port_number(Step { link, end }) == number
        }
        _ => false,
    })
}

/// The far end of a link.
struct Ends {
    /// In another cluster than the port.
    outside: bool,
    /// A host.
    at_host: bool,
    /// Where every arrival is an event.
    every_cell: bool,
    /// Every departure to it is an event.
    tapped: bool,
    /// A virtual end at the port's switch sends there, or the port originates BRMs, or some are originated that go
    /// there.
    joined: bool,
}

fn build_port(
    scenario: &Scenario,
    number: usize,
    used: &[bool; PRIORITIES],
    ends: Ends,
    outlets: &mut Shared<Outlet>,
    given: Given<'_>,
) -> Result<Port, RunError> {
    let Ends { outside, at_host, every_cell, tapped, joined } = ends;
    let link = &scenario.links[number / 2];
    let config = &link.ports[number % 2];
    let random = Random::new(scenario.seed, Stream::Loss(number as u32));
    let line = Line::new(link.rate.cell_time(), link.delay, link.cell_loss, &link.outages, random);
    let control = given.control(scenario, number)?;
    let is_switch = scenario.nodes[link.ends[number % 2].0 as usize].kind == NodeKind::Switch;
    let several = used.iter().filter(|&&used| used).count() > 1;
    let only_priority = used.iter().position(|&used| used).unwrap_or(0);
    let buffers = &config.buffers;
    let own = [buffers.guaranteed, buffers.abr, buffers.ubr][only_priority];
    let room = own.into_iter().chain(buffers.shared).min();
    let overtakes = used[ABR] && config.rm_cells != RmCells::InOrder;
    let discards_frames = used[UBR] && config.frame_discard.is_some();
    let has_events = tapped
        || several
        || overtakes
        || discards_frames
        || control.uses_efci()
        || queue_is_watched(scenario, number);
    let deferrable = !(tapped || joined || changes_are_watched(scenario, number));
    let is_ranked = several
        && outside
        && deferrable
        && !(overtakes || discards_frames || control.uses_efci() || line.is_faulty())
        && *buffers == Buffers::default();
    let queues = if is_ranked {
        Queues::Ranked(Box::new(Ranked::new(&line, only_priority)))
    } else if has_events || line.is_faulty() || room == Some(Cells::ZERO) {
        Queues::Served(Box::new(Served::new(line, config)))
    } else {
        Queues::Fifo(Fifo::new(outlets.get(&Outlet::new(&line, room))))
    };
    let originates = is_switch && control.originates();
    let metered = originates || is_switch && control.needs_meter();
    let counts_early = is_switch && at_host && !every_cell && matches!(queues, Queues::Fifo(_));
    let deferred = (outside || counts_early) && deferrable;
    let (merge, shortcut) = (Merge::none(), Shortcut::None);
    let mut port = Port {
        queues,
        deferred,
        outside,
        shortcut,
        merge,
        only_priority: only_priority as u8,
        metered,
        control,
        rare: None,
    };
    if figures_are_watched(scenario, number) {
        port.keep_ended();
    }
    if originates {
        port.may_originate();
    }
    Ok(port)
}

struct Hops {
    /// Nobody else has it so far.
    table: Arc<[Hop]>,
    /// The first hop of each direction of each connection.
    first: Vec<u32>,
}

impl Hops {
    /// Room for so many hops of each direction: those of directions that begin in the same cluster lie together,
    /// because they are looked up together.
    fn with_room(lengths: &[usize], endpoints: &[Place]) -> Hops {
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&flow| endpoints[flow].cluster);
        let (mut first, mut end) = (vec![0; lengths.len()], 0);
        for flow in order {
            first[flow] = end as u32;
            end += lengths[flow];
        }
        Hops { table: std::iter::repeat_n(Hop::NOWHERE, end).collect(), first }
    }
}

/// The table of hops while it is being written.
fn own(table: &mut Arc<[Hop]>) -> &mut [Hop] {
    Arc::get_mut(table).expect("nobody else has it so far")
}

fn build_hops(
    scenario: &Scenario,
    ports: &[Option<Place>],
    endpoints: &[Place],
    parts: &mut [Parts],
) -> Hops {
    let lengths: Vec<usize> =
        scenario.connections.iter().flat_map(|connection| [connection.path.len(); 2]).collect();
    let mut hops = Hops::with_room(&lengths, endpoints);
    let table = own(&mut hops.table);
    for (flow, (connection, backward)) in scenario
        .connections
        .iter()
        .flat_map(|connection| [(connection, false), (connection, true)])
        .enumerate()
    {
        let first = hops.first[flow] as usize;
        let steps = steps(connection, backward);
        for (index, &step) in steps.iter().enumerate() {
            let place = ports[port_number(step)].unwrap_or(Place { cluster: 0, index: NONE });
            let port = parts[place.cluster as usize].ports.get_mut(place.index as usize);
            let slot = port.map_or(Slot(NONE), |port| connect(port, connection, backward));
            let is_last = index + 1 == steps.len();
            // The direction ends where the other one begins.
            let endpoint = if is_last { endpoints[flow ^ 1].index } else { NONE };
            let hop = &mut table[first + index];
            (hop.port, hop.slot, hop.flow) = (place.index, slot, flow as u32);
            (hop.endpoint, hop.priority) = (endpoint, priority(connection.category) as u8);
        }
    }
    // Hop j of n (from 1 on) leaves the node that hop n - j of the other direction leaves.
    for (flow, connection) in scenario.connections.iter().flat_map(|connection| [connection; 2]).enumerate() {
        let (own, other, n) =
            (hops.first[flow] as usize, hops.first[flow ^ 1] as usize, connection.path.len());
        for j in 1..n {
            let answering = table[other + n - j];
            let hop = &mut table[own + j];
            hop.answering_port = answering.port;
            hop.answering_slot = answering.slot;
        }
    }
    hops
}

/// Tells `port` of a direction at set-up; its number there.
fn connect(port: &mut Port, connection: &Connection, backward: bool) -> Slot {
    let frame_discard = match &mut port.queues {
        Queues::Served(served) => served.frame_discard_mut(),
        Queues::Fifo(_) | Queues::Ranked(_) => None,
    };
    set_up::connect(connection, backward, &mut port.control, frame_discard).unwrap_or(Slot(NONE))
}

fn build_endpoints(
    scenario: &Scenario,
    first_hops: &[u32],
    places: &[Place],
    parts: &mut [Parts],
    given: Given<'_>,
) -> Result<(), NotGiven> {
    for (index, connection) in scenario.connections.iter().enumerate() {
        for (flow, out, back) in [
            (2 * index, &connection.forward, &connection.backward),
            (2 * index + 1, &connection.backward, &connection.forward),
        ] {
            let backward = flow % 2 == 1;
            let first = steps(connection, backward)[0];
            let site = Site {
                scenario,
                flow: flow as u32,
                cell_time: scenario.links[first.link.0 as usize].rate.cell_time(),
                end: Time::ZERO + scenario.duration,
                given,
            };
            let mut endpoint = Endpoint::new(
                build_sender(scenario, flow, given)?,
                Supply::new(site)?,
                Destination::new(destination_config(back)),
                first_hops[flow],
                [mcr(out), mcr(back)],
            );
            let [own, other] = [places[flow], places[flow ^ 1]];
            let stack = build_stack(out, back, scenario.seed, flow as u32);
            endpoint.interface = interface(stack, back, own, other);
            parts[places[flow].cluster as usize].endpoints.push(endpoint);
        }
    }
    Ok(())
}

/// Ends inside switches, with the hops that lead to them.
fn build_virtual_ends(
    scenario: &Scenario,
    ends: &[(VirtualEnd, Place)],
    hops: &mut Hops,
    parts: &mut [Parts],
    given: Given<'_>,
) -> Result<(), NotGiven> {
    let Hops { table, first } = hops;
    for &(end, place) in ends {
        let VirtualEnd { flow, step, coupling, .. } = end;
        let connection = &scenario.connections[flow / 2];
        let [out, back] = match flow % 2 {
            0 => [&connection.forward, &connection.backward],
            _ => [&connection.backward, &connection.forward],
        };
        parts[place.cluster as usize].endpoints.push(Endpoint::new(
            build_sender(scenario, flow, given)?,
            Supply::Relayed(Box::new(PerVcQueue::new(coupling))),
            Destination::new(destination_config(back)),
            first[flow] + step as u32,
            [mcr(out), mcr(back)],
        ));
        let received = first[flow ^ 1] as usize + end.received_step(connection.path.len());
        own(table)[received].endpoint = place.index;
    }
    Ok(())
}

/// TCP at the end that sends `out`, the direction `flow`, and receives `back`, if either is TCP.
fn build_stack(out: &Flow, back: &Flow, seed: u64, flow: u32) -> Option<Stack> {
    let [out, back] = [out, back].map(|flow| match &flow.traffic {
        Some(Traffic::Tcp(tcp)) => Some(&**tcp),
        _ => None,
    });
    (out.is_some() || back.is_some()).then(|| Stack::new(out, back, seed, flow))
}

/// What puts PDUs together at an end: TCP, if it has any, or a receiver of the frames of `back`.
fn interface(stack: Option<Stack>, back: &Flow, own: Place, other: Place) -> Option<Box<Interface>> {
    let peer = if own.cluster == other.cluster { Peer::Near(other.index) } else { Peer::Far };
    let receives_frames = matches!(back.traffic, Some(Traffic::Frames(_)));
    let interface = match stack {
        Some(stack) => Interface::new(stack, peer),
        None if receives_frames => Interface::of_datagrams(peer),
        None => return None,
    };
    Some(Box::new(interface))
}

/// Where PDUs leave one cluster for another, and where they arrive.
fn conduits(parts: &[Parts], places: &[Place]) -> Vec<[(usize, usize); 2]> {
    let at = |place: Place| (place.cluster as usize, place.index as usize);
    let mut conduits = Vec::new();
    for (flow, &from) in places.iter().enumerate() {
        let to = places[flow ^ 1];
        let has_tcp = parts[from.cluster as usize].endpoints[from.index as usize].interface.is_some();
        if has_tcp && from.cluster != to.cluster {
            conduits.push([at(from), at(to)]);
        }
    }
    conduits
}

/// Folds the transmissions of every end whose host can lose no cell on its access link to a switch: into the link where
/// it has that to itself, or else before the host's port, where all that leaves it goes on to other clusters. Returns
/// how by port.
fn fold(
    scenario: &Scenario,
    hops: &Hops,
    ports: &[Option<Place>],
    endpoints: &[Place],
    parts: &mut [Parts],
) -> Vec<Fold> {
    let mut senders: Vec<Vec<usize>> = vec![Vec::new(); ports.len()];
    for flow in 0..endpoints.len() {
        if sends(&scenario.connections[flow / 2], flow % 2 == 1) {
            senders[first_port(scenario, flow)].push(flow);
        }
    }
    let mut folded = vec![Fold::None; ports.len()];
    for (number, flows) in senders.iter().enumerate() {
        let (Some(port), [_, ..]) = (ports[number], &flows[..]) else { continue };
        let parts = &mut parts[port.cluster as usize];
        let head = scenario.links[number / 2].ends[1 - number % 2];
        let to_switch = scenario.nodes[head.0 as usize].kind == NodeKind::Switch;
        let Port { queues: Queues::Fifo(fifo), outside: false, .. } = &parts.ports[port.index as usize]
        else {
            continue;
        };
        if !to_switch || !fifo.is_lossless() {
            continue;
        }
        // Where the first link ends a control loop, each arrival is an event.
        if flows.iter().any(|&flow| hops.table[hops.first[flow] as usize].endpoint != NONE) {
            continue;
        }
        let next = |flow: usize| hops.table[hops.first[flow] as usize + 1].port;
        let feed = |flow: usize, port: u32, deferred, significance| {
            Feed::new(endpoints[flow].index, port, deferred, significance)
        };
        if let &[flow] = &flows[..] {
            let behind = &parts.ports[next(flow) as usize];
            let access = if behind.deferred && is_autonomous(scenario, flow, number) {
                folded[number] = Fold::Ahead(endpoints[flow].index);
                Access::Ahead { port: port.index }
            } else {
                let index = parts.feeds.len() as u32;
                folded[number] = Fold::Feed(index);
                parts.feeds.push(feed(flow, next(flow), behind.deferred, behind.significance()));
                Access::Folded { port: port.index, feed: index }
            };
            parts.endpoints[endpoints[flow].index as usize].access = access;
            continue;
        }
        let leaves_cluster = |&flow: &usize| {
            let behind = &parts.ports[next(flow) as usize];
            behind.deferred && behind.outside
        };
        if changes_are_watched(scenario, number) || !flows.iter().all(leaves_cluster) {
            continue;
        }
        parts.ports[port.index as usize].deferred = true;
        for &flow in flows {
            let index = parts.feeds.len() as u32;
            parts.feeds.push(feed(flow, port.index, true, Significance::BEFORE_CLUSTER));
            let access = Access::Folded { port: port.index, feed: index };
            parts.endpoints[endpoints[flow].index as usize].access = access;
        }
    }
    folded
}

/// The number of the port that a direction begins at.
fn first_port(scenario: &Scenario, flow: usize) -> usize {
    port_number(steps(&scenario.connections[flow / 2], flow % 2 == 1)[0])
}

/// Whether what a direction sends by its first port depends on its traffic alone, and no series looks at either.
fn is_autonomous(scenario: &Scenario, flow: usize, port: usize) -> bool {
    let connection = &scenario.connections[flow / 2];
    let own = if flow.is_multiple_of(2) { &connection.forward } else { &connection.backward };
    let alone = matches!(
        own.traffic,
        Some(
            Traffic::Constant { .. }
                | Traffic::OnOff { .. }
                | Traffic::Timed { .. }
                | Traffic::Video(_)
                | Traffic::Greedy { .. }
        )
    );
    let looked_at = scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { .. } => is_probed(scenario, port),
        Quantity::Flow { connection, .. } => connection.0 as usize == flow / 2,
        // Of ABR, whose senders have feedback.
        Quantity::VirtualSource { .. } => false,
    });
    alone && matches!(own.sender, SenderConfig::Peak(_)) && !looked_at
}

/// By port, whether every arrival over its link has to be an event: a series looks at a receiving end there, or the end
/// answers what it receives.
fn watched_receivers(scenario: &Scenario) -> Vec<bool> {
    let watched = scenario.probes.iter().filter_map(|probe| match probe.quantity {
        Quantity::Flow { quantity: FlowQuantity::Received, connection, backward } => {
            Some((&scenario.connections[connection.0 as usize], backward))
        }
        _ => None,
    });
    let answering = scenario
        .connections
        .iter()
        .filter(|connection| matches!(connection.forward.traffic, Some(Traffic::RequestResponse(_))))
        .flat_map(|connection| [(connection, false), (connection, true)]);
    let mut every_cell = vec![false; 2 * scenario.links.len()];
    for (connection, backward) in watched.chain(answering) {
        if let Some(&last) = steps(connection, backward).last() {
            every_cell[port_number(last)] = true;
        }
    }
    every_cell
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

fn mcr(flow: &Flow) -> CellRate {
    match &flow.sender {
        SenderConfig::Abr(abr) => abr.parameters.mcr,
        SenderConfig::Peak(_) => CellRate::ZERO,
    }
}

/// The series of each cluster.
fn build_tracks(
    scenario: &Scenario,
    ports: &[Option<Place>],
    endpoints: &[Place],
    virtual_ends: &[(VirtualEnd, Place)],
    clusters: usize,
) -> Vec<Vec<Track>> {
    let mut tracks: Vec<Vec<Track>> = (0..clusters).map(|_| Vec::new()).collect();
    for (number, probe) in scenario.probes.iter().enumerate() {
        let mut add = |place: Place, subject: Subject| {
            tracks[place.cluster as usize].push(Track::new(number, subject, probe.every, scenario.duration));
        };
        match probe.quantity {
            Quantity::Port { quantity, link, end } => {
                if let Some(place) = ports[port_number(Step { link, end })] {
                    add(place, Subject::Port(quantity, place.index));
                }
            }
            Quantity::VirtualSource { quantity, connection, backward, switch } => {
                let flow = 2 * connection.0 as usize + usize::from(backward);
                let at = |(end, _): &&(VirtualEnd, Place)| (end.flow, end.switch) == (flow, switch);
                if let Some(&(_, place)) = virtual_ends.iter().find(at) {
                    add(place, Subject::Sender(quantity, place.index));
                }
            }
            Quantity::Flow { quantity, connection, backward } => {
                let flow = 2 * connection.0 as usize + usize::from(backward);
                match quantity {
                    FlowQuantity::Received => {
                        let place = endpoints[flow ^ 1];
                        add(place, Subject::Receiver(quantity, place.index));
                    }
                    FlowQuantity::Drops => {
                        for cluster in 0..clusters as u32 {
                            add(Place { cluster, index: 0 }, Subject::Drops(flow as u32));
                        }
                    }
                    _ => {
                        let place = endpoints[flow];
                        add(place, Subject::Sender(quantity, place.index));
                    }
                }
            }
        }
    }
    tracks
}
