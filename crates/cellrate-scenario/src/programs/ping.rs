//! A measurement of round trips.

use cellrate_proto::declaration::{Shape, key};
use cellrate_proto::{Duration, Octets};

use super::Program;
use crate::keys::{OCTETS, SPAN};
use crate::text::error::{Fault, Place};
use crate::text::reading::{or_default, some_octets, whole_ms};
use crate::text::tree::{Node, Table};

/// Most data of a request: an IPv4 datagram with its header and that of ICMP \[octets\].
const MOST_DATA: u64 = 65_507;

/// ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// From a request to the next, whole milliseconds [10 ms to 1 min].
    pub interval: Duration,
    /// Data of a request behind its headers \[octets\].
    pub size: Octets,
}

impl Program for Ping {
    const SHAPE: Shape = Shape {
        name: "ping",
        about: "Requests that the peer echoes (ICMP), each with its round trip; those sent beside other applications apart.",
        keys: &[
            key("interval", SPAN, "\"200 ms\"", "From a request to the next, in whole ms: 10 ms to 1 min."),
            key(
                "size",
                OCTETS,
                "\"56 octets\"",
                "Data of a request behind 28 octets of headers: 16 to 65507 octets.",
            ),
        ],
    };

    fn read(table: &Table, _place: Place) -> Result<Ping, Fault> {
        Ok(Ping {
            interval: or_default(table, &Self::SHAPE, "interval", interval)?,
            size: or_default(table, &Self::SHAPE, "size", size)?,
        })
    }
}

fn interval(node: &Node) -> Result<Duration, Fault> {
    let interval = whole_ms(node)?;
    if interval < Duration::from_ms(10) || interval > Duration::from_secs(60) {
        let message = format!("a request every {} is out of range", node.plain());
        return Err(Fault::new(node.place, message, "It must be from 10 ms to 1 min"));
    }
    Ok(interval)
}

fn size(node: &Node) -> Result<Octets, Fault> {
    let size = some_octets(node)?;
    if !(16..=MOST_DATA).contains(&size.0) {
        // An instant is in the first 16.
        let message = format!("the size is {size}");
        return Err(Fault::new(node.place, message, format!("It must be from 16 to {MOST_DATA} octets")));
    }
    Ok(size)
}
