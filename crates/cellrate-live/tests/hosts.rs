//! Two namespaces whose devices are joined by hand. Runs where namespaces and TUN devices can be made, and says so
//! where not.

#![expect(clippy::disallowed_methods, reason = "waits for a process")]

use std::fs;
use std::io;
use std::net::UdpSocket;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cellrate_live::engine::PacketDevice;
use cellrate_live::host::{DEVICE, Host, HostError, TunDevice};
use cellrate_scenario::HostSettings;

/// Hosts 10.0.0.1 and 10.0.0.2, or none on a machine or for a user that may not have them.
fn pair(change: impl Fn(&mut HostSettings)) -> Option<[Host; 2]> {
    let host = |number| {
        let mut settings = HostSettings::of_host(number);
        change(&mut settings);
        match Host::new(&settings) {
            Ok(host) => Some(host),
            Err(error) if error.is_lack() => {
                eprintln!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    };
    Some([host(0)?, host(1)?])
}

/// Output of a program that runs inside the host.
fn output(host: &Host, words: &[&str]) -> String {
    let run = || -> io::Result<_> { Command::new(words[0]).args(&words[1..]).output() };
    String::from_utf8(host.namespace().within(run).unwrap().stdout).unwrap()
}

/// The next IPv4 packet out of a device, within a second.
fn next(device: &mut TunDevice) -> Vec<u8> {
    let mut buffer = [0; 65_536];
    let last = Instant::now() + Duration::from_secs(1);
    while Instant::now() < last {
        if let Some(length) = device.receive(&mut buffer).unwrap() {
            return buffer[..length].to_vec();
        }
        thread::yield_now();
    }
    panic!("no packet within a second");
}

#[test]
fn a_datagram_goes_from_one_namespace_to_the_other_through_their_devices() {
    let Some([mut a, mut b]) = pair(|_| ()) else { return };
    let (mut from, mut to) = (a.take_device().unwrap(), b.take_device().unwrap());
    assert!(a.take_device().is_none(), "given away once");
    let receiver = b.namespace().within(|| UdpSocket::bind("10.0.0.2:7000")).unwrap();
    let sender = a.namespace().within(|| UdpSocket::bind("10.0.0.1:0")).unwrap();
    sender.send_to(&[7; 9152], "10.0.0.2:7000").unwrap();
    let packet = next(&mut from);
    // 9152 + 8 of UDP + 20 of IP: one packet of the MTU, raw IPv4 from its version nibble on.
    assert_eq!((packet.len(), packet[0]), (9180, 0x45));
    assert_eq!(packet[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
    to.send(&packet).unwrap();
    let mut buffer = [0; 10_000];
    receiver.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    assert_eq!(receiver.recv(&mut buffer).unwrap(), 9152);
    assert_eq!(from.receive(&mut buffer).unwrap(), None, "nothing else, no IPv6 either");
}

#[test]
fn a_full_transmit_queue_loses_packets_and_counts_them() {
    let Some([mut a, _b]) = pair(|settings| settings.transmit_queue = 5) else { return };
    let mut device = a.take_device().unwrap();
    let sender = a.namespace().within(|| UdpSocket::bind("10.0.0.1:0")).unwrap();
    for number in 0..8 {
        sender.send_to(&[number], "10.0.0.2:7000").unwrap();
    }
    let taken = (0..5).map(|_| *next(&mut device).last().unwrap()).collect::<Vec<_>>();
    assert_eq!(taken, [0, 1, 2, 3, 4]);
    assert_eq!(device.receive(&mut [0; 100]).unwrap(), None);
    let statistics = output(&a, &["ip", "-s", "-j", "link", "show", DEVICE]);
    assert!(statistics.contains("\"dropped\":3"), "{statistics}");
}

#[test]
fn settings_reach_the_kernel_of_this_namespace_alone() {
    let Some([a, _b]) = pair(|settings| {
        let tcp = Arc::make_mut(&mut settings.tcp);
        tcp.congestion_control = "cubic".into();
        tcp.receive_window = Some(cellrate_proto::Octets(9148));
        tcp.sack = false;
    }) else {
        return;
    };
    let route = output(&a, &["ip", "route", "show"]);
    assert!(route.contains("congctl cubic") && route.contains("window 9148"), "{route}");
    assert_eq!(output(&a, &["cat", "/proc/sys/net/ipv4/tcp_sack"]).trim(), "0");
    assert_eq!(fs::read_to_string("/proc/sys/net/ipv4/tcp_sack").unwrap().trim(), "1");
    let device = output(&a, &["ip", "link", "show", DEVICE]);
    assert!(device.contains("mtu 9180") && device.contains("qlen 1000"), "{device}");
}

#[test]
fn an_unknown_congestion_control_is_refused_with_what_was_asked() {
    if pair(|_| ()).is_none() {
        return;
    }
    let mut settings = HostSettings::of_host(0);
    let tcp = Arc::make_mut(&mut settings.tcp);
    tcp.congestion_control = "carrier-pigeon".into();
    let error = Host::new(&settings).expect_err("no kernel has it");
    assert!(matches!(error, HostError::Refused { .. }) && !error.is_lack());
    assert!(error.to_string().contains("congctl carrier-pigeon"), "{error}");
}

#[test]
fn nothing_is_left_in_the_namespace_of_the_process() {
    let Some(hosts) = pair(|_| ()) else { return };
    drop(hosts);
    let links = Command::new("ip").args(["link", "show"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&links.stdout).contains(DEVICE));
}
