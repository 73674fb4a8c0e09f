//! Probes: quantities to record, their owners and instants.

use std::collections::{BTreeMap, HashSet};

use cellrate_proto::Duration;
use cellrate_proto::switch::FORMS;

use super::group::{self, Member};
use super::network::Network;
use crate::format::{DEMAND_QUANTITIES, FIGURE_NAMES, FLOW_QUANTITIES, PORT_QUANTITIES, QUANTITIES};
use crate::model::{
    Category, Connection, ConnectionIndex, DemandQuantity, Every, FlowIndex, FlowQuantity, NodeIndex, Owner,
    Port, PortIndex, PortQuantity, Probe, Quantity, Step, Traffic, segmenting,
};
use crate::text::check;
use crate::text::error::{Fault, Place, suggestion};
use crate::text::pattern::{first_number, matches};
use crate::text::quantity;
use crate::text::tree::{Node, Table};

pub(super) fn build(
    root: &Table,
    network: &Network,
    connections: &[Connection],
    duration: Duration,
) -> Result<Vec<Probe>, Fault> {
    let known = known_quantities(network);
    let demands = group::members(root, "flows")?;
    let demands = demands
        .iter()
        .map(|Member { node }| node.table().and_then(|table| table.text("name")).unwrap_or_default());
    let things = Things { network, connections, names: names(connections), demands: demands.collect() };
    let mut probes: Vec<Probe> = Vec::new();
    let mut recorded: HashSet<Quantity> = HashSet::new();
    let mut values = 0;
    for (node, table) in root.tables("probe") {
        let every = match table.node("every") {
            Some(every) if every.text() == Some("change") => Every::Change,
            Some(every) => Every::Interval(quantity::span(every)?),
            None => Every::Interval(default_interval(duration)),
        };
        let Some(record) = table.node("record") else { return Err(check::missing(node.place, "record", "")) };
        let record = check::list(record)?;
        let targets = targets(table, record, &things)?;
        for name in record {
            check::choice(name, &known)?;
            for quantity in quantities(name, every, &targets, &things)? {
                if !recorded.insert(quantity) {
                    let message =
                        format!("{} of {} is recorded twice", name.plain(), title(quantity, &things));
                    return Err(Fault::new(name.place, message, "Record each quantity once"));
                }
                probes.push(Probe { quantity, every });
                values = room_for(values, table, every, duration)?;
            }
        }
    }
    Ok(probes)
}

/// The interval of probes that do not say one: a picture shows no more than a thousand values.
fn default_interval(duration: Duration) -> Duration {
    Duration::from_ps((duration.as_ps() / 1_000).max(1))
}

/// More than is ever looked at: a guard against mistyped intervals. How much memory there is for values is known to who
/// runs the scenario.
const MOST_VALUES: u64 = 500_000_000;

/// How many values there are with those of one more series, beside `values` of those before.
fn room_for(values: u64, table: &Table, every: Every, duration: Duration) -> Result<u64, Fault> {
    let Every::Interval(interval) = every else { return Ok(values) };
    // From the beginning on, and none at the end.
    let count = duration.as_ps().div_ceil(interval.as_ps());
    let all = values.saturating_add(count);
    if all <= MOST_VALUES {
        return Ok(all);
    }
    let place = table.node("every").map_or_else(Place::default, |every| every.place);
    let message = format!(
        "a value every {interval} makes {count} values in {duration}, and all series of this and of the probes before together \
         more than {MOST_VALUES}"
    );
    Err(Fault::new(place, message, "Record less often, or of fewer things with `of`"))
}

/// Quantities there may be, and the figures of custom algorithms that some port has.
fn known_quantities(network: &Network) -> Vec<&str> {
    let mut known = QUANTITIES.to_vec();
    let mut figures: HashSet<&str> = known.iter().copied().collect();
    let ports = network.links.iter().flat_map(|link| &link.ports);
    for figure in ports.filter_map(|port| port.custom.as_ref()).flat_map(|custom| &custom.figures) {
        if figures.insert(figure) {
            known.push(figure);
        }
    }
    known
}

/// Drops the probes of connections that are not kept, and counts the others anew.
pub(super) fn keep(probes: &mut Vec<Probe>, kept: &[bool]) {
    // How many are kept before each.
    let mut before = 0;
    let anew: Vec<u32> = kept.iter().map(|&kept| (before, before += u32::from(kept)).0).collect();
    probes.retain_mut(|probe| {
        let (Quantity::Flow { flow, .. } | Quantity::VirtualSource { flow, .. }) = &mut probe.quantity else {
            return true;
        };
        let place = flow.connection().0 as usize;
        *flow = FlowIndex::of(ConnectionIndex(anew[place]), flow.is_backward());
        kept[place]
    });
}

/// All that a probe may name.
struct Things<'a> {
    network: &'a Network,
    connections: &'a [Connection],
    /// Places of connections, by name.
    names: BTreeMap<&'a str, u32>,
    /// Names of flows that come and go.
    demands: Vec<&'a str>,
}

/// Things that a probe looks at: those that it names, or all that have the quantity.
struct Targets {
    given: bool,
    flows: Vec<(FlowIndex, Place)>,
    /// Each at this switch.
    virtual_sources: Vec<(FlowIndex, NodeIndex, Place)>,
    ports: Vec<(PortIndex, Place)>,
    /// Indices of demands.
    demands: Vec<u32>,
}

fn targets(table: &Table, record: &[Node], things: &Things<'_>) -> Result<Targets, Fault> {
    let Some(of) = table.node("of") else { return Ok(all_targets(things)) };
    let &Things { network, connections, .. } = things;
    let mut targets = Targets::none(true);
    let records = Records::of(record);
    for node in check::list(of)? {
        let text = check::text(node)?;
        let is_port = text.contains("->");
        // Flows that come and go may be called like a VC: what is recorded tells which of them are meant.
        let is_vc = things.names.contains_key(text);
        if let Some(demand) = things.demands.iter().position(|name| *name == text)
            && (records.demands || !is_vc)
        {
            if !records.demands {
                let message = "`of` names flows that come and go, and `record` no quantity of theirs";
                let remedy = format!("Record such a quantity: {}", DEMAND_QUANTITIES.join(", "));
                return Err(Fault::new(node.place, message, remedy));
            }
            targets.demands.push(demand as u32);
            if !(is_vc && records.flows) {
                continue;
            }
        }
        if records.demands && !records.flows && !is_port {
            let message = format!("there are no flows \"{}\"", quantity::shortened(text));
            return Err(Fault::new(node.place, message, suggestion(text, "flows", &things.demands)));
        }
        if is_port {
            targets.ports.extend(ports(node, text, network)?.into_iter().map(|port| (port, node.place)));
        } else if let Some((vc, switch)) = text.split_once(" at ") {
            for flow in flows(node, vc.trim_end(), &things.names)? {
                let connection = &connections[flow.connection().0 as usize];
                let switch = virtual_end(node, switch.trim(), connection, network)?;
                targets.virtual_sources.push((flow, switch, node.place));
            }
        } else {
            let found = flows(node, text, &things.names)?;
            targets.flows.extend(found.into_iter().map(|flow| (flow, node.place)));
        }
        records.check(node.place, is_port)?;
    }
    Ok(targets)
}

impl Targets {
    const fn none(given: bool) -> Targets {
        Targets {
            given,
            flows: Vec::new(),
            virtual_sources: Vec::new(),
            ports: Vec::new(),
            demands: Vec::new(),
        }
    }
}

/// Everything that carries something: connections, their ports at switches, and flows that come and go.
fn all_targets(things: &Things<'_>) -> Targets {
    let (network, place) = (things.network, Place::default());
    let mut targets = Targets::none(false);
    targets.demands = (0..things.demands.len() as u32).collect();
    for (i, connection) in things.connections.iter().enumerate() {
        let index = ConnectionIndex(i as u32);
        if connection.carries_data(false) || connection.carries_packets() {
            targets.flows.push((FlowIndex::of(index, false), place));
            targets.ports.extend(connection.steps(false).map(|step| (step.port(), place)));
        }
        if connection.carries_data(true) || connection.carries_packets() {
            targets.ports.extend(connection.steps(true).map(|step| (step.port(), place)));
        }
    }
    targets.ports.retain(|(port, _)| !network.is_host(network.tail(port.step())));
    targets.ports.sort_by_key(|(port, _)| *port);
    targets.ports.dedup_by_key(|(port, _)| *port);
    targets
}

/// The kinds of quantities that a probe records.
struct Records {
    flows: bool,
    demands: bool,
    ports: bool,
}

impl Records {
    fn of(record: &[Node]) -> Records {
        let any = |known: &dyn Fn(&str) -> bool| record.iter().filter_map(Node::text).any(known);
        Records {
            flows: any(&|name| FLOW_QUANTITIES.contains(&name)),
            demands: any(&|name| DEMAND_QUANTITIES.contains(&name)),
            ports: any(&|name| !FLOW_QUANTITIES.contains(&name) && !DEMAND_QUANTITIES.contains(&name)),
        }
    }

    /// Refuses a thing of which no quantity is recorded.
    fn check(&self, place: Place, is_port: bool) -> Result<(), Fault> {
        if if is_port { self.ports } else { self.flows } {
            return Ok(());
        }
        let what = if is_port { "port" } else { "direction of a connection" };
        let names =
            if is_port { [PORT_QUANTITIES, &FIGURE_NAMES].concat() } else { FLOW_QUANTITIES.to_vec() };
        let message = format!("`of` names a {what}, and `record` no quantity of one");
        Err(Fault::new(place, message, format!("Record such a quantity: {}", names.join(", "))))
    }
}

/// The places of connections, by name.
fn names(connections: &[Connection]) -> BTreeMap<&str, u32> {
    connections.iter().map(|connection| connection.name.as_str()).zip(0..).collect()
}

/// Things of `names` that a pattern stands for, in the order of the names' places; only those are looked at that begin
/// like it.
fn named<T: Copy + Ord>(names: &BTreeMap<&str, T>, pattern: &str) -> Vec<T> {
    let Some((before, _)) = first_number(pattern) else {
        return names.get(pattern).copied().into_iter().collect();
    };
    let alike = names.range(before..).take_while(|(name, _)| name.starts_with(before));
    let mut found: Vec<T> =
        alike.filter(|(name, _)| matches(pattern, name)).map(|(_, place)| *place).collect();
    found.sort_unstable();
    found
}

fn flows(node: &Node, text: &str, names: &BTreeMap<&str, u32>) -> Result<Vec<FlowIndex>, Fault> {
    let (pattern, backward) = match text.strip_suffix("(back)") {
        Some(name) => (name.trim(), true),
        None => (text, false),
    };
    let found: Vec<u32> = named(names, pattern);
    if !found.is_empty() {
        return Ok(found.into_iter().map(|i| FlowIndex::of(ConnectionIndex(i), backward)).collect());
    }
    let known: Vec<&str> = names.keys().copied().collect();
    let message = format!("there is no vc \"{}\"", quantity::shortened(pattern));
    Err(Fault::new(
        node.place,
        message,
        format!("{}; a port is written \"sw1->sw2\"", suggestion(pattern, "vcs", &known)),
    ))
}

/// The switch of this name, where the control loops of `connection` are segmented.
fn virtual_end(
    node: &Node,
    switch: &str,
    connection: &Connection,
    network: &Network,
) -> Result<NodeIndex, Fault> {
    let segmenting: Vec<NodeIndex> =
        segmenting(&network.links, connection).map(|segmenting| segmenting.switch).collect();
    if let Some(&found) = segmenting.iter().find(|&&node| network.name(node) == switch) {
        return Ok(found);
    }
    let message =
        format!("\"{}\" has no virtual source at \"{}\"", connection.name, quantity::shortened(switch));
    let known: Vec<&str> = segmenting.iter().map(|&node| network.name(node)).collect();
    let remedy = match known.is_empty() {
        _ if connection.category != Category::Abr => "Only connections of category abr have any".to_owned(),
        true => "No port on its way has vs_vd".to_owned(),
        false => suggestion(switch, "switches on its way with vs_vd", &known),
    };
    Err(Fault::new(node.place, message, remedy))
}

fn ports(node: &Node, text: &str, network: &Network) -> Result<Vec<PortIndex>, Fault> {
    let tails = |pattern: &str| network.nodes_like(pattern);
    let (from, to) = text.split_once("->").map_or((text, ""), |(from, to)| (from.trim(), to.trim()));
    let mut found: Vec<PortIndex> =
        tails(from).into_iter().flat_map(|tail| ports_towards(network, tail, to)).collect();
    found.sort_unstable();
    // Several links may lead from one to the other: "a->b" is the port that is called so, or else all of them.
    if first_number(text).is_none()
        && let Some(&own) = found.iter().find(|&&port| network.port_name(port) == text)
    {
        found = vec![own];
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let message = format!("there is no port \"{}\"", quantity::shortened(text));
    let tail = network.nodes.iter().position(|node| node.name == from);
    let remedy = match tail.map(|i| network.neighbours(NodeIndex(i as u32))) {
        Some(neighbours) => suggestion(to, &format!("\"{from}\" is linked to"), &neighbours),
        None => {
            let known: Vec<&str> = network.nodes.iter().map(|node| node.name.as_str()).collect();
            suggestion(from, "hosts and switches", &known)
        }
    };
    Err(Fault::new(node.place, message, remedy))
}

/// The ports from `tail` to the nodes that a pattern stands for, behind which the link may be told: "b (north)".
fn ports_towards(network: &Network, tail: NodeIndex, pattern: &str) -> Vec<PortIndex> {
    let (to, label) = match pattern.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        Some((to, label)) => (to.trim_end(), Some(label)),
        None => (pattern, None),
    };
    let is_it = |step: &Step| label.is_none() || network.link(*step).label.as_deref() == label;
    let steps: Vec<Step> = match first_number(to) {
        None => network.named(to).into_iter().flat_map(|head| network.steps_between(tail, head)).collect(),
        Some(_) => {
            let alike = network.steps_from(tail).filter(|(head, _)| matches(to, network.name(*head)));
            alike.map(|(_, step)| step).collect()
        }
    };
    steps.into_iter().filter(is_it).map(Step::port).collect()
}

/// The quantities that one name in `record` stands for.
fn quantities(
    node: &Node,
    every: Every,
    targets: &Targets,
    things: &Things<'_>,
) -> Result<Vec<Quantity>, Fault> {
    let &Things { network, connections, .. } = things;
    let name = check::text(node)?;
    if let (Every::Change, Some(reason)) = (every, at_intervals_only(name)) {
        let message = format!("{name} {reason} and has no changes to record");
        return Err(Fault::new(
            node.place,
            message,
            "Write every = \"1 ms\", in a probe of its own if need be",
        ));
    }
    let mut result = Vec::new();
    let (mut lacking, mut is_branch) = (None, false);
    if let Some(quantity) = FlowQuantity::named(name) {
        for &(flow, place) in &targets.flows {
            if has(&connections[flow.connection().0 as usize], flow.is_backward(), quantity) {
                result.push(Quantity::Flow { quantity, flow });
            } else {
                is_branch |= connections[flow.connection().0 as usize].branch.is_some();
                lacking.get_or_insert((place, Quantity::Flow { quantity, flow }));
            }
        }
        for &(flow, switch, place) in &targets.virtual_sources {
            let of = Quantity::VirtualSource { quantity, flow, switch };
            if quantity.is_of_virtual_source() {
                result.push(of);
            } else {
                lacking.get_or_insert((place, of));
            }
        }
    } else if let Some(quantity) = DemandQuantity::named(name) {
        result.extend(targets.demands.iter().map(|&demand| Quantity::Demand { quantity, demand }));
    } else {
        for &(port, place) in &targets.ports {
            match port_quantity(name, network.port(port)) {
                Some(quantity) => result.push(Quantity::Port { quantity, port }),
                None => {
                    let quantity = PortQuantity::Metric(0);
                    lacking.get_or_insert((place, Quantity::Port { quantity, port }));
                }
            }
        }
    }
    match lacking {
        Some((place, of)) if targets.given => {
            let message = format!("{} has no {name}", title(of, things));
            let remedy = match is_branch {
                true => {
                    "It is a branch of a tree, whose cells are copies: name the connection itself".to_owned()
                }
                false => lack_remedy(name),
            };
            Err(Fault::new(place, message, remedy))
        }
        _ if result.is_empty() => Err(Fault::new(
            node.place,
            format!("nothing {} has {name}", if targets.given { "named in of" } else { "in the scenario" }),
            lack_remedy(name),
        )),
        _ => Ok(result),
    }
}

/// Why the quantity of this name has no changes to record, as a phrase behind its name, if it has none.
fn at_intervals_only(name: &str) -> Option<&'static str> {
    let of_flow = FlowQuantity::named(name).and_then(FlowQuantity::declared);
    let of_port = || PortQuantity::named(name).and_then(PortQuantity::declared);
    of_flow.map_or_else(|| of_port()?.at_intervals_only, |declared| declared.at_intervals_only)
}

fn lack_remedy(name: &str) -> String {
    let declared = FlowQuantity::named(name).and_then(FlowQuantity::declared);
    if let Some(remedy) = declared.and_then(|declared| declared.owner.remedy()) {
        return remedy.to_owned();
    }
    let remedy = match name {
        name if FIGURE_NAMES.contains(&name) => {
            let offers = FORMS.iter().filter(|form| form.figures.iter().any(|figure| figure.name == name));
            let types: Vec<String> = offers.map(|form| format!("\"{}\"", form.shape.name)).collect();
            let types = match &types[..] {
                [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                types => types.concat(),
            };
            return format!("Only ports of switches with algorithm type {types} have it");
        }
        name if FLOW_QUANTITIES.contains(&name) => {
            "It is a quantity of connections: name one, such as \"vc1\""
        }
        name if DEMAND_QUANTITIES.contains(&name) => {
            "It is a quantity of flows that come and go: name an entry of flows"
        }
        name if !QUANTITIES.contains(&name) => {
            "Only ports of switches whose custom algorithm has such a figure have it"
        }
        _ => "It is a quantity of ports: name one, such as \"sw1->sw2\"",
    };
    remedy.to_owned()
}

/// Whether a direction of `connection` has the quantity.
fn has(connection: &Connection, backward: bool, quantity: FlowQuantity) -> bool {
    // Whatever the source of a tree does is a matter of its trunk.
    if connection.branch.is_some() && !backward && quantity.is_of_virtual_source() {
        return false;
    }
    let carries_data = connection.carries_data(backward) || connection.carries_packets();
    let is_abr = connection.category == Category::Abr;
    let Some(declared) = quantity.declared() else { return false };
    match declared.owner {
        Owner::Abr => is_abr,
        Owner::Cells => is_abr || carries_data,
        Owner::Data => carries_data,
        Owner::Loopback => connection.loopbacks.iter().any(|one| one.backward == backward),
        Owner::Pages => !backward && connection.pages().is_some(),
        Owner::Tcp => {
            let traffic = &connection.flow(backward).traffic;
            matches!(traffic, Some(Traffic::Tcp(_))) || backward && connection.pages().is_some()
        }
    }
}

fn port_quantity(name: &str, port: &Port) -> Option<PortQuantity> {
    let figure = || port.figures().iter().position(|figure| *figure == name);
    PortQuantity::named(name).or_else(|| Some(PortQuantity::Metric(figure()? as u8)))
}

fn title(quantity: Quantity, things: &Things<'_>) -> String {
    let &Things { network, connections, .. } = things;
    match quantity {
        Quantity::Flow { flow, .. } => format!("\"{}\"", direction(flow, connections)),
        Quantity::VirtualSource { flow, switch, .. } => {
            format!("\"{} at {}\"", direction(flow, connections), network.name(switch))
        }
        Quantity::Port { port, .. } => format!("\"{}\"", network.port_name(port)),
        Quantity::Demand { demand, .. } => format!("\"{}\"", things.demands[demand as usize]),
    }
}

fn direction(flow: FlowIndex, connections: &[Connection]) -> String {
    let name = &connections[flow.connection().0 as usize].name;
    if flow.is_backward() { format!("{name} (back)") } else { name.clone() }
}
