//! How many cells a core carries from TUN to TUN: two hosts, one of which sends UDP as fast as it may, and no line
//! limit.

use std::fmt;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cellrate_proto::Duration;
use cellrate_scenario::HostSettings;

use crate::engine::throughput::{Throughput, measure_between};
use crate::engine::{Error, PacketDevice};
use crate::host::{Host, HostError};

/// IP and UDP headers \[octets\].
const HEADERS: usize = 28;

/// Why nothing was measured.
#[derive(Debug)]
pub enum BenchError {
    /// The hosts could not be made.
    Host(HostError),
    /// The run gave no result.
    Engine(Error),
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchError::Host(error) => error.fmt(f),
            BenchError::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BenchError {}

/// Carries packets of `packet_octets` (29 to 9180) for `span` from one host's TUN device to another's. The sender's
/// kernel works on another core, the engine, with both devices, on one.
///
/// # Errors
/// Where namespaces or TUN devices cannot be had.
pub fn tun_to_tun(span: Duration, packet_octets: usize) -> Result<Throughput, BenchError> {
    let host = |number| Host::new(&HostSettings::of_host(number)).map_err(BenchError::Host);
    let [mut sender, mut receiver] = [host(0)?, host(1)?];
    let devices = [&mut sender, &mut receiver].map(Host::take_device);
    let [Some(out), Some(back)] = devices else {
        return Err(BenchError::Engine(Error::System(io::Error::other("a new host has its device"))));
    };
    let system = |error: io::Error| BenchError::Engine(Error::System(error));
    let bound = |host: &Host, address: &'static str| {
        host.namespace().within(move || -> io::Result<UdpSocket> { UdpSocket::bind(address) })
    };
    // Someone listens, so that no ICMP goes back; what overflows the socket is of no interest.
    let _sink = bound(&receiver, "10.0.0.2:7000").map_err(system)?;
    let source = bound(&sender, "10.0.0.1:0").map_err(system)?;
    source.connect("10.0.0.2:7000").map_err(system)?;
    let payload = vec![0; packet_octets.clamp(HEADERS + 1, 9180) - HEADERS];
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // The device's queue is full most of the time, and says so or drops: both are meant.
                let _ = source.send(&payload);
            }
        });
        let devices: [Box<dyn PacketDevice>; 2] = [Box::new(out), Box::new(back)];
        let measured = measure_between(devices, span, packet_octets);
        done.store(true, Ordering::Relaxed);
        measured.map_err(BenchError::Engine)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_flow_from_tun_to_tun() {
        match tun_to_tun(Duration::from_ms(300), 9180) {
            Ok(throughput) => {
                println!("{throughput:?}");
                assert!(throughput.packets > 10, "{throughput:?}");
            }
            Err(BenchError::Host(error)) if error.is_lack() => eprintln!("skipped: {error}"),
            Err(error) => panic!("{error:?}"),
        }
    }
}
