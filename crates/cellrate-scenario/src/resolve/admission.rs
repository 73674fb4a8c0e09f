//! Set-up of the connections, in the order of the file: negotiation along each path, then admission on its links. A
//! tree is set up with all its branches or not at all.

use std::sync::Arc;

use cellrate_proto::admission::equivalent::OnOffSource;
use cellrate_proto::admission::{Book, Charging, Request};
use cellrate_proto::negotiation::rules::Resources;
use cellrate_proto::negotiation::{self, Change, Node as Limits, Offer, Optional};
use cellrate_proto::{AbrParameters, BitRate, CellRate, Duration};

use super::connection::{self, Terms};
use super::network::Network;
use super::{service, stop_and_go, tree};
use crate::model::{
    Booking, Category, Connection, Flow, Link, Negotiated, Overbooked, PortIndex, Refused, Sender, Shared,
    Step, Traffic,
};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::{Table, Value};
use crate::traffic::OnOff;

/// Outcome of set-up with admission control.
pub(super) struct Outcome {
    /// For each connection whether it runs.
    pub kept: Vec<bool>,
    pub refused: Vec<Refused>,
    /// Ports whose lines are promised more than once, without admission.
    pub overbooked: Vec<Overbooked>,
    pub negotiated: Vec<Negotiated>,
    /// Where calls are set up later, if the scenario asks for admission.
    pub desk: Option<Desk>,
}

/// Set-up as it is after all connections of the file.
pub(super) struct Desk {
    pub book: Book,
    wish: Wish,
}

impl Desk {
    /// The connection as it agrees with an otherwise idle network, and its bookings in each direction with traffic; or
    /// why it is refused.
    pub fn agree(
        &self,
        network: &Network,
        connection: Connection,
        terms: &Terms,
    ) -> Result<(Connection, Vec<Booking>), String> {
        let mut book = self.book.clone();
        let (mut agreed, mut bookings) = ((connection, Vec::new()), Vec::new());
        for backward in [false, true] {
            let lines = DirectionLines { far: agreed.0.steps(backward).collect(), others: Vec::new() };
            agreed = set_up(network, &mut book, &self.wish, agreed, terms, (&lines, backward))?;
            agreed = stop_and_go::agree(network, agreed, backward)?;
            let connection = &agreed.0;
            let flow = connection.flow(backward);
            if flow.traffic.is_some() {
                let ports = connection.steps(backward).map(|step| step.port().index()).collect();
                let request = request(connection.category, flow, connection.queue.mcr, terms, &self.wish);
                bookings.push(Booking { ports, request });
            }
        }
        Ok((agreed.0, bookings))
    }
}

/// Bandwidth that the scenario asks for a connection.
struct Wish {
    negotiate: bool,
    charging: Option<Charging>,
    signalled: Optional,
    /// The share of cells that on-off sources may lose, where they are booked together.
    loss: Option<f64>,
}

impl Wish {
    /// Nothing is negotiated, and on-off sources are booked one by one.
    const NONE: Wish = Wish { negotiate: false, charging: None, signalled: Optional::ALL, loss: None };
}

/// Sets the connections up; those that are admitted get the parameters agreed on.
pub(super) fn admit(
    root: &Table,
    network: &Network,
    connections: &mut [Connection],
    terms: &[Terms],
) -> Result<Outcome, Fault> {
    let mut outcome = Outcome {
        kept: vec![true; connections.len()],
        refused: Vec::new(),
        overbooked: Vec::new(),
        negotiated: Vec::new(),
        desk: None,
    };
    let Some(wish) = wish(root)? else {
        // With `admission = false` the keys may stay, so that both can be tried; without the key they would be idle.
        if root.node("admission").is_none() {
            idle_keys(network, terms)?;
        }
        outcome.overbooked = overbooked(network, connections, terms);
        return Ok(outcome);
    };
    let lines = |rate: fn(&Link) -> BitRate| network.links.iter().flat_map(move |link| [rate(link); 2]);
    let mut book = Book::new(lines(Link::slowest_rate), wish.charging)
        .at_fastest(lines(Link::fastest_rate))
        .in_parts(service::parts(network, connections, root.node("flows").is_some()));
    if let Some(loss) = wish.loss {
        let rooms = network.links.iter().flat_map(|link| &link.ports).map(|port| port.buffers.rooms()[0]);
        book = book.multiplexing(loss, rooms);
    }
    let mut senders = Shared::default();
    let mut next = 0;
    while next < connections.len() {
        let place = next;
        let is_branch = |connection: &&Connection| connection.branch.is_some();
        next += 1 + connections[place + 1..].iter().take_while(is_branch).count();
        let (terms, tree) = (&terms[place], &mut connections[place..next]);
        if let Some(frtt) = terms.frtt.filter(|_| wish.negotiate) {
            let message = "frtt cannot be given here: negotiation accumulates it along the path";
            return Err(Fault::new(
                frtt,
                message,
                "Leave it out, or write admission = { negotiate = false }",
            ));
        }
        // A connection is set up in both directions or not at all.
        let directions = DirectionLines::both(network, place, tree);
        let lines = directions.iter().flat_map(DirectionLines::steps);
        let before: Vec<_> =
            lines.map(|step| step.port().index()).map(|line| (line, book.state(line))).collect();
        let set_up = [false, true].into_iter().zip(&directions).try_fold(
            (tree[0].clone(), Vec::new()),
            |so_far, (backward, lines)| {
                set_up(network, &mut book, &wish, so_far, terms, (lines, backward))
                    .and_then(|agreed| stop_and_go::agree(network, agreed, backward))
            },
        );
        match set_up {
            Ok((agreed, changes)) => {
                for connection in tree {
                    connection.forward.sender = agreed.forward.sender.clone();
                    connection.backward.sender = agreed.backward.sender.clone();
                    connection::share(connection, &mut senders);
                }
                outcome.negotiated.extend(changes);
            }
            Err(reason) => {
                before.into_iter().for_each(|(line, booked)| book.restore(line, booked));
                outcome.kept[place..next].fill(false);
                let (vc, category) = (tree[0].name.clone(), tree[0].category);
                outcome.refused.push(Refused { vc, category, reason });
            }
        }
    }
    outcome.desk = Some(Desk { book, wish });
    Ok(outcome)
}

fn wish(root: &Table) -> Result<Option<Wish>, Fault> {
    let Some(node) = root.node("admission") else { return Ok(None) };
    let empty = Table::default();
    let table = match &node.value {
        Value::Table(table) => table,
        _ if check::boolean(node)? => &empty,
        _ => return Ok(None),
    };
    let charging = optional(table, "charging", |node| check::integer(node, 2, 10))?;
    let signalled = match table.node("signal") {
        None => Optional::ALL,
        Some(list) => {
            let words = check::list(list)?;
            let has = |name: &str| words.iter().any(|word| word.text() == Some(name));
            Optional { nrm: has("nrm"), trm: has("trm"), cdf: has("cdf"), adtf: has("adtf") }
        }
    };
    let loss = match table.node("equivalent_bandwidth") {
        None => None,
        Some(node) => match node.table().and_then(|table| table.node("loss")) {
            None => return Err(check::missing(node.place, "loss", "the share of cells that may be lost")),
            Some(loss) => Some(quantity::ratio(loss)?),
        },
    };
    Ok(Some(Wish {
        negotiate: optional(table, "negotiate", check::boolean)?.unwrap_or(true),
        charging: charging.and_then(|k| Charging::new(k as u8)),
        signalled,
        loss,
    }))
}

/// Rates that are promised to the two directions of each connection, admission or not \[cells/s\].
pub(super) fn promises(connections: &[Connection], terms: &[Terms]) -> Vec<[f64; 2]> {
    let of =
        |(connection, terms)| [false, true].map(|backward| promise(connection, backward, terms, &Wish::NONE));
    connections.iter().zip(terms).map(of).collect()
}

/// Rate that is promised to a direction of a connection \[cells/s\]: 0 for one without traffic.
fn promise(connection: &Connection, backward: bool, terms: &Terms, wish: &Wish) -> f64 {
    let flow = connection.flow(backward);
    if flow.traffic.is_none() {
        return 0.0;
    }
    match request(connection.category, flow, connection.queue.mcr, terms, wish) {
        Request::Abr { mcr: rate, .. }
        | Request::Cbr { pcr: rate }
        | Request::Vbr { scr: rate }
        | Request::Minimum { mcr: rate } => rate.as_cells_per_s(),
        Request::OnOff(_) | Request::Ubr => 0.0,
    }
}

/// The ports whose lines are promised more than once: a promise is what [`admit`] would book.
fn overbooked(network: &Network, connections: &[Connection], terms: &[Terms]) -> Vec<Overbooked> {
    let wish = Wish::NONE;
    let mut promised = vec![(0.0, 0); 2 * network.links.len()];
    for (place, connection) in connections.iter().enumerate() {
        if connection.branch.is_some() {
            continue;
        }
        let branches = connections[place + 1..].iter().take_while(|other| other.branch.is_some()).count();
        for backward in [false, true] {
            let rate = promise(connection, backward, &terms[place], &wish);
            if rate == 0.0 {
                continue;
            }
            let mut book = |step: Step| {
                let (sum, number) = &mut promised[step.port().index()];
                (*sum, *number) = (*sum + rate, *number + 1);
            };
            if branches == 0 {
                connection.steps(backward).for_each(&mut book);
            } else {
                let lines = DirectionLines::both(network, place, &connections[place..=place + branches]);
                lines[usize::from(backward)].steps().copied().for_each(&mut book);
            }
        }
    }
    let ports =
        network.links.iter().flat_map(|link| [link.slowest_rate().to_cell_rate().as_cells_per_s(); 2]);
    let beyond = |(port, (line, (sum, connections))): (usize, (f64, (f64, usize)))| {
        // Sums of a hundred equal parts of a line are not exactly the line.
        (sum > line * (1.0 + 1e-9)).then(|| Overbooked {
            port: PortIndex(port as u32),
            promised: CellRate::new(sum),
            connections,
        })
    };
    ports.zip(promised).enumerate().filter_map(beyond).collect()
}

/// Keys of set-up in a scenario that says nothing of admission.
fn idle_keys(network: &Network, terms: &[Terms]) -> Result<(), Fault> {
    let vc = terms.iter().find_map(|terms| terms.needs_admission);
    let switch = network.limits.values().next().map(|(_, place)| ("negotiation", *place));
    match vc.or(switch) {
        None => Ok(()),
        Some((key, place)) => {
            let message = format!("{key} needs admission, which the scenario does not ask for");
            Err(Fault::new(place, message, "Write admission = true at the top, or leave the key out"))
        }
    }
}

/// All lines of one direction of a connection.
struct DirectionLines {
    /// Lines of the path; of a tree, of the way to the farthest leaf, whose delays are FRTT.
    far: Vec<Step>,
    /// Lines of a tree that are not on the way to the farthest leaf.
    others: Vec<Step>,
}

impl DirectionLines {
    /// The two directions of a connection with its branches, forward and backward. It has the index `place`.
    fn both(network: &Network, place: usize, tree: &[Connection]) -> [DirectionLines; 2] {
        let [far, others] = tree::steps(network, place, tree);
        let turned = |steps: &[Step]| steps.iter().rev().map(|step| step.turned()).collect();
        let back = DirectionLines { far: turned(&far), others: turned(&others) };
        [DirectionLines { far, others }, back]
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.far.iter().chain(&self.others)
    }
}

/// One direction of a connection: negotiated, booked, changed; or why it is refused.
fn set_up(
    network: &Network,
    book: &mut Book,
    wish: &Wish,
    (mut connection, mut changes): (Connection, Vec<Negotiated>),
    terms: &Terms,
    (all_lines, backward): (&DirectionLines, bool),
) -> Result<(Connection, Vec<Negotiated>), String> {
    let path: Vec<Step> = all_lines.steps().copied().collect();
    let line = |step: &Step| step.port().index();
    let lines: Vec<usize> = path.iter().map(line).collect();
    let direction = if backward { "backward" } else { "forward" };
    let flow = if backward { &mut connection.backward } else { &mut connection.forward };
    // A direction without data carries RM cells only, and promises nothing.
    let idle = flow.traffic.is_none();
    if let (Sender::Abr(sender), true) = (&mut flow.sender, wish.negotiate) {
        let mut parameters = AbrParameters::clone(&sender.parameters);
        parameters.frtt = Duration::ZERO;
        let offer = Offer { parameters, mcr_min: terms.mcr_min, signalled: wish.signalled };
        let mut nodes: Vec<Limits> = path
            .iter()
            .map(|step| {
                let left = (book.room_for_abr(line(step)).to_cell_rate(), book.abr_connections(line(step)));
                limits(network, *step, (!idle).then_some(left))
            })
            .collect();
        for node in &mut nodes[all_lines.far.len()..] {
            (node.propagation, node.processing) = Default::default();
        }
        let agreed = negotiation::negotiate(&offer, &nodes).map_err(|refusal| {
            let at = refusal.node().map_or(String::new(), |node| format!(" at {}", nodes[node].name));
            format!("{direction}{at}: {refusal}")
        })?;
        Arc::make_mut(sender).parameters = Arc::new(agreed.parameters);
        let sending = &nodes[0].name;
        let told = |change: Change| Negotiated {
            vc: connection.name.clone(),
            backward,
            node: change.node.map_or(sending, |node| &nodes[node].name).clone(),
            parameter: change.parameter,
            from: change.from.to_string(),
            to: change.to.to_string(),
            why: change.why.to_string(),
        };
        changes.extend(agreed.changes.into_iter().map(told));
    }
    if idle {
        return Ok((connection, changes));
    }
    let mcr = connection.queue.mcr;
    let grant =
        book.admit(&lines, request(connection.category, flow, mcr, terms, wish)).map_err(|refusal| {
            let at = refusal
                .hop()
                .map_or(String::new(), |hop| format!(" on {}", network.port_name(path[hop].port())));
            format!("{direction}{at}: {refusal}")
        })?;
    if let Sender::Abr(sender) = &mut flow.sender {
        let parameters = Arc::make_mut(&mut Arc::make_mut(sender).parameters);
        let asked = (parameters.mcr, parameters.pcr);
        (parameters.mcr, parameters.pcr) = (grant.mcr, grant.pcr);
        parameters.icr = parameters.icr.min(grant.pcr).max(grant.mcr);
        // What negotiation did not tell: MCR cut to the room without it, PCR cut by the charge.
        let sending = network.name(network.tail(path[0]));
        for (parameter, from, to) in [("mcr", asked.0, grant.mcr), ("pcr", asked.1, grant.pcr)] {
            if from != to {
                changes.push(Negotiated {
                    vc: connection.name.clone(),
                    backward,
                    node: sending.to_string(),
                    parameter,
                    from: from.to_string(),
                    to: to.to_string(),
                    why: "admission control".to_string(),
                });
            }
        }
    }
    Ok((connection, changes))
}

/// The node that `step` leaves, as negotiation sees it: with the rate that its link has left, and how many ABR
/// connections share it.
fn limits(network: &Network, step: Step, left: Option<(CellRate, u64)>) -> Limits {
    let link = network.link(step);
    let buffer = link.ports[usize::from(step.end)].buffers.rooms()[1];
    let resources = left.map(|(rate, others)| Resources { rate, buffer, sharers: others.saturating_add(1) });
    let node = network.tail(step);
    let own = network.limits.get(&node).map(|(limits, _)| limits.clone());
    Limits {
        name: network.name(node).to_string(),
        link: Some(link.fastest_rate().to_cell_rate()),
        room: left.map(|(rate, _)| rate),
        resources,
        propagation: link.longest_delay(),
        ..own.unwrap_or_default()
    }
}

fn request(category: Category, flow: &Flow, mcr: CellRate, terms: &Terms, wish: &Wish) -> Request {
    match (&flow.sender, category) {
        (Sender::Peak(peak), Category::Vbr)
            if wish.loss.is_some()
                && terms.scr.is_none()
                && let Some(Traffic::OnOff(traffic)) = &flow.traffic =>
        {
            match traffic.is_heavy_tailed() {
                // There is no formula for it.
                true => Request::Vbr { scr: traffic.rate.min(*peak) },
                false => Request::OnOff(on_off(traffic, *peak)),
            }
        }
        (Sender::Abr(sender), _) => {
            let parameters = &sender.parameters;
            Request::Abr { pcr: parameters.pcr, mcr: parameters.mcr, mcr_min: terms.mcr_min }
        }
        // A source of constant rate never sends faster than that, whatever the line would let it.
        (Sender::Peak(peak), Category::Cbr) => Request::Cbr {
            pcr: match flow.traffic {
                Some(Traffic::Constant(traffic)) => traffic.rate.min(*peak),
                _ => *peak,
            },
        },
        (Sender::Peak(_), Category::Vbr) => Request::Vbr {
            scr: terms.scr.unwrap_or_else(|| {
                let mean = flow.traffic.as_ref().and_then(|traffic| traffic.kind().mean_rate());
                mean.unwrap_or(CellRate::new(f64::MAX)).min(flow.sustained())
            }),
        },
        (Sender::Peak(_), _) if mcr > CellRate::ZERO => Request::Minimum { mcr },
        (Sender::Peak(_), _) => Request::Ubr,
    }
}

/// An on-off source whose cells leave no faster than `pcr`.
fn on_off(traffic: &OnOff, pcr: CellRate) -> OnOffSource {
    let (peak, burst) = (traffic.rate.min(pcr), traffic.cells_while_on());
    let mean = traffic.mean().min(peak);
    OnOffSource { peak, mean, burst: Duration::from_secs_f64(burst / peak.as_cells_per_s()) }
}
