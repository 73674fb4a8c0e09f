//! Relative-rate marking (TM 4.0, 5.10.6 b; paper stop-and-go, section 2).

use super::built_in::{BuiltIn, Form};
use super::{Feedback, Meter, Promises, Slot, SwitchAlgorithm};
use crate::declaration::{Shape, Values, configuration};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Time};

configuration! {
    /// When a port sets CI and NI.
    pub struct RelativeRateConfig new(threshold: Cells) {
        /// CI and NI are set while the ABR queue is at or above this.
        threshold: Cells where (threshold > Cells::ZERO) "at least 1 cell",
        /// NI alone is set while the ABR queue is at or above this and below the other.
        ni_threshold: Cells = "threshold" or (threshold) where (ni_threshold > Cells::ZERO && ni_threshold <= threshold) "from 1 cell to threshold",
    }
}

impl BuiltIn for RelativeRate {
    type Config = RelativeRateConfig;

    const FORMS: &'static [Form] = &[Form {
        title: "relative rate",
        shape: Shape {
            name: "relative-rate",
            about: "CI and NI are set by a queue threshold, or NI by one and both by another (TM 4.0, 5.10.6 b).",
            keys: RelativeRateConfig::KEYS,
        },
        figures: &[],
    }];
    const HANDS_OUT_RATES: bool = false;

    fn at_port(config: &RelativeRateConfig, _link_rate: CellRate) -> RelativeRate {
        RelativeRate::new(*config)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<RelativeRateConfig, V::Error> {
        RelativeRateConfig::read(values)
    }

    fn check(config: &RelativeRateConfig) -> Result<(), ParameterError> {
        config.check()
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
        }
        if queue >= self.config.ni_threshold {
            feedback.forbid_increase();
        }
    }
}

impl Promises for RelativeRate {
    fn ignores_open_interval(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig, VcAtPort};

    fn answer(queue: u64, came: Feedback) -> Feedback {
        answer_of(RelativeRateConfig::new(Cells(250)), queue, came)
    }

    fn answer_of(config: RelativeRateConfig, queue: u64, came: Feedback) -> Feedback {
        let algorithm = SwitchAlgorithmConfig::RelativeRate(config);
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
    fn between_two_thresholds_ni_alone_is_set() {
        let config = RelativeRateConfig { ni_threshold: Cells(100), ..RelativeRateConfig::new(Cells(250)) };
        let came = Feedback::new(RateCode::MAX, false, false);
        let answers = [99, 100, 249, 250].map(|queue| answer_of(config, queue, came));
        assert_eq!(
            answers,
            [(false, false), (false, true), (false, true), (true, true)]
                .map(|(ci, ni)| { Feedback::new(RateCode::MAX, ci, ni) })
        );
        let above = RelativeRateConfig { ni_threshold: Cells(251), ..config };
        assert_eq!(above.check().unwrap_err().name, "ni_threshold");
    }

    #[test]
    fn below_it_both_stay_as_they_came() {
        for (ci, ni) in [(false, false), (false, true), (true, false), (true, true)] {
            let came = Feedback::new(RateCode::MAX, ci, ni);
            assert_eq!(answer(249, came), came);
        }
    }
}
