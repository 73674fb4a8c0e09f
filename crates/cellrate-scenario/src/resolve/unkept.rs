//! Promises that a port does not keep, whatever is booked: others may bring more than was promised to them, and the
//! queue or the buffer that they share asks nobody what that was.

use cellrate_proto::policing::usage::Action;
use cellrate_proto::scheduling::{Discipline, Weight};
use cellrate_proto::switch::{FrameDiscardConfig, SwitchAlgorithmConfig};

use super::service;
use crate::model::{Connection, Link, Port, PortIndex, Sender, SharedBy, Traffic, Unkept};

/// Rates that are equal but for roundings of what waits count as equal, and turns by weight come a little late.
const NEARLY: f64 = 0.95;

/// One direction of a connection at a port [cells/s].
struct Here<'a> {
    connection: &'a Connection,
    class: usize,
    /// Rate that is promised to it.
    promised: f64,
    /// Rate that it may bring in the long run.
    brings: f64,
    /// Whether the port itself holds it to a rate below what it brings.
    is_held: bool,
    weight: f64,
}

/// The promises that ports of switches do not keep. `promised` has a rate for each direction of each connection;
/// `is_switch` says of a port whether it is one of a switch.
pub(super) fn unkept(
    links: &[Link],
    connections: &[Connection],
    promised: &[[f64; 2]],
    is_switch: impl Fn(PortIndex) -> bool,
) -> Vec<Unkept> {
    let mut through: Vec<Vec<Here<'_>>> = (0..2 * links.len()).map(|_| Vec::new()).collect();
    for (connection, promised) in connections.iter().zip(promised) {
        for backward in [false, true] {
            for step in connection.steps(backward) {
                let place = step.port().index();
                let port = &links[place / 2].ports[place % 2];
                through[place].extend(here(connection, backward, promised[usize::from(backward)], port));
            }
        }
    }
    let mut found = Vec::new();
    for (place, here) in through.iter().enumerate() {
        let (port, link) = (PortIndex(place as u32), &links[place / 2]);
        if is_switch(port) {
            let line = link.slowest_rate().to_cell_rate().as_cells_per_s();
            found.extend(at_port(port, &link.ports[place % 2], line, here));
        }
    }
    found
}

fn here<'a>(connection: &'a Connection, backward: bool, promised: f64, port: &Port) -> Option<Here<'a>> {
    let flow = connection.flow(backward);
    let traffic = flow.traffic.as_ref()?;
    let (class, peak) = (service::class(connection.category), flow.sender.pcr());
    let rate = match traffic {
        Traffic::Constant(constant) => Some(constant.rate),
        other => other.kind().mean_rate().or_else(|| other.kind().rate(peak)),
    };
    let mut brings = rate.unwrap_or(peak).min(flow.sustained()).as_cells_per_s();
    // A policer lets no more than the contract pass; of GFR and UBR the contract is that of PCR.
    let polices =
        |own: &&crate::model::Policing| own.backward == backward && own.usage.action == Action::Discard;
    if class == 0 && connection.policing.iter().any(|own| polices(&own)) {
        brings = brings.min(promised);
    }
    let held_to = connection.queue.shaped_to.filter(|_| port.queueing.is_per_vc());
    let held_to = held_to.map_or(f64::INFINITY, |rate| rate.as_cells_per_s());
    let own = match (&flow.sender, connection.queue.mcr.as_cells_per_s()) {
        (Sender::Abr(abr), _) => Weight::nearest(abr.weight),
        (Sender::Peak(_), mcr) if mcr > 0.0 => Weight::nearest(mcr / 1000.0),
        (Sender::Peak(_), _) => Weight::ONE,
    };
    let weight = match port.queueing.discipline {
        Discipline::RoundRobin => Weight::ONE,
        _ => connection.queue.weight.unwrap_or(own),
    };
    let (is_held, weight) = (held_to < brings, f64::from(weight.thousandths()));
    Some(Here { connection, class, promised, brings: brings.min(held_to), is_held, weight })
}

/// The rows of a port: one of its turns, and one of its buffers. Of a line that is promised more than once another row
/// tells (`overbooked`).
fn at_port(place: PortIndex, port: &Port, line: f64, here: &[Here<'_>]) -> Vec<Unkept> {
    if here.iter().map(|one| one.promised).sum::<f64>() > line * (1.0 + 1e-9) {
        return Vec::new();
    }
    let rates = capacities(port, line, here);
    // ABR sources that are told how much they may send bring no more than that.
    let is_full = |class: usize| {
        let brought: f64 = here.iter().filter(|one| one.class == class).map(|one| one.brings).sum();
        !(class == 1 && gives_feedback(port)) && brought > rates[class]
    };
    let full = [0, 1, 2].map(is_full);
    let of = |class: usize| here.iter().filter(move |one| one.class == class).collect::<Vec<_>>();
    let turns = (0..3).filter(|&class| full[class]).find_map(|class| {
        let of_class = of(class);
        let has = shares(port, &of_class, rates[class]);
        let promises = of_class.iter().zip(has).filter(|(one, _)| one.promised > 0.0);
        let broken: Vec<_> = promises
            .map(|(one, has)| (*one, has, has / one.promised.min(one.brings)))
            .filter(|(.., kept)| *kept < NEARLY)
            .collect();
        let by_tags = class == 2 && goes_by_tags(port);
        row(place, SharedBy::Queue, &broken, &of_class).filter(|_| !by_tags)
    });
    let of_category = (0..3).find_map(|class| {
        let of_class = of(class);
        if full[class] && turns.is_none() && fills(port, class) {
            return in_buffer(place, &of_class, &of_class);
        }
        // What a port holds to a rate waits in the buffer, and ABR sources are told of that rate.
        let (held, rest): (Vec<_>, Vec<_>) = of_class.into_iter().partition(|one| one.is_held);
        let is_divided = class == 1 || port.queueing.room.is_some() || port.buffers.rooms()[class].is_none();
        (!is_divided).then(|| in_buffer(place, &rest, &held)).flatten()
    });
    let of_all = || {
        let shared = port.buffers.shared?;
        let has_no_limit = |class: usize| port.buffers.rooms()[class] == Some(shared);
        let fills =
            |one: &&Here<'_>| (full[one.class] || one.is_held && one.class != 1) && has_no_limit(one.class);
        let filling: Vec<_> = here.iter().filter(fills).collect();
        let is_another = |one: &&Here<'_>| filling.iter().all(|other| other.class != one.class);
        in_buffer(place, &here.iter().filter(is_another).collect::<Vec<_>>(), &filling)
    };
    turns.into_iter().chain(of_category.or_else(of_all)).collect()
}

/// Rate that each category has of the line at most \[cells/s\].
fn capacities(port: &Port, line: f64, here: &[Here<'_>]) -> [f64; 3] {
    let sum = |class: usize, of: fn(&Here<'_>) -> f64| {
        here.iter().filter(|one| one.class == class).map(of).sum::<f64>()
    };
    let brings = |class| sum(class, |one| one.brings);
    if let Some(weights) = port.queueing.class_weights {
        let weights = weights.map(|weight| f64::from(weight.thousandths()));
        let asking: f64 = (0..3).filter(|&class| brings(class) > 0.0).map(|class| weights[class]).sum();
        let part = |class: usize| line * weights[class] / asking;
        let others = |class: usize| line - (0..3).filter(|&other| other != class).map(brings).sum::<f64>();
        return [0, 1, 2].map(|class| others(class).max(part(class)));
    }
    let behind_guaranteed = (line - brings(0)).max(0.0);
    let booked = port.queueing.booked.as_cells_per_s();
    // Algorithms hand out a part of the line.
    let handed_out = if gives_feedback(port) { port.target_utilization() } else { 1.0 };
    let for_abr = (line * handed_out - brings(0) - booked).max(0.0);
    let abr = brings(1).min(for_abr);
    let left = (behind_guaranteed - abr).max(booked.min(behind_guaranteed));
    [line, (behind_guaranteed - booked).max(0.0), left]
}

/// Parts of `rate` \[cells/s\] that connections of a category have: by what they bring in one queue, else by turns.
fn shares(port: &Port, here: &[&Here<'_>], rate: f64) -> Vec<f64> {
    if !port.queueing.is_per_vc() {
        let brought: f64 = here.iter().map(|one| one.brings).sum();
        return here.iter().map(|one| rate * one.brings / brought).collect();
    }
    // Who asks for the least of its weight is satisfied first.
    let mut order: Vec<_> = (0..here.len()).collect();
    order.sort_by(|&a, &b| (here[a].brings * here[b].weight).total_cmp(&(here[b].brings * here[a].weight)));
    let (mut has, mut left) = (vec![0.0; here.len()], rate);
    let mut weights: f64 = here.iter().map(|one| one.weight).sum();
    for place in order {
        let one = here[place];
        has[place] = one.brings.min(left * one.weight / weights);
        (left, weights) = (left - has[place], weights - one.weight);
    }
    has
}

fn gives_feedback(port: &Port) -> bool {
    port.control.algorithm != SwitchAlgorithmConfig::None
        || port.custom.is_some()
        || port.control.efci.is_some()
}

/// Whether frames beyond MCR go first where there is too much, by their tags or by what each connection has waiting.
fn goes_by_tags(port: &Port) -> bool {
    use FrameDiscardConfig::{Differential, DoubleEarly};
    matches!(port.frame_discard, Some(Differential(_) | DoubleEarly(_)))
}

/// Whether a connection with a queue of its own may fill the buffer of its category all the same.
fn fills(port: &Port, class: usize) -> bool {
    let counts_each = !matches!(
        port.frame_discards()[class],
        None | Some(FrameDiscardConfig::Early(_) | FrameDiscardConfig::Partial(_))
    );
    let is_divided = port.queueing.room.is_some() || counts_each;
    port.queueing.is_per_vc() && port.buffers.rooms()[class].is_some() && !is_divided
}

/// The row of a buffer that `filling` may fill, so that cells of `here` find no room.
fn in_buffer(place: PortIndex, here: &[&Here<'_>], filling: &[&Here<'_>]) -> Option<Unkept> {
    let keeps =
        |one: &&&Here<'_>| one.promised > 0.0 && filling.iter().any(|other| !std::ptr::eq(*other, **one));
    let broken: Vec<_> = here.iter().filter(keeps).map(|one| (*one, 0.0, 0.0)).collect();
    row(place, SharedBy::Buffer, &broken, filling)
}

/// The row of these promises, each with the rate that is left for it and the part of the promise that this is; beside
/// the one of `others` that brings most beyond what is promised to it.
fn row(
    port: PortIndex,
    shared: SharedBy,
    broken: &[(&Here<'_>, f64, f64)],
    others: &[&Here<'_>],
) -> Option<Unkept> {
    let (worst, left, _) = broken.iter().min_by(|one, other| one.2.total_cmp(&other.2))?;
    let beyond = |one: &Here<'_>| one.brings - one.promised;
    let other = others
        .iter()
        .filter(|one| !std::ptr::eq(**one, *worst))
        .max_by(|one, other| beyond(one).total_cmp(&beyond(other)))?;
    Some(Unkept {
        port,
        shared,
        category: worst.connection.category,
        connections: broken.len(),
        vc: worst.connection.name.clone(),
        promised: worst.promised,
        left: (shared == SharedBy::Queue).then_some(*left),
        other: other.connection.name.clone(),
    })
}
