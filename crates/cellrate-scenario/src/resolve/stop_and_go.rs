//! What a Stop & Go port asks of the ABR connections that pass it (paper 003, table 1).

use cellrate_proto::AbrParameters;
use cellrate_proto::switch::{StopAndGo, SwitchAlgorithmConfig};

use super::connection::rounded;
use super::network::Network;
use crate::error::{Fault, Place};
use crate::model::Step;
use crate::tree::{Node, Table};

/// The first Stop & Go port that the data of a direction leaves by, such as "sw1->sw2".
pub(super) fn port(network: &Network, path: &[Step], backward: bool) -> Option<String> {
    let crossed = |step: &Step| Step { end: if backward { 1 - step.end } else { step.end }, ..*step };
    let stops = |step: &Step| {
        let control = &network.link(*step).ports[usize::from(step.end)].control;
        matches!(control.algorithm, SwitchAlgorithmConfig::StopAndGo(_))
    };
    let step = path.iter().map(crossed).find(stops)?;
    let ends = network.link(step).ends;
    let [from, to] = [step.end, 1 - step.end].map(|end| network.name(ends[usize::from(end)]));
    Some(format!("{from}->{to}"))
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
