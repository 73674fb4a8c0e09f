//! One output port's marking and explicit-rate computation, as the drivers call it.

use alloc::boxed::Box;
use core::fmt;

use super::efci::{Efci, EfciConfig};
use super::erica::{Erica, EricaConfig};
use super::meter::Meter;
use super::relative_rate::{RelativeRate, RelativeRateConfig};
use super::{Feedback, Slot, SwitchAlgorithm, VcAtPort};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Time};

/// What a port does about congestion. The default does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PortControlConfig {
    /// EFCI marking of data cells, beside the algorithm.
    pub efci: Option<EfciConfig>,
    /// What is written into backward RM cells.
    pub algorithm: SwitchAlgorithmConfig,
}

impl PortControlConfig {
    /// Says which parameter is out of its range first: EFCI's, then the algorithm's.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.efci.as_ref().map_or(Ok(()), EfciConfig::check)?;
        self.algorithm.check()
    }
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

impl SwitchAlgorithmConfig {
    /// Says which parameter of the algorithm is out of its range first.
    pub fn check(&self) -> Result<(), ParameterError> {
        match self {
            SwitchAlgorithmConfig::None => Ok(()),
            SwitchAlgorithmConfig::RelativeRate(config) => config.check(),
            SwitchAlgorithmConfig::Erica(config) => config.check(),
        }
    }
}

/// Names of the figures an algorithm offers to probes.
pub type Metrics = &'static [&'static str];

/// The algorithm of a port: the built-in ones by value, so that none of them costs an indirect call; anything else boxed.
enum Algorithm {
    None,
    RelativeRate(RelativeRate),
    Erica(Box<Erica>),
    Custom(Box<dyn SwitchAlgorithm + Send>),
}

/// A port's control state.
#[derive(Debug)]
pub struct PortControl {
    meter: Meter,
    needs_meter: bool,
    efci: Option<Efci>,
    algorithm: Algorithm,
}

impl PortControl {
    /// Control of a port whose line takes `link_rate`. `config` has passed [`PortControlConfig::check`].
    pub fn new(config: &PortControlConfig, link_rate: CellRate) -> PortControl {
        let algorithm = match &config.algorithm {
            SwitchAlgorithmConfig::None => Algorithm::None,
            SwitchAlgorithmConfig::RelativeRate(config) => {
                Algorithm::RelativeRate(RelativeRate::new(*config))
            }
            SwitchAlgorithmConfig::Erica(config) => {
                Algorithm::Erica(Box::new(Erica::new(*config, link_rate)))
            }
        };
        PortControl::assemble(config.efci, algorithm)
    }

    /// Control by an algorithm that is not built in.
    pub fn with_algorithm(
        efci: Option<EfciConfig>,
        algorithm: Box<dyn SwitchAlgorithm + Send>,
    ) -> PortControl {
        PortControl::assemble(efci, Algorithm::Custom(algorithm))
    }

    fn assemble(efci: Option<EfciConfig>, algorithm: Algorithm) -> PortControl {
        let metering = algorithm.as_dyn().and_then(SwitchAlgorithm::metering);
        PortControl {
            meter: Meter::new(metering),
            needs_meter: metering.is_some(),
            efci: efci.map(Efci::new),
            algorithm,
        }
    }

    /// A connection was set up through the port.
    pub fn connect(&mut self, vc: &VcAtPort) -> Slot {
        let slot = self.meter.connect();
        if let Some(algorithm) = self.algorithm.as_dyn_mut() {
            algorithm.on_connect(slot, vc);
        }
        slot
    }

    /// Whether cells have to be counted: [`on_abr_cell`](PortControl::on_abr_cell) and
    /// [`on_guaranteed_cell`](PortControl::on_guaranteed_cell) may be left out where this is false.
    #[inline]
    pub fn needs_meter(&self) -> bool {
        self.needs_meter
    }

    /// Whether an interval ends at or before `now`: then [`end_intervals`](PortControl::end_intervals) comes before
    /// whatever happens at `now`.
    #[inline]
    pub fn interval_due(&self, now: Time) -> bool {
        self.meter.deadline() <= now
    }

    /// When the present interval ends; [`Time::NEVER`] when no time ends it. A cell count may end it sooner.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        self.meter.deadline()
    }

    /// Closes every interval that ends at or before `now`, in order. `queue_at` gives the ABR queue at an instant since
    /// the last event [cells]; it is asked for instants in order. As nothing arrived since that event, a queue found
    /// empty stays empty, and once the algorithm is at rest too, the remaining intervals are passed over in one step.
    #[cold]
    pub fn end_intervals(&mut self, now: Time, mut queue_at: impl FnMut(Time) -> Cells) {
        while self.interval_due(now) {
            let load = self.meter.end_interval(queue_at(self.meter.deadline()));
            let Some(algorithm) = self.algorithm.as_dyn_mut() else { continue };
            algorithm.on_interval_end(&load, &self.meter);
            if load.is_idle() && algorithm.is_at_rest() {
                self.meter.skip_idle_intervals(now);
            }
        }
    }

    /// An ABR cell arrived at the port, RM cells included. When it completes the interval's cell count, the interval's
    /// deadline becomes `now`: the next event closes it, with `now` as its end.
    #[inline]
    pub fn on_abr_cell(&mut self, now: Time, slot: Slot) {
        self.meter.on_abr_cell(now, slot);
    }

    /// A CBR or VBR cell arrived at the port.
    #[inline]
    pub fn on_guaranteed_cell(&mut self) {
        self.meter.on_guaranteed_cell();
    }

    /// An FRM that claims `ccr` arrived; called after [`on_abr_cell`](PortControl::on_abr_cell) for the same cell.
    pub fn on_forward_rm(&mut self, now: Time, slot: Slot, ccr: CellRate) {
        if let Some(algorithm) = self.algorithm.as_dyn_mut() {
            algorithm.on_forward_rm(now, slot, ccr, &self.meter);
        }
    }

    /// A BRM of a connection whose forward direction leaves by this port passes the switch: answers it. `queue` is the
    /// port's ABR queue now.
    pub fn on_backward_rm(&mut self, now: Time, slot: Slot, queue: Cells, feedback: &mut Feedback) {
        self.meter.on_backward_rm(slot);
        if let Some(algorithm) = self.algorithm.as_dyn_mut() {
            algorithm.on_backward_rm(now, slot, queue, &self.meter, feedback);
        }
    }

    /// Whether data cells can be marked at all.
    #[inline]
    pub fn uses_efci(&self) -> bool {
        self.efci.is_some()
    }

    /// Whether the data cell that leaves now is marked; `queue` is the ABR queue.
    #[inline]
    pub fn marks_efci(&mut self, queue: Cells) -> bool {
        self.efci.as_mut().is_some_and(|efci| efci.marks(queue))
    }

    /// Names of the algorithm's figures, in the order of [`metrics`](PortControl::metrics).
    pub fn metric_names(&self) -> Metrics {
        self.algorithm.as_dyn().map_or(&[], SwitchAlgorithm::metric_names)
    }

    /// The algorithm's figures as they stand: name and value.
    pub fn metrics(&self, mut visit: impl FnMut(&'static str, f64)) {
        if let Some(algorithm) = self.algorithm.as_dyn() {
            algorithm.metrics(&mut visit);
        }
    }
}

impl Algorithm {
    fn as_dyn(&self) -> Option<&dyn SwitchAlgorithm> {
        match self {
            Algorithm::None => None,
            Algorithm::RelativeRate(algorithm) => Some(algorithm),
            Algorithm::Erica(algorithm) => Some(&**algorithm),
            Algorithm::Custom(algorithm) => Some(&**algorithm),
        }
    }

    // Inlined, so that the compiler sees which variant a call goes to and calls the built-in ones directly.
    #[inline]
    fn as_dyn_mut(&mut self) -> Option<&mut dyn SwitchAlgorithm> {
        match self {
            Algorithm::None => None,
            Algorithm::RelativeRate(algorithm) => Some(algorithm),
            Algorithm::Erica(algorithm) => Some(&mut **algorithm),
            Algorithm::Custom(algorithm) => Some(&mut **algorithm),
        }
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Algorithm::None => f.write_str("None"),
            Algorithm::RelativeRate(algorithm) => algorithm.fmt(f),
            Algorithm::Erica(algorithm) => algorithm.fmt(f),
            Algorithm::Custom(_) => f.write_str("Custom"),
        }
    }
}
