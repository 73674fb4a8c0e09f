//! One output port's marking and explicit-rate computation, as the drivers call it.

use super::efci::EfciConfig;
use super::erica::EricaConfig;
use super::relative_rate::RelativeRateConfig;

/// What a port does about congestion. The default does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PortControlConfig {
    /// EFCI marking of data cells, beside the algorithm.
    pub efci: Option<EfciConfig>,
    /// What is written into backward RM cells.
    pub algorithm: SwitchAlgorithmConfig,
}

/// The algorithms there are, each with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum SwitchAlgorithmConfig {
    /// RM cells pass unchanged (default).
    #[default]
    None,
    /// CI and NI by a queue threshold.
    RelativeRate(RelativeRateConfig),
    /// ERICA and ERICA+.
    Erica(EricaConfig),
}

/// A port's control state.
#[derive(Clone, Debug)]
pub struct PortControl {}

/// Names of the figures an algorithm offers to probes.
pub type Metrics = &'static [&'static str];

/// What ERICA and ERICA+ offer: the load factor z, the number of active sources N, FairShare [cells/s], the capacity
/// handed out [cells/s] and MaxAllocPrevious [cells/s], in the order of [`super::SwitchAlgorithm::metrics`].
pub const ERICA_METRICS: Metrics = &["z", "n", "fair_share", "capacity", "max_alloc"];
