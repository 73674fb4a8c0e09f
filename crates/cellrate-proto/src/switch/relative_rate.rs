//! Relative-rate marking (TM 4.0, 5.10.6 b; paper stop-and-go, section 2).

use super::{Feedback, IntervalLoad, Meter, Metering, Metrics, Slot, SwitchAlgorithm, VcAtPort};
use crate::parameters::{ParameterError, in_range};
use crate::units::{CellRate, Cells, Time};

/// When a port sets CI and NI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelativeRateConfig {
    /// CI := NI := 1 while the ABR queue is at or above this [cells, at least 1]. No default.
    pub threshold: Cells,
}

impl RelativeRateConfig {
    /// Refuses a threshold of 0, at which an empty queue would count as congested.
    pub fn check(&self) -> Result<(), ParameterError> {
        in_range("threshold", self.threshold.0 as f64, "cells", self.threshold.0 > 0, "at least 1 cell")
    }
}

/// The algorithm. It keeps no state: each BRM is answered from the queue it finds.
#[derive(Clone, Debug)]
pub struct RelativeRate {
    config: RelativeRateConfig,
}

impl RelativeRate {
    /// Marks by `config`.
    pub const fn new(config: RelativeRateConfig) -> RelativeRate {
        RelativeRate { config }
    }
}

impl SwitchAlgorithm for RelativeRate {
    fn metering(&self) -> Option<Metering> {
        None
    }

    fn on_connect(&mut self, _slot: Slot, _vc: &VcAtPort) {}

    fn on_forward_rm(&mut self, _now: Time, _slot: Slot, _ccr: CellRate, _meter: &Meter) {}

    fn forward_rm_stands(&self) -> bool {
        true
    }

    fn on_backward_rm(
        &mut self,
        _now: Time,
        _slot: Slot,
        queue: Cells,
        _meter: &Meter,
        feedback: &mut Feedback,
    ) {
        if queue >= self.config.threshold {
            feedback.indicate_congestion();
            feedback.forbid_increase();
        }
    }

    fn on_interval_end(&mut self, _load: &IntervalLoad, _meter: &Meter) {}

    fn metric_names(&self) -> Metrics {
        &[]
    }

    fn metrics(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig};

    fn answer(queue: u64, came: Feedback) -> Feedback {
        let algorithm = SwitchAlgorithmConfig::RelativeRate(RelativeRateConfig { threshold: Cells(250) });
        let config = PortControlConfig { algorithm, ..PortControlConfig::default() };
        let mut port = PortControl::new(&config, CellRate::new(353_207.5));
        let pcr = CellRate::new(353_207.5);
        let slot = port.connect(&VcAtPort { pcr, mcr: CellRate::ZERO, weight: 1.0 });
        assert!(!port.needs_meter());
        assert_eq!(port.next_deadline(), Time::NEVER);
        let mut feedback = came;
        port.on_backward_rm(Time::ZERO, slot, Cells(queue), &mut feedback);
        feedback
    }

    #[test]
    fn at_the_threshold_ci_and_ni_are_set_and_er_stays() {
        let er = RateCode::floor(CellRate::new(1_000.0));
        assert_eq!(answer(250, Feedback::new(er, false, false)), Feedback::new(er, true, true));
        assert_eq!(answer(4_000, Feedback::new(er, false, true)), Feedback::new(er, true, true));
    }

    #[test]
    fn below_it_both_stay_as_they_came() {
        for (ci, ni) in [(false, false), (false, true), (true, false), (true, true)] {
            let came = Feedback::new(RateCode::MAX, ci, ni);
            assert_eq!(answer(249, came), came);
        }
    }

    #[test]
    fn a_threshold_of_zero_is_refused() {
        assert_eq!(RelativeRateConfig { threshold: Cells(0) }.check().map_err(|e| e.name), Err("threshold"));
        assert_eq!(RelativeRateConfig { threshold: Cells(1) }.check(), Ok(()));
    }
}
