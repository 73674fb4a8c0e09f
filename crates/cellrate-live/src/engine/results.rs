//! Results of a live run. Keys that mean the same as the simulator's have the same names (docs/results.md); those that
//! only a live run has are documented in docs/testbed.md.

pub use cellrate_engine::beyond_lines::{OverbookedSummary, StartSummary, UnkeptSummary};
use cellrate_engine::beyond_lines::{overbooked, starts, unkept};
use cellrate_engine::connection_end::RmCount;
use cellrate_engine::declared::{Results, Row};
use cellrate_engine::frame_discards::FrameDiscards;
pub use cellrate_engine::loopback::LoopbackSummary;
use cellrate_engine::names::{flow_name, port_name};
pub use cellrate_engine::policing::PolicingSummary;
pub use cellrate_engine::rows::{
    BeyondSignallingSummary, ClockSummary, FlowSummary, NegotiatedSummary, PortSummary, RefusedSummary,
    UnsettledSummary,
};
use cellrate_engine::rows::{beyond_signalling, cannot_settle, clocks, negotiated, refused};
use cellrate_engine::segments::{VirtualEnd, along_the_way};
use cellrate_engine::supply::CellSupply;
use cellrate_engine::virtual_source::Counted;
pub use cellrate_engine::virtual_source::VirtualSourceSummary;
use cellrate_proto::units::BITS_PER_CELL;
use cellrate_proto::{Cells, Duration, Time};
use cellrate_scenario::{PortIndex, Scenario};
use serde::Serialize;

use super::adapter::{Adapter, Reception};
use super::counters::{Passage, PeerCounters};
use super::machine::Machine;
use super::port::ABR;
use super::pseudowire::FIRST_LABEL;
pub use super::sampler::Series;
use super::verdict::Timing;

/// Everything a run found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Summary figures.
    pub summary: Summary,
    /// The series that were recorded.
    pub series: Vec<Series>,
}

/// Summary figures.
#[derive(Clone, Debug, PartialEq, Serialize, Results)]
pub struct Summary {
    /// The run as a whole.
    pub run: RunRow,
    /// Whether it was in time.
    pub timing: Timing,
    /// Connections that admission or negotiation refused.
    pub refused: Vec<RefusedSummary>,
    /// Parameters that negotiation changed.
    pub negotiated: Vec<NegotiatedSummary>,
    /// Directions of ABR connections whose PCR signalling cannot carry.
    pub beyond_signalling: Vec<BeyondSignallingSummary>,
    /// Ports whose lines are promised more than once.
    pub overbooked: Vec<OverbookedSummary>,
    /// Ports at which others may take what is promised.
    pub unkept: Vec<UnkeptSummary>,
    /// Ports whose longest queue is that of the start.
    pub starts: Vec<StartSummary>,
    /// Clocks that are not exact, hosts before links.
    pub clocks: Vec<ClockSummary>,
    /// Ports whose algorithm cannot settle, by its own rule.
    pub unsettled: Vec<UnsettledSummary>,
    /// One row per direction of a connection, as far as this process saw any of its cells.
    pub vcs: Vec<FlowRow>,
    /// One row per output port that carried anything.
    pub ports: Vec<PortRow>,
    /// One row per direction of a connection that carries packets.
    pub adapters: Vec<AdapterRow>,
    /// One row per virtual source of this process that data came to, in the order of the VCs and of their way.
    pub virtual_sources: Vec<VirtualSourceSummary>,
    /// One row per policer at a switch of this process, in the order of the directions and of their ways.
    pub policing: Vec<PolicingSummary>,
    /// One row per loopback of a VC whose requests a host of this process sends.
    pub loopbacks: Vec<LoopbackSummary>,
    /// One row per attached host.
    pub hosts: Vec<HostRow>,
    /// One row per TCP connection over which an attached host of this process answered.
    pub tcp_exchanges: Vec<ExchangeRow>,
    /// One row per node of this process that discarded cells.
    pub nodes: Vec<NodeRow>,
    /// One row per link into another process.
    pub links: Vec<LinkRow>,
    /// Datagrams that came to the process's address from elsewhere than a neighbour, or were no datagrams of cells;
    /// null for a run in one process.
    pub datagrams: Option<DatagramRow>,
}

/// The run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "run", many = "runs", named = "{scenario}")]
pub struct RunRow {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of all randomness.
    #[row(name)]
    pub seed: u64,
    /// The nodes that this process is; empty for all of them.
    pub nodes: Vec<String>,
    /// Logical time that was run.
    #[row(unit = s, adds = none, shown_in = "s")]
    pub duration_s: f64,
    /// Wall time of the same.
    #[row(unit = s, adds = none, shown_in = "s")]
    pub wall_s: f64,
    /// Transmissions of a cell over a link, all links.
    #[row(unit = plain, adds = sum)]
    pub cell_hops: u64,
    /// Events.
    #[row(unit = plain, adds = sum)]
    pub events: u64,
}

/// One direction of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "VC", many = "VCs", named = "{vc}", tells(data_sent > 0))]
pub struct FlowRow {
    /// The columns that a simulation gives of a direction, too: of cells lost and on their way those in this
    /// process.
    #[serde(flatten)]
    pub common: FlowSummary<Option<u64>, Option<f64>>,
    /// Cells that came from other processes.
    #[row(unit = cells, adds = sum)]
    pub entered: u64,
    /// Cells that went to other processes.
    #[row(unit = cells, adds = sum)]
    pub left: u64,
    /// RM cells of this direction that its destination refused: damaged, or without sense.
    #[row(unit = cells, adds = sum)]
    pub refused_rm: Option<u64>,
}

/// An output port.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "port", many = "ports", named = "{port}", tells(max_queue > 1, dropped > 0))]
pub struct PortRow {
    /// The columns that a simulation gives of a port, too.
    #[serde(flatten)]
    pub common: PortSummary,
    /// CBR and VBR cells without room, among the cells lost.
    #[row(unit = cells, adds = sum)]
    pub dropped_guaranteed: u64,
    /// ABR cells without room, among these.
    #[row(unit = cells, adds = sum)]
    pub dropped_abr: u64,
    /// UBR cells without room, among these.
    #[row(unit = cells, adds = sum)]
    pub dropped_ubr: u64,
    /// Cells that the line lost, among these.
    #[row(unit = cells, adds = sum)]
    pub lost_on_line: u64,
    /// RM cells that injected faults damaged on the line.
    #[row(unit = cells, adds = sum)]
    pub damaged_rm: u64,
}

/// Packets of one direction of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "adapter", many = "adapters", named = "{vc}")]
pub struct AdapterRow {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// Packets that came to the sending adapter; null when that is in another process.
    #[row(unit = plain, adds = sum)]
    pub packets_offered: Option<u64>,
    /// Packets without room in its queue, or too long.
    #[row(unit = plain, adds = sum)]
    pub packets_dropped: Option<u64>,
    /// Packets sent whole.
    #[row(unit = plain, adds = sum)]
    pub packets_sent: Option<u64>,
    /// Packets in the queue at the end, in part or whole.
    #[row(unit = plain, adds = sum)]
    pub packets_waiting: Option<u64>,
    /// Most cells that waited in the queue.
    #[row(unit = cells, adds = largest)]
    pub max_queue_cells: Option<u64>,
    /// Packets handed to the receiving host; null when that is in another process.
    #[row(unit = plain, adds = sum)]
    pub packets_delivered: Option<u64>,
    /// Packets that came whole and that the host's device had no room for.
    #[row(unit = plain, adds = sum)]
    pub packets_refused: Option<u64>,
    /// PDUs with cells missing.
    #[row(unit = pdus, adds = sum)]
    pub spoiled_pdus: Option<u64>,
    /// PDUs that came whole and hold no IPv4 packet.
    #[row(unit = pdus, adds = sum)]
    pub foreign_pdus: Option<u64>,
}

/// An attached host.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "host", many = "hosts", named = "{host}")]
pub struct HostRow {
    /// Its name.
    pub host: String,
    /// Packets that it sent.
    #[row(unit = plain, adds = sum)]
    pub packets: u64,
    /// Packets with a destination that no connection leads to.
    #[row(unit = plain, adds = sum)]
    pub without_vc: u64,
    /// Errors when its device was read.
    #[row(unit = plain, adds = sum)]
    pub device_errors: u64,
    /// ACKs that its adapters kept back for good, because a later one told more (`adapter_tcp`).
    #[row(unit = plain, adds = sum)]
    pub acks_withheld: u64,
    /// ACKs for it that its adapters held (`adapter_tcp.hold_acks`).
    #[row(unit = plain, adds = sum)]
    pub acks_held: u64,
    /// ACKs for it whose window its adapters lowered (`adapter_tcp.acr_window`).
    #[row(unit = plain, adds = sum)]
    pub windows_written: u64,
    /// SCONE packets that came to its elements, both ways (`scone`).
    #[row(unit = plain, adds = sum)]
    pub scone_packets: u64,
    /// SCONE packets whose signal its elements lowered.
    #[row(unit = plain, adds = sum)]
    pub scone_lowered: u64,
    /// SCONE packets above the advice that its elements let pass, because their flows had been updated often enough, or
    /// too many came in a second.
    #[row(unit = plain, adds = sum)]
    pub scone_held_back: u64,
}

/// An answer of a host over a TCP connection on which it was asked first, by the cells at its adapter.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "answer", many = "answers", named = "{vc} {client}")]
pub struct ExchangeRow {
    /// Direction that the answer goes, as in `vc`.
    pub vc: String,
    /// Address and port of who asks.
    pub client: String,
    /// Port of who answers.
    #[row(name)]
    pub port: u16,
    /// When the last cell of the first data arrived.
    #[row(unit = s, adds = none)]
    pub request_delivered_s: f64,
    /// When the last cell of the answer left.
    #[row(unit = s, adds = none)]
    pub response_departed_s: f64,
    /// Its octets, each counted once.
    #[row(unit = octets, adds = sum)]
    pub response_octets: u64,
}

/// Cells that a node discarded.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "node", many = "nodes", named = "{node}")]
pub struct NodeRow {
    /// Its name.
    pub node: String,
    /// RM cells with a wrong CRC-10, or of another protocol than ABR.
    #[row(unit = cells, adds = sum)]
    pub damaged_rm: u64,
    /// Cells of connections that do not cross the link they came over.
    #[row(unit = cells, adds = sum)]
    pub unknown_vc: u64,
}

/// A link into another process.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "link", many = "links", named = "{link}")]
pub struct LinkRow {
    /// "sw1-sw2": this process's node and its neighbour.
    pub link: String,
    /// The MPLS label of cells sent; the label of cells received differs in the last bit.
    #[row(name)]
    pub label: u32,
    /// Datagrams sent.
    #[row(unit = plain, adds = sum)]
    pub sent: u64,
    /// Cells in them.
    #[row(unit = cells, adds = sum)]
    pub cells_sent: u64,
    /// Datagrams that the system did not take.
    #[row(unit = plain, adds = sum)]
    pub send_errors: u64,
    /// Datagrams received and taken.
    #[row(unit = plain, adds = sum)]
    pub received: u64,
    /// Cells in them.
    #[row(unit = cells, adds = sum)]
    pub cells_received: u64,
    /// Datagrams missing, by their numbers.
    #[row(unit = plain, adds = sum)]
    pub missing: u64,
    /// Datagrams that came again, or after a later one: dropped.
    #[row(unit = plain, adds = sum)]
    pub out_of_order: u64,
    /// Times that the neighbour began to count anew.
    #[row(unit = plain, adds = sum)]
    pub restarts: u64,
    /// Cells that came later than the instant at which they should have reached this node.
    #[row(unit = cells, adds = sum)]
    pub late_cells: u64,
}

/// Datagrams that were not taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Row)]
#[row(one = "datagrams", many = "datagrams", named = "")]
pub struct DatagramRow {
    /// From an address that is not a neighbour's.
    #[row(unit = plain, adds = sum)]
    pub from_strangers: u64,
    /// From a neighbour's address, but without the nonce of this run.
    #[row(unit = plain, adds = sum)]
    pub of_other_runs: u64,
    /// From a neighbour, but no datagram of cells, or numbered as none can be.
    #[row(unit = plain, adds = sum)]
    pub malformed: u64,
}

/// Facts about the end of a run that the machine does not know.
pub(crate) struct Ending<'a> {
    pub scenario: &'a Scenario,
    pub nodes: Vec<String>,
    /// From when to when this process took part.
    pub start: Time,
    pub end: Time,
    pub wall_s: f64,
    pub timing: Timing,
    pub peers: Vec<(PortIndex, PeerCounters)>,
    pub datagrams: Option<DatagramRow>,
}

/// Draws up the account.
pub(crate) fn outcome(machine: Machine<'_>, ending: Ending<'_>) -> Outcome {
    let span = ending.end.since(ending.start);
    let ports = ports(&machine, &ending, span);
    let run = RunRow {
        scenario: ending.scenario.name.clone(),
        seed: ending.scenario.seed,
        nodes: ending.nodes.clone(),
        duration_s: span.as_secs_f64(),
        wall_s: ending.wall_s,
        cell_hops: ports.iter().map(|port| port.common.transmitted).sum(),
        events: machine.events,
    };
    let summary = Summary {
        run,
        refused: refused(ending.scenario),
        negotiated: negotiated(ending.scenario),
        beyond_signalling: beyond_signalling(ending.scenario),
        overbooked: overbooked(ending.scenario),
        unkept: unkept(ending.scenario),
        starts: starts(ending.scenario, ports.iter().map(|port| &port.common), |port| {
            let place = machine.network.port_indices.iter().position(|&index| index == port)?;
            machine.network.ports[place].control.interval()
        }),
        clocks: clocks(ending.scenario),
        unsettled: cannot_settle(ending.scenario),
        vcs: flows(&machine, &ending, span),
        ports,
        adapters: adapters(&machine, ending.scenario),
        virtual_sources: virtual_sources(&machine, &ending, span),
        policing: machine.network.police.rows(ending.scenario),
        loopbacks: loopbacks(&machine, ending.scenario),
        hosts: hosts(&machine, ending.scenario),
        tcp_exchanges: exchanges(&machine, ending.scenario),
        nodes: nodes(&machine, ending.scenario),
        links: links(&ending),
        datagrams: ending.datagrams,
        timing: ending.timing,
    };
    Outcome { summary, series: machine.recording.into_series() }
}

fn loopbacks(machine: &Machine<'_>, scenario: &Scenario) -> Vec<LoopbackSummary> {
    let rows = |flow| {
        let own = machine.network.sending(flow).and_then(|adapter| adapter.end.loopback.as_deref());
        own.into_iter().flat_map(move |own| own.rows(scenario, flow))
    };
    scenario.flows().flat_map(rows).collect()
}

fn flows(machine: &Machine<'_>, ending: &Ending<'_>, span: Duration) -> Vec<FlowRow> {
    let network = &machine.network;
    let mut waiting = vec![0; machine.passages.len()];
    for (end, sender, _) in network.virtual_sources() {
        waiting[end.flow.index()] += sender.end.supply.waiting(ending.end).unwrap_or(0);
    }
    let mut rows = Vec::new();
    let passages = ending.scenario.flows().zip(&machine.passages);
    for ((flow, passage), in_flight) in passages.zip(machine.in_flight()) {
        let [sender, receiver] = [flow, flow.other()].map(|flow| network.sending(flow));
        let &Passage { dropped, entered, left, originated: _, answered: _ } = passage;
        let (sending, sent) = (sender.map(|sender| &sender.end), sender.map(|sender| sender.end.sent()));
        if sent.unwrap_or(0) == 0 && entered == 0 {
            continue;
        }
        let source = sending.and_then(|end| end.source());
        let statistics = source.map(|source| source.statistics());
        let delivered = |data: u64| (data * BITS_PER_CELL) as f64 / span.as_secs_f64();
        let delays = receiver.and_then(|receiver| receiver.end.delays());
        let quantile = |share: f64| delays.and_then(|delays| delays.quantile_s(share));
        let connection = ending.scenario.connection(flow.connection());
        let data_delivered = receiver.map(Adapter::data_delivered);
        let common = FlowSummary {
            vc: flow_name(ending.scenario, flow),
            category: connection.category.word(),
            sent,
            data_sent: sending.map(|end| end.counts.data_sent),
            delivered: receiver.map(Adapter::delivered),
            data_delivered,
            dropped,
            in_flight: in_flight + waiting[flow.index()],
            forward_rm_sent: sending.map(|end| end.counts.rm(RmCount::ForwardSent)),
            backward_rm_received: sending.map(|end| end.counts.rm(RmCount::BackwardReceived)),
            throughput_bps: data_delivered.map(delivered),
            mean_acr: sending
                .and_then(|end| end.pacer.mean_acr(ending.end, span))
                .map(|rate| rate.as_cells_per_s()),
            final_acr: source.map(|source| source.acr().as_cells_per_s()),
            idle_resets: statistics.map(|s| s.idle_resets),
            cutoff_decreases: statistics.map(|s| s.cutoff_decreases),
            uili_decreases: statistics.map(|s| s.uili_decreases),
            mean_delay_s: delays.and_then(|delays| delays.mean_s()),
            p50_delay_s: quantile(0.5),
            p99_delay_s: quantile(0.99),
            max_delay_s: delays.and_then(|delays| delays.max_s()),
            delays: delays.filter(|delays| delays.total() > 0).cloned().map(Box::new),
        };
        let refused_rm = receiver.map(|receiver| receiver.refused);
        rows.push(FlowRow { common, entered, left, refused_rm });
    }
    rows
}

fn ports(machine: &Machine<'_>, ending: &Ending<'_>, span: Duration) -> Vec<PortRow> {
    let mut rows = Vec::new();
    for (port, &index) in machine.network.ports.iter().zip(&machine.network.port_indices) {
        let served = &port.served;
        if served.transmitted() == 0 && port.dropped() == 0 {
            continue;
        }
        let span_ps = span.as_ps().max(1) as f64;
        let [dropped_guaranteed, dropped_abr, dropped_ubr] = port.losses.buffer;
        rows.push(PortRow {
            common: PortSummary {
                port: port_name(ending.scenario, index),
                transmitted: served.transmitted(),
                utilization: served.busy_ps(ending.end) as f64 / span_ps,
                max_queue: served.max_total().0,
                mean_queue: served.queue_integral(ending.end) as f64 / span_ps,
                max_abr_queue: served.max_queue(ABR).0,
                tagged_dropped: served.tagged_dropped(),
                backward_rm_originated: port.control.originated(),
                pdus_refused: served.frame_discards().map_or(0, FrameDiscards::refused),
                pdus_cut: served.frame_discards().map_or(0, FrameDiscards::cut),
                dropped: port.dropped(),
            },
            dropped_guaranteed,
            dropped_abr,
            dropped_ubr,
            lost_on_line: port.losses.line,
            damaged_rm: port.damaged,
        });
    }
    rows
}

fn adapters(machine: &Machine<'_>, scenario: &Scenario) -> Vec<AdapterRow> {
    let mut rows = Vec::new();
    for flow in scenario.flows() {
        let [sender, receiver] = [flow, flow.other()].map(|flow| machine.network.sending(flow));
        let queue = sender.and_then(|sender| sender.end.supply.packets());
        let reception: Option<&Reception> = receiver.and_then(|receiver| receiver.reception.as_deref());
        if queue.is_none() && reception.is_none() {
            continue;
        }
        rows.push(AdapterRow {
            vc: flow_name(scenario, flow),
            packets_offered: queue.map(|queue| queue.counters.offered),
            packets_dropped: queue.map(|queue| queue.counters.dropped),
            packets_sent: queue.map(|queue| queue.counters.sent),
            packets_waiting: queue.map(|queue| queue.waiting_packets()),
            max_queue_cells: queue.map(|queue| queue.counters.max_cells),
            packets_delivered: reception.map(|reception| reception.delivered),
            packets_refused: reception.map(|reception| reception.refused),
            spoiled_pdus: reception.map(|reception| reception.spoiled),
            foreign_pdus: reception.map(|reception| reception.foreign),
        });
    }
    rows
}

fn virtual_sources(machine: &Machine<'_>, ending: &Ending<'_>, span: Duration) -> Vec<VirtualSourceSummary> {
    let mut ends: Vec<_> = machine.network.virtual_sources().collect();
    ends.sort_by_key(|(end, ..)| along_the_way(end));
    let row = |(end, sender, receiver): (&VirtualEnd, &Adapter, &Adapter)| {
        let queue = sender.end.supply.relayed().filter(|queue| queue.max() > Cells::ZERO)?;
        let counted = Counted {
            data_received: receiver.data_delivered(),
            data_sent: sender.end.counts.data_sent,
            forward_rm_sent: sender.end.counts.rm(RmCount::ForwardSent),
            backward_rm_received: sender.end.counts.rm(RmCount::BackwardReceived),
            mean_acr: sender.end.pacer.mean_acr(ending.end, span).unwrap_or_default(),
            queue_integral: queue.integral(ending.end),
        };
        let of = (sender.end.source()?, queue);
        Some(VirtualSourceSummary::new(ending.scenario, end, of, counted, span))
    };
    ends.into_iter().filter_map(row).collect()
}

fn hosts(machine: &Machine<'_>, scenario: &Scenario) -> Vec<HostRow> {
    let network = &machine.network;
    let hosts = (0..).zip(&machine.hosts).zip(&machine.host_counters).zip(&network.edges);
    let rows = hosts.map(|(((number, host), counters), edge)| {
        let own = || network.adapters.iter().filter(|adapter| adapter.host() == Some(number));
        let advice = || own().filter_map(|adapter| adapter.advice.as_ref()).map(|advice| advice.counts);
        let (acks_held, windows_written) = own()
            .filter_map(|adapter| adapter.acks.as_ref())
            .fold((0, 0), |(held, written), acks| (held + acks.acks_held, written + acks.windows_written));
        HostRow {
            host: scenario.node(host.node).name.clone(),
            packets: counters.received,
            without_vc: counters.without_vc,
            device_errors: counters.device_errors,
            acks_withheld: edge.as_ref().map_or(0, |edge| edge.withheld),
            acks_held,
            windows_written,
            scone_packets: advice().map(|counts| counts.packets).sum(),
            scone_lowered: advice().map(|counts| counts.lowered).sum(),
            scone_held_back: advice().map(|counts| counts.held_back).sum(),
        }
    });
    rows.collect()
}

/// Answers of attached hosts, connection by connection.
fn exchanges(machine: &Machine<'_>, scenario: &Scenario) -> Vec<ExchangeRow> {
    let ends = machine.network.flows.iter().zip(&machine.network.adapters);
    let rows = ends.filter_map(|(&flow, adapter)| Some((flow, adapter.reception.as_ref()?))).flat_map(
        |(flow, reception)| {
            reception.exchanges.answered().filter_map(move |exchange| {
                Some(ExchangeRow {
                    vc: flow_name(scenario, flow),
                    client: format!("{}:{}", exchange.client.0, exchange.client.1),
                    port: exchange.port,
                    request_delivered_s: exchange.request_delivered.as_secs_f64(),
                    response_departed_s: exchange.response_departed?.as_secs_f64(),
                    response_octets: exchange.octets,
                })
            })
        },
    );
    rows.collect()
}

fn nodes(machine: &Machine<'_>, scenario: &Scenario) -> Vec<NodeRow> {
    let rows = scenario.nodes.iter().zip(&machine.network.nodes);
    rows.filter(|(_, counters)| counters.damaged_rm + counters.unknown_vc > 0)
        .map(|(node, counters)| NodeRow {
            node: node.name.clone(),
            damaged_rm: counters.damaged_rm,
            unknown_vc: counters.unknown_vc,
        })
        .collect()
}

fn links(ending: &Ending<'_>) -> Vec<LinkRow> {
    let rows = ending.peers.iter().map(|&(port, counters)| LinkRow {
        link: port_name(ending.scenario, port).replace("->", "-"),
        label: FIRST_LABEL + port.0,
        sent: counters.sent,
        cells_sent: counters.cells_sent,
        send_errors: counters.send_errors,
        received: counters.received,
        cells_received: counters.cells_received,
        missing: counters.missing,
        out_of_order: counters.out_of_order,
        restarts: counters.restarts,
        late_cells: counters.late_cells,
    });
    rows.collect()
}
