//! Rows of results about virtual sources.

use cellrate_proto::{CellRate, Duration, Source};
use cellrate_scenario::Scenario;
use serde::Serialize;

use crate::declared::Row;

use crate::names::flow_name;
use crate::per_vc_queue::PerVcQueue;
use crate::segments::VirtualEnd;

/// The virtual source of one direction of a connection, at a switch that segments its control loop (`vs_vd`).
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "virtual source", many = "virtual sources", named = "{vc} at {switch}")]
pub struct VirtualSourceSummary {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// The switch.
    pub switch: String,
    /// Data cells that came and had room.
    #[row(unit = cells, adds = sum)]
    pub data_received: u64,
    /// Data cells that it sent on.
    #[row(unit = cells, adds = sum, heading = "data sent")]
    pub data_sent: u64,
    /// FRMs that it sent.
    #[row(unit = cells, adds = sum)]
    pub forward_rm_sent: u64,
    /// BRMs of its loop that came back to it.
    #[row(unit = cells, adds = sum)]
    pub backward_rm_received: u64,
    /// Most data cells that waited for it.
    #[row(unit = cells, adds = largest, heading = "max queue")]
    pub max_queue: u64,
    /// Time-weighted mean of the same.
    #[row(unit = cells, adds = largest, heading = "mean queue")]
    pub mean_queue: f64,
    /// Time-weighted mean of its ACR.
    #[row(unit = cells_per_s, adds = sum, heading = "mean ACR")]
    pub mean_acr: f64,
    /// Its ACR at the end.
    #[row(unit = cells_per_s, adds = sum)]
    pub final_acr: f64,
    /// Times that rule 5 set its ACR back to ICR.
    #[row(unit = plain, adds = sum)]
    pub idle_resets: u64,
    /// Times that rule 6 decreased its ACR.
    #[row(unit = plain, adds = sum)]
    pub cutoff_decreases: u64,
    /// Times that the use-it-or-lose-it policy decreased its ACR.
    #[row(unit = plain, adds = sum)]
    pub uili_decreases: u64,
}

/// Counters of a virtual source.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Data cells that came and had room.
    pub data_received: u64,
    /// Data cells sent.
    pub data_sent: u64,
    /// FRMs sent.
    pub forward_rm_sent: u64,
    /// BRMs received.
    pub backward_rm_received: u64,
    /// Time-weighted mean of ACR.
    pub mean_acr: CellRate,
    /// Time integral of its queue [cells * ps].
    pub queue_integral: u128,
}

impl VirtualSourceSummary {
    /// The row of a virtual source that was counted for `span`.
    pub fn new<C: Copy>(
        scenario: &Scenario,
        end: &VirtualEnd,
        (source, queue): (&Source, &PerVcQueue<C>),
        counted: Counted,
        span: Duration,
    ) -> VirtualSourceSummary {
        let statistics = source.statistics();
        VirtualSourceSummary {
            vc: flow_name(scenario, end.flow),
            switch: scenario.node(end.switch).name.clone(),
            data_received: counted.data_received,
            data_sent: counted.data_sent,
            forward_rm_sent: counted.forward_rm_sent,
            backward_rm_received: counted.backward_rm_received,
            max_queue: queue.max().0,
            mean_queue: counted.queue_integral as f64 / span.as_ps() as f64,
            mean_acr: counted.mean_acr.as_cells_per_s(),
            final_acr: source.acr().as_cells_per_s(),
            idle_resets: statistics.idle_resets,
            cutoff_decreases: statistics.cutoff_decreases,
            uili_decreases: statistics.uili_decreases,
        }
    }

    /// The counts since its row was `before`; means and maxima stay.
    #[must_use]
    pub fn since(&self, before: &VirtualSourceSummary) -> VirtualSourceSummary {
        VirtualSourceSummary {
            data_received: self.data_received - before.data_received,
            data_sent: self.data_sent - before.data_sent,
            forward_rm_sent: self.forward_rm_sent - before.forward_rm_sent,
            backward_rm_received: self.backward_rm_received - before.backward_rm_received,
            idle_resets: self.idle_resets - before.idle_resets,
            cutoff_decreases: self.cutoff_decreases - before.cutoff_decreases,
            uili_decreases: self.uili_decreases - before.uili_decreases,
            ..self.clone()
        }
    }
}
