//! Packet-delivery traces of mahimahi.

use cellrate_proto::declaration::{Kind, Shape, key};
use cellrate_proto::{BitRate, Time};

use super::check_number;
use crate::keys::SPAN;
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::files::{Contents, Folders, Wrong};
use crate::text::quantity::{self, shortened};
use crate::text::reading::or_default;
use crate::text::tree::{Node, Table, Value};

/// Octets that a chance of a packet-delivery trace delivers (mahimahi's `PACKET_SIZE`).
const OCTETS_PER_OPPORTUNITY: u64 = 1504;

/// Picoseconds in a millisecond.
const MS: u64 = 1_000_000_000;

pub(super) const SHAPE: Shape = Shape {
    name: "mahimahi",
    about: "The rate by a packet-delivery trace of mahimahi: each line is an instant in ms at which 1504 octets can leave. They are counted over each `step`, octet by octet, and make the rate of that step.",
    keys: &[
        key(
            "file",
            Kind::Text,
            "required: this or opportunities",
            "The trace, as seen from the scenario's folder. It is read with the scenario, and what is stored beside results has `opportunities` instead.",
        ),
        key(
            "opportunities",
            Kind::List(&Kind::Integer(0, u32::MAX as i64), 1),
            "required: this or file",
            "The instants themselves \\[ms\\], in order; the last above 0.",
        ),
        key("step", SPAN, "\"100 ms\"", "How long each rate holds: whole milliseconds."),
        key(
            "repeat",
            Kind::Boolean,
            "true",
            "Whether the trace begins anew at its last instant, as in mahimahi; else nothing leaves behind it.",
        ),
    ],
};

/// The rates that the chances of a trace come to, over steps of one length.
pub(super) fn rates(node: &Node, table: &Table, end: Time) -> Result<Vec<(Time, BitRate)>, Fault> {
    let Some(opportunities) = table.node("opportunities") else {
        return Err(check::missing_or_unread(node, table, "opportunities"));
    };
    let instants = instants(opportunities)?;
    let step = or_default(table, &SHAPE, "step", quantity::span)?;
    if !step.as_ps().is_multiple_of(MS) {
        let place = table.node("step").map_or(node.place, |step| step.place);
        return Err(Fault::new(place, format!("the step is {step}"), "Write whole milliseconds"));
    }
    let repeat = or_default(table, &SHAPE, "repeat", check::boolean)?;
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
    let fault = |message: String| {
        Err(Fault::new(node.place, message, "Write whole ms in order, the last one above 0"))
    };
    if let Some(pair) = instants.windows(2).find(|pair| pair[1] < pair[0]) {
        return fault(format!("{} ms comes after {} ms", pair[1], pair[0]));
    }
    match instants.last() {
        None | Some(0) => fault("no instant is above 0 ms".into()),
        Some(_) => Ok(instants),
    }
}

/// The instants in the file that a table named at `place`.
pub(super) fn of_file(
    _table: &Table,
    file: &str,
    folders: &Folders<'_>,
    place: Place,
) -> Result<(&'static str, Value), Fault> {
    let read = folders.read(file).and_then(|contents| mahimahi(file, &contents));
    let opportunities = read.map_err(|(message, remedy)| Fault::new(place, message, remedy))?;
    Ok(("opportunities", opportunities))
}

/// The instants of a packet-delivery trace, as mahimahi reads it: a whole number in each line, in order, the last one
/// above 0.
fn mahimahi(file: &str, contents: &Contents) -> Result<Value, Wrong> {
    let text = String::from_utf8_lossy(&contents.octets);
    let wrong = |line: usize, what: String| {
        let remedy = "Each line is an instant in ms, in order, and the last one is above 0";
        (format!("line {line} of {}: {what}", shortened(file)), remedy.to_owned())
    };
    let mut instants: Vec<u32> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end_matches('\r');
        let Ok(instant) = line.parse::<u32>() else {
            return Err(wrong(number, format!("{} is not a whole number of ms", contents.quoted(line))));
        };
        if let Some(&last) = instants.last().filter(|&&last| instant < last) {
            return Err(wrong(number, format!("{instant} comes after {last}")));
        }
        instants.push(instant);
    }
    match instants.last() {
        Some(0) => Err(wrong(instants.len(), "the last instant is 0".into())),
        Some(_) => Ok(Value::Numbers(instants.into())),
        None => {
            Err((format!("there is nothing in {}", shortened(file)), "Give an instant in each line".into()))
        }
    }
}
