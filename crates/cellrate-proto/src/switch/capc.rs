//! CAPC, congestion avoidance using proportional control (A. Barnhart, Hughes; ATM Forum 94-0983R1, 1994; described in
//! R. Jain, Computer Networks and ISDN Systems 28(13), 1996).
//!
//! The port keeps one explicit rate for all connections, ERS. At the end of an averaging interval it grows or shrinks
//! in proportion to how far the load factor z = ABR input / target rate is from 1, within limits: there is no state per
//! connection, and connections are not counted. While the queue is above a threshold CI is set as well, which keeps
//! sources from increasing.
//!
//! Where the published description is open:
//! - ERS begins at the target rate of an idle line, and stays between a thousandth of that and all of it.
//! - The target rate is the target utilization of the line less what higher categories use. Without any, z is infinite.
//! - z = 1 leaves ERS as it is.

use alloc::sync::Arc;

use super::averaging::load_factor;
use super::built_in::{BuiltIn, Figure, Form};
use super::meter::{AveragingInterval, IntervalLoad, Meter, Metering};
use super::{Feedback, Promises, Settled, Slot, SwitchAlgorithm};
use crate::declaration::{Range, Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Time};

/// ERS is at least the target rate of an idle line over this: from there it is back in 73 intervals of an idle line,
/// each of which makes it 1 + Rup times as large, 1.1 times by default.
const RANGE: f64 = 1000.0;

/// CAPC's parameters. Published are `rup` from 0.025 to 0.1 and `rdn` from 0.2 to 0.8.
///
/// ```
/// use cellrate_proto::switch::CapcConfig;
/// assert_eq!(CapcConfig::new().check(), Ok(()));
/// let error = CapcConfig { erf: 1.0, ..CapcConfig::new() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "erf is 1; it must be above 0 and below 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct CapcConfig {
    /// Averaging interval: its length at most.
    #[key(flatten, default = "1 ms")]
    pub interval: AveragingInterval,
    /// Share of the line that is aimed at.
    #[key(default = "0.95", range = Range::SHARE)]
    pub target_utilization: f64,
    /// Steepness of growth.
    #[key(default = "0.1", range = Range::POSITIVE)]
    pub rup: f64,
    /// Steepness of shrinking.
    #[key(default = "0.8", range = Range::POSITIVE)]
    pub rdn: f64,
    /// Largest factor of one interval.
    #[key(default = "1.5", range = Range::ABOVE_ONE)]
    pub eru: f64,
    /// Smallest factor of one interval.
    #[key(default = "0.5", range = CapcConfig::SHRINKING)]
    pub erf: f64,
    /// CI is set while the ABR queue is above this.
    #[key(default = "50 cells")]
    pub threshold: Cells,
}

impl CapcConfig {
    const SHRINKING: Range = Range::between(0.0, 1.0);
}

impl BuiltIn for Capc {
    type Config = Arc<CapcConfig>;

    const FORMS: &'static [Form] = &[Form {
        title: "CAPC",
        shape: Shape {
            name: "capc",
            about: "CAPC: one rate for all connections, which grows and shrinks in proportion to the load.",
            keys: CapcConfig::KEYS,
        },
        figures: &[Figure::plain("z"), Figure::rate("capacity"), Figure::rate("ers")],
    }];

    fn at_port(config: &Arc<CapcConfig>, link_rate: CellRate) -> Capc {
        Capc::new(Arc::clone(config), link_rate)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<Arc<CapcConfig>, V::Error> {
        CapcConfig::read(values).map(Arc::new)
    }

    fn check(config: &Arc<CapcConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }

    fn target_utilization(config: &Arc<CapcConfig>) -> f64 {
        config.target_utilization
    }
}

/// The algorithm. Ports share their parameters.
#[derive(Clone, Debug)]
pub struct Capc {
    config: Arc<CapcConfig>,
    /// The target rate of an idle line.
    most: CellRate,
    link_rate: CellRate,
    capacity: CellRate,
    z: f64,
    ers: CellRate,
}

impl Capc {
    /// At the port of a line that takes `link_rate`.
    pub fn new(config: impl Into<Arc<CapcConfig>>, link_rate: CellRate) -> Capc {
        let config = config.into();
        let most = link_rate * config.target_utilization;
        Capc { config, most, link_rate, capacity: most, z: 0.0, ers: most }
    }

    /// By how much an interval of that load factor changes ERS.
    fn factor(&self, z: f64) -> f64 {
        let CapcConfig { rup, rdn, eru, erf, .. } = *self.config;
        if z < 1.0 { eru.min(1.0 + (1.0 - z) * rup) } else { erf.max(1.0 - (z - 1.0) * rdn) }
    }
}

impl SwitchAlgorithm for Capc {
    fn metering(&self) -> Option<Metering> {
        Some(Metering { interval: self.config.interval, bidirectional: false, history: false })
    }

    fn on_backward_rm(
        &mut self,
        _now: Time,
        _slot: Slot,
        queue: Cells,
        _meter: &Meter,
        feedback: &mut Feedback,
    ) {
        feedback.limit(self.ers);
        if queue > self.config.threshold {
            feedback.indicate_congestion();
        }
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.link_rate = link_rate;
        self.most = link_rate * self.config.target_utilization;
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, _meter: &Meter) {
        self.capacity = load.available(self.link_rate * self.config.target_utilization);
        self.z = load_factor(load.abr_rate(), self.capacity);
        let least = self.most.as_cells_per_s() / RANGE;
        self.ers = (self.ers * self.factor(self.z)).max(CellRate::new(least)).min(self.most);
    }

    /// z without unit, the others in cells/s.
    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("z", self.z);
        visit("capacity", self.capacity.as_cells_per_s());
        visit("ers", self.ers.as_cells_per_s());
    }
}

impl Promises for Capc {
    fn ignores_open_interval(&self) -> bool {
        true
    }

    fn answer_is_fixed(&self, _slot: Slot, _meter: &Meter) -> Settled {
        // The queue decides about CI.
        Settled::No
    }

    fn is_at_rest(&self) -> bool {
        self.z == 0.0 && self.ers == self.most && self.capacity == self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig, VcAtPort};
    use crate::units::Duration;
    use alloc::vec::Vec;

    /// Intervals of 1/64 s: 1024 cells in one are C = 65,536 cells/s, which is the target; the line takes twice that.
    const INTERVAL: Duration = Duration::from_us(15_625);
    const C: f64 = 65_536.0;

    struct World {
        port: PortControl,
        slot: Slot,
    }

    impl World {
        fn new(config: CapcConfig) -> World {
            let interval = AveragingInterval::of_time(INTERVAL);
            let config = CapcConfig { interval, target_utilization: 0.5, ..config };
            assert_eq!(config.check(), Ok(()));
            let algorithm = SwitchAlgorithmConfig::Capc(Arc::new(config));
            let line = CellRate::new(2.0 * C);
            let mut port =
                PortControl::new(&PortControlConfig { algorithm, ..PortControlConfig::default() }, line);
            let slot = port.connect(&VcAtPort {
                pcr: line,
                mcr: CellRate::ZERO,
                weight: 1.0,
                round_trip: Duration::ZERO,
            });
            World { port, slot }
        }

        fn interval(&mut self, abr: u64, guaranteed: u64) {
            let end = self.port.next_deadline();
            (0..abr).for_each(|_| self.port.on_abr_cell(Time::from_ps(end.as_ps() - 1), self.slot));
            self.port.on_guaranteed_cells(guaranteed);
            self.port.end_intervals(end, |_| Cells::ZERO);
        }

        fn figures(&self) -> Vec<f64> {
            let mut figures = Vec::new();
            self.port.metrics(|_, value| figures.push(value));
            figures
        }

        /// ERS in parts of C.
        fn ers(&self) -> f64 {
            self.figures()[2] / C
        }

        fn answer(&mut self, queue: u64) -> (f64, bool, bool) {
            let mut feedback = Feedback::new(RateCode::MAX, false, false);
            self.port.on_backward_rm(Time::ZERO, self.slot, Cells(queue), &mut feedback);
            let er = feedback.explicit_rate().rate().as_cells_per_s() / C;
            (er, feedback.congestion_indication(), feedback.no_increase())
        }
    }

    #[test]
    fn ers_follows_the_load_in_proportion() {
        let mut world = World::new(CapcConfig::new());
        assert_eq!((world.ers(), world.answer(0)), (1.0, (1.0, false, false)));
        // z = 1.5: 1 - 0.5 * 0.8. Then z = 0.5: 1 + 0.5 * 0.1. Then z = 1: as it is.
        for (cells, factor) in [(1536, 0.6), (512, 1.05), (1024, 1.0)] {
            let before = world.ers();
            world.interval(cells, 0);
            assert!((world.ers() / before - factor).abs() < 1e-12, "{cells} cells");
        }
    }

    #[test]
    fn one_interval_changes_it_no_further_than_eru_and_erf() {
        // z = 3 would be a factor of -0.6; with Rup = 2 an interval without cells one of 3.
        let mut world = World::new(CapcConfig { rup: 2.0, ..CapcConfig::new() });
        world.interval(3072, 0);
        assert_eq!(world.ers(), 0.5);
        world.interval(3072, 0);
        world.interval(0, 0);
        assert_eq!(world.ers(), 0.375);
    }

    #[test]
    fn it_stays_between_a_thousandth_of_the_target_and_all_of_it() {
        let mut world = World::new(CapcConfig::new());
        (0..30).for_each(|_| world.interval(4096, 0));
        assert!((world.ers() - 1e-3).abs() < 1e-12);
        // 1.1^72 = 955.6, 1.1^73 = 1051.2.
        (0..72).for_each(|_| world.interval(0, 0));
        assert!((world.ers() - 0.9556).abs() < 1e-4);
        world.interval(0, 0);
        assert_eq!(world.ers(), 1.0);
    }

    #[test]
    fn higher_categories_leave_less_and_nothing_left_is_overload() {
        let mut world = World::new(CapcConfig::new());
        world.interval(256, 512);
        assert_eq!(world.figures()[..2], [0.5, C / 2.0]);
        world.interval(1, 1024);
        assert_eq!(world.figures()[..2], [f64::INFINITY, 0.0]);
        assert_eq!(world.ers(), 0.5);
    }

    #[test]
    fn ci_is_set_above_the_threshold_and_er_only_lowered() {
        let mut world = World::new(CapcConfig { threshold: Cells(7), ..CapcConfig::new() });
        assert_eq!((world.answer(7).1, world.answer(8).1), (false, true));
        let came = RateCode::floor(CellRate::new(100.0));
        let mut feedback = Feedback::new(came, false, true);
        world.port.on_backward_rm(Time::ZERO, world.slot, Cells(8), &mut feedback);
        assert_eq!(feedback, Feedback::new(came, true, true));
    }

    #[test]
    fn idle_intervals_passed_over_are_those_that_would_change_nothing() {
        let mut world = World::new(CapcConfig::new());
        world.interval(2048, 0);
        let mut other = World::new(CapcConfig::new());
        other.interval(2048, 0);
        let end = world.port.next_deadline() + INTERVAL * 300;
        world.port.end_intervals(end, |_| Cells::ZERO);
        (0..301).for_each(|_| other.interval(0, 0));
        assert_eq!(world.figures(), other.figures());
        assert_eq!(world.port.next_deadline(), other.port.next_deadline());
    }
}
