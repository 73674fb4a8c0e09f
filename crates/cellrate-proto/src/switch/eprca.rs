//! EPRCA, the enhanced proportional rate control algorithm (L. Roberts; ATM Forum 94-0735R1, 1994; described in R.
//! Jain, Computer Networks and ISDN Systems 28(13), 1996).
//!
//! The port keeps MACR, a running mean of the rates that FRMs claim, as its guess at the fair share. While the queue is
//! above a threshold, connections that claim more than most of MACR are told to come below it ("intelligent marking");
//! while it is above a second one, everybody is told to come far below it. Otherwise RM cells pass unchanged. There are
//! no averaging intervals.
//!
//! Where the published description is open:
//! - MACR begins with the first rate claimed, and takes in every FRM, whether the port is congested or not.
//! - The rate of a connection is that of its last FRM here.

use alloc::sync::Arc;

use super::built_in::{BuiltIn, Figure, Form};
use super::intelligent_marking::{Congestion, Macr, MarkingFactors};
use super::meter::{AveragingInterval, Meter, Metering};
use super::{Feedback, Promises, Slot, SwitchAlgorithm, VcAtPort};
use crate::declaration::{Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Duration, Time};

/// EPRCA's parameters.
///
/// ```
/// use cellrate_proto::Cells;
/// use cellrate_proto::switch::EprcaConfig;
/// let config = EprcaConfig::new(Cells(250));
/// assert_eq!((config.high_threshold, config.check()), (Cells(1000), Ok(())));
/// let error = EprcaConfig { high_threshold: Cells(100), ..config }.check().unwrap_err();
/// assert_eq!(error.to_string(), "high_threshold is 100 cells; it must be at least threshold");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct EprcaConfig {
    /// QT: above this ABR queue, who claims more than dpf of the mean is to reduce.
    #[key(holds(threshold > Cells::ZERO, "at least 1 cell"))]
    pub threshold: Cells,
    /// DQT: above this ABR queue, everybody is to go to mrf of the mean; at least `threshold`.
    #[key(default = "4 * threshold", or = Cells(threshold.0.saturating_mul(4)), holds(high_threshold >= threshold, "at least threshold"))]
    pub high_threshold: Cells,
    /// [`MarkingFactors`].
    #[key(flatten)]
    pub factors: MarkingFactors,
}

impl BuiltIn for Eprca {
    type Config = Arc<EprcaConfig>;

    const FORMS: &'static [Form] = &[Form {
        title: "EPRCA",
        shape: Shape {
            name: "eprca",
            about: "EPRCA: a mean of the rates that sources claim, and two queue thresholds.",
            keys: EprcaConfig::KEYS,
        },
        figures: &[Figure::rate("macr")],
    }];

    fn at_port(config: &Arc<EprcaConfig>, _link_rate: CellRate) -> Eprca {
        Eprca::new(Arc::clone(config))
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<Arc<EprcaConfig>, V::Error> {
        EprcaConfig::read(values).map(Arc::new)
    }

    fn check(config: &Arc<EprcaConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }
}

/// The algorithm. Ports share their parameters.
#[derive(Clone, Debug)]
pub struct Eprca {
    config: Arc<EprcaConfig>,
    macr: Macr,
}

impl Eprca {
    /// Nothing claimed yet.
    pub fn new(config: impl Into<Arc<EprcaConfig>>) -> Eprca {
        Eprca { config: config.into(), macr: Macr::new() }
    }
}

impl SwitchAlgorithm for Eprca {
    /// FRMs are to be told, and no interval ever ends.
    fn metering(&self) -> Option<Metering> {
        let interval = AveragingInterval::of_time(Duration::FOREVER);
        Some(Metering { interval, bidirectional: false, history: false })
    }

    fn on_connect(&mut self, _slot: Slot, _vc: &VcAtPort) {
        self.macr.connect();
    }

    fn on_forward_rm(&mut self, _now: Time, slot: Slot, ccr: CellRate, _meter: &Meter) {
        self.macr.claim(slot, ccr, self.config.factors.average);
    }

    fn on_backward_rm(
        &mut self,
        _now: Time,
        slot: Slot,
        queue: Cells,
        _meter: &Meter,
        feedback: &mut Feedback,
    ) {
        let EprcaConfig { threshold, high_threshold, factors } = &*self.config;
        let congestion = if queue > *high_threshold {
            Congestion::Severe
        } else if queue > *threshold {
            Congestion::Moderate
        } else {
            Congestion::None
        };
        self.macr.answer(slot, congestion, factors, feedback);
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("macr", self.macr.mean().as_cells_per_s());
    }
}

impl Promises for Eprca {
    fn ignores_open_interval(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig};

    const A: Slot = Slot(0);
    const B: Slot = Slot(1);

    fn thresholds(threshold: u64, high_threshold: u64) -> EprcaConfig {
        EprcaConfig { high_threshold: Cells(high_threshold), ..EprcaConfig::new(Cells(threshold)) }
    }

    fn port(config: EprcaConfig) -> PortControl {
        assert_eq!(config.check(), Ok(()));
        let algorithm = SwitchAlgorithmConfig::Eprca(Arc::new(config));
        let line = CellRate::new(100_000.0);
        let mut port =
            PortControl::new(&PortControlConfig { algorithm, ..PortControlConfig::default() }, line);
        let vc = VcAtPort { pcr: line, mcr: CellRate::ZERO, weight: 1.0, round_trip: Duration::ZERO };
        assert_eq!((port.connect(&vc), port.connect(&vc)), (A, B));
        port
    }

    fn claim(port: &mut PortControl, slot: Slot, ccr: f64) {
        port.on_abr_cell(Time::ZERO, slot);
        port.on_forward_rm(Time::ZERO, slot, CellRate::new(ccr));
    }

    /// ER of a BRM that finds such a queue; `None` where it passes unchanged.
    fn er(port: &mut PortControl, slot: Slot, queue: u64) -> Option<f64> {
        let mut feedback = Feedback::new(RateCode::MAX, false, false);
        port.on_backward_rm(Time::ZERO, slot, Cells(queue), &mut feedback);
        assert!(!feedback.congestion_indication() && !feedback.no_increase());
        let changed = feedback.explicit_rate() != RateCode::MAX;
        changed.then(|| feedback.explicit_rate().rate().as_cells_per_s())
    }

    fn macr(port: &PortControl) -> f64 {
        let mut found = f64::NAN;
        port.metrics(|_, value| found = value);
        found
    }

    #[test]
    fn macr_begins_with_the_first_claim_and_moves_by_a_sixteenth() {
        let mut port = port(thresholds(10, 20));
        assert_eq!((macr(&port), er(&mut port, A, 1000)), (0.0, None), "nothing claimed yet");
        claim(&mut port, A, 32_768.0);
        assert_eq!(macr(&port), 32_768.0);
        claim(&mut port, B, 0.0);
        assert_eq!(macr(&port), 30_720.0);
        claim(&mut port, A, 32_768.0);
        assert_eq!(macr(&port), 30_848.0);
    }

    #[test]
    fn congestion_is_for_those_who_claim_much_and_great_congestion_for_all() {
        let mut port = port(thresholds(10, 20));
        // MACR = 32,768; 7/8 of that is 28,672, which is not more than itself.
        claim(&mut port, A, 32_768.0);
        claim(&mut port, B, 32_768.0);
        for (queue, ers) in [
            (10, [None, None]),
            (11, [Some(30_720.0); 2]),
            (20, [Some(30_720.0); 2]),
            (21, [Some(8_192.0); 2]),
        ] {
            assert_eq!([er(&mut port, A, queue), er(&mut port, B, queue)], ers, "queue of {queue}");
        }
        let mut port = port_with_weight_one();
        claim(&mut port, B, 28_672.0);
        claim(&mut port, A, 32_768.0);
        assert_eq!([er(&mut port, A, 15), er(&mut port, B, 15)], [Some(30_720.0), None]);
        assert_eq!([er(&mut port, A, 25), er(&mut port, B, 25)], [Some(8_192.0); 2]);
    }

    /// MACR is the last claim.
    fn port_with_weight_one() -> PortControl {
        let mut config = thresholds(10, 20);
        config.factors.average = 1.0;
        port(config)
    }

    #[test]
    fn er_is_never_raised() {
        let mut port = port_with_weight_one();
        claim(&mut port, A, 50_000.0);
        let came = RateCode::floor(CellRate::new(1_000.0));
        let mut feedback = Feedback::new(came, true, true);
        port.on_backward_rm(Time::ZERO, A, Cells(100), &mut feedback);
        assert_eq!(feedback, Feedback::new(came, true, true));
    }

    #[test]
    fn no_interval_ends() {
        let mut port = port(thresholds(10, 20));
        claim(&mut port, A, 50_000.0);
        assert_eq!(port.next_deadline(), Time::NEVER);
        assert!(port.needs_meter(), "FRMs have to be told");
    }
}
