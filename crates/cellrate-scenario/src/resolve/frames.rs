//! Frames in UDP datagrams.

use std::sync::Arc;

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{Duration, Octets};

use crate::format::MAX_FRAME;
use crate::model::{
    Adaptation, FirstOfTrace, FollowAcr, FollowMeans, FrameLengths, FrameRate, FramesTraffic,
};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{optional, start_and_end};
use crate::text::tree::{Node, Table, Value};

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
    let speech = speech(table)?;
    let given = optional(table, "frames_per_second", frame_rate)?;
    let frames_per_second = given
        .or(speech.map(|speech| speech.rate))
        .ok_or_else(|| check::missing(node.place, "frames_per_second", "such as 24, or a codec"))?;
    let size = octets("size", 1, MAX_FRAME as u64, "from 1 octet to 16 MiB")?;
    let lengths = match (table.entry("trace"), size) {
        (Some(entry), None) if table.node("deviation").is_none() => trace(&entry.node)?,
        (Some(entry), _) => {
            let message = "a trace says how long frames are, and so do size and deviation";
            return Err(Fault::new(entry.place, message, "Leave out the one or the others"));
        }
        (None, Some(size)) => {
            let deviation = octets("deviation", 0, size.0, "at most the size")?.unwrap_or(Octets(0));
            FrameLengths::Gaussian { size, deviation }
        }
        (None, None) if let Some(speech) = speech => {
            FrameLengths::Gaussian { size: speech.size, deviation: Octets(0) }
        }
        (None, None) => {
            let example = "such as \"40 kB\", or a trace = { file = ... }";
            return Err(check::missing(node.place, "size", example));
        }
    };
    Ok(FramesTraffic {
        frames_per_second,
        lengths,
        datagram: octets("datagram", 1, 65_000, "from 1 to 65000 octets")?.unwrap_or(Octets(1472)),
        header: octets("header", 0, 120, "at most 120 octets")?.unwrap_or(Octets(if speech.is_some() {
            40
        } else {
            28
        })),
        encapsulation: match table.text("encapsulation") {
            Some("vc-mux") => Encapsulation::VcMultiplexed,
            _ => Encapsulation::LlcSnapIpv4,
        },
        follow_acr: optional(table, "follow_acr", follow_acr)?,
        frm_at_frame_ends: table.text("frm_after") == Some("frame"),
        start,
        end,
        record: integer("record", 0, i64::from(u32::MAX))?.unwrap_or(0),
    })
}

/// Packets of a codec of speech.
#[derive(Clone, Copy)]
struct Speech {
    rate: FrameRate,
    size: Octets,
}

/// The codec that `table` names, and what a packet of it carries (RFC 3551, section 4.5 and table 1).
fn speech(table: &Table) -> Result<Option<Speech>, Fault> {
    let Some(codec) = table.node("codec") else {
        return match table.node("packet") {
            Some(packet) => {
                let message =
                    "packet says how much speech of a codec a packet carries, and there is no codec";
                Err(Fault::new(packet.place, message, "Leave it out, or write codec = \"g711\""))
            }
            None => Ok(None),
        };
    };
    for key in ["frames_per_second", "size", "trace", "deviation"] {
        if let Some(node) = table.node(key) {
            let message = format!("a codec says what {key} is");
            return Err(Fault::new(node.place, message, format!("Leave {key} out, or codec")));
        }
    }
    // Milliseconds and octets of a frame, and frames of a packet.
    let (ms, octets, frames) = match codec.text().unwrap_or_default() {
        "g729" => (10, 10, 2),
        "g723.1-6.3" => (30, 24, 1),
        "g723.1-5.3" => (30, 20, 1),
        "gsm" => (20, 33, 1),
        _ => (10, 80, 2),
    };
    let frames = match table.node("packet") {
        None => frames,
        Some(node) => {
            let packet = quantity::span(node)?;
            let frame = Duration::from_ms(ms);
            if packet.as_ps() % frame.as_ps() != 0 || packet > Duration::from_ms(200) {
                let message = format!("packet is {packet}");
                let remedy =
                    format!("It must be a multiple of {frame}, a frame of the codec, and at most 200 ms");
                return Err(Fault::new(node.place, message, remedy));
            }
            packet.as_ps() / frame.as_ps()
        }
    };
    let common = common_divisor(1000, ms * frames);
    let rate = FrameRate { frames: 1000 / common, seconds: ms * frames / common };
    Ok(Some(Speech { rate, size: Octets(octets * frames) }))
}

/// A rate as it is written: 29.97 is 2997/100, and "30000/1001" is what it says.
pub(super) fn frame_rate(node: &Node) -> Result<FrameRate, Fault> {
    quantity::ratio(node)?;
    let written = node.plain();
    let (above, below) = written.split_once('/').unwrap_or((&written, "1"));
    let exact = || {
        let ([a, b], [c, d]) = (decimal(above)?, decimal(below)?);
        let (frames, seconds) = (a.checked_mul(d)?, b.checked_mul(c)?);
        let common = common_divisor(frames, seconds);
        let [frames, seconds] = [frames, seconds].map(|number| number / common.max(1));
        let fits = |number: u64| (1..=1_000_000_000_000).contains(&number);
        (fits(frames) && fits(seconds)).then_some(FrameRate { frames, seconds })
    };
    exact().ok_or_else(|| {
        let message =
            format!("\"{}\" has too many digits for a rate of frames", quantity::shortened(&written));
        Fault::new(node.place, message, "Write a number such as 29.97, or a ratio such as \"30000/1001\"")
    })
}

/// A number without exponent as a whole number and the power of ten that it is divided by.
fn decimal(text: &str) -> Option<[u64; 2]> {
    let text = text.trim().replace('_', "");
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let scale = 10_u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    let number: u64 = [whole, part].concat().parse().ok()?;
    Some([number, scale])
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn trace(node: &Node) -> Result<FrameLengths, Fault> {
    let Some(table) = node.table() else {
        unreachable!("a trace is a table");
    };
    if let Some(file) = table.entry("file") {
        // Whoever reads the document from a disk takes in what it refers to.
        let message = "the file of the trace has not been read";
        return Err(Fault::new(file.place, message, "Give its lengths as sizes = [...]"));
    }
    let Some(sizes) = table.node("sizes") else {
        return Err(check::missing(node.place, "file", "the trace, or sizes = [...]"));
    };
    let lengths: Arc<[u32]> = match &sizes.value {
        Value::Numbers(lengths) => Arc::clone(lengths),
        _ => {
            let one = |node: &Node| check::integer(node, 0, MAX_FRAME).map(|length| length as u32);
            check::list(sizes)?.iter().map(one).collect::<Result<_, _>>()?
        }
    };
    if lengths.iter().all(|&length| length == 0) {
        return Err(Fault::new(
            sizes.place,
            "no frame of the trace has a length",
            "It must have one above 0",
        ));
    }
    let first = match table.node("first") {
        None => FirstOfTrace::At(0),
        Some(first) if first.text().is_some() => FirstOfTrace::Random,
        Some(first) => FirstOfTrace::At((check::integer(first, 1, lengths.len() as i64)? - 1) as u32),
    };
    Ok(FrameLengths::Trace { lengths, first })
}

fn follow_acr(node: &Node) -> Result<FollowAcr, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let share = optional(table, "share", quantity::ratio)?.unwrap_or(0.9);
    let adapts = match table.text("adapts") {
        Some("bit-rate") => Adaptation::BitRate,
        _ => Adaptation::FrameRate,
    };
    let means = optional(table, "interval", quantity::span)?.map(|interval| FollowMeans { interval, adapts });
    match table.node("adapts").filter(|_| means.is_none()) {
        Some(node) => {
            let message = "adapts needs interval, which is not given";
            Err(Fault::new(node.place, message, "Write an interval, such as \"1 s\", or leave adapts out"))
        }
        None => Ok(FollowAcr { share, means }),
    }
}
