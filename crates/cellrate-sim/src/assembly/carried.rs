//! Which ports carry cells, and of which priorities.

use cellrate_scenario::{Category, FlowIndex, Scenario};

use crate::port::{PRIORITIES, priority};

/// Which priorities each port serves.
pub(super) fn categories_by_port(scenario: &Scenario) -> Vec<[bool; PRIORITIES]> {
    let mut used = vec![[false; PRIORITIES]; scenario.ports().len()];
    for flow in scenario.flows().filter(|&flow| sends(scenario, flow)) {
        let priority = priority(scenario.connection(flow.connection()).category);
        scenario.steps(flow).for_each(|step| used[step.port().index()][priority] = true);
    }
    used
}

/// Which ports carry cells.
pub(crate) fn carries_cells(scenario: &Scenario) -> Vec<bool> {
    categories_by_port(scenario).into_iter().map(|used| used.contains(&true)).collect()
}

/// Whether a direction ever sends a cell.
pub(crate) fn sends(scenario: &Scenario, flow: FlowIndex) -> bool {
    let connection = scenario.connection(flow.connection());
    connection.category == Category::Abr || connection.carries_data(flow.is_backward())
}
