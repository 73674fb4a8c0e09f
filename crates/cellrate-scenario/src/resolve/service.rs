//! Service at ports, held against the connections through them: what is booked before ABR, what each category has for
//! certain, and keys of connections that no port on their way uses.

use std::sync::Arc;

use cellrate_proto::CellRate;
use cellrate_proto::scheduling::Discipline;

use super::connection::Terms;
use super::network::Network;
use crate::model::{Category, Connection, Link, Port, Queueing};
use crate::text::error::{Fault, Place};

/// The place of a category among those that ports tell apart: CBR and VBR, ABR, GFR and UBR.
pub(super) const fn class(category: Category) -> usize {
    match category {
        Category::Cbr | Category::Vbr => 0,
        Category::Abr => 1,
        Category::Gfr | Category::Ubr => 2,
    }
}

/// By port, the connections that send cells out of it.
fn through<'a>(links: &[Link], connections: &'a [Connection]) -> Vec<Vec<&'a Connection>> {
    let mut all = vec![Vec::new(); 2 * links.len()];
    for connection in connections {
        for backward in [false, true] {
            let sends = connection.category == Category::Abr
                || connection.carries_data(backward)
                || connection.carries_packets();
            let ports = connection.steps(backward).map(|step| step.port().index());
            ports.filter(|_| sends).for_each(|port| all[port].push(connection));
        }
    }
    all
}

/// Has every port of a switch know what is booked for GFR and UBR beside ABR: the MCRs of the connections that are
/// there.
pub(super) fn book(links: &mut [Link], connections: &[Connection]) {
    let through = through(links, connections);
    for (place, link) in links.iter_mut().enumerate() {
        for (end, port) in link.ports.iter_mut().enumerate() {
            let here = &through[2 * place + end];
            let mcrs = here.iter().map(|connection| connection.queue.mcr);
            let booked = mcrs.fold(CellRate::ZERO, |sum, mcr| sum + mcr);
            let has_abr = here.iter().any(|connection| connection.category == Category::Abr);
            if has_abr && booked > CellRate::ZERO && **port != Port::default() {
                Arc::make_mut(port).queueing.booked = booked;
            }
        }
    }
}

/// By port, the parts of its line that categories have for certain where they take turns by weight; all three may come
/// later if `all_come`.
pub(super) fn parts(network: &Network, connections: &[Connection], all_come: bool) -> Vec<Option<[f64; 3]>> {
    let through = through(&network.links, connections);
    let ports = network.links.iter().flat_map(|link| &link.ports).zip(&through);
    let parts = |(port, here): (&Arc<Port>, &Vec<&Connection>)| {
        let mut weights = port.queueing.class_weights?.map(|weight| f64::from(weight.thousandths()));
        for (place, weight) in weights.iter_mut().enumerate() {
            if !all_come && here.iter().all(|connection| class(connection.category) != place) {
                *weight = 0.0;
            }
        }
        let sum: f64 = weights.iter().sum();
        (sum > 0.0).then(|| weights.map(|weight| weight / sum))
    };
    ports.map(parts).collect()
}

/// Refuses keys that no port uses on any way of the connections that have them.
pub(super) fn check_keys(
    network: &Network,
    connections: &[Connection],
    terms: &[Terms],
) -> Result<(), Fault> {
    let mut kept: Vec<(&'static str, Place, bool)> = Vec::new();
    let mut place = 0;
    while place < connections.len() {
        let branches = connections[place + 1..].iter().take_while(|connection| connection.branch.is_some());
        let next = place + 1 + branches.count();
        for &(key, at) in &terms[place].port_keys {
            let tree = &connections[place..next];
            if key == "shaped_to" {
                check_promise(&tree[0], at)?;
            }
            let ports = tree.iter().flat_map(|connection| {
                [false, true].into_iter().flat_map(|backward| connection.steps(backward))
            });
            let has_effect = ports
                .map(|step| &network.link(step).ports[usize::from(step.end)])
                .any(|port| goes_by(key, &port.queueing));
            // A key of a group or of the defaults stands in one place, and is for all of them.
            match kept.iter_mut().rev().find(|(other, place, _)| (*other, *place) == (key, at)) {
                Some((.., kept)) => *kept |= has_effect,
                None => kept.push((key, at, has_effect)),
            }
        }
        place = next;
    }
    let Some((key, at, _)) = kept.into_iter().find(|(.., has_effect)| !has_effect) else { return Ok(()) };
    let (message, kinds) = match key {
        "shaped_to" => {
            ("no port on the way has a queue for each connection, which could be held to a rate", "")
        }
        _ => ("no port on the way goes by weights of connections", " round-robin goes by none;"),
    };
    let remedy = format!(
        "Leave it out, or give a switch on the way queueing = {{ type = \"weighted-fair\" }};{kinds} fifo has one queue for all"
    );
    Err(Fault::new(at, format!("{key} has no effect: {message}"), remedy))
}

/// Refuses a rate that ports hold a connection to, if set-up promises more.
fn check_promise(connection: &Connection, at: Place) -> Result<(), Fault> {
    let shaped_to = connection.queue.shaped_to.unwrap_or(CellRate::new(f64::INFINITY));
    let of_sender = [false, true].map(|backward| connection.flow(backward).sender.mcr());
    let mcr = of_sender.into_iter().fold(connection.queue.mcr, CellRate::max);
    if mcr <= shaped_to {
        return Ok(());
    }
    let message =
        format!("shaped_to is {shaped_to}, and MCR {mcr}: ports would hold back what set-up promises");
    Err(Fault::new(at, message, "Write a rate of MCR or more, or a smaller MCR"))
}

/// Whether a port that serves like this looks at a key of a connection.
fn goes_by(key: &str, queueing: &Queueing) -> bool {
    match key {
        "shaped_to" => queueing.is_per_vc(),
        _ => !matches!(queueing.discipline, Discipline::Fifo | Discipline::RoundRobin),
    }
}
