//! Branch points of a cluster: where they stand, by which hops cells go on, and what becomes of BRMs.

use std::collections::BTreeMap;

use cellrate_engine::branch_point::Meter;
use cellrate_engine::random::Random;
use cellrate_proto::RateCode;
use cellrate_proto::consolidation::Consolidator;

/// The branch points of a cluster.
#[derive(Debug, Default)]
pub(crate) struct BranchPoints {
    pub points: Vec<BranchPoint>,
    /// For each hop with a branch point at its far end, the place of that in `points`, and where cells come from.
    pub at: BTreeMap<u32, (usize, ComingFrom)>,
}

/// The direction from which cells come to a branch point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ComingFrom {
    Source,
    /// The branch of this number.
    Branch(usize),
}

/// A branch point.
#[derive(Debug)]
pub(crate) struct BranchPoint {
    /// The hops by which cells go on: the connection's own, then the first ones of the branches.
    pub on: Vec<u32>,
    /// The ends that stand for the source of each branch, which count what is copied to it and comes back.
    pub ends: Vec<u32>,
    /// Way of BRMs up the tree, if the connection has any.
    pub feedback: Option<Feedback>,
}

/// Registers and figures of the BRMs of an ABR tree.
#[derive(Debug)]
pub(crate) struct Feedback {
    pub consolidator: Consolidator,
    pub meter: Meter,
    pub random: Random,
    /// MCR of the connection.
    pub mcr: RateCode,
    /// The hop by which BRMs go up.
    pub up: u32,
}
