//! Switch algorithms beside the generators' own ERICA.

use std::sync::Arc;

use cellrate_proto::Cells;
use cellrate_proto::switch::{
    AveragingInterval, ControlFunction, DrainedBy, EricaConfig, FORMS, Form, LoadAveraging, QueueControl,
    RelativeRateConfig, SwitchAlgorithmConfig,
};
use cellrate_scenario::{ClockOffset, Scenario};
use cellrate_sim::random::{Owner, Random, Stream};

/// In every fourth network ports that run ERICA run any other form of any algorithm instead, with any parameters; dice
/// of their own leave all other networks what they are.
pub(super) fn vary_switches(scenario: &mut Scenario, number: u64) {
    vary_erica(scenario, number);
    if number % 4 != 1 {
        return;
    }
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 7")));
    change_erica(scenario, |erica| (dice.uniform() < 0.9).then(|| any(FORMS, erica.interval, &mut dice)));
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

/// All ports that run ERICA run something else instead.
pub(super) fn answer_by_queue(scenario: &mut Scenario, number: u64) {
    let others: Vec<Form> =
        FORMS.iter().filter(|form| !form.shape.name.starts_with("erica")).copied().collect();
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 8")));
    change_erica(scenario, |erica| Some(any(&others, erica.interval, &mut dice)));
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

/// One of `forms` with parameters drawn at random; its averaging interval, if it has one, is `interval`.
fn any(forms: &[Form], interval: AveragingInterval, dice: &mut Random) -> SwitchAlgorithmConfig {
    let form = &forms[(dice.uniform() * forms.len() as f64) as usize];
    SwitchAlgorithmConfig::drawn(form, Some(interval.time), &mut || dice.uniform())
}

/// Relative rate with this threshold, for most of them with lower ones for NI and for the way back.
pub(super) fn hysteresis(threshold: u64) -> RelativeRateConfig {
    let plain = RelativeRateConfig::new(Cells(threshold));
    if threshold.is_multiple_of(3) {
        return plain;
    }
    let ni = threshold.div_ceil(2);
    RelativeRateConfig {
        ni_threshold: Cells(ni),
        off_threshold: Cells(threshold.div_ceil(3)),
        ni_off_threshold: Cells(ni.div_ceil(2)),
        ..plain
    }
}
