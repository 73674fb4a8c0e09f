//! Taps see the cells that leave, and change nothing by looking.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::random_world::random_scenario;
use crate::random_world::segments::segmented;
use cellrate_proto::wire::{AddressedRmCell, Cell, Encapsulation, Interface, PayloadType, Reassembler};
use cellrate_proto::{BitRate, Direction, Duration, RateCode, Time};
use cellrate_scenario::{
    Category, ConnectionIndex, Document, Every, FlowIndex, FlowQuantity, Probe, Quantity, Scenario, Step,
};
use cellrate_sim::tap::{self, Tap};
use cellrate_sim::{RunResult, Simulation, run};

/// A cell as the tap told it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    port: usize,
    at: Time,
    octets: [u8; 53],
    has_pdu: bool,
    lost: bool,
}

fn tapped(scenario: &Scenario, ports: Vec<Step>, until: Time) -> (RunResult, Vec<Seen>) {
    let mut seen = Vec::new();
    let mut sink = |cell: tap::TappedCell<'_>| {
        let tap::TappedCell { port, at, octets, has_pdu, lost } = cell;
        seen.push(Seen { port, at, octets: *octets, has_pdu, lost });
        ControlFlow::Continue(())
    };
    let tap = Tap { ports, until };
    let result = Simulation::of(scenario).run_tapped(&mut |_| ControlFlow::Continue(()), &tap, &mut sink);
    (result.expect("the run ends well"), seen)
}

fn parse(text: &str) -> Scenario {
    Document::parse(text, "tap.toml").expect("it is TOML").resolve().expect("it is sound")
}

/// Two hosts at one switch, with a bottleneck towards the second.
fn pair(keys: &str, vc: &str) -> Scenario {
    parse(&format!(
        r#"
name = "pair"
duration = "40 ms"
[defaults]
link = {{ rate = "155.52 Mbps", length = "100 km" }}
{keys}
[[host]]
name = "a"
[[host]]
name = "b"
[[switch]]
name = "sw"
[[link]]
between = ["a", "sw"]
[[link]]
between = ["sw", "b"]
rate = "25.6 Mbps"
[[vc]]
name = "vc1"
path = ["a", "sw", "b"]
{vc}
"#
    ))
}

#[test]
fn looking_changes_nothing_and_every_transmitted_cell_is_seen_in_order() {
    for number in 0..400 {
        let scenario = random_scenario(number);
        let scenario = if number < 300 { scenario } else { segmented(scenario, number) };
        let ports = tap::ports(&scenario);
        let (mut result, seen) = tapped(&scenario, ports.clone(), Time::NEVER);
        let plain = run(&scenario, &mut |_| ControlFlow::Continue(())).expect("the run ends well");
        result.summary.run.events = plain.summary.run.events;
        // As text, since what has no value is NaN, which equals nothing.
        assert!(format!("{result:?}") == format!("{plain:?}"), "network {number}");

        assert!(seen.is_sorted_by_key(|seen| (seen.at, seen.port)), "network {number}");
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for cell in &seen {
            *counts.entry(tap::name(&scenario, ports[cell.port])).or_default() += 1;
        }
        let ports = result.summary.ports.iter().filter(|port| port.transmitted > 0);
        let transmitted = ports.map(|port| (port.port.clone(), port.transmitted)).collect();
        assert_eq!(counts, transmitted, "network {number}");
    }
}

#[test]
fn ports_of_a_connection_for_packets_of_hosts_can_be_tapped() {
    let scenario = pair("", "category = \"ubr\"\npcr = \"10 Mbps\"\ntraffic = { type = \"none\" }");
    let names: Vec<String> = tap::ports(&scenario).iter().map(|&step| tap::name(&scenario, step)).collect();
    assert_eq!(names, ["a->sw", "sw->a", "sw->b", "b->sw"]);
    let (_, seen) = tapped(&scenario, tap::ports(&scenario), Time::NEVER);
    assert_eq!(seen, [], "simulated, it has nothing to send");
}

#[test]
fn a_cell_leaves_the_last_port_one_delay_before_it_arrives() {
    let mut scenario = pair("switch.algorithm = { type = \"erica\" }", "");
    let received = FlowQuantity::Received;
    let quantity = Quantity::Flow { quantity: received, flow: FlowIndex::of(ConnectionIndex(0), false) };
    scenario.probes = vec![Probe { quantity, every: Every::Change }];
    let ports = tap::ports_named(&scenario, &["sw->b".into()]).unwrap();
    let (result, seen) = tapped(&scenario, ports, Time::NEVER);
    let is_data = |seen: &&Seen| seen.octets[3] >> 1 & 0b100 == 0;
    // 100 km at 5 us each.
    let arrivals: Vec<u64> = seen
        .iter()
        .filter(is_data)
        .map(|seen| (seen.at + Duration::from_us(500)).as_ps())
        .filter(|&at| at < 40_000_000_000)
        .collect();
    assert!(arrivals.len() > 1000, "{}", arrivals.len());
    assert_eq!(result.series[0].times_ps[1..], arrivals, "the first value is that of the beginning");
}

#[test]
fn rm_cells_are_whole_on_the_wire_both_ways() {
    let scenario = pair("switch.algorithm = { type = \"erica\" }\nabr.mcr = \"1 Mbps\"", "");
    let ports = tap::ports(&scenario);
    let (result, seen) = tapped(&scenario, ports.clone(), Time::NEVER);
    let mcr = BitRate::from_bps(1_000_000).to_cell_rate();
    let (mut forward, mut backward) = (0, 0);
    for cell in &seen {
        let Ok(rm) = AddressedRmCell::parse(Interface::Uni, &cell.octets) else {
            assert!(!cell.has_pdu, "greedy sources have no PDUs");
            assert_eq!(cell.octets[5..], [0; 48]);
            continue;
        };
        assert_eq!((rm.path.vpi(), rm.vci), (0, 32));
        assert_eq!(rm.rm.minimum_cell_rate, RateCode::floor(mcr));
        // The end that only answers sends FRMs too, one for so many BRMs.
        match (rm.rm.direction, tap::name(&scenario, ports[cell.port]).as_str()) {
            (Direction::Forward, "a->sw" | "sw->b") => forward += 1,
            (Direction::Backward, "b->sw" | "sw->a") => backward += 1,
            _ => {}
        }
    }
    assert!(forward > 100 && backward > 100, "{forward} and {backward}");
    let sent = result.summary.vcs[0].forward_rm_sent;
    assert!(forward <= 2 * sent && forward + 100 > 2 * sent, "each at two ports");
}

#[test]
fn switches_mark_efci_and_the_mark_is_seen_behind_them_only() {
    let scenario = pair("switch.efci = { high = \"10 cells\" }\nabr.pcr = \"155.52 Mbps\"", "");
    let ports = tap::ports_named(&scenario, &["a->sw".into(), "sw->b".into()]).unwrap();
    let (_, seen) = tapped(&scenario, ports, Time::NEVER);
    let marked = |port: usize| {
        let is_marked = |seen: &&Seen| {
            let payload_type = Cell::parse(Interface::Uni, &seen.octets).unwrap().header.payload_type;
            seen.port == port && matches!(payload_type, PayloadType::User { efci: true, .. })
        };
        seen.iter().filter(is_marked).count()
    };
    assert_eq!(marked(0), 0);
    assert!(marked(1) > 100, "{}", marked(1));
}

/// The IP packets at each port, put together from the cells there, and how many PDUs were spoiled.
#[test]
fn policers_tag_and_the_tag_is_seen_behind_them_only() {
    let vc = r#"category = "ubr"
traffic = { type = "constant", rate = "10 Mbps" }
police = { definition = "ubr.2" }"#;
    let scenario = pair("", vc);
    let ports = tap::ports_named(&scenario, &["a->sw".into(), "sw->b".into()]).unwrap();
    let (_, seen) = tapped(&scenario, ports, Time::NEVER);
    let all = |port: usize, clp: bool| {
        let has = |seen: &Seen| Cell::parse(Interface::Uni, &seen.octets).unwrap().header.clp == clp;
        seen.iter().filter(|seen| seen.port == port).all(has)
    };
    assert!(seen.len() > 1000 && all(0, false) && all(1, true));
}

fn packets(seen: &[Seen]) -> BTreeMap<usize, (Vec<Vec<u8>>, u64)> {
    let mut reassemblers: BTreeMap<(usize, u16), Reassembler> = BTreeMap::new();
    let mut packets: BTreeMap<usize, (Vec<Vec<u8>>, u64)> = BTreeMap::new();
    for seen in seen {
        let cell = Cell::parse(Interface::Uni, &seen.octets).expect("the HEC is right");
        let PayloadType::User { user_bit, .. } = cell.header.payload_type else { continue };
        assert!(seen.has_pdu);
        let reassembler =
            reassemblers.entry((seen.port, cell.header.vci)).or_insert_with(|| Reassembler::new(9188));
        let (whole, spoiled) = packets.entry(seen.port).or_default();
        match reassembler.push(cell.payload, user_bit) {
            Ok(None) => {}
            Ok(Some(sdu)) => whole.push(Encapsulation::LlcSnapIpv4.strip(sdu.octets).unwrap().to_vec()),
            Err(_) => *spoiled += 1,
        }
    }
    packets
}

fn sequence(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[24..28].try_into().unwrap())
}

#[test]
fn tcp_cells_carry_the_packets_of_the_simulated_tcp() {
    carries_the_packets("switch.algorithm = { type = \"erica\" }");
    // Where a switch segments the loop, cells go on as they came.
    carries_the_packets("switch = { algorithm = { type = \"erica\" }, vs_vd = {} }");
}

fn carries_the_packets(switch: &str) {
    let tcp = "traffic = { type = \"tcp\", mss = \"512 octets\", transfer = \"50 kB\" }";
    let scenario = pair(switch, tcp);
    let names = ["a->sw", "sw->b", "b->sw", "sw->a"].map(String::from);
    let ports = tap::ports_named(&scenario, &names).unwrap();
    let (result, seen) = tapped(&scenario, ports, Time::NEVER);
    let packets = packets(&seen);
    assert!(packets.values().all(|(_, spoiled)| *spoiled == 0));
    let (data, acks) = (&packets[&0].0, &packets[&2].0);
    assert_eq!(data, &packets[&1].0, "a switch changes no packet");
    let total: usize = data.iter().map(|packet| packet.len() - 40).sum();
    assert_eq!(total as u64, result.summary.tcp[0].delivered_octets);
    assert_eq!((sequence(&data[0]), sequence(&data[1]), data[0].len()), (1, 513, 552));
    let acknowledged = u32::from_be_bytes(acks.last().unwrap()[28..32].try_into().unwrap());
    assert_eq!(u64::from(acknowledged) - 1, result.summary.tcp[0].delivered_octets);
    assert_eq!(data[0][12..20], [10, 0, 0, 1, 10, 0, 0, 2], "a is the first node, b the second");
    assert_eq!(acks[0][12..20], [10, 0, 0, 2, 10, 0, 0, 1]);
}

#[test]
fn pages_are_fetched_over_connections_whose_handshakes_can_be_seen() {
    let pages = r#"traffic = { type = "tcp", mss = "512 octets", pages = { objects = [
        { request = "100 octets", response = "3 kB" } ], count = 2, connection = "per-object" } }"#;
    let mut scenario = pair("switch.algorithm = { type = \"erica\" }", pages);
    scenario.duration = Duration::from_secs(2);
    let ports = tap::ports_named(&scenario, &["a->sw".into(), "b->sw".into()]).unwrap();
    let packets = packets(&tapped(&scenario, ports, Time::NEVER).1);
    let (asked, answered) = (&packets[&0].0, &packets[&1].0);
    let flags = |packet: &Vec<u8>| packet[33];
    let port = |packet: &Vec<u8>, at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let syns: Vec<u16> = asked.iter().filter(|p| flags(p) == 0x02).map(|p| port(p, 20)).collect();
    assert_eq!(syns, [49152, 49153], "a connection for each page, each from a port of its own");
    let answers: Vec<u16> = answered.iter().filter(|p| flags(p) == 0x12).map(|p| port(p, 22)).collect();
    assert_eq!(answers, syns);
    let octets = |packets: &[Vec<u8>]| -> usize {
        packets.iter().filter(|p| flags(p) == 0x10).map(|p| p.len() - 40).sum()
    };
    assert_eq!((octets(asked), octets(answered)), (200, 6000));
}

#[test]
fn as_many_connections_as_there_are_numbers_can_be_captured() {
    let tcp = r#"traffic = { type = "tcp", connections = 65535, mss = "512 octets" }"#;
    let mut scenario = pair("", tcp);
    scenario.duration = Duration::from_ms(5);
    let ports = tap::ports_named(&scenario, &["a->sw".into()]).unwrap();
    let packets = packets(&tapped(&scenario, ports, Time::NEVER).1);
    let senders = packets[&0].0.iter().map(|packet| u16::from_be_bytes([packet[20], packet[21]]));
    let different: BTreeSet<u16> = senders.collect();
    assert!(different.len() > 10, "{} ports", different.len());
}

#[test]
fn behind_a_loss_the_pdus_that_lost_cells_are_spoiled_and_the_others_are_still_right() {
    let tcp = "traffic = { type = \"tcp\", mss = \"512 octets\", window = \"64 kB\" }\ncategory = \"ubr\"\npcr = \"155.52 Mbps\"";
    let mut scenario = pair("switch.buffers.ubr = \"60 cells\"", tcp);
    scenario.duration = Duration::from_ms(400);
    assert_eq!(scenario.connections[0].category, Category::Ubr);
    let ports = tap::ports_named(&scenario, &["a->sw".into(), "sw->b".into()]).unwrap();
    let (result, seen) = tapped(&scenario, ports, Time::NEVER);
    let packets = packets(&seen);
    let ((sent, none), (left, spoiled)) = (&packets[&0], &packets[&1]);
    assert_eq!(*none, 0);
    assert!(*spoiled > 0 && result.summary.vcs[0].dropped > 0, "{spoiled}");
    assert!(!left.is_empty() && left.iter().all(|packet| sent.contains(packet)));
}

#[test]
fn what_the_line_loses_is_seen_and_said_to_be_lost() {
    let mut scenario = pair("", "");
    scenario.links[1].line.loss = 0.01;
    let ports = tap::ports_named(&scenario, &["sw->b".into()]).unwrap();
    let (result, seen) = tapped(&scenario, ports, Time::NEVER);
    let lost = seen.iter().filter(|seen| seen.lost).count() as u64;
    assert!(lost > 0);
    assert_eq!(lost, result.summary.vcs[0].dropped);
}

#[test]
fn the_end_of_the_span_is_not_part_of_it_and_a_sink_may_stop_the_run() {
    let scenario = pair("switch.algorithm = { type = \"erica\" }", "");
    let ports = tap::ports(&scenario);
    let (whole, all) = tapped(&scenario, ports.clone(), Time::NEVER);
    let until = all[1000].at;
    let (cut, early) = tapped(&scenario, ports.clone(), until);
    assert_eq!(early, all[..all.iter().position(|seen| seen.at >= until).unwrap()]);
    assert_eq!(cut, whole);

    let mut count = 0;
    let mut sink = |_: tap::TappedCell<'_>| {
        count += 1;
        if count == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let tap = Tap { ports, until: Time::NEVER };
    let stopped = Simulation::of(&scenario).run_tapped(&mut |_| ControlFlow::Continue(()), &tap, &mut sink);
    assert_eq!((stopped, count), (Err(cellrate_sim::RunError::Interrupted), 7));
}

#[test]
fn a_port_that_carries_nothing_is_refused_by_name() {
    let scenario = pair("", "");
    let error = tap::ports_named(&scenario, &["sw->b".into(), "b->c".into()]).unwrap_err();
    assert_eq!(error.to_string(), "no port b->c carries cells; there are a->sw, sw->a, sw->b, b->sw");
    let twice = tap::ports_named(&scenario, &["sw->b".into(), "sw->b".into()]).unwrap();
    assert_eq!(twice.len(), 1);
}
