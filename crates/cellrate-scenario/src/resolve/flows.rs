//! Flows and calls that come and go, and the connections that carry them.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::iter;
use std::sync::Arc;

use cellrate_proto::{CellRate, Duration};

use super::admission::Desk;
use super::congested;
use super::connection::{self, Terms};
use super::group;
use super::network::{Network, round_trip};
use super::path::path;
use super::{Whole, defaults, place_of, police, traffic, wholes};
use crate::demand;
use crate::format::MOST_SLOTS;
use crate::model::{
    AbrSender, Amount, Arrivals, Category, Connection, Datagrams, Demand, NodeIndex, Pair, Sender, Shared,
    Step, Traffic,
};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::reading::{optional, start_and_end};
use crate::text::tree::{Node, Table, Value};
use crate::traffic::Greedy;
use crate::traffic::tcp::of_flows;

/// Most connections of all flows and calls together.
const MOST_CONNECTIONS: usize = 1 << 18;

/// Reads the demands, and puts the connections that carry them behind the others.
pub(super) fn build(
    root: &Table,
    network: &Network,
    desk: Option<&Desk>,
    connections: &mut Vec<Connection>,
) -> Result<Vec<Demand>, Fault> {
    let Some(shape) = group::shape_of("flows") else { return Ok(Vec::new()) };
    let abr = defaults(root, "abr").cloned().unwrap_or_default();
    let no_defaults = Table::default();
    let wholes = wholes(root, "flows", shape, |own| Cow::Owned(connection::base(&no_defaults, &abr, own)))?;
    let mut senders = Shared::default();
    let mut demands: Vec<Demand> = Vec::with_capacity(wholes.len());
    for whole in &wholes {
        let name = whole.table.text("name").unwrap_or_default();
        if demands.iter().any(|other| other.name == name) {
            let message = format!("there are other flows \"{name}\"");
            let place = place_of(&whole.table, "name", whole.place);
            return Err(Fault::new(place, message, "Give each a name of its own"));
        }
        demands.push(demand(network, desk, whole, connections, &mut senders)?);
    }
    Ok(demands)
}

/// A live run has the connections that it begins with.
pub(super) fn refuse(root: &Table) -> Result<(), Fault> {
    let Some((node, _)) = root.tables("flows").next() else { return Ok(()) };
    Err(Fault::new(
        node.place,
        "flows that come and go need a simulation: connections of a live run are there from its beginning to its end",
        "Write applications, which come and go over connections that stay, or simulate the scenario",
    ))
}

fn demand(
    network: &Network,
    desk: Option<&Desk>,
    whole: &Whole,
    connections: &mut Vec<Connection>,
    senders: &mut Shared<AbrSender>,
) -> Result<Demand, Fault> {
    let table = &whole.table;
    let name = table.text("name").unwrap_or_default().to_string();
    let mut of_trace = Pairs { network, known: BTreeMap::new(), routes: Vec::new() };
    let mut pair = |ends: &[Node; 2], place| of_trace.index(ends, place);
    let arrivals = optional(table, "arrivals", |node| demand::arrivals(node, &mut pair))?;
    let is_traced = matches!(arrivals, Some(Arrivals::Traced(_)));
    let routes = match is_traced {
        true => {
            let said = ["pairs", "among", "weights", "matrix", "size", "holding"];
            if let Some(entry) = said.iter().find_map(|key| table.entry(key)) {
                let message =
                    format!("{} cannot go with arrivals of type \"trace\", which says so itself", entry.key);
                let remedy = format!("Leave out {}, or write arrivals of another type", entry.key);
                return Err(Fault::new(entry.place, message, remedy));
            }
            of_trace.routes
        }
        false => routes(network, whole)?,
    };
    let slots = optional(table, "slots", |node| check::integer(node, 1, MOST_SLOTS))?.unwrap_or(64) as usize;
    if connections.len() + slots * routes.len() > MOST_CONNECTIONS {
        let message = format!("{} of {slots} slots each are too many", check::plural(routes.len(), "pair"));
        let remedy = format!("Write fewer slots: all connections together are {MOST_CONNECTIONS} at most");
        return Err(Fault::new(place_of(table, "slots", whole.place), message, remedy));
    }
    let both_ways = optional(table, "bidirectional", check::boolean)?.unwrap_or(false);
    let (start, end) = start_and_end(table)?;
    let (several, mut pairs) = (routes.len() > 1, Vec::with_capacity(routes.len()));
    for Route { path, names, weight } in routes {
        let mut connection = connection::connection(network, &slot(whole, &names))?;
        congested::refuse_originating(&connection, place_of(table, "abr", whole.place))?;
        let transfers = transfers(whole, &connection, is_traced)?;
        let traffic = match transfers {
            Some(_) => Traffic::Greedy(Greedy::default()),
            None => call_traffic(table, whole.place, &connection.forward.sender)?,
        };
        connection.forward.traffic = Some(traffic.clone());
        connection.backward.traffic = both_ways.then(|| traffic.clone());
        let terms = terms(table, &connection, desk)?;
        let mut bookings = Vec::new();
        let title = match several {
            true => format!("{name} {}->{}", names[0].plain(), names[names.len() - 1].plain()),
            false => name.clone(),
        };
        if let Some(desk) = desk {
            (connection, bookings) = desk.agree(network, connection, &terms).map_err(|reason| {
                let message = format!("no call of {title} can ever be set up: {reason}");
                Fault::new(whole.place, message, "Ask for less, or make room on the way")
            })?;
        }
        let carried = transfers.unwrap_or_else(|| Traffic::Call(Arc::new(traffic)));
        connection.forward.traffic = Some(carried.clone());
        connection.backward.traffic = both_ways.then_some(carried);
        connection::share(&mut connection, senders);
        let first = connections.len() as u32;
        connections.extend(
            (1..=slots).map(|number| Connection { name: format!("{title} {number}"), ..connection.clone() }),
        );
        let set_up =
            optional(table, "set_up", |node| set_up(node, network, &path))?.unwrap_or(Duration::ZERO);
        pairs.push(Pair { weight, slots: first..first + slots as u32, set_up, bookings });
    }
    let missing = |key: &str, about: &str| check::missing(whole.place, key, about);
    Ok(Demand {
        arrivals: arrivals.ok_or_else(|| missing("arrivals", "when they arrive"))?,
        amount: match optional(table, "size", demand::size)? {
            Some(law) => Amount::Octets(law),
            None if is_traced => Amount::Traced,
            None => Amount::Holding(
                optional(table, "holding", demand::holding_time)?
                    .ok_or_else(|| missing("holding", "how long they last; or size"))?,
            ),
        },
        name,
        start,
        end,
        pairs,
        both_ways,
    })
}

/// The entry of a vc that is one of the connections of a pair, but for its name and its traffic.
fn slot(whole: &Whole, path: &[Node]) -> Whole {
    let (table, place) = (&whole.table, whole.place);
    let mut own = Table::default();
    for key in ["category", "abr", "pcr"] {
        if let Some(entry) = table.entry(key) {
            own.set(key, entry.place, entry.node.clone());
        }
    }
    own.set("path", place, Node { place, value: Value::List(Arc::new(path.to_vec())) });
    let mut none = Table::default();
    none.set("type", place, Node { place, value: Value::Text("none".into()) });
    own.set("traffic", place, Node { place, value: Value::from(none) });
    Whole { table: own, place }
}

/// Terms of a call's set-up beside its parameters.
fn terms(table: &Table, connection: &Connection, desk: Option<&Desk>) -> Result<Terms, Fault> {
    let scr = optional(table, "scr", quantity::positive_cell_rate)?;
    if let (Some(scr), Some(node)) = (scr, table.node("scr")) {
        if connection.category != Category::Vbr {
            let message = format!("scr does not belong to category \"{}\"", connection.category.word());
            return Err(Fault::new(node.place, message, "Leave it out: it is for category \"vbr\""));
        }
        if desk.is_none() {
            let message = "scr needs admission, which the scenario does not ask for";
            let remedy = "Write admission = true at the top, or leave the key out";
            return Err(Fault::new(node.place, message, remedy));
        }
        let peak = connection.forward.sender.pcr();
        if scr > peak {
            let message = format!("scr is {} cells/s", scr.as_cells_per_s());
            let remedy = format!("It must be at most PCR, which is {} cells/s", peak.as_cells_per_s());
            return Err(Fault::new(node.place, message, remedy));
        }
    }
    if let (Some(frtt), Some(_)) =
        (table.node("abr").and_then(Node::table).and_then(|abr| abr.node("frtt")), desk)
    {
        let message = "frtt cannot be given here: set-up accumulates it along the path";
        return Err(Fault::new(frtt.place, message, "Leave it out"));
    }
    let police = police::Asked::read(&Table::default(), None)?;
    Ok(Terms { mcr_min: None, scr, frtt: None, needs_admission: None, port_keys: Vec::new(), police })
}

fn call_traffic(table: &Table, place: Place, sender: &Sender) -> Result<Traffic, Fault> {
    let greedy = || Traffic::Greedy(Greedy::default());
    match table.node("call") {
        Some(node) => Ok(traffic::read(node, sender.pcr())?.unwrap_or_else(greedy)),
        None if matches!(sender, Sender::Abr(_)) => Ok(greedy()),
        None => Err(check::missing(
            place,
            "call",
            "what a call sends, such as { type = \"constant\", rate = \"64 kbps\" }",
        )),
    }
}

/// Traffic of flows of a size, if these are any.
fn transfers(whole: &Whole, connection: &Connection, is_traced: bool) -> Result<Option<Traffic>, Fault> {
    let table = &whole.table;
    let of_datagrams = || Datagrams::KEYS.iter().map(|key| key.name);
    if table.node("size").is_none() && !is_traced {
        return match iter::once("tcp").chain(of_datagrams()).find_map(|key| table.entry(key)) {
            Some(entry) => {
                let message = format!("{} needs flows of a size, and these have a holding time", entry.key);
                Err(Fault::new(entry.place, message, "Leave it out"))
            }
            None => Ok(None),
        };
    }
    for key in ["holding", "call", "bidirectional", "scr"] {
        if let Some(entry) = table.entry(key) {
            let message = format!("{key} needs calls with a holding time, and these flows have a size");
            return Err(Fault::new(entry.place, message, format!("Leave out {key} or size")));
        }
    }
    if !matches!(connection.category, Category::Abr | Category::Ubr) {
        let message = "flows of a size need category \"abr\" or \"ubr\": cbr and vbr promise a rate";
        let place = place_of(table, "category", whole.place);
        return Err(Fault::new(place, message, "Write one of these, or holding in place of size"));
    }
    if connection.forward.sender.mcr() > CellRate::ZERO {
        let message = "flows of a size cannot have an MCR: it would be booked for a time that is not known";
        return Err(Fault::new(
            place_of(table, "abr", whole.place),
            message,
            "Leave mcr out, or write holding",
        ));
    }
    if let Some(node) = table.node("tcp") {
        if let Some(entry) = of_datagrams().find_map(|key| table.entry(key)) {
            let message = format!("{} needs datagrams, and TCP carries these flows", entry.key);
            let remedy = "Leave it out: mss, header and encapsulation of tcp say how they are wrapped";
            return Err(Fault::new(entry.place, message, remedy));
        }
        return Ok(Some(Traffic::Tcp(Box::new(of_flows(node, connection.forward.sender.pcr())?))));
    }
    Datagrams::read(table).map(|datagrams| Some(Traffic::Transfers(datagrams)))
}

fn set_up(node: &Node, network: &Network, path: &[Step]) -> Result<Duration, Fault> {
    if node.text() != Some("round-trip") {
        return quantity::time(node);
    }
    let processing = path.iter().filter_map(|step| network.limits.get(&network.tail(*step)));
    let sum = processing.fold(Duration::ZERO, |sum, (limits, _)| sum.saturating_add(limits.processing));
    Ok(round_trip(network, path).saturating_add(sum.saturating_mul(2)))
}

/// The pairs of hosts that a trace names.
struct Pairs<'a> {
    network: &'a Network,
    known: BTreeMap<[NodeIndex; 2], u32>,
    routes: Vec<Route>,
}

impl Pairs<'_> {
    /// The index of a pair, which has a route from then on.
    fn index(&mut self, ends: &[Node; 2], place: Place) -> Result<u32, Fault> {
        let [from, to] = ends;
        let between = [self.network.node(from)?, self.network.node(to)?];
        if let Some(&pair) = self.known.get(&between) {
            return Ok(pair);
        }
        self.routes.push(route(self.network, ends, place, 1.0)?);
        Ok(*self.known.entry(between).or_insert(self.routes.len() as u32 - 1))
    }
}

/// The route between a pair of hosts.
struct Route {
    path: Vec<Step>,
    /// Its nodes, and links where a path names them.
    names: Vec<Node>,
    weight: f64,
}

/// The routes of all pairs that are ever drawn.
fn routes(network: &Network, whole: &Whole) -> Result<Vec<Route>, Fault> {
    let table = &whole.table;
    let mut found = Vec::new();
    match (table.node("pairs"), table.node("among")) {
        (Some(_), Some(among)) => {
            return Err(Fault::new(among.place, "pairs and among are both given", "Write one of them"));
        }
        (None, None) => {
            let about = "such as [[\"a\", \"b\"]], or among";
            return Err(check::missing(whole.place, "pairs", about));
        }
        (Some(pairs), None) => {
            if let Some(matrix) = table.node("matrix") {
                return Err(Fault::new(
                    matrix.place,
                    "matrix needs among, and these flows have pairs",
                    "Write weights, one for each pair",
                ));
            }
            let pairs = check::list(pairs)?;
            let weights = match table.node("weights") {
                None => vec![1.0; pairs.len()],
                Some(node) => numbers(node, pairs.len(), "pair")?,
            };
            for (pair, weight) in pairs.iter().zip(weights) {
                found.push(route(network, check::list(pair)?, pair.place, weight)?);
            }
        }
        (None, Some(among)) => {
            if let Some(weights) = table.node("weights") {
                return Err(Fault::new(
                    weights.place,
                    "weights needs pairs, and these flows have among",
                    "Write a matrix, a row for each host",
                ));
            }
            let hosts = check::list(among)?;
            let rows: Vec<Vec<f64>> = match table.node("matrix") {
                None => (0..hosts.len())
                    .map(|from| (0..hosts.len()).map(|to| if from == to { 0.0 } else { 1.0 }).collect())
                    .collect(),
                Some(node) => {
                    let rows = check::list(node)?;
                    if rows.len() != hosts.len() {
                        let message = format!(
                            "the matrix has {}, and among {}",
                            check::plural(rows.len(), "row"),
                            check::plural(hosts.len(), "host")
                        );
                        return Err(Fault::new(node.place, message, "Write a row for each host"));
                    }
                    rows.iter().map(|row| numbers(row, hosts.len(), "host")).collect::<Result<_, _>>()?
                }
            };
            for (from, row) in hosts.iter().zip(&rows) {
                for (to, &weight) in hosts.iter().zip(row).filter(|(_, weight)| **weight > 0.0) {
                    found.push(route(network, &[from.clone(), to.clone()], among.place, weight)?);
                }
            }
            if found.is_empty() {
                let place = place_of(table, "matrix", whole.place);
                return Err(Fault::new(
                    place,
                    "all numbers of the matrix are 0, and no pair is ever drawn",
                    "Write a number above 0 somewhere",
                ));
            }
        }
    }
    Ok(found)
}

/// A list of so many numbers.
fn numbers(node: &Node, count: usize, of: &str) -> Result<Vec<f64>, Fault> {
    let list = check::list(node)?;
    if list.len() != count {
        let message =
            format!("there are {} for {}", check::plural(list.len(), "number"), check::plural(count, of));
        return Err(Fault::new(node.place, message, format!("Write one for each {of}")));
    }
    list.iter().map(quantity::ratio).collect()
}

/// The path that `written` is, or the shortest one between the two hosts that it names.
fn route(network: &Network, written: &[Node], place: Place, weight: f64) -> Result<Route, Fault> {
    let mut names = written.to_vec();
    if let [from, to] = written {
        let ends = [network.node(from)?, network.node(to)?];
        for (node, name) in ends.iter().zip([from, to]) {
            if !network.is_host(*node) {
                let message = format!("\"{}\" is a switch", network.name(*node));
                return Err(Fault::new(name.place, message, "Flows and calls are between hosts"));
            }
        }
        let Some(nodes) = shortest(network, ends) else {
            let [a, b] = ends.map(|end| network.name(end));
            let message = format!("there is no way from \"{a}\" to \"{b}\"");
            return Err(Fault::new(from.place, message, "Link them through switches, or leave the pair out"));
        };
        let named = |node: &NodeIndex| Node { place, value: Value::Text(network.name(*node).into()) };
        names = nodes.iter().map(named).collect();
    }
    let mut table = Table::default();
    table.set("path", place, Node { place, value: Value::List(Arc::new(names.clone())) });
    let path = path(network, &table, place)?;
    Ok(Route { path, names, weight })
}

/// The nodes of the way with the fewest links through switches; none when the hosts are the same or apart.
fn shortest(network: &Network, [from, to]: [NodeIndex; 2]) -> Option<Vec<NodeIndex>> {
    let mut before: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for (next, _) in network.steps_from(node) {
            if next == from || before.contains_key(&next) {
                continue;
            }
            before.insert(next, node);
            if next == to {
                let mut nodes = vec![to];
                while let Some(&node) = before.get(nodes.last()?) {
                    nodes.push(node);
                }
                nodes.reverse();
                return Some(nodes);
            }
            if !network.is_host(next) {
                queue.push_back(next);
            }
        }
    }
    None
}
