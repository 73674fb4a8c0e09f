//! From a scenario to a network ready to run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cellrate_drive::becn::{Origin, origins};
use cellrate_drive::given::{Given, NotGiven};
use cellrate_drive::per_vc_queue::PerVcQueue;
use cellrate_drive::segments::{VirtualEnd, virtual_ends};
use cellrate_drive::sender::Sender;
use cellrate_drive::set_up;
use cellrate_proto::switch::Slot;
use cellrate_proto::{Cells, Time};
use cellrate_scenario::Sender as SenderConfig;
use cellrate_scenario::{
    Buffers, Category, Every, Flow, FlowIndex, FlowQuantity, NodeIndex, NodeKind, PortIndex, PortQuantity,
    Quantity, RmCells, Scenario, Shared, Traffic,
};

use crate::endpoint::{Access, Endpoint};
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
    /// By port: where it is, if a connection uses it or a probe looks at it.
    pub ports: Vec<Option<Place>>,
    /// By direction of a connection: where the end is that sends it.
    pub endpoints: Vec<Place>,
    /// Ends inside switches, and where they are.
    pub virtual_ends: Vec<(VirtualEnd, Place)>,
}

impl Assembly {
    /// The end that sends `flow`.
    pub fn sender(&self, flow: FlowIndex) -> &Endpoint {
        self.endpoint(self.endpoints[flow.index()])
    }

    /// The end that receives it: the one that sends the other direction.
    pub fn receiver(&self, flow: FlowIndex) -> &Endpoint {
        self.sender(flow.other())
    }

    /// The end at `place`.
    pub fn endpoint(&self, place: Place) -> &Endpoint {
        &self.kernel.clusters[place.cluster as usize].endpoints[place.index as usize]
    }
}

/// Builds the network of `scenario`. `tapped` are ports whose departures have to be events; `given` makes what is not
/// built in.
pub(crate) fn assemble(
    scenario: &Scenario,
    tapped: &[PortIndex],
    given: Given<'_>,
) -> Result<Assembly, RunError> {
    let partition = Partition::of(scenario);
    let cluster_of = |node: NodeIndex| partition.cluster[node.0 as usize];
    let used = categories_by_port(scenario);
    let is_needed = |port: PortIndex| used[port.index()].contains(&true) || is_probed(scenario, port);

    let mut counts = vec![0; partition.clusters];
    let mut next_place = |cluster: u32| {
        let index = counts[cluster as usize];
        counts[cluster as usize] += 1;
        Place { cluster, index }
    };
    let mut place_of = |port: PortIndex| next_place(cluster_of(scenario.tail(port.step())));
    let ports: Vec<Option<Place>> =
        scenario.ports().map(|port| is_needed(port).then(|| place_of(port))).collect();
    let mut parts: Vec<Parts> = counts.iter().map(|_| empty_parts(scenario)).collect();
    for (parts, &count) in parts.iter_mut().zip(&counts) {
        parts.ports.reserve_exact(count as usize);
    }

    let virtual_ends = virtual_ends(scenario);
    let sends_by = |end: &VirtualEnd| scenario.step(end.flow, end.step).port();
    let mut joined: BTreeSet<PortIndex> = virtual_ends.iter().map(sends_by).collect();
    let origins = origins(scenario);
    joined.extend(origins.iter().flat_map(|origin| [origin.step.port(), origin.step_back.port()]));
    let every_cell = watched_receivers(scenario);
    let mut outlets = Shared::default();
    // Cluster after cluster, so that what a port has elsewhere in memory is near that of its neighbours.
    let mut in_order: Vec<(u32, PortIndex)> = scenario
        .ports()
        .zip(&ports)
        .filter_map(|(port, place)| place.map(|place| (place.cluster, port)))
        .collect();
    in_order.sort_unstable();
    for (cluster, port) in in_order {
        let head = scenario.head(port.step());
        let ends = Ends {
            outside: cluster_of(head) != cluster,
            at_host: scenario.node(head).kind == NodeKind::Host,
            every_cell: every_cell[port.index()],
            tapped: tapped.contains(&port),
            joined: joined.contains(&port),
        };
        let port = build_port(scenario, port, &used[port.index()], ends, &mut outlets, given)?;
        parts[cluster as usize].ports.push(port);
    }

    let mut endpoints = Vec::with_capacity(scenario.flows().len());
    let mut ends = vec![0; partition.clusters];
    for flow in scenario.flows() {
        let cluster = cluster_of(scenario.tail(scenario.step(flow, 0)));
        endpoints.push(Place { cluster, index: ends[cluster as usize] });
        ends[cluster as usize] += 1;
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
        let (number, way_back) = (hops.of(flow) + hop as u32, hops.of(flow.other()) + hop_back as u32);
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
    let mut used = vec![[false; PRIORITIES]; scenario.ports().len()];
    for flow in scenario.flows().filter(|&flow| sends(scenario, flow)) {
        let priority = priority(scenario.connection(flow.connection()).category);
        scenario.steps(flow).for_each(|step| used[step.port().index()][priority] = true);
    }
    used
}

/// Which ports carry cells.
pub(crate) fn carries_cells(scenario: &Scenario) -> Vec<bool> {
    categories_by_port(scenario).into_iter().map(|used| used.contains(&true)).collect()
}

/// Whether a direction ever sends a cell.
pub(crate) fn sends(scenario: &Scenario, flow: FlowIndex) -> bool {
    let connection = scenario.connection(flow.connection());
    connection.category == Category::Abr || connection.carries_data(flow.is_backward())
}

/// Whether a series of this port is recorded, even if it is one of zeros.
fn is_probed(scenario: &Scenario, of: PortIndex) -> bool {
    scenario.probes.iter().any(|probe| matches!(probe.quantity, Quantity::Port { port, .. } if port == of))
}

/// Whether every change of a queue of this port is recorded: then departures have to be events.
fn queue_is_watched(scenario: &Scenario, of: PortIndex) -> bool {
    use PortQuantity::{AbrQueue, GuaranteedQueue, Queue, UbrQueue};
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { quantity: Queue | GuaranteedQueue | AbrQueue | UbrQueue, port } => {
            probe.every == Every::Change && port == of
        }
        _ => false,
    })
}

/// Whether every change of anything at this port is recorded: then whatever comes to it has to be an event.
fn changes_are_watched(scenario: &Scenario, of: PortIndex) -> bool {
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { port, .. } => probe.every == Every::Change && port == of,
        Quantity::Flow { .. } | Quantity::VirtualSource { .. } => false,
    })
}

/// Whether every change of a figure of this port's algorithm is recorded.
fn figures_are_watched(scenario: &Scenario, of: PortIndex) -> bool {
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { quantity: PortQuantity::Metric(_), port } => {
            probe.every == Every::Change && port == of
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
    index: PortIndex,
    used: &[bool; PRIORITIES],
    ends: Ends,
    outlets: &mut Shared<Outlet>,
    given: Given<'_>,
) -> Result<Port, RunError> {
    let Ends { outside, at_host, every_cell, tapped, joined } = ends;
    let config = scenario.port(index);
    let line = Line::of(scenario, index);
    let control = given.control(scenario, index)?;
    let is_switch = scenario.node(scenario.tail(index.step())).kind == NodeKind::Switch;
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
        || queue_is_watched(scenario, index);
    let deferrable = !(tapped || joined || changes_are_watched(scenario, index));
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
    if figures_are_watched(scenario, index) {
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

    /// The first hop of `flow`.
    fn of(&self, flow: FlowIndex) -> u32 {
        self.first[flow.index()]
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
    let lengths: Vec<usize> = scenario.flows().map(|flow| scenario.steps(flow).len()).collect();
    let mut hops = Hops::with_room(&lengths, endpoints);
    for flow in scenario.flows() {
        let (first, steps) = (hops.of(flow) as usize, scenario.steps(flow));
        let (table, last) = (own(&mut hops.table), steps.len() - 1);
        for (index, step) in steps.enumerate() {
            let place = ports[step.port().index()].unwrap_or(Place { cluster: 0, index: NONE });
            let port = parts[place.cluster as usize].ports.get_mut(place.index as usize);
            let slot = port.map_or(Slot(NONE), |port| connect(port, scenario, flow));
            // The direction ends where the other one begins.
            let endpoint = if index == last { endpoints[flow.other().index()].index } else { NONE };
            let category = scenario.connection(flow.connection()).category;
            let hop = &mut table[first + index];
            (hop.port, hop.slot, hop.flow) = (place.index, slot, flow);
            (hop.endpoint, hop.priority) = (endpoint, priority(category) as u8);
        }
    }
    // Hop j of n (from 1 on) leaves the node that hop n - j of the other direction leaves.
    for flow in scenario.flows() {
        let (first, other, n) =
            (hops.of(flow) as usize, hops.of(flow.other()) as usize, scenario.steps(flow).len());
        let table = own(&mut hops.table);
        for j in 1..n {
            let answering = table[other + n - j];
            let hop = &mut table[first + j];
            hop.answering_port = answering.port;
            hop.answering_slot = answering.slot;
        }
    }
    hops
}

/// Tells `port` of a direction at set-up; its number there.
fn connect(port: &mut Port, scenario: &Scenario, flow: FlowIndex) -> Slot {
    let frame_discard = match &mut port.queues {
        Queues::Served(served) => served.frame_discard_mut(),
        Queues::Fifo(_) | Queues::Ranked(_) => None,
    };
    set_up::connect(scenario, flow, &mut port.control, frame_discard).unwrap_or(Slot(NONE))
}

fn build_endpoints(
    scenario: &Scenario,
    first_hops: &[u32],
    places: &[Place],
    parts: &mut [Parts],
    given: Given<'_>,
) -> Result<(), NotGiven> {
    for flow in scenario.flows() {
        let [out, back] = [scenario.flow(flow), scenario.flow(flow.other())];
        let first = scenario.step(flow, 0);
        let site = Site {
            scenario,
            flow,
            cell_time: scenario.link(first.link).rate.cell_time(),
            end: Time::ZERO + scenario.duration,
            given,
        };
        let mut endpoint = Endpoint::new(
            Sender::new(scenario, flow, given)?,
            Supply::new(site)?,
            set_up::destination(back),
            first_hops[flow.index()],
            [out.sender.mcr(), back.sender.mcr()],
        );
        let [own, other] = [places[flow.index()], places[flow.other().index()]];
        let stack = build_stack(out, back, scenario.seed, flow);
        endpoint.interface = interface(stack, back, own, other);
        parts[own.cluster as usize].endpoints.push(endpoint);
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
    for &(end, place) in ends {
        let VirtualEnd { flow, step, coupling, .. } = end;
        let [out, back] = [scenario.flow(flow), scenario.flow(flow.other())];
        parts[place.cluster as usize].endpoints.push(Endpoint::new(
            Sender::new(scenario, flow, given)?,
            Supply::Relayed(Box::new(PerVcQueue::new(coupling))),
            set_up::destination(back),
            hops.of(flow) + step as u32,
            [out.sender.mcr(), back.sender.mcr()],
        ));
        let received = hops.of(flow.other()) as usize + end.received_step(scenario.steps(flow).len());
        own(&mut hops.table)[received].endpoint = place.index;
    }
    Ok(())
}

/// TCP at the end that sends `out`, the direction `flow`, and receives `back`, if either is TCP.
fn build_stack(out: &Flow, back: &Flow, seed: u64, flow: FlowIndex) -> Option<Stack> {
    let [out, back] = [out, back].map(|flow| match &flow.traffic {
        Some(Traffic::Tcp(tcp)) => Some(&**tcp),
        _ => None,
    });
    (out.is_some() || back.is_some()).then(|| Stack::new(out, back, seed, flow.0))
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
    for (flow, &from) in (0..).map(FlowIndex).zip(places) {
        let to = places[flow.other().index()];
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
    let mut senders: Vec<Vec<FlowIndex>> = vec![Vec::new(); ports.len()];
    for flow in scenario.flows().filter(|&flow| sends(scenario, flow)) {
        senders[scenario.step(flow, 0).port().index()].push(flow);
    }
    let mut folded = vec![Fold::None; ports.len()];
    for (index, flows) in scenario.ports().zip(&senders) {
        let (Some(port), [_, ..]) = (ports[index.index()], &flows[..]) else { continue };
        let parts = &mut parts[port.cluster as usize];
        let to_switch = scenario.node(scenario.head(index.step())).kind == NodeKind::Switch;
        let Port { queues: Queues::Fifo(fifo), outside: false, .. } = &parts.ports[port.index as usize]
        else {
            continue;
        };
        if !to_switch || !fifo.is_lossless() {
            continue;
        }
        // Where the first link ends a control loop, each arrival is an event.
        if flows.iter().any(|&flow| hops.table[hops.of(flow) as usize].endpoint != NONE) {
            continue;
        }
        let next = |flow: FlowIndex| hops.table[hops.of(flow) as usize + 1].port;
        let end_of = |flow: FlowIndex| endpoints[flow.index()].index;
        let feed = |flow: FlowIndex, port: u32, deferred, significance| {
            Feed::new(end_of(flow), port, deferred, significance)
        };
        if let &[flow] = &flows[..] {
            let behind = &parts.ports[next(flow) as usize];
            let access = if behind.deferred && is_autonomous(scenario, flow, index) {
                folded[index.index()] = Fold::Ahead(end_of(flow));
                Access::Ahead { port: port.index }
            } else {
                let number = parts.feeds.len() as u32;
                folded[index.index()] = Fold::Feed(number);
                parts.feeds.push(feed(flow, next(flow), behind.deferred, behind.significance()));
                Access::Folded { port: port.index, feed: number }
            };
            parts.endpoints[end_of(flow) as usize].access = access;
            continue;
        }
        let leaves_cluster = |&flow: &FlowIndex| {
            let behind = &parts.ports[next(flow) as usize];
            behind.deferred && behind.outside
        };
        if changes_are_watched(scenario, index) || !flows.iter().all(leaves_cluster) {
            continue;
        }
        parts.ports[port.index as usize].deferred = true;
        for &flow in flows {
            let number = parts.feeds.len() as u32;
            parts.feeds.push(feed(flow, port.index, true, Significance::BEFORE_CLUSTER));
            let access = Access::Folded { port: port.index, feed: number };
            parts.endpoints[end_of(flow) as usize].access = access;
        }
    }
    folded
}

/// Whether what a direction sends by its first port depends on its traffic alone, and no series looks at either.
fn is_autonomous(scenario: &Scenario, flow: FlowIndex, port: PortIndex) -> bool {
    let own = scenario.flow(flow);
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
        Quantity::Flow { flow: of, .. } => of.connection() == flow.connection(),
        // Of ABR, whose senders have feedback.
        Quantity::VirtualSource { .. } => false,
    });
    alone && matches!(own.sender, SenderConfig::Peak(_)) && !looked_at
}

/// By port, whether every arrival over its link has to be an event: a series looks at a receiving end there, or the end
/// answers what it receives.
fn watched_receivers(scenario: &Scenario) -> Vec<bool> {
    let watched = scenario.probes.iter().filter_map(|probe| match probe.quantity {
        Quantity::Flow { quantity: FlowQuantity::Received, flow } => Some(flow),
        _ => None,
    });
    let answering = scenario.flows().filter(|flow| {
        let forward = &scenario.connection(flow.connection()).forward;
        matches!(forward.traffic, Some(Traffic::RequestResponse(_)))
    });
    let mut every_cell = vec![false; scenario.ports().len()];
    for flow in watched.chain(answering) {
        if let Some(last) = scenario.steps(flow).next_back() {
            every_cell[last.port().index()] = true;
        }
    }
    every_cell
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
            Quantity::Port { quantity, port } => {
                if let Some(place) = ports[port.index()] {
                    add(place, Subject::Port(quantity, place.index));
                }
            }
            Quantity::VirtualSource { quantity, flow, switch } => {
                let at = |(end, _): &&(VirtualEnd, Place)| (end.flow, end.switch) == (flow, switch);
                if let Some(&(_, place)) = virtual_ends.iter().find(at) {
                    add(place, Subject::Sender(quantity, place.index));
                }
            }
            Quantity::Flow { quantity, flow } => match quantity {
                FlowQuantity::Received => {
                    let place = endpoints[flow.other().index()];
                    add(place, Subject::Receiver(quantity, place.index));
                }
                FlowQuantity::Drops => {
                    for cluster in 0..clusters as u32 {
                        add(Place { cluster, index: 0 }, Subject::Drops(flow));
                    }
                }
                _ => {
                    let place = endpoints[flow.index()];
                    add(place, Subject::Sender(quantity, place.index));
                }
            },
        }
    }
    tracks
}
