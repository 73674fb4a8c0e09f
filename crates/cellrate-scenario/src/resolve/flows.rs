//! Flows and calls that come and go, and the connections that carry them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{CellRate, Duration, Octets, Time};

use super::admission::Desk;
use super::congested;
use super::connection::{self, Terms};
use super::group;
use super::network::{Network, round_trip};
use super::path::path;
use super::{Whole, defaults, place_of, police, traffic, wholes};
use crate::format::{MOST_OCTETS, MOST_SLOTS};
use crate::model::{
    AbrSender, Amount, Arrivals, Category, Connection, Datagrams, Demand, Law, NodeIndex, Pair, Sender,
    Shared, Step, Traced, Traffic,
};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::flows::PACKET;
use crate::text::quantity;
use crate::text::reading::{encapsulation, instant, optional, start_and_end};
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
    let wholes = wholes(root, "flows", shape, |own| connection::base(&no_defaults, &abr, own))?;
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
    let trace = optional(table, "arrivals", |node| trace(network, node))?.flatten();
    let (routes, traced) = match trace {
        Some(trace) => {
            let of_trace = ["pairs", "among", "weights", "matrix", "size", "holding"];
            if let Some(entry) = of_trace.iter().find_map(|key| table.entry(key)) {
                let message =
                    format!("there is {}, and the flows come from a trace that says so itself", entry.key);
                let remedy = format!("Leave out {}, or write arrivals of another type", entry.key);
                return Err(Fault::new(entry.place, message, remedy));
            }
            (trace.routes, Some(trace.flows))
        }
        None => (routes(network, whole)?, None),
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
        let transfers = transfers(whole, &connection)?;
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
    let is_traced = traced.is_some();
    Ok(Demand {
        arrivals: match traced {
            Some(flows) => Arrivals::Traced(flows),
            None => optional(table, "arrivals", arrivals)?
                .ok_or_else(|| missing("arrivals", "when they arrive"))?,
        },
        amount: match optional(table, "size", size)? {
            Some(law) => Amount::Octets(law),
            None if is_traced => Amount::Traced,
            None => Amount::Holding(
                optional(table, "holding", holding)?
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
        let category = table.text("category").unwrap_or("abr");
        if category != "vbr" {
            let message = format!("scr does not belong to category \"{category}\"");
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
    Ok(Terms { mcr_min: None, scr, frtt: None, needs_admission: None, police })
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
fn transfers(whole: &Whole, connection: &Connection) -> Result<Option<Traffic>, Fault> {
    let table = &whole.table;
    let of_datagrams = ["datagram", "header", "encapsulation"];
    if table.node("size").is_none() && !is_traced(table) {
        return match ["tcp"].iter().chain(&of_datagrams).find_map(|key| table.entry(key)) {
            Some(entry) => {
                let message = format!("{} is for flows of a size, and these have a holding time", entry.key);
                Err(Fault::new(entry.place, message, "Leave it out"))
            }
            None => Ok(None),
        };
    }
    for key in ["holding", "call", "bidirectional", "scr"] {
        if let Some(entry) = table.entry(key) {
            let message = format!("{key} is for calls with a holding time, and these flows have a size");
            return Err(Fault::new(entry.place, message, format!("Leave out {key} or size")));
        }
    }
    if !matches!(connection.category, Category::Abr | Category::Ubr) {
        let message = "flows of a size take what the network gives them, and cbr and vbr promise a rate";
        let place = place_of(table, "category", whole.place);
        return Err(Fault::new(place, message, "Write category \"abr\" or \"ubr\", or holding"));
    }
    if connection.forward.sender.mcr() > CellRate::ZERO {
        let message = "a flow of a size has an MCR, which would be booked for a time that nobody knows";
        return Err(Fault::new(
            place_of(table, "abr", whole.place),
            message,
            "Leave mcr out, or write holding",
        ));
    }
    if let Some(node) = table.node("tcp") {
        if let Some(entry) = of_datagrams.iter().find_map(|key| table.entry(key)) {
            let message = format!("{} is for datagrams, and TCP carries these flows", entry.key);
            let remedy = "Leave it out: mss, header and encapsulation of tcp say how they are wrapped";
            return Err(Fault::new(entry.place, message, remedy));
        }
        return Ok(Some(Traffic::Tcp(Box::new(of_flows(node, connection.forward.sender.pcr())?))));
    }
    let octets = |key: &str, low: u64, high: u64, default: u64| match table.node(key) {
        None => Ok(Octets(default)),
        Some(node) => match quantity::octets(node)? {
            octets if (low..=high).contains(&octets.0) => Ok(octets),
            octets => {
                let message = format!("{key} is {octets}");
                Err(Fault::new(node.place, message, format!("It must be from {low} to {high} octets")))
            }
        },
    };
    Ok(Some(Traffic::Transfers(Datagrams {
        payload: octets("datagram", 1, 65_000, 1472)?,
        header: octets("header", 0, 120, 28)?,
        encapsulation: encapsulation(table).unwrap_or(Encapsulation::LlcSnapIpv4),
    })))
}

/// Points of the HPCC simulator's table of the DCTCP web search flows \\[octets\\].
const WEB_SEARCH: &[(f64, f64)] = &[
    (0.0, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];
/// Points of the HPCC simulator's table of the Facebook Hadoop flows \\[octets\\].
const HADOOP: &[(f64, f64)] = &[
    (0.0, 0.0),
    (100.0, 0.01),
    (200.0, 0.02),
    (300.0, 0.05),
    (350.0, 0.15),
    (400.0, 0.2),
    (500.0, 0.3),
    (600.0, 0.4),
    (700.0, 0.5),
    (1e3, 0.6),
    (2e3, 0.67),
    (7e3, 0.7),
    (30e3, 0.72),
    (50e3, 0.82),
    (80e3, 0.87),
    (120e3, 0.9),
    (300e3, 0.95),
    (1e6, 0.975),
    (2e6, 0.99),
    (10e6, 1.0),
];
/// Points of the HKUST traffic generator's table of the VL2 data mining flows \\[packets\\].
const DATA_MINING: &[(f64, f64)] = &[
    (1.0, 0.5),
    (2.0, 0.6),
    (3.0, 0.7),
    (7.0, 0.8),
    (267.0, 0.9),
    (2107.0, 0.95),
    (66_667.0, 0.99),
    (666_667.0, 1.0),
];
/// Points of the HKUST traffic generator's table of the Facebook cache follower flows \\[packets\\].
const CACHE_FOLLOWER: &[(f64, f64)] = &[
    (1.0, 0.36),
    (2.0, 0.4),
    (7.0, 0.46),
    (13.0, 0.5),
    (67.0, 0.6),
    (133.0, 0.7),
    (667.0, 0.78),
    (1333.0, 0.8),
    (2000.0, 0.9),
    (2667.0, 0.99),
    (33_333.0, 1.0),
];

fn size(node: &Node) -> Result<Law, Fault> {
    let Some(table) = node.table() else {
        return Err(check::missing(node.place, "type", "its distribution"));
    };
    let read = |node: &Node| match quantity::octets(node)?.0 as f64 {
        octets if (1.0..=MOST_OCTETS).contains(&octets) => Ok(octets),
        _ => {
            let message = format!("{} is no size of a flow", node.plain());
            Err(Fault::new(node.place, message, "Write from 1 octet to 1000 GB"))
        }
    };
    let octets = |key: &str| match table.node(key) {
        Some(node) => read(node),
        None => Err(check::missing(node.place, key, "it is required for this type")),
    };
    let ratio =
        |key: &str, default| optional(table, key, quantity::ratio).map(|given| given.unwrap_or(default));
    let scaled = |points: &[(f64, f64)], unit: f64| {
        Law::Table(points.iter().map(|&(size, share)| (size * unit, share)).collect())
    };
    Ok(match table.text("type").unwrap_or_default() {
        "web-search" => scaled(WEB_SEARCH, 1.0),
        "hadoop" => scaled(HADOOP, 1.0),
        "data-mining" => scaled(DATA_MINING, PACKET),
        "cache-follower" => scaled(CACHE_FOLLOWER, PACKET),
        "cdf" => {
            let list = table.node("points").ok_or_else(|| check::missing_or_unread(node, table, "points"))?;
            let mut points: Vec<(f64, f64)> = Vec::new();
            for node in check::list(list)? {
                let [size, share] = check::pair(node)?;
                let point = (quantity::octets(size)?.0 as f64, quantity::ratio(share)?);
                if points.last().is_some_and(|last| point.0 < last.0 || point.1 < last.1) {
                    let message = "the point is below the one in front of it";
                    return Err(Fault::new(node.place, message, "Write sizes and shares in order"));
                }
                points.push(point);
            }
            if points.last().is_none_or(|last| last.1 != 1.0 || last.0 < 1.0) {
                return Err(Fault::new(
                    list.place,
                    "the last share is not 1",
                    "Write the largest size with 1",
                ));
            }
            Law::Table(points.into())
        }
        "exponential" => Law::Exponential { mean: octets("mean")? },
        "lognormal" => Law::Lognormal { mean: octets("mean")?, sigma: ratio("sigma", 1.0)? },
        "pareto" => {
            let most = optional(table, "most", read)?.unwrap_or(MOST_OCTETS);
            let least = octets("least")?;
            if most <= least {
                let place = place_of(table, "most", node.place);
                return Err(Fault::new(place, "the largest is not above the smallest", "Write a larger one"));
            }
            Law::Pareto { least, alpha: ratio("alpha", 1.2)?, most }
        }
        _ => Law::Fixed(octets("octets")?),
    })
}

/// Whether flows come from a trace.
fn is_traced(table: &Table) -> bool {
    table.node("arrivals").and_then(Node::table).and_then(|arrivals| arrivals.text("type")) == Some("trace")
}

/// The routes of all pairs of a trace, and its flows.
struct Trace {
    routes: Vec<Route>,
    flows: Arc<[Traced]>,
}

/// The trace, if arrivals are one.
fn trace(network: &Network, node: &Node) -> Result<Option<Trace>, Fault> {
    let Some(table) = node.table().filter(|table| table.text("type") == Some("trace")) else {
        return Ok(None);
    };
    let list = table.node("flows").ok_or_else(|| check::missing_or_unread(node, table, "flows"))?;
    let mut known: BTreeMap<[NodeIndex; 2], u32> = BTreeMap::new();
    let (mut routes, mut flows): (Vec<Route>, Vec<Traced>) = Default::default();
    for node in check::list(list)? {
        let [ask, ends] = check::pair(node)?;
        let ([at, size], [from, to]) = (check::pair(ask)?, check::pair(ends)?);
        let (instant, octets) = (instant(at)?, quantity::octets(size)?);
        if flows.last().is_some_and(|last| instant < last.at) {
            let message = format!("{} is before the instant in front of it", at.plain());
            return Err(Fault::new(at.place, message, "Write flows in order of time"));
        }
        if octets.0 == 0 || octets.0 as f64 > MOST_OCTETS {
            let message = format!("{} is no size of a flow", size.plain());
            return Err(Fault::new(size.place, message, "Write from 1 octet to 1000 GB"));
        }
        let between = [network.node(from)?, network.node(to)?];
        let pair = match known.get(&between) {
            Some(&pair) => pair,
            None => {
                routes.push(route(network, &[from.clone(), to.clone()], node.place, 1.0)?);
                *known.entry(between).or_insert(routes.len() as u32 - 1)
            }
        };
        flows.push(Traced { at: instant, pair, octets });
    }
    Ok(Some(Trace { routes, flows: flows.into() }))
}

fn set_up(node: &Node, network: &Network, path: &[Step]) -> Result<Duration, Fault> {
    if node.text() != Some("round-trip") {
        return quantity::time(node);
    }
    let processing = path.iter().filter_map(|step| network.limits.get(&network.tail(*step)));
    let sum = processing.fold(Duration::ZERO, |sum, (limits, _)| sum.saturating_add(limits.processing));
    Ok(round_trip(network, path).saturating_add(sum.saturating_mul(2)))
}

fn arrivals(node: &Node) -> Result<Arrivals, Fault> {
    let Some(table) = node.table() else { return Err(check::missing(node.place, "type", "how they arrive")) };
    let missing = |key: &str| check::missing(node.place, key, "it is required for this type");
    let span = |key: &str| table.node(key).map_or_else(|| Err(missing(key)), quantity::span);
    let two = |key: &str| -> Result<[Duration; 2], Fault> {
        let [one, other] = check::pair(table.node(key).ok_or_else(|| missing(key))?)?;
        Ok([quantity::span(one)?, quantity::span(other)?])
    };
    Ok(match table.text("type").unwrap_or_default() {
        "mmpp" => Arrivals::Mmpp { gaps: two("gaps")?, stays: two("stays")? },
        "pareto" => Arrivals::Pareto {
            gap: span("gap")?,
            alpha: optional(table, "alpha", quantity::ratio)?.unwrap_or(1.5),
        },
        "list" => {
            let list = table.node("instants").ok_or_else(|| missing("instants"))?;
            let mut instants: Vec<Time> = Vec::new();
            for node in check::list(list)? {
                let at = instant(node)?;
                if instants.last().is_some_and(|last| at < *last) {
                    let message = format!("{} is before the instant in front of it", node.plain());
                    return Err(Fault::new(node.place, message, "Write instants in order of time"));
                }
                instants.push(at);
            }
            Arrivals::At(instants.into())
        }
        _ => Arrivals::Poisson { gap: span("gap")? },
    })
}

fn holding(node: &Node) -> Result<Law, Fault> {
    let Some(table) = node.table() else {
        return Err(check::missing(node.place, "type", "its distribution"));
    };
    let seconds = |key: &str| match table.node(key) {
        Some(node) => quantity::span(node).map(Duration::as_secs_f64),
        None => Err(check::missing(node.place, key, "it is required for this type")),
    };
    let ratio =
        |key: &str, default| optional(table, key, quantity::ratio).map(|given| given.unwrap_or(default));
    Ok(match table.text("type").unwrap_or("exponential") {
        "fixed" => Law::Fixed(seconds("time")?),
        "lognormal" => Law::Lognormal { mean: seconds("mean")?, sigma: ratio("sigma", 1.0)? },
        "pareto" => {
            let (mean, alpha) = (seconds("mean")?, ratio("alpha", 1.5)?);
            Law::Pareto { least: mean * (alpha - 1.0) / alpha, alpha, most: f64::INFINITY }
        }
        _ => Law::Exponential { mean: seconds("mean")? },
    })
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
            return Err(Fault::new(among.place, "there are both pairs and among", "Write one of them"));
        }
        (None, None) => {
            let about = "such as [[\"a\", \"b\"]], or among";
            return Err(check::missing(whole.place, "pairs", about));
        }
        (Some(pairs), None) => {
            if let Some(matrix) = table.node("matrix") {
                return Err(Fault::new(
                    matrix.place,
                    "a matrix is for among",
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
                    "weights are for pairs",
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
                return Err(Fault::new(place, "no pair is ever drawn", "Write a number above 0 somewhere"));
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
