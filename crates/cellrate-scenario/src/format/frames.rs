//! The keys of frames in UDP datagrams.

use cellrate_proto::declaration::{Dimension, Kind, Range, Shape, key};

use super::kinds::SPAN;
use super::tcp::encapsulation;
use super::timing::{END_KEY, START_KEY};

const OCTETS: Kind = Kind::Quantity(Dimension::Octets);

const FOLLOW_ACR: Shape = Shape {
    name: "follow_acr",
    about: "Frames are left out so that those sent need no more than a share of ACR: credit grows by that share, up to two mean frames, and a frame without credit for all its cells is left out; or by the means of an interval. For category abr.",
    keys: &[
        key(
            "share",
            Kind::Ratio(Range::above(0.0, 1.0)),
            "0.9",
            "The part of ACR that data may have; RM cells take one cell in Nrm, and the rest empties the queue of the adapter.",
        ),
        key(
            "interval",
            SPAN,
            "none: frame by frame",
            "No credit, but means: at the end of each interval the part of the film that is sent becomes share x mean ACR / mean rate of the film, of that interval.",
        ),
        key(
            "adapts",
            Kind::Choice(&["frame-rate", "bit-rate"]),
            "\"frame-rate\"",
            "With `interval`: frames are left out evenly, or all are sent and each is as much shorter.",
        ),
    ],
};

/// Largest length of a frame \[octets\]: no picture of any codec is longer, and its cells can be counted in 32 bits.
pub(crate) const MAX_FRAME: i64 = 1 << 24;
/// Most columns of a file.
pub(crate) const MAX_COLUMN: i64 = 1_000;

const TRACE: Shape = Shape {
    name: "trace",
    about: "Lengths of frames one after the other, as somebody measured them; after the last comes the first again.",
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
            "The lengths themselves, in octets; where one is 0 no frame comes.",
        ),
        key(
            "first",
            Kind::Or(&[Kind::Integer(1, u32::MAX as i64), Kind::Choice(&["random"])]),
            "1",
            "Which frame of the trace the sender begins with; \"random\" is another one for each connection and seed.",
        ),
    ],
};

/// Codecs of speech.
const CODECS: &[&str] = &["g711", "g729", "g723.1-6.3", "g723.1-5.3", "gsm"];

pub(super) const FRAMES: Shape = Shape {
    name: "frames",
    about: "Frames of a codec, video or voice, in UDP datagrams over IP over AAL5, one frame at each instant of a clock; what the sender may not yet send waits (paper internet-applications).",
    keys: &[
        key(
            "codec",
            Kind::Choice(CODECS),
            "none",
            "A codec of speech in RTP (RFC 3551), which says `frames_per_second` and `size`: G.711, 80 octets in 10 ms; G.729, 10 in 10 ms; G.723.1 at 6.3 or 5.3 kb/s, 24 or 20 in 30 ms; GSM full rate, 33 in 20 ms.",
        ),
        key(
            "packet",
            SPAN,
            "\"20 ms\", of g723.1 \"30 ms\"",
            "Speech in a packet: whole frames of the `codec`, at most 200 ms. It is the frame of results.",
        ),
        key(
            "frames_per_second",
            Kind::Ratio(Range::closed(0.001, 10_000.0)),
            "required: this or codec",
            "The clock: a number, or two with a stroke between such as \"30000/1001\".",
        ),
        key("size", OCTETS, "required: this, trace or codec", "Mean length of a frame: 1 octet to 16 MiB."),
        key(
            "trace",
            Kind::Table(&TRACE),
            "required: this, size or codec",
            "Lengths from a file, such as a published trace of a film.",
        ),
        key(
            "deviation",
            OCTETS,
            "\"0 octets\"",
            "Standard deviation of the lengths, at most `size`: Gaussian, independent, drawn again outside 1 octet to twice `size`.",
        ),
        key(
            "datagram",
            OCTETS,
            "\"1472 octets\"",
            "Largest payload of a datagram, 1 to 65000 octets: a frame fills as many as it needs.",
        ),
        key(
            "header",
            OCTETS,
            "\"28 octets\", with codec \"40 octets\"",
            "Octets of UDP and IP header, of a codec RTP too, before the payload: 0 to 120.",
        ),
        encapsulation("\"llc-snap\""),
        key(
            "follow_acr",
            Kind::Table(&FOLLOW_ACR),
            "every frame is sent",
            "The sender reads its ACR and leaves frames out.",
        ),
        key(
            "frm_after",
            Kind::Choice(&["nrm", "frame"]),
            "\"nrm\"",
            "Cells that a forward RM cell follows: Nrm - 1 others, or those of a whole frame (paper abr-parameters, section 4.2.1), in which ACR changes seldom; Trm bounds the time between either way. For category abr.",
        ),
        key(
            "record",
            Kind::Integer(0, u32::MAX as i64),
            "0",
            "How many of the frames sent the results list one by one.",
        ),
        START_KEY,
        END_KEY,
    ],
};
