//! QUIC with throughput advice: a player and a download over HTTP/3.

use cellrate_proto::declaration::{Dimension, Key, Kind, Range, Shape, key};
use cellrate_proto::{BitRate, Duration, Octets};

use super::Program;
use crate::keys::{OCTETS, SPAN};
use crate::text::error::{Fault, Place};
use crate::text::reading::{or_default, some_octets};
use crate::text::tree::Table;
use crate::text::{check, quantity};

/// A player that fetches segments of video in a quality of its choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// Source of the quality: "advice", "estimate" or "both".
    pub by: String,
    /// Qualities, lowest first \[bit/s\].
    pub qualities: Vec<BitRate>,
    /// The share of advice or estimate that a quality may have [above 0 to 1].
    pub share: f64,
    /// Length of a segment.
    pub segment: Duration,
    /// Most that is fetched ahead.
    pub buffer: Duration,
    /// Length of video that has to be there before it plays, at the beginning and after a stall.
    pub prebuffer: Duration,
    /// How the server sends.
    pub sending: Sending,
}

/// A download of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Download {
    /// Its length.
    pub size: Octets,
    /// Length of each part that is asked for: advice that has changed counts from the next one on.
    pub part: Octets,
    /// How the server sends.
    pub sending: Sending,
}

/// How a server of HTTP/3 sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    /// Whether it spreads an answer over time, at the advice that its client was told.
    pub pace: bool,
    /// Congestion control of its QUIC: "reno" or "cubic".
    pub congestion_control: String,
}

/// Most qualities: they go to the player in one argument.
const MOST_QUALITIES: usize = 100;
/// Sources of a player's quality.
const BY: &[&str] = &["advice", "estimate", "both"];
/// Congestion control that aioquic has.
const CONTROLS: &[&str] = &["reno", "cubic"];

const PACE: Key = key(
    "pace",
    Kind::Boolean,
    "false",
    "The server spreads what it sends over time, at the advice that its client tells it; without advice as fast as QUIC lets it.",
);
const CONTROL: Key = key(
    "congestion_control",
    Kind::Choice(CONTROLS),
    "\"cubic\"",
    "Congestion control of QUIC, as aioquic has it.",
);

impl Sending {
    fn read(table: &Table, shape: &Shape) -> Result<Sending, Fault> {
        Ok(Sending {
            pace: or_default(table, shape, "pace", check::boolean)?,
            congestion_control: word(table, "congestion_control", "cubic"),
        })
    }
}

/// The word of a checked choice.
fn word(table: &Table, key: &str, default: &str) -> String {
    table.text(key).unwrap_or(default).to_owned()
}

impl Program for Player {
    const SHAPE: Shape = Shape {
        name: "quic-player",
        about: "Video in segments over HTTP/3 (aioquic), in a quality that the player takes from advice (SCONE), from its own estimate, or from both.",
        keys: &[
            key(
                "by",
                Kind::Choice(BY),
                "\"both\"",
                "What the quality is taken from: the lowest advice of the last 67 s, the mean of its own measurements (each counts half of all before), or the lower of both. Without any of it the quality is the lowest.",
            ),
            key(
                "qualities",
                Kind::List(&Kind::Positive(Dimension::LineRate), 1),
                "[\"500 kbps\", \"1 Mbps\", \"2 Mbps\", \"4 Mbps\", \"8 Mbps\"]",
                "Rates of the qualities, lowest first.",
            ),
            key(
                "share",
                Kind::Ratio(Range::above(0.0, 1.0)),
                "0.9",
                "Share of advice or estimate that a quality may have.",
            ),
            key("segment", SPAN, "\"2 s\"", "Length of a segment."),
            key("buffer", SPAN, "\"20 s\"", "Most that is fetched ahead of playing, a segment at least."),
            key(
                "prebuffer",
                SPAN,
                "\"4 s\"",
                "What has to be there before it plays, at the beginning and after a stall; at most buffer.",
            ),
            PACE,
            CONTROL,
        ],
    };

    fn read(table: &Table, place: Place) -> Result<Player, Fault> {
        let time = |key: &str| or_default(table, &Self::SHAPE, key, quantity::span);
        let qualities = or_default(table, &Self::SHAPE, "qualities", |node| {
            check::list(node)?.iter().map(quantity::line_rate).collect::<Result<Vec<_>, _>>()
        })?;
        let of = |key: &str| table.node(key).map_or(place, |node| node.place);
        if !qualities.is_sorted_by(|one, next| one < next) {
            return Err(Fault::new(
                of("qualities"),
                "qualities do not rise",
                "Write each once, the lowest first",
            ));
        }
        if qualities.len() > MOST_QUALITIES {
            let message = format!("there are {} qualities", qualities.len());
            return Err(Fault::new(of("qualities"), message, "Write 100 at most"));
        }
        let (segment, buffer, prebuffer) = (time("segment")?, time("buffer")?, time("prebuffer")?);
        if segment > buffer {
            let message = format!("a segment of {segment} does not fit into a buffer of {buffer}");
            return Err(Fault::new(of("buffer"), message, "Let it hold one segment at least"));
        }
        if prebuffer > buffer {
            let message = format!("prebuffer is {prebuffer}, and the buffer holds {buffer}");
            return Err(Fault::new(of("prebuffer"), message, "Let it be as much as the buffer at most"));
        }
        Ok(Player {
            by: word(table, "by", "both"),
            qualities,
            share: or_default(table, &Self::SHAPE, "share", quantity::ratio)?,
            segment,
            buffer,
            prebuffer,
            sending: Sending::read(table, &Self::SHAPE)?,
        })
    }
}

impl Program for Download {
    const SHAPE: Shape = Shape {
        name: "quic-download",
        about: "A file over HTTP/3 (aioquic), fetched in parts, which may be paced by advice (SCONE).",
        keys: &[
            key("size", OCTETS, "\"10 MB\"", "Length of the file."),
            key(
                "part",
                OCTETS,
                "\"500 kB\"",
                "Length of each part that is asked for: advice that has changed counts from the next one on.",
            ),
            PACE,
            CONTROL,
        ],
    };

    fn read(table: &Table, _place: Place) -> Result<Download, Fault> {
        let octets = |key: &str| or_default(table, &Self::SHAPE, key, some_octets);
        Ok(Download {
            size: octets("size")?,
            part: octets("part")?,
            sending: Sending::read(table, &Self::SHAPE)?,
        })
    }
}
