//! Rows of results about flows and calls that come and go.

use cellrate_engine::recorder::Recorder;
use cellrate_proto::Time;
use cellrate_scenario::Scenario;

use super::{CompletionSummary, DemandSummary};
use crate::assembly::Assembly;
use crate::kernel::census::Census;
use crate::kernel::completions::{CLASS_ENDS, Class, Completions, UNIT};
use crate::kernel::state::openers::DemandTally;

/// One row per demand of the scenario; arrivals before the end of the warm-up are not in it.
pub(crate) fn collect(scenario: &Scenario, assembly: &Assembly, end: Time) -> Vec<DemandSummary> {
    let span = end.since(scenario.measuring.start());
    let mut rows = Vec::new();
    for (number, demand) in scenario.demands.iter().enumerate() {
        let DemandTally { offered, no_room, no_slot, holding, set_up, longest_set_up, .. } =
            tally(assembly, number);
        let (blocked, begun) = (no_room + no_slot, offered - no_room - no_slot);
        let is_sized = demand.is_sized();
        let (mut completed, mut presence, mut most) = (None, 0, 0);
        with(assembly, |all| {
            completed = is_sized.then(|| all.demands[number][0].times.total());
            all.census[number].count_until(end);
            (presence, most) = all.census[number].figures();
        });
        rows.push(DemandSummary {
            flows: demand.name.clone(),
            offered,
            begun,
            no_room,
            no_slot,
            blocking: (offered > 0).then(|| blocked as f64 / offered as f64),
            completed,
            mean_set_up_s: (begun > 0).then(|| set_up as f64 / begun as f64 * 1e-12),
            max_set_up_s: (begun > 0).then(|| longest_set_up.as_secs_f64()),
            mean_holding_s: (begun > 0 && !is_sized).then(|| holding as f64 / begun as f64 * 1e-12),
            mean_concurrent: presence as f64 / span.as_ps() as f64,
            max_concurrent: most,
        });
    }
    rows
}

/// Counts of a demand, of all clusters together.
fn tally(assembly: &Assembly, demand: usize) -> DemandTally {
    let mut tally = DemandTally::default();
    assembly.kernel.clusters.iter().for_each(|cluster| tally.add(&cluster.openers.tallies[demand]));
    tally
}

/// Rows of the classes in which flows of a size have arrived.
pub(crate) fn completions(scenario: &Scenario, assembly: &Assembly) -> Vec<CompletionSummary> {
    let mut rows = Vec::new();
    with(assembly, |all| {
        for (number, demand) in scenario.demands.iter().enumerate() {
            let offered = tally(assembly, number).classes;
            for (class, complete) in all.demands[number].iter().enumerate() {
                let from = if class < 2 { 0 } else { CLASS_ENDS[class - 2] };
                let below = class.checked_sub(1).and_then(|class| CLASS_ENDS.get(class).copied());
                if offered[class][0] > 0 {
                    rows.push(row(&demand.name, complete, (from, below), offered[class]));
                }
            }
        }
    });
    rows
}

/// Shows what is complete, if the scenario has demands.
fn with(assembly: &Assembly, look: impl FnOnce(&mut Completions)) {
    if let Some(cluster) = assembly.kernel.clusters.first() {
        cluster.openers.look(look);
    }
}

/// The series of flows that come and go, each with the place of its probe.
pub(crate) fn series(assembly: &Assembly) -> Vec<(usize, Recorder)> {
    let mut recorded = Vec::new();
    with(assembly, |all| {
        let series = all.census.iter().flat_map(Census::series);
        recorded.extend(series.map(|one| (one.probe, one.recorder.clone())));
    });
    recorded
}

fn row(
    name: &str,
    class: &Class,
    (from_octets, below_octets): (u64, Option<u64>),
    [offered, blocked]: [u64; 2],
) -> CompletionSummary {
    let Class { octets, times, slow_downs } = class;
    let count = times.total();
    let slow_down = |seconds: Option<f64>| seconds.map(|seconds| seconds / UNIT.as_secs_f64());
    CompletionSummary {
        flows: name.to_owned(),
        from_octets,
        below_octets,
        offered,
        blocked,
        count,
        unfinished: offered - blocked - count,
        mean_octets: (count > 0).then(|| *octets as f64 / count as f64),
        mean_time_s: times.mean_s(),
        p50_time_s: times.quantile_s(0.5),
        p95_time_s: times.quantile_s(0.95),
        p99_time_s: times.quantile_s(0.99),
        max_time_s: times.max_s(),
        mean_slowdown: slow_down(slow_downs.mean_s()),
        p50_slowdown: slow_down(slow_downs.quantile_s(0.5)),
        p99_slowdown: slow_down(slow_downs.quantile_s(0.99)),
        times: times.distribution(),
    }
}
