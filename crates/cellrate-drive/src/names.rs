//! What results call the things of a scenario.

use cellrate_scenario::{Category, NodeIndex, Scenario};

/// "name", or "name (back)" for the direction from the last host to the first.
pub fn flow_name(scenario: &Scenario, flow: usize) -> String {
    let name = &scenario.connections[flow / 2].name;
    if flow.is_multiple_of(2) { name.clone() } else { format!("{name} (back)") }
}

/// "sw1->sw2": the port of sw1 towards sw2.
pub fn port_name(scenario: &Scenario, number: usize) -> String {
    let [near, far] = [number % 2, 1 - number % 2].map(|end| scenario.links[number / 2].ends[end]);
    let name = |node: NodeIndex| &scenario.nodes[node.0 as usize].name;
    format!("{}->{}", name(near), name(far))
}

/// "cbr", "vbr", "abr" or "ubr".
pub fn category_name(category: Category) -> &'static str {
    match category {
        Category::Cbr => "cbr",
        Category::Vbr => "vbr",
        Category::Abr => "abr",
        Category::Ubr => "ubr",
    }
}
