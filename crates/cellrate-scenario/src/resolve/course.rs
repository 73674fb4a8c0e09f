//! Courses of a link's rate or delay in time: tables, traces, orbits.

use cellrate_proto::{BitRate, Duration, Time};

use super::leo;
use super::steps::{Delays, check_number};
use crate::model::InFlight;
use crate::text::check;

use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{instant, optional};
use crate::text::tree::{Node, Table, Value};

/// Octets that a chance of a packet-delivery trace delivers (mahimahi's `PACKET_SIZE`).
const OCTETS_PER_OPPORTUNITY: u64 = 1504;
/// Picoseconds in a millisecond.
const MS: u64 = 1_000_000_000;

/// The rate of a link: from each instant on, the first at 0.
pub(super) fn rate(node: &Node, end: Time) -> Result<Vec<(Time, BitRate)>, Fault> {
    let Some(table) = node.table() else { return Ok(vec![(Time::ZERO, quantity::line_rate(node)?)]) };
    match table.text("type") {
        Some("mahimahi") => mahimahi(node, table, end),
        _ => steps(node, table, quantity::line_rate_or_none),
    }
}

/// Its delay, and what becomes of what is on the line then.
pub(super) fn delay(node: &Node, end: Time) -> Result<Delays, Fault> {
    let kept = |delay| (delay, InFlight::Kept);
    let Some(table) = node.table() else { return Ok(vec![(Time::ZERO, kept(quantity::time(node)?))]) };
    match table.text("type") {
        Some("leo") => leo::delays(node, table, end),
        _ => steps(node, table, |node| quantity::time(node).map(kept)),
    }
}

/// The steps of a table. The first holds from the beginning.
fn steps<T>(
    node: &Node,
    table: &Table,
    read: impl Fn(&Node) -> Result<T, Fault>,
) -> Result<Vec<(Time, T)>, Fault> {
    let Some(steps) = table.node("steps") else { return Err(nowhere(node, table, "steps")) };
    let mut all: Vec<(Time, T)> = Vec::new();
    for step in check::list(steps)? {
        let [at, value] = check::pair(step)?;
        let instant = instant(at)?;
        if all.last().is_some_and(|(last, _)| instant <= *last) {
            let message = format!("the step at {instant} is not after the one before it");
            return Err(Fault::new(step.place, message, "Write steps in order of time"));
        }
        all.push((instant, read(value)?));
    }
    if let Some(first) = all.first_mut() {
        first.0 = Time::ZERO;
    }
    Ok(all)
}

/// Error for a table that has neither the course itself nor the name of its file.
fn nowhere(node: &Node, table: &Table, key: &str) -> Fault {
    match table.node("file") {
        Some(file) => Fault::new(
            file.place,
            "the file has not been read",
            "Files are read with a scenario that is a file itself",
        ),
        None => check::missing(node.place, key, "or a file"),
    }
}

/// The rates that the chances of a trace come to, over steps of one length.
fn mahimahi(node: &Node, table: &Table, end: Time) -> Result<Vec<(Time, BitRate)>, Fault> {
    let Some(opportunities) = table.node("opportunities") else {
        return Err(nowhere(node, table, "opportunities"));
    };
    let instants = instants(opportunities)?;
    let step = optional(table, "step", quantity::span)?.unwrap_or(Duration::from_ms(100));
    if !step.as_ps().is_multiple_of(MS) {
        let place = table.node("step").map_or(node.place, |step| step.place);
        return Err(Fault::new(place, format!("the step is {step}"), "Write whole milliseconds"));
    }
    let repeat = table.node("repeat").map_or(Ok(true), check::boolean)?;
    check_number(node, table, end, step)?;
    let (step_ms, end_ms) = (step.as_ps() / MS, end.as_ps().div_ceil(MS));
    let mut octets = vec![0_u64; end_ms.div_ceil(step_ms) as usize];
    let period = u64::from(instants.last().copied().unwrap_or(1));
    for base in (0..end_ms).step_by(period as usize) {
        for &instant in &instants {
            let at = base + u64::from(instant);
            if at >= end_ms {
                break;
            }
            octets[(at / step_ms) as usize] += OCTETS_PER_OPPORTUNITY;
        }
        if !repeat {
            break;
        }
    }
    let rate = |octets: u64| BitRate::from_bps((octets * 8_000 + step_ms / 2) / step_ms);
    Ok((0..).zip(octets).map(|(number, octets)| (Time::ZERO + step * number, rate(octets))).collect())
}

/// The instants of a trace \[ms\], which are in order, the last one above 0.
fn instants(node: &Node) -> Result<Vec<u32>, Fault> {
    let instants = match &node.value {
        Value::Numbers(instants) => instants.to_vec(),
        _ => {
            let whole = |node: &Node| check::integer(node, 0, u32::MAX.into()).map(|instant| instant as u32);
            check::list(node)?.iter().map(whole).collect::<Result<_, _>>()?
        }
    };
    if !instants.is_sorted() || instants.last().is_none_or(|&last| last == 0) {
        let message = "the instants are not in order, or the last one is 0";
        return Err(Fault::new(node.place, message, "Write whole ms in order, the last one above 0"));
    }
    Ok(instants)
}
