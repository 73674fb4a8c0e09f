//! Phantom (Y. Afek, Y. Mansour, Z. Ostfeld, Phantom: a simple and effective flow control scheme, ACM SIGCOMM 1996;
//! Computer Networks 32(3), 2000).
//!
//! What a line has left is taken for the rate of one connection more, the phantom. MACR is a running mean of it, and
//! every connection may send a multiple of MACR. So a line settles where each has that multiple of what all of them
//! leave: there is no state per connection, and connections are not counted.
//!
//! Where the published description is open:
//! - MACR begins as it is when one connection has the line, and is never below zero.
//! - Its weight is the same whichever way MACR goes.
//! - What is left is the line less what came, higher categories included; it is negative where more came than the line
//!   takes.

use alloc::sync::Arc;

use super::built_in::{BuiltIn, Figure, Form};
use super::meter::{AveragingInterval, IntervalLoad, Meter, Metering};
use super::{Feedback, Promises, Settled, Slot, SwitchAlgorithm};
use crate::declaration::{Range, Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Time};

/// Phantom's parameters.
///
/// ```
/// use cellrate_proto::switch::PhantomConfig;
/// assert_eq!(PhantomConfig::new().check(), Ok(()));
/// let error = PhantomConfig { alpha: 0.0, ..PhantomConfig::new() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "alpha is 0; it must be above 0 and at most 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct PhantomConfig {
    /// Averaging interval: its length at most.
    #[key(flatten, default = "0.5 ms")]
    pub interval: AveragingInterval,
    /// How many times the mean a connection may send: n of them have n times this part of the rest.
    #[key(default = "5", range = Range::POSITIVE)]
    pub utilization_factor: f64,
    /// Weight of the newest interval in the mean.
    #[key(default = "1/128", range = Range::SHARE)]
    pub alpha: f64,
}

impl BuiltIn for Phantom {
    type Config = Arc<PhantomConfig>;

    const FORMS: &'static [Form] = &[Form {
        title: "Phantom",
        shape: Shape {
            name: "phantom",
            about: "Phantom: one rate for all connections, a multiple of the mean of what they leave of the line.",
            keys: PhantomConfig::KEYS,
        },
        figures: &[Figure::rate("macr")],
    }];

    fn at_port(config: &Arc<PhantomConfig>, link_rate: CellRate) -> Phantom {
        Phantom::new(Arc::clone(config), link_rate)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<Arc<PhantomConfig>, V::Error> {
        PhantomConfig::read(values).map(Arc::new)
    }

    fn check(config: &Arc<PhantomConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }

    fn phantom_weight(config: &Arc<PhantomConfig>) -> f64 {
        1.0 / config.utilization_factor
    }
}

/// The algorithm. Ports share their parameters.
#[derive(Clone, Debug)]
pub struct Phantom {
    config: Arc<PhantomConfig>,
    link_rate: CellRate,
    macr: CellRate,
}

impl Phantom {
    /// At the port of a line that takes `link_rate`.
    pub fn new(config: impl Into<Arc<PhantomConfig>>, link_rate: CellRate) -> Phantom {
        let config = config.into();
        let macr = CellRate::new(link_rate.as_cells_per_s() / (1.0 + config.utilization_factor));
        Phantom { config, link_rate, macr }
    }

    /// MACR when an interval has left so much of the line [cells/s, below 0 where more came than the line takes].
    fn with(&self, left: f64) -> CellRate {
        let macr = self.macr.as_cells_per_s();
        CellRate::new(macr + self.config.alpha * (left - macr))
    }
}

impl SwitchAlgorithm for Phantom {
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
        feedback.limit(self.macr * self.config.utilization_factor);
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.link_rate = link_rate;
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, _meter: &Meter) {
        let left = load.others().left_of(self.link_rate);
        self.macr = self.with(left - load.abr_rate().as_cells_per_s());
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("macr", self.macr.as_cells_per_s());
    }
}

impl Promises for Phantom {
    fn ignores_open_interval(&self) -> bool {
        true
    }

    fn answer_is_fixed(&self, _slot: Slot, _meter: &Meter) -> Settled {
        Settled::Yes
    }

    fn is_at_rest(&self) -> bool {
        self.with(self.link_rate.as_cells_per_s()) == self.macr
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig, VcAtPort};
    use crate::units::Duration;

    /// Intervals of 1/64 s: 1024 cells in one are C = 65,536 cells/s, which is the line.
    const INTERVAL: Duration = Duration::from_us(15_625);
    const C: f64 = 65_536.0;

    struct World {
        port: PortControl,
        slot: Slot,
    }

    impl World {
        /// Three times MACR for each, and a quarter of it new in each interval.
        fn new() -> World {
            World::with(AveragingInterval::of_time(INTERVAL))
        }

        fn with(interval: AveragingInterval) -> World {
            let config = PhantomConfig { interval, utilization_factor: 3.0, alpha: 0.25 };
            assert_eq!(config.check(), Ok(()));
            let algorithm = SwitchAlgorithmConfig::Phantom(Arc::new(config));
            let line = CellRate::new(C);
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

        fn macr(&self) -> f64 {
            let mut found = f64::NAN;
            self.port.metrics(|_, value| found = value);
            found
        }

        fn er(&mut self, queue: u64) -> f64 {
            let mut feedback = Feedback::new(RateCode::MAX, false, false);
            self.port.on_backward_rm(Time::ZERO, self.slot, Cells(queue), &mut feedback);
            assert!(!feedback.congestion_indication() && !feedback.no_increase());
            feedback.explicit_rate().rate().as_cells_per_s()
        }
    }

    #[test]
    fn macr_moves_by_a_quarter_towards_what_is_left() {
        // C / (1 + 3), of which a connection may send three times as much: all but that.
        let mut world = World::new();
        assert_eq!((world.macr(), world.er(0)), (16_384.0, 49_152.0));
        // 1024 - 512 cells are left, 32,768 cells/s: 16,384 + 16,384 / 4.
        world.interval(512, 0);
        assert_eq!((world.macr(), world.er(0)), (20_480.0, 61_440.0));
        // 1024 - 1024 - 512 cells, -32,768 cells/s: 20,480 - 53,248 / 4.
        world.interval(1024, 512);
        assert_eq!((world.macr(), world.er(0)), (7_168.0, 21_504.0));
        // -65,536 cells/s: 7,168 - 72,704 / 4 is less than nothing.
        world.interval(2048, 0);
        assert_eq!((world.macr(), world.er(0)), (0.0, 0.0));
        world.interval(0, 256);
        assert_eq!(world.macr(), 12_288.0);
    }

    #[test]
    fn it_stays_where_connections_have_their_multiple_of_what_they_leave() {
        // One has 3/4 of the line, and leaves 1/4.
        let mut world = World::new();
        (0..10).for_each(|_| world.interval(768, 0));
        assert_eq!((world.macr(), world.er(0)), (C / 4.0, 0.75 * C));
    }

    #[test]
    fn an_answer_is_settled_until_the_interval_ends_unless_cells_may_end_it() {
        let mut world = World::new();
        let within = Time::from_ps(world.port.next_deadline().as_ps() - 1);
        assert_eq!(world.port.answer_is_fixed(within, world.slot), Settled::Yes);
        let before = world.er(0);
        (0..500).for_each(|_| world.port.on_abr_cell(within, world.slot));
        world.port.on_forward_rm(within, world.slot, CellRate::new(5_000.0));
        assert_eq!(world.er(1_000), before);
        assert_eq!(world.port.answer_is_fixed(world.port.next_deadline(), world.slot), Settled::No);
        let world = World::with(AveragingInterval::of_time_or_cells(INTERVAL, 100));
        assert_eq!(world.port.answer_is_fixed(Time::ZERO, world.slot), Settled::No);
    }

    #[test]
    fn er_is_never_raised() {
        let mut world = World::new();
        let came = RateCode::floor(CellRate::new(1_000.0));
        let mut feedback = Feedback::new(came, true, true);
        world.port.on_backward_rm(Time::ZERO, world.slot, Cells(100), &mut feedback);
        assert_eq!(feedback, Feedback::new(came, true, true));
    }

    #[test]
    fn idle_intervals_passed_over_are_those_that_would_change_nothing() {
        let [mut world, mut other] = [(); 2].map(|()| World::new());
        for world in [&mut world, &mut other] {
            world.interval(700, 300);
        }
        let end = world.port.next_deadline() + INTERVAL * 5_000;
        let mut ended = 0;
        world.port.end_intervals(end, |_| {
            ended += 1;
            Cells::ZERO
        });
        (0..5_001).for_each(|_| other.interval(0, 0));
        assert_eq!(world.macr(), other.macr());
        assert!((world.macr() / C - 1.0).abs() < 1e-15, "all of the line, to the last bits");
        assert_eq!(world.port.next_deadline(), other.port.next_deadline());
        assert!((100..200).contains(&ended), "{ended}: a quarter of what remains each time, to the last bit");
    }
}
