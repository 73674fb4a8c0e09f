//! Losses that a tie or a phase decided which never changes, where they fall on one of several like connections.

use std::collections::BTreeMap;

use cellrate_engine::declared::Row;
use cellrate_proto::Duration;
use cellrate_scenario::{Category, FlowIndex, PortIndex, Processing, Scenario, Sender, Traffic};
use serde::Serialize;

use crate::assembly::Assembly;
use crate::kernel::ports::{Losing, Losses};
use cellrate_engine::names::{flow_name, port_name};

/// A port where losses were decided by a tie or by a phase that never changes, and fell unequally on like connections
/// because of it (docs/guides/phase-effects.md).
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "port", many = "ports", named = "{port}")]
pub struct PhaseEffectSummary {
    /// Where the cells found no room.
    pub port: String,
    /// Like connections that met there.
    #[row(unit = plain, adds = sum)]
    pub vcs: u64,
    /// Smallest distance of the cells of each.
    #[row(unit = s, adds = least, shown_in = "us")]
    pub spacing_s: f64,
    /// Cells of theirs that found no room.
    #[row(unit = cells, adds = sum)]
    pub lost: u64,
    /// Lost cells that stood where the loss before of the same connection stood relative to the others, to
    /// the picosecond.
    #[row(unit = cells, adds = sum)]
    pub decided: u64,
    /// The connection that lost least.
    pub favoured: String,
    /// Share of its cells that were lost.
    #[row(unit = share, adds = least)]
    pub favoured_loss: f64,
    /// The one that lost most.
    pub starved: String,
    /// Share of its cells that were lost.
    #[row(unit = share, adds = largest)]
    pub starved_loss: f64,
}

/// Fewer losses say nothing.
const FEWEST: u64 = 20;
/// So much more often one has to lose than another.
const UNEQUAL: f64 = 4.0;

/// One row for each port and each group of like connections.
pub(super) fn collect(scenario: &Scenario, assembly: &Assembly) -> Vec<PhaseEffectSummary> {
    let full: BTreeMap<PortIndex, &Losses> = scenario
        .ports()
        .zip(&assembly.ports)
        .filter_map(|(index, place)| {
            let place = (*place)?;
            let port = &assembly.kernel.clusters[place.cluster as usize].ports[place.index as usize];
            port.losses().filter(|losses| !losses.is_empty()).map(|losses| (index, losses))
        })
        .collect();
    if full.is_empty() {
        return Vec::new();
    }
    let mut through: BTreeMap<PortIndex, Vec<FlowIndex>> = BTreeMap::new();
    for flow in scenario.flows() {
        for step in scenario.steps(flow) {
            if full.contains_key(&step.port()) {
                through.entry(step.port()).or_default().push(flow);
            }
        }
    }
    let mut rows = Vec::new();
    for (port, losses) in full {
        let mut groups: BTreeMap<Duration, Vec<Vec<FlowIndex>>> = BTreeMap::new();
        for &flow in through.get(&port).into_iter().flatten() {
            let Some(spacing) = fixed_spacing(scenario, flow) else { continue };
            let of_spacing = groups.entry(spacing).or_default();
            let like = |members: &&mut Vec<FlowIndex>| are_like(scenario, members[0], flow);
            match of_spacing.iter_mut().find(like) {
                Some(members) => members.push(flow),
                None => of_spacing.push(vec![flow]),
            }
        }
        for (spacing, groups) in groups {
            let row = |members: &Vec<FlowIndex>| judge(scenario, port, spacing, members, losses, assembly);
            rows.extend(groups.iter().filter_map(row));
        }
    }
    rows
}

/// The row of a group of like connections, if their losses were decided by phases and are unequal.
fn judge(
    scenario: &Scenario,
    port: PortIndex,
    spacing: Duration,
    members: &[FlowIndex],
    losses: &Losses,
    assembly: &Assembly,
) -> Option<PhaseEffectSummary> {
    let (mut lost, mut decided) = (0, 0);
    let mut shares: Vec<(f64, FlowIndex)> = Vec::with_capacity(members.len());
    for &flow in members {
        let Losing { lost: own, in_step, step, .. } = losses.get(&flow).copied().unwrap_or_default();
        lost += own;
        if step > Duration::ZERO && step.as_ps() % spacing.as_ps() == 0 {
            decided += in_step;
        }
        let sent = assembly.sender(flow).end.counts.sent();
        if sent > 0 {
            shares.push((own as f64 / sent as f64, flow));
        }
    }
    let least = shares.iter().copied().min_by(|one, other| one.0.total_cmp(&other.0))?;
    let most = shares.iter().copied().max_by(|one, other| one.0.total_cmp(&other.0))?;
    (members.len() > 1 && is_effect([lost, decided], [least.0, most.0])).then(|| PhaseEffectSummary {
        port: port_name(scenario, port),
        vcs: members.len() as u64,
        spacing_s: spacing.as_secs_f64(),
        lost,
        decided,
        favoured: flow_name(scenario, least.1),
        favoured_loss: least.0,
        starved: flow_name(scenario, most.1),
        starved_loss: most.0,
    })
}

/// Whether `lost` cells of like connections, of which a phase has `decided` so many, are worth a row: where the parts
/// that connections lost go from `least` to `most`.
fn is_effect([lost, decided]: [u64; 2], [least, most]: [f64; 2]) -> bool {
    lost >= FEWEST && 2 * decided >= lost && most > UNEQUAL * least
}

/// The smallest distance of the cells of a direction, if it is kept to the picosecond: nothing that is drawn comes
/// between them, nor feedback.
fn fixed_spacing(scenario: &Scenario, flow: FlowIndex) -> Option<Duration> {
    let Sender::Peak(peak) = &scenario.flow(flow).sender else { return None };
    // A shaper lets cells go at either of two distances.
    if scenario.flow(flow).conditioning.as_ref().is_some_and(|own| own.shaping.is_some()) {
        return None;
    }
    let first = scenario.step(flow, 0);
    if scenario.link(first.link).changes_rate() {
        return None;
    }
    let line = scenario.link(first.link).rate.cell_time();
    let own = match &scenario.flow(flow).traffic {
        // Flows begin when they are drawn to.
        Some(Traffic::Tcp(tcp)) if tcp.successive => return None,
        Some(Traffic::Tcp(_)) => {
            let host = scenario.hosts.get(scenario.tail(first).0 as usize);
            let is_drawn =
                |processing| matches!(processing, Processing::Uniform(..) | Processing::Exponential(_));
            if host.is_some_and(|host| is_drawn(host.processing)) {
                return None;
            }
            Duration::ZERO
        }
        other => other.as_ref()?.kind().fixed_spacing()?,
    };
    Some(line.max(peak.interval()).max(own))
}

/// Whether two directions are of one category and have the same to send, starts aside.
fn are_like(scenario: &Scenario, one: FlowIndex, other: FlowIndex) -> bool {
    let category = |flow: FlowIndex| -> Category { scenario.connection(flow.connection()).category };
    if category(one) != category(other) {
        return false;
    }
    match (&scenario.flow(one).traffic, &scenario.flow(other).traffic) {
        (Some(Traffic::Tcp(one)), Some(Traffic::Tcp(other))) => {
            (&one.tcp, one.encapsulation, one.connections)
                == (&other.tcp, other.encapsulation, other.connections)
        }
        (Some(one), Some(other)) => std::mem::discriminant(one) == std::mem::discriminant(other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_needs_twenty_losses_half_of_them_in_phase_and_more_than_four_times_as_many() {
        assert!(is_effect([20, 10], [0.1, 0.41]));
        assert!(!is_effect([19, 10], [0.1, 0.41]), "19 losses");
        assert!(!is_effect([20, 9], [0.1, 0.41]), "9 of 20 in phase");
        assert!(is_effect([21, 11], [0.1, 0.41]) && !is_effect([21, 10], [0.1, 0.41]));
        assert!(
            !is_effect([20, 20], [0.125, 0.5]) && is_effect([20, 20], [0.125, 0.5001]),
            "four times, and more"
        );
        assert!(is_effect([20, 20], [0.0, 0.01]));
    }
}
