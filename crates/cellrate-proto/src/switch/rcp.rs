//! RCP, the rate control protocol (N. Dukkipati, M. Kobayashi, R. Zhang-Shen, N. McKeown: "Processor sharing flows in
//! the Internet", IWQoS 2005; N. Dukkipati, N. McKeown, TR05-HPNG-112102), as its authors' router for ns-2 has it.
//!
//! A line has one rate for all, which moves by what the line has left and by what the queue holds, over the mean round
//! trip of the connections: at rest the line is full, the queue empty, and a new connection has its share after one
//! round trip. Packets that carry the rate are RM cells here. The round trips are those that set-up told the port
//! ([`VcAtPort::round_trip`]); the router reads them, with the queues in them, in its packets' headers.
//!
//! Where the source is open, or other here:
//! - The router's intervals are as long as the mean round trip, up to 10 ms. Here they are as long as the key says, and
//!   the gain of an interval is cut to that of a round trip.
//! - Its first interval is drawn, so that lines do not keep step. Here it is not.
//! - The least rate is a hundredth of a packet in a round trip, and a packet is a cell.

use alloc::sync::Arc;

use super::built_in::{BuiltIn, Figure, Form};
use super::meter::{AveragingInterval, IntervalLoad, Meter, Metering};
use super::{Feedback, Promises, RoundTrips, Settled, Slot, SwitchAlgorithm, VcAtPort};
use crate::declaration::{Range, Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Time};

/// Cells in a round trip at the least rate.
const LEAST_CELLS: f64 = 0.01;
/// The shortest round trip that counts \[s\]: that of a line without delay would divide by zero.
const SHORTEST_S: f64 = 1e-6;

/// The parameters of RCP.
///
/// ```
/// use cellrate_proto::switch::RcpConfig;
/// assert_eq!(RcpConfig::new().check(), Ok(()));
/// let error = RcpConfig { alpha: 0.0, ..RcpConfig::new() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "alpha is 0; it must be above 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct RcpConfig {
    /// Update interval: its length at most.
    #[key(flatten, default = "10 ms")]
    pub interval: AveragingInterval,
    /// Gain of what the line has left.
    #[key(default = "0.4", range = Range::POSITIVE)]
    pub alpha: f64,
    /// Gain of the queue; 0 leaves the queue out.
    #[key(default = "0.4", range = Range::NOT_NEGATIVE)]
    pub beta: f64,
    /// Share of the line that is handed out.
    #[key(default = "1", range = Range::SHARE)]
    pub target_utilization: f64,
    /// The first rate, as a share of the line.
    #[key(default = "0.05", range = Range::SHARE)]
    pub first: f64,
}

impl BuiltIn for Rcp {
    type Config = Arc<RcpConfig>;

    const FORMS: &'static [Form] = &[Form {
        title: "RCP",
        shape: Shape {
            name: "rcp",
            about: "RCP: one rate for all connections, by what the line has left and the queue over a mean round trip.",
            keys: RcpConfig::KEYS,
        },
        figures: &[Figure::rate("ers")],
    }];

    fn at_port(config: &Arc<RcpConfig>, link_rate: CellRate) -> Rcp {
        Rcp::new(Arc::clone(config), link_rate)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<Arc<RcpConfig>, V::Error> {
        RcpConfig::read(values).map(Arc::new)
    }

    fn check(config: &Arc<RcpConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }

    fn target_utilization(config: &Arc<RcpConfig>) -> f64 {
        config.target_utilization
    }
}

/// The algorithm. Ports share their parameters.
#[derive(Clone, Debug)]
pub struct Rcp {
    config: Arc<RcpConfig>,
    link_rate: CellRate,
    /// The rate of each connection [cells/s].
    rate: f64,
    /// Running mean of the round trips of cells \[s\]; none before the first cells.
    round_trip: Option<f64>,
    /// Round trips of the connections.
    told: RoundTrips,
}

impl Rcp {
    /// At the port of a line that takes `link_rate`.
    pub fn new(config: impl Into<Arc<RcpConfig>>, link_rate: CellRate) -> Rcp {
        let config = config.into();
        let rate = link_rate.as_cells_per_s() * config.first;
        Rcp { config, link_rate, rate, round_trip: None, told: RoundTrips::default() }
    }

    /// Takes the mean round trip of an interval of `length` seconds into the running one.
    ///
    /// Longer ones count by the interval's part of a round trip. Shorter ones count less, since a connection with a
    /// short round trip has more of them, by the rate's part of the line.
    fn average(&mut self, mean: f64, length: f64) {
        let before = *self.round_trip.get_or_insert(mean);
        let part = length / before;
        let share = self.rate / self.link_rate.as_cells_per_s().max(f64::MIN_POSITIVE);
        let weight = if mean >= before { part } else { share * (mean / before) * part };
        self.round_trip = Some(before + weight.min(1.0) * (mean - before));
    }
}

impl SwitchAlgorithm for Rcp {
    fn metering(&self) -> Option<Metering> {
        Some(Metering { interval: self.config.interval, bidirectional: false, history: true })
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.link_rate = link_rate;
    }

    fn on_connect(&mut self, _slot: Slot, vc: &VcAtPort) {
        self.told.connect(vc);
    }

    fn on_backward_rm(
        &mut self,
        _now: Time,
        _slot: Slot,
        _queue: Cells,
        _meter: &Meter,
        feedback: &mut Feedback,
    ) {
        feedback.limit(CellRate::new(self.rate));
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, meter: &Meter) {
        let RcpConfig { alpha, beta, target_utilization, .. } = *self.config;
        let length = load.length().as_secs_f64();
        if let Some(round_trips) = self.told.of_last_interval(meter) {
            self.average(round_trips.mean.max(SHORTEST_S), length);
        }
        let round_trip = self.round_trip.unwrap_or(length);
        let most = load.available(self.link_rate * target_utilization);
        let most = most.as_cells_per_s();
        let least = LEAST_CELLS / round_trip;
        if most > least {
            let left = most - load.abr_rate().as_cells_per_s();
            let change = alpha * left - beta * load.abr_queue.0 as f64 / round_trip;
            let gain = (length / round_trip).min(1.0);
            self.rate = (self.rate * (1.0 + gain * change / most)).clamp(least, most);
        } else {
            self.rate = least;
        }
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ers", self.rate);
    }
}

impl Promises for Rcp {
    fn ignores_open_interval(&self) -> bool {
        true
    }

    fn answer_is_fixed(&self, _slot: Slot, _meter: &Meter) -> Settled {
        Settled::Yes
    }

    fn is_at_rest(&self) -> bool {
        self.rate == (self.link_rate * self.config.target_utilization).as_cells_per_s()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig};
    use crate::units::Duration;

    /// Intervals of 1/64 s, in which a cell is 64 cells/s.
    const INTERVAL: Duration = Duration::from_us(15_625);
    const LINE: f64 = 65_536.0;
    const A: Slot = Slot(0);
    const B: Slot = Slot(1);

    struct World(PortControl);

    impl World {
        /// A round trip of four intervals for A, of two for B; alpha 1/2, beta 1/4, a first rate of a quarter of the
        /// line.
        fn new() -> World {
            let interval = AveragingInterval::of_time(INTERVAL);
            let config = RcpConfig { interval, alpha: 0.5, beta: 0.25, target_utilization: 1.0, first: 0.25 };
            assert_eq!(config.check(), Ok(()));
            let algorithm = SwitchAlgorithmConfig::Rcp(Arc::new(config));
            let line = CellRate::new(LINE);
            let mut port =
                PortControl::new(&PortControlConfig { algorithm, ..PortControlConfig::default() }, line);
            for (slot, intervals) in [(A, 4), (B, 2)] {
                let round_trip = INTERVAL * intervals;
                let vc = VcAtPort { pcr: line, mcr: CellRate::ZERO, weight: 1.0, round_trip };
                assert_eq!(port.connect(&vc), slot);
            }
            World(port)
        }

        /// An interval with so many cells of A and of B, at the end of which the queue is so long.
        fn interval(&mut self, cells: [u64; 2], queue: u64) {
            let end = self.0.next_deadline();
            for (slot, cells) in [A, B].into_iter().zip(cells) {
                (0..cells).for_each(|_| self.0.on_abr_cell(Time::from_ps(end.as_ps() - 1), slot));
            }
            self.0.end_intervals(end, |_| Cells(queue));
        }

        fn rate(&self) -> f64 {
            let mut found = f64::NAN;
            self.0.metrics(|_, value| found = value);
            found
        }
    }

    #[test]
    fn the_rate_follows_what_is_left_and_the_queue_over_a_round_trip() {
        let mut world = World::new();
        // Half of the line is left: 1/4 (1 + 1/4 * 1/2 * 1/2).
        world.interval([512, 0], 0);
        assert_eq!(world.rate(), LINE / 4.0 * 1.0625);
        // All of it came, and 4,096 cells wait, which are one line in a round trip of four intervals: 1 - 1/4 * 1/4.
        world.interval([1_024, 0], 4_096);
        assert_eq!(world.rate(), LINE / 4.0 * 1.0625 * 0.9375);
        // Nothing left, nothing waits: it rests.
        world.interval([1_024, 0], 0);
        assert_eq!(world.rate(), LINE / 4.0 * 1.0625 * 0.9375);
    }

    #[test]
    fn longer_round_trips_count_by_time_and_shorter_ones_by_the_share_of_the_rate() {
        let mut rcp = Rcp::new(RcpConfig { first: 0.5, ..RcpConfig::new() }, CellRate::new(LINE));
        rcp.average(2.0, 1.0);
        assert_eq!(rcp.round_trip, Some(2.0), "the first one is taken whole");
        rcp.average(4.0, 1.0);
        assert_eq!(rcp.round_trip, Some(3.0), "half of the way, for an interval of half a round trip");
        // 1/2 * (1/3) * (1/3) of the way from 3 to 1.
        rcp.average(1.0, 1.0);
        assert_eq!(rcp.round_trip, Some(3.0 - 2.0 / 18.0));
    }

    #[test]
    fn cells_weigh_the_round_trips_of_their_connections() {
        let mut world = World::new();
        // Three cells of A and one of B: (3 * 4 + 2) / 4 = 3.5 intervals; 1,020 cells of the line are left.
        world.interval([3, 1], 0);
        let left = 1_020.0 / 1_024.0;
        assert!((world.rate() / (LINE / 4.0 * (1.0 + 0.5 * left / 3.5)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn it_stays_between_a_hundredth_of_a_cell_in_a_round_trip_and_what_higher_categories_leave() {
        let mut world = World::new();
        for _ in 0..200 {
            world.interval([0, 0], 0);
        }
        assert_eq!(world.rate(), LINE);
        world.0.on_guaranteed_cells(768);
        world.interval([1, 0], 0);
        assert_eq!(world.rate(), LINE / 4.0);
        for _ in 0..50 {
            world.0.on_guaranteed_cells(2_000);
            world.interval([1, 0], 0);
        }
        assert_eq!(world.rate(), 0.01 / (INTERVAL * 4).as_secs_f64());
        // From there it comes back: the change is a share of the rate itself.
        for _ in 0..1_000 {
            world.interval([0, 0], 0);
        }
        assert_eq!(world.rate(), LINE);
    }

    #[test]
    fn all_are_answered_alike_and_er_is_only_lowered() {
        let mut world = World::new();
        for slot in [A, B] {
            let mut feedback = Feedback::new(RateCode::MAX, false, true);
            world.0.on_backward_rm(Time::ZERO, slot, Cells(9), &mut feedback);
            assert_eq!(feedback, Feedback::new(RateCode::floor(CellRate::new(LINE / 4.0)), false, true));
        }
        let came = RateCode::floor(CellRate::new(100.0));
        let mut feedback = Feedback::new(came, true, false);
        world.0.on_backward_rm(Time::ZERO, A, Cells(9), &mut feedback);
        assert_eq!(feedback, Feedback::new(came, true, false));
    }

    #[test]
    fn idle_intervals_passed_over_are_those_that_would_change_nothing() {
        let [mut world, mut other] = [World::new(), World::new()];
        world.interval([9, 9], 500);
        other.interval([9, 9], 500);
        let end = world.0.next_deadline() + INTERVAL * 300;
        world.0.end_intervals(end, |_| Cells::ZERO);
        (0..301).for_each(|_| other.interval([0, 0], 0));
        assert_eq!((world.rate(), world.0.next_deadline()), (other.rate(), other.0.next_deadline()));
    }
}
