//! Compressed video on a VBR connection: paper tcp-lrd-vbr, sections "VBR Video modeling" to "Observations".

use cellrate_proto::{BitRate, Duration, Time};

use crate::model::TrafficKind;

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

/// Treatment of rates below 0 or above the peak: the four techniques of paper tcp-lrd-vbr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OutOfRange {
    /// The first: e^x in Mb/s, rounded to whole ones, of Gaussian x with mean ln(mean) and deviation `deviation` /
    /// `mean`, so that about half of the rates are below `mean`; above the peak it is the peak.
    Exponentiate,
    /// The second: the nearest end of the range.
    Truncate,
    /// The third: the nearest end; what was cut off at 0 is taken from the next positive value.
    TruncateAndCarry,
    /// The fourth, the paper's choice: the next value of the sequence is taken instead.
    #[default]
    Ignore,
}

/// How fractional Gaussian noise is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NoiseMethod {
    /// Circulant embedding (Davies and Harte 1987): exact (default).
    #[default]
    DaviesHarte,
    /// The inverse FFT of an approximate spectrum (Paxson 1995): the paper's choice.
    Paxson,
}

/// Codecs have clocks of their own.
impl TrafficKind for VideoTraffic {
    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
        self.end = self.end.saturating_add(phase);
    }

    fn is_autonomous(&self) -> bool {
        true
    }
}
