//! Policers where cells come to a switch (UPC, NPC): where they stand, what they have to see, and what results say of
//! them.

use std::collections::BTreeMap;

use cellrate_proto::policing::contract::Verdict;
use cellrate_proto::policing::usage::{PolicedCell, UsageConfig, UsageControl, UsageCounts};
use cellrate_proto::{CellRate, Time};
use cellrate_scenario::{ConnectionIndex, FlowIndex, NodeIndex, Scenario, Step};
use serde::Serialize;

use crate::declared::Row;

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

/// The policers of a world, or of a part of it, by its numbers of hops.
#[derive(Debug, Default)]
pub struct Police {
    /// By the hop at whose far end cells are policed.
    policers: BTreeMap<u32, UsageControl>,
    /// The hop that a policer polices, by the hop of the BRMs that it has to see leave.
    watched: BTreeMap<u32, u32>,
}

impl Police {
    /// Adds the policer of what arrives over `hop`, by the BRMs that leave over `hop_back`.
    pub fn add(&mut self, checkpoint: &Checkpoint, hop: u32, hop_back: u32) {
        self.policers.insert(hop, UsageControl::new(&checkpoint.usage));
        self.watched.insert(hop_back, hop);
    }

    /// The verdict on a cell that reaches the far end of `hop` at `now`: what `seen` gives is what a policer looks at.
    /// A cell passes a hop without a policer.
    #[inline]
    pub fn on_arrival(&mut self, now: Time, hop: u32, seen: impl FnOnce() -> PolicedCell) -> Verdict {
        match self.policers.get_mut(&hop) {
            Some(policer) => policer.on_cell(now, seen()),
            None => Verdict::Pass,
        }
    }

    /// Shows a BRM that leaves by `hop` at `now` to whoever polices by it; `explicit_rate` gives its ER.
    #[inline]
    pub fn on_backward_rm(&mut self, now: Time, hop: u32, explicit_rate: impl FnOnce() -> Option<CellRate>) {
        let policer = self.watched.get(&hop).and_then(|hop| self.policers.get_mut(hop));
        if let (Some(policer), Some(rate)) = (policer, explicit_rate()) {
            policer.on_backward_rm(now, rate);
        }
    }

    /// Counts of the policer at the far end of `hop`; nothing where there is none.
    pub fn counts(&self, hop: u32) -> UsageCounts {
        self.policers.get(&hop).map(UsageControl::counts).unwrap_or_default()
    }
}

/// The cells of one direction of a connection that a policer has decided on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[row(one = "policer", many = "policers", named = "{vc} at {switch}")]
pub struct PolicingSummary {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// The switch at whose incoming interface it stands.
    pub switch: String,
    /// Conformance definition, "CBR.1" to "ABR.1".
    #[row(heading = "definition")]
    pub definition: &'static str,
    /// Cells that conformed; of GFR those of eligible frames, and those that came with CLP = 1.
    #[row(unit = cells, adds = sum, heading = "conforming")]
    pub conforming: u64,
    /// Cells that did not.
    #[row(unit = cells, adds = sum, heading = "not")]
    pub nonconforming: u64,
    /// Cells among them that went on with CLP = 1.
    #[row(unit = cells, adds = sum, heading = "tagged")]
    pub tagged: u64,
    /// Cells among them that were discarded.
    #[row(unit = cells, adds = sum, heading = "discarded")]
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
