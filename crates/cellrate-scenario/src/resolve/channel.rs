//! Virtual channels within a virtual path.

use std::collections::BTreeSet;

use cellrate_proto::CellRate;
use cellrate_proto::scheduling::Weight;

use super::group;
use super::traffic;
use crate::model::{Category, Channel, MOST_CHANNELS, Traffic};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::{Node, Table};
use crate::traffic::Greedy;

/// The traffic of a connection whose `channels` are those of `node`; `table` is its own.
pub(super) fn read(node: &Node, table: &Table, category: Category, peak: CellRate) -> Result<Traffic, Fault> {
    if category != Category::Abr {
        let name = table.text("category").unwrap_or_default();
        let message = format!(
            "channels need category \"abr\": they share the ACR of their path, and a {name} connection has none"
        );
        return Err(Fault::new(node.place, message, "Leave channels out, or write category = \"abr\""));
    }
    let reverse = table.node("reverse").and_then(Node::table);
    for (key, entry) in [
        ("traffic", table.entry("traffic")),
        ("reverse.traffic", reverse.and_then(|reverse| reverse.entry("traffic"))),
        ("branches", table.entry("branches")),
    ] {
        if let Some(entry) = entry {
            let message = format!("channels and {key} are both given");
            let remedy = match key {
                "branches" => "Leave one of them out: the channels of a path all go to its other end",
                _ => "Leave it out: each channel has traffic of its own, both ways with bidirectional",
            };
            return Err(Fault::new(entry.place, message, remedy));
        }
    }
    let list = check::list(node)?;
    if list.len() > MOST_CHANNELS {
        let message = format!("there are {} channels", list.len());
        return Err(Fault::new(node.place, message, format!("Write {MOST_CHANNELS} at most")));
    }
    let mut names = BTreeSet::new();
    let channels = list.iter().map(|node| {
        let channel = one(node, peak)?;
        if !names.insert(channel.name.clone()) {
            let message = format!("another channel of this path is called \"{}\"", channel.name);
            return Err(Fault::new(node.place, message, "Give each a name of its own"));
        }
        Ok(channel)
    });
    Ok(Traffic::Channels(channels.collect::<Result<_, Fault>>()?))
}

fn one(node: &Node, peak: CellRate) -> Result<Channel, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let Some(name) = table.text("name") else {
        return Err(check::missing(node.place, "name", "which tells it from the others of the path"));
    };
    let read = |node: &Node| traffic::read(node, peak);
    let traffic = optional(table, "traffic", read)?.flatten();
    Ok(Channel {
        name: name.to_string(),
        traffic: traffic.unwrap_or_else(|| Traffic::Greedy(Greedy::default())),
        weight: Weight::nearest(optional(table, "weight", quantity::ratio)?.unwrap_or(1.0)),
    })
}

/// Refuses virtual paths in a live run.
pub(super) fn refuse(root: &Table) -> Result<(), Fault> {
    for member in group::members(root, "vc")? {
        if let Some(entry) = member.node.table().and_then(|table| table.entry("channels")) {
            let message = "channels need a simulation: a live run has no virtual paths";
            let remedy = "Leave channels out and write traffic, or simulate the scenario";
            return Err(Fault::new(entry.place, message, remedy));
        }
    }
    Ok(())
}
