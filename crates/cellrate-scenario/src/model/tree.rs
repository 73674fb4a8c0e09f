//! Trees: connections with one source and several leaves.
//!
//! A tree is a list of connections that follow one another: its trunk, the path from the source to the first leaf, and
//! its branches, each the way from a switch of the tree to one leaf more. Each is a connection of its own to the ports
//! on its way, and to results; but a branch sends nothing by itself: its cells are copies.

use cellrate_proto::consolidation::ConsolidationConfig;

use crate::model::{Category, ConnectionIndex, FlowIndex, NodeIndex, PortIndex, Scenario, Step};

/// Where a branch of a tree leaves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    /// The connection that it leaves: the trunk, or a branch before it in the list.
    pub from: ConnectionIndex,
    /// The hop of that connection, from 1 on, that leaves the same switch.
    pub hop: usize,
    /// How that switch consolidates BRMs.
    pub consolidation: ConsolidationConfig,
}

/// A switch that copies the cells of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchPoint {
    /// The connection that comes to it.
    pub connection: ConnectionIndex,
    /// The hop by which that leaves it, counted from 0.
    pub hop: usize,
    /// The switch.
    pub switch: NodeIndex,
    /// The branches that begin there, in order.
    pub branches: Vec<ConnectionIndex>,
    /// How BRMs are consolidated.
    pub consolidation: ConsolidationConfig,
}

impl Scenario {
    /// All branch points, in the order of the connections that come to them, and along their ways.
    pub fn branch_points(&self) -> Vec<BranchPoint> {
        let mut points: Vec<BranchPoint> = Vec::new();
        for (index, connection) in (0..).map(ConnectionIndex).zip(&self.connections) {
            let Some(Branch { from, hop, consolidation }) = connection.branch else { continue };
            match points.iter_mut().find(|point| (point.connection, point.hop) == (from, hop)) {
                Some(point) => point.branches.push(index),
                None => {
                    let switch = self.tail(self.connection(from).step(false, hop));
                    let branches = vec![index];
                    points.push(BranchPoint { connection: from, hop, switch, branches, consolidation });
                }
            }
        }
        points.sort_by_key(|point| (point.connection, point.hop));
        points
    }

    /// Whether the cells of `connection` are copied somewhere, or are copies.
    pub fn is_of_tree(&self, connection: ConnectionIndex) -> bool {
        let next = ConnectionIndex(connection.0 + 1);
        let is_branch = |at: ConnectionIndex| {
            self.connections.get(at.0 as usize).is_some_and(|connection| connection.branch.is_some())
        };
        is_branch(connection) || is_branch(next)
    }

    /// The branches of the tree with this trunk; none where it is no tree.
    pub fn branches_of(&self, trunk: ConnectionIndex) -> impl Iterator<Item = ConnectionIndex> {
        let rest = self.connections.get(trunk.0 as usize + 1..).unwrap_or_default();
        let count = match self.connection(trunk).branch {
            None => rest.iter().take_while(|connection| connection.branch.is_some()).count(),
            Some(_) => 0,
        };
        (trunk.0 + 1..).take(count).map(ConnectionIndex)
    }

    /// The links from the source of `connection` to its last host: for a branch those of the tree before it, too.
    pub fn path_from_source(&self, connection: ConnectionIndex) -> Vec<Step> {
        let (mut way, mut at) = (self.connection(connection).path.clone(), connection);
        while let Some(Branch { from, hop, .. }) = self.connection(at).branch {
            way.splice(0..0, self.connection(from).path.iter().take(hop).copied());
            at = from;
        }
        way
    }

    /// The links that the cells of a direction cross before they come to `port`: of a tree from its source on.
    pub fn way_to(&self, flow: FlowIndex, port: PortIndex) -> Vec<Step> {
        let leads_there =
            |branch: &ConnectionIndex| self.connection(*branch).path.iter().any(|step| step.port() == port);
        let branch = self.branches_of(flow.connection()).find(leads_there).filter(|_| !flow.is_backward());
        let way = match branch {
            Some(branch) => self.path_from_source(branch),
            None => self.steps(flow).collect(),
        };
        way.into_iter().take_while(|step| step.port() != port).collect()
    }

    /// The links that the cells of a tree, or of a path, cross from its source to all leaves.
    pub fn all_steps(&self, trunk: ConnectionIndex) -> impl Iterator<Item = Step> {
        let all = std::iter::once(trunk).chain(self.branches_of(trunk));
        all.flat_map(|connection| self.connection(connection).steps(false))
    }
}

impl BranchPoint {
    /// Whether BRMs come to it.
    pub fn consolidates(&self, scenario: &Scenario) -> bool {
        scenario.connection(self.connection).category == Category::Abr
    }
}
