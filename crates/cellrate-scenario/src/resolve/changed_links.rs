//! Links that change, held against the run that they are in and the connections over them.

use cellrate_proto::{BitRate, Duration, Time};

use super::network::Network;
use crate::model::Connection;
use crate::text::error::Fault;

/// Leaves out what would come at or after the end of the run.
///
/// # Errors
/// A link that never takes a cell.
pub(super) fn cut(network: &mut Network, duration: Duration) -> Result<(), Fault> {
    let end = Time::ZERO.saturating_add(duration);
    for (link, place) in network.links.iter_mut().zip(&network.rate_places) {
        let inside = link.changes.partition_point(|step| step.at < end);
        if inside < link.changes.len() {
            link.changes = link.changes[..inside].into();
        }
        if link.fastest_rate() == BitRate::default() {
            let remedy = "Give it a rate above 0 at some time of the run";
            return Err(Fault::new(place.unwrap_or_default(), "the link never takes a cell", remedy));
        }
    }
    Ok(())
}

/// Whether everything that connections need of their links can be had where these change.
///
/// # Errors
/// A first link whose rate changes, where an adapter depends on it: of TCP, and of requests and responses.
pub(super) fn check(network: &Network, connections: &[Connection]) -> Result<(), Fault> {
    for connection in connections {
        let Some(traffic) = connection.needs_constant_lines() else { continue };
        for step in [connection.path.first(), connection.path.last()].into_iter().flatten() {
            if !network.link(*step).changes_rate() {
                continue;
            }
            let name = network.port_name(step.port());
            let message = format!(
                "the rate of the link of {name} changes, and it is a link of a host of vc \"{}\", which has {traffic}",
                connection.name
            );
            let remedy = "Change the rate of a link between switches: adapters of such traffic have a line of constant rate";
            return Err(Fault::new(
                network.rate_places[step.link.0 as usize].unwrap_or_default(),
                message,
                remedy,
            ));
        }
    }
    Ok(())
}
