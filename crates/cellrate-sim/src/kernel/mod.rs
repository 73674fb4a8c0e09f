//! The kernel: exact order of events, at the cost of a few nanoseconds per cell and hop.
//!
//! # The design on a page
//!
//! ```text
//!  windows   when each cluster runs, on which thread, and what clusters exchange     (scheduler, exchange)
//!     |
//!  events    the loop over events of one cluster, and what each does         build    how a cluster is put together
//!     |
//!  passes    cells that are no events, many at a time:
//!     |        sources    cells that hosts will send: folded trains, shared hosts, ahead of time
//!     |        deferred   cells that come to ports before these are looked at: before another cluster, before a host
//!     |        sampling   values of series
//!     |        becn, virtual_end, branch_point   cells that switches send  police   cells that they check
//!     |        opening, completions   flows and calls that come and go     pause, census   counts before the end
//!     |
//!  state     what a cluster is made of: ports, lanes, feeds, ends, outboxes
//!     |
//!  ports     queues before a link, what comes to them in which order (merge), and what they count
//!  lanes     cells on links, packed or not     hop    a link of a connection's way     leaf    a key of the schedule
//!     |
//!  below the kernel: ends of connections, what they send, TCP, runs of cells (stretch), the cell
//! ```
//!
//! Each layer uses those below it. A cell goes this way:
//!
//! ```text
//! source              switch                                              host
//! sources --> lanes --> events (an event) --> port --> lanes --> ... --> endpoint
//!                \----> deferred (none) ---/    |
//!                                                \--> windows (another cluster) --> lanes
//! ```
//!
//! The [strategy](ports::drain_strategy) of the pass before a port depends on its queues and on where its link leads:
//!
//! ```text
//! queues                before another cluster                         before a switch      before a host
//! FIFO                  before_cluster; turns (one rate), sorted       onward               before_host, awaited
//!                       (very many sources)
//! ranked                ranked                                         (each departure is an event)
//! served                served; one by one where control counts        (each departure is an event)
//! FIFO of a host        sources/shared_host
//! ```
//!
//! The specification is `tests/reference`, a kernel with one heap and an event for each step; `tests/differential.rs`
//! compares the results of the two. Of this kernel, read [`events`] first (the loop over events, and what each does),
//! then [`hop`] (what a cell does at each link), [`lanes::lane`] (cells on a link) and [`deferred`] (cells that are no
//! events). A cluster could run with events alone: each pass, a file of its own, is a shortcut to the same result.
//!
//! # What an event is
//!
//! No cell is ever an entry of a queue of events. A cell on a link waits in a ring, stamped with its arrival; the
//! schedule knows of each [`lane`](lanes::lane) the first cell that has to be an event, the next cell of each source
//! and the next departure of some ports that keep real queues ([`leaf`]). Most ports keep none: the
//! departure of a cell follows from the backlog that it finds. And most data cells are no events either:
//!
//! - a source whose cells depend on its traffic alone sends them long before their time ([`ahead`](sources::ahead));
//! - between two RM cells, or within a PDU at a peak rate, any other source with a link to itself sends a train, worked
//!   out as one ([`folding`](sources::folding), [`feed`](state::feed));
//! - where several sources share a link, their cells are merged in the order of their transmissions when the port
//!   behind it is looked at ([`shared_host`](sources::shared_host));
//! - data cells on their way to a port whose departures need not be known yet, and FRMs if that port leads to another
//!   cluster, are handled when the port is looked at ([`deferred`], [`merge`](ports::merge)), many at a time as its
//!   [strategy](ports::drain_strategy) allows;
//! - where sources of one rate share such a port, their cells come in turn, and whole rounds are dealt with at once
//!   ([`turns`](deferred::turns), [`stretch`](crate::stretch));
//! - where very many sources share one, at whatever rates, all their cells of a window are sorted at once
//!   ([`sorted`](deferred::sorted));
//! - where such a port keeps real queues, departures are caught up with on the way ([`served`](deferred::served),
//!   [`ranked`](deferred::ranked));
//! - so are data cells on their way to a port from switch to switch within the cluster, if all that leaves it goes on
//!   by ports that are deferred ([`onward`](deferred::onward));
//! - FRMs and ends of PDUs on their way to a port before a host are events behind it, and not also before
//!   ([`awaited`](deferred::awaited));
//! - on its last link a data cell is counted as soon as its arrival is known ([`state::cluster`]).
//!
//! Where a switch sends cells that cannot be known of beforehand, because it segments control loops ([`virtual_end`]),
//! originates BRMs ([`becn`]) or copies cells to the branches of a tree ([`branch_point`]), every arrival is an event;
//! so is the arrival of a cell that a switch polices ([`police`]).
//!
//! # Order at the same instant
//!
//! 1. changes of lines, in the order of the ports before them;
//! 2. departures from served ports, in the order of the ports;
//! 3. samples of series;
//! 4. arrivals over links, in the order of the ports they left;
//! 5. beginnings of flows and calls ([`opening`]), in the order of the demands and of their pairs, forward before
//!    backward;
//! 6. BRMs that congested destinations originate, in the order of the connections, forward before backward by the
//!    direction that the end sends;
//! 7. transmissions of sources, in the order of the connections, forward before backward; then those of [virtual
//!    ends](virtual_end), in the order of the connections and of their paths;
//! 8. timers of TCP, in the same order. A segment that arrives is dealt with at the arrival of its last cell;
//! 9. on each line that was idle and to which cells came, a transmission begins: of the cell whose turn it is among all
//!    that came at the instant, the highest category first. The order of entries in a file gives no advantage.
//!
//! A line that becomes free while cells wait takes the next of them at once (2), before what arrives at that instant.
//!
//! A port's order is that of its [index](cellrate_scenario::PortIndex). An averaging interval that ends at an instant
//! ends after the departures and samples and before the arrivals of that instant. Events at or after the end of the run
//! do not happen.
//!
//! # Clusters and windows
//!
//! Nodes joined by short links form a [`cluster`](state::cluster) with a schedule of its own. The links between
//! clusters have a useful delay, and nothing that leaves one cluster within a window no longer than the smallest of
//! these delays can arrive in another within the same window: a cell that comes to a port reaches the far end a cell
//! time and the delay later, or later still. So each cluster runs by itself to the end of a window, as soon as its
//! neighbours have run the one before and handed over the cells that they sent in it ([`scheduler`],
//! [`exchange`](windows::exchange)); in a large network its state is fetched into the caches first
//! ([`prefetch`](windows::prefetch)). No event is missed, and as only events of one node can touch one another at the
//! same instant, the result is the same as with a single schedule, to the last bit; and whichever threads the clusters
//! run on.

// The page above is for who works on the kernel, and leads into its private modules.
#![allow(rustdoc::private_intra_doc_links)]

pub(crate) mod becn;
pub(crate) mod branch_point;
pub(crate) mod build;
pub(crate) mod census;
pub(crate) mod completions;
pub(crate) mod deferred;
pub(crate) mod events;
pub(crate) mod hop;
pub(crate) mod lanes;
pub(crate) mod leaf;
pub(crate) mod loopback;
pub(crate) mod opening;
pub(crate) mod pause;
pub(crate) mod police;
pub(crate) mod ports;
pub(crate) mod readings;
pub(crate) mod sampling;
pub(crate) mod sources;
pub(crate) mod state;
pub(crate) mod virtual_end;
pub(crate) mod windows;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use cellrate_proto::{Duration, Time};

use crate::error::RunError;
use crate::mechanisms::{Mechanism, Mechanisms};
use crate::progress::Progress;
use state::cluster::Cluster;
use windows::exchange::Exchange;
use windows::scheduler::{self, Windows};
use windows::serial::Serial;

/// A network at work.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub clusters: Vec<Cluster>,
    /// Ends of connections with TCP in different clusters: where PDUs leave, and where they arrive, as (cluster,
    /// endpoint).
    pub conduits: Vec<[(usize, usize); 2]>,
    /// Length of time that clusters may run by themselves.
    pub window: Duration,
    pub mechanisms: Mechanisms,
    /// The end of the run.
    pub end: Time,
    /// Instant before which everything has happened.
    now: Time,
    /// Exchange of cells between clusters, once they have run.
    exchange: Option<Exchange>,
}

/// A watcher, which is called between windows with the end of the last one and the clusters.
pub(crate) type Watch<'a> = dyn FnMut(Time, &mut [Cluster]) -> ControlFlow<()> + 'a;

/// Windows in a round: as many clusters are at work in turn, and have room in a second-level cache together even where
/// each has a hundred connections that begin there.
const WINDOWS_PER_ROUND: u64 = 3;

impl Kernel {
    /// Makes a kernel at time zero, for a run up to `end`.
    pub fn new(
        clusters: Vec<Cluster>,
        conduits: Vec<[(usize, usize); 2]>,
        window: Duration,
        end: Time,
        mechanisms: Mechanisms,
    ) -> Kernel {
        Kernel { clusters, conduits, window, mechanisms, end, now: Time::ZERO, exchange: None }
    }

    /// Runs on to `until`, on so many threads as there are clusters for, but not more than `threads`. Every count is
    /// exact for that instant then: what happens before it has happened, and nothing else.
    pub fn run(
        &mut self,
        until: Time,
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), RunError> {
        let windows_per_round =
            if self.mechanisms.has(Mechanism::WindowRounds) { WINDOWS_PER_ROUND } else { 1 };
        self.run_windows(until, threads.get(), windows_per_round, progress, &mut |_, _| {
            ControlFlow::Continue(())
        })
    }

    /// Runs on to `until` on one thread, where `watch` looks at the clusters after every window; a break ends the run.
    pub fn run_watched(
        &mut self,
        until: Time,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        watch: &mut Watch<'_>,
    ) -> Result<(), RunError> {
        self.run_windows(until, 1, 1, progress, watch)
    }

    /// Has the clusters go on towards `next` where they have [run](Kernel::run) to an instant before.
    pub fn resume(&mut self, next: Time) {
        self.clusters.iter_mut().for_each(|cluster| cluster.resume(next));
    }

    fn run_windows(
        &mut self,
        until: Time,
        threads: usize,
        windows_per_round: u64,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        watch: &mut Watch<'_>,
    ) -> Result<(), RunError> {
        self.check_length()?;
        let (window, start, end) = (self.window, self.now, self.end);
        let mut now = start;
        let goes_on = &mut |clusters: &mut [Cluster]| {
            if watch(now, clusters).is_break() {
                return false;
            }
            let fraction = now.as_ps() as f64 / end.as_ps() as f64;
            now = now.saturating_add(window).min(until);
            progress(Progress { fraction }).is_continue()
        };
        let exchange = match self.exchange.take() {
            Some(exchange) => exchange,
            None => Exchange::new(&mut self.clusters, &self.conduits, self.mechanisms),
        };
        let windows = Windows { start, end: until, length: window, windows_per_round };
        if !scheduler::run(&mut self.clusters, &exchange, windows, threads, goes_on) {
            return Err(RunError::Interrupted);
        }
        self.settle(&exchange, until);
        self.exchange = Some(exchange);
        Ok(())
    }

    /// Prepares a run to `until` whose windows the caller runs one by one.
    pub fn serial(&mut self, until: Time) -> Result<Serial, RunError> {
        self.check_length()?;
        let exchange = Exchange::new(&mut self.clusters, &self.conduits, self.mechanisms);
        Ok(Serial::new(exchange, self.windows(until)))
    }

    /// The windows from where it has got to `until`, for one thread.
    pub fn windows(&self, until: Time) -> Windows {
        Windows { start: self.now, end: until, length: self.window, windows_per_round: 1 }
    }

    /// Settles the run when all windows up to `until` have been run: from now on counts are exact for that instant.
    pub fn settle(&mut self, exchange: &Exchange, until: Time) {
        self.clusters.iter_mut().for_each(|cluster| cluster.settle(until));
        if until == self.end {
            self.clusters.iter_mut().for_each(|cluster| cluster.finish(until));
        }
        exchange.settle(&mut self.clusters);
        self.now = until;
    }

    /// Whether the clusters can run until the end.
    pub(crate) fn check_length(&self) -> Result<(), RunError> {
        match self.clusters.iter().map(Cluster::last_instant).min() {
            Some(allowed) if self.end > allowed => {
                Err(RunError::TooLong { given_ps: self.end.as_ps(), allowed_ps: allowed.as_ps() })
            }
            _ => Ok(()),
        }
    }
}
