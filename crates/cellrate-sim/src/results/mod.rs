//! Results of a run: one row per VC direction, one per output port, one for the run, and the series asked for.
//!
//! The field names are the documented keys of `cellrate run --json`.

mod account;
mod branch_points;
mod bursts;
mod conserved;
mod exchanges;
mod flows;
mod frames;
mod measured;
mod phase_effects;
mod policing;
mod tcp;
mod transport_streams;
mod unsettled;
mod virtual_sources;

pub(crate) use account::account;
pub use cellrate_engine::beyond_lines::{OverbookedSummary, StartSummary, UnkeptSummary};
pub use cellrate_engine::branch_point::BranchPointSummary;
pub use cellrate_engine::channels::ChannelSummary;
use cellrate_engine::declared::{Results, Row};
pub use cellrate_engine::decoder::{ReferenceRow, TransportStreamSummary};
pub use cellrate_engine::loopback::LoopbackSummary;
pub use cellrate_engine::policing::PolicingSummary;
pub use cellrate_engine::rows::{
    BeyondSignallingSummary, ClockSummary, FlowSummary, NegotiatedSummary, PortSummary, RefusedSummary,
    UnsettledSummary,
};
pub use cellrate_engine::shares::{EfficiencySummary, FairnessSummary, ShareSummary};
pub use cellrate_engine::virtual_source::VirtualSourceSummary;
use cellrate_proto::Duration;
pub(crate) use measured::Meter;
pub use phase_effects::PhaseEffectSummary;
use serde::Serialize;

/// Everything a run found.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Summary figures.
    pub summary: Summary,
    /// The series that the scenario's probes asked for, in the order of [`cellrate_scenario::Scenario::probes`].
    pub series: Vec<Series>,
}

/// Summary figures. The same scenario and seed give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Results)]
pub struct Summary {
    /// The run as a whole.
    pub run: RunSummary,
    /// One row per direction of a connection that sent anything, forward before backward.
    pub vcs: Vec<FlowSummary>,
    /// One row per output port that carried or lost anything.
    pub ports: Vec<PortSummary>,
    /// Rows of directions within each window of the scenario, window by window.
    pub vc_windows: Vec<Windowed<FlowSummary>>,
    /// Rows of ports within each window.
    pub port_windows: Vec<Windowed<PortSummary>>,
    /// Rows of policers within each window.
    pub policing_windows: Vec<Windowed<PolicingSummary>>,
    /// Shares of each direction with data: the rate that it got, and the rate that it was due.
    pub shares: Vec<ShareSummary>,
    /// How evenly the connections of each category were served.
    pub fairness: Vec<FairnessSummary>,
    /// How much of each line that data takes applications had of it.
    pub efficiency: Vec<EfficiencySummary>,
    /// One row per TCP connection, in the order of the VCs.
    pub tcp: Vec<TcpSummary>,
    /// One row per object of the pages of each client that fetches pages over TCP, in the order of the VCs.
    pub exchanges: Vec<ExchangeSummary>,
    /// One row per such client.
    pub pages: Vec<PageSummary>,
    /// Single objects, in the order of the clients and of time: as many of each client as its `record` asks for.
    pub exchange_list: Vec<ExchangeRow>,
    /// One row per direction of a connection with request-response traffic, requests before responses.
    pub bursts: Vec<BurstSummary>,
    /// Single bursts, in the order of `bursts` and of their numbers: as many of each direction as its `record` asks
    /// for.
    pub burst_list: Vec<Burst>,
    /// One row per direction of a connection with frames in datagrams.
    pub frames: Vec<FrameSummary>,
    /// Single frames, in the order of `frames` and of their numbers: as many of each direction as its `record` asks
    /// for.
    pub frame_list: Vec<FrameRow>,
    /// One row per direction of a connection with an MPEG-2 transport stream.
    pub transport_streams: Vec<TransportStreamSummary>,
    /// Clock references that came, in the order of `transport_streams` and of time: as many of each direction as its
    /// `record` asks for.
    pub reference_list: Vec<ReferenceRow>,
    /// One row per demand of flows or calls that come and go, in the order of the scenario.
    pub flows: Vec<DemandSummary>,
    /// One row per class of sizes of each demand of flows of a size, of all of them together first; none of classes in
    /// which none is complete.
    pub completions: Vec<CompletionSummary>,
    /// One row per virtual source that data came to, in the order of the VCs and of their way.
    pub virtual_sources: Vec<VirtualSourceSummary>,
    /// One row per policer, in the order of the VCs and of their way.
    pub policing: Vec<PolicingSummary>,
    /// One row per branch point of an ABR tree, in the order of the VCs and of their way.
    pub branch_points: Vec<BranchPointSummary>,
    /// One row per loopback of a VC, forward before backward.
    pub loopbacks: Vec<LoopbackSummary>,
    /// One row per channel of each virtual path, forward before backward.
    pub channels: Vec<ChannelSummary>,
    /// Hosts whose own line was the bottleneck of what they sent, in the order of the scenario.
    pub host_bottlenecks: Vec<HostBottleneck>,
    /// Connections that were refused at set-up and did not run.
    pub refused: Vec<RefusedSummary>,
    /// Parameters that negotiation changed at set-up, in the order it happened.
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
    /// Ports where a tie, or a phase that never changes, decided which of several like connections lost cells.
    pub phase_effects: Vec<PhaseEffectSummary>,
    /// Ports whose algorithm cannot settle, by its own rule, or has not, by what the run shows.
    pub unsettled: Vec<UnsettledSummary>,
}

/// A host's port at which more than a thousand cells still wait when the run ends: its connections send faster
/// together than its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[row(one = "host port", many = "host ports", named = "{port}")]
pub struct HostBottleneck {
    /// The port, `a->b`.
    pub port: String,
    /// Cells that wait there when the run ends.
    #[row(unit = cells, adds = sum)]
    pub waiting: u64,
}

/// A row over a window of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "row", many = "rows", named = "{window}")]
pub struct Windowed<T> {
    /// Name of the window.
    pub window: String,
    /// The first instant that counts.
    #[row(unit = s, adds = none)]
    pub from_s: f64,
    /// The first instant that does not count any more.
    #[row(unit = s, adds = none)]
    pub until_s: f64,
    /// The row.
    #[serde(flatten)]
    pub row: T,
}

/// The run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "run", many = "runs", named = "{scenario}")]
pub struct RunSummary {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of all randomness.
    #[row(name)]
    pub seed: u64,
    /// Network time.
    #[row(unit = s, adds = none, shown_in = "s")]
    pub duration_s: f64,
    /// The end of the warm-up: figures of all rows count from then on; 0 without one.
    #[row(unit = s, adds = none, shown_in = "s")]
    pub measured_from_s: f64,
    /// Transmissions of a cell over a link, in the whole run.
    #[row(unit = plain, adds = sum)]
    pub cell_hops: u64,
    /// Events that the scheduler took, as many on any number of threads.
    #[row(unit = plain, adds = sum)]
    pub events: u64,
}

/// A TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "TCP connection", many = "TCP connections", named = "{vc} #{connection}", tells(segments > 0))]
pub struct TcpSummary {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// Its number on the VC, from 1 on.
    #[row(name)]
    pub connection: u16,
    /// When its application handed over its data.
    #[row(unit = s, adds = none, shown_in = "s")]
    pub start_s: f64,
    /// When the last octet of a sized transfer was acknowledged; null before that, and for transfers without
    /// end.
    #[row(unit = s, adds = largest, heading = "completed", shown_in = "s", decimals = 3)]
    pub completed_s: Option<f64>,
    /// Octets that reached the application of the receiver, in order and once.
    #[row(unit = octets, adds = sum)]
    pub delivered_octets: u64,
    /// Octets of which the sender knows that they did.
    #[row(unit = octets, adds = sum)]
    pub acknowledged_octets: u64,
    /// `delivered_octets` from `start_s`, or the end of the warm-up, to `completed_s` or the end of the run.
    #[row(unit = bps, adds = sum, heading = "goodput", decimals = 3)]
    pub goodput_bps: f64,
    /// Segments handed to the adapter, those sent again included.
    #[row(unit = plain, adds = sum)]
    pub segments: u64,
    /// Payload in them.
    #[row(unit = octets, adds = sum)]
    pub offered_octets: u64,
    /// Segments sent again.
    #[row(unit = plain, adds = sum, heading = "segments sent again")]
    pub retransmitted: u64,
    /// Payload in them.
    #[row(unit = octets, adds = sum)]
    pub retransmitted_octets: u64,
    /// Times that the retransmission timer expired.
    #[row(unit = plain, adds = sum, heading = "timeouts")]
    pub timeouts: u64,
    /// Times that duplicate ACKs made it send again.
    #[row(unit = plain, adds = sum, heading = "fast retransmits")]
    pub fast_retransmits: u64,
    /// Segments that came to the receiver with their packet marked (CE).
    #[row(unit = plain, adds = sum)]
    pub marked: u64,
    /// Times that marks had the sender reduce its window (ECN).
    #[row(unit = plain, adds = sum)]
    pub reductions: u64,
    /// Tail loss probes sent (RFC 8985); 0 without `rack_tlp`.
    #[row(unit = plain, adds = sum)]
    pub probes: u64,
    /// DCTCP's estimate of the share of octets that are marked, at the end; null without DCTCP.
    #[row(unit = share, adds = largest)]
    pub alpha: Option<f64>,
    /// Acknowledged over offered octets, less those outstanding for the first time; null when nothing was
    /// acknowledged. Paper stop-and-go's TCP efficiency.
    #[row(unit = share, adds = mean(offered_octets), heading = "efficiency")]
    pub efficiency: Option<f64>,
    /// cwnd at the end.
    #[row(unit = octets, adds = sum)]
    pub final_cwnd: u64,
    /// Smoothed round-trip time at the end; null without a measurement.
    #[row(unit = s, adds = largest)]
    pub smoothed_rtt_s: Option<f64>,
    /// PDUs of the VC's direction that found no room in the adapter, of all its connections.
    #[row(unit = pdus, adds = largest)]
    pub adapter_drops: u64,
    /// Most cells that waited in the adapter.
    #[row(unit = cells, adds = largest)]
    pub max_adapter_queue: u64,
    /// PDUs of the VC's direction that arrived whole, of all its connections.
    #[row(unit = pdus, adds = largest)]
    pub whole_pdus: u64,
    /// PDUs of it that arrived with cells missing.
    #[row(unit = pdus, adds = largest)]
    pub spoiled_pdus: u64,
}

/// An object of the pages that a client fetched over TCP, all times that it was fetched together.
///
/// The response time is what the client's application sees: from the object's turn, the opening of its connection
/// included, to the last octet of the response. The response time from cell to cell is what an analyzer at the client
/// sees: from the first cell of the request, when its last bit has left, to the arrival of the last cell of the
/// response (paper internet-applications, section 3.3).
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "page object", many = "page objects", named = "{vc} #{client} object {object}")]
pub struct ExchangeSummary {
    /// Name of the VC.
    pub vc: String,
    /// The client's number on the VC, from 1 on.
    #[row(name)]
    pub client: u16,
    /// The object's place in the page, from 1 on.
    #[row(name)]
    pub object: u32,
    /// Size of the request.
    #[row(name, unit = octets, adds = none, heading = "request")]
    pub request_octets: u64,
    /// Size of the response.
    #[row(name, unit = octets, adds = none, heading = "response")]
    pub response_octets: u64,
    /// Times that it came whole.
    #[row(unit = plain, adds = sum, heading = "whole")]
    pub count: u64,
    /// Mean response time; null, like all below, when none came whole.
    #[row(unit = s, adds = mean(count), heading = "mean response")]
    pub mean_response_s: Option<f64>,
    /// Standard deviation of the same, over `count` - 1; 0 of a single one.
    #[row(unit = s, adds = none)]
    pub deviation_response_s: Option<f64>,
    /// Median of the same, within 1 %.
    #[row(unit = s, adds = none)]
    pub p50_response_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    #[row(unit = s, adds = largest, heading = "p99 response")]
    pub p99_response_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest, heading = "max response")]
    pub max_response_s: Option<f64>,
    /// Mean response time from cell to cell.
    #[row(unit = s, adds = mean(count))]
    pub mean_cell_response_s: Option<f64>,
    /// Standard deviation of the same.
    #[row(unit = s, adds = none)]
    pub deviation_cell_response_s: Option<f64>,
    /// Median of the same, within 1 %.
    #[row(unit = s, adds = none)]
    pub p50_cell_response_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    #[row(unit = s, adds = largest)]
    pub p99_cell_response_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest)]
    pub max_cell_response_s: Option<f64>,
}

/// The pages of a client: from the first object's turn to the last object's last octet.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "page", many = "pages", named = "{vc} #{client}")]
pub struct PageSummary {
    /// Name of the VC.
    pub vc: String,
    /// The client's number on the VC, from 1 on.
    #[row(name)]
    pub client: u16,
    /// Pages that came whole.
    #[row(unit = plain, adds = sum, heading = "whole")]
    pub count: u64,
    /// Mean time of a page; null, like all below, when none came whole.
    #[row(unit = s, adds = mean(count), heading = "mean load")]
    pub mean_load_s: Option<f64>,
    /// Standard deviation of the same, over `count` - 1; 0 of a single one.
    #[row(unit = s, adds = none)]
    pub deviation_load_s: Option<f64>,
    /// Median of the same, within 1 %.
    #[row(unit = s, adds = none)]
    pub p50_load_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    #[row(unit = s, adds = largest, heading = "p99 load")]
    pub p99_load_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest, heading = "max load")]
    pub max_load_s: Option<f64>,
}

/// A single object that a client fetched, or was waiting for at the end of the run. What had not happened by then is
/// null.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "exchange", many = "exchanges", named = "{vc} #{client} page {page} object {object}")]
pub struct ExchangeRow {
    /// Name of the VC.
    pub vc: String,
    /// The client's number on the VC, from 1 on.
    #[row(name)]
    pub client: u16,
    /// Which of the client's TCP connections, one after the other, from 1 on.
    #[row(name)]
    pub connection: u32,
    /// The page, from 1 on.
    #[row(name)]
    pub page: u64,
    /// The object's place in it, from 1 on.
    #[row(name)]
    pub object: u32,
    /// When its turn came: a connection that had to be opened was opened then.
    #[row(unit = s, adds = none)]
    pub start_s: f64,
    /// When the connection was open and the request could leave.
    #[row(unit = s, adds = none)]
    pub opened_s: Option<f64>,
    /// When the last bit of the request's first cell had left the client's adapter.
    #[row(unit = s, adds = none)]
    pub request_cell_s: Option<f64>,
    /// When the request was whole at the server.
    #[row(unit = s, adds = none)]
    pub request_delivered_s: Option<f64>,
    /// When the last cell of the response, or of what of it was sent again, had left the server's adapter.
    #[row(unit = s, adds = none)]
    pub response_departed_s: Option<f64>,
    /// When the first octet of the response reached the client's application.
    #[row(unit = s, adds = none)]
    pub first_octet_s: Option<f64>,
    /// When the last did.
    #[row(unit = s, adds = none)]
    pub last_octet_s: Option<f64>,
    /// From `start_s` to `last_octet_s`.
    #[row(unit = s, adds = largest)]
    pub response_s: Option<f64>,
    /// From `request_cell_s` to `last_octet_s`.
    #[row(unit = s, adds = largest)]
    pub cell_response_s: Option<f64>,
}

/// Flows or calls that come and go: `offered = begun + no_room + no_slot`, of those that arrived from the end of the
/// warm-up on and whose set-up was over before the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "entry of flows", many = "entries of flows", named = "{flows}")]
pub struct DemandSummary {
    /// Name of the entry.
    pub flows: String,
    /// Flows that arrived.
    #[row(unit = plain, adds = sum, heading = "offered")]
    pub offered: u64,
    /// Flows that began.
    #[row(unit = plain, adds = sum, heading = "begun")]
    pub begun: u64,
    /// Blocked, because a link had no room for what they ask for.
    #[row(unit = plain, adds = sum, heading = "no room")]
    pub no_room: u64,
    /// Blocked, because all connections of the pair were taken.
    #[row(unit = plain, adds = sum, heading = "no slot")]
    pub no_slot: u64,
    /// Probability of being blocked: those blocked over `offered`; null when nothing was offered.
    #[row(unit = share, adds = mean(offered), heading = "blocked", decimals = 2)]
    pub blocking: Option<f64>,
    /// Flows of a size that are complete; null for calls.
    #[row(unit = plain, adds = sum, heading = "complete")]
    pub completed: Option<u64>,
    /// Mean time from the arrival of those that began to their first data, what set-up took; null when none
    /// began.
    #[row(unit = s, adds = mean(begun), heading = "mean set-up")]
    pub mean_set_up_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest)]
    pub max_set_up_s: Option<f64>,
    /// Mean holding time of calls that began, beyond the end of the run too; null for flows of a size.
    #[row(unit = s, adds = mean(begun), heading = "mean holding")]
    pub mean_holding_s: Option<f64>,
    /// Time-weighted mean of how many were under way, those that began in the warm-up among them: for calls
    /// the traffic carried, in erlangs. They count from their first data on: calls for their holding time,
    /// flows of a size until all of them has come, or, without TCP, the last datagram of them or of a later
    /// one on their connection.
    #[row(unit = plain, adds = sum, heading = "mean at once", decimals = 2)]
    pub mean_concurrent: f64,
    /// The most at once, as soon as they are for any time.
    #[row(unit = plain, adds = largest, heading = "max at once")]
    pub max_concurrent: u64,
}

/// Flows of a size of one class of sizes that arrived from the end of the warm-up on: `offered = blocked + count +
/// unfinished`. Times are those of complete flows, from their arrival, set-up included, to the arrival of their last
/// cell; null where there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "class of sizes", many = "classes of sizes", named = "{flows} {from_octets} {below_octets}")]
pub struct CompletionSummary {
    /// Name of the entry.
    pub flows: String,
    /// The least size of the class.
    #[row(name, unit = octets, adds = none)]
    pub from_octets: u64,
    /// The first size that is too large for it; null for that without one.
    #[row(name, unit = octets, adds = none)]
    pub below_octets: Option<u64>,
    /// Flows that arrived, and whose set-up was over before the end of the run.
    #[row(unit = plain, adds = sum, heading = "offered")]
    pub offered: u64,
    /// Blocked, because all connections of the pair were taken.
    #[row(unit = plain, adds = sum, heading = "blocked")]
    pub blocked: u64,
    /// Flows that are complete.
    #[row(unit = plain, adds = sum, heading = "complete")]
    pub count: u64,
    /// Flows under way at the end of the run, or, without TCP, with a datagram lost.
    #[row(unit = plain, adds = sum, heading = "unfinished")]
    pub unfinished: u64,
    /// Mean size of complete ones.
    #[row(unit = octets, adds = mean(count))]
    pub mean_octets: Option<f64>,
    /// Mean time.
    #[row(unit = s, adds = mean(count), heading = "mean time")]
    pub mean_time_s: Option<f64>,
    /// Median of the same, within 1 %.
    #[row(unit = s, adds = none, heading = "p50 time")]
    pub p50_time_s: Option<f64>,
    /// 95th percentile of the same, within 1 %.
    #[row(unit = s, adds = largest)]
    pub p95_time_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    #[row(unit = s, adds = largest, heading = "p99 time")]
    pub p99_time_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest)]
    pub max_time_s: Option<f64>,
    /// Mean slow-down: the time over that which the flow's cells would take alone at the peak rate, without
    /// RM cells.
    #[row(unit = plain, adds = mean(count), heading = "mean slow-down", decimals = 2)]
    pub mean_slowdown: Option<f64>,
    /// Median of the same, within 1 %.
    #[row(unit = plain, adds = none, decimals = 2)]
    pub p50_slowdown: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    #[row(unit = plain, adds = largest, heading = "p99 slow-down", decimals = 2)]
    pub p99_slowdown: Option<f64>,
    /// Distribution of the times: how many flows took at most each; a table of its own beside the rows.
    #[serde(skip)]
    pub times: Vec<(Duration, u64)>,
}

/// The bursts of one direction of a connection with request-response traffic (paper uili, section 7.2).
///
/// The response time of a burst is from the arrival of its first cell at the adapter of its sender to the departure of
/// its last cell from there, the last bit; its effective throughput is its cells, 53 octets each, over that.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "direction of bursts", many = "bursts", named = "{vc} {role}")]
pub struct BurstSummary {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// `request` or `response`.
    pub role: &'static str,
    /// Length of each burst.
    #[row(name, unit = cells, adds = none, heading = "each")]
    pub size_cells: u32,
    /// Bursts that have left whole.
    #[row(unit = plain, adds = sum, heading = "whole")]
    pub count: u64,
    /// Mean response time; null, like all below, when no burst has left whole.
    #[row(unit = s, adds = mean(count), heading = "mean response")]
    pub mean_response_s: Option<f64>,
    /// Median of the same, within 1 %.
    #[row(unit = s, adds = none)]
    pub p50_response_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    #[row(unit = s, adds = largest, heading = "p99 response")]
    pub p99_response_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest, heading = "max response")]
    pub max_response_s: Option<f64>,
    /// Mean of the bursts' effective throughput.
    #[row(unit = bps, adds = mean(count), heading = "mean throughput")]
    pub mean_throughput_bps: Option<f64>,
    /// Median of the same, within 1 %.
    #[row(unit = bps, adds = none)]
    pub p50_throughput_bps: Option<f64>,
    /// The effective throughput that 99 % of the bursts have at least, within 1 %.
    #[row(unit = bps, adds = least)]
    pub p1_throughput_bps: Option<f64>,
}

/// A single burst.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "burst", many = "bursts", named = "{vc} {role} #{number}")]
pub struct Burst {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// "request" or "response".
    pub role: &'static str,
    /// From 1 in its direction.
    #[row(name)]
    pub number: u64,
    /// Its length.
    #[row(name, unit = cells, adds = none)]
    pub size_cells: u32,
    /// Arrival of the first cell at the adapter of its sender.
    #[row(unit = s, adds = none)]
    pub start_s: f64,
    /// From then to the departure of its last bit.
    #[row(unit = s, adds = largest)]
    pub response_s: f64,
    /// Effective throughput.
    #[row(unit = bps, adds = least)]
    pub throughput_bps: f64,
    /// From `start_s` to the arrival of its last cell at the other end; null when that was after the end of
    /// the run.
    #[row(unit = s, adds = largest)]
    pub delivery_s: Option<f64>,
}

/// The frames of one direction of a connection: `frames = skipped + whole + lost + unfinished`.
///
/// The time of a frame is from the instant the application handed it over to the arrival of the last cell of its last
/// datagram.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "direction of frames", many = "frames", named = "{vc}")]
pub struct FrameSummary {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// Frames that the codec gave before the end of the run.
    #[row(unit = plain, adds = sum, heading = "all")]
    pub frames: u64,
    /// Left out by a sender that follows ACR.
    #[row(unit = plain, adds = sum, heading_if_any = "skipped")]
    pub skipped: u64,
    /// All datagrams arrived whole.
    #[row(unit = plain, adds = sum, heading = "whole")]
    pub whole: u64,
    /// A datagram is missing.
    #[row(unit = plain, adds = sum, heading = "lost")]
    pub lost: u64,
    /// Waiting at the sender or on their way at the end.
    #[row(unit = plain, adds = sum, heading = "unfinished")]
    pub unfinished: u64,
    /// Octets of the frames sent, as the codec gave them.
    #[row(unit = octets, adds = sum)]
    pub octets: u64,
    /// Mean time of whole frames; null, like all below, when there is none.
    #[row(unit = s, adds = mean(whole), heading = "mean time")]
    pub mean_time_s: Option<f64>,
    /// Median of the same, within 1 %.
    #[row(unit = s, adds = none)]
    pub p50_time_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    #[row(unit = s, adds = largest, heading = "p99 time")]
    pub p99_time_s: Option<f64>,
    /// Largest of the same.
    #[row(unit = s, adds = largest, heading = "max time")]
    pub max_time_s: Option<f64>,
    /// Datagrams that arrived whole.
    #[row(unit = plain, adds = sum)]
    pub whole_datagrams: u64,
    /// Ends of datagrams that arrived without all that belongs before them.
    #[row(unit = plain, adds = sum)]
    pub spoiled_datagrams: u64,
}

/// A single frame that was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "frame", many = "frames", named = "{vc} #{number}")]
pub struct FrameRow {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// From 1; frames left out count too.
    #[row(name)]
    pub number: u64,
    /// When the application handed it over.
    #[row(unit = s, adds = none)]
    pub at_s: f64,
    /// As the codec gave it.
    #[row(unit = octets, adds = sum)]
    pub octets: u32,
    /// The length of all its datagrams.
    #[row(unit = cells, adds = sum)]
    pub cells: u32,
    /// When its last cell left the source; null when it had not by the end.
    #[row(unit = s, adds = none)]
    pub left_s: Option<f64>,
    /// Arrival of its last cell; null for a frame that is not whole.
    #[row(unit = s, adds = none)]
    pub arrived_s: Option<f64>,
    /// Whether a datagram is missing.
    pub lost: bool,
}

/// A recorded series.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name of the quantity: "acr", "queue", ...
    pub probe: String,
    /// The VC or port by its name ("sw1->sw2").
    pub entity: String,
    /// Unit of the values: "cells/s", "cells", "".
    pub unit: &'static str,
    /// Instants, never falling [ps since the start].
    pub times_ps: Vec<u64>,
    /// One value per instant. A series taken at every change starts at 0, and each value holds until the next.
    pub values: Vec<f64>,
}
