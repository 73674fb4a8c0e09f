//! Video traffic.

use cellrate_proto::{BitRate, CellRate, Duration};

use crate::model::{NoiseMethod, OutOfRange, VideoTraffic};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{optional, start_and_end};
use crate::text::tree::{Node, Table};

/// The rate of HDTV quality (paper tcp-lrd-vbr).
const PEAK: BitRate = BitRate::from_bps(15_000_000);
/// Longest span that the standard allows between clock references, and shortest that vendors use (paper tcp-lrd-vbr).
const REFERENCE_INTERVAL: [Duration; 2] = [Duration::from_ms(20), Duration::from_ms(100)];

pub(super) fn read(node: &Node, table: &Table) -> Result<VideoTraffic, Fault> {
    let (start, end) = start_and_end(table)?;
    let rate = |key: &str| {
        optional(table, key, |node| quantity::positive_cell_rate(node).map(CellRate::to_bit_rate))
    };
    let required = |key: &str| match rate(key)? {
        Some(rate) => Ok(rate),
        None => Err(check::missing(node.place, key, "such as \"5 Mbps\"")),
    };
    let (mean, deviation) = (required("mean")?, required("deviation")?);
    let peak = rate("peak")?.unwrap_or(PEAK);
    let out_of_range = match table.text("out_of_range") {
        Some("exponentiate") => OutOfRange::Exponentiate,
        Some("truncate") => OutOfRange::Truncate,
        Some("truncate-and-carry") => OutOfRange::TruncateAndCarry,
        _ => OutOfRange::Ignore,
    };
    let bits = |rate: BitRate| rate.as_bps() as f64;
    // Else hardly a value of the sequence would ever be within the range, and a run would not end.
    if out_of_range == OutOfRange::Ignore && bits(mean) > bits(peak) + 2.0 * bits(deviation) {
        let message =
            format!("mean is {mean}, more than two deviations of {deviation} above the peak of {peak}");
        let place = table.node("mean").map_or(node.place, |node| node.place);
        return Err(Fault::new(place, message, "Write a lower mean or a higher peak"));
    }
    // Values of a Gaussian sequence lie in a range this small once in a thousand times at most.
    if out_of_range == OutOfRange::Ignore && bits(deviation) > 400.0 * bits(peak) {
        let message = format!("deviation is {deviation}, more than 400 times the peak of {peak}");
        let place = table.node("deviation").map_or(node.place, |node| node.place);
        return Err(Fault::new(place, message, "Write a smaller deviation, or another out_of_range"));
    }
    let method = match table.text("method") {
        Some("paxson") => NoiseMethod::Paxson,
        _ => NoiseMethod::DaviesHarte,
    };
    let sequence = optional(table, "sequence", quantity::span)?;
    if let (Some(node), NoiseMethod::DaviesHarte) = (table.node("sequence"), method) {
        let remedy = "Leave it out, or write method = \"paxson\"";
        return Err(Fault::new(node.place, "sequence has no effect with method = \"davies-harte\"", remedy));
    }
    Ok(VideoTraffic {
        programs: optional(table, "programs", |node| check::integer(node, 1, 1024))?.unwrap_or(1) as u32,
        mean,
        deviation,
        hurst: optional(table, "hurst", quantity::ratio)?.unwrap_or(0.8),
        peak,
        reference_interval: optional(table, "reference_interval", interval)?.unwrap_or(REFERENCE_INTERVAL),
        out_of_range,
        method,
        sequence,
        start,
        end,
    })
}

fn interval(node: &Node) -> Result<[Duration; 2], Fault> {
    let [low, high] = check::pair(node)?;
    let spans = [quantity::span(low)?, quantity::span(high)?];
    if spans[1] < spans[0] {
        let message = format!("the longest span, {}, is shorter than the shortest, {}", spans[1], spans[0]);
        return Err(Fault::new(high.place, message, "Write the shorter one first"));
    }
    if spans[0] < Duration::from_us(100) {
        let message = format!("{} is too short for a clock reference", spans[0]);
        return Err(Fault::new(low.place, message, "Write at least 100 us"));
    }
    Ok(spans)
}
