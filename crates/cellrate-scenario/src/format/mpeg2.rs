//! The keys of MPEG-2 transport streams.

use cellrate_proto::declaration::{Dimension, Kind, Range, Shape, key, required};

use super::kinds::{FRACTION, SPAN};
use super::timing::{END_KEY, START_KEY};

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
            "From a picture's instant at the encoder to its decoding, as the recovered clock says; on top comes the way of the first clock reference, which sets that clock.",
        ),
        key(
            "buffer",
            SIZE,
            "\"229376 octets\"",
            "Room for pictures that wait for decoding; by default that of main profile at main level, 1835008 bits.",
        ),
    ],
};

pub(super) const MPEG2: Shape = Shape {
    name: "mpeg2",
    about: "An MPEG-2 transport stream of one program: pictures of a GOP as PES packets, in transport packets of 188 octets, two in an AAL5 PDU of 8 cells; clock references that a receiver's clock follows (ISO/IEC 13818-1; paper tcp-lrd-vbr; docs/guides/mpeg2.md).",
    keys: &[
        required(
            "rate",
            Kind::Positive(Dimension::LineRate),
            "Rate of the transport stream, 188 octets a packet: what it has, or has at most.",
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
            "The encoder's clock of pictures: a number, or two with a stroke between such as \"30000/1001\".",
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
            Kind::Choice(&["pairs", "references"]),
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
            "How many of the clock references that come the results list one by one.",
        ),
        START_KEY,
        END_KEY,
    ],
};
