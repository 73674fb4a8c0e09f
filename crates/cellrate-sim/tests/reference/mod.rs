//! The judge of the kernel: the same network, run as plainly as it can be.
//!
//! One heap holds every event, one clock runs, every port keeps its cells in real queues and has a departure for each
//! of them, and whatever is due happens when it is due. Nothing here is clever, so that a reader can hold it against
//! the documented rules line by line:
//!
//! - at one instant: departures in the order of the ports, samples, ends of averaging intervals, arrivals in the order
//!   of the ports the cells left, beginnings of calls, what ends send unasked (BRMs of congested destinations, then
//!   loopback requests), transmissions in the order of the connections, forward before backward, timers of TCP in the
//!   same order; last, on lines that were idle and to which something came, a transmission begins;
//! - service by priority (CBR and VBR, ABR, GFR and UBR), or as the queues of a port with others say, never
//!   pre-empted; buffers count the cell in transmission;
//! - what GFR and UBR lose, frame discard decides where a port has it, by the cells in the buffer one by one;
//! - a data cell is marked as its transmission begins, by the ABR queue with that cell in it; the marking state is the
//!   port's, so the beginning of every transmission moves it, of whatever category;
//! - whether the line loses a cell is decided as its transmission ends;
//! - a series of changes starts with the value at time 0 and has, for each instant after which the value differs, that
//!   value.
//!
//! Only the protocol's own values (source, destination, port control), the traffic, the random streams and what an end
//! has of TCP (stack and adapter) are shared with the kernel; they are tested where they live. How TCP is driven, how
//! cells become PDUs again, when a segment counts and what becomes of frames is the judge's own: every cell carries its
//! place in its PDU, and the last one the segment.
//!
//! An averaging interval has an event of its own at its deadline. A cell that completes the interval's count moves the
//! deadline to its own instant; the end then comes right after that cell has been queued, before the next arrival of
//! the same instant, because ends of intervals go before arrivals. The kernel ends intervals late instead, whenever
//! something looks; that both agree is what is tested.
#![allow(dead_code, reason = "each test file uses its own part of the judge")]

mod becn;
mod beginning;
mod changing;
mod channels;
mod conditioning;
mod congested;
mod derived;
mod figures;
mod flaws;
mod flows;
mod frame_discard;
mod frames;
mod loopback;
mod marking;
mod order;
mod police;
mod port;
mod queues;
mod rounded;
mod segments;
mod tcp;
mod transport_streams;
mod trees;
mod windows;

use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use cellrate_proto::switch::{Feedback, PortControl, Slot, VcAtPort};
use cellrate_proto::{
    Cells, Destination, DestinationConfig, Direction, Duration, Emission, RmCell, Source, Time,
};
use cellrate_scenario::{
    Buffers, Category, Every, FlowIndex, FlowQuantity, Link, NodeIndex, PortIndex, PortQuantity, Quantity,
    RmCells, Scenario, Sender, Span, Step, Traffic, WaitingBrm,
};
use cellrate_sim::random::{Owner, Random, Stream};
use cellrate_sim::traffic::{CellSupply, CommonSupply, Site, Supply};
use cellrate_sim::transport::{Segment, Stack, Tally};
use cellrate_sim::{
    BranchPointSummary, ChannelSummary, CompletionSummary, DemandSummary, FlowSummary, FrameSummary,
    LoopbackSummary, PolicingSummary, PortSummary, TransportStreamSummary, VirtualSourceSummary,
};

use crate::plain::Counting;
use crate::plain::sources::plugins;
use beginning::{flow_config, new_end, new_host_end, new_port};
pub use changing::CHANGING_FLAWS;
use changing::line_loses;
use channels::Multiplexer;
pub use channels::{CHANNEL_FLAWS, same_channels};
pub use conditioning::CONDITIONING_FLAWS;
use conditioning::Conditioned;
pub use congested::CONGESTED_FLAWS;
pub use derived::{Derived, derived_difference, forget_fair_shares};
pub use flaws::{FLAWS, Flaw, TCP_FLAWS};
pub use flows::{CALL_FLAWS, FLOW_FLAWS};
use flows::{Call, Sized};
use frame_discard::Fates;
pub use frames::same_frames;
pub use loopback::LOOPBACK_FLAWS;
use loopback::{Oam, Trip};
pub use marking::MARKING_FLAWS;
use marking::{Reds, mark, note_empty};
pub use police::POLICE_FLAWS;
use police::Policer;
use queues::Turns;
pub use rounded::{close, same_completions, same_distribution};
use segments::Relay;
use tcp::tcp_value;
pub use tcp::{same_tcp, tcp_since};
pub use transport_streams::same_stream;
pub use trees::TREE_FLAWS;
use trees::{Place, Point};
use windows::Look;

/// Findings of the judge. Quantiles of delays are those of the sorted values.
pub struct Judgement {
    /// Without distributions of delays.
    pub vcs: Vec<FlowSummary>,
    /// The delays of all data cells of each row, in order.
    pub delays: Vec<Vec<u64>>,
    pub ports: Vec<PortSummary>,
    /// The rows of each window of the scenario.
    pub windows: Vec<(Vec<FlowSummary>, Vec<PortSummary>)>,
    /// The rows of policers in each.
    pub policing_windows: Vec<Vec<PolicingSummary>>,
    pub virtual_sources: Vec<VirtualSourceSummary>,
    pub policing: Vec<PolicingSummary>,
    pub branch_points: Vec<BranchPointSummary>,
    pub loopbacks: Vec<LoopbackSummary>,
    pub channels: Vec<ChannelSummary>,
    pub cell_hops: u64,
    /// TCP, where there is any.
    pub tcp: Vec<TcpRow>,
    /// Rows of TCP as of the end of the warm-up.
    pub tcp_before: Option<Vec<TcpRow>>,
    /// Frames, where there are any.
    pub frames: Vec<FrameSummary>,
    /// Transport streams, where there are any.
    pub transport_streams: Vec<TransportStreamSummary>,
    /// Flows and calls that come and go.
    pub flows: Vec<DemandSummary>,
    pub completions: Vec<CompletionSummary>,
    /// Rows that are worked out from these.
    pub derived: Derived,
    /// Instants and values of each probe.
    pub series: Vec<(Vec<u64>, Vec<f64>)>,
}

/// One direction of a TCP connection, or of a client's connections: the VC, its number, what its sender did, what its
/// receiver has, and the PDUs of the VC's direction that came whole and spoiled.
pub type TcpRow = (String, u16, Tally, u64, u64, u64);

/// Runs `scenario` by the rules, or by all but one of them.
pub fn judge(scenario: &Scenario, flaw: Option<Flaw>) -> Judgement {
    let mut network = Network::new(scenario, flaw);
    network.run();
    network.judgement()
}

#[derive(Clone)]
struct Cell {
    flow: usize,
    /// Which step of its path it takes.
    step: usize,
    sent: Time,
    /// The number of a data cell in its direction, from 1 on.
    number: u32,
    efci: bool,
    rm: Option<RmCell>,
    /// The RM values that a data cell carries.
    values: Option<RmCell>,
    /// Whether a data cell is the last one of its PDU.
    ends_pdu: bool,
    /// CLP of a data cell.
    tagged: bool,
    /// CE of its packet, where it is the first or last cell of a PDU.
    marked: bool,
    /// The PDU of a data cell of TCP and its place there, both from 1 on, and in the last one what the PDU says.
    pdu: Option<(u64, u64, Option<Segment>)>,
    /// The contents of an OAM cell.
    oam: Option<Oam>,
}

enum Happening {
    /// The line behind the port of this number becomes what this step of its link says.
    Change(usize, usize),
    Departure(usize),
    /// A cell that the port of this number holds back may leave.
    Release(usize),
    Sample(usize),
    IntervalEnd(usize),
    /// The cell left the port of this number.
    Arrival(usize, Box<Cell>),
    /// A call begins at the end of this number, and ends then.
    Opening(usize, Time),
    /// The flow of this number among all that are offered begins, if there is a slot.
    Flow(usize, usize),
    /// The destination at the end of this number has a BRM of its own to send, by the span of that place.
    Report(usize, usize),
    /// The end of this number sends a request of this loopback of its connection.
    Loopback(usize, usize),
    /// Not if the end has planned anew since: then the second number is out of date.
    Transmission(usize, u64),
    /// A timer of TCP is due.
    Timer(usize, u64),
    /// The line behind the port of this number was idle, and something has come.
    Turn(usize),
}

struct Event {
    time: Time,
    rank: u8,
    index: usize,
    sequence: u64,
    happening: Happening,
}

/// An output port and the line behind it.
struct Port {
    waiting: [VecDeque<Box<Cell>>; 3],
    /// Whose turn it is, where that is not by priority and arrival alone.
    turns: Option<Turns>,
    /// The cell in transmission, its priority, and when it began.
    transmitting: Option<(Box<Cell>, usize, Time)>,
    /// When the transmission ends.
    transmitted_at: Time,
    /// When the last cell arrives that the line has not lost.
    last_arrival: Time,
    control: PortControl,
    /// The number of each direction of a connection at `control`.
    slots: BTreeMap<usize, Slot>,
    planned_interval_end: Time,
    /// By direction of a connection: when it originated BRMs.
    originated: BTreeMap<usize, Vec<Time>>,
    /// By direction of a connection: whether its PDU has begun here, and is marked.
    packets: BTreeMap<usize, (bool, bool)>,
    reds: Reds,
    /// By direction of a connection: what has become of its PDUs here.
    fates: BTreeMap<usize, Fates>,
    refused: u64,
    cut: u64,
    refusals: Random,
    random: Random,
    /// Decided at the beginning, where the judge is told to be wrong.
    doomed: bool,
    line_is_bad: bool,
    transmitted: u64,
    busy: Duration,
    dropped: u64,
    tagged_dropped: u64,
    max_queue: usize,
    max_abr_queue: usize,
    /// [cells * ps]
    queue_integral: u128,
    integrated_until: Time,
}

/// One end of a connection; it sends one direction and receives the other one. Those at hosts send the direction of
/// their number.
struct End {
    flow: usize,
    /// The relay of one inside a switch.
    relay: Option<Relay>,
    source: Option<Source>,
    /// Without a source: the spacing at the peak rate, and the earliest next cell.
    spacing: Duration,
    earliest: Time,
    /// Its shaper and its marker.
    conditioned: Option<Conditioned>,
    supply: Supply,
    destination: Destination,
    tcp: Option<Tcp>,
    plan: u64,
    sent: u64,
    data_sent: u64,
    forward_rm_sent: u64,
    backward_rm_received: u64,
    received: u64,
    data_received: u64,
    dropped: u64,
    delays: Vec<u64>,
    /// The data cells of the other direction that have come, and when, if they are of frames.
    frame_cells: Option<Vec<(u32, Time)>>,
    /// ACR and since when.
    acr: Vec<(Time, f64)>,
}

/// TCP at an end, and AAL5.
struct Tcp {
    stack: Stack,
    timer_plan: u64,
    /// The PDU and the place in it of the cell that left last.
    leaving: (u64, u64),
    /// PDU and place of the cells that have come since the last end of one.
    come: Vec<(u64, u64)>,
    /// The PDU whose end came last.
    ended: u64,
    whole: u64,
    spoiled: u64,
}

/// A probe at work.
#[derive(Default)]
struct Record {
    times_ps: Vec<u64>,
    values: Vec<f64>,
    last_count: u64,
    last_time: Time,
}

struct Network<'a> {
    scenario: &'a Scenario,
    flaw: Option<Flaw>,
    end: Time,
    events: BinaryHeap<Event>,
    sequence: u64,
    paths: Vec<Vec<Step>>,
    ports: Vec<Port>,
    ends: Vec<End>,
    records: Vec<Record>,
    policers: Vec<Policer>,
    /// Branch points of ABR connections, with what has been said there.
    points: BTreeMap<Place, Point>,
    /// The connections that begin at each branch point, in order.
    branches: BTreeMap<Place, Vec<usize>>,
    /// BRMs that branch points took in, those of branches that begin there left out, by direction.
    taken_in: BTreeMap<usize, u64>,
    looks: Vec<Look>,
    /// Requests of each loopback, by the connection and its place there.
    trips: BTreeMap<(usize, usize), Vec<Trip>>,
    /// The last round trip, by the end that asked \[s\].
    last_trips: BTreeMap<usize, f64>,
    /// Channels of virtual paths, by direction.
    multiplexers: Vec<Multiplexer>,
    /// All calls that are offered.
    calls: Vec<Call>,
    /// Flows of a size that have begun, by the end that sends them.
    sized: BTreeMap<usize, Vec<Sized>>,
    /// When cells found no room, by port and direction.
    found_no_room: BTreeMap<(usize, usize), Vec<Time>>,
}

impl<'a> Network<'a> {
    fn new(scenario: &'a Scenario, flaw: Option<Flaw>) -> Network<'a> {
        let mut paths = Vec::new();
        for connection in &scenario.connections {
            paths.push(connection.path.clone());
            let turned = connection.path.iter().rev().map(|step| Step { link: step.link, end: 1 - step.end });
            paths.push(turned.collect());
        }
        let ports = (0..2 * scenario.links.len()).map(|number| new_port(scenario, number)).collect();
        let mut ends: Vec<End> = (0..paths.len()).map(|flow| new_host_end(scenario, flow, flaw)).collect();
        ends.extend(segments::virtual_ends(scenario));
        let records = scenario.probes.iter().map(|_| Record::default()).collect();
        let end = Time::ZERO + scenario.duration;
        let (events, sequence) = (BinaryHeap::new(), 0);
        let (policers, points, looks) = (Policer::all(scenario, flaw), Point::all(scenario), Vec::new());
        let taken_in = BTreeMap::new();
        let mut network = Network {
            scenario,
            flaw,
            end,
            events,
            sequence,
            paths,
            ports,
            ends,
            records,
            policers,
            points,
            branches: trees::all_branches(scenario),
            taken_in,
            looks,
            trips: BTreeMap::new(),
            last_trips: BTreeMap::new(),
            multiplexers: Network::multiplexers(scenario, flaw),
            calls: Vec::new(),
            sized: BTreeMap::new(),
            found_no_room: BTreeMap::new(),
        };
        network.connect();
        network.plan_changes();
        network.plan_calls();
        network.plan_reports();
        network.plan_loopbacks();
        for number in 0..network.ports.len() {
            network.plan_interval_end(number);
        }
        for (probe, config) in scenario.probes.iter().enumerate() {
            if config.every != Every::Change {
                network.plan(Time::ZERO, Happening::Sample(probe));
            }
        }
        for flow in 0..network.ends.len() {
            network.plan_transmission(Time::ZERO, flow);
            network.plan_timer(flow);
        }
        network
    }

    /// Tells every port of the ABR directions that go through it.
    fn connect(&mut self) {
        for flow in 0..self.paths.len() {
            if let Sender::Abr(abr) = &flow_config(self.scenario, flow).sender {
                let vc = VcAtPort {
                    pcr: abr.parameters.pcr,
                    mcr: abr.parameters.mcr,
                    weight: abr.weight,
                    round_trip: abr.parameters.frtt,
                };
                for &step in &self.paths[flow] {
                    let port = &mut self.ports[number_of(step)];
                    let slot = port.control.connect(&vc);
                    port.slots.insert(flow, slot);
                    let config = &self.scenario.links[number_of(step) / 2].ports[number_of(step) % 2];
                    let queue = &self.scenario.connections[flow / 2].queue;
                    if let (true, Some(rate)) = (config.queueing.is_per_vc(), queue.shaped_to) {
                        // Some of it is left, as of the line.
                        port.control.hold_to(slot, rate * config.target_utilization().min(0.95));
                    }
                }
            }
        }
    }

    fn plan(&mut self, time: Time, happening: Happening) {
        let (rank, index) = order::place(&happening, self.flaw);
        self.sequence += 1;
        self.events.push(Event { time, rank, index, sequence: self.sequence, happening });
    }

    fn run(&mut self) {
        let mut now = Time::ZERO;
        let mut instants = self.scenario.measuring.instants(self.end).into_iter().peekable();
        while let Some(event) = self.events.pop() {
            if event.time >= self.end {
                // Cells on their way are counted where they are.
                self.events.push(event);
                break;
            }
            if instants.peek().is_some_and(|&at| at <= event.time) {
                // Cells on their way are counted where they are.
                let time = event.time;
                self.events.push(event);
                while let Some(at) = instants.next_if(|&at| at <= time) {
                    self.look(at);
                }
                continue;
            }
            if event.time > now {
                self.note_changes(now);
                now = event.time;
            }
            match event.happening {
                Happening::Change(port, step) => self.on_change(now, port, step),
                Happening::Departure(port) => self.on_departure(now, port),
                Happening::Release(port) => {
                    if self.ports[port].transmitting.is_none() {
                        self.begin_transmission(now, port);
                    }
                }
                Happening::Sample(probe) => self.on_sample(now, probe),
                Happening::IntervalEnd(port) => self.on_interval_end(now, port),
                Happening::Arrival(port, cell) => self.on_arrival(now, port, cell),
                Happening::Opening(flow, ends) => self.on_opening(now, flow, ends),
                Happening::Flow(_, call) => self.on_flow(now, call),
                Happening::Report(end, span) => self.on_report(now, end, span),
                Happening::Loopback(end, place) => self.on_loopback(now, end, place),
                Happening::Transmission(flow, plan) if plan == self.ends[flow].plan => {
                    self.on_transmission(now, flow);
                }
                Happening::Transmission(..) => {}
                Happening::Timer(flow, plan) => self.on_timer(now, flow, plan),
                Happening::Turn(port) => {
                    if self.ports[port].transmitting.is_none() {
                        self.begin_transmission(now, port);
                    }
                }
            }
        }
        self.note_changes(now);
        instants.for_each(|at| self.look(at));
    }

    fn on_departure(&mut self, now: Time, number: usize) {
        let link = &self.scenario.links[number / 2];
        self.integrate_queue(now, number);
        let begun_in_vain = self.ports[number].doomed;
        let lost = if self.flaw == Some(Flaw::LossAtBeginning) {
            begun_in_vain
        } else {
            line_loses(link, number % 2, &mut self.ports[number], now)
        };
        let port = &mut self.ports[number];
        let (cell, priority, began) = port.transmitting.take().expect("a cell is in transmission");
        if let Some(turns) = &mut port.turns {
            if priority != 1 {
                port.control.on_sent(priority == 0, turns.was_booked);
            }
            turns.ended();
        }
        note_empty(port, now, priority);
        assert_eq!(port.transmitted_at, now);
        port.transmitted += 1;
        let transmission = self.worked(number, began, now);
        self.ports[number].busy += transmission;
        if self.flaw != Some(Flaw::BrmsCountAsTheyCome) {
            self.show_to_police(now, number, &cell);
        }
        match self.carried(now, transmission, number) {
            Some(arrives) if !lost => {
                self.ports[number].last_arrival = arrives;
                self.plan(arrives, Happening::Arrival(number, cell));
            }
            _ => self.lose(number, &cell),
        }
        self.begin_transmission(now, number);
    }

    /// The first cell of the highest priority goes on the line, if there is one.
    fn begin_transmission(&mut self, now: Time, number: usize) {
        let link = &self.scenario.links[number / 2];
        if self.rate(now, number).as_bps() == 0 {
            return;
        }
        let ends = self.transmission_ends(now, number);
        let abr_queue = self.ports[number].queue(1);
        let port = &mut self.ports[number];
        let order = if self.flaw == Some(Flaw::UbrBeforeAbr) { [0, 2, 1] } else { [0, 1, 2] };
        let rm_cells = self.scenario.links[number / 2].ports[number % 2].rm_cells;
        let turn = match &mut port.turns {
            Some(turns) => turns.take(now, &mut port.waiting, order),
            None => port.take(order, rm_cells),
        };
        let Some((priority, mut cell)) = turn else {
            if let Some(at) = port.turns.as_ref().and_then(Turns::next_release) {
                self.plan(at, Happening::Release(number));
            }
            return;
        };
        if self.flaw != Some(Flaw::EfciOnArrival) {
            let held = port.turns.as_ref().map_or(0, |turns| turns.held_of_abr(now, &port.waiting));
            mark(port, &mut cell, priority, abr_queue - held);
        }
        if self.flaw == Some(Flaw::MarksAsTheyLeave) {
            self.mark_packet(now, number, priority, &mut cell);
        }
        let port = &mut self.ports[number];
        port.transmitting = Some((cell, priority, now));
        if self.flaw == Some(Flaw::LossAtBeginning) {
            port.doomed = line_loses(link, number % 2, port, now);
        }
        port.transmitted_at = ends;
        self.plan(ends, Happening::Departure(number));
    }

    /// `cell` comes to an output port.
    fn admit(&mut self, now: Time, number: usize, mut cell: Box<Cell>) {
        if self.flaw == Some(Flaw::BrmsCountAsTheyCome) {
            self.show_to_police(now, number, &cell);
        }
        self.integrate_queue(now, number);
        let priority = priority(self.scenario.connections[cell.flow / 2].category);
        let Buffers { guaranteed, abr, ubr, shared, tagged } =
            self.scenario.links[number / 2].ports[number % 2].buffers;
        let port = &mut self.ports[number];
        let beside =
            usize::from(self.flaw == Some(Flaw::RoomBesideTransmission) && port.transmitting.is_some());
        let full = |room: Option<Cells>, queue: usize| {
            room.is_some_and(|room| queue.saturating_sub(beside) as u64 >= room.0)
        };
        let has_room =
            !(full([guaranteed, abr, ubr][priority], port.queue(priority)) || full(shared, port.total()));
        let refused = self.flaw != Some(Flaw::TaggedCellsAreAlike)
            && cell.clp()
            && cell.rm.is_none()
            && tagged.is_some_and(|tagged| port.ahead_of(priority) as u64 >= tagged.0);
        let has_room = has_room
            && port.turns.as_ref().is_none_or(|turns| turns.has_room(&cell, &port.waiting[priority]));
        if !self.frame_gets_in(number, &cell, has_room && !refused) {
            self.ports[number].tagged_dropped += u64::from(refused);
            self.found_no_room.entry((number, cell.flow)).or_default().push(now);
            self.lose(number, &cell);
            return;
        }
        if self.flaw != Some(Flaw::MarksAsTheyLeave) {
            self.mark_packet(now, number, priority, &mut cell);
        }
        let port = &mut self.ports[number];
        if self.flaw == Some(Flaw::EfciOnArrival) {
            let queue = port.queue(1) + usize::from(priority == 1);
            mark(port, &mut cell, priority, queue);
        }
        if let Some(turns) = &mut port.turns {
            turns.on_arrival(now, priority, &cell, &port.waiting);
        }
        port.waiting[priority].push_back(cell);
        port.max_queue = port.max_queue.max(port.total());
        port.max_abr_queue = port.max_abr_queue.max(port.queue(1));
        if port.transmitting.is_none() {
            if self.flaw == Some(Flaw::FirstComeHasTurn) {
                self.begin_transmission(now, number);
            } else {
                self.plan(now, Happening::Turn(number));
            }
        }
    }

    fn lose(&mut self, number: usize, cell: &Cell) {
        self.ports[number].dropped += 1;
        self.ends[cell.flow].dropped += 1;
    }

    fn on_arrival(&mut self, now: Time, number: usize, cell: Box<Cell>) {
        let Some(cell) = self.police(now, cell) else { return };
        if let Some(place) = self.copied_at(&cell) {
            return self.copy(now, place, &cell);
        }
        if let Some(from) = self.taken_in_at(&cell) {
            return self.take_at_branch_point(now, from, &cell);
        }
        let path = &self.paths[cell.flow];
        if cell.step + 1 == path.len() {
            self.deliver(now, cell.flow ^ 1, cell);
        } else if self.answers_segment(&cell) {
            self.answer_segment(now, &cell);
        } else if let Some(end) = self.virtual_end(&cell).filter(|_| cell.oam.is_none()) {
            self.on_virtual_end(now, end, cell);
        } else {
            let node = self.scenario.head(path[cell.step]);
            assert_eq!(node, self.scenario.links[number / 2].ends[1 - number % 2]);
            self.pass_switch(now, node, cell);
        }
    }

    fn pass_switch(&mut self, now: Time, node: NodeIndex, mut cell: Box<Cell>) {
        cell.step += 1;
        if let Some(rm) = &mut cell.rm
            && rm.direction == Direction::Backward
        {
            // The port by which the direction that this cell controls leaves the switch.
            let controlled = cell.flow ^ 1;
            let leaves = self.paths[controlled].iter().find(|&&step| self.scenario.tail(step) == node);
            let answering = number_of(*leaves.expect("both directions pass the same nodes"));
            *rm = self.answer(now, answering, controlled, *rm);
        }
        let number = self.observe(now, &cell);
        self.originate(now, number, &cell);
        self.admit(now, number, cell);
        self.plan_interval_end(number);
    }

    /// The port answers a BRM that controls the direction `controlled`, which leaves the switch there.
    fn answer(&mut self, now: Time, number: usize, controlled: usize, mut rm: RmCell) -> RmCell {
        let port = &mut self.ports[number];
        let mut queue = port.abr_signal(now);
        if self.flaw == Some(Flaw::QueueBesideTransmission) {
            queue = port.waiting[1].len();
        }
        let mut feedback = Feedback::new(rm.explicit_rate, rm.congestion_indication, rm.no_increase);
        let slot = port.slots[&controlled];
        port.control.on_backward_rm(now, slot, Cells(queue as u64), &mut feedback);
        rm.explicit_rate = feedback.explicit_rate();
        rm.congestion_indication = feedback.congestion_indication();
        rm.no_increase = feedback.no_increase();
        rm
    }

    /// `cell` has come to a switch: the port that its step begins at counts it.
    fn observe(&mut self, now: Time, cell: &Cell) -> usize {
        let number = number_of(self.paths[cell.flow][cell.step]);
        let port = &mut self.ports[number];
        match self.scenario.connections[cell.flow / 2].category {
            Category::Cbr | Category::Vbr => port.control.on_guaranteed_cell(),
            Category::Gfr | Category::Ubr => {}
            Category::Abr => {
                let slot = port.slots[&cell.flow];
                port.control.on_abr_cell(now, slot);
                if let Some(rm) = cell.rm.or(cell.values).filter(|rm| rm.direction == Direction::Forward) {
                    port.control.on_forward_rm(now, slot, rm.current_cell_rate.rate());
                }
            }
        }
        number
    }

    fn plan_interval_end(&mut self, number: usize) {
        let node = self.scenario.links[number / 2].ends[number % 2];
        let is_switch = self.scenario.nodes[node.0 as usize].kind == cellrate_scenario::NodeKind::Switch;
        let deadline = self.ports[number].control.next_deadline();
        if is_switch && deadline != Time::NEVER && deadline != self.ports[number].planned_interval_end {
            self.ports[number].planned_interval_end = deadline;
            self.plan(deadline, Happening::IntervalEnd(number));
        }
    }

    fn on_interval_end(&mut self, now: Time, number: usize) {
        let port = &mut self.ports[number];
        let mut queue = port.abr_signal(now);
        if self.flaw == Some(Flaw::QueueBesideTransmission) {
            queue = port.waiting[1].len();
        }
        // Not due any more when a cell count ended the interval before its time.
        if port.control.interval_due(now) {
            port.control.end_intervals(now, |at| {
                assert_eq!(at, now, "no interval is ended late");
                Cells(queue as u64)
            });
        }
        self.plan_interval_end(number);
    }

    /// `cell` has reached the end of its path, or of its control loop: this end, which sends the other direction.
    fn deliver(&mut self, now: Time, number: usize, cell: Box<Cell>) {
        self.tell_congestion(now, number);
        let end = &mut self.ends[number];
        end.received += 1;
        if let Some(oam) = cell.oam {
            return self.on_oam(now, number, oam);
        }
        let Some(rm) = cell.rm else {
            end.data_received += 1;
            end.destination.on_data(cell.efci);
            end.delays.push(now.since(cell.sent).as_ps());
            if let Some(cells) = &mut end.frame_cells {
                cells.push((cell.number, now));
            }
            if end.supply.on_delivered(now, cell.number, cell.sent) {
                self.plan_transmission(now, number);
            }
            self.count_channel(now, number, &cell);
            let values = cell.values_as_frm();
            if let Some(part) = cell.pdu {
                self.reassemble(now, number, part, cell.marked);
            }
            // What the data have said counts for the values beside them.
            let end = &mut self.ends[number];
            if let (Some(rm), Some(source)) = (values, &mut end.source) {
                let at_once = end.destination.on_forward_rm(&rm, source);
                self.take_turn(now, number, at_once);
            }
            return;
        };
        let source = end.source.as_mut().expect("only ABR connections have RM cells");
        let at_once = match rm.direction {
            Direction::Backward => {
                end.backward_rm_received += 1;
                source.on_backward_rm(now, &rm);
                None
            }
            Direction::Forward => end.destination.on_forward_rm(&rm, source),
        };
        self.take_turn(now, number, at_once);
    }

    /// An RM cell, or values, have been dealt with at an end: what leaves at once, and the plan.
    fn take_turn(&mut self, now: Time, number: usize, at_once: Option<RmCell>) {
        self.ends[number].note_acr(now);
        if let Some(rm) = at_once {
            self.send(now, number, Some(rm), false);
        }
        self.plan_transmission(now, number);
    }

    /// A cell leaves an end: an RM cell or data, which may end a PDU.
    fn send(&mut self, now: Time, flow: usize, rm: Option<RmCell>, ends_pdu: bool) {
        self.send_with(now, flow, rm, None, ends_pdu);
    }

    /// A cell leaves an end: data may carry values.
    fn send_with(
        &mut self,
        now: Time,
        flow: usize,
        rm: Option<RmCell>,
        values: Option<RmCell>,
        ends_pdu: bool,
    ) {
        self.ends[flow].sent += 1;
        if self.ends[flow].relay.is_some() {
            return self.send_on(now, flow, rm, values);
        }
        let port = number_of(self.paths[flow][0]);
        let number = if rm.is_none() { self.number_of_cell(now, flow) } else { 0 };
        let pdu = if rm.is_none() { self.ends[flow].part_of_pdu() } else { None };
        let conditioned = self.ends[flow].conditioned.as_mut().filter(|_| rm.is_none());
        let tagged = conditioned.is_some_and(|own| own.marks(now, ends_pdu));
        let cell = Cell {
            flow,
            step: 0,
            sent: now,
            number,
            efci: false,
            rm,
            values,
            ends_pdu,
            tagged,
            marked: false,
            pdu,
            oam: None,
        };
        self.admit(now, port, Box::new(cell));
    }

    fn on_transmission(&mut self, now: Time, flow: usize) {
        let end = &mut self.ends[flow];
        let data_waits = end.available_from(now) <= now;
        let emission = match &mut end.source {
            Some(source) => source.transmit(now, data_waits),
            None => (data_waits && now >= end.may_leave(now)).then(|| {
                end.earliest = now.saturating_add(end.spacing);
                if let Some(own) = &mut end.conditioned {
                    own.leaves(now);
                }
                Emission::Data
            }),
        };
        end.note_acr(now);
        match emission {
            None => {}
            Some(emission @ (Emission::Data | Emission::DataWithRm(_))) => {
                let values = if let Emission::DataWithRm(rm) = emission { Some(rm) } else { None };
                let ends_pdu = end.supply.take(now);
                end.data_sent += 1;
                end.note_frame(now);
                self.send_with(now, flow, None, values, ends_pdu);
                // TCP that was held back may have room now.
                if self.ends[flow].supply.adapter().is_some_and(|a| a.holds_back() || a.holds_acks()) {
                    return self.pump(now, flow);
                }
            }
            Some(Emission::ForwardRm(rm)) => {
                end.forward_rm_sent += 1;
                self.send(now, flow, Some(rm), false);
            }
            Some(Emission::BackwardRm(rm)) => self.send(now, flow, Some(rm), false),
        }
        self.plan_transmission(now, flow);
    }

    fn plan_transmission(&mut self, now: Time, flow: usize) {
        let end = &mut self.ends[flow];
        end.plan += 1;
        let plan = end.plan;
        let next = match &end.source {
            Some(source) => source.next_transmission(now, |from| end.available_from(from)),
            None => end.available_from(end.may_leave(now)),
        };
        if next < self.end {
            self.plan(next, Happening::Transmission(flow, plan));
        }
    }

    fn integrate_queue(&mut self, now: Time, number: usize) {
        let port = &mut self.ports[number];
        let span = now.since(port.integrated_until).as_ps();
        port.queue_integral += port.total() as u128 * u128::from(span);
        port.integrated_until = now;
    }
}

impl Cell {
    /// The values of a data cell as an FRM.
    fn values_as_frm(&self) -> Option<RmCell> {
        self.values.map(|rm| RmCell { out_of_rate: self.tagged, ..rm })
    }
}

impl End {
    /// When, from `from` on, a data cell waits.
    fn available_from(&self, from: Time) -> Time {
        match &self.relay {
            Some(relay) => relay.available_from(from),
            None => self.supply.available_from(from),
        }
    }

    /// The first instant from `now` on at which the peak rate and the shaper let a cell go.
    fn may_leave(&self, now: Time) -> Time {
        let by_peak = now.max(self.earliest);
        self.conditioned.as_ref().map_or(by_peak, |own| own.earliest(by_peak))
    }

    fn note_acr(&mut self, now: Time) {
        if let Some(source) = &self.source {
            let acr = source.acr();
            // Whoever has traffic may have been asked at any time.
            self.supply.waiting(now);
            if self.acr.last().is_some_and(|&(_, last)| last != acr.as_cells_per_s()) {
                self.supply.on_acr(now, acr);
            }
            self.acr.push((now, acr.as_cells_per_s()));
        }
    }
}

fn number_of(step: Step) -> usize {
    2 * step.link.0 as usize + usize::from(step.end)
}

fn priority(category: Category) -> usize {
    match category {
        Category::Cbr | Category::Vbr => 0,
        Category::Abr => 1,
        Category::Gfr | Category::Ubr => 2,
    }
}
