//! Every cell is somewhere: sent ones are received, lost, or still under way, or the run fails.

use std::collections::BTreeMap;

use cellrate_scenario::{FlowIndex, Scenario};

use super::virtual_sources::{self, Balance};
use crate::assembly::Assembly;
use crate::cell::Cell;
use crate::error::RunError;
use crate::kernel::ports::Queues;
use cellrate_engine::names::flow_name;

/// Cells of each direction that are neither sent nor received any more.
pub(crate) struct Elsewhere {
    /// On links, in ports, between clusters, and waiting for virtual sources.
    pub in_flight: Vec<u64>,
    /// Lost.
    pub dropped: Vec<u64>,
}

impl Elsewhere {
    /// The cells as of an instant that the kernel has run to.
    ///
    /// # Errors
    /// [`RunError::NotConserved`] where cells are missing, or too many.
    pub fn count(scenario: &Scenario, assembly: &Assembly) -> Result<Elsewhere, RunError> {
        let mut in_flight = count_in_flight(assembly, scenario.flows().len());
        let [dropped, originated, absorbed] = counted_by_flow(assembly, in_flight.len());
        let by_switches = originated.into_iter().zip(absorbed);
        let balances = virtual_sources::balances(scenario, assembly)?;
        let flows = scenario.flows().zip(&mut in_flight).zip(&dropped);
        for (((flow, in_flight), &dropped), (balance, (originated, absorbed))) in
            flows.zip(balances.into_iter().zip(by_switches))
        {
            let Balance { sent, received, waiting } = balance;
            let (sender, receiver) = (assembly.sender(flow), assembly.receiver(flow));
            let counts = [
                sender.end.sent() + sent + originated,
                receiver.end.delivered() + received + absorbed,
                dropped,
                *in_flight,
            ];
            if counts[0] != counts[1] + counts[2] + counts[3] {
                return Err(RunError::NotConserved { vc: flow_name(scenario, flow), counts });
            }
            *in_flight += waiting;
        }
        Ok(Elsewhere { in_flight, dropped })
    }
}

/// Cells of each direction on links, in ports and between clusters.
fn count_in_flight(assembly: &Assembly, flows: usize) -> Vec<u64> {
    let mut counts = vec![0; flows];
    for cluster in &assembly.kernel.clusters {
        for lane in &cluster.lanes {
            lane.cells.count(|hop, cells| counts[cluster.hops[hop].flow.index()] += cells);
        }
        let mut count = |cell: &Cell| counts[cluster.hops[cell.hop()].flow.index()] += 1;
        for port in &cluster.ports {
            match &port.queues {
                Queues::Fifo(_) => {}
                Queues::Ranked(ranked) => ranked.cells().for_each(&mut count),
                Queues::Served(served) => served.cells().for_each(&mut count),
            }
        }
        cluster.feeds.iter().flat_map(|feed| feed.trains()).for_each(|train| {
            counts[cluster.hops[train.last.hop()].flow.index()] += u64::from(train.count);
        });
    }
    counts
}

/// Cells of each direction that were lost, BRMs of it that switches originated, and those that branch points took in.
fn counted_by_flow(assembly: &Assembly, flows: usize) -> [Vec<u64>; 3] {
    let clusters = &assembly.kernel.clusters;
    [
        sum_up(clusters.iter().map(|cluster| &cluster.dropped), flows),
        sum_up(clusters.iter().map(|cluster| &cluster.originated), flows),
        sum_up(clusters.iter().map(|cluster| &cluster.absorbed), flows),
    ]
}

/// Cells of each direction that some clusters have counted.
fn sum_up<'a>(counted: impl Iterator<Item = &'a BTreeMap<FlowIndex, u64>>, flows: usize) -> Vec<u64> {
    let mut counts = vec![0; flows];
    for (&flow, &cells) in counted.flatten() {
        counts[flow.index()] += cells;
    }
    counts
}
