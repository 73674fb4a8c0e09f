//! The keys of video traffic.

use cellrate_proto::declaration::{Kind, Range, Shape, key, required};

use super::kinds::{POSITIVE_RATE, SPAN};
use super::timing::{END_KEY, START_KEY};

pub(super) const VIDEO: Shape = Shape {
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
            Kind::Choice(&["ignore", "truncate", "truncate-and-carry", "exponentiate"]),
            "\"ignore\"",
            "Treatment of rates below 0 or above the peak: the next one instead; the nearest end; that, and what was cut off at 0 taken from the next positive one; or e^x in whole Mb/s, x Gaussian with mean ln(mean) and deviation `deviation` / `mean`.",
        ),
        key(
            "method",
            Kind::Choice(&["davies-harte", "paxson"]),
            "\"davies-harte\"",
            "How fractional Gaussian noise is made: exactly (Davies and Harte 1987), or from an approximate spectrum (Paxson 1995), whose sequences have means that hardly wander.",
        ),
        key(
            "sequence",
            SPAN,
            "as long as the run",
            "With method \"paxson\": the time that a sequence is made for, of which the run uses the beginning; what is shorter than the run is as long as it. The mean of a part wanders as that of the noise does.",
        ),
        START_KEY,
        END_KEY,
    ],
};
