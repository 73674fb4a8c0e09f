//! A resolved scenario: what a run is built from. Whoever holds one knows that it is sound: paths are connected,
//! parameters are in range, indices point at something.
//!
//! What many links, hosts or connections have alike, such as the settings of ports, they share.

mod application;
mod changing;
mod channel;
mod clock;
mod conditioning;
mod demand;
mod host;
mod index;
mod line;
mod live;
mod loopback;
mod measuring;
mod policing;
mod quantity;
mod queueing;
mod scone;
mod segmenting;
mod shared;
mod stationary;
mod tree;
mod vs_vd;

pub use application::*;
pub use changing::*;
pub use clock::*;
pub use conditioning::*;
pub use demand::*;
pub use host::*;
pub use index::*;
pub use line::*;
pub use live::*;
pub use loopback::*;
pub use measuring::*;
pub use policing::*;
pub(crate) use quantity::Owner;
pub use quantity::{DemandQuantity, FlowQuantity, FlowSource, PortQuantity, PortSource};
pub use queueing::*;
pub use scone::{Advised, SconeElements};
pub use segmenting::*;
pub use shared::*;
pub use tree::*;
pub use vs_vd::*;

pub use crate::demand::{Arrivals, Law, Traced};
pub use crate::plugin::{Custom, CustomAlgorithm, CustomParameter};
pub use crate::programs::{
    ApplicationKind, Command, Download, Ftp, Iperf3, LiveVideo, Ping, Player, Ready, Sending, Voice, Web,
};
use crate::text::written::Room;
pub use crate::traffic::{
    Adaptation, AdapterQueue, Channel, CongestionControl, ConnectionUse, Datagrams, DelayedAck, Estimator,
    FirstOfTrace, FollowAcr, FollowMeans, FrameLengths, FrameRate, FramesTraffic, GreedyWindow, IdleRestart,
    MAX_MSS, MAX_WINDOW, MOST_CHANNELS, MOST_PATHS, Mpeg2Decoder, Mpeg2Traffic, NoiseMethod, OutOfRange,
    PRESETS, Packing, PageObject, Pages, PartialAckTimer, Picture, Preset, RateControl, RateReduction,
    Recovery, RequestResponse, SlowStart, TIMESTAMPS_OCTETS, TcpConfig, TcpTraffic, TimeoutConfig, Traffic,
    TrafficKind, VideoTraffic,
};
pub use crate::values::{ClockOffset, Period};

use std::sync::Arc;

use cellrate_proto::admission::Book;
use cellrate_proto::declaration::{Table, words};
use cellrate_proto::destination::CongestedSpan;
use cellrate_proto::misbehaviour::Misbehaviour;
use cellrate_proto::switch::{FrameDiscardConfig, PacketMarkingConfig, PortControlConfig};
use cellrate_proto::uili::UiliConfig;
use cellrate_proto::{AbrParameters, BitRate, CellRate, Cells, Duration};

/// Everything a run needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Short name, used in names of files and in titles.
    pub name: String,
    /// One or more sentences: what the scenario is for.
    pub purpose: String,
    /// How long the network is watched \[s\]. Events at or after this instant do not happen.
    pub duration: Duration,
    /// Over which part of that figures count.
    pub measuring: Measuring,
    /// Seed of all randomness.
    pub seed: u64,
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Settings of the hosts in a live run, one for each; hosts come before switches among the nodes.
    pub hosts: Vec<HostSettings>,
    /// Duplex links.
    pub links: Vec<Link>,
    /// Virtual channel connections, both directions each. Where the scenario asks for admission, those admitted, with
    /// the parameters that set-up agreed on.
    pub connections: Vec<Connection>,
    /// Flows and calls that come and go; the connections that carry them are the last ones.
    pub demands: Arc<[Demand]>,
    /// Rates that all other connections have booked, where the scenario asks for admission.
    pub book: Book,
    /// Connections that admission or negotiation refused, in the order of the file. They do not run.
    pub refused: Vec<Refused>,
    /// Ports whose lines are promised more than once, where the scenario does not ask for admission.
    pub overbooked: Vec<Overbooked>,
    /// Ports that do not keep what is promised, whatever admission books.
    pub unkept: Vec<Unkept>,
    /// Parameters that negotiation changed, in the order it happened.
    pub negotiated: Vec<Negotiated>,
    /// Clocks that are not exact, hosts before links.
    pub clocks: Vec<Clock>,
    /// Series to record.
    pub probes: Vec<Probe>,
    /// How the network is run live.
    pub live: LiveSettings,
    /// Programs on the hosts; only a live run has any.
    pub applications: Vec<Application>,
}

/// A connection that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its name.
    pub vc: String,
    /// Its service category.
    pub category: Category,
    /// The direction, the link or node, and why, as a phrase.
    pub reason: String,
}

/// A port whose line is promised to its connections more than once.
#[derive(Clone, Debug, PartialEq)]
pub struct Overbooked {
    /// The port.
    pub port: PortIndex,
    /// Sum of MCRs of ABR, GFR and UBR, SCRs of VBR and PCRs of CBR [cells/s].
    pub promised: CellRate,
    /// Connections with a promise there.
    pub connections: usize,
}

/// A port at which others may take the place of promises.
#[derive(Clone, Debug, PartialEq)]
pub struct Unkept {
    /// The port.
    pub port: PortIndex,
    /// Queue or buffer that they share.
    pub shared: SharedBy,
    /// Category of `vc`.
    pub category: Category,
    /// Directions of connections whose promises are not kept.
    pub connections: usize,
    /// The connection of which the least part is kept.
    pub vc: String,
    /// Rate that it is promised [cells/s].
    pub promised: f64,
    /// Rate that is left for it in the long run [cells/s]; `None` where a buffer may leave nothing.
    pub left: Option<f64>,
    /// The connection that may bring most beyond what it is promised.
    pub other: String,
}

words! {
    /// Place that connections share at a port.
    #[derive(Hash)]
    pub enum SharedBy {
        /// Turns: of one queue, or of queues that do not go by promises.
        Queue = "queue",
        /// Room for cells that wait.
        Buffer = "buffer",
    }
}

/// One change of one parameter on the way of a connection's set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// Name of the connection.
    pub vc: String,
    /// Whether the direction from the last host of the path to the first is meant.
    pub backward: bool,
    /// The node that changed it; the sending host where it is the source itself.
    pub node: String,
    /// The parameter, in the standard's symbol, lower case.
    pub parameter: &'static str,
    /// Value before, with its unit.
    pub from: String,
    /// Value after, with its unit.
    pub to: String,
    /// Reason of the change, as a phrase.
    pub why: String,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique among hosts and switches.
    pub name: String,
    /// Which of the two.
    pub kind: NodeKind,
}

/// Kind of a node: host or switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// Sends and receives: connections begin and end here.
    Host,
    /// Forwards between output-buffered ports.
    Switch,
}

/// A duplex link: two nodes, one rate, one length, an output port at each end.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Tells it from the others where there are several between its nodes: its name, or "#2" for the second without
    /// one. `None` for a link that is alone between its nodes, and for the first without a name.
    pub label: Option<String>,
    /// The two nodes.
    pub ends: [NodeIndex; 2],
    /// Line rate at the beginning, the same both ways.
    pub rate: BitRate,
    /// One-way propagation delay at the beginning; 5 us per km where a length was given.
    pub delay: Duration,
    /// `ports[0]` is the output port of `ends[0]` towards `ends[1]`, `ports[1]` the other one.
    pub ports: [Arc<Port>; 2],
    /// Keys that no other table decides.
    pub line: LineKeys,
    /// Later states of the link: in order, each after the beginning. Empty for a link that never changes.
    pub changes: Arc<[LinkStep]>,
}

/// The output port of a node. The default is that of a host.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Port {
    /// Room for waiting cells.
    pub buffers: Buffers,
    /// Whether the buffer of GFR and UBR loses PDUs whole, and which.
    pub frame_discard: Option<FrameDiscardConfig>,
    /// Frame discard of the buffer of ABR.
    pub abr_frame_discard: Option<FrameDiscardConfig>,
    /// Frame discard of the buffer of CBR and VBR.
    pub guaranteed_frame_discard: Option<FrameDiscardConfig>,
    /// Which IP packets it marks, of connections with AAL5 PDUs.
    pub ecn: Option<PacketMarkingConfig>,
    /// How the cells that wait take turns.
    pub queueing: Queueing,
    /// When the RM cells of ABR connections have their turn.
    pub rm_cells: RmCells,
    /// Marking and explicit rate. Hosts have [`PortControlConfig::default`], which does nothing.
    pub control: PortControlConfig,
    /// An algorithm that is not built in; the one of `control` is none then.
    pub custom: Option<Arc<CustomAlgorithm>>,
    /// Where the control loops of the ABR connections that leave here are segmented (VS/VD): how they are coupled.
    pub vs_vd: Option<VsVd>,
}

impl Port {
    /// Frame discard of CBR and VBR, of ABR, and of GFR and UBR.
    pub fn frame_discards(&self) -> [Option<FrameDiscardConfig>; 3] {
        [self.guaranteed_frame_discard, self.abr_frame_discard, self.frame_discard]
    }

    /// Share of the line, above 0 to 1, that its algorithm hands out; all of it where the algorithm is not built in.
    pub fn target_utilization(&self) -> f64 {
        self.control.algorithm.target_utilization()
    }

    /// The most that control of ABR may tell a connection to send that leaves here; `None` where the port does not hold
    /// it to a rate. It is less than that rate by what is [left of the line](Port::target_utilization), and by a
    /// twentieth at least, so that a queue ends and the BRMs of the other direction have their place.
    pub fn told_of(&self, queue: &ConnectionQueue) -> Option<CellRate> {
        let shaped_to = queue.shaped_to.filter(|_| self.queueing.is_per_vc())?;
        Some(shaped_to * self.target_utilization().min(0.95))
    }

    /// Weight of what its algorithm leaves of that, as the share of one connection more [no unit, 0 or more].
    pub fn phantom_weight(&self) -> f64 {
        self.control.algorithm.phantom_weight()
    }

    /// Names of the figures that its algorithm offers to probes, in order.
    pub fn figures(&self) -> Vec<&str> {
        match &self.custom {
            Some(custom) => custom.figures.iter().map(String::as_str).collect(),
            None => self.control.algorithm.figures().iter().map(|figure| figure.name).collect(),
        }
    }
}

words! {
    /// When RM cells are transmitted (TM 4.0, 5.10.6: a switch may transmit them out of sequence with data cells). They
    /// are in the buffer of ABR in any case, and keep their order among themselves.
    #[derive(Default)]
    pub enum RmCells {
        /// In the order of arrival among the ABR data cells (default).
        #[default]
        InOrder = "in-order",
        /// Before every ABR data cell, after CBR and VBR.
        BeforeData = "before-data",
        /// Before everything.
        First = "first",
    }
}

/// Room for cells, the one in transmission included; a cell that finds none is lost. At one instant departures go
/// before arrivals, but instants are whole picoseconds and a cell's time on a line is rounded up: what is a tie by
/// calculation may find a cell that has not quite left. Where N sources of one cell every T come within CDVT, nothing
/// is lost with one cell more than N (1 + CDVT/T).
///
/// `None` is without limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(name = "buffers", written)]
pub struct Buffers {
    /// Room for CBR and VBR together.
    #[key(default = "infinite", as = Room)]
    pub guaranteed: Option<Cells>,
    /// Room for ABR.
    #[key(default = "infinite", as = Room)]
    pub abr: Option<Cells>,
    /// Room for GFR and UBR together.
    #[key(default = "infinite", as = Room)]
    pub ubr: Option<Cells>,
    /// Room for all of them together, in addition to their own limits.
    #[key(default = "infinite", as = Room)]
    pub shared: Option<Cells>,
    /// Room for cells with CLP = 1, which policers and sources set: they are lost while so many cells are in the port
    /// that leave before them, of their own category and, by strict priority, of higher ones. RM cells are let in all
    /// the same: a source at ACR 0 has no others than those out of rate, which have CLP = 1.
    #[key(default = "infinite", as = Room)]
    pub tagged: Option<Cells>,
}

impl Buffers {
    /// The most cells of CBR and VBR, of ABR, and of GFR and UBR that there can be.
    pub fn rooms(&self) -> [Option<Cells>; 3] {
        [self.guaranteed, self.abr, self.ubr].map(|room| room.into_iter().chain(self.shared).min())
    }
}

words! {
    /// The service categories; a port without weights for categories serves CBR and VBR before ABR and ABR before GFR
    /// and UBR.
    #[derive(PartialOrd, Ord, Hash, Default)]
    pub enum Category {
        /// Available bit rate (default).
        #[default]
        Abr = "abr",
        /// Constant bit rate.
        Cbr = "cbr",
        /// Variable bit rate.
        Vbr = "vbr",
        /// Guaranteed frame rate (TM 4.1).
        Gfr = "gfr",
        /// Unspecified bit rate.
        Ubr = "ubr",
    }
}

/// A virtual channel connection: one path, two directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// Unique among connections.
    pub name: String,
    /// Service category of both directions.
    pub category: Category,
    /// The links from the source host to the destination host, in order; at least one.
    pub path: Vec<Step>,
    /// Parameters of its queue at ports with queues for connections.
    pub queue: ConnectionQueue,
    /// From the first host of the path to the last.
    pub forward: Flow,
    /// From the last back to the first. An ABR connection without traffic this way still sends BRMs here.
    pub backward: Flow,
    /// Where its cells are held to its contract: forward before backward, each in the order of its way.
    pub policing: Vec<Policing>,
    /// OAM loopback cells that its ends send.
    pub loopbacks: Vec<Loopback>,
    /// Where it leaves another connection, if it is a branch of a tree; it follows that connection then, and its path
    /// begins at a switch.
    pub branch: Option<Branch>,
}

impl Connection {
    /// True if ports may discard whole PDUs of it, as set-up says (TM 4.0, 5.8).
    pub fn loses_whole_pdus(&self) -> bool {
        self.queue.frame_discard.unwrap_or(matches!(self.category, Category::Gfr | Category::Ubr))
    }

    /// Whether data goes this way: from traffic of its own, in answer to requests, as ACKs of the other way's TCP, or
    /// as copies on a branch of a tree.
    pub fn carries_data(&self, backward: bool) -> bool {
        let [own, other] = [self.flow(backward), self.flow(!backward)];
        let answers = backward && matches!(other.traffic, Some(Traffic::RequestResponse(_)));
        let is_copied = !backward && self.branch.is_some();
        is_copied || own.traffic.is_some() || answers || matches!(other.traffic, Some(Traffic::Tcp(_)))
    }

    /// Whether it carries, in a live run, the packets that its two hosts send each other: where neither direction has
    /// traffic of its own.
    pub fn carries_packets(&self) -> bool {
        self.branch.is_none() && self.forward.traffic.is_none() && self.backward.traffic.is_none()
    }

    /// Traffic of which an adapter takes the rate of its host's line for constant, if the connection has some.
    pub fn needs_constant_lines(&self) -> Option<&'static str> {
        [&self.forward, &self.backward].into_iter().find_map(|flow| match &flow.traffic {
            Some(Traffic::Tcp(_)) => Some("TCP"),
            Some(Traffic::RequestResponse(_)) => Some("request-response"),
            _ => None,
        })
    }

    /// Whether the only data that goes this way are ACKs of the other way's TCP.
    pub fn carries_only_acks(&self, backward: bool) -> bool {
        let [own, other] = [self.flow(backward), self.flow(!backward)];
        own.traffic.is_none() && matches!(&other.traffic, Some(Traffic::Tcp(tcp)) if tcp.pages.is_none())
    }

    /// Whether the data cells that go this way are those of AAL5 PDUs, whose ends they show: of TCP, frames in
    /// datagrams, transport streams, or the packets of a live run.
    pub fn carries_pdus(&self, backward: bool) -> bool {
        let has_tcp = |flow: &Flow| matches!(flow.traffic, Some(Traffic::Tcp(_)));
        has_tcp(&self.forward)
            || has_tcp(&self.backward)
            || matches!(
                self.flow(backward).traffic,
                Some(Traffic::Frames(_) | Traffic::Mpeg2(_) | Traffic::Transfers(_))
            )
            || self.carries_packets()
    }

    /// The pages that clients at the first host fetch from the last, over TCP.
    pub fn pages(&self) -> Option<&Pages> {
        match &self.forward.traffic {
            Some(Traffic::Tcp(tcp)) => tcp.pages.as_ref(),
            _ => None,
        }
    }
}

/// One link of a path, in the direction it is crossed: out of `link.ends[end]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The link.
    pub link: LinkIndex,
    /// Which of its ends the cell leaves from: 0 or 1.
    pub end: u8,
}

/// One direction of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// How the sending end is paced.
    pub sender: Sender,
    /// Traffic of this direction; `None` when nothing but, for ABR, RM cells goes this way.
    pub traffic: Option<Traffic>,
    /// Shaper and marker of a sender without feedback; `None` for most.
    pub conditioning: Option<Box<Conditioning>>,
}

impl Flow {
    /// The rate that it can keep up: SCR of a shaper, if there is one, else PCR.
    pub fn sustained(&self) -> CellRate {
        let shaping = self.conditioning.as_ref().and_then(|own| own.shaping);
        shaping.map_or(self.sender.pcr(), |shaping| shaping.scr.min(self.sender.pcr()))
    }
}

/// The rules a sending end obeys.
#[derive(Clone, Debug, PartialEq)]
pub enum Sender {
    /// The TM 4.0 source of an ABR connection.
    Abr(Arc<AbrSender>),
    /// CBR, VBR, GFR and UBR: no feedback; cells leave no faster than this peak rate.
    Peak(CellRate),
}

impl Sender {
    /// PCR for ABR, the peak rate otherwise.
    pub fn pcr(&self) -> CellRate {
        match self {
            Sender::Abr(abr) => abr.parameters.pcr,
            Sender::Peak(peak) => *peak,
        }
    }

    /// MCR for ABR, 0 otherwise.
    pub fn mcr(&self) -> CellRate {
        match self {
            Sender::Abr(abr) => abr.parameters.mcr,
            Sender::Peak(_) => CellRate::ZERO,
        }
    }

    /// Whether data cells carry RM values.
    pub fn is_in_band(&self) -> bool {
        matches!(self, Sender::Abr(abr) if abr.parameters.is_in_band())
    }

    /// ICR in force, which TBE / FRTT limits; the peak rate for other categories.
    pub fn icr(&self) -> CellRate {
        match self {
            Sender::Abr(abr) => abr.parameters.effective_icr(),
            Sender::Peak(peak) => *peak,
        }
    }
}

/// An ABR sending end and what the receiving end of its direction does.
#[derive(Clone, Debug, PartialEq)]
pub struct AbrSender {
    /// Parameters that set-up agreed on; checked.
    pub parameters: Arc<AbrParameters>,
    /// Weight in weighted max-min sharing, where switches [go by it](cellrate_proto::switch::Fairness). Default 1.
    pub weight: f64,
    /// Use-it-or-lose-it policy of the source.
    pub uili: UiliConfig,
    /// A policy that is not built in; `uili` is none then.
    pub custom_uili: Option<Arc<Custom>>,
    /// Cells of the leaky bucket before the source at the host ([`cellrate_proto::Source::bursting`]); 1 without one.
    pub mbs: u32,
    /// Rules that the source at the host breaks.
    pub misbehaviour: Misbehaviour,
    /// Whether the destination clears its EFCI state when it turns an FRM around (TM 4.0; default) or keeps it until a
    /// data cell changes it.
    pub clear_efci_state: bool,
    /// Treatment of a turned-around cell that still waits at the destination when the next FRM comes (rule 3).
    pub waiting_brm: WaitingBrm,
    /// Spans in which the destination itself is congested; in order, apart.
    pub congested: Arc<[CongestedSpan]>,
}

words! {
    /// Destination rule 3: the fate of the older turned-around cell.
    #[derive(Default)]
    pub enum WaitingBrm {
        /// The newer contents take its place (default).
        #[default]
        Overwrite = "overwrite",
        /// It leaves at once, out of rate (CLP = 1); the newer one waits in rate.
        SendOutOfRate = "out-of-rate",
    }
}

/// A series to record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Quantity that is recorded, and of what.
    pub quantity: Quantity,
    /// When.
    pub every: Every,
}

/// When a probe takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// At every change.
    Change,
    /// At multiples of this span, before whatever else happens at that instant.
    Interval(Duration),
}

impl Every {
    /// The span; `None` at every change.
    pub const fn interval(self) -> Option<Duration> {
        match self {
            Every::Change => None,
            Every::Interval(interval) => Some(interval),
        }
    }
}

/// Quantity with the thing that it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// A quantity of one direction of a connection.
    Flow {
        /// Which.
        quantity: FlowQuantity,
        /// The direction.
        flow: FlowIndex,
    },
    /// A quantity of a [virtual source](Port::vs_vd), one of those that [have an end of their
    /// own](FlowQuantity::is_of_virtual_source).
    VirtualSource {
        /// Which; [`FlowQuantity::SourceQueue`] is the per-VC queue.
        quantity: FlowQuantity,
        /// The direction that it sends.
        flow: FlowIndex,
        /// Where it is.
        switch: NodeIndex,
    },
    /// A quantity of an output port.
    Port {
        /// Which.
        quantity: PortQuantity,
        /// The port.
        port: PortIndex,
    },
    /// A quantity of the flows or calls of a demand.
    Demand {
        /// Which.
        quantity: DemandQuantity,
        /// An index into the [demands](Scenario::demands).
        demand: u32,
    },
}
