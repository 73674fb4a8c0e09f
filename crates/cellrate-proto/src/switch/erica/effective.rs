//! The effective number of active connections (S. Fahmy, R. Jain, S. Kalyanaraman, R. Goyal, B. Vandalore, ATM Forum
//! 98-0154, 1998; with MCRs and weights: B. Vandalore et al., ATM Forum 98-0408, 1998, algorithm A).
//!
//! A connection that is held back elsewhere cannot use an equal share, and so counts as part of one: by its activity
//! level, its rate over FairShare, at most 1. Its rate is CCR, or what it was measured to send if that is less: a
//! direction that sends RM cells only claims all that it was given, and uses next to nothing. With N the sum of
//! activity levels, FairShare = capacity / N comes to be the max-min share, and nobody has to look at what others were
//! given.

use super::{Erica, Slot};
use crate::switch::Meter;
use crate::units::CellRate;

impl Erica {
    /// N after the interval that has ended, in which FairShare was this; `meter` is already in the next one. With
    /// weights, each activity level is one of a weight.
    pub(super) fn effective_number(&self, fair_share: CellRate, meter: &Meter) -> f64 {
        let fading = self.refinements.as_ref().and_then(|refinements| refinements.fading.as_ref());
        let ended = meter.interval() - 1;
        let slots = (0..).map(Slot).zip(self.vcs.as_slice());
        let levels = slots.map(|(slot, vc)| {
            let (part, used) = match fading {
                Some(fading) => (fading.contribution(slot), fading.used(slot)),
                None if meter.last_active(slot) == Some(ended) => {
                    (1.0, self.config.used(vc.ccr, slot, meter))
                }
                None => return 0.0,
            };
            let entitled = self.entitlement(slot);
            part * entitled.weight() * activity_level(entitled.level(used), fair_share)
        });
        // The sum of no doubles is -0.
        levels.fold(0.0, |sum, level| sum + level)
    }
}

/// At most 1, and 1 where there is no FairShare to come below.
fn activity_level(rate: CellRate, fair_share: CellRate) -> f64 {
    if rate < fair_share { rate.as_cells_per_s() / fair_share.as_cells_per_s() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::small_port::{figure, port_with};
    use crate::switch::{
        ActiveSources, AveragingInterval, EricaConfig, Fairness, Feedback, PortControl, SwitchAlgorithmConfig,
    };
    use crate::units::{Cells, Duration, Time};

    /// Intervals of 1/64 s: 1024 cells in one are C = 65,536 cells/s, which is the target; the line takes twice that.
    const INTERVAL: Duration = Duration::from_us(15_625);
    const C: f64 = 65_536.0;

    fn effective() -> EricaConfig {
        let active_sources = ActiveSources { effective: true, ..ActiveSources::default() };
        EricaConfig { active_sources, ..EricaConfig::erica() }
    }

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
                queue_control: super::super::QueueControl::TargetUtilization(0.5),
                ..config
            };
            assert_eq!(config.check(), Ok(()));
            let algorithm = SwitchAlgorithmConfig::Erica(Arc::new(config));
            let (port, slots) = port_with(algorithm, CellRate::new(2.0 * C), CellRate::new(C), connections);
            World { port, slots, now: Time::ZERO }
        }

        /// An interval in which those of these rates, in parts of C, send at them; `None` is silent. Gives N.
        fn interval(&mut self, rates: &[Option<f64>]) -> f64 {
            for (&slot, rate) in self.slots.iter().zip(rates) {
                let Some(rate) = rate else { continue };
                (0..(1024.0 * rate) as u64).for_each(|_| self.port.on_abr_cell(self.now, slot));
                self.port.on_forward_rm(self.now, slot, CellRate::new(rate * C));
            }
            self.now = self.port.next_deadline();
            self.port.end_intervals(self.now, |_| Cells::ZERO);
            self.figure("n")
        }

        fn figure(&self, wanted: &str) -> f64 {
            figure(&self.port, wanted)
        }

        fn er(&mut self, connection: usize) -> f64 {
            let mut feedback = Feedback::new(RateCode::MAX, false, false);
            self.port.on_backward_rm(self.now, self.slots[connection], Cells::ZERO, &mut feedback);
            feedback.explicit_rate().rate().as_cells_per_s() / C
        }
    }

    #[test]
    fn who_is_below_fair_share_counts_as_part_of_one() {
        let mut world = World::new(effective(), &[(0.0, 1.0); 2]);
        // FairShare is C before the first interval ends: 3/4 + 1/4; the second is counted by the same.
        assert_eq!(world.interval(&[Some(0.75), Some(0.25)]), 1.0);
        assert_eq!(world.figure("fair_share"), C);
        // 1 + 1/4, FairShare 4/5 of C; then 1 + 5/16.
        assert_eq!(world.interval(&[Some(1.0), Some(0.25)]), 1.25);
        assert_eq!(world.figure("fair_share"), 0.8 * C);
        assert_eq!(world.interval(&[Some(1.0), Some(0.25)]), 1.3125);
    }

    #[test]
    fn fair_share_comes_to_be_what_the_other_leaves() {
        let mut world = World::new(effective(), &[(0.0, 1.0); 3]);
        (0..40).for_each(|_| {
            world.interval(&[Some(0.5), Some(0.5), Some(0.25)]);
        });
        // 3/8 for each of two.
        assert!((world.figure("fair_share") / C - 0.375).abs() < 1e-9);
        assert!((world.figure("n") - 8.0 / 3.0).abs() < 1e-9);
    }

    /// A direction that sends RM cells only.
    #[test]
    fn who_claims_much_and_sends_little_counts_as_the_little_part() {
        for measured_ccr in [false, true] {
            let mut world = World::new(EricaConfig { measured_ccr, ..effective() }, &[(0.0, 1.0); 2]);
            world.port.on_forward_rm(world.now, world.slots[1], CellRate::new(C));
            (0..32).for_each(|_| world.port.on_abr_cell(world.now, world.slots[1]));
            assert_eq!(world.interval(&[Some(1.0)]), 1.03125);
        }
    }

    #[test]
    fn who_fades_counts_part_of_what_it_used() {
        let active_sources = ActiveSources { decay: Some(0.5), ..effective().active_sources };
        let mut world = World::new(EricaConfig { active_sources, ..effective() }, &[(0.0, 1.0); 2]);
        world.port.on_forward_rm(world.now, world.slots[1], CellRate::new(C));
        (0..256).for_each(|_| world.port.on_abr_cell(world.now, world.slots[1]));
        assert_eq!(world.interval(&[Some(1.0)]), 1.25);
        // FairShare was 4/5 of C: 5/16 of one, and half of that.
        assert_eq!(world.interval(&[Some(1.0)]), 1.15625);
    }

    #[test]
    fn a_connection_at_its_share_gets_no_more_because_another_one_did() {
        for (effective, er) in [(true, 0.6875), (false, 0.75)] {
            let active_sources = ActiveSources { effective, ..ActiveSources::default() };
            let mut world =
                World::new(EricaConfig { active_sources, ..EricaConfig::erica() }, &[(0.0, 1.0); 2]);
            world.interval(&[Some(1.0), Some(1.0)]);
            world.interval(&[Some(0.75), Some(0.25)]);
            assert_eq!(world.er(0), 0.75, "z is 1");
            // Then MaxAlloc is 3/4 of C, and FairShare 1/(1 + 0.3125 * 1.5), or 1/2.
            world.interval(&[Some(0.6875), Some(0.3125)]);
            assert_eq!(world.er(0), er, "effective: {effective}");
        }
    }

    #[test]
    fn the_silent_count_nothing_or_as_far_as_they_fade() {
        let mut world = World::new(effective(), &[(0.0, 1.0); 2]);
        world.interval(&[Some(1.0), Some(1.0)]);
        assert_eq!(world.interval(&[Some(1.0), None]), 1.0);
        let active_sources = ActiveSources { decay: Some(0.5), ..effective().active_sources };
        let mut world = World::new(EricaConfig { active_sources, ..effective() }, &[(0.0, 1.0); 2]);
        world.interval(&[Some(1.0), Some(1.0)]);
        assert_eq!(world.interval(&[Some(1.0), None]), 1.5);
    }

    #[test]
    fn with_weights_levels_are_those_above_mcr() {
        let config = EricaConfig { fairness: Fairness::Weighted, ..effective() };
        let mut world = World::new(config, &[(0.25, 1.0), (0.0, 2.0)]);
        // FairShare is C for each unit of weight before the first interval ends. The first has a level of C/4, the
        // second, of weight 2, one of C/2: N = 1/4 + 2 * 1/2. MCR takes C/4, and FairShare is the rest over that.
        assert_eq!(world.interval(&[Some(0.5), Some(1.0)]), 1.25);
        assert!((world.figure("fair_share") / C - 0.6).abs() < 1e-12);
        // Levels of 1/4 and 1/2 of C again: 5/12 and 10/12 of that.
        assert!((world.interval(&[Some(0.5), Some(1.0)]) - 25.0 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn without_any_fair_share_all_count_whole() {
        assert_eq!(activity_level(CellRate::ZERO, CellRate::ZERO), 1.0);
        assert_eq!(activity_level(CellRate::ZERO, CellRate::new(1.0)), 0.0);
        assert_eq!(activity_level(CellRate::new(3.0), CellRate::new(2.0)), 1.0);
    }
}
