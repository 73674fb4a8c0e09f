//! Rows of results about policers.

use cellrate_engine::policing::PolicingSummary;
use cellrate_proto::policing::usage::UsageCounts;
use cellrate_scenario::Scenario;

use crate::assembly::Assembly;

/// Counts of each policer so far, in the order of the assembly.
pub(super) fn counts(assembly: &Assembly) -> Vec<UsageCounts> {
    let counts = |cluster: u32, hop: u32| assembly.kernel.clusters[cluster as usize].police.counts(hop);
    assembly.checkpoints.iter().map(|&(_, cluster, hop)| counts(cluster, hop)).collect()
}

/// One row per policer: what it has counted since `before`, which is empty where there is no warm-up.
pub(super) fn collect(
    scenario: &Scenario,
    assembly: &Assembly,
    before: &[UsageCounts],
) -> Vec<PolicingSummary> {
    rows(scenario, assembly, &counts(assembly), before)
}

/// One row per policer: what it had counted by `now` and not by `before`, which is empty at the beginning of the run.
pub(super) fn rows(
    scenario: &Scenario,
    assembly: &Assembly,
    now: &[UsageCounts],
    before: &[UsageCounts],
) -> Vec<PolicingSummary> {
    let before = before.iter().copied().chain(std::iter::repeat(UsageCounts::default()));
    let points = assembly.checkpoints.iter().zip(now).zip(before);
    points.map(|(((point, ..), now), before)| PolicingSummary::new(scenario, point, *now, before)).collect()
}
