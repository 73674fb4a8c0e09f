//! Compressed video on a VBR connection: paper tcp-lrd-vbr, sections "VBR Video modeling" to "Observations".

use cellrate_proto::declaration::{Kind, Range, Shape, Table, words};
use cellrate_proto::{BitRate, CellRate, Duration, Time};

use super::TrafficKind;
use super::kinds::{Declared, sends_from_start_to_end};
use super::mpeg2::REFERENCE_INTERVAL;
use crate::keys::{POSITIVE_RATE, SPAN};
use crate::text::error::Fault;
use crate::text::reading::{spans, start_and_end};
use crate::text::tree::{Node, Table};
use crate::text::written::{Written, from_node, setting};
use crate::text::{check, quantity};

/// Compressed video: MPEG-2 programs whose rates are long-range dependent and hold from one clock reference to the next
/// (paper tcp-lrd-vbr). The noise is made for the whole length of the traffic at once, so that a longer run with the
/// same seed may have other rates from the start.
///
/// Each program sends cells evenly; all programs are on one VC.
#[derive(Clone, Debug, PartialEq, Table)]
#[table(name = "video", written)]
pub struct VideoTraffic {
    /// Programs on the VC.
    #[key(default = "1", kind = Kind::Integer(1, 1024))]
    pub programs: u32,
    /// Mean of the Gaussian rates, 53 octets a cell, before any is ruled out.
    #[key(as = Rate)]
    pub mean: BitRate,
    /// Their standard deviation.
    #[key(as = Rate)]
    pub deviation: BitRate,
    /// Hurst parameter of a program's sequence of rates.
    #[key(default = "0.8", range = Range::below(0.5, 1.0))]
    pub hurst: f64,
    /// Largest rate of a program.
    ///
    /// By default that of HDTV quality (paper tcp-lrd-vbr).
    #[key(default = "\"15 Mbps\"", or = BitRate::from_bps(15_000_000), as = Rate)]
    pub peak: BitRate,
    /// Spans between clock references are uniform from the first to the second.
    #[key(default = "[\"20 ms\", \"100 ms\"]", or = REFERENCE_INTERVAL, as = Interval)]
    pub reference_interval: [Duration; 2],
    /// Treatment of rates below 0 or above the peak: "ignore" takes the next rate instead; "truncate" the nearest end;
    /// "truncate-and-carry" does, too, and takes what was cut off at 0 from the next positive rate; "exponentiate"
    /// takes e^x in whole Mb/s, x Gaussian with mean ln(mean) and deviation `deviation` / `mean`.
    #[key(default = "ignore")]
    pub out_of_range: OutOfRange,
    /// How fractional Gaussian noise is made: exactly (Davies and Harte 1987), or from an approximate spectrum (Paxson
    /// 1995), whose sequences have means that hardly wander.
    #[key(default = "davies-harte")]
    pub method: NoiseMethod,
    /// With method "paxson": length of the sequence that is made, at least that of the run, which uses its beginning.
    /// The mean of a part wanders as that of the noise does.
    #[key(default = "as long as the run")]
    pub sequence: Option<Duration>,
    /// The first instant with data.
    #[key(default = "0 ms")]
    pub start: Time,
    /// No data from this instant on.
    #[key(default = "never", or = Time::NEVER)]
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

/// A rate of cells above 0, as the bits of whole cells.
struct Rate;
/// The shortest span between clock references, and the longest.
struct Interval;

setting!(Rate => BitRate, POSITIVE_RATE, true);
setting!(Interval => [Duration; 2], Kind::Pair(&SPAN, &SPAN), true);

from_node! {
    Rate: |node| quantity::positive_cell_rate(node).map(CellRate::to_bit_rate);
    Interval: interval;
}

impl Declared for VideoTraffic {
    const SHAPE: Shape = VideoTraffic::SHAPE;

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<VideoTraffic, Fault> {
        start_and_end(table)?;
        if let Some(key) = ["mean", "deviation"].into_iter().find(|key| table.node(key).is_none()) {
            return Err(check::missing(node.place, key, "such as \"5 Mbps\""));
        }
        let values = Written::new(table, node.place);
        let traffic = VideoTraffic::read(&values)?;
        let VideoTraffic { mean, deviation, peak, .. } = &traffic;
        let bits = |rate: &BitRate| rate.as_bps() as f64;
        let ignores = traffic.out_of_range == OutOfRange::Ignore;
        // Else hardly a value of the sequence would ever be within the range, and a run would not end.
        if ignores && bits(mean) > bits(peak) + 2.0 * bits(deviation) {
            let message =
                format!("mean is {mean}, more than two deviations of {deviation} above the peak of {peak}");
            return Err(Fault::new(values.place_of("mean"), message, "Write a lower mean or a higher peak"));
        }
        // Values of a Gaussian sequence lie in a range this small once in a thousand times at most.
        if ignores && bits(deviation) > 400.0 * bits(peak) {
            let message = format!("deviation is {deviation}, more than 400 times the peak of {peak}");
            let remedy = "Write a smaller deviation, or another out_of_range";
            return Err(Fault::new(values.place_of("deviation"), message, remedy));
        }
        if traffic.sequence.is_some() && traffic.method == NoiseMethod::DaviesHarte {
            let message = "sequence has no effect with method = \"davies-harte\"";
            let remedy = "Leave it out, or write method = \"paxson\"";
            return Err(Fault::new(values.place_of("sequence"), message, remedy));
        }
        Ok(traffic)
    }
}

/// Codecs have clocks of their own.
impl TrafficKind for VideoTraffic {
    sends_from_start_to_end!();

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
