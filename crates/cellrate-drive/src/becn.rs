//! Where switches originate BRMs: for each direction of an ABR connection the ports that may, and the way of what they
//! send.

use cellrate_scenario::{Category, Connection, Scenario, Step};

/// A port of a switch that may originate BRMs for a direction that leaves by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The direction.
    pub flow: usize,
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
    for (index, connection) in scenario.connections.iter().enumerate() {
        if connection.category != Category::Abr {
            continue;
        }
        let hops = connection.path.len();
        for backward in [false, true] {
            // Hop j of n leaves the node that hop n - j of the other direction leaves.
            for hop in 1..hops {
                let (step, step_back) =
                    (step(connection, backward, hop), step(connection, !backward, hops - hop));
                let port = &scenario.links[step.link.0 as usize].ports[usize::from(step.end)];
                if port.control.becn.is_some() {
                    let flow = 2 * index + usize::from(backward);
                    origins.push(Origin { flow, hop, step, hop_back: hops - hop, step_back });
                }
            }
        }
    }
    origins
}

fn step(connection: &Connection, backward: bool, hop: usize) -> Step {
    if !backward {
        return connection.path[hop];
    }
    let Step { link, end } = connection.path[connection.path.len() - 1 - hop];
    Step { link, end: 1 - end }
}
