//! FECN, which ERICA's authors proposed for Ethernet (J. Jiang, R. Jain, C. So-In: "An explicit rate control framework
//! for lossless Ethernet operation", IEEE ICC 2008; proposed to IEEE 802.1Qau as forward explicit congestion
//! notification).
//!
//! It is ERICA+ with one rate for all: at the end of each interval the rate is divided by the load, which is what came
//! over what the line takes, times a function of the queue that is 1 at the queue aimed at. Packets that discover the
//! rate are RM cells here.
//!
//! Where the published description is open:
//! - The mean of the last two rates, with half the weight for each: the recursion goes on from the mean, which is what
//!   sources obey.
//! - The rate begins at a two-hundredth of the line; how low it may fall is open: a thousandth of the line here.
//! - The queue aimed at is 192,000 bits in the source, 453 cells.

use alloc::sync::Arc;

use super::built_in::{BuiltIn, Figure, Form};
use super::meter::{AveragingInterval, IntervalLoad, Meter, Metering};
use super::{Feedback, Promises, Settled, Slot, SwitchAlgorithm};
use crate::declaration::{Range, Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Time};

/// The rate is at least that of the line over this.
const RANGE: f64 = 1000.0;
/// Weight of the newest rate in the one that is handed out.
const NEWEST: f64 = 0.5;

/// The parameters of FECN.
///
/// ```
/// use cellrate_proto::switch::FecnConfig;
/// assert_eq!(FecnConfig::new().check(), Ok(()));
/// let error = FecnConfig { sources: 0, ..FecnConfig::new() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "sources is 0; it must be at least 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct FecnConfig {
    /// Measurement interval: its length at most.
    #[key(flatten, default = "1 ms")]
    pub interval: AveragingInterval,
    /// Connections among which the line is divided at first.
    #[key(default = "200", holds(sources > 0, "at least 1"))]
    pub sources: u32,
    /// The ABR queue aimed at.
    #[key(default = "453 cells", holds(set_point > Cells::ZERO, "at least 1 cell"))]
    pub set_point: Cells,
    /// Share of the line at an empty queue, and slope below the queue aimed at.
    #[key(default = "1.1", range = Range::ABOVE_ONE)]
    pub a: f64,
    /// Slope beyond the queue aimed at.
    #[key(default = "1.002", range = Range::ABOVE_ONE)]
    pub b: f64,
    /// The smallest share.
    #[key(default = "0.1", range = Range::SHARE)]
    pub c: f64,
}

impl FecnConfig {
    /// The share of the line that is handed out at an ABR queue of `queue`: a at an empty one, 1 at the set point, c
    /// at least.
    fn share(&self, queue: Cells) -> f64 {
        let x = queue.0 as f64 / self.set_point.0 as f64;
        if queue <= self.set_point {
            self.a / ((self.a - 1.0) * x + 1.0)
        } else {
            (self.b / ((self.b - 1.0) * x + 1.0)).max(self.c)
        }
    }
}

impl BuiltIn for Fecn {
    type Config = Arc<FecnConfig>;

    const FORMS: &'static [Form] = &[Form {
        title: "FECN",
        shape: Shape {
            name: "fecn",
            about: "FECN: one rate for all connections, divided by the load and a function of the queue.",
            keys: FecnConfig::KEYS,
        },
        figures: &[Figure::rate("ers")],
    }];

    fn at_port(config: &Arc<FecnConfig>, link_rate: CellRate) -> Fecn {
        Fecn::new(Arc::clone(config), link_rate)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<Arc<FecnConfig>, V::Error> {
        FecnConfig::read(values).map(Arc::new)
    }

    fn check(config: &Arc<FecnConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }
}

/// The algorithm. Ports share their parameters.
#[derive(Clone, Debug)]
pub struct Fecn {
    config: Arc<FecnConfig>,
    link_rate: CellRate,
    /// The rate of each connection.
    ers: CellRate,
}

impl Fecn {
    /// At the port of a line that takes `link_rate`.
    pub fn new(config: impl Into<Arc<FecnConfig>>, link_rate: CellRate) -> Fecn {
        let config = config.into();
        let ers = link_rate * (1.0 / f64::from(config.sources));
        Fecn { config, link_rate, ers }
    }
}

impl SwitchAlgorithm for Fecn {
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
        let capacity = load.available(self.link_rate);
        let arrived = load.abr_rate();
        if arrived == CellRate::ZERO && load.abr_queue > Cells::ZERO {
            return;
        }
        // Nothing came and nothing waits: the ratio is zero, and the newest rate is all that there is.
        let z = arrived.ratio(capacity * self.config.share(load.abr_queue));
        let newest =
            if z == 0.0 { capacity } else { CellRate::new(self.ers.as_cells_per_s() / z).min(capacity) };
        let least = self.link_rate * (1.0 / RANGE);
        self.ers = (newest * NEWEST + self.ers * (1.0 - NEWEST)).max(least);
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ers", self.ers.as_cells_per_s());
    }
}

impl Promises for Fecn {
    fn ignores_open_interval(&self) -> bool {
        true
    }

    fn answer_is_fixed(&self, _slot: Slot, _meter: &Meter) -> Settled {
        Settled::Yes
    }

    fn is_at_rest(&self) -> bool {
        self.ers == self.link_rate
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

    struct World(PortControl);

    impl World {
        /// Four sources at first, 100 cells aimed at, a share of 2 at an empty queue and of 1/4 at least.
        fn new() -> World {
            let interval = AveragingInterval::of_time(INTERVAL);
            let config = FecnConfig { interval, sources: 4, set_point: Cells(100), a: 2.0, b: 1.5, c: 0.25 };
            assert_eq!(config.check(), Ok(()));
            let algorithm = SwitchAlgorithmConfig::Fecn(Arc::new(config));
            let line = CellRate::new(LINE);
            let mut port =
                PortControl::new(&PortControlConfig { algorithm, ..PortControlConfig::default() }, line);
            assert_eq!(
                port.connect(&VcAtPort {
                    pcr: line,
                    mcr: CellRate::ZERO,
                    weight: 1.0,
                    round_trip: Duration::ZERO
                }),
                A
            );
            World(port)
        }

        /// An interval with so many cells, at the end of which the queue is so long.
        fn interval(&mut self, cells: u64, queue: u64) {
            let end = self.0.next_deadline();
            (0..cells).for_each(|_| self.0.on_abr_cell(Time::from_ps(end.as_ps() - 1), A));
            self.0.end_intervals(end, |_| Cells(queue));
        }

        fn ers(&self) -> f64 {
            let mut found = f64::NAN;
            self.0.metrics(|_, value| found = value);
            found
        }
    }

    #[test]
    fn the_share_is_a_at_an_empty_queue_1_at_the_set_point_and_c_at_least() {
        let config = FecnConfig { set_point: Cells(100), a: 2.0, b: 1.5, c: 0.25, ..FecnConfig::new() };
        // 2 / (0.5 + 1) at half of the set point; 1.5 / (1 + 1) at twice, 1.5 / (5 + 1) at ten times.
        let shares = [0, 50, 100, 200, 1_000, 100_000].map(|queue| config.share(Cells(queue)));
        assert_eq!(shares, [2.0, 2.0 / 1.5, 1.0, 0.75, 0.25, 0.25]);
    }

    #[test]
    fn the_rate_is_divided_by_the_load_and_half_of_the_last_one_stays() {
        let mut world = World::new();
        assert_eq!(world.ers(), LINE / 4.0);
        // 512 cells are half of the line, at the queue aimed at: 1/4 becomes 1/2, and with half of the old one 3/8.
        world.interval(512, 100);
        assert_eq!(world.ers(), LINE * 0.375);
        // 1,536 cells are one and a half times the line, and twice 0.75 of it: 3/16, and with half of the old one 9/32.
        world.interval(1_536, 200);
        assert_eq!(world.ers(), LINE * 0.28125);
        // At the load of the line and the queue aimed at it rests.
        world.interval(1_024, 100);
        assert_eq!(world.ers(), LINE * 0.28125);
    }

    #[test]
    fn where_nothing_came_the_rate_rises_to_that_of_the_line_once_the_queue_is_empty() {
        let mut world = World::new();
        world.interval(0, 3);
        assert_eq!(world.ers(), LINE * 0.25);
        world.interval(0, 0);
        assert_eq!(world.ers(), LINE * 0.625);
        (0..60).for_each(|_| world.interval(0, 0));
        assert_eq!(world.ers(), LINE);
    }

    #[test]
    fn higher_categories_take_from_what_is_handed_out_and_a_thousandth_of_the_line_stays() {
        let mut world = World::new();
        world.0.on_guaranteed_cells(512);
        // 256 cells are half of the rest: 1/4 would become 1/2, all of the rest; with half of 1/4, 3/8.
        world.interval(256, 100);
        assert_eq!(world.ers(), LINE * 0.375);
        for _ in 0..40 {
            world.0.on_guaranteed_cells(1_024);
            world.interval(8, 100);
        }
        assert_eq!(world.ers(), LINE / 1000.0);
    }

    #[test]
    fn er_is_only_lowered() {
        let mut world = World::new();
        for (came, leaves) in [(LINE, LINE / 4.0), (100.0, 100.0)] {
            let mut feedback = Feedback::new(RateCode::floor(CellRate::new(came)), false, true);
            world.0.on_backward_rm(Time::ZERO, A, Cells(9), &mut feedback);
            assert_eq!(feedback, Feedback::new(RateCode::floor(CellRate::new(leaves)), false, true));
        }
    }
}
