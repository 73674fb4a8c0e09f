//! Rows of results about virtual sources, and what their cells are to the account of a direction.

use cellrate_engine::connection_end::RmCount;
use cellrate_engine::per_vc_queue::PerVcQueue;
use cellrate_engine::segments::{VirtualEnd, along_the_way};
use cellrate_engine::supply::CommonSupply;
use cellrate_engine::virtual_source::{Counted, VirtualSourceSummary};
use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::Scenario;

use crate::assembly::Assembly;
use crate::cell::Cell;
use crate::endpoint::Endpoint;
use crate::error::RunError;
use crate::traffic::Supply;
use cellrate_engine::names::flow_name;

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
        let (came, went, waiting) =
            (receiver.end.data_delivered(), sender.end.counts.data_sent, queue.len().0);
        if came != went + waiting {
            let vc = flow_name(scenario, end.flow);
            return Err(RunError::NotConserved { vc, counts: [came, went, 0, waiting] });
        }
        let balance = &mut balances[end.flow.index()];
        balance.sent += sender.end.counts.sent();
        balance.received += receiver.end.delivered();
        balance.waiting += waiting;
    }
    Ok(balances)
}

/// Counts of virtual sources by the end of the warm-up, and sums since. Lists are in the order of the virtual sources
/// of the assembly.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// Rows at the end of the warm-up; none where there is no warm-up.
    rows: Vec<VirtualSourceSummary>,
    queue_integrals: Vec<u128>,
    /// Time integral of ACR since the end of the warm-up, up to the last reading \[cells\].
    acr_cells: Vec<f64>,
}

impl Before {
    /// Counts are read at `at`, where integrals of ACR begin anew; the warm-up ends at `start`.
    pub fn read(&mut self, scenario: &Scenario, assembly: &Assembly, at: Time, start: Time) {
        let sources = || virtual_sources(assembly);
        self.acr_cells.resize(sources().count(), 0.0);
        for ((_, sender, ..), cells) in sources().zip(&mut self.acr_cells) {
            *cells = if at <= start { 0.0 } else { *cells + sender.end.pacer.acr_cells(at) };
        }
        if at == start {
            self.queue_integrals = sources().map(|(.., queue)| queue.integral(at)).collect();
            let span = at.since(Time::ZERO);
            self.rows = sources().filter_map(|source| row(scenario, source, at, span, (0, 0.0))).collect();
        }
    }
}

/// One row per virtual source that data came to, in the order of the directions and of their ways.
pub(crate) fn collect(
    scenario: &Scenario,
    assembly: &Assembly,
    before: &Before,
    until: Time,
) -> Vec<VirtualSourceSummary> {
    let span = until.since(scenario.measuring.start());
    let mut rows = Vec::new();
    for (place, source) in virtual_sources(assembly).enumerate() {
        let integral = before.queue_integrals.get(place).copied().unwrap_or(0);
        let acr_cells = before.acr_cells.get(place).copied().unwrap_or(0.0);
        let now = row(scenario, source, until, span, (integral, acr_cells));
        let grown = now.filter(|row| row.data_received > 0).map(|row| match before.rows.get(place) {
            Some(before) => row.since(before),
            None => row,
        });
        rows.extend(grown.map(|row| (along_the_way(source.0), row)));
    }
    rows.sort_by_key(|&(place, _)| place);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// All counts by `until`, and means over `span`: of the queue beyond `integral`, of ACR with `acr_cells` from before.
fn row(
    scenario: &Scenario,
    (end, sender, receiver, queue): (&VirtualEnd, &Endpoint, &Endpoint, &PerVcQueue<Cell>),
    until: Time,
    span: Duration,
    (integral, acr_cells): (u128, f64),
) -> Option<VirtualSourceSummary> {
    let cells = acr_cells + sender.end.pacer.acr_cells(until);
    let counted = Counted {
        data_received: receiver.end.data_delivered(),
        data_sent: sender.end.counts.data_sent,
        forward_rm_sent: sender.end.counts.rm(RmCount::ForwardSent),
        backward_rm_received: sender.end.counts.rm(RmCount::BackwardReceived),
        mean_acr: CellRate::new(cells / span.as_secs_f64()),
        queue_integral: queue.integral(until) - integral,
    };
    Some(VirtualSourceSummary::new(scenario, end, (sender.end.source()?, queue), counted, span))
}

/// The virtual ends as sources, with the ends that the loops before them lead to.
fn virtual_sources(
    assembly: &Assembly,
) -> impl Iterator<Item = (&VirtualEnd, &Endpoint, &Endpoint, &PerVcQueue<Cell>)> {
    let endpoint = |number: usize| assembly.endpoint(assembly.virtual_ends[number].1);
    assembly.virtual_ends.iter().enumerate().filter_map(move |(number, (end, _))| {
        let (sender, receiver) = (endpoint(number), endpoint(number ^ 1));
        match &sender.end.supply {
            Supply::Common(CommonSupply::Relayed(queue)) => Some((end, sender, receiver, &**queue)),
            _ => None,
        }
    })
}
