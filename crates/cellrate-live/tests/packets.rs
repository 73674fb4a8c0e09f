//! IP packets from device to device: through adapters, AAL5, ports and lines, with every packet accounted for.

mod common;

use std::net::Ipv4Addr;

use cellrate_live::engine::{
    CellTap, Error, Faults, Host, Options, Outcome, PacketDevice, PairedDevice, ScriptedDevice, TapDirection,
    results::AdapterRow, routes, run,
};
use cellrate_proto::wire::{AddressedRmCell, Cell, Interface, PayloadType};
use cellrate_proto::{Cells, Time};
use cellrate_scenario::{NodeIndex, PortIndex, Scenario};
use common::parse;
use proptest::prelude::*;

const MTU: usize = 1500;

fn address(host: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, host + 1)
}

/// Two hosts, two switches and one ABR connection; hosts are nodes 0 and 1.
fn two_hosts(duration: &str, link: &str) -> Scenario {
    parse(&text(duration, link), "two-hosts")
}

fn text(duration: &str, link: &str) -> String {
    format!(
        r#"
name = "two-hosts"
duration = "{duration}"

[defaults.link]
rate = "10 Mbps"
delay = "1 ms"
{link}

[defaults.abr]
icr = "8 Mbps"

[defaults.switch]
algorithm = {{ type = "erica", target_utilization = "90 %", interval = "5 ms" }}

[[host]]
name = "h{{i}}"
count = 2

[[switch]]
name = "sw{{i}}"
count = 2

[[link]]
between = ["h1", "sw1"]

[[link]]
between = ["sw1", "sw2"]

[[link]]
between = ["sw2", "h2"]

[[vc]]
name = "vc"
path = ["h1", "sw1", "sw2", "h2"]
"#
    )
}

/// An IPv4 packet of `length` octets, at least 20, that says its number.
fn packet(number: u32, destination: Ipv4Addr, length: usize) -> Vec<u8> {
    let mut packet = vec![0; length];
    packet[0] = 0x45;
    packet[4..8].copy_from_slice(&number.to_be_bytes());
    packet[16..20].copy_from_slice(&destination.octets());
    packet
}

fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[4..8].try_into().unwrap())
}

fn options<'a>(scenario: &Scenario, devices: [Box<dyn PacketDevice>; 2]) -> Options<'a> {
    let addresses = [0, 1].map(|host| (NodeIndex(host), address(host as u8)));
    let hosts = (0..).zip(devices).map(|(node, device)| Host { node: NodeIndex(node), device, mtu: MTU });
    Options { hosts: hosts.collect(), routes: routes(scenario, &addresses, |_| true), ..Options::default() }
}

/// Runs with `packets` in the first host from the start; what the second one got, and the outcome.
fn transfer(scenario: &Scenario, packets: Vec<Vec<u8>>, faults: Faults) -> (Vec<Vec<u8>>, Outcome) {
    let (near, mut far) = PairedDevice::pair().unwrap();
    let sender = ScriptedDevice::new(packets).unwrap();
    let options = Options { faults, ..options(scenario, [Box::new(sender), Box::new(near)]) };
    let outcome = run(scenario, options).unwrap_or_else(|error| panic!("{error}"));
    let mut received = Vec::new();
    let mut buffer = [0; 2 * MTU];
    while let Some(length) = far.receive(&mut buffer).unwrap() {
        received.push(buffer[..length].to_vec());
    }
    (received, outcome)
}

fn forward(outcome: &Outcome) -> &AdapterRow {
    outcome.summary.adapters.iter().find(|row| row.vc == "vc").unwrap()
}

#[test]
fn packets_arrive_whole_and_in_order_and_others_are_counted() {
    let scenario = two_hosts("300 ms", "");
    let mut packets: Vec<Vec<u8>> = (0..60).map(|n| packet(n, address(1), 20 + 20 * n as usize)).collect();
    packets.insert(7, packet(1000, Ipv4Addr::new(192, 0, 2, 1), 100));
    packets.insert(9, vec![0x60; 48]);
    let (received, outcome) = transfer(&scenario, packets.clone(), Faults::default());
    let expected: Vec<Vec<u8>> = packets.into_iter().filter(|p| p[0] == 0x45 && number(p) < 1000).collect();
    assert_eq!(received, expected);
    let row = forward(&outcome);
    assert_eq!((row.packets_offered, row.packets_dropped), (Some(60), Some(0)));
    assert_eq!((row.packets_delivered, row.spoiled_pdus), (Some(60), Some(0)));
    let host = &outcome.summary.hosts[0];
    assert_eq!((host.packets, host.without_vc), (62, 2));
}

#[test]
fn a_full_adapter_drops_whole_packets() {
    let scenario = two_hosts("300 ms", "");
    let packets: Vec<Vec<u8>> = (0..100).map(|n| packet(n, address(1), 1500)).collect();
    let (near, _far) = PairedDevice::pair().unwrap();
    let sender = ScriptedDevice::new(packets).unwrap();
    let mut options = options(&scenario, [Box::new(sender), Box::new(near)]);
    options.adapter_queue = Some(Cells(10 * 32 + 31));
    let outcome = run(&scenario, options).unwrap();
    let row = forward(&outcome);
    assert_eq!(row.packets_offered, Some(100));
    let [dropped, sent] = [row.packets_dropped, row.packets_sent].map(Option::unwrap);
    // The first 64 come in one wake-up; ten of them fit.
    assert!((54..=90).contains(&dropped), "{dropped}");
    assert_eq!(sent + dropped, 100);
    let most = row.max_queue_cells.unwrap();
    assert!((320..=351).contains(&most), "{most}");
}

/// Packets of 32 cells each over UBR, which come twice as fast as they go on, with these lines in the switches.
fn overload(switch: &str) -> (Vec<Vec<u8>>, Outcome) {
    let text = text("500 ms", "")
        .replace("[defaults.switch]", &format!("[defaults.switch]\nbuffers.ubr = \"100 cells\"\n{switch}"))
        .replace("\"sw1\", \"sw2\"]\n", "\"sw1\", \"sw2\"]\nrate = \"5 Mbps\"\n")
        .replace(
            "name = \"vc\"",
            "name = \"vc\"\ncategory = \"ubr\"\npcr = \"10 Mbps\"\ntraffic = { type = \"none\" }",
        );
    transfer(
        &parse(&text, "overload"),
        (0..100).map(|n| packet(n, address(1), 1500)).collect(),
        Faults::default(),
    )
}

#[test]
fn early_discard_loses_whole_packets_where_full_buffers_spoil_nearly_all_of_them() {
    let (received, outcome) = overload("");
    let port = |outcome: &Outcome| {
        outcome.summary.ports.iter().find(|row| row.common.port == "sw1->sw2").unwrap().common.clone()
    };
    assert!(received.len() < 12, "{}", received.len());
    assert_eq!((port(&outcome).pdus_refused, port(&outcome).pdus_cut), (0, 0));
    let (received, outcome) = overload("frame_discard = { type = \"early\", threshold = \"60 cells\" }");
    let (row, port) = (forward(&outcome), port(&outcome));
    assert_eq!((row.spoiled_pdus, port.pdus_cut), (Some(0), 0));
    // 60 cells, and half of a packet that comes twice as fast as it goes on.
    assert!((61..=77).contains(&port.max_queue), "{port:?}");
    assert_eq!(received.len() as u64 + port.pdus_refused, 100);
    assert_eq!(port.dropped, 32 * port.pdus_refused);
    assert!((45..=60).contains(&received.len()), "{}", received.len());
}

#[test]
fn a_route_over_a_connection_without_device_is_refused() {
    let scenario = two_hosts("300 ms", "");
    let device = || Box::new(ScriptedDevice::new([]).unwrap()) as Box<dyn PacketDevice>;
    let mut options = options(&scenario, [device(), device()]);
    options.hosts.pop();
    let error = run(&scenario, options).unwrap_err();
    assert!(matches!(&error, Error::NoDevice { vc, host } if vc == "vc" && host == "h2"), "{error}");
}

/// Checks what it sees.
#[derive(Default)]
struct Checker {
    last: Time,
    seen: [u64; 2],
    rm: u64,
}

struct Watching<'a>(&'a mut Checker);

impl CellTap for Watching<'_> {
    fn cell(&mut self, at: Time, interface: PortIndex, direction: TapDirection, cell: &[u8; 53]) {
        assert!(at >= self.0.last && interface.index() < 6);
        self.0.last = at;
        self.0.seen[usize::from(direction == TapDirection::Received)] += 1;
        let read = Cell::parse(Interface::Uni, cell).expect("the HEC fits");
        assert_eq!(read.header.vci, 32);
        if read.header.payload_type == PayloadType::ResourceManagement {
            AddressedRmCell::from_cell(&read).expect("the CRC-10 fits");
            self.0.rm += 1;
        }
    }
}

#[test]
fn a_tap_sees_every_cell_with_its_checksums() {
    let scenario = two_hosts("200 ms", "");
    let mut checker = Checker::default();
    let tap = Some(Box::new(Watching(&mut checker)) as Box<dyn CellTap>);
    let outcome = run(&scenario, Options { tap, ..Options::default() }).unwrap();
    assert_eq!(checker.seen[0], outcome.summary.run.cell_hops);
    assert!(checker.seen[1] <= checker.seen[0] && checker.seen[1] + 200 > checker.seen[0]);
    assert!(checker.rm > 100, "{}", checker.rm);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn under_random_loss_no_packet_is_damaged_reordered_or_unaccounted_for(
        loss in 0.0_f64..0.02, rm_damage in 0.0_f64..0.05, lengths in proptest::collection::vec(20_usize..1500, 1..80),
    ) {
        let scenario = two_hosts("200 ms", &format!("loss = \"{loss}\""));
        let packets: Vec<Vec<u8>> =
            (0..).zip(&lengths).map(|(n, &length)| packet(n, address(1), length)).collect();
        let faults = Faults { rm_damage, data_loss: loss, ..Faults::default() };
        let (received, outcome) = transfer(&scenario, packets.clone(), faults);
        // In order, each as it was sent: the received ones are a subsequence of the sent ones.
        let mut sent = packets.iter();
        prop_assert!(received.iter().all(|packet| sent.any(|other| other == packet)));
        let row = forward(&outcome);
        prop_assert_eq!(row.packets_delivered, Some(received.len() as u64));
        prop_assert!(row.spoiled_pdus.unwrap() + row.packets_delivered.unwrap() <= row.packets_sent.unwrap());
        for vc in outcome.summary.vcs.iter().map(|row| &row.common) {
            prop_assert_eq!(vc.sent.unwrap(), vc.delivered.unwrap() + vc.dropped + vc.in_flight);
        }
    }
}
