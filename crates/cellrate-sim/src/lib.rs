//! A simulator of ATM networks at the level of the single cell: exact, repeatable, fast.
//!
//! [`run`] takes a checked [`cellrate_scenario::Scenario`] and returns summary figures and series; [`Simulation`] does
//! so with an observer, or with switch algorithms, policies and traffic that are not built in. It drives the
//! same protocol values that a live testbed drives; it adds links, queues, traffic and a clock. How events are ordered,
//! and why clusters of nodes can run by themselves for a while, is in [`kernel`].

mod assembly;
mod backlog;
mod cell;
mod endpoint;
mod error;
mod explain;
mod feasible;
pub mod kernel;
#[doc(hidden)]
pub mod mechanisms;
mod progress;
pub mod results;
mod simulation;
mod steps;
mod stretch;
pub mod tap;
pub mod traffic;
pub mod transport;
mod watching;

pub use cellrate_engine::plugins::{
    AlgorithmPort, Algorithms, CustomKind, MissingPlugin, Plugins, Policies, SendingEnd, TrafficSources,
    Wanted,
};
pub use cellrate_engine::{noise, random};
pub use error::RunError;
pub use explain::{Explaining, Passage, RateStep, ReturnedCell, explainable};
pub use feasible::{Share, check, footprint};
pub use progress::Progress;
pub use results::{
    BeyondSignallingSummary, BranchPointSummary, Burst, BurstSummary, ChannelSummary, ClockSummary,
    CompletionSummary, DemandSummary, ExchangeRow, ExchangeSummary, FlowSummary, FrameRow, FrameSummary,
    HostBottleneck, LoopbackSummary, OverbookedSummary, PageSummary, PhaseEffectSummary, PolicingSummary,
    PortSummary, ReferenceRow, RunResult, RunSummary, Series, StartSummary, Summary, TcpSummary,
    TransportStreamSummary, UnkeptSummary, UnsettledSummary, VirtualSourceSummary,
};
pub use simulation::{Simulation, clusters_of, run, run_on, series_of};
pub use steps::{Passing, Step, Steps, Traveller};
pub use watching::{Look, Recent};
