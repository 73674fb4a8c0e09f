//! Minimum rates and weights in ERICA and consistent marking: every connection gets its MCR, and what is left is shared
//! out by weight.
//!
//! This is general weighted fairness (Vandalore, Fahmy, Jain, Goyal, Goyal, "General weighted fairness and its support
//! in explicit rate switch algorithms", Computer Communications 23(2), 2000), which has the criteria that TM 4.0 gives
//! as examples (MCR plus an equal share, MCR plus a share by MCR, ...) as special cases. ERICA's own steps stay what
//! they are; but what they share out is the capacity less what connections use of their MCRs, and each follows its
//! level: by how much it is above its MCR, over its weight.

use alloc::vec::Vec;

use super::averaging::Fading;
use super::meter::Meter;
use super::{Slot, VcAtPort};
use crate::declaration::words;
use crate::units::CellRate;

words! {
    /// To whom a port gives how much.
    #[derive(Default)]
    pub enum Fairness {
        /// Equal shares, whatever MCRs and weights are (default).
        #[default]
        Equal = "equal",
        /// MCR, and a share of the rest by weight.
        Weighted = "weighted",
    }
}

/// Weights and MCRs of the connections at a port, for shares by entitlement.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    vcs: Vec<Entitlement>,
    /// The least weight of all.
    least: f64,
    /// Part of their MCRs that connections active in the last interval used.
    promised: CellRate,
}

/// Entitlement of one connection: its MCR and its weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entitlement {
    mcr: CellRate,
    weight: f64,
}

impl Entitlement {
    /// A connection with equal shares.
    pub const EQUAL: Entitlement = Entitlement { mcr: CellRate::ZERO, weight: 1.0 };

    /// Entitlement of a connection of this MCR and weight.
    pub const fn of(vc: &VcAtPort) -> Entitlement {
        Entitlement { mcr: vc.mcr, weight: vc.weight }
    }

    /// Its weight.
    pub fn weight(self) -> f64 {
        self.weight
    }

    /// The level of a connection at this rate: how much it has above its MCR, for each unit of weight.
    pub fn level(self, rate: CellRate) -> CellRate {
        CellRate::new(rate.saturating_sub(self.mcr).as_cells_per_s() / self.weight)
    }

    /// The rate of a connection at this level.
    pub fn rate(self, level: CellRate) -> CellRate {
        self.mcr + level * self.weight
    }
}

impl Weights {
    /// The weights of no connection.
    pub const fn new() -> Weights {
        Weights { vcs: Vec::new(), least: f64::INFINITY, promised: CellRate::ZERO }
    }

    pub fn connect(&mut self, vc: &VcAtPort) {
        self.vcs.push(Entitlement::of(vc));
        self.least = self.least.min(vc.weight);
    }

    /// Entitlement of a connection.
    pub fn of(&self, slot: Slot) -> Entitlement {
        self.vcs[slot.0 as usize]
    }

    /// The least weight of a connection here: capacity is shared out among no less, as ERICA does among no less than
    /// one connection.
    pub fn least(&self) -> f64 {
        if self.vcs.is_empty() { 1.0 } else { self.least }
    }

    /// Part of their MCRs that connections active in the last interval used.
    pub fn promised(&self) -> CellRate {
        self.promised
    }

    /// A connection comes that the ended interval has not seen: of its MCR it uses what it claims, as far as is known.
    pub fn join(&mut self, slot: Slot, ccr: CellRate) {
        self.promised = self.promised + ccr.min(self.of(slot).mcr);
    }

    /// The weights of connections that were active in the interval that has ended, together; one that was not still
    /// counts as far as `fading` says. `meter` is already in the next interval, and `used` gives what a connection used
    /// in the ended one.
    pub fn end_interval(
        &mut self,
        meter: &Meter,
        fading: Option<&Fading>,
        used: impl Fn(Slot) -> CellRate,
    ) -> f64 {
        let ended = meter.interval() - 1;
        let (mut weights, mut promised) = (0.0, CellRate::ZERO);
        for (slot, &Entitlement { mcr, weight }) in (0..).map(Slot).zip(&self.vcs) {
            let is_active = meter.last_active(slot) == Some(ended);
            let part = fading.map_or(f64::from(u8::from(is_active)), |fading| fading.contribution(slot));
            weights += weight * part;
            if is_active {
                promised = promised + used(slot).min(mcr);
            }
        }
        self.promised = promised;
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::small_port::port_with;
    use crate::switch::{
        ActiveSources, AveragingInterval, EricaConfig, Feedback, PortControl, PortControlConfig,
        QueueControl, SwitchAlgorithmConfig,
    };
    use crate::units::{Cells, Duration, Time};
    use alloc::sync::Arc;

    /// Intervals of 1/64 s: 1024 cells in one are C = 65,536 cells/s, and the line takes so much.
    const INTERVAL: Duration = Duration::from_us(15_625);
    const C: f64 = 65_536.0;

    struct World {
        port: PortControl,
        slots: Vec<Slot>,
        now: Time,
    }

    impl World {
        /// Connections of these MCRs, in parts of C, and weights.
        fn new(config: EricaConfig, connections: &[(f64, f64)]) -> World {
            let config = EricaConfig {
                interval: AveragingInterval::of_time(INTERVAL),
                queue_control: QueueControl::TargetUtilization(1.0),
                delta: 0.125,
                fairness: Fairness::Weighted,
                ..config
            };
            let algorithm = SwitchAlgorithmConfig::Erica(Arc::new(config));
            let line = CellRate::new(C);
            let (port, slots) = port_with(algorithm, line, line, connections);
            World { port, slots, now: Time::ZERO }
        }

        /// An interval in which each claims so much of C, and sends it.
        fn interval(&mut self, rates: &[f64]) {
            for (&slot, rate) in self.slots.iter().zip(rates) {
                self.port.on_forward_rm(self.now, slot, CellRate::new(rate * C));
                (0..(rate * 1024.0) as u32).for_each(|_| self.port.on_abr_cell(self.now, slot));
            }
            self.now = self.port.next_deadline();
            self.port.end_intervals(self.now, |_| Cells::ZERO);
        }

        /// ER of a BRM of this connection, in parts of C.
        fn er(&mut self, connection: usize) -> f64 {
            let mut feedback = Feedback::new(RateCode::MAX, false, false);
            self.port.on_backward_rm(self.now, self.slots[connection], Cells::ZERO, &mut feedback);
            feedback.explicit_rate().rate().as_cells_per_s() / C
        }

        fn figures(&self) -> Vec<f64> {
            let mut figures = Vec::new();
            self.port.metrics(|_, value| figures.push(value));
            figures
        }
    }

    #[test]
    fn what_is_left_above_mcrs_is_shared_by_weight() {
        // MCRs are 1/4 and 0, of the first 1/4 is used: 3/4 is left for weights of 1 and 2. z = (1 1/4 - 1/4) / (3/4) =
        // 4/3 is overload: levels are max(1/4, x / z), of the first (1/2 - 1/4) * 3/4, of the second (3/4) / 2 * 3/4.
        let mut world = World::new(EricaConfig::erica(), &[(0.25, 1.0), (0.0, 2.0)]);
        world.interval(&[0.5, 0.75]);
        let [z, n, fair_share, capacity, _] = world.figures()[..] else { unreachable!("there are five") };
        assert_eq!((z, n, fair_share, capacity), (4.0 / 3.0, 3.0, C / 4.0, C));
        assert_eq!((world.er(0), world.er(1)), (0.5, 0.5625));
    }

    #[test]
    fn of_its_mcr_a_connection_takes_only_what_it_uses() {
        // The first one sends 1/8 of its MCR of 1/4: 7/8 is left for both.
        let mut world = World::new(EricaConfig::erica(), &[(0.25, 1.0), (0.0, 1.0)]);
        world.interval(&[0.125, 0.5]);
        assert_eq!(world.figures()[2], 0.875 / 2.0 * C);
        // One that sends nothing takes nothing.
        world.interval(&[0.0, 0.5]);
        assert_eq!(world.figures()[..3], [0.5, 1.0, C]);
    }

    #[test]
    fn without_overload_all_come_to_the_highest_level() {
        // In overload the first is granted a level of 3/4 * 2/3 = 1/2 C. Then z = 1: both come to that level, the
        // second to twice that rate, but not beyond the capacity; one below its share of 1/3 C a unit comes to that
        // first.
        let world = |last: f64| {
            let mut world = World::new(EricaConfig::erica(), &[(0.0, 1.0), (0.0, 2.0)]);
            world.interval(&[0.75, 0.75]);
            assert_eq!((world.figures()[0], world.er(0)), (1.5, 0.5));
            world.interval(&[1.0 - last, last]);
            assert_eq!(world.figures()[0], 1.0);
            world.er(1)
        };
        assert_eq!(world(0.75), 1.0);
        let near = |er: f64, share: f64| er <= share && er > share * (1.0 - 1.0 / 512.0);
        assert!(near(world(0.5), 2.0 / 3.0));
    }

    #[test]
    fn a_fading_connection_still_takes_part_of_the_share_of_its_weight() {
        let active_sources = ActiveSources { decay: Some(0.5), ..ActiveSources::default() };
        let mut world =
            World::new(EricaConfig { active_sources, ..EricaConfig::erica() }, &[(0.0, 1.0), (0.0, 3.0)]);
        world.interval(&[0.5, 0.5]);
        assert_eq!(world.figures()[1], 4.0);
        world.interval(&[0.5, 0.0]);
        assert_eq!(world.figures()[1], 2.5);
        // Not less than the least weight.
        (0..20).for_each(|_| world.interval(&[0.0, 0.0]));
        assert_eq!(world.figures()[1], 1.0);
    }

    #[test]
    fn a_newcomer_brings_its_weight_at_once_where_that_is_asked_for() {
        for (immediate_fair_share, n) in [(false, 1.0), (true, 5.0)] {
            let config = EricaConfig { immediate_fair_share, ..EricaConfig::erica() };
            let mut world = World::new(config, &[(0.0, 1.0), (0.0, 4.0)]);
            world.interval(&[0.5, 0.0]);
            world.port.on_abr_cell(world.now, world.slots[1]);
            world.port.on_forward_rm(world.now, world.slots[1], CellRate::ZERO);
            assert_eq!(world.figures()[1], n);
        }
    }

    /// CCR is never below MCR: it says nothing of what a connection uses of that.
    #[test]
    fn what_it_sends_is_what_counts_of_an_mcr_and_not_what_it_claims() {
        for measured_ccr in [false, true] {
            let config = EricaConfig { measured_ccr, ..EricaConfig::erica() };
            let mut world = World::new(config, &[(0.25, 1.0), (0.0, 1.0)]);
            world.port.on_forward_rm(world.now, world.slots[0], CellRate::new(C));
            (0..128).for_each(|_| world.port.on_abr_cell(world.now, world.slots[0]));
            (0..448).for_each(|_| world.port.on_abr_cell(world.now, world.slots[1]));
            world.interval(&[]);
            // 1/8 of C is used of the MCR: 7/8 are left, of which the other one sends a half.
            assert_eq!(world.figures()[..3], [0.5, 2.0, 0.4375 * C], "measured_ccr: {measured_ccr}");
        }
    }

    /// A newcomer counts with its claim, because nothing of it has been measured yet.
    #[test]
    fn a_newcomer_brings_what_it_claims_of_its_mcr_at_once_where_that_is_asked_for() {
        for (claimed, fair_share) in [(0.25, 0.375), (0.5, 0.25), (1.0, 0.25)] {
            let config = EricaConfig { immediate_fair_share: true, ..EricaConfig::erica() };
            let mut world = World::new(config, &[(0.0, 1.0), (0.5, 1.0)]);
            world.interval(&[1.0]);
            world.port.on_abr_cell(world.now, world.slots[1]);
            world.port.on_forward_rm(world.now, world.slots[1], CellRate::new(claimed * C));
            assert_eq!(world.figures()[2], fair_share * C, "it claims {claimed}");
        }
        // MCR of 1/2, and half of the rest.
        let config = EricaConfig { immediate_fair_share: true, ..EricaConfig::erica() };
        let mut world = World::new(config, &[(0.0, 1.0), (0.5, 1.0)]);
        world.interval(&[1.0]);
        world.port.on_abr_cell(world.now, world.slots[1]);
        world.port.on_forward_rm(world.now, world.slots[1], CellRate::new(0.5 * C));
        assert_eq!(world.er(1), 0.75);
        // Once, and no more in the next interval, of which it has been seen by then.
        world.port.on_forward_rm(world.now, world.slots[1], CellRate::new(0.5 * C));
        assert_eq!(world.figures()[2], 0.25 * C);
        world.interval(&[0.5, 0.5]);
        assert_eq!(world.figures()[2], 0.25 * C);
        world.port.on_abr_cell(world.now, world.slots[1]);
        world.port.on_forward_rm(world.now, world.slots[1], CellRate::new(0.5 * C));
        assert_eq!(world.figures()[2], 0.25 * C);
    }

    #[test]
    fn with_weights_of_one_and_no_mcr_shares_are_those_of_erica() {
        let equal = EricaConfig { fairness: Fairness::Equal, ..EricaConfig::erica() };
        let mut weighted = World::new(equal, &[(0.0, 1.0), (0.0, 1.0)]);
        let mut plain = World::new(equal, &[(0.0, 1.0), (0.0, 1.0)]);
        let algorithm = SwitchAlgorithmConfig::Erica(Arc::new(EricaConfig {
            interval: AveragingInterval::of_time(INTERVAL),
            queue_control: QueueControl::TargetUtilization(1.0),
            delta: 0.125,
            ..equal
        }));
        plain.port = PortControl::new(
            &PortControlConfig { algorithm, ..PortControlConfig::default() },
            CellRate::new(C),
        );
        let vc = VcAtPort {
            pcr: CellRate::new(C),
            mcr: CellRate::new(C / 4.0),
            weight: 3.0,
            round_trip: Duration::ZERO,
        };
        plain.slots = (0..2).map(|_| plain.port.connect(&vc)).collect();
        for rates in [[0.9, 0.3], [0.2, 0.1], [0.5, 0.7], [0.0, 0.3], [1.0, 1.0]] {
            for world in [&mut weighted, &mut plain] {
                world.interval(&rates);
            }
            assert_eq!([weighted.er(0), weighted.er(1)], [plain.er(0), plain.er(1)], "{rates:?}");
            assert_eq!(weighted.figures(), plain.figures());
        }
    }
}
