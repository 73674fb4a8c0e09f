//! What series look at: there, things have to happen one by one that are worked out together elsewhere.

use cellrate_scenario::{Every, FlowQuantity, PortIndex, PortQuantity, Quantity, Scenario, Traffic};

/// Whether a series of this port is recorded, even if it is one of zeros.
pub(super) fn is_probed(scenario: &Scenario, of: PortIndex) -> bool {
    scenario.probes.iter().any(|probe| matches!(probe.quantity, Quantity::Port { port, .. } if port == of))
}

/// Whether every change of a queue of this port is recorded: then departures have to be events.
pub(super) fn queue_is_watched(scenario: &Scenario, of: PortIndex) -> bool {
    use PortQuantity::{AbrQueue, GuaranteedQueue, Queue, UbrQueue};
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { quantity: Queue | GuaranteedQueue | AbrQueue | UbrQueue, port } => {
            probe.every == Every::Change && port == of
        }
        _ => false,
    })
}

/// Whether every change of anything at this port is recorded: then whatever comes to it has to be an event.
pub(super) fn changes_are_watched(scenario: &Scenario, of: PortIndex) -> bool {
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { port, .. } => probe.every == Every::Change && port == of,
        Quantity::Flow { .. } | Quantity::VirtualSource { .. } => false,
    })
}

/// Whether every change of a figure of this port's algorithm is recorded.
pub(super) fn figures_are_watched(scenario: &Scenario, of: PortIndex) -> bool {
    scenario.probes.iter().any(|probe| match probe.quantity {
        Quantity::Port { quantity: PortQuantity::Metric(_), port } => {
            probe.every == Every::Change && port == of
        }
        _ => false,
    })
}

/// By port, whether every arrival over its link has to be an event: a series looks at a receiving end there, or the end
/// answers what it receives.
pub(super) fn watched_receivers(scenario: &Scenario) -> Vec<bool> {
    let watched = scenario.probes.iter().filter_map(|probe| match probe.quantity {
        Quantity::Flow { quantity: FlowQuantity::Received, flow } => Some(flow),
        _ => None,
    });
    let answering = scenario.flows().filter(|flow| {
        let forward = &scenario.connection(flow.connection()).forward;
        matches!(forward.traffic, Some(Traffic::RequestResponse(_)))
    });
    let mut every_cell = vec![false; scenario.ports().len()];
    for flow in watched.chain(answering) {
        if let Some(last) = scenario.steps(flow).next_back() {
            every_cell[last.port().index()] = true;
        }
    }
    every_cell
}
