//! A proportional-integral controller on the queue, as A. Kolarov and G. Ramamurthy (NEC) have it: US patent 5,737,313,
//! claims 1 and 2, 1998.
//!
//! The port keeps one explicit rate for all connections. At the end of a sampling interval it changes by a part of what
//! the queue is away from a set point, and by a part of what it has grown since the interval before: summed up, the
//! rate follows the queue and its integral. Neither the load is measured nor the capacity known.
//!
//! Where the published description is open:
//! - The gains. Those here are for the rates of all connections together, divided among those that were active in the
//!   interval, so that the loop is as fast with many as with few (as S. Chong, S. H. Lee and S. Kang do for those that
//!   have their bottleneck here, GLOBECOM 2001).
//! - Parts of earlier rates, which the claims have too, are none here: with them a delay that is known can be made up
//!   for.
//! - The rate begins at that of the line, and stays between a thousandth of that and all of it.

use alloc::sync::Arc;

use super::built_in::{BuiltIn, Figure, Form};
use super::meter::{AveragingInterval, IntervalLoad, Meter, Metering};
use super::{Feedback, Promises, Settled, Slot, SwitchAlgorithm};
use crate::declaration::{Range, Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Time};

/// The rate is at least that of the line over this.
const RANGE: f64 = 1000.0;

/// The parameters of the controller.
///
/// ```
/// use cellrate_proto::switch::PiConfig;
/// assert_eq!(PiConfig::new().check(), Ok(()));
/// let error = PiConfig { integral: 0.0, ..PiConfig::new() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "integral is 0; it must be above 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct PiConfig {
    /// Sampling interval: its length at most.
    #[key(flatten, default = "1 ms")]
    pub interval: AveragingInterval,
    /// The ABR queue aimed at.
    #[key(default = "250 cells", holds(set_point > Cells::ZERO, "at least 1 cell"))]
    pub set_point: Cells,
    /// Part of what the queue is away from that by which all connections together change, in cells of an interval.
    #[key(default = "0.01", range = Range::POSITIVE)]
    pub integral: f64,
    /// Part of what it has grown in an interval by which they change, in cells of an interval.
    #[key(default = "0.2", range = Range::POSITIVE)]
    pub proportional: f64,
}

impl BuiltIn for Pi {
    type Config = Arc<PiConfig>;

    const FORMS: &'static [Form] = &[Form {
        title: "the PI controller",
        shape: Shape {
            name: "pi",
            about: "A proportional-integral controller: one rate for all connections, which follows the queue and its growth.",
            keys: PiConfig::KEYS,
        },
        figures: &[Figure::rate("ers")],
    }];

    fn at_port(config: &Arc<PiConfig>, link_rate: CellRate) -> Pi {
        Pi::new(Arc::clone(config), link_rate)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<Arc<PiConfig>, V::Error> {
        PiConfig::read(values).map(Arc::new)
    }

    fn check(config: &Arc<PiConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }
}

/// The algorithm. Ports share their parameters.
#[derive(Clone, Debug)]
pub struct Pi {
    config: Arc<PiConfig>,
    link_rate: CellRate,
    /// The rate of each connection.
    ers: CellRate,
    /// The queue when the last interval ended.
    queue: Cells,
}

impl Pi {
    /// At the port of a line that takes `link_rate`.
    pub fn new(config: impl Into<Arc<PiConfig>>, link_rate: CellRate) -> Pi {
        Pi { config: config.into(), link_rate, ers: link_rate, queue: Cells::ZERO }
    }
}

impl SwitchAlgorithm for Pi {
    fn metering(&self) -> Option<Metering> {
        Some(Metering { interval: self.config.interval, bidirectional: false, history: false })
    }

    fn on_backward_rm(
        &mut self,
        _now: Time,
        _slot: Slot,
        _queue: Cells,
        _meter: &Meter,
        feedback: &mut Feedback,
    ) {
        feedback.limit(self.ers);
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.link_rate = link_rate;
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, _meter: &Meter) {
        let PiConfig { set_point, integral, proportional, .. } = *self.config;
        let [queue, before, aim] = [load.abr_queue, self.queue, set_point].map(|cells| cells.0 as f64);
        let cells = integral * (queue - aim) + proportional * (queue - before);
        let together = cells / load.length().as_secs_f64();
        let rate = self.ers.as_cells_per_s() - together / f64::from(load.active.max(1));
        let most = self.link_rate.as_cells_per_s();
        self.ers = CellRate::new(rate.clamp(most / RANGE, most));
        self.queue = load.abr_queue;
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ers", self.ers.as_cells_per_s());
    }
}

impl Promises for Pi {
    fn ignores_open_interval(&self) -> bool {
        true
    }

    fn answer_is_fixed(&self, _slot: Slot, _meter: &Meter) -> Settled {
        Settled::Yes
    }

    fn is_at_rest(&self) -> bool {
        self.ers == self.link_rate && self.queue == Cells::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig, VcAtPort};
    use crate::units::Duration;

    /// Intervals of 1/64 s, in which a cell is 64 cells/s.
    const INTERVAL: Duration = Duration::from_us(15_625);
    const LINE: f64 = 65_536.0;
    const A: Slot = Slot(0);
    const B: Slot = Slot(1);

    struct World(PortControl);

    impl World {
        /// A set point of 100 cells, an eighth of the distance, half of the growth.
        fn new() -> World {
            let interval = AveragingInterval::of_time(INTERVAL);
            let config = PiConfig { interval, set_point: Cells(100), integral: 0.125, proportional: 0.5 };
            assert_eq!(config.check(), Ok(()));
            let algorithm = SwitchAlgorithmConfig::Pi(Arc::new(config));
            let line = CellRate::new(LINE);
            let mut port =
                PortControl::new(&PortControlConfig { algorithm, ..PortControlConfig::default() }, line);
            let vc = VcAtPort { pcr: line, mcr: CellRate::ZERO, weight: 1.0, round_trip: Duration::ZERO };
            assert_eq!((port.connect(&vc), port.connect(&vc)), (A, B));
            World(port)
        }

        /// An interval with cells of these connections, at the end of which the queue is so long.
        fn interval(&mut self, active: &[Slot], queue: u64) {
            let end = self.0.next_deadline();
            active.iter().for_each(|&slot| self.0.on_abr_cell(Time::from_ps(end.as_ps() - 1), slot));
            self.0.end_intervals(end, |_| Cells(queue));
        }

        fn ers(&self) -> f64 {
            let mut found = f64::NAN;
            self.0.metrics(|_, value| found = value);
            found
        }
    }

    #[test]
    fn the_rate_follows_the_queue_and_its_growth() {
        let mut world = World::new();
        assert_eq!(world.ers(), LINE);
        // 0.125 * (180 - 100) + 0.5 * (180 - 0) = 100 cells an interval.
        world.interval(&[A], 180);
        assert_eq!(world.ers(), LINE - 6_400.0);
        // 0.125 * 80 + 0.5 * 0 = 10.
        world.interval(&[A], 180);
        assert_eq!(world.ers(), LINE - 7_040.0);
        // 0.125 * 0 - 0.5 * 80 = -40.
        world.interval(&[A], 100);
        assert_eq!(world.ers(), LINE - 4_480.0);
        // At the set point, without growth, it rests.
        world.interval(&[A], 100);
        assert_eq!(world.ers(), LINE - 4_480.0);
    }

    #[test]
    fn those_that_are_active_share_what_it_changes_by() {
        let mut world = World::new();
        world.interval(&[A, B], 180);
        assert_eq!(world.ers(), LINE - 3_200.0);
        // No connection counts as one.
        world.interval(&[], 180);
        assert_eq!(world.ers(), LINE - 3_200.0 - 640.0);
    }

    #[test]
    fn it_stays_between_a_thousandth_of_the_line_and_all_of_it() {
        let mut world = World::new();
        world.interval(&[A], 100_000);
        assert_eq!(world.ers(), LINE / 1000.0);
        world.interval(&[A], 0);
        assert_eq!(world.ers(), LINE);
    }

    #[test]
    fn all_are_answered_alike_and_er_is_only_lowered() {
        let mut world = World::new();
        world.interval(&[A], 180);
        for slot in [A, B] {
            let mut feedback = Feedback::new(RateCode::MAX, false, true);
            world.0.on_backward_rm(Time::ZERO, slot, Cells(9), &mut feedback);
            let code = RateCode::floor(CellRate::new(LINE - 6_400.0));
            assert_eq!(feedback, Feedback::new(code, false, true));
        }
        let came = RateCode::floor(CellRate::new(100.0));
        let mut feedback = Feedback::new(came, true, false);
        world.0.on_backward_rm(Time::ZERO, A, Cells(9), &mut feedback);
        assert_eq!(feedback, Feedback::new(came, true, false));
    }

    #[test]
    fn idle_intervals_passed_over_are_those_that_would_change_nothing() {
        let [mut world, mut other] = [World::new(), World::new()];
        world.interval(&[A], 500);
        other.interval(&[A], 500);
        let end = world.0.next_deadline() + INTERVAL * 300;
        world.0.end_intervals(end, |_| Cells::ZERO);
        (0..301).for_each(|_| other.interval(&[], 0));
        assert_eq!((world.ers(), world.0.next_deadline()), (other.ers(), other.0.next_deadline()));
    }
}
