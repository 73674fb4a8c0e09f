//! The switch based use-it-or-lose-it policy (Ramakrishnan, Mishra, Fendick, AF-TM 95-1599; paper uili, section 5.5): a
//! switch takes back what a connection claims and does not use, with an aging function on top of its rate allocation.
//!
//! The proposal is three lines: estimate the rate of each connection, smoothed; form u, what the connection claims over
//! what it sends; reduce its allocation by `exp(alpha u) - exp(alpha delta)`. With it goes a time-out at the source,
//! because an idle source sends no RM cells and cannot be told anything: that is rule 5 of every source (ADTF).
//!
//! What it leaves open, and how it is taken here:
//! - **What is claimed** is the lowest CCR that held during an interval, smoothed with the same weight as the rate. CCR
//!   alone would run ahead of the estimate whenever a source ramps up, and punish exactly the sources that use what
//!   they get (the fault of section 4.1).
//! - **The reduction** is a division by 1 + exp(alpha u) - exp(alpha delta), of the claims: it begins at 1 where u
//!   = delta, grows without bound and never turns an allocation negative. It is the same for every BRM of an interval,
//!   and never more than the last CCR: who has come down is neither divided again nor given anything back.
//! - **The end of it** is delta times the measured rate: less would take what is used. At least `floor` stays, so that
//!   an idle connection has a rate to come back with; the switch does not know ICR.
//! - **Between use and retention**, from `used` to delta, a connection keeps what it claims and gets no more. Without
//!   this zone one that has come down to delta would be given its full allocation at once, and come down again.

use alloc::vec::Vec;

use super::Slot;
use super::meter::Meter;
use crate::declaration::{Range, Table};
use crate::parameters::MAX_RATE;
use crate::units::CellRate;

/// The switch based use-it-or-lose-it policy (paper uili, section 5.5).
///
/// Parameters of [`Aging`]. The paper has no values; these are ours: with 20 cells per interval and connection, one
/// cell more or less is 5 %, and 10 Mb/s are the headroom of its section 5.2.6.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
#[table(name = "aging", prefix = "aging_")]
pub struct AgingConfig {
    /// Steepness of the aging function.
    #[key(default = "0.1", range = AgingConfig::STEEPNESS)]
    pub alpha: f64,
    /// Ratio of claimed to measured rate that is left in peace.
    #[key(default = "1.5", range = AgingConfig::RATIO)]
    pub delta: f64,
    /// Ratio up to which a connection counts as using all it has; at most delta.
    #[key(default = "1.1", range = AgingConfig::RATIO, holds((1.0..=delta).contains(&used), "from 1 to aging_delta"))]
    pub used: f64,
    /// Weight of the newest interval in the smoothed rates.
    #[key(default = "1/4", range = Range::SHARE)]
    pub weight: f64,
    /// Rate to which every allocation ages and not below, at most 16777215 cells/s.
    #[key(default = "10 Mbps", holds(floor.as_cells_per_s() <= MAX_RATE, "from 0 to 16777215 cells/s"))]
    pub floor: CellRate,
}

impl AgingConfig {
    const STEEPNESS: Range = Range::above(0.0, 10.0);
    const RATIO: Range = Range::closed(1.0, 100.0);
}

/// Estimates below this are nothing: then an idle port comes to rest.
const NEGLIGIBLE: f64 = 1e-6;

/// The rates of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Estimate {
    /// The CCR of the last FRM [cells/s].
    ccr: CellRate,
    /// The lowest CCR that held in this interval [cells/s].
    lowest_ccr: CellRate,
    /// CCR, smoothed from interval to interval [cells/s].
    claimed: CellRate,
    /// The rate at which cells come, smoothed from interval to interval [cells/s].
    rate: CellRate,
    /// Whether there is anything to smooth with.
    begun: bool,
}

/// Aging of allocations at a port.
#[derive(Clone, Debug)]
pub struct Aging {
    vcs: Vec<Estimate>,
    at_rest: bool,
    config: AgingConfig,
}

impl Aging {
    /// Nothing measured yet: nothing is reduced.
    pub const fn new(config: AgingConfig) -> Aging {
        Aging { vcs: Vec::new(), at_rest: false, config }
    }

    pub(super) fn connect(&mut self) {
        self.vcs.push(Estimate::default());
    }

    /// An FRM passed, claiming `ccr`.
    pub(super) fn on_forward_rm(&mut self, slot: Slot, ccr: CellRate) {
        let vc = &mut self.vcs[slot.0 as usize];
        vc.ccr = ccr;
        vc.lowest_ccr = vc.lowest_ccr.min(ccr);
    }

    /// Takes the rates of the interval that has ended; `meter` is already in the next one.
    pub(super) fn end_interval(&mut self, meter: &Meter) {
        let weight = self.config.weight;
        self.at_rest = true;
        for (slot, vc) in (0..).map(Slot).zip(&mut self.vcs) {
            let before = *vc;
            let (claimed, rate) = (vc.lowest_ccr, meter.previous_rate(slot));
            // The average begins with the first interval in which the connection claimed something throughout.
            if !vc.begun && claimed > CellRate::ZERO {
                (vc.claimed, vc.rate, vc.begun) = (claimed, rate, true);
            } else if vc.begun {
                vc.claimed = settle(claimed * weight + vc.claimed * (1.0 - weight));
                vc.rate = settle(rate * weight + vc.rate * (1.0 - weight));
            }
            vc.lowest_ccr = vc.ccr;
            self.at_rest &= before == *vc;
        }
    }

    /// Whether another interval without cells would change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        self.at_rest
    }

    /// `allocation` as aging leaves it; never more.
    pub(super) fn limit(&self, slot: Slot, allocation: CellRate) -> CellRate {
        let AgingConfig { alpha, delta, used, floor, .. } = self.config;
        let Estimate { ccr, claimed, rate, begun, .. } = self.vcs[slot.0 as usize];
        if !begun || claimed <= rate * used {
            return allocation;
        }
        let kept = if claimed <= rate * delta {
            ccr
        } else {
            // Without any traffic u is infinite, and so is the reduction.
            let u = claimed.ratio(rate);
            let reduction = libm::exp(alpha * u) - libm::exp(alpha * delta);
            CellRate::new(claimed.as_cells_per_s() / (1.0 + reduction)).min(ccr).max(rate * delta)
        };
        allocation.min(kept.max(floor))
    }
}

fn settle(rate: CellRate) -> CellRate {
    if rate.as_cells_per_s() < NEGLIGIBLE { CellRate::ZERO } else { rate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::{AveragingInterval, Metering};
    use crate::units::{Cells, Duration, Time};
    use proptest::prelude::*;

    const A: Slot = Slot(0);
    const FULL: CellRate = CellRate::new(100_000.0);

    /// Intervals of 1 ms, no smoothing, no floor.
    fn bare() -> AgingConfig {
        AgingConfig { weight: 1.0, floor: CellRate::ZERO, ..AgingConfig::new() }
    }

    struct World {
        aging: Aging,
        meter: Meter,
    }

    impl World {
        fn new(config: AgingConfig) -> World {
            assert_eq!(config.check(), Ok(()));
            let interval = AveragingInterval::of_time(Duration::from_ms(1));
            let mut meter = Meter::new(Some(Metering { interval, bidirectional: false, history: true }));
            meter.connect();
            let mut aging = Aging::new(config);
            aging.connect();
            World { aging, meter }
        }

        /// An interval with so many cells (1000 cells/s each), and FRMs that claim these rates; what A gets after it.
        fn interval(&mut self, cells: u32, claims: &[f64]) -> f64 {
            (0..cells).for_each(|_| self.meter.on_abr_cell(Time::ZERO, A));
            claims.iter().for_each(|&ccr| self.aging.on_forward_rm(A, CellRate::new(ccr)));
            self.meter.end_interval(Cells::ZERO);
            self.aging.end_interval(&self.meter);
            self.aging.limit(A, FULL).as_cells_per_s()
        }
    }

    #[test]
    fn who_uses_what_he_claims_gets_all() {
        let mut world = World::new(bare());
        world.interval(20, &[20_000.0]);
        assert_eq!(world.interval(20, &[20_000.0]), 100_000.0);
        // 22 claimed over 20 used is `used` itself, and counts.
        world.interval(20, &[22_000.0]);
        assert_eq!(world.interval(20, &[]), 100_000.0);
    }

    #[test]
    fn between_used_and_delta_a_connection_keeps_what_it_claims() {
        let mut world = World::new(bare());
        for claimed in [22_100.0, 30_000.0] {
            world.interval(20, &[claimed]);
            assert_eq!(world.interval(20, &[]), claimed);
        }
    }

    #[test]
    fn beyond_delta_the_aging_function_divides_what_is_claimed() {
        // u = 80,000 / 20,000 = 4: 1 + e^0.4 - e^0.15 = 1.3299904.
        let mut world = World::new(bare());
        world.interval(20, &[80_000.0]);
        let left = world.interval(20, &[]);
        assert!((left - 80_000.0 / 1.329_990_4).abs() < 0.01, "{left}");
    }

    #[test]
    fn within_an_interval_nobody_is_divided_twice_or_given_anything_back() {
        let mut world = World::new(bare());
        world.interval(20, &[80_000.0]);
        let first = world.interval(20, &[]);
        // Told, the source claims what it was given, or less: it keeps that.
        for ccr in [first, 50_000.0] {
            world.aging.on_forward_rm(A, CellRate::new(ccr));
            assert_eq!(world.aging.limit(A, FULL).as_cells_per_s(), ccr);
        }
    }

    #[test]
    fn the_reduction_ends_at_delta_times_the_measured_rate() {
        // u = 31/20 = 1.55: 31,000 / (1 + e^0.155 - e^0.15) = 30,820, above 1.5 * 20,000. With a steep alpha = 10 the
        // quotient is far below, and the limit is 30,000.
        let mut world = World::new(AgingConfig { alpha: 10.0, ..bare() });
        world.interval(20, &[31_000.0]);
        assert_eq!(world.interval(20, &[]), 30_000.0);
    }

    #[test]
    fn an_idle_connection_is_left_the_floor() {
        let floor = CellRate::new(5_000.0);
        let mut world = World::new(AgingConfig { floor, ..bare() });
        world.interval(80, &[80_000.0]);
        assert_eq!(world.interval(0, &[]), 5_000.0);
        assert_eq!(World::new(bare()).interval(0, &[]), 100_000.0, "nothing claimed yet");
    }

    #[test]
    fn a_connection_that_ramps_up_is_not_punished_for_the_interval_of_its_rise() {
        // CCR rises from 20,000 to 80,000 in mid-interval: 50 cells. The lowest claim of that interval is 20,000.
        let mut world = World::new(bare());
        world.interval(20, &[20_000.0]);
        world.interval(20, &[]);
        assert_eq!(world.interval(50, &[20_000.0, 80_000.0]), 100_000.0);
        assert_eq!(world.interval(80, &[]), 100_000.0);
    }

    #[test]
    fn smoothing_forgets_a_pause_slowly() {
        // Weight 1/4: after one empty interval the rate is 3/4 of 80,000, and u = 4/3 is within delta; after two, 9/16,
        // u = 16/9: reduced.
        let mut world = World::new(AgingConfig { weight: 0.25, ..bare() });
        world.interval(80, &[80_000.0]);
        world.interval(80, &[]);
        assert_eq!(world.interval(0, &[]), 80_000.0);
        let left = world.interval(0, &[]);
        assert!(left < 80_000.0 && left > 1.5 * 45_000.0 - 1.0, "{left}");
    }

    #[test]
    fn an_idle_port_comes_to_rest() {
        let mut world = World::new(AgingConfig::new());
        world.interval(80, &[80_000.0]);
        world.interval(80, &[]);
        for _ in 0..200 {
            world.interval(0, &[]);
        }
        assert!(world.aging.is_at_rest());
        assert_eq!(world.aging.limit(A, FULL), AgingConfig::new().floor);
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        let refused = |config: AgingConfig| config.check().map_err(|error| error.name);
        let default = AgingConfig::new();
        assert_eq!(refused(AgingConfig { alpha: 0.0, ..default }), Err("aging_alpha"));
        assert_eq!(refused(AgingConfig { delta: 0.9, ..default }), Err("aging_delta"));
        assert_eq!(refused(AgingConfig { used: 1.6, ..default }), Err("aging_used"));
        assert_eq!(refused(AgingConfig { used: 1.5, ..default }), Ok(()));
        assert_eq!(refused(AgingConfig { weight: 0.0, ..default }), Err("aging_weight"));
        assert_eq!(refused(AgingConfig { floor: CellRate::new(2e7), ..default }), Err("aging_floor"));
    }

    proptest! {
        /// The larger the difference between claim and use, the smaller the share that is left.
        #[test]
        fn the_share_that_is_left_falls_with_u(cells in 1_u32..200, near in 1.5..20.0_f64, further in 0.0..20.0_f64) {
            let left = |u: f64| {
                let mut world = World::new(bare());
                let claim = u * 1_000.0 * f64::from(cells);
                world.interval(cells, &[claim]);
                world.interval(cells, &[]);
                world.aging.limit(A, CellRate::new(1e9)).as_cells_per_s() / claim
            };
            prop_assert!(left(near) <= 1.0);
            prop_assert!(left(near + further) <= left(near) + 1e-12);
        }
    }
}
