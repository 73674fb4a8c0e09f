//! Set-up of connections at their ends and at an output port.

use cellrate_proto::switch::{FrameDiscard, PortControl, Slot, VcAtPort};
use cellrate_proto::{CellRate, Destination, DestinationConfig};
use cellrate_scenario::{Category, Flow, FlowIndex, Scenario, Sender, WaitingBrm};

use crate::priority::priority;
use crate::waiting::WaitingCells;

/// The receiving end of `flow`.
pub fn destination(flow: &Flow) -> Destination {
    Destination::new(match &flow.sender {
        Sender::Abr(abr) => DestinationConfig {
            clear_efci_state: abr.clear_efci_state,
            send_waiting_out_of_rate: abr.waiting_brm == WaitingBrm::SendOutOfRate,
        },
        Sender::Peak(_) => DestinationConfig::default(),
    })
}

/// Tells a port of one direction of a connection: its control of ABR, its frame discard of GFR and UBR, its queues. The
/// direction's number there, among those of its category; `None` where nobody has to know of it.
pub fn connect<C>(
    scenario: &Scenario,
    flow: FlowIndex,
    control: &mut PortControl,
    frame_discard: Option<&mut FrameDiscard>,
    waiting: Option<&mut WaitingCells<C>>,
) -> Option<Slot> {
    let connection = scenario.connection(flow.connection());
    let queue = waiting.and_then(|waiting| waiting.connect(scenario, flow, priority(connection.category)));
    let slot = match (&scenario.flow(flow).sender, connection.category) {
        (Sender::Abr(abr), _) => {
            let vc = VcAtPort { pcr: abr.parameters.pcr, mcr: abr.parameters.mcr, weight: abr.weight };
            Some(control.connect(&vc))
        }
        (Sender::Peak(_), Category::Gfr | Category::Ubr) => {
            let backward = flow.is_backward();
            let sends = connection.carries_data(backward) || connection.carries_packets();
            let mcr = if sends { connection.queue.mcr } else { CellRate::ZERO };
            frame_discard.map(|discard| discard.connect(connection.carries_pdus(backward), mcr))
        }
        (Sender::Peak(_), _) => None,
    };
    // Control and frame discard number connections of their category in the same order, where they number them at all.
    queue.or(slot)
}
