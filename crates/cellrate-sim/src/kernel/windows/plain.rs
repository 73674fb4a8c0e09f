//! Plain networks: nothing in them looks at a data cell by itself, so that ports from switch to switch deal with cells
//! [late](crate::kernel::deferred::onward) within a cluster, too.

use cellrate_scenario::{Category, Connection, Every, Link, Port, RmCells, Scenario, Traffic};

/// Connections of a network that is one cluster whatever way they take: more of them have too much state for that.
const FEW: usize = 256;

/// A plain network: all cells are of one category, join FIFOs, and belong to no PDU.
pub(super) struct Plain {
    connections: usize,
    /// Whether they send ABR cells, which very many sources have sorted before another cluster.
    are_abr: bool,
}

impl Plain {
    /// The network, if it is plain.
    pub(super) fn of(scenario: &Scenario) -> Option<Plain> {
        let category = scenario.connections.first()?.category;
        let are_alike = scenario.connections.iter().all(|it| it.category == category && passes_unseen(it));
        let is_plain = are_alike
            && scenario.links.iter().all(keeps_fifos)
            && scenario.probes.iter().all(|probe| probe.every != Every::Change);
        let (connections, are_abr) = (scenario.connections.len(), category == Category::Abr);
        is_plain.then_some(Plain { connections, are_abr })
    }

    /// Whether both sides of a link that so many connections cross may be one cluster: the state of each side by itself
    /// would not be much smaller.
    pub(super) fn may_join(&self, crossing: u64) -> bool {
        self.connections <= FEW || !self.are_abr && 2 * crossing >= self.connections as u64
    }
}

/// Whether switches and hosts look at no data cell of the connection by itself.
fn passes_unseen(connection: &Connection) -> bool {
    connection.policing.is_empty()
        && connection.loopbacks.is_empty()
        && connection.branch.is_none()
        && ![false, true].into_iter().any(|backward| connection.carries_pdus(backward))
        && !matches!(connection.forward.traffic, Some(Traffic::RequestResponse(_) | Traffic::Channels(_)))
}

/// Whether the link stays as it is, and cells of one category before it wait in the order in which they come.
fn keeps_fifos(link: &Link) -> bool {
    let is_fifo = |port: &Port| {
        let control = &port.control;
        !port.queueing.is_per_vc()
            && port.rm_cells == RmCells::InOrder
            && port.frame_discards().iter().all(Option::is_none)
            && (port.ecn.is_none() && control.efci.is_none() && control.becn.is_none())
            && port.buffers.tagged.is_none()
            && port.vs_vd.is_none()
    };
    let is_even = link.line.loss == 0.0 && link.line.loss_bursts.is_none() && link.line.outages.is_empty();
    is_even && !link.is_changing() && link.ports.iter().all(|port| is_fifo(port))
}
