//! Frames of a codec in UDP datagrams: the video and the telephony of paper internet-applications.

use std::sync::Arc;

use cellrate_proto::declaration::{Kind, Range, Shape, Table, key, words};
use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{CellRate, Duration, Octets, Time};

use super::TrafficKind;
use super::kinds::{Declared, sends_from_start_to_end};
use crate::keys::{MAX_COLUMN, MAX_FRAME, MOST_HEADER, MOST_PAYLOAD};
use crate::text::error::Fault;
use crate::text::reading::start_and_end;
use crate::text::tree::{Node, Table, Value};
use crate::text::written::{CountOrZero, Written, from_node, setting};
use crate::text::{check, quantity};

/// A frame at every instant of a clock, cut into UDP datagrams that go over IP over AAL5 without feedback.
#[derive(Clone, Debug, PartialEq)]
pub struct FramesTraffic {
    /// Frame n (from 0 on) comes n / `frames_per_second` seconds after the start.
    pub frames_per_second: FrameRate,
    /// How long frames are as the codec gives them.
    pub lengths: FrameLengths,
    /// Largest payload of a datagram; all datagrams of a frame but the last have it.
    pub datagram: Octets,
    /// Octets of UDP and IP header before the payload.
    pub header: Octets,
    /// How IP packets become AAL5 SDUs.
    pub encapsulation: Encapsulation,
    /// Frames are left out so that those sent need no more than a share of ACR; ABR connections only.
    pub follow_acr: Option<FollowAcr>,
    /// In-rate FRMs follow the last cell of each frame and not every Nrm - 1 cells; ABR connections only.
    pub frm_at_frame_ends: bool,
    /// The first frame.
    pub start: Time,
    /// No frame at or after this.
    pub end: Time,
    /// How many of the frames sent are listed one by one, from the first on; all of them are in the figures.
    pub record: u32,
}

/// Frames a second as a ratio of whole numbers, so that film at 30000/1001 frames a second does not drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRate {
    /// So many frames, above 0.
    pub frames: u64,
    /// In so many seconds, above 0.
    pub seconds: u64,
}

impl FrameRate {
    /// A whole number of frames each second.
    pub const fn whole(frames: u64) -> FrameRate {
        FrameRate { frames, seconds: 1 }
    }

    /// How long after the first frame number `number` comes, rounded down to a picosecond.
    pub fn after(self, number: u64) -> Duration {
        let ps = u128::from(number) * u128::from(self.seconds) * 1_000_000_000_000 / u128::from(self.frames);
        Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// The rate as a number [frames/s].
    pub fn as_f64(self) -> f64 {
        self.frames as f64 / self.seconds as f64
    }
}

/// How long frames are.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameLengths {
    /// Gaussian, independent, and drawn again outside 1 octet to twice `size`.
    Gaussian {
        /// The mean, above 0.
        size: Octets,
        /// The standard deviation, at most `size`; 0 for frames of one length.
        deviation: Octets,
    },
    /// One after the other as listed, and then the first again.
    Trace {
        /// Lengths \[octets\], not all 0: where one is 0 no frame comes.
        lengths: Arc<[u32]>,
        /// Which comes first.
        first: FirstOfTrace,
    },
}

impl FrameLengths {
    /// Mean length of those frames that come, rounded.
    pub fn mean(&self) -> Octets {
        match self {
            FrameLengths::Gaussian { size, .. } => *size,
            FrameLengths::Trace { lengths, .. } => {
                let come = lengths.iter().filter(|&&length| length > 0);
                let (count, sum) = come.fold((0, 0), |(n, sum), &length| (n + 1, sum + u64::from(length)));
                Octets((sum + count / 2) / count.max(1))
            }
        }
    }
}

/// Where in a trace a sender begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstOfTrace {
    /// Counted from 0, within the trace.
    At(u32),
    /// Each of them with the same probability.
    Random,
}

/// A sender that reads its ACR (proposed by paper internet-applications, section 4.2, and not built there).
///
/// Credit grows by `share` times ACR, up to twice a mean frame, and a frame is sent if there is credit for all of its
/// cells, which it uses up; else it is left out. So the rate of frames is proportional to ACR over the rate of the
/// video.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowAcr {
    /// Part of ACR that data may have [above 0, at most 1]; RM cells take one cell in Nrm, and what is less than the
    /// rest empties the adapter's queue.
    pub share: f64,
    /// By the means of an interval, and not frame by frame.
    pub means: Option<FollowMeans>,
}

/// A sender that follows the mean ACR: at the end of each interval the part of the film that is sent becomes `share` of
/// the mean ACR over the mean rate of the film, both of that interval (paper internet-applications, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowMeans {
    /// From one change to the next [above 0].
    pub interval: Duration,
    /// The quantity that gives way.
    pub adapts: Adaptation,
}

words! {
    /// The quantity of a film that gives way where ACR does not carry it all.
    #[derive(Default)]
    pub enum Adaptation {
        /// Frames are left out, evenly (default).
        #[default]
        FrameRate = "frame-rate",
        /// All frames are sent, each as much shorter.
        BitRate = "bit-rate",
    }
}

/// Frames are left out so that those sent need no more than a share of ACR: credit grows by that share, up to two mean
/// frames, and a frame without credit for all its cells is left out; or by the means of an interval. For category abr.
#[derive(Table)]
#[table(name = "follow_acr", written)]
struct FollowKeys {
    /// The part of ACR that data may have; RM cells take one cell in Nrm, and the rest empties the queue of the
    /// adapter.
    #[key(default = "0.9", range = Range::SHARE)]
    share: f64,
    /// Uses means in place of credit: at the end of each interval, the part of the film that is sent becomes share x
    /// mean ACR / mean rate of the film, both of that interval.
    #[key(default = "none: frame by frame")]
    interval: Option<Duration>,
    /// With `interval`: frames are left out evenly, or all are sent and each is as much shorter.
    #[key(default = "frame-rate")]
    adapts: Adaptation,
}

setting!(FollowAcr => FollowAcr, Kind::Table(&FollowKeys::SHAPE), false);
setting!(FrameRate => FrameRate, Kind::Ratio(Range::closed(0.001, 10_000.0)), false);

from_node! {
    FollowAcr: follow_acr;
    FrameRate: frame_rate;
}

const TRACE: Shape = Shape {
    name: "trace",
    about: "Measured lengths of frames, one after the other; after the last comes the first again.",
    keys: &[
        key(
            "file",
            Kind::Text,
            "required: this or sizes",
            "A text file with a frame in each line, as seen from the scenario's folder; lines without a digit, and those that begin with # or %, are passed over. It is read with the scenario, and what is stored beside results has `sizes` instead: `column` and `unit` are for another file then, as in a sweep.",
        ),
        key(
            "column",
            Kind::Integer(1, MAX_COLUMN),
            "1",
            "In which column of the file lengths are; spaces, tabs, commas and semicolons are between columns.",
        ),
        key(
            "unit",
            Kind::Choice(&["octets", "bits"]),
            "\"octets\"",
            "Unit of the lengths in the file; bits are rounded up to octets.",
        ),
        key(
            "sizes",
            Kind::List(&Kind::Integer(0, MAX_FRAME), 1),
            "required: this or file",
            "The lengths themselves, in octets; a length of 0 stands for no frame.",
        ),
        key(
            "first",
            Kind::Or(&[Kind::Integer(1, u32::MAX as i64), Kind::Choice(&["random"])]),
            "1",
            "Frame of the trace with which the sender begins; \"random\" draws one for each connection and seed.",
        ),
    ],
};

/// Frames of a codec, video or voice, in UDP datagrams over IP over AAL5, one frame at each instant of a clock; what
/// the sender may not yet send waits (paper internet-applications).
#[derive(Table)]
#[table(name = "frames", written)]
struct Keys {
    /// A codec of speech in RTP (RFC 3551), which says `frames_per_second` and `size`: G.711, 80 octets in 10 ms;
    /// G.729, 10 in 10 ms; G.723.1 at 6.3 or 5.3 kb/s, 24 or 20 in 30 ms; GSM full rate, 33 in 20 ms.
    #[key(default = "none", kind = Kind::Choice(&["g711", "g729", "g723.1-6.3", "g723.1-5.3", "gsm"]))]
    codec: Option<String>,
    /// Speech in a packet: whole frames of the `codec`, at most 200 ms. Results count it as a frame.
    #[key(default = "\"20 ms\", of g723.1 \"30 ms\"")]
    packet: Option<Duration>,
    /// The clock: a number, or a fraction such as "30000/1001".
    #[key(default = "required: this or codec")]
    frames_per_second: Option<FrameRate>,
    /// Mean length of a frame: 1 octet to 16 MiB.
    #[key(default = "required: this, trace or codec")]
    size: Option<Octets>,
    /// Lengths from a file, such as a published trace of a film.
    #[key(default = "required: this, size or codec", kind = Kind::Table(&TRACE))]
    trace: Option<Node>,
    /// Standard deviation of the lengths, at most `size`: Gaussian, independent, drawn again outside 1 octet to twice
    /// `size`.
    #[key(default = "0 octets")]
    deviation: Octets,
    /// Largest payload of a datagram, 1 to 65000 octets: a frame fills as many as it needs.
    #[key(default = "1472 octets")]
    datagram: Octets,
    /// Octets of UDP and IP header, of a codec RTP too, before the payload: 0 to 120.
    #[key(default = "\"28 octets\", with codec \"40 octets\"")]
    header: Option<Octets>,
    /// How IP packets become AAL5 SDUs: with the 8 octets of LLC/SNAP, or bare.
    #[key(default = "llc-snap")]
    encapsulation: Encapsulation,
    /// The sender reads its ACR and leaves frames out.
    #[key(default = "every frame is sent")]
    follow_acr: Option<FollowAcr>,
    /// Cells that a forward RM cell follows: Nrm - 1 others, or those of a whole frame (paper abr-parameters, section
    /// 4.2.1), in which ACR changes seldom; Trm bounds the time between either way. For category abr.
    #[key(default = "nrm", kind = Kind::Choice(&["nrm", "frame"]))]
    frm_after: String,
    /// Number of the frames sent that the results list one by one.
    #[key(default = "0", or = 0, as = CountOrZero)]
    record: u32,
    /// The first instant with data.
    #[key(default = "0 ms")]
    start: Time,
    /// No data from this instant on.
    #[key(default = "never", or = Time::NEVER)]
    end: Time,
}

impl Declared for FramesTraffic {
    const SHAPE: Shape = Keys::SHAPE;

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<FramesTraffic, Fault> {
        start_and_end(table)?;
        let values = Written::new(table, node.place);
        let keys = Keys::read(&values)?;
        // Octets of `key` are from `low` to `high`.
        let within = |key: &str, octets: Octets, low: u64, high: u64, allowed: &str| match table.node(key) {
            Some(node) if octets.0 < low || octets.0 > high => {
                Err(Fault::new(node.place, format!("{key} is {octets}"), format!("It must be {allowed}")))
            }
            _ => Ok(octets),
        };
        let speech = speech(&keys, table)?;
        let frames_per_second = keys
            .frames_per_second
            .or(speech.map(|speech| speech.rate))
            .ok_or_else(|| check::missing(node.place, "frames_per_second", "such as 24, or a codec"))?;
        let of_size = |size| within("size", size, 1, MAX_FRAME as u64, "from 1 octet to 16 MiB");
        let size = keys.size.map(of_size).transpose()?;
        let lengths = match (&keys.trace, size) {
            (Some(lengths), None) if table.node("deviation").is_none() => trace(lengths)?,
            (Some(_), _) => {
                let message = "trace cannot go with size or deviation: it says how long frames are";
                let place = table.entry("trace").map_or(node.place, |entry| entry.place);
                return Err(Fault::new(place, message, "Leave trace out, or size and deviation"));
            }
            (None, Some(size)) => {
                let deviation = within("deviation", keys.deviation, 0, size.0, "at most the size")?;
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
        let header = keys.header.unwrap_or(Octets(if speech.is_some() { 40 } else { 28 }));
        Ok(FramesTraffic {
            frames_per_second,
            lengths,
            datagram: within("datagram", keys.datagram, 1, MOST_PAYLOAD, "from 1 to 65000 octets")?,
            header: within("header", header, 0, MOST_HEADER, "at most 120 octets")?,
            encapsulation: keys.encapsulation,
            follow_acr: keys.follow_acr,
            frm_at_frame_ends: keys.frm_after == "frame",
            start: keys.start,
            end: keys.end,
            record: keys.record,
        })
    }
}

/// Codecs have clocks of their own.
impl TrafficKind for FramesTraffic {
    sends_from_start_to_end!();

    fn fixed_spacing(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }
}

/// Packets of a codec of speech.
#[derive(Clone, Copy)]
struct Speech {
    rate: FrameRate,
    size: Octets,
}

/// The content of a packet of the codec, if there is one (RFC 3551, section 4.5 and table 1).
fn speech(keys: &Keys, table: &Table) -> Result<Option<Speech>, Fault> {
    let Some(codec) = &keys.codec else {
        return match table.node("packet") {
            Some(packet) => {
                let message = "packet needs codec: it says how much of its speech a packet carries";
                Err(Fault::new(packet.place, message, "Leave it out, or write codec = \"g711\""))
            }
            None => Ok(None),
        };
    };
    for key in ["frames_per_second", "size", "trace", "deviation"] {
        if let Some(node) = table.node(key) {
            let message = format!("{key} cannot go with codec, which sets it");
            return Err(Fault::new(node.place, message, format!("Leave {key} out, or codec")));
        }
    }
    // Milliseconds and octets of a frame, and frames of a packet.
    let (ms, octets, frames) = match codec.as_str() {
        "g729" => (10, 10, 2),
        "g723.1-6.3" => (30, 24, 1),
        "g723.1-5.3" => (30, 20, 1),
        "gsm" => (20, 33, 1),
        _ => (10, 80, 2),
    };
    let frames = match (keys.packet, table.node("packet")) {
        (Some(packet), Some(node)) => {
            let frame = Duration::from_ms(ms);
            if packet.as_ps() % frame.as_ps() != 0 || packet > Duration::from_ms(200) {
                let message = format!("packet is {packet}");
                let remedy =
                    format!("It must be a multiple of {frame}, a frame of the codec, and at most 200 ms");
                return Err(Fault::new(node.place, message, remedy));
            }
            packet.as_ps() / frame.as_ps()
        }
        _ => frames,
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
        let message =
            "file needs a scenario that is read from a file itself: its place is as seen from there";
        return Err(Fault::new(file.place, message, "Write sizes = [...], the lengths themselves"));
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
            "all frames of the trace have a length of 0",
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
    let values = Written::of(node);
    let FollowKeys { share, interval, adapts } = FollowKeys::read(&values)?;
    match values.node("adapts").filter(|_| interval.is_none()) {
        Some(node) => {
            let message = "adapts needs interval, which is not given";
            Err(Fault::new(node.place, message, "Write an interval, such as \"1 s\", or leave adapts out"))
        }
        None => Ok(FollowAcr { share, means: interval.map(|interval| FollowMeans { interval, adapts }) }),
    }
}
