//! A measurement of round trips.

use cellrate_proto::declaration::{Dimension, Kind, Shape, Table};
use cellrate_proto::{Duration, Octets};

use super::Program;
use crate::text::error::{Fault, Place};
use crate::text::reading::{some_octets, whole_ms};
use crate::text::tree::{Node, Table};
use crate::text::written::{Written, from_node, setting};

/// Most data of a request: an IPv4 datagram with its header and that of ICMP \[octets\].
const MOST_DATA: u64 = 65_507;

/// Requests that the peer echoes (ICMP), each with its round trip; those sent beside other applications apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(name = "ping", written)]
pub struct Ping {
    /// From a request to the next, in whole ms: 10 ms to 1 min.
    #[key(default = "\"200 ms\"", or = Duration::from_ms(200), as = Interval)]
    pub interval: Duration,
    /// Data of a request behind 28 octets of headers: 16 to 65507 octets.
    #[key(default = "\"56 octets\"", or = Octets(56), as = Size)]
    pub size: Octets,
}

/// A span between requests.
struct Interval;
/// The data of a request.
struct Size;

setting!(Interval => Duration, Kind::Positive(Dimension::Time), true);
setting!(Size => Octets, Kind::Quantity(Dimension::Octets), true);

from_node! {
    Interval: interval;
    Size: size;
}

impl Program for Ping {
    const SHAPE: Shape = Ping::SHAPE;

    fn read(table: &Table, place: Place) -> Result<Ping, Fault> {
        Ping::read(&Written::new(table, place))
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
