//! Compressed video on a VBR connection: paper tcp-lrd-vbr, sections "VBR Video modeling" to "Observations".

use cellrate_proto::declaration::{Kind, Range, Setting, Shape, key, required, words};
use cellrate_proto::{BitRate, CellRate, Duration, Time};

use super::TrafficKind;
use super::kinds::Declared;
use super::mpeg2::REFERENCE_INTERVAL;
use crate::keys::{END_KEY, POSITIVE_RATE, SPAN, START_KEY};
use crate::text::error::Fault;
use crate::text::reading::{optional, or_default, spans, start_and_end, word};
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};

/// Several single-program MPEG-2 transport streams on one VC. Each program sends cells evenly at a rate that holds from
/// one clock reference to the next; its rates are long-range dependent.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoTraffic {
    /// Programs, from 1 to 1024.
    pub programs: u32,
    /// Mean of the Gaussian rates, before any is ruled out, on the line (53 octets a cell).
    pub mean: BitRate,
    /// Standard deviation of the same.
    pub deviation: BitRate,
    /// Hurst parameter of the sequence of rates [0.5 to below 1].
    pub hurst: f64,
    /// Largest rate of a program.
    pub peak: BitRate,
    /// The spans between clock references are uniform from the first to the second.
    pub reference_interval: [Duration; 2],
    /// Treatment of rates below 0 or above the peak.
    pub out_of_range: OutOfRange,
    /// How the Gaussian sequence is made.
    pub method: NoiseMethod,
    /// The time that a sequence of Paxson's method is made for at least; `None` is the run. The mean of a whole
    /// sequence hardly wanders, that of a part of one does.
    pub sequence: Option<Duration>,
    /// The first cell.
    pub start: Time,
    /// No cell at or after this.
    pub end: Time,
}

words! {
    /// Treatment of rates below 0 or above the peak: the four techniques of paper tcp-lrd-vbr.
    #[derive(Default)]
    pub enum OutOfRange {
        /// The fourth, the paper's choice: the next value of the sequence is taken instead.
        #[default]
        Ignore = "ignore",
        /// The second: the nearest end of the range.
        Truncate = "truncate",
        /// The third: the nearest end; what was cut off at 0 is taken from the next positive value.
        TruncateAndCarry = "truncate-and-carry",
        /// The first: e^x in Mb/s, rounded to whole ones, of Gaussian x with mean ln(mean) and deviation `deviation` /
        /// `mean`, so that about half of the rates are below `mean`; above the peak it is the peak.
        Exponentiate = "exponentiate",
    }
}

words! {
    /// How fractional Gaussian noise is made.
    #[derive(Default)]
    pub enum NoiseMethod {
        /// Circulant embedding (Davies and Harte 1987): exact (default).
        #[default]
        DaviesHarte = "davies-harte",
        /// The inverse FFT of an approximate spectrum (Paxson 1995): the paper's choice.
        Paxson = "paxson",
    }
}

/// The rate of HDTV quality (paper tcp-lrd-vbr).
const PEAK: BitRate = BitRate::from_bps(15_000_000);

impl Declared for VideoTraffic {
    const SHAPE: Shape = Shape {
        name: "video",
        about: "Compressed video: MPEG-2 programs whose rates are long-range dependent and hold from one clock reference to the next (paper tcp-lrd-vbr). The noise is made for the whole length of the traffic at once, so that a longer run with the same seed may have other rates from the start.",
        keys: &[
            key("programs", Kind::Integer(1, 1024), "1", "Programs on the VC."),
            required(
                "mean",
                POSITIVE_RATE,
                "Mean of the Gaussian rates, 53 octets a cell, before any is ruled out.",
            ),
            required("deviation", POSITIVE_RATE, "Their standard deviation."),
            key(
                "hurst",
                Kind::Ratio(Range::below(0.5, 1.0)),
                "0.8",
                "Hurst parameter of a program's sequence of rates.",
            ),
            key("peak", POSITIVE_RATE, "\"15 Mbps\"", "Largest rate of a program."),
            key(
                "reference_interval",
                Kind::Pair(&SPAN, &SPAN),
                "[\"20 ms\", \"100 ms\"]",
                "Spans between clock references are uniform from the first to the second.",
            ),
            key(
                "out_of_range",
                OutOfRange::KIND,
                "\"ignore\"",
                "Treatment of rates below 0 or above the peak: \"ignore\" takes the next rate instead; \"truncate\" the nearest end; \"truncate-and-carry\" does, too, and takes what was cut off at 0 from the next positive rate; \"exponentiate\" takes e^x in whole Mb/s, x Gaussian with mean ln(mean) and deviation `deviation` / `mean`.",
            ),
            key(
                "method",
                NoiseMethod::KIND,
                "\"davies-harte\"",
                "How fractional Gaussian noise is made: exactly (Davies and Harte 1987), or from an approximate spectrum (Paxson 1995), whose sequences have means that hardly wander.",
            ),
            key(
                "sequence",
                SPAN,
                "as long as the run",
                "With method \"paxson\": length of the sequence that is made, at least that of the run, which uses its beginning. The mean of a part wanders as that of the noise does.",
            ),
            START_KEY,
            END_KEY,
        ],
    };

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<VideoTraffic, Fault> {
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
        let out_of_range = word(table, "out_of_range", OutOfRange::named);
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
        let method = word(table, "method", NoiseMethod::named);
        let sequence = optional(table, "sequence", quantity::span)?;
        if let (Some(node), NoiseMethod::DaviesHarte) = (table.node("sequence"), method) {
            let remedy = "Leave it out, or write method = \"paxson\"";
            return Err(Fault::new(
                node.place,
                "sequence has no effect with method = \"davies-harte\"",
                remedy,
            ));
        }
        Ok(VideoTraffic {
            programs: or_default(table, &Self::SHAPE, "programs", |node| check::integer(node, 1, 1024))?
                as u32,
            mean,
            deviation,
            hurst: or_default(table, &Self::SHAPE, "hurst", quantity::ratio)?,
            peak,
            reference_interval: optional(table, "reference_interval", interval)?
                .unwrap_or(REFERENCE_INTERVAL),
            out_of_range,
            method,
            sequence,
            start,
            end,
        })
    }
}

/// Codecs have clocks of their own.
impl TrafficKind for VideoTraffic {
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

fn interval(node: &Node) -> Result<[Duration; 2], Fault> {
    let spans = spans(node)?;
    if spans[0] < Duration::from_us(100) {
        let message = format!("{} is too short for a clock reference", spans[0]);
        return Err(Fault::new(check::pair(node)?[0].place, message, "Write at least 100 us"));
    }
    Ok(spans)
}
