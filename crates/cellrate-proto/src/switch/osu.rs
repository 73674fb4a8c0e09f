//! The OSU scheme (R. Jain, S. Kalyanaraman, R. Viswanathan, The OSU scheme for congestion avoidance in ATM networks
//! using explicit rate indication, OSU-CISRC-1/96-TR02, 1996; ATM Forum 94-0883).
//!
//! The port measures its load level z, the ABR input over the target rate, and has every connection divide its rate by
//! it. Once z is within a band around 1, the target utilization band, it is used for fairness: who is above an equal
//! share divides by z over the lower end of the band, who is not by z over its upper end. This is the scheme with the
//! basic fairness option of its pseudocode.
//!
//! Where the published description is open, or is not of TM 4.0:
//! - Its RM cells carry a load adjustment factor, the largest of the way, by which the source divides its rate. An ER
//!   of CCR over the factor, the smallest of the way, is the same.
//! - Its sources send an RM cell per averaging interval, whatever their rate, so that a rate is divided once for each
//!   load. Here all BRMs of a connection have the same answer for an interval: that to the first, by the last CCR that
//!   has come until then. A source of TM 4.0 that has little sends RM cells less often: intervals within the band in
//!   which it had no answer are made up for where it claims no more than an equal share, up to that.
//! - Its RM cells carry what the source measures that it sends beside what it may send. Here CCR stands for both.
//! - A rate of 0 stays 0, however it is divided. Here a connection counts with a thousandth of the equal share at
//!   least.
//! - Without any load ER is the target rate of an idle line; without any capacity z is infinite, and ER is 0.

use alloc::sync::Arc;

use super::averaging::load_factor;
use super::built_in::{BuiltIn, Figure, Form};
use super::list::List;
use super::meter::{AveragingInterval, IntervalLoad, Meter, Metering};
use super::{Feedback, Promises, Settled, Slot, SwitchAlgorithm, VcAtPort};
use crate::declaration::{Range, Shape, Table, Values};
use crate::parameters::ParameterError;
use crate::rate_code::RateCode;
use crate::units::{CellRate, Cells, Time};

/// A connection counts with this part of the equal share at least.
const LEAST: f64 = 1e-3;

/// Rates are raised by this factor at once at most, which takes the least one to the equal share.
const MOST_AT_ONCE: f64 = 1.0 / LEAST;

/// The parameters of the OSU scheme.
///
/// ```
/// use cellrate_proto::switch::OsuConfig;
/// assert_eq!(OsuConfig::new().check(), Ok(()));
/// let error = OsuConfig { band: 1.0, ..OsuConfig::new() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "band is 1; it must be above 0 and below 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct OsuConfig {
    /// Averaging interval: its length at most.
    #[key(flatten, default = "5 ms")]
    pub interval: AveragingInterval,
    /// Share of the line that is aimed at.
    #[key(default = "0.9", range = Range::SHARE)]
    pub target_utilization: f64,
    /// Half the width of the target utilization band, over the target.
    #[key(default = "0.1", range = OsuConfig::BAND)]
    pub band: f64,
}

impl OsuConfig {
    const BAND: Range = Range::between(0.0, 1.0);
}

impl BuiltIn for Osu {
    type Config = Arc<OsuConfig>;

    const FORMS: &'static [Form] = &[Form {
        title: "the OSU scheme",
        shape: Shape {
            name: "osu",
            about: "The OSU scheme: rates are divided by the load, and once that is near the target, so that they become equal.",
            keys: OsuConfig::KEYS,
        },
        figures: &[
            Figure::plain("z"),
            Figure::plain("n"),
            Figure::rate("fair_share"),
            Figure::rate("capacity"),
        ],
    }];

    fn at_port(config: &Arc<OsuConfig>, link_rate: CellRate) -> Osu {
        Osu::new(Arc::clone(config), link_rate)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<Arc<OsuConfig>, V::Error> {
        OsuConfig::read(values).map(Arc::new)
    }

    fn check(config: &Arc<OsuConfig>) -> Result<(), ParameterError> {
        config.as_ref().check()
    }

    fn target_utilization(config: &Arc<OsuConfig>) -> f64 {
        config.target_utilization
    }
}

/// The algorithm. Ports share their parameters.
#[derive(Clone, Debug)]
pub struct Osu {
    config: Arc<OsuConfig>,
    /// The target rate of an idle line.
    most: CellRate,
    capacity: CellRate,
    z: f64,
    /// Connections that were active in the last interval, at least 1.
    n: u32,
    /// Product of what raised rates up to an equal share, within the band: see [`Raised`].
    doublings: u32,
    factor: f64,
    vcs: List<OsuVc>,
}

/// State of a connection.
#[derive(Clone, Copy, Debug)]
struct OsuVc {
    ccr: CellRate,
    answer: Option<Answer>,
}

/// The last answer to a connection.
#[derive(Clone, Copy, Debug)]
struct Answer {
    interval: u64,
    er: RateCode,
    /// Product of what had raised rates until then, this answer among it: see [`Raised`].
    doublings: u32,
    factor: f64,
}

impl Answer {
    fn raised(&self) -> Raised {
        Raised { factor: self.factor, doublings: self.doublings }
    }
}

impl OsuVc {
    fn answer_in(&self, interval: u64) -> Option<RateCode> {
        self.answer.filter(|answer| answer.interval == interval).map(|answer| answer.er)
    }
}

/// Product of the factors, none below 1, by which rates were raised in all intervals so far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Raised {
    /// From 1 to below 2.
    factor: f64,
    /// So many doublings beside it.
    doublings: u32,
}

impl Raised {
    /// That and once more by `factor`, from 1 to infinity.
    fn times(self, factor: f64) -> Raised {
        let Raised { factor: mut mantissa, mut doublings } = self;
        mantissa *= factor.min(MOST_AT_ONCE);
        while mantissa >= 2.0 {
            mantissa /= 2.0;
            doublings += 1;
        }
        Raised { factor: mantissa, doublings }
    }

    /// The factor from an `earlier` product to this one.
    fn since(self, earlier: Raised) -> f64 {
        let doublings = self.doublings - earlier.doublings;
        let doubled = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
        self.factor / earlier.factor * doubled as f64
    }
}

impl Osu {
    /// At the port of a line that takes `link_rate`.
    pub fn new(config: impl Into<Arc<OsuConfig>>, link_rate: CellRate) -> Osu {
        let config = config.into();
        let most = link_rate * config.target_utilization;
        Osu { config, most, capacity: most, z: 0.0, n: 1, doublings: 0, factor: 1.0, vcs: List::new() }
    }

    /// An equal share of the target rate \[cells/s\].
    fn fair_share(&self) -> f64 {
        self.capacity.as_cells_per_s() / f64::from(self.n)
    }

    /// Both ends of the band.
    fn band(&self) -> [f64; 2] {
        [1.0 - self.config.band, 1.0 + self.config.band]
    }

    fn is_in_band(&self) -> bool {
        let [lower, upper] = self.band();
        lower <= self.z && self.z <= upper
    }

    fn raised(&self) -> Raised {
        Raised { factor: self.factor, doublings: self.doublings }
    }

    /// Factor that raises rates up to an equal share in this interval, if the load is within the band; else 1.
    fn raises_by(&self) -> f64 {
        let [_, upper] = self.band();
        if self.is_in_band() { upper / self.z } else { 1.0 }
    }

    /// ER of a connection that claims `ccr`, and would have been raised by `missed` in intervals without an answer.
    fn explicit_rate(&self, ccr: CellRate, missed: f64) -> CellRate {
        let fair_share = self.fair_share();
        let claimed = ccr.as_cells_per_s().max(LEAST * fair_share);
        let rate = claimed.max(fair_share.min(claimed * missed));
        let [lower, upper] = self.band();
        let factor = if !self.is_in_band() {
            self.z
        } else if rate > fair_share {
            self.z / lower
        } else {
            self.z / upper
        };
        let rate = if factor > 0.0 { rate / factor } else { f64::INFINITY };
        CellRate::new(rate.min(self.most.as_cells_per_s()))
    }
}

impl SwitchAlgorithm for Osu {
    fn metering(&self) -> Option<Metering> {
        Some(Metering { interval: self.config.interval, bidirectional: false, history: false })
    }

    fn on_connect(&mut self, _slot: Slot, _vc: &VcAtPort) {
        self.vcs.push(OsuVc { ccr: CellRate::ZERO, answer: None });
    }

    fn on_forward_rm(&mut self, _now: Time, slot: Slot, ccr: CellRate, _meter: &Meter) {
        self.vcs[slot].ccr = ccr;
    }

    fn on_backward_rm(
        &mut self,
        _now: Time,
        slot: Slot,
        _queue: Cells,
        meter: &Meter,
        feedback: &mut Feedback,
    ) {
        let vc = self.vcs[slot];
        let interval = meter.interval();
        let er = vc.answer_in(interval).unwrap_or_else(|| {
            let missed = vc.answer.map_or(1.0, |last| self.raised().since(last.raised()));
            let er = RateCode::floor(self.explicit_rate(vc.ccr, missed));
            let Raised { factor, doublings } = self.raised().times(self.raises_by());
            self.vcs[slot].answer = Some(Answer { interval, er, doublings, factor });
            er
        });
        feedback.limit_to_code(er);
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.most = link_rate * self.config.target_utilization;
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, _meter: &Meter) {
        Raised { factor: self.factor, doublings: self.doublings } = self.raised().times(self.raises_by());
        self.capacity = load.available(self.most);
        self.z = load_factor(load.abr_rate(), self.capacity);
        self.n = load.active.max(1);
    }

    /// z and n without unit, the others in cells/s.
    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("z", self.z);
        visit("n", f64::from(self.n));
        visit("fair_share", self.fair_share());
        visit("capacity", self.capacity.as_cells_per_s());
    }
}

impl Promises for Osu {
    fn ignores_open_interval(&self) -> bool {
        true
    }

    fn answer_is_fixed(&self, slot: Slot, meter: &Meter) -> Settled {
        let answered = self.vcs[slot].answer_in(meter.interval()).is_some();
        if answered { Settled::Yes } else { Settled::ButForForwardRms }
    }

    fn is_at_rest(&self) -> bool {
        self.z == 0.0 && self.n == 1 && self.capacity == self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig};
    use crate::units::Duration;
    use alloc::vec::Vec;

    /// Intervals of 1/64 s: 1024 cells in one are C = 65,536 cells/s, which is the target; the line takes twice that.
    const INTERVAL: Duration = Duration::from_us(15_625);
    const C: f64 = 65_536.0;
    const A: Slot = Slot(0);
    const B: Slot = Slot(1);

    struct World(PortControl);

    impl World {
        fn new(band: f64) -> World {
            let interval = AveragingInterval::of_time(INTERVAL);
            let config = OsuConfig { interval, target_utilization: 0.5, band };
            assert_eq!(config.check(), Ok(()));
            let algorithm = SwitchAlgorithmConfig::Osu(Arc::new(config));
            let line = CellRate::new(2.0 * C);
            let mut port =
                PortControl::new(&PortControlConfig { algorithm, ..PortControlConfig::default() }, line);
            let vc = VcAtPort { pcr: line, mcr: CellRate::ZERO, weight: 1.0, round_trip: Duration::ZERO };
            assert_eq!((port.connect(&vc), port.connect(&vc)), (A, B));
            World(port)
        }

        /// An interval in which connections send so many cells each.
        fn interval(&mut self, cells: [u64; 2], guaranteed: u64) {
            let end = self.0.next_deadline();
            for (slot, cells) in [A, B].into_iter().zip(cells) {
                (0..cells).for_each(|_| self.0.on_abr_cell(Time::from_ps(end.as_ps() - 1), slot));
            }
            self.0.on_guaranteed_cells(guaranteed);
            self.0.end_intervals(end, |_| Cells::ZERO);
        }

        fn claim(&mut self, slot: Slot, part: f64) {
            self.0.on_forward_rm(Time::ZERO, slot, CellRate::new(part * C));
        }

        /// ER in parts of C.
        fn er(&mut self, slot: Slot) -> f64 {
            let mut feedback = Feedback::new(RateCode::MAX, false, false);
            self.0.on_backward_rm(Time::ZERO, slot, Cells::ZERO, &mut feedback);
            assert!(!feedback.congestion_indication() && !feedback.no_increase());
            feedback.explicit_rate().rate().as_cells_per_s() / C
        }

        fn figures(&self) -> Vec<f64> {
            let mut figures = Vec::new();
            self.0.metrics(|_, value| figures.push(value));
            figures
        }
    }

    #[test]
    fn outside_the_band_everybody_divides_by_the_load() {
        let mut world = World::new(0.125);
        // z = 2: 1.5 and 0.5 become 0.75 and 0.25.
        world.interval([1536, 512], 0);
        assert_eq!(world.figures(), [2.0, 2.0, C / 2.0, C]);
        world.claim(A, 1.5);
        world.claim(B, 0.5);
        assert_eq!([world.er(A), world.er(B)], [0.75, 0.25]);
        // z = 0.5: 0.375 and 0.125 become 0.75 and 0.25.
        world.interval([384, 128], 0);
        world.claim(A, 0.375);
        world.claim(B, 0.125);
        assert_eq!([world.er(A), world.er(B)], [0.75, 0.25]);
    }

    #[test]
    fn within_the_band_who_has_more_than_an_equal_share_goes_down_and_who_has_not_up() {
        let mut world = World::new(0.5);
        // z = 1; the equal share is 0.5, which is not more than itself: 0.75 * 0.5, and 0.25 and 0.5 times 1.5.
        world.interval([768, 256], 0);
        world.claim(A, 0.75);
        world.claim(B, 0.25);
        assert_eq!([world.er(A), world.er(B)], [0.375, 0.375]);
        world.interval([512, 512], 0);
        world.claim(A, 0.5);
        assert_eq!(world.er(A), 0.75);
        // Both ends of the band are in it: z = 1.5 and z = 0.5.
        world.interval([1024, 512], 0);
        world.claim(A, 1.0);
        let third = RateCode::floor(CellRate::new(C / 3.0)).rate().as_cells_per_s() / C;
        assert_eq!(world.er(A), third);
        world.interval([384, 128], 0);
        world.claim(B, 0.125);
        // It had no answer in two intervals: z = 1 would have raised it by 1.5, z = 1.5 by nothing.
        assert_eq!(world.er(B), 0.125 * 1.5 * 1.5 / 0.5);
    }

    #[test]
    fn a_connection_has_one_answer_in_an_interval() {
        let mut world = World::new(0.125);
        world.interval([1024, 1024], 0);
        world.claim(A, 1.0);
        assert_eq!(world.er(A), 0.5);
        // It has come down already, and is not to be halved again for the same load.
        world.claim(A, 0.5);
        assert_eq!(world.er(A), 0.5);
        world.interval([1024, 1024], 0);
        assert_eq!(world.er(A), 0.25);
    }

    #[test]
    fn higher_categories_leave_less_and_nothing_left_is_nothing() {
        let mut world = World::new(0.125);
        world.interval([512, 0], 512);
        assert_eq!(world.figures(), [1.0, 1.0, C / 2.0, C / 2.0]);
        world.interval([512, 512], 1024);
        assert_eq!(world.figures(), [f64::INFINITY, 2.0, 0.0, 0.0]);
        world.claim(A, 0.5);
        assert_eq!(world.er(A), 0.0);
    }

    #[test]
    fn a_rate_of_nothing_grows_and_no_rate_beyond_the_target() {
        let mut world = World::new(0.125);
        // Nothing has come, and nothing is claimed.
        assert_eq!(world.er(A), 1.0);
        // z = 1/512: a thousandth of the share of 1, times 512.
        world.interval([2, 0], 0);
        world.claim(A, 0.0);
        assert!((world.er(A) - 0.512).abs() < 0.512 / 512.0);
        world.claim(B, 0.5);
        assert_eq!(world.er(B), 1.0);
    }

    #[test]
    fn intervals_within_the_band_without_an_answer_are_made_up_for_up_to_an_equal_share() {
        let mut world = World::new(0.5);
        // z = 1: whoever has less than the share of 0.5 is raised by 1.5 in each interval.
        world.interval([1024, 1], 0);
        world.interval([1023, 1], 0);
        world.claim(A, 0.75);
        world.claim(B, 1.0 / 64.0);
        assert_eq!([world.er(A), world.er(B)], [0.375, 1.5 / 64.0]);
        // Three intervals later: twice without an answer, and once with one.
        (0..3).for_each(|_| world.interval([1023, 1], 0));
        assert_eq!([world.er(A), world.er(B)], [0.375, 3.375 / 64.0]);
        // The answer of this interval stands, and counts once.
        assert_eq!(world.er(B), 3.375 / 64.0);
        world.interval([1023, 1], 0);
        assert_eq!(world.er(B), 1.5 / 64.0);
        // From next to nothing: to the share, and by the answer of this interval.
        (0..5000).for_each(|_| world.interval([1023, 1], 0));
        world.claim(B, 0.0);
        assert_eq!(world.er(B), 0.75);
        // Outside the band nothing is made up for.
        (0..9).for_each(|_| world.interval([200, 0], 0));
        world.claim(B, 1.0 / 64.0);
        let once = RateCode::floor(CellRate::new(C / 64.0 * 1024.0 / 200.0)).rate().as_cells_per_s() / C;
        assert_eq!(world.er(B), once);
    }

    #[test]
    fn er_is_never_raised_and_rest_is_what_idle_intervals_leave() {
        let mut world = World::new(0.125);
        world.interval([1024, 0], 0);
        world.claim(A, 1.0);
        let came = RateCode::floor(CellRate::new(100.0));
        let mut feedback = Feedback::new(came, true, true);
        world.0.on_backward_rm(Time::ZERO, A, Cells::ZERO, &mut feedback);
        assert_eq!(feedback, Feedback::new(came, true, true));
        let mut other = World::new(0.125);
        other.interval([1024, 0], 0);
        let end = world.0.next_deadline() + INTERVAL * 30;
        world.0.end_intervals(end, |_| Cells::ZERO);
        (0..31).for_each(|_| other.interval([0, 0], 0));
        assert_eq!((world.figures(), world.0.next_deadline()), (other.figures(), other.0.next_deadline()));
    }
}
