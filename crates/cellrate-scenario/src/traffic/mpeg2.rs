//! An MPEG-2 transport stream, from its encoder to the clock and the buffer of its decoder: paper tcp-lrd-vbr, section
//! "Overview of MPEG-2 over ATM".

use std::sync::Arc;

use cellrate_proto::declaration::{Dimension, Kind, Range, Setting, Shape, key, required, words};
use cellrate_proto::{BitRate, CellRate, Duration, Octets, Time};

use super::TrafficKind;
use super::frames::{FrameRate, frame_rate};
use super::kinds::Declared;
use crate::keys::{END_KEY, FRACTION, MAX_FRAME, SPAN, START_KEY};
use crate::text::error::Fault;
use crate::text::reading::{optional, or_default, spans, start_and_end, word};
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};

/// A transport stream of one program: pictures of a GOP as PES packets, in transport packets of 188 octets, in AAL5
/// PDUs of two.
#[derive(Clone, Debug, PartialEq)]
pub struct Mpeg2Traffic {
    /// Pictures of a group in the order in which they are sent, one at least; the group comes again and again.
    pub gop: Arc<[Picture]>,
    /// The encoder hands picture n (from 0 on) over n / `pictures_per_second` seconds after the start, by its clock.
    pub pictures_per_second: FrameRate,
    /// Mean length of I, P and B pictures, each above 0.
    pub sizes: [Octets; 3],
    /// Standard deviation of lengths over their mean [0 to 1]; Gaussian, independent, drawn again outside 1 octet to
    /// twice the mean.
    pub deviation: f64,
    /// Rate of the transport stream, 188 octets a packet: what it has, or may have at most.
    pub rate: BitRate,
    /// How the rate between two clock references is chosen.
    pub control: RateControl,
    /// The spans between clock references are uniform from the first to the second.
    pub reference_interval: [Duration; 2],
    /// Which packets share a PDU.
    pub packing: Packing,
    /// How much faster than 27 MHz the encoder's clock is \[ppm\].
    pub clock_offset: f64,
    /// The receiver.
    pub decoder: Mpeg2Decoder,
    /// The first packet.
    pub start: Time,
    /// No PDU at or after this.
    pub end: Time,
    /// How many clock references are listed one by one, from the first that comes on.
    pub record: u32,
}

/// The coding of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Picture {
    /// By itself.
    Intra,
    /// From one before.
    Predicted,
    /// From one before and one after.
    Bidirectional,
}

/// How the rate between two clock references is chosen. Where nothing waits, null packets keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateControl {
    /// It always is the rate of the stream.
    Constant,
    /// So much that what waits in the encoder would be gone after `drains_in`, at most the rate of the stream and at
    /// least two packets until the next reference.
    Buffer {
        /// Above 0.
        drains_in: Duration,
    },
}

words! {
    /// Which transport packets share an AAL5 PDU.
    #[derive(Default)]
    pub enum Packing {
        /// Always two, 8 cells (default).
        #[default]
        Pairs = "pairs",
        /// Two, but a packet with a clock reference ends its PDU: as the first one it is alone, in 5 cells.
        References = "references",
    }
}

/// The receiver of a transport stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mpeg2Decoder {
    /// Natural frequency of its phase-locked loop \[Hz\], above 0.
    pub frequency: f64,
    /// Damping ratio of the loop, above 0.
    pub damping: f64,
    /// How much faster than 27 MHz its oscillator is before the loop acts \[ppm\].
    pub clock_offset: f64,
    /// From a picture's instant to its decoding, both by the clock references as they come.
    pub delay: Duration,
    /// Room for pictures.
    pub buffer: Octets,
}

impl Mpeg2Decoder {
    /// Gains of the loop: control over error [1/s], and over the time integral of error [1/s^2].
    pub fn gains(&self) -> [f64; 2] {
        let omega = 2.0 * std::f64::consts::PI * self.frequency;
        [2.0 * self.damping * omega, omega * omega]
    }

    /// Whether the loop settles with references so far apart: both roots of z^2 - (2 - K T - k T^2) z + 1 - K T lie
    /// within the unit circle, K and k being the [gains](Mpeg2Decoder::gains).
    pub fn settles(&self, interval: Duration) -> bool {
        let ([proportional, integral], span) = (self.gains(), interval.as_secs_f64());
        2.0 * proportional * span + integral * span * span < 4.0 && proportional * span < 2.0
    }
}

const SIZE: Kind = Kind::Positive(Dimension::Octets);

const DECODER: Shape = Shape {
    name: "decoder",
    about: "The receiver of the stream: a phase-locked loop of second order that follows the clock references, and a buffer from which pictures are taken at their time.",
    keys: &[
        key(
            "frequency",
            Kind::Ratio(Range::closed(0.000_001, 100.0)),
            "0.02",
            "Natural frequency of the loop in Hz.",
        ),
        key(
            "damping",
            Kind::Ratio(Range::closed(0.01, 100.0)),
            "0.7071, one over the root of 2",
            "Damping ratio of the loop.",
        ),
        key(
            "clock_offset",
            Kind::Quantity(Dimension::Offset),
            "\"0 ppm\"",
            "By how much the receiver's oscillator is faster than 27 MHz before the loop acts, at most 1000 ppm either way.",
        ),
        key(
            "delay",
            SPAN,
            "\"300 ms\"",
            "Time from a picture's instant at the encoder to its decoding by the recovered clock, in addition to the delay of the first clock reference, which sets that clock.",
        ),
        key(
            "buffer",
            SIZE,
            "\"229376 octets\"",
            "Room for pictures that wait for decoding; by default that of main profile at main level, 1835008 bits.",
        ),
    ],
};

/// Longest span between clock references (ISO/IEC 13818-1, 2.7.2), and the shortest that vendors use (paper
/// tcp-lrd-vbr).
pub(super) const REFERENCE_INTERVAL: [Duration; 2] = [Duration::from_ms(20), Duration::from_ms(100)];

/// Times of I, P and B pictures on the line, in pictures' times (paper tcp-lrd-vbr, section 2: 4 to 5, 0.5 to 1, 0.2).
const TIMES: [f64; 3] = [4.5, 0.75, 0.2];

/// Octets of a transport packet, and its payload.
const PACKET: [u64; 2] = [188, 184];

/// Room for pictures of main profile at main level (ISO/IEC 13818-2, table 8-13).
const BUFFER: Octets = Octets(1_835_008 / 8);

impl Declared for Mpeg2Traffic {
    const SHAPE: Shape = Shape {
        name: "mpeg2",
        about: "An MPEG-2 transport stream of one program: pictures of a GOP as PES packets, in transport packets of 188 octets, two in an AAL5 PDU of 8 cells; clock references that a receiver's clock follows (ISO/IEC 13818-1; paper tcp-lrd-vbr; docs/guides/mpeg2.md).",
        keys: &[
            required(
                "rate",
                Kind::Positive(Dimension::LineRate),
                "Rate of the transport stream, 188 octets a packet; with rate_control = \"buffer\" its largest rate.",
            ),
            key(
                "gop",
                Kind::Text,
                "\"IBBPBBPBBPBB\"",
                "Pictures of a group in the order in which they are sent: I, P and B, 1 to 1000 of them.",
            ),
            key(
                "pictures_per_second",
                Kind::Ratio(Range::closed(0.001, 1_000.0)),
                "25",
                "The encoder's clock of pictures: a number, or a fraction such as \"30000/1001\".",
            ),
            key(
                "i",
                SIZE,
                "what `rate` carries in 4.5 pictures' time",
                "Mean length of an I picture, at most 16 MiB.",
            ),
            key("p", SIZE, "what `rate` carries in 0.75 pictures' time", "Mean length of a P picture."),
            key("b", SIZE, "what `rate` carries in 0.2 pictures' time", "Mean length of a B picture."),
            key(
                "deviation",
                FRACTION,
                "0",
                "Standard deviation of lengths over their mean: Gaussian, independent, drawn again outside 1 octet to twice the mean.",
            ),
            key(
                "rate_control",
                Kind::Choice(&["constant", "buffer"]),
                "\"constant\"",
                "Rate from one clock reference to the next: always `rate`; or so much that what waits in the encoder would be gone after `drains_in`, at most `rate`. Null packets keep it where nothing waits.",
            ),
            key(
                "drains_in",
                SPAN,
                "the longest of `reference_interval`",
                "With rate_control = \"buffer\": the span that what waits is spread over.",
            ),
            key(
                "reference_interval",
                Kind::Pair(&SPAN, &SPAN),
                "[\"20 ms\", \"100 ms\"]",
                "Spans between clock references are uniform from the first to the second, which is at most 100 ms.",
            ),
            key(
                "packing",
                Packing::KIND,
                "\"pairs\"",
                "Transport packets that share a PDU: always two; or two, but one with a clock reference ends its PDU, and is alone in 5 cells where it is the first.",
            ),
            key(
                "clock_offset",
                Kind::Quantity(Dimension::Offset),
                "\"0 ppm\"",
                "By how much the encoder's clock is faster than 27 MHz, at most 1000 ppm either way; the standard allows 30.",
            ),
            key("decoder", Kind::Table(&DECODER), "all defaults", "The receiver."),
            key(
                "record",
                Kind::Integer(0, u32::MAX as i64),
                "0",
                "Number of the clock references received that the results list one by one.",
            ),
            START_KEY,
            END_KEY,
        ],
    };

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<Mpeg2Traffic, Fault> {
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
            packing: word(table, "packing", Packing::named),
            clock_offset: offset(table)?,
            decoder: decoder(table.node("decoder"), reference_interval[1])?,
            start,
            end,
            record: optional(table, "record", |node| check::integer(node, 0, i64::from(u32::MAX)))?
                .unwrap_or(0) as u32,
        };
        check_rate(node, table, &traffic)?;
        Ok(traffic)
    }
}

/// Codecs have clocks of their own.
impl TrafficKind for Mpeg2Traffic {
    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
        self.end = self.end.saturating_add(phase);
    }

    fn changes(&self) -> Vec<Time> {
        vec![self.start, self.end]
    }

    fn sends_at(&self, at: Time) -> bool {
        self.start <= at && at < self.end
    }

    fn is_autonomous(&self) -> bool {
        true
    }
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
    let (spans, [low, high]) = (spans(node)?, check::pair(node)?);
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
        delay: or_default(table, &DECODER, "delay", quantity::span)?,
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
