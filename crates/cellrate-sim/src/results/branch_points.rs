//! Rows of results about branch points of trees.

use cellrate_engine::branch_point::BranchPointSummary;
use cellrate_scenario::Scenario;

use crate::assembly::Assembly;

/// One row per branch point of an ABR tree, in the order of the connections and of their ways.
pub(super) fn collect(scenario: &Scenario, assembly: &Assembly) -> Vec<BranchPointSummary> {
    let row = |(point, place): &(_, crate::assembly::Place)| {
        let points = &assembly.kernel.clusters[place.cluster as usize].branching.points;
        let feedback = points[place.index as usize].feedback.as_ref()?;
        Some(feedback.meter.summary(scenario, point))
    };
    assembly.branch_points.iter().filter_map(row).collect()
}

/// The warm-up is over: figures begin anew.
pub(super) fn begin_anew(assembly: &mut Assembly) {
    let points = assembly.kernel.clusters.iter_mut().flat_map(|cluster| &mut cluster.branching.points);
    points.filter_map(|point| point.feedback.as_mut()).for_each(|feedback| feedback.meter.begin_anew());
}
