//! Which ports carry cells, and of which priorities.

use cellrate_scenario::{Category, FlowIndex, PortIndex, Scenario};

use crate::kernel::ports::{PRIORITIES, priority};

/// Which priorities each port serves.
pub(super) fn categories_by_port(scenario: &Scenario) -> Vec<[bool; PRIORITIES]> {
    let mut used = vec![[false; PRIORITIES]; scenario.ports().len()];
    for flow in scenario.flows().filter(|&flow| sends(scenario, flow)) {
        let priority = priority(scenario.connection(flow.connection()).category);
        scenario.steps(flow).for_each(|step| used[step.port().index()][priority] = true);
    }
    used
}

/// Ports of switches at which no cell ever waits: all that they carry comes over one line, and none faster than they
/// send it on. Each cell has left when the next one comes. Cells come closer over a line that changes.
pub(super) fn ports_without_queue(scenario: &Scenario) -> Vec<bool> {
    let mut before: Vec<Option<PortIndex>> = vec![None; scenario.ports().len()];
    let mut alone = vec![true; before.len()];
    for flow in scenario.flows().filter(|&flow| sends(scenario, flow)) {
        let ports = || scenario.steps(flow).map(|step| step.port());
        for (from, to) in ports().zip(ports().skip(1)) {
            alone[to.index()] &= before[to.index()].replace(from).is_none_or(|other| other == from);
        }
    }
    let cell_time = |port: PortIndex| scenario.link(port.link()).rate.cell_time();
    let changes = |port: PortIndex| scenario.link(port.link()).is_changing();
    let never_waits = |port: PortIndex| {
        let before = before[port.index()].filter(|_| alone[port.index()]);
        before
            .is_some_and(|before| cell_time(before) >= cell_time(port) && !changes(before) && !changes(port))
    };
    scenario.ports().map(never_waits).collect()
}

/// Which ports carry cells.
pub(crate) fn carries_cells(scenario: &Scenario) -> Vec<bool> {
    categories_by_port(scenario).into_iter().map(|used| used.contains(&true)).collect()
}

/// Whether a direction ever sends a cell.
pub(crate) fn sends(scenario: &Scenario, flow: FlowIndex) -> bool {
    let connection = scenario.connection(flow.connection());
    connection.category == Category::Abr
        || connection.carries_data(flow.is_backward())
        || !connection.loopbacks.is_empty()
}
