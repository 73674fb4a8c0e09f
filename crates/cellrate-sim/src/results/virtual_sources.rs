//! Rows of results about virtual sources, and what their cells are to the account of a direction.

use cellrate_engine::per_vc_queue::PerVcQueue;
use cellrate_engine::segments::{VirtualEnd, along_the_way};
use cellrate_engine::virtual_source::{Counted, VirtualSourceSummary};
use cellrate_proto::Time;
use cellrate_scenario::Scenario;

use crate::assembly::Assembly;
use crate::endpoint::{Endpoint, RmCount};
use crate::error::RunError;
use crate::kernel::cell::Cell;
use crate::names::flow_name;
use crate::traffic::Supply;

/// Cells of one direction at its virtual ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Balance {
    /// By virtual sources.
    pub sent: u64,
    /// By virtual destinations.
    pub received: u64,
    /// Data cells between them.
    pub waiting: u64,
}

/// By direction.
pub(crate) fn balances(scenario: &Scenario, assembly: &Assembly) -> Result<Vec<Balance>, RunError> {
    let mut balances = vec![Balance::default(); scenario.flows().len()];
    for (end, sender, receiver, queue) in virtual_sources(assembly) {
        let (came, went, waiting) = (receiver.data_delivered(), sender.counters.data_sent, queue.len().0);
        if came != went + waiting {
            let vc = flow_name(scenario, end.flow);
            return Err(RunError::NotConserved { vc, counts: [came, went, 0, waiting] });
        }
        let balance = &mut balances[end.flow.index()];
        balance.sent += sender.counters.sent();
        balance.received += receiver.delivered();
        balance.waiting += waiting;
    }
    Ok(balances)
}

/// One row per virtual source that data came to, in the order of the directions and of their ways.
pub(crate) fn collect(scenario: &Scenario, assembly: &Assembly, until: Time) -> Vec<VirtualSourceSummary> {
    let mut rows: Vec<_> = virtual_sources(assembly).filter(|(.., queue)| queue.max().0 > 0).collect();
    rows.sort_by_key(|(end, ..)| along_the_way(end));
    let row = |(end, sender, receiver, queue): (&VirtualEnd, &Endpoint, &Endpoint, &PerVcQueue<Cell>)| {
        let counted = Counted {
            data_received: receiver.data_delivered(),
            data_sent: sender.counters.data_sent,
            forward_rm_sent: sender.counters.rm(RmCount::ForwardSent),
            backward_rm_received: sender.counters.rm(RmCount::BackwardReceived),
            mean_acr: sender.mean_acr(until).unwrap_or_default(),
        };
        let span = (until, scenario.duration);
        Some(VirtualSourceSummary::new(scenario, end, (sender.source()?, queue), counted, span))
    };
    rows.into_iter().filter_map(row).collect()
}

/// The virtual ends as sources, with the ends that the loops before them lead to.
fn virtual_sources(
    assembly: &Assembly,
) -> impl Iterator<Item = (&VirtualEnd, &Endpoint, &Endpoint, &PerVcQueue<Cell>)> {
    let endpoint = |number: usize| assembly.endpoint(assembly.virtual_ends[number].1);
    assembly.virtual_ends.iter().enumerate().filter_map(move |(number, (end, _))| {
        let (sender, receiver) = (endpoint(number), endpoint(number ^ 1));
        match &sender.supply {
            Supply::Relayed(queue) => Some((end, sender, receiver, &**queue)),
            _ => None,
        }
    })
}
