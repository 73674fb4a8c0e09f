//! Requirements of a Stop & Go port on the ABR connections that pass it (paper stop-and-go, table 1).

use std::sync::Arc;

use cellrate_proto::AbrParameters;
use cellrate_proto::switch::{StopAndGo, SwitchAlgorithmConfig};

use super::network::Network;
use super::rounded;
use crate::model::{Connection, Negotiated, PortIndex, Sender, Step};
use crate::text::error::{Fault, Place};
use crate::text::tree::{Node, Table};

/// The first Stop & Go port that the data of a direction leaves by, such as "sw1->sw2".
pub(super) fn port(network: &Network, path: &[Step], backward: bool) -> Option<String> {
    let crossed = |step: &Step| if backward { step.port().other() } else { step.port() };
    let stops = |port: &PortIndex| {
        matches!(network.port(*port).control.algorithm, SwitchAlgorithmConfig::StopAndGo(_))
    };
    path.iter().map(crossed).find(stops).map(|port| network.port_name(port))
}

/// Refuses what departs from table 1, at its key.
pub(super) fn check(parameters: &AbrParameters, keys: &Table, place: Place, port: &str) -> Result<(), Fault> {
    let Err(error) = StopAndGo::check_source(parameters) else { return Ok(()) };
    let given = keys.node(error.name);
    let value = given.map_or_else(|| format!("{} {}", rounded(error.value), error.unit), Node::plain);
    let message = format!("{} is {value}, and the port \"{port}\" on the way runs stop-and-go", error.name);
    let remedy =
        format!("It must be {}; leave it out, or give the port type = \"relative-rate\"", error.allowed);
    Err(Fault::new(given.map_or(place, |node| node.place), message, remedy))
}

/// Set-up has to leave a source its two rates: an ICR that is neither any more becomes MCR; anything else that now
/// departs from table 1 refuses the connection, with the reason.
pub(super) fn agree(
    network: &Network,
    (mut connection, mut changes): (Connection, Vec<Negotiated>),
    backward: bool,
) -> Result<(Connection, Vec<Negotiated>), String> {
    let Some(port) = port(network, &connection.path, backward) else { return Ok((connection, changes)) };
    let flow = if backward { &mut connection.backward } else { &mut connection.forward };
    let Sender::Abr(sender) = &mut flow.sender else { return Ok((connection, changes)) };
    let parameters = Arc::make_mut(&mut Arc::make_mut(sender).parameters);
    if parameters.icr != parameters.pcr && parameters.icr != parameters.mcr {
        changes.push(Negotiated {
            vc: connection.name.clone(),
            backward,
            node: port.split_once("->").map_or(port.as_str(), |(from, _)| from).to_string(),
            parameter: "icr",
            from: parameters.icr.to_string(),
            to: parameters.mcr.to_string(),
            why: "Stop & Go starts at PCR or at MCR".to_string(),
        });
        parameters.icr = parameters.mcr;
    }
    match StopAndGo::check_source(parameters) {
        Ok(()) => Ok((connection, changes)),
        Err(error) => {
            let direction = if backward { "backward" } else { "forward" };
            let value = rounded(error.value);
            Err(format!(
                "{direction} on {port}: {} became {value}, and must be {}",
                error.name, error.allowed
            ))
        }
    }
}
