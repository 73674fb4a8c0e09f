//! An MPEG-2 transport stream, from its encoder to the clock and the buffer of its decoder: paper tcp-lrd-vbr, section
//! "Overview of MPEG-2 over ATM".

use std::sync::Arc;

use cellrate_proto::{BitRate, Duration, Octets, Time};

use super::{FrameRate, TrafficKind};

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

/// Codecs have clocks of their own.
impl TrafficKind for Mpeg2Traffic {
    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
        self.end = self.end.saturating_add(phase);
    }

    fn is_autonomous(&self) -> bool {
        true
    }
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

/// Which transport packets share an AAL5 PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Always two, 8 cells.
    Pairs,
    /// Two, but a packet with a clock reference ends its PDU: as the first one it is alone, in 5 cells.
    References,
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
