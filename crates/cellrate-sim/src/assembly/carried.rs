//! Which ports carry cells, and of which priorities.

use cellrate_engine::becn::Origin;
use cellrate_proto::CellRate;
use cellrate_proto::parameters::TCR;
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

/// How many cells there are at most at each port of a switch where all that it carries comes over one line, and none
/// faster than it sends it on: each cell has left when the next one comes, but for BRMs that originate at
/// the switch, as many as there may be in a run. `None` elsewhere. Cells come closer over a line that changes, and wait
/// where a connection is held to a rate.
pub(super) fn most_cells(scenario: &Scenario, origins: &[Origin]) -> Vec<Option<u64>> {
    let mut before: Vec<Option<PortIndex>> = vec![None; scenario.ports().len()];
    let mut alone = vec![true; before.len()];
    for flow in scenario.flows().filter(|&flow| sends(scenario, flow)) {
        let ports = || scenario.steps(flow).map(|step| step.port());
        let is_held = scenario.connection(flow.connection()).queue.shaped_to.is_some();
        for (from, to) in ports().zip(ports().skip(1)) {
            let from_there = before[to.index()].replace(from).is_none_or(|other| other == from);
            alone[to.index()] &= from_there && !(is_held && scenario.port(to).queueing.is_per_vc());
        }
    }
    let cell_time = |port: PortIndex| scenario.link(port.link()).rate.cell_time();
    let changes = |port: PortIndex| scenario.link(port.link()).is_changing();
    let never_waits = |port: PortIndex| {
        let before = before[port.index()].filter(|_| alone[port.index()]);
        before
            .is_some_and(|before| cell_time(before) >= cell_time(port) && !changes(before) && !changes(port))
    };
    let mut most: Vec<Option<u64>> = scenario.ports().map(|port| never_waits(port).then_some(1)).collect();
    let of_each = 1 + scenario.duration.as_ps() / CellRate::new(TCR).interval().as_ps();
    for origin in origins {
        if let Some(most) = &mut most[origin.step_back.port().index()] {
            *most += of_each;
        }
    }
    most
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
