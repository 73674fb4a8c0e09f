//! A measurement of throughput.

use cellrate_proto::declaration::{Dimension, Kind, Shape, key};
use cellrate_proto::{BitRate, Octets};

use super::Program;
use crate::keys::OCTETS;
use crate::text::error::{Fault, Place};
use crate::text::reading::{optional, or_default, some_octets};
use crate::text::tree::Table;
use crate::text::{check, quantity};

/// iperf3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iperf3 {
    /// UDP instead of TCP.
    pub udp: bool,
    /// Rate of the payload; `None` is without limit.
    pub rate: Option<BitRate>,
    /// Connections side by side.
    pub streams: u32,
    /// Octets per write or datagram; `None` is iperf3's own.
    pub length: Option<Octets>,
}

const BIT_RATE: Kind = Kind::Positive(Dimension::LineRate);

impl Program for Iperf3 {
    const SHAPE: Shape = Shape {
        name: "iperf3",
        about: "iperf3, with its figures of goodput, losses and jitter.",
        keys: &[
            key("protocol", Kind::Choice(&["tcp", "udp"]), "\"tcp\"", "Which transport."),
            key(
                "rate",
                Kind::Or(&[BIT_RATE, Kind::Choice(&["unlimited"])]),
                "\"unlimited\" for tcp; \"1 Mbps\" for udp",
                "Rate of the data of all streams together, as bits per second of payload.",
            ),
            key("streams", Kind::Integer(1, 128), "1", "Connections side by side."),
            key("length", OCTETS, "iperf3's own", "Octets per write, and per datagram of udp."),
        ],
    };

    fn read(table: &Table, _place: Place) -> Result<Iperf3, Fault> {
        let udp = table.text("protocol") == Some("udp");
        let rate = optional(table, "rate", |node| {
            if node.text() == Some("unlimited") { Ok(None) } else { quantity::line_rate(node).map(Some) }
        })?;
        if let (Some(node), Some(None), true) = (table.node("rate"), rate, udp) {
            let remedy = "Write a rate: a datagram that does not fit is lost on the sending host";
            return Err(Fault::new(node.place, "udp has no rate of its own", remedy));
        }
        let streams = or_default(table, &Self::SHAPE, "streams", |node| check::integer(node, 1, 128))?;
        let length = optional(table, "length", some_octets)?;
        if let (Some(node), Some(length)) = (table.node("length"), length)
            && !(16..=if udp { 65_507 } else { 1 << 20 }).contains(&length.0)
        {
            let most = if udp { "65507" } else { "1048576" };
            let message = format!("the length is {length}");
            return Err(Fault::new(node.place, message, format!("It must be from 16 to {most} octets")));
        }
        let default = if udp { Some(BitRate::from_bps(1_000_000)) } else { None };
        Ok(Iperf3 { udp, rate: rate.unwrap_or(default), streams: streams as u32, length })
    }
}
