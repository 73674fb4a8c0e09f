//! Branch points of trees, with the hops that lead to them.

use cellrate_engine::branch_point::{Hop, Meter, Ways};
use cellrate_proto::RateCode;
use cellrate_proto::consolidation::Consolidator;
use cellrate_scenario::{BranchPoint as Point, FlowIndex, Scenario};

use super::hops::Hops;
use super::place::Place;
use crate::kernel::build::Parts;
use crate::kernel::state::branch_points::{BranchPoint, ComingFrom, Feedback};
use crate::kernel::windows::partition::Partition;

/// Puts each branch point into its cluster, and says where.
pub(super) fn build(
    scenario: &Scenario,
    all: Vec<Ways>,
    partition: &Partition,
    endpoints: &[Place],
    hops: &mut Hops,
    parts: &mut [Parts],
) -> Vec<(Point, Place)> {
    let place = |ways: Ways| {
        let cluster = partition.cluster[ways.point.switch.0 as usize];
        let branching = &mut parts[cluster as usize].branching;
        let index = branching.points.len();
        let number = |hop: &Hop| hops.of(hop.flow) + hop.hop as u32;
        let mut at = vec![(number(&ways.from_source), ComingFrom::Source)];
        let sender = &scenario.flow(ways.from_source.flow).sender;
        let feedback = ways.point.consolidates(scenario).then(|| {
            at.extend(ways.from_branch.iter().map(number).zip((0..).map(ComingFrom::Branch)));
            let branches = ways.on.len();
            Feedback {
                consolidator: Consolidator::new(ways.point.consolidation, branches, sender.pcr()),
                meter: Meter::new(branches, sender.pcr()),
                random: ways.random(scenario),
                mcr: RateCode::floor(sender.mcr()),
                up: number(&ways.up),
            }
        });
        let end = |&branch: &_| endpoints[FlowIndex::of(branch, false).index()].index;
        let (on, ends) =
            (ways.on.iter().map(number).collect(), ways.point.branches.iter().map(end).collect());
        hops.branching.extend(at.iter().map(|&(hop, _)| hop));
        branching.at.extend(at.into_iter().map(|(hop, from)| (hop, (index, from))));
        branching.points.push(BranchPoint { on, ends, feedback });
        (ways.point, Place { cluster, index: index as u32 })
    };
    all.into_iter().map(place).collect()
}
