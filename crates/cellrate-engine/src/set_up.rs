//! Set-up of connections at their ends and at an output port.

use cellrate_proto::switch::{PacketMarking, PortControl, Slot, VcAtPort};
use cellrate_proto::{Destination, DestinationConfig, RateCode};
use cellrate_scenario::{Flow, FlowIndex, PortIndex, Scenario, Sender, WaitingBrm};

use crate::frame_discards::FrameDiscards;
use crate::priority::{PRIORITIES, priority};
use crate::waiting::WaitingCells;

/// The receiving end of `flow` at its host, which may be congested itself.
pub fn destination_at_host(flow: &Flow) -> Destination {
    match &flow.sender {
        Sender::Abr(abr) => destination(flow).congested_in(&abr.congested),
        Sender::Peak(_) => destination(flow),
    }
}

/// The receiving end of `flow`, or of one of its control loops.
pub fn destination(flow: &Flow) -> Destination {
    Destination::new(match &flow.sender {
        Sender::Abr(abr) => DestinationConfig {
            clear_efci_state: abr.clear_efci_state,
            send_waiting_out_of_rate: abr.waiting_brm == WaitingBrm::SendOutOfRate,
            asked_in_band: match abr.parameters.is_in_band() {
                true => RateCode::floor(abr.parameters.pcr),
                false => RateCode::ZERO,
            },
        },
        Sender::Peak(_) => DestinationConfig::default(),
    })
}

/// The parts of a port that have to know of each connection, beside the control of ABR, where it has them.
#[derive(Debug)]
pub struct PartsOfPort<'a, C> {
    /// Frame discard.
    pub frame_discards: Option<&'a mut FrameDiscards>,
    /// Marking of packets.
    pub marking: Option<&'a mut PacketMarking<PRIORITIES>>,
    /// Queues of connections or categories.
    pub waiting: Option<&'a mut WaitingCells<C>>,
}

impl<C> Default for PartsOfPort<'_, C> {
    fn default() -> Self {
        PartsOfPort { frame_discards: None, marking: None, waiting: None }
    }
}

/// Tells the port with this index of one direction of a connection: its control of ABR, its frame discard,
/// marking and queues.
/// The direction's number there, among those of its category; `None` where it is not needed.
pub fn connect<C>(
    scenario: &Scenario,
    flow: FlowIndex,
    port: PortIndex,
    control: &mut PortControl,
    parts: PartsOfPort<'_, C>,
) -> Option<Slot> {
    let PartsOfPort { frame_discards, marking, waiting } = parts;
    let connection = scenario.connection(flow.connection());
    let marked = marking.map(|marking| marking.connect(priority(connection.category)));
    let queue = waiting.and_then(|waiting| waiting.connect(scenario, flow, priority(connection.category)));
    let discard = frame_discards.and_then(|discards| discards.connect(scenario, flow));
    let slot = match &scenario.flow(flow).sender {
        Sender::Abr(abr) => {
            let vc = VcAtPort {
                pcr: abr.parameters.pcr,
                mcr: abr.parameters.mcr,
                weight: abr.weight,
                round_trip: abr.parameters.frtt,
            };
            let slot = control.connect(&vc);
            if let Some(rate) = scenario.port(port).told_of(&connection.queue) {
                control.hold_to(slot, rate);
            }
            Some(slot)
        }
        Sender::Peak(_) => None,
    };
    // All number connections of their category in the same order, but that control may number none: then all have 0.
    queue.or(discard).or(marked).or(slot)
}
