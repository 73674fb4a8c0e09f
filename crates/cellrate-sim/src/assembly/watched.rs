//! Quantities that series look at: there, things have to happen one by one that are worked out together elsewhere.

use cellrate_proto::Duration;
use cellrate_scenario::{Every, FlowIndex, PortIndex, PortQuantity, PortSource, Quantity, Scenario, Traffic};

use super::announced::Announced;

/// Quantities of one port that series look at.
#[derive(Clone, Copy, Default)]
pub(super) struct WatchedPort {
    /// A series is recorded, even if it is one of zeros.
    pub(super) probed: bool,
    /// Every change of a queue is recorded.
    pub(super) queue: bool,
    /// Every change of anything is recorded: then cells that come to the port are dealt with one by one.
    pub(super) changes: bool,
    /// Every change of something that is not the whole queue is recorded.
    pub(super) other_changes: bool,
    /// From one sample of a queue, or of what has left, to the next: the least time.
    pub(super) interval: Option<Duration>,
    /// A figure of the port's algorithm is recorded,
    pub(super) algorithm: bool,
    /// and every change of one.
    pub(super) figures: bool,
}

/// Quantities that all series look at, gone through once: there may be as many of them as there are ports.
pub(super) struct Watched {
    ports: Vec<WatchedPort>,
    /// By connection, whether a series looks at it.
    connections: Vec<bool>,
}

impl Watched {
    pub(super) fn of(scenario: &Scenario) -> Watched {
        let mut watched = Watched {
            ports: vec![WatchedPort::default(); scenario.ports().len()],
            connections: vec![false; scenario.connections.len()],
        };
        for probe in &scenario.probes {
            match probe.quantity {
                Quantity::Port { quantity, port } => {
                    let port = &mut watched.ports[port.index()];
                    port.probed = true;
                    let at_changes = probe.every == Every::Change;
                    port.changes |= at_changes;
                    if let (Every::Interval(interval), PortSource::Queue | PortSource::Line) =
                        (probe.every, quantity.source())
                    {
                        port.interval = Some(port.interval.map_or(interval, |least| least.min(interval)));
                    }
                    port.queue |= at_changes && quantity.source() == PortSource::Queue;
                    port.other_changes |= at_changes && quantity != PortQuantity::Queue;
                    port.algorithm |= quantity.source() == PortSource::Algorithm;
                    port.figures |= at_changes && quantity.source() == PortSource::Algorithm;
                }
                Quantity::Flow { flow, .. } => watched.connections[flow.connection().0 as usize] = true,
                // Of ABR, whose senders have feedback.
                Quantity::VirtualSource { .. } => {}
                // Beginnings and ends are told of whoever looks.
                Quantity::Demand { .. } => {}
            }
        }
        watched
    }

    pub(super) fn port(&self, port: PortIndex) -> WatchedPort {
        self.ports[port.index()]
    }

    /// Whether a series looks at the connection of `flow`, its virtual sources left out.
    pub(super) fn connection(&self, flow: FlowIndex) -> bool {
        self.connections[flow.connection().0 as usize]
    }
}

/// By port, whether every arrival over its link has to be an event: a series looks at a receiving end there, the end
/// answers what it receives, and no mark tells it when, or data come that carry RM values.
pub(super) fn watched_receivers(scenario: &Scenario, announced: &Announced<'_>) -> Vec<bool> {
    let watched = scenario.probes.iter().filter_map(|probe| match probe.quantity {
        Quantity::Flow { quantity, flow } if quantity.is_of_receiver() => Some(flow),
        _ => None,
    });
    let answering =
        scenario.flows().filter(|flow| match scenario.connection(flow.connection()).forward.traffic {
            Some(Traffic::RequestResponse(_)) => !announced.has(*flow),
            Some(Traffic::Channels(_)) => true,
            _ => false,
        });
    let mut every_cell = vec![false; scenario.ports().len()];
    let in_band = scenario.flows().filter(|flow| scenario.flow(*flow).sender.is_in_band());
    for flow in watched.chain(answering).chain(in_band) {
        if let Some(last) = scenario.steps(flow).next_back() {
            every_cell[last.port().index()] = true;
        }
    }
    every_cell
}
