//! APRC, adaptive proportional rate control (K.-Y. Siu, H.-Y. Tzeng; ATM Forum 94-0888, 1994): EPRCA with another sign
//! of congestion, as R. Jain describes it (Computer Networks and ISDN Systems 28(13), 1996).
//!
//! MACR and the marks are those of [EPRCA](super::Eprca). But the port is congested while its queue grows, not while it
//! is long: the queue is compared with what it was some ABR cells before. A queue above a threshold is great congestion
//! here, too.
//!
//! Where the published description is open:
//! - Compared is whenever so many ABR cells have arrived at the port, and what was found holds until the next time, as
//!   long as there is a queue at all.
//! - Any growth counts, or only one that is not by chance, by more than some cells.
//! - Of EPRCA: MACR begins with the first rate claimed, and takes in every FRM, whether the port is congested or not;
//!   the rate of a connection is that of its last FRM here.

use alloc::sync::Arc;

use super::built_in::{BuiltIn, Figure, Form};
use super::intelligent_marking::{Congestion, Macr, MarkingFactors};
use super::meter::{AveragingInterval, IntervalLoad, Meter, Metering};
use super::{Feedback, Promises, Slot, SwitchAlgorithm, VcAtPort};
use crate::declaration::{Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Duration, Time};

/// APRC's parameters.
///
/// ```
/// use cellrate_proto::Cells;
/// use cellrate_proto::switch::AprcConfig;
/// assert_eq!(AprcConfig::new(Cells(1000)).check(), Ok(()));
/// let error = AprcConfig { interval_cells: 0, ..AprcConfig::new(Cells(1000)) }.check().unwrap_err();
/// assert_eq!(error.to_string(), "interval_cells is 0; it must be at least 1 cell");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct AprcConfig {
    /// The queue is compared with what it was each time that so many ABR cells have arrived.
    #[key(default = "100", holds(interval_cells > 0, "at least 1 cell"))]
    pub interval_cells: u32,
    /// If it has grown by more than this, who claims more than dpf of the mean is to reduce.
    #[key(default = "0 cells")]
    pub growth_threshold: Cells,
    /// DQT: above this ABR queue, everybody is to go to mrf of the mean.
    #[key(holds(high_threshold > Cells::ZERO, "at least 1 cell"))]
    pub high_threshold: Cells,
    /// [`MarkingFactors`].
    #[key(flatten)]
    pub factors: MarkingFactors,
}

impl AprcConfig {
    /// From one comparison to the next.
    fn interval(&self) -> AveragingInterval {
        AveragingInterval::of_time_or_cells(Duration::FOREVER, self.interval_cells)
    }
}

impl BuiltIn for Aprc {
    type Config = Arc<AprcConfig>;

    const FORMS: &'static [Form] = &[Form {
        title: "APRC",
        shape: Shape {
            name: "aprc",
            about: "APRC: EPRCA's mean of the rates that sources claim; congestion is a queue that grows.",
            keys: AprcConfig::KEYS,
        },
        figures: &[Figure::rate("macr")],
    }];

    fn at_port(config: &Arc<AprcConfig>, _link_rate: CellRate) -> Aprc {
        Aprc::new(Arc::clone(config))
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<Arc<AprcConfig>, V::Error> {
        AprcConfig::read(values).map(Arc::new)
    }

    fn check(config: &Arc<AprcConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }
}

/// The algorithm. Ports share their parameters.
#[derive(Clone, Debug)]
pub struct Aprc {
    config: Arc<AprcConfig>,
    macr: Macr,
    /// The queue when it was last compared.
    queue: Cells,
    /// Whether it had grown then.
    grows: bool,
}

impl Aprc {
    /// Nothing claimed yet, and no queue.
    pub fn new(config: impl Into<Arc<AprcConfig>>) -> Aprc {
        Aprc { config: config.into(), macr: Macr::new(), queue: Cells::ZERO, grows: false }
    }
}

impl SwitchAlgorithm for Aprc {
    fn metering(&self) -> Option<Metering> {
        Some(Metering { interval: self.config.interval(), bidirectional: false, history: false })
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
        let AprcConfig { high_threshold, factors, .. } = &*self.config;
        let congestion = if queue > *high_threshold {
            Congestion::Severe
        } else if self.grows && queue > Cells::ZERO {
            Congestion::Moderate
        } else {
            Congestion::None
        };
        self.macr.answer(slot, congestion, factors, feedback);
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, _meter: &Meter) {
        self.grows = load.abr_queue.saturating_sub(self.queue) > self.config.growth_threshold;
        self.queue = load.abr_queue;
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("macr", self.macr.mean().as_cells_per_s());
    }
}

impl Promises for Aprc {
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

    struct World {
        port: PortControl,
        now: Time,
    }

    impl World {
        /// The queue is compared every ten cells; MACR is the last claim.
        fn new(growth: u64) -> World {
            let (interval_cells, growth_threshold) = (10, Cells(growth));
            let factors = MarkingFactors { average: 1.0, ..MarkingFactors::new() };
            let config =
                AprcConfig { interval_cells, growth_threshold, factors, ..AprcConfig::new(Cells(20)) };
            assert_eq!(config.check(), Ok(()));
            let algorithm = SwitchAlgorithmConfig::Aprc(Arc::new(config));
            let line = CellRate::new(100_000.0);
            let mut port =
                PortControl::new(&PortControlConfig { algorithm, ..PortControlConfig::default() }, line);
            let vc = VcAtPort { pcr: line, mcr: CellRate::ZERO, weight: 1.0, round_trip: Duration::ZERO };
            assert_eq!((port.connect(&vc), port.connect(&vc)), (A, B));
            // B claims 7/8 of MACR, and A all of it.
            port.on_forward_rm(Time::ZERO, B, CellRate::new(28_672.0));
            port.on_forward_rm(Time::ZERO, A, CellRate::new(32_768.0));
            World { port, now: Time::ZERO }
        }

        /// So many cells come, one every microsecond, and leave a queue.
        fn cells(&mut self, count: u64, queue: u64) {
            for _ in 0..count {
                self.now += Duration::from_us(1);
                self.port.end_intervals(self.now, |_| Cells(queue));
                self.port.on_abr_cell(self.now, A);
            }
            self.port.end_intervals(self.now, |_| Cells(queue));
        }

        /// ERs of BRMs that find such a queue; `None` where they pass unchanged.
        fn ers(&mut self, queue: u64) -> [Option<f64>; 2] {
            [A, B].map(|slot| {
                let mut feedback = Feedback::new(RateCode::MAX, false, false);
                self.port.on_backward_rm(self.now, slot, Cells(queue), &mut feedback);
                assert!(!feedback.congestion_indication() && !feedback.no_increase());
                let changed = feedback.explicit_rate() != RateCode::MAX;
                changed.then(|| feedback.explicit_rate().rate().as_cells_per_s())
            })
        }
    }

    /// 15/16 of MACR for who claims more than 7/8 of it.
    const CONGESTED: [Option<f64>; 2] = [Some(30_720.0), None];

    #[test]
    fn congestion_is_a_queue_that_has_grown_since_ten_cells_before() {
        let mut world = World::new(0);
        world.cells(9, 5);
        assert_eq!(world.ers(5), [None; 2], "not compared yet");
        world.cells(1, 5);
        assert_eq!(world.ers(5), CONGESTED);
        // As long as there is any: nothing compares the queue when nothing comes.
        assert_eq!((world.ers(1), world.ers(0)), (CONGESTED, [None; 2]));
        // What happens between two comparisons is not seen.
        world.cells(9, 19);
        assert_eq!(world.ers(19), CONGESTED);
        world.cells(1, 5);
        assert_eq!(world.ers(5), [None; 2], "as long as before");
        world.cells(10, 6);
        assert_eq!(world.ers(6), CONGESTED);
        world.cells(10, 4);
        assert_eq!(world.ers(4), [None; 2]);
    }

    #[test]
    fn growth_up_to_its_threshold_is_none() {
        let mut world = World::new(3);
        world.cells(10, 3);
        assert_eq!(world.ers(3), [None; 2]);
        world.cells(10, 7);
        assert_eq!(world.ers(7), CONGESTED);
        world.cells(10, 10);
        assert_eq!(world.ers(10), [None; 2]);
    }

    #[test]
    fn great_congestion_is_a_long_queue_and_for_all() {
        let mut world = World::new(0);
        assert_eq!((world.ers(20), world.ers(21)), ([None; 2], [Some(8_192.0); 2]));
        world.cells(10, 20);
        assert_eq!((world.ers(20), world.ers(21)), (CONGESTED, [Some(8_192.0); 2]));
    }

    #[test]
    fn er_is_never_raised() {
        let mut world = World::new(0);
        let came = RateCode::floor(CellRate::new(1_000.0));
        let mut feedback = Feedback::new(came, true, true);
        world.port.on_backward_rm(Time::ZERO, A, Cells(100), &mut feedback);
        assert_eq!(feedback, Feedback::new(came, true, true));
    }

    #[test]
    fn no_time_ends_an_interval() {
        let mut world = World::new(0);
        assert_eq!(world.port.next_deadline(), Time::NEVER);
        world.cells(10, 3);
        assert_eq!(world.port.next_deadline(), Time::NEVER);
    }
}
