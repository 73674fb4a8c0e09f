//! The keys of applications.

use cellrate_proto::declaration::{Dimension, Kind, Range, Shape, Tagged, key, required};

use super::{COUNT, LIKE, NAME};
use crate::keys::{SPAN, TIME};

const OCTETS: Kind = Kind::Quantity(Dimension::Octets);
const BIT_RATE: Kind = Kind::Positive(Dimension::LineRate);

pub(super) const APPLICATION: Shape = Shape {
    name: "application",
    about: "A program on the hosts of a live run. A scenario with applications is for `cellrate live run` only.",
    keys: &[
        NAME,
        required(
            "kind",
            Kind::Or(&[Kind::Tagged(&KINDS), Kind::Choice(KIND_NAMES)]),
            "Program that runs: a table, or the type alone where nothing in it is required.",
        ),
        required(
            "host",
            Kind::Reference,
            "Where data comes from: the server of ftp and web, the sender of video, voice and iperf3; where a command runs.",
        ),
        key(
            "peer",
            Kind::Reference,
            "required, but for a command",
            "Where data goes to: the client of ftp and web, the receiver.",
        ),
        key("start", TIME, "\"0 ms\"", "When it begins; servers are there before the network's time begins."),
        key("end", TIME, "the end of the run", "When it is stopped, if it has not ended by itself."),
        COUNT,
        LIKE,
    ],
};

/// The types of [`KINDS`] (held by a test).
const KIND_NAMES: &[&str] = &["ftp", "web", "video", "voice", "iperf3", "command"];

const KINDS: Tagged = Tagged {
    name: "kind",
    default: None,
    variants: &[
        (
            "ftp",
            Shape {
                name: "ftp",
                about: "Bulk data over TCP: a file from vsftpd, fetched with curl.",
                keys: &[key(
                    "size",
                    Kind::Or(&[OCTETS, Kind::Choice(&["infinite"])]),
                    "\"infinite\"",
                    "Length of the file; \"infinite\" is more than can be sent until the end.",
                )],
            },
        ),
        (
            "web",
            Shape {
                name: "web",
                about: "Pages from nginx, each an HTML text and an image, fetched one after the other over connections of their own (HTTP/1.0).",
                keys: &[
                    key("pages", Kind::Integer(1, 100_000), "30", "How many pages are fetched."),
                    key("html", OCTETS, "\"600 octets\"", "Length of a page's text."),
                    key("image", OCTETS, "\"300 kB\"", "Length of a page's image."),
                    key("gap", TIME, "\"1 s\"", "From the end of a page to the beginning of the next."),
                ],
            },
        ),
        (
            "video",
            Shape {
                name: "video",
                about: "Motion JPEG over RTP and UDP (RFC 2435): frames made by ffmpeg, sent at their instants, counted at the receiver and played out of a buffer.",
                keys: &[
                    key(
                        "rate",
                        BIT_RATE,
                        "\"8.5 Mbps\"",
                        "Mean rate of the JPEG data at `frame_rate`, headers left out: sets the size of frames.",
                    ),
                    key("frame_rate", RATIO_OF_FRAMES, "24", "Frames per second, 1 to 120."),
                    key(
                        "send_every",
                        Kind::Integer(1, 120),
                        "1",
                        "One frame in so many is sent: 24 frames per second become 8 with 3.",
                    ),
                    key(
                        "follow_acr",
                        Kind::Boolean,
                        "false",
                        "The sender asks its adapter for ACR and sends no more frames than it carries.",
                    ),
                    key(
                        "acr_share",
                        Kind::Ratio(Range::above(0.0, 1.0)),
                        "0.9",
                        "With follow_acr: the share of ACR that frames may have, headers included.",
                    ),
                    key(
                        "buffer",
                        OCTETS,
                        "\"1 MB\"",
                        "Frame buffer of the receiver; what does not fit is lost.",
                    ),
                    key("prebuffer", TIME, "\"500 ms\"", "From the first frame to the beginning of playing."),
                    key(
                        "late",
                        Kind::Choice(&["wait", "skip"]),
                        "\"wait\"",
                        "The player's answer to a frame that has not come in time: it waits, and is late from then on; or goes on without.",
                    ),
                ],
            },
        ),
        (
            "voice",
            Shape {
                name: "voice",
                about: "G.711 over RTP, sent by GStreamer; packets, gaps and jitter counted at the receiver.",
                keys: &[
                    key("packet", SPAN, "\"20 ms\"", "Voice in a packet, in whole ms: 10 to 200."),
                    key(
                        "redundancy",
                        Kind::Integer(0, 4),
                        "0",
                        "Copies (RFC 2198) of the packet so many before, in each packet; 0: none.",
                    ),
                    key(
                        "playout_delay",
                        TIME,
                        "\"100 ms\"",
                        "A packet is played so long after the earliest instant it could have come; later ones are silence.",
                    ),
                ],
            },
        ),
        (
            "iperf3",
            Shape {
                name: "iperf3",
                about: "iperf3, with its figures of goodput, losses and jitter.",
                keys: &[
                    key("protocol", Kind::Choice(&["tcp", "udp"]), "\"tcp\"", "Which transport."),
                    key(
                        "rate",
                        Kind::Or(&[BIT_RATE, Kind::Choice(&["unlimited"])]),
                        "\"unlimited\" for tcp; \"1 Mbps\" for udp",
                        "Rate of the data of all streams together, as bits per second of payload.",
                    ),
                    key("streams", Kind::Integer(1, 128), "1", "Connections side by side."),
                    key("length", OCTETS, "iperf3's own", "Octets per write, and per datagram of udp."),
                ],
            },
        ),
        (
            "command",
            Shape {
                name: "command",
                about: "Any program, on `host`. In its words {host} and {peer} are addresses, {folder} is where its files are kept, and where it runs. One with a / in its name is looked for from the scenario's folder on.",
                keys: &[
                    required("words", Kind::List(&Kind::Text, 1), "The program and its arguments."),
                    key(
                        "background",
                        Kind::Boolean,
                        "false",
                        "Started before the network's time begins, awaited until it is ready, stopped at the end; `start` has no meaning then.",
                    ),
                    key("ready", Kind::Table(&READY), "at once", "Sign that it is ready; one of the keys."),
                    key("ready_within", SPAN, "\"10 s\"", "It has failed if it is not ready by then."),
                ],
            },
        ),
    ],
};

const RATIO_OF_FRAMES: Kind =
    Kind::Ratio(Range { low: 1.0, high: 120.0, low_included: true, high_included: true });

const READY: Shape = Shape {
    name: "ready",
    about: "When a program is ready.",
    keys: &[
        key("port", Kind::Integer(1, 65_535), "none", "It listens at this TCP port."),
        key("pattern", Kind::Text, "none", "A line of its output has this text in it."),
        key("file", Kind::Text, "none", "This file is there."),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_may_be_named_alone() {
        assert_eq!(KIND_NAMES, KINDS.variants.iter().map(|(tag, _)| *tag).collect::<Vec<_>>());
    }
}
