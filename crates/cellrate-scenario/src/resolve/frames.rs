//! Frames in UDP datagrams.

use cellrate_proto::Octets;
use cellrate_proto::wire::Encapsulation;

use super::optional;
use super::timing::start_and_end;
use crate::check;
use crate::error::Fault;
use crate::frames::{FollowAcr, FramesTraffic};
use crate::quantity;
use crate::tree::{Node, Table};

/// Largest mean length of a frame [octets]: no picture of any codec is longer, and its cells can be counted in 32 bits.
const MAX_SIZE: u64 = 1 << 24;

pub(super) fn read(node: &Node, table: &Table) -> Result<FramesTraffic, Fault> {
    let (start, end) = start_and_end(table)?;
    let integer =
        |key: &str, low, high| optional(table, key, |node| check::integer(node, low, high).map(|n| n as u32));
    // `given` octets of `key`, which are from `low` to `high`.
    let octets = |key: &str, low: u64, high: u64, allowed: &str| {
        let given = optional(table, key, quantity::octets)?;
        match (given, table.node(key)) {
            (Some(octets), Some(node)) if octets.0 < low || octets.0 > high => {
                let message = format!("{key} is {octets}");
                Err(Fault::new(node.place, message, format!("It must be {allowed}")))
            }
            _ => Ok(given),
        }
    };
    let frames_per_second = integer("frames_per_second", 1, 10_000)?
        .ok_or_else(|| check::missing(node.place, "frames_per_second", "such as 24"))?;
    let size = octets("size", 1, MAX_SIZE, "from 1 octet to 16 MiB")?
        .ok_or_else(|| check::missing(node.place, "size", "such as \"40 kB\""))?;
    Ok(FramesTraffic {
        frames_per_second,
        size,
        deviation: octets("deviation", 0, size.0, "at most the size")?.unwrap_or(Octets(0)),
        datagram: octets("datagram", 1, 65_000, "from 1 to 65000 octets")?.unwrap_or(Octets(1472)),
        header: octets("header", 0, 120, "at most 120 octets")?.unwrap_or(Octets(28)),
        encapsulation: match table.text("encapsulation") {
            Some("vc-mux") => Encapsulation::VcMultiplexed,
            _ => Encapsulation::LlcSnapIpv4,
        },
        follow_acr: optional(table, "follow_acr", follow_acr)?,
        start,
        end,
        record: integer("record", 0, i64::from(u32::MAX))?.unwrap_or(0),
    })
}

fn follow_acr(node: &Node) -> Result<FollowAcr, Fault> {
    let share = match node.table() {
        Some(table) => optional(table, "share", quantity::ratio)?,
        None => None,
    };
    Ok(FollowAcr { share: share.unwrap_or(0.9) })
}
