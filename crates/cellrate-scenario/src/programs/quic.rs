//! QUIC with throughput advice: a player and a download over HTTP/3.

use cellrate_proto::declaration::{Dimension, Kind, Range, Shape, Table};
use cellrate_proto::{BitRate, Duration, Octets};

use super::Program;
use crate::text::error::{Fault, Place};
use crate::text::tree::Table;
use crate::text::written::{SomeOctets, Written};

/// Video in segments over HTTP/3 (aioquic), in a quality that the player takes from advice (SCONE), from its own
/// estimate, or from both.
#[derive(Clone, Debug, PartialEq, Table)]
#[table(name = "quic-player", written)]
pub struct Player {
    /// Source of the quality: the lowest advice of the last 67 s, the mean of its own measurements (each counts half of
    /// all before), or the lower of both. Without any of it the quality is the lowest.
    #[key(default = "both", kind = Kind::Choice(&["advice", "estimate", "both"]))]
    pub by: String,
    /// Rates of the qualities, lowest first.
    #[key(
        default = "[\"500 kbps\", \"1 Mbps\", \"2 Mbps\", \"4 Mbps\", \"8 Mbps\"]",
        or = [500, 1_000, 2_000, 4_000, 8_000].map(|kbps| BitRate::from_bps(1_000 * kbps)).to_vec(),
        kind = Kind::List(&Kind::Positive(Dimension::LineRate), 1)
    )]
    pub qualities: Vec<BitRate>,
    /// Share of advice or estimate that a quality may have.
    #[key(default = "0.9", range = Range::SHARE)]
    pub share: f64,
    /// Length of a segment.
    #[key(default = "2 s")]
    pub segment: Duration,
    /// Most that is fetched ahead of playing, a segment at least.
    #[key(default = "20 s")]
    pub buffer: Duration,
    /// Length of video that has to be there before it plays, at the beginning and after a stall; at most buffer.
    #[key(default = "4 s")]
    pub prebuffer: Duration,
    /// How the server sends.
    #[key(flatten)]
    pub sending: Sending,
}

/// A file over HTTP/3 (aioquic), fetched in parts, which may be paced by advice (SCONE).
#[derive(Clone, Debug, PartialEq, Table)]
#[table(name = "quic-download", written)]
pub struct Download {
    /// Length of the file.
    #[key(default = "\"10 MB\"", or = Octets(10_000_000), as = SomeOctets)]
    pub size: Octets,
    /// Length of each part that is asked for: advice that has changed counts from the next one on.
    #[key(default = "\"500 kB\"", or = Octets(500_000), as = SomeOctets)]
    pub part: Octets,
    /// How the server sends.
    #[key(flatten)]
    pub sending: Sending,
}

/// How a server of HTTP/3 sends.
#[derive(Clone, Debug, PartialEq, Table)]
#[table(written)]
pub struct Sending {
    /// The server spreads what it sends over time, at the advice that its client tells it; without advice as fast as
    /// QUIC lets it.
    #[key(default = "false")]
    pub pace: bool,
    /// Congestion control of QUIC, as aioquic has it.
    #[key(default = "cubic", kind = Kind::Choice(&["reno", "cubic"]))]
    pub congestion_control: String,
}

/// Most qualities: they go to the player in one argument.
const MOST_QUALITIES: usize = 100;

impl Program for Player {
    const SHAPE: Shape = Player::SHAPE;

    fn read(table: &Table, place: Place) -> Result<Player, Fault> {
        let values = Written::new(table, place);
        let player = Player::read(&values)?;
        let Player { qualities, segment, buffer, prebuffer, .. } = &player;
        let refused =
            |key: &str, message: String, remedy: &str| Err(Fault::new(values.place_of(key), message, remedy));
        if !qualities.is_sorted_by(|one, next| one < next) {
            return refused(
                "qualities",
                "qualities do not rise".to_string(),
                "Write each once, the lowest first",
            );
        }
        if qualities.len() > MOST_QUALITIES {
            let message = format!("there are {} qualities", qualities.len());
            return refused("qualities", message, "Write 100 at most");
        }
        if segment > buffer {
            let message = format!("a segment of {segment} does not fit into a buffer of {buffer}");
            return refused("buffer", message, "Let it hold one segment at least");
        }
        if prebuffer > buffer {
            let message = format!("prebuffer is {prebuffer}, and the buffer holds {buffer}");
            return refused("prebuffer", message, "Let it be as much as the buffer at most");
        }
        Ok(player)
    }
}

impl Program for Download {
    const SHAPE: Shape = Download::SHAPE;

    fn read(table: &Table, place: Place) -> Result<Download, Fault> {
        Download::read(&Written::new(table, place))
    }
}
