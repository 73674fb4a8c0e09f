//! Connections: their paths, their senders, and what those have to send.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use cellrate_proto::misbehaviour::Misbehaviour;
use cellrate_proto::parameters::MAX_RM_CELL_RATE;
use cellrate_proto::scheduling::Weight;
use cellrate_proto::switch::StopAndGo;
use cellrate_proto::{AbrParameters, CellRate};

use super::group;
use super::network::{Network, round_trip};
use super::path::path;
use super::{
    Whole, channel, conditioning, congested, defaults, loopback, misbehaves, place_of, police, rounded,
    stop_and_go, traffic, tree as trees, uili, wholes,
};
use crate::model::{
    AbrSender, AdapterQueue, Category, Connection, ConnectionIndex, ConnectionQueue, Custom, Flow,
    FramesTraffic, MOST_PATHS, Sender, Shared, Step, Traffic, WaitingBrm,
};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::reading::{optional, word};
use crate::text::tree::{Node, Table, Value, merged};
use crate::text::written::Written;
use crate::traffic::Greedy;

/// Largest MCR outside of `abr` [cells/s]: that of a queue that weighs 1000.
const MOST_MINIMUM: f64 = 1e6;

/// Terms of a connection's set-up beside its parameters.
#[derive(Default)]
pub(super) struct Terms {
    /// MCRmin of an ABR connection.
    pub mcr_min: Option<CellRate>,
    /// SCR of a VBR connection.
    pub scr: Option<CellRate>,
    /// Where `abr.frtt` stands, if it was given.
    pub frtt: Option<Place>,
    /// Where one of the keys above that need admission stands.
    pub needs_admission: Option<(&'static str, Place)>,
    /// Keys that only some ports go by, and where they stand.
    pub port_keys: Vec<(&'static str, Place)>,
    /// Policers that it asks for.
    pub police: police::Asked,
}

pub(super) fn build(root: &Table, network: &Network) -> Result<(Vec<Connection>, Vec<Terms>), Fault> {
    let Some(shape) = group::shape_of("vc") else { return Ok(Default::default()) };
    let all = defaults(root, "vc").cloned().unwrap_or_default();
    let abr = defaults(root, "abr").cloned().unwrap_or_default();
    let wholes = wholes(root, "vc", shape, |own| Cow::Owned(base(&all, &abr, own)))?;
    let mut names = HashSet::with_capacity(wholes.len());
    let mut senders = Shared::default();
    let (mut list, mut all_terms) = (Vec::with_capacity(wholes.len()), Vec::new());
    let mut paths = 0;
    for whole in &wholes {
        let name = whole.table.text("name").unwrap_or_default();
        if !names.insert(name) {
            let place = place_of(&whole.table, "name", whole.place);
            return Err(Fault::new(
                place,
                format!("there is another vc \"{name}\""),
                "Give each a name of its own",
            ));
        }
        let (mut connection, branch_paths) = with_branch_paths(network, whole)?;
        paths += usize::from(connection.is_path());
        if paths > MOST_PATHS {
            let message =
                format!("the scenario has {paths} virtual paths, connections with channels, up to here");
            let place = place_of(&whole.table, "channels", whole.place);
            return Err(Fault::new(
                place,
                message,
                format!("Give channels to {MOST_PATHS} connections at most"),
            ));
        }
        all_terms.push(terms(&whole.table, &connection)?);
        share(&mut connection, &mut senders);
        let branches =
            trees::branches(network, &connection, ConnectionIndex(list.len() as u32), branch_paths);
        all_terms.extend(branches.iter().map(|_| Terms::default()));
        list.push(connection);
        list.extend(branches);
    }
    Ok((list, all_terms))
}

/// Has the connection share its ABR senders with those before it.
pub(super) fn share(connection: &mut Connection, senders: &mut Shared<AbrSender>) {
    for flow in [&mut connection.forward, &mut connection.backward] {
        if let Sender::Abr(sender) = &mut flow.sender {
            *sender = senders.get(sender);
        }
    }
}

fn terms(table: &Table, connection: &Connection) -> Result<Terms, Fault> {
    let mcr_min = optional(table, "mcr_min", quantity::cell_rate)?;
    let scr = optional(table, "scr", quantity::positive_cell_rate)?;
    for (key, of) in [("mcr_min", Category::Abr), ("scr", Category::Vbr)] {
        if let Some(node) = table.node(key).filter(|_| connection.category != of) {
            let message = format!("{key} does not belong to category \"{}\"", connection.category.word());
            let remedy = format!("Leave it out: it is for category \"{}\"", of.word());
            return Err(Fault::new(node.place, message, remedy));
        }
    }
    for flow in [&connection.forward, &connection.backward] {
        let (key, given, most, name) = match &flow.sender {
            Sender::Abr(sender) => ("mcr_min", mcr_min, sender.parameters.mcr, "MCR"),
            Sender::Peak(peak) => ("scr", scr, *peak, "PCR"),
        };
        if let (Some(given), Some(node)) = (given, table.node(key))
            && given > most
        {
            let message = format!("{key} is {} cells/s", rounded(given.as_cells_per_s()));
            let remedy =
                format!("It must be at most {name}, which is {} cells/s", rounded(most.as_cells_per_s()));
            return Err(Fault::new(node.place, message, remedy));
        }
    }
    let abr = |table: &Table| {
        table.node("abr").and_then(Node::table).and_then(|abr| abr.node("frtt")).map(|n| n.place)
    };
    let reverse = table.node("reverse").and_then(Node::table);
    let needs = ["mcr_min", "scr"].into_iter().find_map(|key| table.node(key).map(|node| (key, node.place)));
    Ok(Terms {
        mcr_min,
        scr,
        frtt: abr(table).or_else(|| reverse.and_then(abr)),
        needs_admission: needs,
        port_keys: ["queue_weight", "shaped_to"]
            .into_iter()
            .filter_map(|key| table.node(key).map(|node| (key, node.place)))
            .collect(),
        police: police::Asked::read(table, scr)?,
    })
}

/// Keys of a connection that its own entry leaves open: `defaults.abr`, then `defaults.vc`; no parameters of other
/// categories.
pub(super) fn base(all: &Table, abr: &Table, own: &Table) -> Table {
    let category =
        own.text("category").or(all.text("category")).and_then(Category::named).unwrap_or_default();
    if category != Category::Abr {
        let mut base = all.clone();
        base.remove("abr");
        for key in foreign(category) {
            base.remove(key);
        }
        if let Some(reverse) = base.node_mut("reverse").and_then(Node::table_mut) {
            reverse.remove("abr");
        }
        return base;
    }
    let mut below = Table::default();
    if !abr.entries.is_empty() {
        let place = abr.entries[0].place;
        below.set("abr", place, Node { place, value: Value::from(abr.clone()) });
    }
    let mut base = merged(&below, all);
    for key in ["pcr"].iter().chain(foreign(category)) {
        base.remove(key);
    }
    if own.node("channels").is_some() {
        base.remove("traffic");
    }
    base
}

/// A connection with one path.
pub(super) fn connection(network: &Network, whole: &Whole) -> Result<Connection, Fault> {
    with_branch_paths(network, whole).map(|(connection, _)| connection)
}

/// A connection, and the branch_paths of its branches.
fn with_branch_paths(
    network: &Network,
    whole: &Whole,
) -> Result<(Connection, Vec<trees::BranchPath>), Fault> {
    let table = &whole.table;
    let path = path(network, table, whole.place)?;
    let branch_paths = trees::branch_paths(network, table, &path)?;
    let farthest = trees::farthest(network, &path, &branch_paths);
    let rates = path
        .iter()
        .chain(branch_paths.iter().flat_map(|branch| &branch.steps))
        .map(|step| network.link(*step).fastest_rate().to_cell_rate());
    let narrowest = rates.fold(CellRate::new(f64::MAX), CellRate::min);
    let category = word(table, "category", Category::named);
    trees::check_ports(network, category, &path, &branch_paths)?;
    let reverse = table.node("reverse").and_then(Node::table);
    let empty = Table::default();
    let (forward_sender, backward_sender) = if category == Category::Abr {
        if let Some(pcr) = table.entry("pcr") {
            let remedy = "Write abr = { pcr = ... }";
            return Err(Fault::new(
                pcr.place,
                "the peak rate of an abr connection is a parameter of abr",
                remedy,
            ));
        }
        let forward = table.node("abr").and_then(Node::table).unwrap_or(&empty);
        let own = reverse.and_then(|reverse| reverse.node("abr")).and_then(Node::table).unwrap_or(&empty);
        let place = place_of(table, "abr", whole.place);
        let sender = |keys: &Table, stop_and_go: Option<String>| {
            abr_sender(keys, place, narrowest, network, &farthest, stop_and_go)
        };
        let [there, back] = [false, true].map(|backward| stop_and_go::port(network, &path, backward));
        if own.entries.is_empty() && there == back {
            let both = sender(forward, there)?;
            (both.clone(), both)
        } else {
            (sender(forward, there)?, sender(&merged(forward, own), back)?)
        }
    } else {
        let reverse_abr = reverse.and_then(|reverse| reverse.entry("abr"));
        if let Some(entry) = table.entry("abr").or(reverse_abr) {
            let message = format!("a {} connection has no ABR parameters", category.word());
            return Err(Fault::new(entry.place, message, "Leave them out, or write category = \"abr\""));
        }
        let peak = optional(table, "pcr", quantity::positive_cell_rate)?.unwrap_or(narrowest);
        (Sender::Peak(peak), Sender::Peak(peak))
    };
    let of_reverse = reverse.and_then(|reverse| reverse.node("misbehaves"));
    let (forward_sender, backward_sender) = (
        misbehaves::build(table.node("misbehaves"), forward_sender)?,
        misbehaves::build(of_reverse, backward_sender)?,
    );
    let peaks = [&forward_sender, &backward_sender].map(|sender| match sender {
        Sender::Abr(abr) => abr.parameters.pcr,
        Sender::Peak(peak) => *peak,
    });
    let traffic = match table.node("channels") {
        Some(node) => Some(channel::read(node, table, category, peaks[0])?),
        None => forward_traffic(table, category, whole.place, peaks[0])?,
    };
    let backward_traffic = backward_traffic(table, reverse, traffic.as_ref(), peaks[1])?;
    let mcr = minimum(table, category, whole.place, peaks[0])?;
    if category == Category::Gfr {
        check_frames(table, traffic.as_ref(), whole.place)?;
        let own = reverse.filter(|reverse| reverse.node("traffic").is_some()).unwrap_or(table);
        check_frames(own, backward_traffic.as_ref(), whole.place)?;
    }
    check_tcp(table, reverse, traffic.as_ref(), backward_traffic.as_ref())?;
    let frames_with = |has: fn(&FramesTraffic) -> bool| {
        let of = |traffic: &Option<Traffic>| matches!(traffic, Some(Traffic::Frames(frames)) if has(frames));
        of(&traffic) || of(&backward_traffic)
    };
    let without_acr = [
        ("ACR to follow", "follow_acr", frames_with(|frames| frames.follow_acr.is_some())),
        ("RM cells to send after frames", "frm_after", frames_with(|frames| frames.frm_at_frame_ends)),
    ];
    if category != Category::Abr
        && let Some((lacking, key, _)) = without_acr.into_iter().find(|(.., asked)| *asked)
    {
        let place = place_of(table, "traffic", whole.place);
        let message = format!("a {} connection has no {lacking}", category.word());
        return Err(Fault::new(place, message, format!("Leave {key} out, or write category = \"abr\"")));
    }
    let by_acr = |traffic: &Option<Traffic>| matches!(traffic, Some(Traffic::Tcp(tcp)) if matches!(tcp.adapter_queue, AdapterQueue::Window(_)));
    if category != Category::Abr && [&traffic, &backward_traffic].into_iter().any(by_acr) {
        let place = place_of(table, "traffic", whole.place);
        let category = category.word();
        let message =
            format!("adapter_queue with a window needs an abr connection: one of {category} has no ACR");
        let remedy = "Write another adapter_queue, or category = \"abr\"";
        return Err(Fault::new(place, message, remedy));
    }
    let loopbacks = loopback::build(network, table, &path, !branch_paths.is_empty())?;
    let mut connection = Connection {
        name: table.text("name").unwrap_or_default().to_string(),
        category,
        path,
        queue: ConnectionQueue {
            weight: optional(table, "queue_weight", quantity::ratio)?.map(Weight::nearest),
            shaped_to: optional(table, "shaped_to", quantity::positive_cell_rate)?,
            mcr,
            frame_discard: optional(table, "frame_discard", check::boolean)?,
        },
        forward: Flow { sender: forward_sender, traffic, conditioning: None },
        backward: Flow { sender: backward_sender, traffic: backward_traffic, conditioning: None },
        policing: Vec::new(),
        loopbacks,
        branch: None,
    };
    conditioning::build(&mut connection, table)?;
    Ok((connection, branch_paths))
}

/// Keys of a minimum rate and its frames that connections of this category do not have.
const fn foreign(category: Category) -> &'static [&'static str] {
    match category {
        Category::Gfr => &[],
        Category::Ubr => &["mbs", "mfs"],
        Category::Abr | Category::Cbr | Category::Vbr => &["mcr", "mbs", "mfs"],
    }
}

/// MCR of a connection that has one outside of `abr`.
fn minimum(table: &Table, category: Category, place: Place, pcr: CellRate) -> Result<CellRate, Fault> {
    if let Some(entry) = foreign(category).iter().find_map(|key| table.entry(key)) {
        let remedy = match (category, &*entry.key) {
            (Category::Abr, "mcr") => "Write abr = { mcr = ... }",
            (_, "mcr") => "Leave it out: it is for category \"gfr\" or \"ubr\"",
            _ => "Leave it out: it is for category \"gfr\"",
        };
        let message = format!("{} does not belong to category \"{}\"", entry.key, category.word());
        return Err(Fault::new(entry.place, message, remedy));
    }
    let Some(node) = table.node("mcr") else {
        return match category {
            Category::Gfr => {
                Err(check::missing(place, "mcr", "the minimum cell rate that a gfr connection is guaranteed"))
            }
            _ => Ok(CellRate::ZERO),
        };
    };
    let mcr = quantity::positive_cell_rate(node)?;
    let most = pcr.min(CellRate::new(MOST_MINIMUM));
    if mcr > most {
        let message = format!("mcr is {} cells/s", rounded(mcr.as_cells_per_s()));
        let most = rounded(most.as_cells_per_s());
        let remedy = format!("It must be at most PCR and {MOST_MINIMUM} cells/s, here {most} cells/s");
        return Err(Fault::new(node.place, message, remedy));
    }
    Ok(mcr)
}

/// Refuses traffic of GFR that is not in AAL5 frames.
fn check_frames(table: &Table, traffic: Option<&Traffic>, place: Place) -> Result<(), Fault> {
    if matches!(traffic, None | Some(Traffic::Tcp(_) | Traffic::Frames(_) | Traffic::Mpeg2(_))) {
        return Ok(());
    }
    let node = table.node("traffic");
    let kind = node.and_then(Node::table).and_then(|traffic| traffic.text("type")).unwrap_or_default();
    let message = format!("gfr needs traffic in AAL5 frames, and that of type \"{kind}\" is in single cells");
    let place = node.map_or(place, |node| node.place);
    Err(Fault::new(place, message, "Write type = \"tcp\", \"frames\" or \"mpeg2\", or category = \"ubr\""))
}

/// Checks that the connection suits the TCP of its two directions, if there is any.
fn check_tcp(
    table: &Table,
    reverse: Option<&Table>,
    forward: Option<&Traffic>,
    backward: Option<&Traffic>,
) -> Result<(), Fault> {
    let place = |key: &str, traffic: Option<&Node>| {
        let node = traffic.and_then(|node| node.table()?.node(key).or(Some(node)));
        node.map_or_else(Place::default, |node| node.place)
    };
    let own = table.node("traffic");
    let written_back = reverse.and_then(|reverse| reverse.node("traffic"));
    let back = written_back.or(own);
    let tcp = |traffic: Option<&Traffic>| matches!(traffic, Some(Traffic::Tcp(_)));
    if tcp(forward) && backward.is_some() && !tcp(backward)
        || tcp(backward) && forward.is_some() && !tcp(forward)
    {
        let message = "one direction has TCP, and the other, which carries its ACKs, traffic of another type";
        return Err(Fault::new(place("type", back), message, "Write traffic of type \"tcp\", or another vc"));
    }
    if let Some(Traffic::Tcp(tcp)) = backward
        && tcp.pages.is_some()
    {
        let remedy = match written_back {
            Some(_) => "Turn the path around and write them into the traffic of the connection",
            None => "Leave bidirectional out: the responses go back by themselves",
        };
        return Err(Fault::new(place("pages", back), "pages are fetched from the first host", remedy));
    }
    let pages = |traffic: Option<&Traffic>| matches!(traffic, Some(Traffic::Tcp(tcp)) if tcp.pages.is_some());
    for (traffic, node) in [(forward, own), (backward, back)] {
        if let Some(Traffic::Tcp(tcp)) = traffic
            && tcp.connections == 0
            && !pages(forward)
        {
            let message = "connections is 0, and there are no pages either";
            return Err(Fault::new(place("connections", node), message, "Write connections = 1, or pages"));
        }
    }
    if let (Some(Traffic::Tcp(one)), Some(Traffic::Tcp(other))) = (forward, backward)
        && let Some(clients) = one.pages.as_ref().map(|pages| pages.clients)
        && other.connections.checked_add(clients).is_none()
    {
        // Responses go back beside the transfers of that direction.
        let message = format!(
            "{} connections of the reverse traffic and {clients} clients are more than 65535 together",
            other.connections
        );
        let remedy = "Write fewer, and give the others to another vc";
        return Err(Fault::new(place("connections", back), message, remedy));
    }
    if let (Some(Traffic::Tcp(one)), Some(Traffic::Tcp(other))) = (forward, backward)
        && (one.encapsulation, one.tcp.header, one.adapter_queue)
            != (other.encapsulation, other.tcp.header, other.adapter_queue)
    {
        let message = "the two directions have TCP with different encapsulation, header or adapter_queue";
        let remedy = "Write the same for both: they share the VC and its adapters";
        return Err(Fault::new(place("encapsulation", back), message, remedy));
    }
    Ok(())
}

fn forward_traffic(
    table: &Table,
    category: Category,
    place: Place,
    peak: CellRate,
) -> Result<Option<Traffic>, Fault> {
    match table.node("traffic") {
        Some(node) => traffic::read(node, peak),
        None if category == Category::Abr => Ok(Some(Traffic::Greedy(Greedy::default()))),
        None => Err(check::missing(
            place,
            "traffic",
            "what it has to send, such as { type = \"constant\", rate = \"10 Mbps\" }",
        )),
    }
}

fn backward_traffic(
    table: &Table,
    reverse: Option<&Table>,
    forward: Option<&Traffic>,
    peak: CellRate,
) -> Result<Option<Traffic>, Fault> {
    let both = optional(table, "bidirectional", check::boolean)?.unwrap_or(false);
    let own = reverse.and_then(|reverse| reverse.node("traffic"));
    if let Some(Traffic::RequestResponse(_)) = forward {
        return match own.or_else(|| table.node("bidirectional").filter(|_| both)) {
            Some(node) => {
                let message =
                    "the traffic is request-response, and the reverse direction carries its responses";
                Err(Fault::new(node.place, message, "Leave reverse.traffic and bidirectional out"))
            }
            None => Ok(None),
        };
    }
    match (both, own) {
        (true, Some(node)) => {
            let message = "the connection is bidirectional and has reverse.traffic of its own";
            Err(Fault::new(node.place, message, "Write one of them"))
        }
        (true, None) => Ok(forward.cloned()),
        (false, Some(node)) => match traffic::read(node, peak)? {
            Some(Traffic::RequestResponse(_)) => {
                let remedy = "Turn the path around and write it as the traffic of the connection";
                Err(Fault::new(node.place, "request-response traffic begins at the first host", remedy))
            }
            other => Ok(other),
        },
        (false, None) => Ok(None),
    }
}

/// Refuses RM values in data cells, of which a live run's cells have no room for both.
pub(super) fn refuse_in_band(root: &Table) -> Result<(), Fault> {
    let table = |of: &Table, key: &str| of.node(key).and_then(Node::table).cloned();
    let entries = root.tables("vc").map(|(_, entry)| entry).chain(defaults(root, "vc")).cloned();
    let both = entries.flat_map(|entry| [table(&entry, "reverse"), Some(entry)]).flatten();
    let mut all = both.filter_map(|way| table(&way, "abr")).chain(defaults(root, "abr").cloned());
    let in_band = |abr: Table| abr.node("rm").filter(|node| node.text() == Some("in-band")).cloned();
    let Some(node) = all.find_map(in_band) else { return Ok(()) };
    let message = "rm \"in-band\" needs a simulation: a cell of 53 octets has no room for data and RM values";
    Err(Fault::new(node.place, message, "Write rm = \"own-cells\", or simulate the scenario"))
}

fn abr_sender(
    keys: &Table,
    place: Place,
    narrowest: CellRate,
    network: &Network,
    path: &[Step],
    stop_and_go: Option<String>,
) -> Result<Sender, Fault> {
    let is_given = |key: &str| keys.node(key).is_some();
    let narrowest = narrowest.min(CellRate::new(MAX_RM_CELL_RATE));
    let mut parameters = AbrParameters::read(&Written::new(keys, place), narrowest)?;
    if !is_given("frtt") {
        parameters.frtt = round_trip(network, path);
    }
    if let Some(port) = stop_and_go {
        StopAndGo::fix(&mut parameters, is_given);
        if !is_given("icr") {
            parameters.icr = StopAndGo::initial_rate(&parameters);
        }
        stop_and_go::check(&parameters, keys, place, &port)?;
    }
    check_parameters(&parameters, keys, place)?;
    Ok(Sender::Abr(Arc::new(AbrSender {
        parameters: Arc::new(parameters),
        weight: optional(keys, "weight", quantity::ratio)?.unwrap_or(1.0),
        uili: optional(keys, "uili", uili::read)?.unwrap_or_default(),
        custom_uili: keys.node("uili").and_then(Node::table).map(Custom::read).transpose()?.flatten(),
        mbs: optional(keys, "mbs", |node| check::integer(node, 1, u32::MAX.into()))?.unwrap_or(1) as u32,
        misbehaviour: Misbehaviour::default(),
        clear_efci_state: keys.text("efci_state") != Some("keep"),
        waiting_brm: word(keys, "waiting_brm", WaitingBrm::named),
        congested: optional(keys, "congested", congested::read)?.unwrap_or_default(),
    })))
}

/// The core's own check, with the place of the key it complains of; a derived value points at what it is derived from.
fn check_parameters(parameters: &AbrParameters, keys: &Table, place: Place) -> Result<(), Fault> {
    let Err(error) = parameters.check() else { return Ok(()) };
    let given = keys.node(error.name);
    // MCR above PCR and ICR below MCR can both be the fault of a key that was given where this one was not.
    let stands_in = match error.name {
        "mcr" | "icr" => given.or_else(|| keys.node("pcr")).or_else(|| keys.node("mcr")),
        _ => given,
    };
    // What was written in another unit than the core's stands beside the core's figure.
    let as_written = given.and_then(Node::text);
    let as_given =
        as_written.map_or(String::new(), |text| format!(" (given as {})", quantity::shortened(text)));
    let derived = if given.is_none() { " by default" } else { "" };
    let space = if error.unit.is_empty() { "" } else { " " };
    let value = format!("{}{space}{}", rounded(error.value), error.unit);
    let message = format!("{} is {value}{as_given}{derived}", error.name);
    let bits =
        |rate: CellRate| format!("{} cells/s ({})", rounded(rate.as_cells_per_s()), rate.to_bit_rate());
    let mut remedy = format!("It must be {}", error.allowed);
    if matches!(error.name, "mcr" | "icr") {
        remedy = format!("{remedy}; MCR is {}, PCR is {}", bits(parameters.mcr), bits(parameters.pcr));
    }
    if error.name == "frtt" && given.is_none() {
        remedy =
            format!("{remedy}: give frtt, or shorten the path's links, whose delays it is twice the sum of");
    }
    Err(Fault::new(stands_in.map_or(place, |node| node.place), message, remedy))
}
