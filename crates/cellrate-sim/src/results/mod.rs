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
pub use cellrate_engine::branch_point::BranchPointSummary;
pub use cellrate_engine::channels::ChannelSummary;
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
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Clocks that are not exact, hosts before links.
    pub clocks: Vec<ClockSummary>,
    /// Ports where a tie, or a phase that never changes, decided which of several like connections lost cells.
    pub phase_effects: Vec<PhaseEffectSummary>,
    /// Ports whose algorithm cannot settle, by its own rule, or has not, by what the run shows.
    pub unsettled: Vec<UnsettledSummary>,
}

/// A host's port at which more than a thousand cells still wait when the run ends: its connections send faster
/// together than its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostBottleneck {
    /// The port, "a->b".
    pub port: String,
    /// Cells that wait there at the end.
    pub waiting: u64,
}

/// A row over a window of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Windowed<T> {
    /// Name of the window.
    pub window: String,
    /// The first instant that counts \[s\].
    pub from_s: f64,
    /// The first instant that does not count any more \[s\].
    pub until_s: f64,
    /// The row.
    #[serde(flatten)]
    pub row: T,
}

/// The run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of all randomness.
    pub seed: u64,
    /// Network time \[s\].
    pub duration_s: f64,
    /// The end of the warm-up: figures of all rows are those from then on to the end \[s\].
    pub measured_from_s: f64,
    /// Transmissions of a cell over a link, all links, in the whole run.
    pub cell_hops: u64,
    /// Events that the schedule took.
    pub events: u64,
}

/// A TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TcpSummary {
    /// As in [`FlowSummary::vc`].
    pub vc: String,
    /// Its number on the VC, from 1 on.
    pub connection: u16,
    /// When its application handed over its data \[s\].
    pub start_s: f64,
    /// When the last octet of a sized transfer was acknowledged \[s\]; null before that, and for transfers without end.
    pub completed_s: Option<f64>,
    /// Octets that reached the application of the receiver, in order and once \[octets\].
    pub delivered_octets: u64,
    /// Octets of which the sender knows that they did \[octets\].
    pub acknowledged_octets: u64,
    /// `delivered_octets` over the time from `start_s` to `completed_s` or the end of the run [bit/s].
    pub goodput_bps: f64,
    /// Segments handed to the adapter, those sent again included \[segments\].
    pub segments: u64,
    /// Payload in them \[octets\].
    pub offered_octets: u64,
    /// Segments sent again \[segments\].
    pub retransmitted: u64,
    /// Payload in them \[octets\].
    pub retransmitted_octets: u64,
    /// Times that the retransmission timer expired.
    pub timeouts: u64,
    /// Times that duplicate ACKs made it send again.
    pub fast_retransmits: u64,
    /// Segments that came to the receiver with their packet marked (CE).
    pub marked: u64,
    /// Times that marks had the sender reduce its window (ECN).
    pub reductions: u64,
    /// Tail loss probes sent (RFC 8985).
    pub probes: u64,
    /// DCTCP's estimate of the share of octets that are marked [0 to 1], with DCTCP.
    pub alpha: Option<f64>,
    /// Acknowledged over offered octets less those still outstanding for the first time [0 to 1]; null when nothing was
    /// acknowledged. Paper stop-and-go's TCP efficiency.
    pub efficiency: Option<f64>,
    /// cwnd at the end \[octets\].
    pub final_cwnd: u64,
    /// Smoothed round-trip time at the end \[s\]; null without a measurement.
    pub smoothed_rtt_s: Option<f64>,
    /// PDUs of the VC's direction that found no room in the adapter, of all its connections.
    pub adapter_drops: u64,
    /// Most cells that waited in the adapter \[cells\].
    pub max_adapter_queue: u64,
    /// PDUs of the VC's direction that arrived whole, of all its connections.
    pub whole_pdus: u64,
    /// PDUs of it that arrived with cells missing.
    pub spoiled_pdus: u64,
}

/// An object of the pages that a client fetched over TCP, all times that it was fetched together.
///
/// The response time is what the client's application sees: from the object's turn, the opening of its connection
/// included, to the last octet of the response. The response time from cell to cell is what an analyzer at the client
/// sees: from the first cell of the request, when its last bit has left, to the arrival of the last cell of the
/// response (paper internet-applications, section 3.3).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExchangeSummary {
    /// Name of the VC.
    pub vc: String,
    /// The client's number on the VC, from 1 on.
    pub client: u16,
    /// The object's place in the page, from 1 on.
    pub object: u32,
    /// Size of the request \[octets\].
    pub request_octets: u64,
    /// Size of the response \[octets\].
    pub response_octets: u64,
    /// Times that it came whole.
    pub count: u64,
    /// Mean response time \[s\]; null, like all below, when none came whole.
    pub mean_response_s: Option<f64>,
    /// Standard deviation of the same, over `count` - 1; 0 of a single one.
    pub deviation_response_s: Option<f64>,
    /// Median of the same, within 1 %.
    pub p50_response_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    pub p99_response_s: Option<f64>,
    /// Largest of the same.
    pub max_response_s: Option<f64>,
    /// Mean response time from cell to cell \[s\].
    pub mean_cell_response_s: Option<f64>,
    /// Standard deviation of the same.
    pub deviation_cell_response_s: Option<f64>,
    /// Median of the same, within 1 %.
    pub p50_cell_response_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    pub p99_cell_response_s: Option<f64>,
    /// Largest of the same.
    pub max_cell_response_s: Option<f64>,
}

/// The pages of a client: from the first object's turn to the last object's last octet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageSummary {
    /// Name of the VC.
    pub vc: String,
    /// The client's number on the VC, from 1 on.
    pub client: u16,
    /// Pages that came whole.
    pub count: u64,
    /// Mean time of a page \[s\]; null, like all below, when none came whole.
    pub mean_load_s: Option<f64>,
    /// Standard deviation of the same, over `count` - 1; 0 of a single one.
    pub deviation_load_s: Option<f64>,
    /// Median of the same, within 1 %.
    pub p50_load_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    pub p99_load_s: Option<f64>,
    /// Largest of the same.
    pub max_load_s: Option<f64>,
}

/// A single object that a client fetched, or was waiting for at the end of the run. What had not happened by then is
/// null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExchangeRow {
    /// Name of the VC.
    pub vc: String,
    /// The client's number on the VC, from 1 on.
    pub client: u16,
    /// Which of the client's TCP connections, one after the other, from 1 on.
    pub connection: u32,
    /// The page, from 1 on.
    pub page: u64,
    /// The object's place in it, from 1 on.
    pub object: u32,
    /// When its turn came: a connection that had to be opened was opened then \[s\].
    pub start_s: f64,
    /// When the connection was open and the request could leave \[s\].
    pub opened_s: Option<f64>,
    /// When the last bit of the request's first cell had left the client's adapter \[s\].
    pub request_cell_s: Option<f64>,
    /// When the request was whole at the server \[s\].
    pub request_delivered_s: Option<f64>,
    /// When the last cell of the response, or of what of it was sent again, had left the server's adapter \[s\].
    pub response_departed_s: Option<f64>,
    /// When the first octet of the response reached the client's application \[s\].
    pub first_octet_s: Option<f64>,
    /// When the last did \[s\].
    pub last_octet_s: Option<f64>,
    /// From `start_s` to `last_octet_s` \[s\].
    pub response_s: Option<f64>,
    /// From `request_cell_s` to `last_octet_s` \[s\].
    pub cell_response_s: Option<f64>,
}

/// Flows or calls that come and go: `offered = begun + no_room + no_slot`, of those that arrived from the end of the
/// warm-up on and whose set-up was over before the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DemandSummary {
    /// Name of the demand.
    pub flows: String,
    /// That arrived.
    pub offered: u64,
    /// That began.
    pub begun: u64,
    /// Blocked, because a link had no room for what they ask for.
    pub no_room: u64,
    /// Blocked, because all connections of the pair were taken.
    pub no_slot: u64,
    /// Probability of being blocked: those blocked over `offered`; null when nothing was offered.
    pub blocking: Option<f64>,
    /// Flows of a size that are complete: all of their datagrams have come; null for calls.
    pub completed: Option<u64>,
    /// Mean time from the arrival of those that began to their first data, what set-up took \[s\]; null when none
    /// began.
    pub mean_set_up_s: Option<f64>,
    /// Largest of the same.
    pub max_set_up_s: Option<f64>,
    /// Mean holding time of calls that began, beyond the end of the run too \[s\]; null for flows of a size, and when
    /// none began.
    pub mean_holding_s: Option<f64>,
    /// Time-weighted mean of how many were under way, those that had begun in the warm-up among them: for calls the
    /// traffic carried, in erlangs. They count from their first data on: calls for their holding time, flows of a size
    /// until all of them has come, or, without TCP, the last datagram of them or of a later one on their connection.
    pub mean_concurrent: f64,
    /// The most at once, as soon as they are for any time.
    pub max_concurrent: u64,
}

/// Flows of a size of one class of sizes that arrived from the end of the warm-up on: `offered = blocked + count +
/// unfinished`. Times are those of complete flows, from their arrival, set-up included, to the arrival of their last
/// cell; null where there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompletionSummary {
    /// Name of the demand.
    pub flows: String,
    /// The least size of the class \[octets\].
    pub from_octets: u64,
    /// The first size that is too large for it \[octets\]; null for that without one.
    pub below_octets: Option<u64>,
    /// That arrived, and whose set-up was over before the end of the run.
    pub offered: u64,
    /// Blocked, because all connections of the pair were taken.
    pub blocked: u64,
    /// That are complete.
    pub count: u64,
    /// That are under way at the end of the run, or, without TCP, have lost a datagram.
    pub unfinished: u64,
    /// Mean size of complete ones \[octets\].
    pub mean_octets: Option<f64>,
    /// Mean time \[s\].
    pub mean_time_s: Option<f64>,
    /// Median of the same, within 1 %.
    pub p50_time_s: Option<f64>,
    /// 95th percentile of the same, within 1 %.
    pub p95_time_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    pub p99_time_s: Option<f64>,
    /// Largest of the same.
    pub max_time_s: Option<f64>,
    /// Mean slow-down: the time over that which the flow's cells would take alone at the peak rate, without RM cells.
    pub mean_slowdown: Option<f64>,
    /// Median of the same, within 1 %.
    pub p50_slowdown: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    pub p99_slowdown: Option<f64>,
    /// Distribution of the times: how many flows took at most each; a table of its own beside the rows.
    #[serde(skip)]
    pub times: Vec<(Duration, u64)>,
}

/// The bursts of one direction of a connection with request-response traffic (paper uili, section 7.2).
///
/// The response time of a burst is from the arrival of its first cell at the adapter of its sender to the departure of
/// its last cell from there, the last bit; its effective throughput is its cells, 53 octets each, over that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BurstSummary {
    /// As in [`FlowSummary::vc`].
    pub vc: String,
    /// "request" or "response".
    pub role: &'static str,
    /// Length of each burst \[cells\].
    pub size_cells: u32,
    /// Bursts that have left whole.
    pub count: u64,
    /// Mean response time \[s\]; null, like all below, when no burst has left whole.
    pub mean_response_s: Option<f64>,
    /// Median of the same, within 1 %.
    pub p50_response_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    pub p99_response_s: Option<f64>,
    /// Largest of the same.
    pub max_response_s: Option<f64>,
    /// Mean over the bursts of effective throughput [bit/s].
    pub mean_throughput_bps: Option<f64>,
    /// Median of the same, within 1 %.
    pub p50_throughput_bps: Option<f64>,
    /// The effective throughput that 99 % of the bursts have at least, within 1 % [bit/s].
    pub p1_throughput_bps: Option<f64>,
}

/// A single burst.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Burst {
    /// As in [`FlowSummary::vc`].
    pub vc: String,
    /// "request" or "response".
    pub role: &'static str,
    /// Counted from 1 in its direction.
    pub number: u64,
    /// Its length \[cells\].
    pub size_cells: u32,
    /// When its first cell arrived at the adapter of its sender \[s\].
    pub start_s: f64,
    /// From then to the departure of its last cell \[s\].
    pub response_s: f64,
    /// Cells, 53 octets each, over `response_s` [bit/s].
    pub throughput_bps: f64,
    /// From `start_s` to the arrival of its last cell at the other end \[s\]; null when it had not arrived at the end
    /// of the run.
    pub delivery_s: Option<f64>,
}

/// The frames of one direction of a connection: `frames = skipped + whole + lost + unfinished`.
///
/// The time of a frame is from the instant the application handed it over to the arrival of the last cell of its last
/// datagram.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameSummary {
    /// As in [`FlowSummary::vc`].
    pub vc: String,
    /// Frames that the codec gave.
    pub frames: u64,
    /// Left out by a sender that follows ACR.
    pub skipped: u64,
    /// All datagrams arrived whole.
    pub whole: u64,
    /// A datagram is missing, by the end of the run.
    pub lost: u64,
    /// Waiting at the sender or on their way when the run ended.
    pub unfinished: u64,
    /// Octets of the frames sent, as the codec gave them \[octets\].
    pub octets: u64,
    /// Mean time of whole frames \[s\]; null, like all below, when there is none.
    pub mean_time_s: Option<f64>,
    /// Median of the same, within 1 %.
    pub p50_time_s: Option<f64>,
    /// 99th percentile of the same, within 1 %.
    pub p99_time_s: Option<f64>,
    /// Largest of the same.
    pub max_time_s: Option<f64>,
    /// Datagrams that arrived whole.
    pub whole_datagrams: u64,
    /// Ends of datagrams that arrived without all that belongs before them.
    pub spoiled_datagrams: u64,
}

/// A single frame that was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameRow {
    /// As in [`FlowSummary::vc`].
    pub vc: String,
    /// Counted from 1; those left out count too.
    pub number: u64,
    /// When the application handed it over \[s\].
    pub at_s: f64,
    /// As the codec gave it \[octets\].
    pub octets: u32,
    /// The length of all its datagrams \[cells\].
    pub cells: u32,
    /// When its last cell left the source \[s\]; null when it had not by the end of the run.
    pub left_s: Option<f64>,
    /// When the last of its datagrams arrived \[s\]; null for one that did not arrive whole.
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
