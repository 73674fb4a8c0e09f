//! Switch algorithms beside the generators' own ERICA.

use std::sync::Arc;

use cellrate_proto::Cells;
use cellrate_proto::switch::{
    AprcConfig, AveragingInterval, CapcConfig, ConsistentMarkingConfig, ControlFunction, DrainedBy,
    EprcaConfig, EricaConfig, Fairness, LoadAveraging, PhantomConfig, QueueControl, SwitchAlgorithmConfig,
};
use cellrate_scenario::{ClockOffset, Scenario};
use cellrate_sim::random::{Owner, Random, Stream};

/// In every fourth network ports that run ERICA may share by weight, count the effective number of connections, or run
/// CAPC, EPRCA, APRC, Phantom or consistent marking instead; dice of its own leave all other networks what they are.
pub(super) fn vary_switches(scenario: &mut Scenario, number: u64) {
    vary_erica(scenario, number);
    if number % 4 != 1 {
        return;
    }
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 7")));
    change_erica(scenario, |erica| {
        let threshold = 1 + (dice.uniform() * 40.0) as u64;
        Some(match (dice.uniform() * 9.0) as u32 {
            0 | 1 => {
                let fairness = Fairness::Weighted;
                SwitchAlgorithmConfig::Erica(Arc::new(EricaConfig { fairness, ..*erica }))
            }
            2 => random_capc(erica.interval, threshold, &mut dice),
            3 => random_eprca(threshold, &mut dice),
            4 => consistent_marking(
                erica.interval,
                [Fairness::Equal, Fairness::Weighted][number as usize / 4 % 2],
            ),
            5 => {
                let mut erica = *erica;
                erica.active_sources.effective = true;
                SwitchAlgorithmConfig::Erica(Arc::new(erica))
            }
            6 => random_phantom(erica.interval, &mut dice),
            7 => random_aprc(threshold, &mut dice),
            _ => return None,
        })
    });
}

/// In every third network ERICA+ has another function of the queueing delay, averages are of rates, and what is claimed
/// counts as use.
fn vary_erica(scenario: &mut Scenario, number: u64) {
    if number % 3 != 2 {
        return;
    }
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("ERICA")));
    change_erica(scenario, |erica| {
        let mut erica = *erica;
        if let QueueControl::QueueingDelay(control) = &mut erica.queue_control {
            use ControlFunction::{Hyperbolic, InverseHyperbolic, Linear, Step};
            control.function = [Step, Linear, Hyperbolic, InverseHyperbolic][(dice.uniform() * 4.0) as usize];
            control.t1 = control.t0 * (1 + (dice.uniform() * 3.0) as u64);
            control.drained_by = if dice.uniform() < 0.5 { DrainedBy::Line } else { DrainedBy::Capacity };
        }
        if let LoadAveraging::Components { alpha } = erica.load_averaging
            && dice.uniform() < 0.5
        {
            erica.load_averaging = LoadAveraging::Rates { alpha };
        }
        erica.claims_are_use = dice.uniform() < 0.5;
        Some(SwitchAlgorithmConfig::Erica(Arc::new(erica)))
    });
}

/// In every fifth network lines are up to 20 ppm faster or slower than nominally.
pub(super) fn set_clocks_apart(scenario: &mut Scenario, number: u64) {
    if number % 5 != 3 {
        return;
    }
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("clocks")));
    for link in &mut scenario.links {
        let offset = ClockOffset::from_ppb((dice.uniform() * 40_001.0) as i64 - 20_000);
        link.rate = offset.of_line(link.rate);
    }
}

/// All ports that run ERICA run EPRCA, APRC, CAPC or consistent marking instead.
pub(super) fn answer_by_queue(scenario: &mut Scenario, number: u64) {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 8")));
    change_erica(scenario, |erica| {
        let threshold = 1 + (dice.uniform() * 40.0) as u64;
        Some(match (dice.uniform() * 4.0) as u32 {
            0 => random_capc(erica.interval, threshold, &mut dice),
            1 => random_eprca(threshold, &mut dice),
            2 => random_aprc(threshold, &mut dice),
            _ => consistent_marking(erica.interval, Fairness::Equal),
        })
    });
}

/// Gives ports that run ERICA what `other` makes of it, if it does.
fn change_erica(
    scenario: &mut Scenario,
    mut other: impl FnMut(&EricaConfig) -> Option<SwitchAlgorithmConfig>,
) {
    for port in scenario.links.iter_mut().flat_map(|link| &mut link.ports) {
        let SwitchAlgorithmConfig::Erica(erica) = &port.control.algorithm else { continue };
        let Some(algorithm) = other(erica) else { continue };
        Arc::make_mut(port).control.algorithm = algorithm;
        assert_eq!(port.control.check(), Ok(()));
    }
}

fn random_capc(interval: AveragingInterval, threshold: u64, dice: &mut Random) -> SwitchAlgorithmConfig {
    let (rup, rdn) = (0.025 + 0.2 * dice.uniform(), 0.2 + dice.uniform());
    let capc = CapcConfig { interval, rup, rdn, threshold: Cells(threshold), ..CapcConfig::new() };
    SwitchAlgorithmConfig::Capc(Arc::new(capc))
}

fn random_eprca(threshold: u64, dice: &mut Random) -> SwitchAlgorithmConfig {
    let high = threshold + (dice.uniform() * 100.0) as u64;
    let config = EprcaConfig { high_threshold: Cells(high), ..EprcaConfig::new(Cells(threshold)) };
    SwitchAlgorithmConfig::Eprca(Arc::new(config))
}

fn random_aprc(threshold: u64, dice: &mut Random) -> SwitchAlgorithmConfig {
    let interval_cells = 1 + (dice.uniform() * 60.0) as u32;
    let growth_threshold = Cells((dice.uniform() * 3.0) as u64);
    let aprc = AprcConfig { interval_cells, growth_threshold, ..AprcConfig::new(Cells(threshold)) };
    SwitchAlgorithmConfig::Aprc(Arc::new(aprc))
}

fn random_phantom(interval: AveragingInterval, dice: &mut Random) -> SwitchAlgorithmConfig {
    let (utilization_factor, alpha) = (0.5 + 10.0 * dice.uniform(), 0.005 + 0.5 * dice.uniform().powi(3));
    SwitchAlgorithmConfig::Phantom(Arc::new(PhantomConfig { interval, utilization_factor, alpha }))
}

fn consistent_marking(interval: AveragingInterval, fairness: Fairness) -> SwitchAlgorithmConfig {
    let config = ConsistentMarkingConfig { interval, fairness, ..ConsistentMarkingConfig::new() };
    SwitchAlgorithmConfig::ConsistentMarking(Arc::new(config))
}
