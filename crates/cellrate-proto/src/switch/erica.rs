//! ERICA and ERICA+ (Kalyanaraman, Jain, Fahmy, Goyal, Vandalore; IEEE/ACM ToN 8(1), 2000; ATM Forum 96-1172).
//!
//! At the end of an averaging interval the port knows the load factor z = ABR input rate / capacity and N, the number of
//! active connections. A BRM then gets the larger of an equal share, FairShare = capacity / N, and of what would bring
//! the whole load to the capacity if everyone scaled alike, VCShare = CCR / z; without overload also at least the
//! largest rate handed out in the last interval, which is what makes shares equal.
//!
//! Where the published description is open:
//! - Before the first interval ends: nothing is known of the load, so that N = 1, z = 0, capacity is that of an idle
//!   line, and MaxAlloc is FairShare.
//! - An interval without input: z = 0 and VCShare is infinite, or 0 for a connection of CCR 0; ER is limited by the
//!   capacity in the end.
//! - No capacity: z is infinite, whatever the input, and ER is 0. Averages leave such a z out
//!   ([`LoadAveraging::Ratio`]).
//! - FairShare and the limit on ER use the interval's own capacity, also when z is averaged.
//! - MCR and weights are not looked at: ERICA shares equally. A source keeps its MCR whatever the ER.

use alloc::vec::Vec;

use super::averaging::{ActiveCount, ActiveSources, LoadAveraging, LoadFactor};
use super::meter::{AveragingInterval, IntervalLoad, Meter, Metering};
use super::{Feedback, Metrics, Slot, SwitchAlgorithm, VcAtPort};
use crate::parameters::{ParameterError, in_range};
use crate::units::{CellRate, Cells, Duration, Time};

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

impl QueueControl {
    /// ERICA's target utilization of 0.9 (papers 002 and 004).
    pub const fn erica() -> QueueControl {
        QueueControl::TargetUtilization(0.9)
    }

    /// ERICA+ with T0 = 500 us, a = 1.15, b = 1.05, QDLF = 0.5 (paper 001).
    pub const fn erica_plus() -> QueueControl {
        QueueControl::QueueingDelay { t0: Duration::from_us(500), a: 1.15, b: 1.05, qdlf: 0.5 }
    }

    /// The share of the line at this queueing delay Tq: U, or f(Tq).
    ///
    /// f(0) = b, f(T0) = 1, and beyond (a/qdlf - 1)/(a - 1) * T0 it stays at QDLF.
    pub fn share(&self, queueing_delay: Duration) -> f64 {
        match *self {
            QueueControl::TargetUtilization(utilization) => utilization,
            QueueControl::QueueingDelay { t0, a, b, qdlf } => {
                let delay = queueing_delay.as_secs_f64() / t0.as_secs_f64();
                if queueing_delay <= t0 {
                    b / ((b - 1.0) * delay + 1.0)
                } else {
                    (a / ((a - 1.0) * delay + 1.0)).max(qdlf)
                }
            }
        }
    }

    /// Says which parameter is out of its range first.
    pub fn check(&self) -> Result<(), ParameterError> {
        let share = |name, value: f64| {
            in_range(name, value, "", value > 0.0 && value <= 1.0, "above 0 and at most 1")
        };
        let slope = |name, value: f64| in_range(name, value, "", value > 1.0 && value.is_finite(), "above 1");
        match *self {
            QueueControl::TargetUtilization(utilization) => share("target_utilization", utilization),
            QueueControl::QueueingDelay { t0, a, b, qdlf } => {
                in_range("t0", t0.as_secs_f64(), "s", t0 > Duration::ZERO, "above 0 s")?;
                slope("a", a)?;
                slope("b", b)?;
                share("qdlf", qdlf)
            }
        }
    }
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

impl EricaConfig {
    /// ERICA with every default; set what differs.
    ///
    /// ```
    /// use cellrate_proto::switch::{AveragingInterval, EricaConfig};
    /// use cellrate_proto::Duration;
    /// let interval = AveragingInterval::of_time_or_cells(Duration::from_ms(1), 100); // paper 004
    /// let config = EricaConfig { interval, ..EricaConfig::erica() };
    /// assert_eq!(config.check(), Ok(()));
    /// let error = EricaConfig { delta: 1.5, ..config }.check().unwrap_err();
    /// assert_eq!(error.to_string(), "delta is 1.5; it must be from 0 to 1");
    /// ```
    pub const fn erica() -> EricaConfig {
        EricaConfig {
            interval: AveragingInterval::of_time(Duration::from_ms(5)),
            queue_control: QueueControl::erica(),
            delta: 0.1,
            active_sources: ActiveSources { bidirectional: false, decay: None },
            load_averaging: LoadAveraging::None,
            immediate_fair_share: false,
            measured_ccr: false,
        }
    }

    /// ERICA+ with every default.
    pub const fn erica_plus() -> EricaConfig {
        EricaConfig { queue_control: QueueControl::erica_plus(), ..EricaConfig::erica() }
    }

    /// Says which parameter is out of its range first, in the order of the fields.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.interval.check()?;
        self.queue_control.check()?;
        in_range("delta", self.delta, "", (0.0..=1.0).contains(&self.delta), "from 0 to 1")?;
        self.active_sources.check()?;
        self.load_averaging.check()
    }
}

impl Default for EricaConfig {
    fn default() -> EricaConfig {
        EricaConfig::erica()
    }
}

/// The algorithm.
#[derive(Clone, Debug)]
pub struct Erica {
    config: EricaConfig,
    link_rate: CellRate,
    shares: Shares,
    active: ActiveCount,
    load: LoadFactor,
    /// How many of the meter's `joined` connections are in `active` already.
    joined: usize,
    at_rest: bool,
    vcs: Vec<EricaVc>,
}

/// What the last interval leaves to hand out [cells/s].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shares {
    capacity: CellRate,
    fair_share: CellRate,
    max_alloc_previous: CellRate,
    max_alloc_current: CellRate,
}

#[derive(Clone, Copy, Debug)]
struct EricaVc {
    ccr: CellRate,
    /// The interval in which a BRM was last answered; 0 for none.
    answered: u64,
    /// What it was answered.
    er: CellRate,
}

impl Erica {
    /// At the port of a line that takes `link_rate`.
    pub fn new(config: EricaConfig, link_rate: CellRate) -> Erica {
        let capacity = link_rate * config.queue_control.share(Duration::ZERO);
        Erica {
            config,
            link_rate,
            shares: Shares {
                capacity,
                fair_share: capacity,
                max_alloc_previous: capacity,
                max_alloc_current: capacity,
            },
            active: ActiveCount::new(&config.active_sources),
            load: LoadFactor::new(config.load_averaging),
            joined: 0,
            at_rest: false,
            vcs: Vec::new(),
        }
    }

    /// What ABR may use, by what an interval measured.
    fn capacity(&self, load: &IntervalLoad) -> CellRate {
        let guaranteed = load.guaranteed_rate();
        match self.config.queue_control {
            QueueControl::TargetUtilization(utilization) => {
                (self.link_rate * utilization).saturating_sub(guaranteed)
            }
            QueueControl::QueueingDelay { .. } => {
                let available = self.link_rate.saturating_sub(guaranteed);
                let queue = CellRate::new(load.abr_queue.0 as f64);
                // Without any capacity a queue waits for ever: the ratio is infinite and saturates.
                let delay = Duration::from_secs_f64(queue.ratio(available));
                available * self.config.queue_control.share(delay)
            }
        }
    }

    /// Lowers FairShare for connections that became active since the last look, where that is asked for.
    fn admit_joined(&mut self, meter: &Meter) {
        if !self.config.immediate_fair_share || self.joined == meter.joined().len() {
            return;
        }
        for &slot in &meter.joined()[self.joined..] {
            self.active.join(slot);
        }
        self.joined = meter.joined().len();
        self.shares.fair_share = divide(self.shares.capacity, self.active.n());
    }

    fn explicit_rate(&mut self, ccr: CellRate) -> CellRate {
        let Shares { fair_share, max_alloc_previous, .. } = self.shares;
        let z = self.load.z();
        let mut er = fair_share.max(divide(ccr, z));
        if z <= 1.0 + self.config.delta {
            er = er.max(max_alloc_previous);
        }
        self.shares.max_alloc_current = self.shares.max_alloc_current.max(er);
        // A connection below its fair share goes there first, so that it cannot take the room of others in one step.
        if er > fair_share && ccr < fair_share { fair_share } else { er }
    }
}

impl SwitchAlgorithm for Erica {
    fn metering(&self) -> Option<Metering> {
        let bidirectional = self.config.active_sources.bidirectional;
        Some(Metering { interval: self.config.interval, bidirectional })
    }

    fn on_connect(&mut self, _slot: Slot, _vc: &VcAtPort) {
        self.active.connect();
        self.vcs.push(EricaVc { ccr: CellRate::ZERO, answered: 0, er: CellRate::ZERO });
    }

    fn on_forward_rm(&mut self, _now: Time, slot: Slot, ccr: CellRate, meter: &Meter) {
        self.admit_joined(meter);
        self.vcs[slot.0 as usize].ccr = ccr;
    }

    fn on_backward_rm(
        &mut self,
        _now: Time,
        slot: Slot,
        _queue: Cells,
        meter: &Meter,
        feedback: &mut Feedback,
    ) {
        self.admit_joined(meter);
        let vc = self.vcs[slot.0 as usize];
        let er = if vc.answered == meter.interval() {
            vc.er
        } else {
            let ccr = if self.config.measured_ccr { meter.previous_rate(slot) } else { vc.ccr };
            let er = self.explicit_rate(ccr);
            self.vcs[slot.0 as usize] = EricaVc { ccr: vc.ccr, answered: meter.interval(), er };
            er
        };
        feedback.limit(er.min(self.shares.capacity));
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, meter: &Meter) {
        let before = (self.shares, self.load, self.active.counted());
        let capacity = self.capacity(load);
        self.load.end_interval(load.abr_rate(), capacity);
        self.active.end_interval(load, meter);
        self.joined = 0;
        let fair_share = divide(capacity, self.active.n());
        self.shares = Shares {
            capacity,
            fair_share,
            max_alloc_previous: self.shares.max_alloc_current,
            max_alloc_current: fair_share,
        };
        self.at_rest = before == (self.shares, self.load, self.active.counted());
    }

    fn is_at_rest(&self) -> bool {
        self.at_rest
    }

    fn metric_names(&self) -> Metrics {
        &["z", "n", "fair_share", "capacity", "max_alloc"]
    }

    /// z and N without unit, the others in cells/s. `max_alloc` is MaxAllocPrevious, as far as the capacity reaches.
    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let Shares { capacity, fair_share, max_alloc_previous, .. } = self.shares;
        visit("z", self.load.z());
        visit("n", self.active.n());
        visit("fair_share", fair_share.as_cells_per_s());
        visit("capacity", capacity.as_cells_per_s());
        visit("max_alloc", max_alloc_previous.min(capacity).as_cells_per_s());
    }
}

/// A rate over a plain number: infinite over 0, unless the rate is 0 too.
fn divide(rate: CellRate, by: f64) -> CellRate {
    CellRate::new(rate.as_cells_per_s() / by)
}
