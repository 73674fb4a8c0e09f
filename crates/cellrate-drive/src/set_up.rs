//! Set-up of connections at an output port.

use cellrate_proto::switch::{FrameDiscard, PortControl, Slot, VcAtPort};
use cellrate_scenario::{Category, Connection, Sender};

/// Tells a port of one direction of a connection: its control of ABR, its frame discard of UBR. The direction's number
/// there; `None` where nobody has to know of it.
pub fn connect(
    connection: &Connection,
    backward: bool,
    control: &mut PortControl,
    frame_discard: Option<&mut FrameDiscard>,
) -> Option<Slot> {
    let flow = if backward { &connection.backward } else { &connection.forward };
    match (&flow.sender, connection.category) {
        (Sender::Abr(abr), _) => {
            let vc = VcAtPort { pcr: abr.parameters.pcr, mcr: abr.parameters.mcr, weight: abr.weight };
            Some(control.connect(&vc))
        }
        (Sender::Peak(_), Category::Ubr) => {
            frame_discard.map(|discard| discard.connect(connection.carries_pdus(backward)))
        }
        (Sender::Peak(_), _) => None,
    }
}
