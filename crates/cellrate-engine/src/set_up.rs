//! Set-up of connections at their ends and at an output port.

use cellrate_proto::switch::{PortControl, Slot, VcAtPort};
use cellrate_proto::{Destination, DestinationConfig};
use cellrate_scenario::{Flow, FlowIndex, Scenario, Sender, WaitingBrm};

use crate::frame_discards::FrameDiscards;
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

/// Tells a port of one direction of a connection: its control of ABR, its frame discard, its queues. The
/// direction's number there, among those of its category; `None` where nobody has to know of it.
pub fn connect<C>(
    scenario: &Scenario,
    flow: FlowIndex,
    control: &mut PortControl,
    frame_discards: Option<&mut FrameDiscards>,
    waiting: Option<&mut WaitingCells<C>>,
) -> Option<Slot> {
    let connection = scenario.connection(flow.connection());
    let queue = waiting.and_then(|waiting| waiting.connect(scenario, flow, priority(connection.category)));
    let discard = frame_discards.and_then(|discards| discards.connect(scenario, flow));
    let slot = match &scenario.flow(flow).sender {
        Sender::Abr(abr) => {
            let vc = VcAtPort { pcr: abr.parameters.pcr, mcr: abr.parameters.mcr, weight: abr.weight };
            Some(control.connect(&vc))
        }
        Sender::Peak(_) => None,
    };
    // All number connections of their category in the same order, but that control may number none.
    queue.or(discard).or(slot)
}
