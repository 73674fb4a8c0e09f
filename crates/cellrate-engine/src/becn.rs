//! Where switches originate BRMs: for each direction of an ABR connection the ports that may, and the way of what they
//! send.

use cellrate_scenario::{Category, FlowIndex, Scenario, Step};

/// A port of a switch that may originate BRMs for a direction that leaves by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The direction.
    pub flow: FlowIndex,
    /// The hop of that direction that begins at the port, counted from 0.
    pub hop: usize,
    /// Its step.
    pub step: Step,
    /// The hop of the other direction that leaves the same switch, counted from 0, which the BRMs take.
    pub hop_back: usize,
    /// Its step.
    pub step_back: Step,
}

/// All of them, in the order of the directions and of their ways.
pub fn origins(scenario: &Scenario) -> Vec<Origin> {
    let mut origins = Vec::new();
    for flow in scenario.flows() {
        let (connection, backward) = (scenario.connection(flow.connection()), flow.is_backward());
        if connection.category != Category::Abr {
            continue;
        }
        // Hop j of n leaves the node that hop n - j of the other direction leaves.
        for (hop, step) in connection.steps(backward).enumerate().skip(1) {
            if scenario.port(step.port()).control.becn.is_some() {
                let hop_back = connection.path.len() - hop;
                let step_back = connection.step(!backward, hop_back);
                origins.push(Origin { flow, hop, step, hop_back, step_back });
            }
        }
    }
    origins
}
