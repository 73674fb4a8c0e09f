//! An MPEG-2 transport stream, from its encoder to the clock and the buffer of its decoder: paper tcp-lrd-vbr, section
//! "Overview of MPEG-2 over ATM".

use std::sync::Arc;

use cellrate_proto::declaration::{Dimension, Kind, Range, Reading, Shape, Table, words};
use cellrate_proto::{BitRate, CellRate, Duration, Octets, Time};

use super::TrafficKind;
use super::frames::FrameRate;
use super::kinds::{Declared, sends_from_start_to_end};
use crate::keys::{MAX_FRAME, SPAN};
use crate::text::error::{Fault, Place};
use crate::text::reading::{spans, start_and_end};
use crate::text::tree::{Node, Table};
use crate::text::written::{CountOrZero, Written, from_node, setting};
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

/// The receiver of the stream: a phase-locked loop of second order that follows the clock references, and a buffer from
/// which pictures are taken at their time.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
#[table(name = "decoder", written)]
pub struct Mpeg2Decoder {
    /// Natural frequency of the loop in Hz.
    #[key(default = "0.02", range = Range::closed(0.000_001, 100.0))]
    pub frequency: f64,
    /// Damping ratio of the loop.
    #[key(
        default = "0.7071, one over the root of 2",
        or = std::f64::consts::FRAC_1_SQRT_2,
        range = Range::closed(0.01, 100.0)
    )]
    pub damping: f64,
    /// By how much the receiver's oscillator is faster than 27 MHz before the loop acts, at most 1000 ppm either way.
    ///
    /// In ppm.
    #[key(default = "\"0 ppm\"", or = 0.0, as = Ppm)]
    pub clock_offset: f64,
    /// Time from a picture's instant at the encoder to its decoding by the recovered clock, in addition to the delay of
    /// the first clock reference, which sets that clock.
    #[key(default = "300 ms")]
    pub delay: Duration,
    /// Room for pictures that wait for decoding; by default that of main profile at main level, 1835008 bits.
    ///
    /// ISO/IEC 13818-2, table 8-13.
    #[key(default = "\"229376 octets\"", or = Octets(1_835_008 / 8), as = Size)]
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

/// Longest span between clock references (ISO/IEC 13818-1, 2.7.2), and the shortest that vendors use (paper
/// tcp-lrd-vbr).
pub(super) const REFERENCE_INTERVAL: [Duration; 2] = [Duration::from_ms(20), Duration::from_ms(100)];

/// Times of I, P and B pictures on the line, in pictures' times (paper tcp-lrd-vbr, section 2: 4 to 5, 0.5 to 1, 0.2).
const TIMES: [f64; 3] = [4.5, 0.75, 0.2];

/// Octets of a transport packet, and its payload.
const PACKET: [u64; 2] = [188, 184];

/// An MPEG-2 transport stream of one program: pictures of a GOP as PES packets, in transport packets of 188 octets, two
/// in an AAL5 PDU of 8 cells; clock references that a receiver's clock follows (ISO/IEC 13818-1; paper tcp-lrd-vbr;
/// docs/guides/mpeg2.md).
#[derive(Table)]
#[table(name = "mpeg2", written)]
struct Keys {
    /// Rate of the transport stream, 188 octets a packet; with rate_control = "buffer" its largest rate.
    #[key(kind = Kind::Positive(Dimension::LineRate))]
    rate: BitRate,
    /// Pictures of a group in the order in which they are sent: I, P and B, 1 to 1000 of them.
    #[key(default = "\"IBBPBBPBBPBB\"", or = pictures("IBBPBBPBBPBB").unwrap_or_default(), as = Group)]
    gop: Vec<Picture>,
    /// The encoder's clock of pictures: a number, or a fraction such as "30000/1001".
    #[key(default = "25", or = FrameRate::whole(25), kind = Kind::Ratio(Range::closed(0.001, 1_000.0)))]
    pictures_per_second: FrameRate,
    /// Mean length of an I picture, at most 16 MiB.
    #[key(default = "what `rate` carries in 4.5 pictures' time", as = Option<Size>)]
    i: Option<Octets>,
    /// Mean length of a P picture.
    #[key(default = "what `rate` carries in 0.75 pictures' time", as = Option<Size>)]
    p: Option<Octets>,
    /// Mean length of a B picture.
    #[key(default = "what `rate` carries in 0.2 pictures' time", as = Option<Size>)]
    b: Option<Octets>,
    /// Standard deviation of lengths over their mean: Gaussian, independent, drawn again outside 1 octet to twice the
    /// mean.
    #[key(default = "0", range = Range::FRACTION)]
    deviation: f64,
    /// Rate from one clock reference to the next: always `rate`; or so much that what waits in the encoder would be
    /// gone after `drains_in`, at most `rate`. Null packets keep it where nothing waits.
    #[key(default = "constant", kind = Kind::Choice(&["constant", "buffer"]))]
    rate_control: String,
    /// With rate_control = "buffer": the span that what waits is spread over.
    #[key(default = "the longest of `reference_interval`")]
    drains_in: Option<Duration>,
    /// Spans between clock references are uniform from the first to the second, which is at most 100 ms.
    #[key(default = "[\"20 ms\", \"100 ms\"]", kind = Kind::Pair(&SPAN, &SPAN))]
    reference_interval: Option<Node>,
    /// Transport packets that share a PDU: always two; or two, but one with a clock reference ends its PDU, and is
    /// alone in 5 cells where it is the first.
    #[key(default = "pairs")]
    packing: Packing,
    /// By how much the encoder's clock is faster than 27 MHz, at most 1000 ppm either way; the standard allows 30.
    #[key(default = "\"0 ppm\"", or = 0.0, as = Ppm)]
    clock_offset: f64,
    /// The receiver.
    #[key(default = "all defaults")]
    decoder: Option<Mpeg2Decoder>,
    /// Number of the clock references received that the results list one by one.
    #[key(default = "0", or = 0, as = CountOrZero)]
    record: u32,
    /// The first instant with data.
    #[key(default = "0 ms")]
    start: Time,
    /// No data from this instant on.
    #[key(default = "never", or = Time::NEVER)]
    end: Time,
}

/// The offset of a clock \[ppm\].
struct Ppm;
/// The length of a picture, or room for some.
struct Size;
/// Pictures by their letters.
struct Group;

setting!(Ppm => f64, Kind::Quantity(Dimension::Offset), true);
setting!(Size => Octets, Kind::Positive(Dimension::Octets), true);
setting!(Group => Vec<Picture>, Kind::Text, true);

from_node! {
    Ppm: |node| Ok(quantity::clock_offset(node)?.as_ppm());
    Group: |node| {
        let letters = node.text().unwrap_or_default();
        pictures(letters).ok_or_else(|| {
            let message = format!("gop is \"{}\"", quantity::shortened(letters));
            Fault::new(node.place, message, "Write 1 to 1000 letters I, P and B, such as \"IBBPBBPBBPBB\"")
        })
    };
}

impl Reading<Written<'_>> for Size {
    fn read(values: &Written<'_>, key: &'static str) -> Result<Option<Octets>, Fault> {
        let Some(node) = values.node(key) else { return Ok(None) };
        let octets = quantity::octets(node)?;
        if octets.0 == 0 || octets.0 > MAX_FRAME as u64 {
            let message = format!("{key} is {octets}");
            return Err(Fault::new(node.place, message, "It must be from 1 octet to 16 MiB"));
        }
        Ok(Some(octets))
    }
}

impl Declared for Mpeg2Traffic {
    const SHAPE: Shape = Keys::SHAPE;

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<Mpeg2Traffic, Fault> {
        start_and_end(table)?;
        if table.node("rate").is_none() {
            return Err(check::missing(node.place, "rate", "such as \"5 Mbps\""));
        }
        let values = Written::new(table, node.place);
        let keys = Keys::read(&values)?;
        let (rate, pictures_per_second) = (keys.rate, keys.pictures_per_second);
        let reference_interval = match &keys.reference_interval {
            Some(node) => interval(node, rate)?,
            None if has_room(rate, REFERENCE_INTERVAL[0]) => REFERENCE_INTERVAL,
            None => return Err(too_slow(values.place_of("rate"), rate, REFERENCE_INTERVAL[0])),
        };
        let control = match (&*keys.rate_control, keys.drains_in) {
            ("buffer", drains_in) => {
                RateControl::Buffer { drains_in: drains_in.unwrap_or(reference_interval[1]) }
            }
            (_, Some(_)) => {
                let message = "drains_in goes with rate_control = \"buffer\"";
                return Err(Fault::new(values.place_of("drains_in"), message, "Leave it out, or write that"));
            }
            _ => RateControl::Constant,
        };
        let mut sizes = TIMES.map(|times| {
            let octets = times * rate.as_bps() as f64 / 8.0 / pictures_per_second.as_f64();
            Octets((octets as u64).clamp(1, MAX_FRAME as u64))
        });
        for (given, size) in [keys.i, keys.p, keys.b].into_iter().zip(&mut sizes) {
            *size = given.unwrap_or(*size);
        }
        if let (Some(decoder), Some(node)) = (&keys.decoder, table.node("decoder")) {
            check_loop(decoder, node, reference_interval[1])?;
        }
        let traffic = Mpeg2Traffic {
            gop: keys.gop.into(),
            pictures_per_second,
            sizes,
            deviation: keys.deviation,
            rate,
            control,
            reference_interval,
            packing: keys.packing,
            clock_offset: keys.clock_offset,
            decoder: keys.decoder.unwrap_or_default(),
            start: keys.start,
            end: keys.end,
            record: keys.record,
        };
        check_rate(&traffic, values.place_of("rate"))?;
        Ok(traffic)
    }
}

/// Codecs have clocks of their own.
impl TrafficKind for Mpeg2Traffic {
    sends_from_start_to_end!();

    fn is_autonomous(&self) -> bool {
        true
    }
}

/// Refuses pictures that the stream cannot carry, so that ever more of them would wait.
fn check_rate(traffic: &Mpeg2Traffic, place: Place) -> Result<(), Fault> {
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
    let message = format!(
        "rate is {}, and pictures of {} octets in the mean, {} a second, take {} bit/s of transport packets",
        traffic.rate,
        mean.round(),
        traffic.pictures_per_second.as_f64(),
        needed.ceil()
    );
    Err(Fault::new(place, message, "Write a higher rate, or smaller i, p and b"))
}

/// The pictures that letters stand for, if these are letters of pictures, and not too many.
fn pictures(letters: &str) -> Option<Vec<Picture>> {
    let picture = |letter: char| match letter {
        'I' => Some(Picture::Intra),
        'P' => Some(Picture::Predicted),
        'B' => Some(Picture::Bidirectional),
        _ => None,
    };
    letters.chars().map(picture).collect::<Option<Vec<_>>>().filter(|all| (1..=1000).contains(&all.len()))
}

/// Whether two packets leave at `rate` within `span`.
fn has_room(rate: BitRate, span: Duration) -> bool {
    u128::from(rate.as_bps()) * u128::from(span.as_ps()) >= u128::from(2 * 8 * PACKET[0]) * 1_000_000_000_000
}

fn too_slow(place: Place, rate: BitRate, span: Duration) -> Fault {
    let message = format!(
        "at {rate} no two transport packets leave in {span}, the shortest span between clock references"
    );
    Fault::new(place, message, "Write a higher rate, or longer spans")
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
        return Err(too_slow(low.place, rate, spans[0]));
    }
    Ok(spans)
}

/// Refuses a loop that does not settle with clock references so far apart.
fn check_loop(decoder: &Mpeg2Decoder, node: &Node, longest: Duration) -> Result<(), Fault> {
    if decoder.settles(longest) {
        return Ok(());
    }
    let message = format!(
        "the loop's frequency is {} Hz with damping {}, and with clock references {longest} apart it does not settle",
        decoder.frequency, decoder.damping
    );
    let place = Written::of(node).place_of("frequency");
    Err(Fault::new(place, message, "Write a lower frequency, or shorter spans between references"))
}
