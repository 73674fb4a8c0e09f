//! Options of a live run, which its scenario does not have.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::Arc;

use cellrate_engine::plugins::Plugins;
use cellrate_proto::{BitRate, Cells, Duration, Time};
use cellrate_scenario::{ConnectionIndex, Link, NodeIndex, Scenario};

use super::changes::Changes;
use super::device::PacketDevice;
use super::faults::Faults;
use super::offers::Offers;
use super::tap::CellTap;
use super::verdict::Thresholds;

/// A host whose packets are carried.
pub struct Host {
    /// The host in the scenario.
    pub node: NodeIndex,
    /// Where its packets come from and go to.
    pub device: Box<dyn PacketDevice>,
    /// The longest packet it is handed \[octets\]: its MTU.
    pub mtu: usize,
}

/// Packets that `host` sends to `destination` go over `connection`.
///
/// A connection with a route carries packets, both ways, and the scenario's traffic of it is not generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The sending host: one end of the connection.
    pub host: NodeIndex,
    /// The address of the other end's host.
    pub destination: Ipv4Addr,
    /// The connection between the two.
    pub connection: ConnectionIndex,
}

/// Which part of the scenario's network this process is.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Part {
    /// All nodes (default).
    #[default]
    Whole,
    /// Some nodes; the links to all others are datagrams.
    Nodes {
        /// Which.
        nodes: Vec<NodeIndex>,
        /// Where each node of the scenario receives datagrams; those at both ends of a link into another process are
        /// needed. The scenario's, where `None`.
        addresses: Option<Vec<Option<SocketAddr>>>,
    },
}

impl Part {
    /// Whether `node` is among them.
    pub fn has(&self, node: NodeIndex) -> bool {
        match self {
            Part::Whole => true,
            Part::Nodes { nodes, .. } => nodes.contains(&node),
        }
    }
}

/// How a live run is done. The defaults suit a scenario run as it is, in one process, with generated traffic.
pub struct Options<'a> {
    /// How often the engine wakes while cells are moving: everything that became due meanwhile happens then, at its own
    /// logical instant. Default the scenario's, and else by [`default_quantum`].
    pub quantum: Option<Duration>,
    /// The most logical time that is caught up with at once after a stall. What lies beyond is passed over: logical
    /// time is late by so much from then on, and the run fails its verdict. Default the scenario's.
    pub catch_up: Option<Duration>,
    /// Hosts with packets of their own.
    pub hosts: Vec<Host>,
    /// Over which connection their packets go; the first that fits counts.
    pub routes: Vec<Route>,
    /// Room in the queue of each adapter for packets on one connection \[cells\]. Default what the scenario says of
    /// each host.
    pub adapter_queue: Option<Cells>,
    /// Series are recorded at this interval of every ABR source's ACR and every switch port's queue and utilization,
    /// beside those that the scenario asks for. Default none.
    pub series_every: Option<Duration>,
    /// When the run begins [ns since the Unix epoch]: the same for all processes of a distributed run. Default at once.
    pub start_unix_ns: Option<u64>,
    /// This process's part of the network.
    pub part: Part,
    /// Whether datagrams carry the logical departure of each cell after the cells (8 octets each). Real gear does not
    /// take such datagrams. Without, instants follow from arrival and line rate. Default the scenario's.
    pub timestamps: Option<bool>,
    /// The run's nonce, the same for all its processes: datagrams without it are dropped, where the scenario has them
    /// stamped. Without one they are not stamped. Default none.
    pub nonce: Option<u64>,
    /// For tests.
    pub faults: Faults,
    /// Limits of the verdict on the run's timing.
    pub thresholds: Thresholds,
    /// Sees every cell.
    pub tap: Option<Box<dyn CellTap + 'a>>,
    /// Where ACRs are told to applications.
    pub offers: Option<Arc<Offers>>,
    /// Changes of links that are asked for while the network runs. Default none, and links change as the scenario says.
    pub changes: Option<Arc<Changes>>,
    /// Told about 20 times a second how far the run is, and while it waits for its start; may end it.
    pub progress: Option<Box<dyn FnMut(Progress) -> ControlFlow<Stop> + Send + 'a>>,
    /// Whether it is also told what series have recorded. Default false.
    pub watched: bool,
    /// Makes what is not built in. Default nothing.
    pub plugins: Plugins<'a>,
}

/// How a caller ends a run before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There is no result.
    Discard,
    /// The result is that of the time so far.
    Finish,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Share of the duration done [0 to 1].
    pub fraction: f64,
    /// Logical time: what series have recorded before it is theirs for good.
    pub now: Time,
    /// Values that series have got since the last time, where that [is asked for](Options::watched).
    pub recent: Vec<Recent>,
}

/// Values added to one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Recent {
    /// Its place in [`Outcome::series`](super::Outcome::series).
    pub series: usize,
    /// Instants \[ps\].
    pub times_ps: Vec<u64>,
    /// As many values.
    pub values: Vec<f64>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            quantum: None,
            catch_up: None,
            hosts: Vec::new(),
            routes: Vec::new(),
            adapter_queue: None,
            series_every: None,
            watched: false,
            start_unix_ns: None,
            part: Part::Whole,
            timestamps: None,
            nonce: None,
            faults: Faults::default(),
            thresholds: Thresholds::default(),
            tap: None,
            offers: None,
            changes: None,
            progress: None,
            plugins: Plugins::default(),
        }
    }
}

/// About twelve cell times of the fastest line, within 50 us and 500 us: 500 us at 10 Mb/s, 50 us at 149.76 Mb/s.
pub fn default_quantum(scenario: &Scenario) -> Duration {
    let fastest = scenario.links.iter().map(Link::fastest_rate).max().unwrap_or(BitRate::from_bps(0));
    let cells = fastest.cell_time().saturating_mul(12);
    cells.max(Duration::from_us(50)).min(Duration::from_us(500))
}

/// The routes of every connection that has an addressed host at each end and whose traffic `carries` accepts.
pub fn routes(
    scenario: &Scenario,
    addresses: &[(NodeIndex, Ipv4Addr)],
    carries: impl Fn(ConnectionIndex) -> bool,
) -> Vec<Route> {
    let address = |node: NodeIndex| addresses.iter().find(|(of, _)| *of == node).map(|&(_, address)| address);
    let mut routes = Vec::new();
    for (number, connection) in (0..).zip(&scenario.connections) {
        let (Some(&first), Some(&last)) = (connection.path.first(), connection.path.last()) else { continue };
        let ends = [scenario.tail(first), scenario.head(last)];
        let [Some(near), Some(far)] = ends.map(address) else { continue };
        if carries(ConnectionIndex(number)) {
            let connection = ConnectionIndex(number);
            routes.push(Route { host: ends[0], destination: far, connection });
            routes.push(Route { host: ends[1], destination: near, connection });
        }
    }
    routes
}
