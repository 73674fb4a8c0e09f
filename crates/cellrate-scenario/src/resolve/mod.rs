//! From the tree to a [`Scenario`]: groups written out, defaults filled in, names replaced by indices, all of it
//! checked against each other.

mod admission;
mod algorithm;
mod application;
mod changed_links;
mod changing;
mod channel;
mod clock;
mod conditioning;
mod congested;
mod connection;
pub(crate) mod files;
mod flows;
pub(crate) mod group;
mod host;
mod live;
mod loopback;
mod measuring;
mod misbehaves;
mod network;
mod path;
mod police;
mod port;
mod probe;
mod service;
mod stop_and_go;
mod traffic;
mod tree;
mod uili;
mod unkept;
mod vs_vd;

pub use algorithm::least_interval;

use std::borrow::Cow;

use cellrate_proto::declaration::Shape;

use crate::model::{NodeKind, PortIndex, Scenario};
use crate::text::check::{self, Mode};
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::tree::{Node, Table, merged};
use group::Member;

pub(crate) fn scenario(root: &Table) -> Result<Scenario, Fault> {
    let read = |key: &str| root.node(key).ok_or_else(|| check::missing(Place::default(), key, ""));
    let duration = quantity::span(read("duration")?)?;
    let mut network = network::build(root, duration)?;
    changed_links::cut(&mut network, duration)?;
    let (mut connections, terms) = connection::build(root, &network)?;
    changed_links::check(&network, &connections)?;
    let mut probes = probe::build(root, &network, &connections, duration)?;
    let applications = application::build(root, &network, &connections, duration)?;
    service::check_keys(&network, &connections, &terms)?;
    let outcome = admission::admit(root, &network, &mut connections, &terms)?;
    let mut promised = admission::promises(&connections, &terms);
    police::build(&network, &mut connections, terms.iter().map(|terms| &terms.police))?;
    probe::keep(&mut probes, &outcome.kept);
    let live = live::read(root, &network)?;
    tree::renumber(&mut connections, &outcome.kept);
    let mut kept = outcome.kept.iter();
    connections.retain(|_| kept.next() == Some(&true));
    let mut kept = outcome.kept.iter();
    promised.retain(|_| kept.next() == Some(&true));
    let demands = flows::build(root, &network, outcome.desk.as_ref(), &mut connections)?;
    service::book(&mut network.links, &connections);
    let of_switch = |port: PortIndex| {
        let node = network.links[port.index() / 2].ends[port.index() % 2];
        network.nodes[node.0 as usize].kind == NodeKind::Switch
    };
    let unkept = unkept::unkept(&network.links, &connections, &promised, of_switch);
    let book = outcome.desk.map(|desk| desk.book).unwrap_or_default();
    let seed = root.node("seed").map_or(Ok(1), |seed| check::integer(seed, 0, i64::MAX))? as u64;
    let clocks = clock::set(root, seed, &mut network, &mut connections)?;
    tree::follow_trunks(&mut connections);
    Ok(Scenario {
        name: check::text(read("name")?)?.to_string(),
        purpose: root.text("purpose").unwrap_or_default().to_string(),
        duration,
        seed,
        measuring: measuring::read(root, duration)?,
        nodes: network.nodes,
        hosts: network.hosts,
        links: network.links,
        connections,
        demands: demands.into(),
        book,
        refused: outcome.refused,
        overbooked: outcome.overbooked,
        unkept,
        negotiated: outcome.negotiated,
        clocks,
        probes,
        live,
        applications,
    })
}

/// Refuses what a simulation cannot have: real programs.
pub(crate) fn check_for_simulation(root: &Table) -> Result<(), Fault> {
    application::refuse(root)
}

/// Refuses what a live run cannot have: figures of a part of its time, trees, RM values in data cells, marks on
/// packets, flows that come and go.
pub(crate) fn check_for_live(root: &Table) -> Result<(), Fault> {
    measuring::refuse(root)?;
    tree::refuse(root)?;
    connection::refuse_in_band(root)?;
    channel::refuse(root)?;
    port::refuse(root)?;
    flows::refuse(root)
}

/// A member with the defaults of its kind below its own keys, complete.
struct Whole {
    table: Table,
    place: Place,
}

/// All members of a kind. `base` gives the defaults of one.
fn wholes<'a>(
    root: &Table,
    kind: &str,
    shape: &'static Shape,
    base: impl Fn(&Table) -> Cow<'a, Table>,
) -> Result<Vec<Whole>, Fault> {
    let empty = Table::default();
    group::members(root, kind)?
        .into_iter()
        .map(|Member { node }| {
            let own = node.table().unwrap_or(&empty);
            let table = merged(&base(own), own);
            check::keys(&table, node.place, shape, Mode::COMPLETE)?;
            Ok(Whole { table, place: node.place })
        })
        .collect()
}

/// The defaults of a kind.
fn defaults<'a>(root: &'a Table, kind: &str) -> Option<&'a Table> {
    root.node("defaults").and_then(Node::table).and_then(|defaults| defaults.node(kind)).and_then(Node::table)
}

/// Where a key's value stands, or else the entry.
fn place_of(table: &Table, key: &str, entry: Place) -> Place {
    table.node(key).map_or(entry, |node| node.place)
}

/// To three decimals, for messages.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
