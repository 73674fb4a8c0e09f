//! Rows of results about flows and calls that come and go.

use cellrate_proto::Time;
use cellrate_scenario::Scenario;

use super::DemandSummary;
use crate::assembly::Assembly;
use crate::kernel::opening::DemandTally;

/// One row per demand of the scenario; arrivals before the end of the warm-up are not in it.
pub(crate) fn collect(scenario: &Scenario, assembly: &Assembly, end: Time) -> Vec<DemandSummary> {
    let span = end.since(scenario.measuring.start());
    let row = |(number, name): (usize, &str)| {
        let mut tally = DemandTally::default();
        let clusters = assembly.kernel.clusters.iter();
        clusters.for_each(|cluster| tally.add(&cluster.openers.tallies[number]));
        let DemandTally { offered, no_room, no_slot, holding, presence, .. } = tally;
        let (blocked, begun) = (no_room + no_slot, offered - no_room - no_slot);
        DemandSummary {
            flows: name.to_owned(),
            offered,
            begun,
            no_room,
            no_slot,
            blocking: (offered > 0).then(|| blocked as f64 / offered as f64),
            mean_holding_s: (begun > 0).then(|| holding as f64 / begun as f64 * 1e-12),
            mean_concurrent: presence as f64 / span.as_ps() as f64,
        }
    };
    scenario.demands.iter().map(|demand| demand.name.as_str()).enumerate().map(row).collect()
}
