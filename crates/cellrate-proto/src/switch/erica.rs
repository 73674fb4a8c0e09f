//! ERICA and ERICA+ (Kalyanaraman, Jain, Fahmy, Goyal, Vandalore; IEEE/ACM ToN 8(1), 2000; ATM Forum 96-1172).

use super::averaging::{ActiveSources, LoadAveraging};
use super::meter::AveragingInterval;
use crate::units::Duration;

/// How much of the line ERICA hands out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueControl {
    /// ERICA: a fixed share of the line, less what higher categories use [above 0 to 1; default 0.9].
    TargetUtilization(f64),
    /// ERICA+: a share that falls as the queueing delay grows.
    QueueingDelay {
        /// T0, the queueing delay aimed at. Default 500 us.
        t0: Duration,
        /// a, the slope above T0 [above 1; default 1.15].
        a: f64,
        /// b, the share at an empty queue and the slope below T0 [above 1; default 1.05].
        b: f64,
        /// QDLF, queue drain limit factor, the smallest share [above 0 to 1; default 0.5].
        qdlf: f64,
    },
}

/// ERICA's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EricaConfig {
    /// Averaging interval. Default 5 ms.
    pub interval: AveragingInterval,
    /// Target utilization (ERICA) or queueing delay (ERICA+).
    pub queue_control: QueueControl,
    /// delta: z up to 1 + delta counts as no overload [0 to 1; default 0.1].
    pub delta: f64,
    /// How active sources are counted.
    pub active_sources: ActiveSources,
    /// How z is averaged.
    pub load_averaging: LoadAveraging,
    /// FairShare is lowered at once when a connection becomes active within an interval. Default false.
    pub immediate_fair_share: bool,
    /// CCR is measured (cells of the VC in the last interval over its length) instead of read from FRMs. Default false.
    pub measured_ccr: bool,
}

/// The algorithm.
#[derive(Clone, Debug)]
pub struct Erica {}
