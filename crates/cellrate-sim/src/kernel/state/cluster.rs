//! A cluster: nodes that share one schedule, with their ports, their ends of connections and the links that come in.
//!
//! Everything that can happen has a fixed leaf in the schedule, in this order, which is also the order of events at the
//! same instant: departures from served ports, samples of series, arrivals over links, beginnings of flows and calls,
//! transmissions of sources, timers of TCP; within each kind in the order of the scenario. It is the same order
//! whatever the clusters are, because only events of one node can touch one another at the same instant, and a node is
//! in one cluster.
//!
//! Some events are not spent. The transmissions of a source that has its access link to itself are *folded*
//! ([`crate::kernel::sources::folding`]), or made [ahead of time](crate::kernel::sources::ahead). Data cells on their
//! way to a
//! *deferred* port wait until someone looks at it ([`crate::kernel::deferred`]). And a data cell on the last link of
//! its path is counted as soon as its arrival is known ([`Endpoint::receive`]), because nothing but the order of cells
//! matters there. All leave every instant exact; where a series wants to see every arrival as it happens, or the host
//! answers what arrives, arrivals are events after all ([`LaneEnd::Host`](crate::kernel::lanes::lane::LaneEnd::Host)).
//!
//! For TCP the cells of a PDU are put together in the order of the cells, too; only the last one of a whole PDU is an
//! event, because what the segment says counts from its instant on. Such cells, and FRMs, are
//! [awaited](crate::kernel::deferred::awaited) on the last link if nothing has to be done about them before.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellrate_engine::policing::Police;
use cellrate_engine::schedule::Schedule;
use cellrate_proto::Time;
use cellrate_scenario::FlowIndex;

use super::branch_points::BranchPoints;
use super::feed::Feed;
use super::openers::Openers;
use super::outbox::Outbox;
use super::sampled::Sampled;
use super::scratch::Scratch;
use super::segment_ends::SegmentEnds;
use crate::endpoint::Endpoint;
use crate::kernel::hop::Hop;
use crate::kernel::lanes::lane::Lane;
use crate::kernel::leaf::Leaf;
use crate::kernel::ports::Port;
use crate::kernel::ports::onward::Onward;
use crate::kernel::ports::shared_host::SharedHost;
use crate::kernel::state::departures::Departures;
use crate::mechanisms::Mechanisms;
use cellrate_engine::sampler::Sampler;

/// Length of a lane to a host above which it is emptied at the end of the window even without a look at it.
pub(in crate::kernel) const LONG: usize = 256;

/// A lane to a deferred port, and the end of a connection that sends [ahead](crate::kernel::sources::ahead) of time
/// over it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    pub lane: u32,
    pub source: u32,
}

/// Nodes with one schedule. Lists are in the order of the scenario.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub hops: Arc<[Hop]>,
    pub ports: Vec<Port>,
    pub lanes: Vec<Lane>,
    pub feeds: Vec<Feed>,
    pub endpoints: Vec<Endpoint>,
    pub outboxes: Vec<Outbox>,
    pub sampler: Sampler,
    pub(in crate::kernel) sampled: Sampled,
    /// Cells that leave tapped ports.
    pub departures: Option<Box<Departures>>,
    /// Cells lost in this cluster, by direction of a connection, where there were any.
    pub dropped: BTreeMap<FlowIndex, u64>,
    /// BRMs that switches originated in this cluster, by the direction that they go in, where there were any.
    pub originated: BTreeMap<FlowIndex, u64>,
    /// BRMs that [branch points](crate::kernel::branch_point) took in, by the direction that they came in, those of
    /// their branches left out.
    pub absorbed: BTreeMap<FlowIndex, u64>,
    /// Instant at and after which nothing happens: the end of the run, or the instant at which it pauses next.
    pub(in crate::kernel) end: Time,
    /// Instant before which the averaging intervals of all ports have ended.
    pub(in crate::kernel) intervals_ended: Time,
    pub(in crate::kernel) schedule: Schedule,
    pub(in crate::kernel) leaves: Vec<Leaf>,
    /// Deferred ports to other clusters, and those of which every change is recorded.
    pub(in crate::kernel) gateways: Vec<u32>,
    /// Deferred ports to hosts, or to switches of the cluster, with many cells before them.
    pub(in crate::kernel) crowded: Vec<u32>,
    pub(in crate::kernel) onward: Onward,
    pub(in crate::kernel) shared_hosts: Vec<SharedHost>,
    /// Their ports, where a source may send sooner than was known.
    pub(in crate::kernel) hastened: Vec<u32>,
    /// Sources that send ahead of time, in the order of their lanes.
    pub(in crate::kernel) ahead: Vec<Ahead>,
    /// Number of the first endpoint that is [virtual](crate::kernel::virtual_end); all behind it are, too.
    pub(in crate::kernel) first_virtual: usize,
    /// The hop of the other direction that leaves the same switch, by hops of ports that
    /// [originate](crate::kernel::becn) BRMs.
    pub(in crate::kernel) ways_back: BTreeMap<u32, u32>,
    /// Policers of cells that come to switches, where there are any.
    pub police: Box<Police>,
    /// Switches that copy cells, where some do.
    pub branching: Box<BranchPoints>,
    /// Switches at which loopback requests of segments are answered.
    pub segment_ends: Box<SegmentEnds>,
    /// Room to work in, which the thread that runs the cluster lends it.
    pub(in crate::kernel) scratch: Scratch,
    pub(in crate::kernel) departure_leaves: Vec<u32>,
    pub(in crate::kernel) sample_leaf: u32,
    pub(in crate::kernel) transmission_leaves: Vec<u32>,
    pub(in crate::kernel) timer_leaves: Vec<u32>,
    /// Openers of flows and calls, where there are any.
    pub openers: Box<Openers>,
    pub events: u64,
    /// Cells that came from other clusters, or left for them, since [`read_ahead`](Cluster::read_ahead).
    pub(in crate::kernel) moved: usize,
    pub(in crate::kernel) mechanisms: Mechanisms,
}

impl Cluster {
    /// The last instant that the schedule can hold.
    pub fn last_instant(&self) -> Time {
        Schedule::last_instant(self.leaves.len())
    }

    /// The run is over, and the cells that are still on their way have been counted: gives back what they take.
    pub fn forget_cells(&mut self) {
        self.lanes = Vec::new();
        self.feeds = Vec::new();
        self.outboxes = Vec::new();
        self.hops = Arc::new([]);
    }

    /// The run is over, and what there is to say of the ports has been said: gives back what they take.
    pub fn forget_ports(&mut self) {
        self.ports = Vec::new();
    }
}
