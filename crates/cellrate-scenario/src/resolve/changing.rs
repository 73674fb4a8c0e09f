//! Links that change in time: steps of their rate, delay and loss.

use cellrate_proto::{BitRate, Duration, Time};

use super::network::Network;
use super::{instant, optional};
use crate::model::{Connection, InFlight, Link, LinkStep, Traffic};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::tree::{Node, Table};

/// Takes what `table` says of changes into its `link`, which is as it begins but for them. Where the rate changes, the
/// place of what says so.
pub(super) fn set(link: &mut Link, table: &Table) -> Result<Option<Place>, Fault> {
    let Some(changes) = table.node("changes") else { return Ok(None) };
    let mut step = LinkStep {
        at: Time::ZERO,
        rate: link.rate,
        delay: link.delay,
        cell_loss: link.cell_loss,
        in_flight: InFlight::Kept,
    };
    let mut steps: Vec<LinkStep> = Vec::new();
    for node in check::list(changes)? {
        let last = steps.last().map(|step| step.at);
        step = changed(node, step)?;
        if last.is_some_and(|last| step.at <= last) {
            let message = format!("the change at {} is not after the one before it", step.at);
            return Err(Fault::new(node.place, message, "Write changes in order of time"));
        }
        steps.push(step);
    }
    if let Some(first) = steps.first().filter(|first| first.at == Time::ZERO) {
        (link.rate, link.delay, link.cell_loss) = (first.rate, first.delay, first.cell_loss);
        steps.remove(0);
    }
    link.changes = steps.into();
    let has_rate = link.changes_rate() || link.rate == BitRate::default();
    Ok(has_rate.then_some(changes.place))
}

/// What a link that is as in `before` becomes by a change.
fn changed(node: &Node, before: LinkStep) -> Result<LinkStep, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let Some(at) = table.node("at") else { return Err(check::missing(node.place, "at", "")) };
    if table.entries.len() < 2 {
        let remedy = "Write what it changes: rate, delay, loss or in_flight";
        return Err(Fault::new(node.place, "the change changes nothing", remedy));
    }
    let lost = table.text("in_flight") == Some("lost");
    Ok(LinkStep {
        at: instant(at)?,
        rate: optional(table, "rate", quantity::line_rate_or_none)?.unwrap_or(before.rate),
        delay: optional(table, "delay", quantity::time)?.unwrap_or(before.delay),
        cell_loss: optional(table, "loss", quantity::ratio)?.unwrap_or(before.cell_loss),
        in_flight: if lost { InFlight::Lost } else { InFlight::Kept },
    })
}

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
/// A first link whose rate changes, where an adapter goes by it: of TCP, and of requests and responses.
pub(super) fn check(network: &Network, connections: &[Connection]) -> Result<(), Fault> {
    for connection in connections {
        let of_flows = [&connection.forward, &connection.backward];
        let traffic = of_flows.iter().find_map(|flow| match &flow.traffic {
            Some(Traffic::Tcp(_)) => Some("TCP"),
            Some(Traffic::RequestResponse(_)) => Some("request-response"),
            _ => None,
        });
        let Some(traffic) = traffic else { continue };
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

/// What `cellrate live` cannot have.
pub(super) fn refuse(root: &Table) -> Result<(), Fault> {
    let defaults = root.node("defaults").and_then(Node::table).and_then(|table| table.node("link"));
    let tables = root.tables("link").map(|(_, table)| table).chain(defaults.and_then(Node::table));
    for table in tables {
        if let Some(node) = table.node("changes") {
            let message = "the link changes in time, and this is a live run, whose links stay as they are";
            return Err(Fault::new(node.place, message, "Leave out `changes`, or simulate the scenario"));
        }
    }
    Ok(())
}
