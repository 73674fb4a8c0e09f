//! Hosts, switches, links, and the ports at the ends of the links.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cellrate_proto::consolidation::ConsolidationConfig;
use cellrate_proto::declaration::{Kind, Shape};
use cellrate_proto::negotiation::Node as Limits;
use cellrate_proto::negotiation::rules::Rules;
use cellrate_proto::{Duration, Time};

use super::algorithm::Interval;
use super::changing::Courses;
use super::group;
use super::{Whole, changing, defaults, host, place_of, port, wholes};
use crate::clocks::OwnClock;
use crate::consolidation;
use crate::courses::{self, Delays};
use crate::format::{LinkTable, Negotiation, ROOT};
use crate::model::{
    HostSettings, InFlight, Link, LinkIndex, Node, NodeIndex, NodeKind, Port, PortIndex, Shared, Step,
};
use crate::text::check::{self, Mode};
use crate::text::error::{Fault, Place, suggestion};
use crate::text::pattern::{first_number, matches};
use crate::text::quantity;
use crate::text::tree::{self, Table, merged};
use crate::text::written::Written;

/// The network, with its names.
pub(super) struct Network {
    pub nodes: Vec<Node>,
    /// In the order of the nodes, of which hosts are the first.
    pub hosts: Vec<HostSettings>,
    pub links: Vec<Link>,
    by_name: HashMap<Arc<str>, NodeIndex>,
    /// The nodes in the order of their names, as soon as a pattern asks for some.
    sorted: OnceCell<Vec<NodeIndex>>,
    /// The links from each node, by the nodes that they lead to; those to the same one in the order of the file, which
    /// is that of their numbers.
    links_from: Vec<Vec<(NodeIndex, Step)>>,
    /// Links by their own names; the others of several between the same nodes by what stands for a name, "a-b#2".
    links_by_name: BTreeMap<String, LinkIndex>,
    /// Limits of switches on connections that are set up through them, with their places in the text.
    pub limits: BTreeMap<NodeIndex, (Limits, Place)>,
    /// Consolidation at switches that say how.
    pub consolidations: BTreeMap<NodeIndex, ConsolidationConfig>,
    /// Clocks of hosts, in their order.
    pub host_clocks: Vec<OwnClock>,
    /// Clocks of links.
    pub link_clocks: Vec<OwnClock>,
    /// Where links say that their rates change, if they do.
    pub rate_places: Vec<Option<Place>>,
}

impl Network {
    /// The node of a name.
    pub fn node(&self, name: &tree::Node) -> Result<NodeIndex, Fault> {
        let text = check::text(name)?;
        self.by_name.get(text).copied().ok_or_else(|| {
            let known: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
            let message = format!("there is no host or switch \"{}\"", quantity::shortened(text));
            Fault::new(name.place, message, suggestion(text, "hosts and switches", &known))
        })
    }

    /// The node of this name, if there is one.
    pub fn named(&self, name: &str) -> Option<NodeIndex> {
        self.by_name.get(name).copied()
    }

    /// The first link of the file from a node to another, crossed in that direction.
    pub fn step(&self, from: NodeIndex, to: NodeIndex) -> Option<Step> {
        self.steps_between(from, to).next()
    }

    /// All links from a node to another, crossed in that direction, in the order of the file.
    pub fn steps_between(&self, from: NodeIndex, to: NodeIndex) -> impl Iterator<Item = Step> {
        let links = &self.links_from[from.0 as usize];
        let first = links.partition_point(|&(head, _)| head < to);
        links[first..].iter().take_while(move |&&(head, _)| head == to).map(|&(_, step)| step)
    }

    /// All links from a node, with the nodes that they lead to.
    pub fn steps_from(&self, from: NodeIndex) -> impl Iterator<Item = (NodeIndex, Step)> {
        self.links_from[from.0 as usize].iter().copied()
    }

    /// The link of this name.
    pub fn link_named(&self, name: &str) -> Option<LinkIndex> {
        self.links_by_name.get(name).copied()
    }

    /// The nodes whose names a pattern stands for.
    pub fn nodes_like(&self, pattern: &str) -> Vec<NodeIndex> {
        let Some((before, _)) = first_number(pattern) else {
            return self.named(pattern).into_iter().collect();
        };
        let sorted = self.sorted.get_or_init(|| {
            let mut nodes: Vec<NodeIndex> = (0..self.nodes.len() as u32).map(NodeIndex).collect();
            nodes.sort_unstable_by_key(|&node| self.name(node));
            nodes
        });
        let first = sorted.partition_point(|&node| self.name(node) < before);
        let alike = sorted[first..].iter().take_while(|&&node| self.name(node).starts_with(before));
        alike.copied().filter(|&node| matches(pattern, self.name(node))).collect()
    }

    pub fn name(&self, node: NodeIndex) -> &str {
        &self.nodes[node.0 as usize].name
    }

    pub fn is_host(&self, node: NodeIndex) -> bool {
        self.nodes[node.0 as usize].kind == NodeKind::Host
    }

    /// The names of the nodes that a node is linked to.
    pub fn neighbours(&self, node: NodeIndex) -> Vec<&str> {
        let mut names: Vec<&str> = self.steps_from(node).map(|(to, _)| self.name(to)).collect();
        names.dedup();
        names
    }

    /// The node that `step` leaves.
    pub fn tail(&self, step: Step) -> NodeIndex {
        self.link(step).ends[usize::from(step.end)]
    }

    /// The node that `step` reaches.
    pub fn head(&self, step: Step) -> NodeIndex {
        self.tail(step.turned())
    }

    pub fn port(&self, port: PortIndex) -> &Port {
        &self.link(port.step()).ports[usize::from(port.end())]
    }

    /// Gives the name of a port, such as "sw1->sw2"; with the name of its link behind it where that is one of several,
    /// "sw1->sw2 (north)".
    pub fn port_name(&self, port: PortIndex) -> String {
        let ends = [self.name(self.tail(port.step())), "->", self.name(self.head(port.step()))].concat();
        match &self.link(port.step()).label {
            Some(label) => format!("{ends} ({label})"),
            None => ends,
        }
    }

    pub fn link(&self, step: Step) -> &Link {
        &self.links[step.link.0 as usize]
    }
}

pub(super) fn build(root: &Table, duration: Duration) -> Result<Network, Fault> {
    let mut network = Network {
        nodes: Vec::new(),
        hosts: Vec::new(),
        links: Vec::new(),
        by_name: HashMap::new(),
        sorted: OnceCell::new(),
        links_from: Vec::new(),
        links_by_name: BTreeMap::new(),
        limits: BTreeMap::new(),
        consolidations: BTreeMap::new(),
        host_clocks: Vec::new(),
        link_clocks: Vec::new(),
        rate_places: Vec::new(),
    };
    let host_defaults = defaults(root, "host").cloned().unwrap_or_default();
    let hosts = members(root, "host", |_| Cow::Borrowed(&host_defaults))?;
    network.hosts = host::settings(&hosts)?;
    network.host_clocks = hosts
        .iter()
        .map(|host| OwnClock::read(&Written::new(&host.table, host.place)))
        .collect::<Result<_, _>>()?;
    let switch_defaults = defaults(root, "switch").cloned().unwrap_or_default();
    let switches = members(root, "switch", |_| Cow::Borrowed(&switch_defaults))?;
    network.nodes.reserve_exact(hosts.len() + switches.len());
    network.by_name.reserve(hosts.len() + switches.len());
    for (whole, kind) in hosts
        .iter()
        .map(|host| (host, NodeKind::Host))
        .chain(switches.iter().map(|switch| (switch, NodeKind::Switch)))
    {
        let name = whole.table.text("name").unwrap_or_default();
        let node = NodeIndex(network.nodes.len() as u32);
        if network.by_name.insert(name.into(), node).is_some() {
            let message = format!("there is another host or switch \"{name}\"");
            let place = place_of(&whole.table, "name", whole.place);
            return Err(Fault::new(place, message, "Give each a name of its own"));
        }
        network.nodes.push(Node { name: name.to_string(), kind });
    }
    let link_defaults = defaults(root, "link").cloned().unwrap_or_default();
    let links = members(root, "link", |own| link_base(&link_defaults, own))?;
    network.links.reserve_exact(links.len());
    network.links_from = vec![Vec::new(); network.nodes.len()];
    let mut ports = Shared::default();
    for whole in links {
        add_link(&mut network, &whole, &ports.get(&Port::default()), Time::ZERO.saturating_add(duration))?;
    }
    for links in &mut network.links_from {
        links.sort_unstable_by_key(|&(head, step)| (head, step.link));
    }
    tell_apart(&mut network);
    for whole in &switches {
        set_ports(&mut network, whole, &mut ports)?;
        set_limits(&mut network, whole)?;
        if let (Some(switch), Some(config)) = (switch_of(&network, whole), consolidation::read(&whole.table)?)
        {
            network.consolidations.insert(switch, config);
        }
    }
    Ok(network)
}

fn members<'a>(
    root: &Table,
    kind: &str,
    base: impl Fn(&Table) -> Cow<'a, Table>,
) -> Result<Vec<Whole>, Fault> {
    match group::shape_of(kind) {
        Some(shape) => wholes(root, kind, shape, base),
        None => Ok(Vec::new()),
    }
}

/// The defaults of links, less the length where a link has a delay of its own, and the other way round.
fn link_base<'a>(defaults: &'a Table, own: &Table) -> Cow<'a, Table> {
    let mut base = Cow::Borrowed(defaults);
    for (key, other) in [("length", "delay"), ("delay", "length")] {
        if own.node(key).is_some() {
            base.to_mut().remove(other);
        }
    }
    base
}

/// Adds a link whose two ports are as `port` for now.
fn add_link(network: &mut Network, whole: &Whole, port: &Arc<Port>, end: Time) -> Result<(), Fault> {
    let keys = LinkTable::read(&Written::new(&whole.table, whole.place))?;
    let between = &keys.between;
    let [first, second] = check::pair(between)?;
    let ends = [network.node(first)?, network.node(second)?];
    if ends[0] == ends[1] {
        let message = format!("the link goes from \"{}\" to itself", network.name(ends[0]));
        return Err(Fault::new(between.place, message, "Name two different nodes"));
    }
    let Some(rates) = keys.rate.as_ref().map(|node| courses::rate(node, end)).transpose()? else {
        return Err(check::missing(
            whole.place,
            "rate",
            "the line rate, here or in [defaults.link], such as \"155.52 Mbps\"",
        ));
    };
    let delays = delays(&keys, whole.place, end)?;
    let link = LinkIndex(network.links.len() as u32);
    if let Some(node) = &keys.name {
        let name = check::text(node)?;
        let other = if network.named(name).is_some() { "host or switch" } else { "link" };
        if other != "link" || network.links_by_name.insert(name.to_string(), link).is_some() {
            let message = format!("there is another {other} \"{name}\"");
            return Err(Fault::new(node.place, message, "Give each a name of its own: paths may name both"));
        }
    }
    network.link_clocks.push(OwnClock { offset: keys.clock_offset, ..OwnClock::default() });
    let mut own = Link {
        // Whether it needs one, its neighbours say.
        label: keys.name.as_ref().and_then(tree::Node::text).map(str::to_string),
        ends,
        rate: rates.first().map(|&(_, rate)| rate).unwrap_or_default(),
        delay: delays.first().map(|&(_, (delay, _))| delay).unwrap_or_default(),
        ports: [Arc::clone(port), Arc::clone(port)],
        line: keys.line.clone(),
        changes: Arc::default(),
    };
    let courses = Courses { rate: rates, delay: delays };
    let names = ends.map(|end| network.name(end));
    let place = changing::set(&mut own, names, &keys, &courses)?;
    network.rate_places.push(place);
    network.links.push(own);
    network.links_from[ends[0].0 as usize].push((ends[1], Step { link, end: 0 }));
    network.links_from[ends[1].0 as usize].push((ends[0], Step { link, end: 1 }));
    Ok(())
}

/// The delay of a link, from its length or as it is written, and the fate of cells on the line where it changes.
fn delays(keys: &LinkTable, place: Place, end: Time) -> Result<Delays, Fault> {
    match (&keys.length, &keys.delay) {
        (Some(_), Some(delay)) => {
            Err(Fault::new(delay.place, "the link has both a length and a delay", "Write one of them"))
        }
        (Some(length), None) => Ok(vec![(Time::ZERO, (quantity::length_delay(length)?, InFlight::Kept))]),
        (None, Some(delay)) => courses::delay(delay, end),
        (None, None) => {
            Err(check::missing(place, "length", "here or in [defaults.link], such as \"1000 km\"; or delay"))
        }
    }
}

/// Gives each of several links between the same nodes what tells it from the others: its name, or its number in the
/// file from the second on. A link that is alone between its nodes needs none.
fn tell_apart(network: &mut Network) {
    let Network { nodes, links, links_from, links_by_name, .. } = network;
    for (from, own) in (0..).map(NodeIndex).zip(links_from) {
        // Once for each two nodes.
        let first = own.partition_point(|&(to, _)| to < from);
        for alike in own[first..].chunk_by(|(one, _), (next, _)| one == next) {
            for (&(to, Step { link, .. }), number) in alike.iter().zip(1..) {
                let label = &mut links[link.0 as usize].label;
                if alike.len() == 1 {
                    *label = None;
                    continue;
                }
                if label.is_none() && number > 1 {
                    *label = Some(format!("#{number}"));
                }
                let names = [from, to].map(|end| nodes[end.0 as usize].name.as_str());
                for [a, b] in [names, [names[1], names[0]]] {
                    links_by_name.insert(format!("{a}-{b}#{number}"), link);
                }
            }
        }
    }
}

fn switch_of(network: &Network, whole: &Whole) -> Option<NodeIndex> {
    whole.table.text("name").and_then(|name| network.named(name))
}

fn set_ports(network: &mut Network, whole: &Whole, ports: &mut Shared<Port>) -> Result<(), Fault> {
    let Some(switch) = switch_of(network, whole) else { return Ok(()) };
    let steps: Vec<(NodeIndex, Step)> = network.steps_from(switch).collect();
    let empty = Table::default();
    let overrides = whole.table.node("ports").and_then(tree::Node::table).unwrap_or(&empty);
    // What is written for a neighbour, and for one of several links to it.
    let mut towards: BTreeMap<NodeIndex, &tree::Node> = BTreeMap::new();
    let mut over: BTreeMap<LinkIndex, &tree::Node> = BTreeMap::new();
    for entry in &overrides.entries {
        let neighbour = network.named(&entry.key).filter(|&node| network.step(switch, node).is_some());
        let link = network.link_named(&entry.key);
        let link = link.filter(|link| network.links[link.0 as usize].ends.contains(&switch));
        if let Some(node) = neighbour {
            towards.insert(node, &entry.node);
        } else if let Some(link) = link {
            over.insert(link, &entry.node);
        } else {
            let neighbours = network.neighbours(switch);
            let message = format!("\"{}\" is not a neighbour of \"{}\"", entry.key, network.name(switch));
            return Err(Fault::new(
                entry.place,
                message,
                suggestion(&entry.key, "its neighbours are", &neighbours),
            ));
        }
    }
    // What all ports share that nothing of their own is written for, and the interval of its algorithm.
    let mut plain: Option<(Arc<Port>, Option<Interval>)> = None;
    for (to, step) in steps {
        let mut table = Cow::Borrowed(&whole.table);
        for own in [towards.get(&to), over.get(&step.link)].into_iter().flatten() {
            if let Some(keys) = own.table() {
                table = Cow::Owned(merged(&table, keys));
            }
            if let Some(shape) = port_shape() {
                let mut keys = table.clone().into_owned();
                keys.entries.retain(|entry| shape.key(&entry.key).is_some());
                check::keys(&keys, own.place, shape, Mode::COMPLETE)?;
            }
        }
        let cell_time = network.link(step).fastest_rate().cell_time();
        let known = plain.as_ref().filter(|_| matches!(table, Cow::Borrowed(_)));
        let interval = known.map_or_else(|| Interval::read(&table), |&(_, interval)| Ok(interval))?;
        if let Some(interval) = interval {
            interval.check(cell_time, || network.port_name(step.port()))?;
        }
        let port = match known {
            Some((port, _)) => Arc::clone(port),
            None => ports.get(&port::read(&table)?),
        };
        if let Cow::Borrowed(_) = table {
            plain = Some((Arc::clone(&port), interval));
        }
        network.links[step.link.0 as usize].ports[usize::from(step.end)] = port;
    }
    Ok(())
}

fn set_limits(network: &mut Network, whole: &Whole) -> Result<(), Fault> {
    let (Some(switch), Some(node)) = (switch_of(network, whole), whole.table.node("negotiation")) else {
        return Ok(());
    };
    let values = Written::of(node);
    let Negotiation { pcr, mcr, icr, tbe, rif, rdf, rules, nrm, trm, cdf, adtf, processing } =
        Negotiation::read(&values)?;
    let has = |name: &str| rules.iter().any(|rule| rule == name);
    let rules = Rules { rif: has("rif"), rdf: has("rdf"), tbe: has("tbe"), icr: has("icr") };
    let name = network.name(switch).to_string();
    let own = Limits { pcr, mcr, icr, tbe, rif, rdf, nrm, trm, cdf, adtf, ..Limits::default() };
    let limits = Limits { name, rules, processing, ..own };
    check::configuration(limits.check(), |name| values.node(name), node.place)?;
    network.limits.insert(switch, (limits, node.place));
    Ok(())
}

/// The shape of one port's overrides.
fn port_shape() -> Option<&'static Shape> {
    let Kind::Entries(switch) = ROOT.key("switch")?.kind else { return None };
    let Kind::Map(Kind::Table(shape)) = switch.key("ports")?.kind else { return None };
    Some(shape)
}

/// Round-trip time over the links of a path, queues left out.
pub(super) fn round_trip(network: &Network, path: &[Step]) -> Duration {
    path.iter()
        .fold(Duration::ZERO, |sum, step| sum.saturating_add(network.link(*step).longest_delay()))
        .saturating_mul(2)
}
