//! Programs on hosts.

use std::collections::BTreeSet;

use cellrate_proto::{BitRate, Duration, Octets, Time};

use super::group;
use super::host::whole_ms;
use super::network::Network;
use super::{Whole, place_of, wholes};
use crate::model::{
    Application, ApplicationKind, Command, Connection, Iperf3, LiveVideo, NodeIndex, Ready, Voice, Web,
};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::reading::{instant, optional};
use crate::text::tree::{Node, Table};

pub(super) fn build(
    root: &Table,
    network: &Network,
    connections: &[Connection],
    duration: Duration,
) -> Result<Vec<Application>, Fault> {
    let Some(shape) = group::shape_of("application") else { return Ok(Vec::new()) };
    let mut names = BTreeSet::new();
    let mut list = Vec::new();
    for whole in wholes(root, "application", shape, |_| Table::default())? {
        let application = application(&whole, network, connections, duration)?;
        if !names.insert(application.name.clone()) {
            let message = format!("there is another application \"{}\"", application.name);
            let place = place_of(&whole.table, "name", whole.place);
            return Err(Fault::new(place, message, "Give each a name of its own"));
        }
        list.push(application);
    }
    Ok(list)
}

/// The refusal of what only a live run has, at its place.
pub(super) fn refuse(root: &Table) -> Result<(), Fault> {
    match root.tables("application").next() {
        None => Ok(()),
        Some((node, table)) => {
            let name = table.text("name").unwrap_or_default();
            let message = format!("the application \"{name}\" needs a live run: it is a real program");
            let remedy =
                "Use `cellrate live run`, or leave applications out and give the connections traffic";
            Err(Fault::new(place_of(table, "name", node.place), message, remedy))
        }
    }
}

fn application(
    whole: &Whole,
    network: &Network,
    connections: &[Connection],
    duration: Duration,
) -> Result<Application, Fault> {
    let table = &whole.table;
    let name = table.text("name").unwrap_or_default().to_string();
    let due = |key: &'static str, about: &'static str| check::missing(whole.place, key, about);
    let kind_node = table.node("kind").ok_or_else(|| due("kind", "what runs"))?;
    let host_node = table.node("host").ok_or_else(|| due("host", "where data comes from"))?;
    let kind = kind(kind_node)?;
    let host = host(host_node, network)?;
    let peer = optional(table, "peer", |node| self::host(node, network))?;
    match (table.node("peer"), peer) {
        (Some(node), Some(peer)) => reachable(node, network, connections, host, peer)?,
        (_, None) if matches!(kind, ApplicationKind::Command(_)) => {}
        _ => return Err(due("peer", "the host that data goes to")),
    }
    let (start, end) = span(table, duration)?;
    Ok(Application { name, kind, host, peer, start, end })
}

fn host(node: &Node, network: &Network) -> Result<NodeIndex, Fault> {
    let index = network.node(node)?;
    if network.is_host(index) {
        return Ok(index);
    }
    let message = format!("\"{}\" is a switch", network.name(index));
    Err(Fault::new(node.place, message, "Applications run on hosts"))
}

/// There is a connection between the two that leaves room for their packets.
fn reachable(
    node: &Node,
    network: &Network,
    connections: &[Connection],
    host: NodeIndex,
    peer: NodeIndex,
) -> Result<(), Fault> {
    let joins = |connection: &Connection| {
        let (Some(first), Some(last)) = (connection.path.first(), connection.path.last()) else {
            return false;
        };
        let ends = [network.tail(*first), network.head(*last)];
        ends == [host, peer] || ends == [peer, host]
    };
    let (host, peer) = (network.name(host), network.name(peer));
    let between = connections.iter().filter(|connection| joins(connection));
    let remedy = "Packets go over a vc with traffic = { type = \"none\" }, both ways";
    match (between.clone().next(), between.clone().find(|connection| connection.carries_packets())) {
        (_, Some(_)) => Ok(()),
        (None, None) => {
            let message = format!("there is no vc between \"{host}\" and \"{peer}\"");
            Err(Fault::new(node.place, message, format!("Add one. {remedy}")))
        }
        (Some(first), None) => {
            let message =
                format!("the vc \"{}\" between \"{host}\" and \"{peer}\" has traffic of its own", first.name);
            Err(Fault::new(node.place, message, remedy))
        }
    }
}

fn span(table: &Table, duration: Duration) -> Result<(Time, Time), Fault> {
    let last = Time::ZERO.saturating_add(duration);
    let start = optional(table, "start", instant)?.unwrap_or(Time::ZERO);
    let end = optional(table, "end", instant)?.unwrap_or(last);
    if let Some(node) = table.node("start").filter(|_| start >= last) {
        let message = format!("the start, {start}, is not before the end of the run, {last}");
        return Err(Fault::new(node.place, message, "Write an earlier start, or a longer duration"));
    }
    match table.node("end") {
        Some(node) if end <= start => {
            let message = format!("the end, {end}, is not after the start, {start}");
            Err(Fault::new(node.place, message, "Write a later end"))
        }
        _ => Ok((start, end.min(last))),
    }
}

fn kind(node: &Node) -> Result<ApplicationKind, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let octets = |key: &str, default: u64| {
        optional(table, key, some_octets).map(|given| given.unwrap_or(Octets(default)))
    };
    let count = |key: &str, low: i64, high: i64, default: u32| {
        let given = optional(table, key, |node| check::integer(node, low, high))?;
        Ok::<u32, Fault>(given.map_or(default, |count| count as u32))
    };
    let time = |key: &str, default: u64| {
        optional(table, key, quantity::time).map(|given| given.unwrap_or(Duration::from_ms(default)))
    };
    Ok(match node.text().or(table.text("type")).unwrap_or_default() {
        "ftp" => ApplicationKind::Ftp { size: optional(table, "size", size)?.flatten() },
        "web" => ApplicationKind::Web(Web {
            pages: count("pages", 1, 100_000, 30)?,
            html: octets("html", 600)?,
            image: octets("image", 300_000)?,
            gap: time("gap", 1000)?,
        }),
        "video" => ApplicationKind::Video(Box::new(video(table)?)),
        "voice" => ApplicationKind::Voice(Voice {
            packet: optional(table, "packet", packet)?.unwrap_or(Duration::from_ms(20)),
            redundancy: count("redundancy", 0, 4, 0)?,
            playout_delay: time("playout_delay", 100)?,
        }),
        "iperf3" => iperf3(table)?,
        _ => ApplicationKind::Command(command(table, node.place)?),
    })
}

fn video(table: &Table) -> Result<LiveVideo, Fault> {
    let frame_rate = optional(table, "frame_rate", quantity::ratio)?.unwrap_or(24.0);
    let rate = optional(table, "rate", quantity::line_rate)?.unwrap_or(BitRate::from_bps(8_500_000));
    // The smallest JPEG of a recognisable picture; the largest that a frame can be with 24 bits of offset (RFC 2435).
    let frame_octets = rate.as_bps() as f64 / 8.0 / frame_rate;
    if !(2_000.0..=4_000_000.0).contains(&frame_octets) {
        let place = place_of(table, "rate", Place::default());
        let message = format!("frames have {frame_octets:.0} octets at this rate and frame_rate");
        return Err(Fault::new(place, message, "Let them have from 2000 to 4000000"));
    }
    let follow = optional(table, "follow_acr", check::boolean)?.unwrap_or(false);
    let share = optional(table, "acr_share", quantity::ratio)?;
    if let (Some(node), false) = (table.node("acr_share"), follow) {
        return Err(Fault::new(node.place, "acr_share needs follow_acr = true", "Write both, or neither"));
    }
    Ok(LiveVideo {
        rate,
        frame_rate,
        send_every: optional(table, "send_every", |node| check::integer(node, 1, 120))?.unwrap_or(1) as u32,
        follow_acr: follow.then(|| share.unwrap_or(0.9)),
        buffer: optional(table, "buffer", some_octets)?.unwrap_or(Octets(1_000_000)),
        prebuffer: optional(table, "prebuffer", quantity::time)?.unwrap_or(Duration::from_ms(500)),
        wait: table.text("late") != Some("skip"),
    })
}

fn iperf3(table: &Table) -> Result<ApplicationKind, Fault> {
    let udp = table.text("protocol") == Some("udp");
    let rate = optional(table, "rate", |node| {
        if node.text() == Some("unlimited") { Ok(None) } else { quantity::line_rate(node).map(Some) }
    })?;
    if let (Some(node), Some(None), true) = (table.node("rate"), rate, udp) {
        let remedy = "Write a rate: a datagram that does not fit is lost on the sending host";
        return Err(Fault::new(node.place, "udp has no rate of its own", remedy));
    }
    let streams = optional(table, "streams", |node| check::integer(node, 1, 128))?.unwrap_or(1);
    let length = optional(table, "length", some_octets)?;
    if let (Some(node), Some(length)) = (table.node("length"), length)
        && !(16..=if udp { 65_507 } else { 1 << 20 }).contains(&length.0)
    {
        let most = if udp { "65507" } else { "1048576" };
        let message = format!("the length is {length}");
        return Err(Fault::new(node.place, message, format!("It must be from 16 to {most} octets")));
    }
    let default = if udp { Some(BitRate::from_bps(1_000_000)) } else { None };
    Ok(ApplicationKind::Iperf3(Iperf3 {
        udp,
        rate: rate.unwrap_or(default),
        streams: streams as u32,
        length,
    }))
}

fn command(table: &Table, place: Place) -> Result<Command, Fault> {
    let Some(words) = table.node("words") else {
        return Err(check::missing(place, "words", "the program and its arguments"));
    };
    let words: Result<Vec<String>, Fault> =
        check::list(words)?.iter().map(|node| check::text(node).map(str::to_string)).collect();
    Ok(Command {
        words: words?,
        background: optional(table, "background", check::boolean)?.unwrap_or(false),
        ready: optional(table, "ready", ready)?,
        ready_within: optional(table, "ready_within", quantity::span)?.unwrap_or(Duration::from_secs(10)),
    })
}

fn ready(node: &Node) -> Result<Ready, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let text = |key: &str| optional(table, key, |node| check::text(node).map(str::to_string));
    let port = optional(table, "port", |node| check::integer(node, 1, 65_535))?;
    match (port, text("pattern")?, text("file")?) {
        (Some(port), None, None) => Ok(Ready::Port(port as u16)),
        (None, Some(pattern), None) => Ok(Ready::Pattern(pattern)),
        (None, None, Some(file)) => Ok(Ready::File(file)),
        _ => {
            let message = "ready takes one key, and has none or several";
            Err(Fault::new(node.place, message, "Write one of port, pattern and file"))
        }
    }
}

fn size(node: &Node) -> Result<Option<Octets>, Fault> {
    if node.text() == Some("infinite") { Ok(None) } else { some_octets(node).map(Some) }
}

fn some_octets(node: &Node) -> Result<Octets, Fault> {
    match quantity::octets(node)? {
        Octets(0) => Err(Fault::new(node.place, format!("{} is nothing", node.plain()), "Write more than 0")),
        octets => Ok(octets),
    }
}

fn packet(node: &Node) -> Result<Duration, Fault> {
    let packet = whole_ms(node)?;
    if packet < Duration::from_ms(10) || packet > Duration::from_ms(200) {
        let message = format!("{} of voice are out of range", node.plain());
        return Err(Fault::new(node.place, message, "It must be from 10 to 200 ms"));
    }
    Ok(packet)
}
