//! Where cells of connections are policed, the way of the BRMs that a policer of ABR has to see, and what results say
//! of a policer.

use cellrate_proto::policing::usage::{UsageConfig, UsageCounts};
use cellrate_scenario::{ConnectionIndex, FlowIndex, NodeIndex, Scenario, Step};
use serde::Serialize;

use crate::names::flow_name;

/// A policer at the interface of a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checkpoint {
    /// The direction whose cells it polices.
    pub flow: FlowIndex,
    /// The hop of that direction, counted from 0, at whose far end it does.
    pub hop: usize,
    /// The switch.
    pub switch: NodeIndex,
    /// The hop of the other direction, counted from 0, by which BRMs leave the interface towards the source.
    pub hop_back: usize,
    /// Its step.
    pub step_back: Step,
    /// The conformance definition, and what becomes of cells that do not conform.
    pub usage: UsageConfig,
}

/// All of them, in the order of the directions and of their ways.
pub fn checkpoints(scenario: &Scenario) -> Vec<Checkpoint> {
    let mut all = Vec::new();
    for (index, connection) in (0..).map(ConnectionIndex).zip(&scenario.connections) {
        for policing in &connection.policing {
            let step = connection.step(policing.backward, policing.hop);
            all.push(Checkpoint {
                flow: FlowIndex::of(index, policing.backward),
                hop: policing.hop,
                switch: scenario.head(step),
                hop_back: connection.path.len() - 1 - policing.hop,
                step_back: step.turned(),
                usage: policing.usage,
            });
        }
    }
    all
}

/// The cells of one direction of a connection that a policer has decided on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicingSummary {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// The switch at whose incoming interface it stands.
    pub switch: String,
    /// The conformance definition, "CBR.1" to "GFR.2".
    pub definition: &'static str,
    /// Cells that conformed; of GFR those of eligible frames, and those that came with CLP = 1 \[cells\].
    pub conforming: u64,
    /// Cells that did not \[cells\].
    pub nonconforming: u64,
    /// Cells among them that went on with CLP = 1 \[cells\].
    pub tagged: u64,
    /// Cells among them that were discarded \[cells\].
    pub discarded: u64,
}

impl PolicingSummary {
    /// The row of a policer that has counted this since it had counted `before`.
    pub fn new(
        scenario: &Scenario,
        checkpoint: &Checkpoint,
        now: UsageCounts,
        before: UsageCounts,
    ) -> PolicingSummary {
        PolicingSummary {
            vc: flow_name(scenario, checkpoint.flow),
            switch: scenario.node(checkpoint.switch).name.clone(),
            definition: checkpoint.usage.definition(),
            conforming: now.conforming - before.conforming,
            nonconforming: now.nonconforming - before.nonconforming,
            tagged: now.tagged - before.tagged,
            discarded: now.discarded - before.discarded,
        }
    }
}
