//! MPEG-2 transport streams.

use cellrate_proto::{BitRate, Duration, Octets};

use super::frames::frame_rate;
use crate::format::MAX_FRAME;
use crate::model::{FrameRate, Mpeg2Decoder, Mpeg2Traffic, Packing, Picture, RateControl};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{optional, start_and_end};
use crate::text::tree::{Node, Table};

/// Longest span between clock references (ISO/IEC 13818-1, 2.7.2), and the shortest that vendors use (paper
/// tcp-lrd-vbr).
const REFERENCE_INTERVAL: [Duration; 2] = [Duration::from_ms(20), Duration::from_ms(100)];
/// Times of I, P and B pictures on the line, in pictures' times (paper tcp-lrd-vbr, section 2: 4 to 5, 0.5 to 1, 0.2).
const TIMES: [f64; 3] = [4.5, 0.75, 0.2];
/// Octets of a transport packet, and its payload.
const PACKET: [u64; 2] = [188, 184];
/// Room for pictures of main profile at main level (ISO/IEC 13818-2, table 8-13).
const BUFFER: Octets = Octets(1_835_008 / 8);

pub(super) fn read(node: &Node, table: &Table) -> Result<Mpeg2Traffic, Fault> {
    let (start, end) = start_and_end(table)?;
    let Some(rate) = optional(table, "rate", quantity::line_rate)? else {
        return Err(check::missing(node.place, "rate", "such as \"5 Mbps\""));
    };
    let reference_interval =
        optional(table, "reference_interval", |node| interval(node, rate))?.unwrap_or(REFERENCE_INTERVAL);
    if table.node("reference_interval").is_none() && !has_room(rate, REFERENCE_INTERVAL[0]) {
        return Err(too_slow(table.node("rate").unwrap_or(node), rate, REFERENCE_INTERVAL[0]));
    }
    let control = match (table.text("rate_control"), table.node("drains_in")) {
        (Some("buffer"), drains_in) => RateControl::Buffer {
            drains_in: drains_in.map(quantity::span).transpose()?.unwrap_or(reference_interval[1]),
        },
        (_, Some(drains_in)) => {
            let message = "drains_in goes with rate_control = \"buffer\"";
            return Err(Fault::new(drains_in.place, message, "Leave it out, or write that"));
        }
        _ => RateControl::Constant,
    };
    let pictures_per_second =
        optional(table, "pictures_per_second", frame_rate)?.unwrap_or(FrameRate::whole(25));
    let gop = match table.node("gop") {
        Some(gop) => pictures(gop, gop.text().unwrap_or_default())?,
        None => pictures(node, "IBBPBBPBBPBB")?,
    };
    let mut sizes = TIMES.map(|times| {
        Octets(
            ((times * rate.as_bps() as f64 / 8.0 / pictures_per_second.as_f64()) as u64)
                .clamp(1, MAX_FRAME as u64),
        )
    });
    for (key, size) in ["i", "p", "b"].into_iter().zip(&mut sizes) {
        let Some(given) = table.node(key) else { continue };
        *size = octets(given, key)?;
    }
    let traffic = Mpeg2Traffic {
        gop: gop.into(),
        pictures_per_second,
        sizes,
        deviation: optional(table, "deviation", quantity::ratio)?.unwrap_or(0.0),
        rate,
        control,
        reference_interval,
        packing: match table.text("packing") {
            Some("references") => Packing::References,
            _ => Packing::Pairs,
        },
        clock_offset: offset(table)?,
        decoder: decoder(table.node("decoder"), reference_interval[1])?,
        start,
        end,
        record: optional(table, "record", |node| check::integer(node, 0, i64::from(u32::MAX)))?.unwrap_or(0)
            as u32,
    };
    check_rate(node, table, &traffic)?;
    Ok(traffic)
}

/// Refuses pictures that the stream cannot carry, so that ever more of them would wait.
fn check_rate(node: &Node, table: &Table, traffic: &Mpeg2Traffic) -> Result<(), Fault> {
    let of = |picture: &Picture| match picture {
        Picture::Intra => traffic.sizes[0].0,
        Picture::Predicted => traffic.sizes[1].0,
        Picture::Bidirectional => traffic.sizes[2].0,
    };
    let mean = traffic.gop.iter().map(of).sum::<u64>() as f64 / traffic.gop.len() as f64;
    let needed = 8.0 * mean * traffic.pictures_per_second.as_f64() * PACKET[0] as f64 / PACKET[1] as f64;
    if needed <= traffic.rate.as_bps() as f64 {
        return Ok(());
    }
    let place = table.node("rate").map_or(node.place, |rate| rate.place);
    let message = format!(
        "rate is {}, and pictures of {} octets in the mean, {} a second, take {} bit/s of transport packets",
        traffic.rate,
        mean.round(),
        traffic.pictures_per_second.as_f64(),
        needed.ceil()
    );
    Err(Fault::new(place, message, "Write a higher rate, or smaller i, p and b"))
}

/// The length of a picture.
fn octets(node: &Node, key: &str) -> Result<Octets, Fault> {
    let octets = quantity::octets(node)?;
    if octets.0 == 0 || octets.0 > MAX_FRAME as u64 {
        let message = format!("{key} is {octets}");
        return Err(Fault::new(node.place, message, "It must be from 1 octet to 16 MiB"));
    }
    Ok(octets)
}

/// A clock's offset \[ppm\].
fn offset(table: &Table) -> Result<f64, Fault> {
    Ok(optional(table, "clock_offset", quantity::clock_offset)?.map_or(0.0, |offset| offset.as_ppm()))
}

/// The pictures that letters stand for.
fn pictures(node: &Node, letters: &str) -> Result<Vec<Picture>, Fault> {
    let picture = |letter: char| match letter {
        'I' => Some(Picture::Intra),
        'P' => Some(Picture::Predicted),
        'B' => Some(Picture::Bidirectional),
        _ => None,
    };
    let all: Option<Vec<Picture>> = letters.chars().map(picture).collect();
    all.filter(|all| (1..=1000).contains(&all.len())).ok_or_else(|| {
        let message = format!("gop is \"{}\"", quantity::shortened(letters));
        Fault::new(node.place, message, "Write 1 to 1000 letters I, P and B, such as \"IBBPBBPBBPBB\"")
    })
}

/// Whether two packets leave at `rate` within `span`.
fn has_room(rate: BitRate, span: Duration) -> bool {
    u128::from(rate.as_bps()) * u128::from(span.as_ps()) >= u128::from(2 * 8 * PACKET[0]) * 1_000_000_000_000
}

fn too_slow(node: &Node, rate: BitRate, span: Duration) -> Fault {
    let message = format!(
        "at {rate} no two transport packets leave in {span}, the shortest span between clock references"
    );
    Fault::new(node.place, message, "Write a higher rate, or longer spans")
}

fn interval(node: &Node, rate: BitRate) -> Result<[Duration; 2], Fault> {
    let [low, high] = check::pair(node)?;
    let spans = [quantity::span(low)?, quantity::span(high)?];
    if spans[1] < spans[0] {
        let message = format!("the longest span, {}, is shorter than the shortest, {}", spans[1], spans[0]);
        return Err(Fault::new(high.place, message, "Write the shorter one first"));
    }
    if spans[1] > REFERENCE_INTERVAL[1] {
        let message = format!("clock references may be {} apart", spans[1]);
        return Err(Fault::new(
            high.place,
            message,
            "Write at most 100 ms, the most that the standard allows",
        ));
    }
    if !has_room(rate, spans[0]) {
        return Err(too_slow(low, rate, spans[0]));
    }
    Ok(spans)
}

fn decoder(node: Option<&Node>, longest: Duration) -> Result<Mpeg2Decoder, Fault> {
    let empty = Table::default();
    let table = node.and_then(Node::table).unwrap_or(&empty);
    let ratio = |key: &str, default| Ok(optional(table, key, quantity::ratio)?.unwrap_or(default));
    let decoder = Mpeg2Decoder {
        frequency: ratio("frequency", 0.02)?,
        damping: ratio("damping", std::f64::consts::FRAC_1_SQRT_2)?,
        clock_offset: offset(table)?,
        delay: optional(table, "delay", quantity::span)?.unwrap_or(Duration::from_ms(300)),
        buffer: table.node("buffer").map(|node| octets(node, "buffer")).transpose()?.unwrap_or(BUFFER),
    };
    if let (false, Some(node)) = (decoder.settles(longest), node) {
        let message = format!(
            "the loop's frequency is {} Hz with damping {}, and with clock references {longest} apart it does not settle",
            decoder.frequency, decoder.damping
        );
        let place = table.node("frequency").map_or(node.place, |frequency| frequency.place);
        return Err(Fault::new(
            place,
            message,
            "Write a lower frequency, or shorter spans between references",
        ));
    }
    Ok(decoder)
}
