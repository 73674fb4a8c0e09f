//! How many cells the engine carries: from one packet device through two hosts and a switch to another, over lines so
//! fast that only the processor limits it.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

use cellrate_proto::{Cells, Duration};
use cellrate_scenario::{ConnectionIndex, Document, NodeIndex};
use serde::Serialize;

use super::device::PacketDevice;
use super::error::Error;
use super::options::{Host, Options, Route};
use super::run::run;

/// Throughput of a run: cells and packets carried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// Data and RM cells from the first host to the second \[cells\].
    pub cells: u64,
    /// Packets that arrived.
    pub packets: u64,
    /// Length of each packet \[octets\].
    pub packet_octets: usize,
    /// Wall time \[s\].
    pub wall_s: f64,
    /// Cells per second of wall time.
    pub cells_per_s: f64,
    /// Processor time of the engine's thread per cell, everything between the devices included \[ns\].
    pub cpu_ns_per_cell: f64,
    /// Events per second of wall time.
    pub events_per_s: f64,
}

/// A host that always has another packet, and forgets what it gets.
struct Endless {
    packet: Vec<u8>,
    fd: OwnedFd,
}

impl Endless {
    /// Sends `packet` for ever; nothing, if it is empty.
    fn new(packet: Vec<u8>) -> io::Result<Endless> {
        Ok(Endless { packet, fd: OwnedFd::from(UnixDatagram::unbound()?) })
    }
}

impl PacketDevice for Endless {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let length = self.packet.len();
        buffer[..length].copy_from_slice(&self.packet);
        Ok((length > 0).then_some(length))
    }

    fn send(&mut self, _packet: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The address of the second host.
pub const DESTINATION: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

const SCENARIO: &str = r#"
name = "throughput"
duration = "1 s"
host = [{ name = "h1" }, { name = "h2" }]
switch = [{ name = "sw", algorithm = { type = "erica", target_utilization = "90 %", interval = "5 ms" } }]
link = [{ between = ["h1", "sw"] }, { between = ["sw", "h2"] }]
vc = [{ name = "vc", path = ["h1", "sw", "h2"] }]
[defaults.link]
rate = "100 Gbps"
delay = "10 us"
"#;

/// Carries packets of `packet_octets` (20 to 9180) for `span`, from a device without cost to another.
///
/// # Errors
/// When the system gives no file descriptor.
pub fn measure(span: Duration, packet_octets: usize) -> Result<Throughput, Error> {
    let mut packet = vec![0; packet_octets.clamp(20, 9180)];
    packet[0] = 0x45;
    packet[16..20].copy_from_slice(&DESTINATION.octets());
    let devices: [Box<dyn PacketDevice>; 2] =
        [Box::new(Endless::new(packet)?), Box::new(Endless::new(Vec::new())?)];
    measure_between(devices, span, packet_octets)
}

/// Measures between two devices of the caller's; the first has packets of `packet_octets` to [`DESTINATION`].
///
/// # Errors
/// As for [`run`].
pub fn measure_between(
    devices: [Box<dyn PacketDevice>; 2],
    span: Duration,
    packet_octets: usize,
) -> Result<Throughput, Error> {
    let document = Document::parse(SCENARIO, "throughput").expect("the scenario above is sound");
    let mut scenario = document.resolve().expect("the scenario above is sound");
    scenario.duration = span;
    let hosts = (0..).zip(devices).map(|(node, device)| Host { node: NodeIndex(node), device, mtu: 9180 });
    let connection = ConnectionIndex(0);
    let route = Route { host: NodeIndex(0), destination: DESTINATION, connection };
    let options = Options {
        hosts: hosts.collect(),
        routes: vec![route],
        adapter_queue: Some(Cells(1 << 16)),
        ..Options::default()
    };
    let summary = run(&scenario, options)?.summary;
    let forward = summary.vcs.iter().find(|row| row.common.vc == "vc");
    let cells = forward.and_then(|row| row.common.delivered).unwrap_or(0);
    let packets = summary.adapters.first().and_then(|row| row.packets_delivered).unwrap_or(0);
    let wall_s = summary.run.wall_s;
    Ok(Throughput {
        cells,
        packets,
        packet_octets,
        wall_s,
        cells_per_s: cells as f64 / wall_s,
        cpu_ns_per_cell: summary.timing.cpu_share * wall_s * 1e9 / cells.max(1) as f64,
        events_per_s: summary.run.events as f64 / wall_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_flow_as_fast_as_they_can() {
        let throughput = measure(Duration::from_ms(200), 1500).unwrap();
        println!("{throughput:?}");
        assert!(throughput.packets > 100, "{throughput:?}");
        // 1500 octets are 32 cells of data; RM cells come on top, and what is under way.
        assert!(throughput.cells >= 32 * throughput.packets, "{throughput:?}");
    }
}
