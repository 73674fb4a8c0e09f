//! Programs on the hosts of a live run, as data.

use cellrate_proto::{BitRate, Duration, Octets, Time};

use crate::model::NodeIndex;

/// A program, or the two ends of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// Unique among applications.
    pub name: String,
    /// Program that runs.
    pub kind: ApplicationKind,
    /// Where data comes from.
    pub host: NodeIndex,
    /// Where it goes to; none for some commands.
    pub peer: Option<NodeIndex>,
    /// When it begins.
    pub start: Time,
    /// When it is stopped, if it still runs: the end of the run at the latest.
    pub end: Time,
}

/// Programs of an application.
#[derive(Clone, Debug, PartialEq)]
pub enum ApplicationKind {
    /// A file from vsftpd, fetched with curl.
    Ftp {
        /// Its length; `None` is more than can be sent.
        size: Option<Octets>,
    },
    /// Pages from nginx: a text and an image each.
    Web(Web),
    /// Motion JPEG.
    Video(Box<LiveVideo>),
    /// G.711 over RTP.
    Voice(Voice),
    /// iperf3.
    Iperf3(Iperf3),
    /// Any program.
    Command(Command),
}

impl ApplicationKind {
    /// The `type` in a file.
    pub fn name(&self) -> &'static str {
        match self {
            ApplicationKind::Ftp { .. } => "ftp",
            ApplicationKind::Web(_) => "web",
            ApplicationKind::Video(_) => "video",
            ApplicationKind::Voice(_) => "voice",
            ApplicationKind::Iperf3(_) => "iperf3",
            ApplicationKind::Command(_) => "command",
        }
    }
}

/// Web pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Web {
    /// How many.
    pub pages: u32,
    /// Length of the text \[octets\].
    pub html: Octets,
    /// Length of the image \[octets\].
    pub image: Octets,
    /// From the end of a page to the beginning of the next.
    pub gap: Duration,
}

/// Motion JPEG of real frames; the simulator's video is [`VideoTraffic`](crate::VideoTraffic).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveVideo {
    /// Mean rate of the JPEG data when all frames are sent.
    pub rate: BitRate,
    /// Frames per second [1 to 120].
    pub frame_rate: f64,
    /// One frame in so many is sent [at least 1].
    pub send_every: u32,
    /// The share of ACR that frames may have, where the sender follows ACR [above 0 to 1].
    pub follow_acr: Option<f64>,
    /// Frame buffer of the receiver \[octets\].
    pub buffer: Octets,
    /// From the first frame to the beginning of playing.
    pub prebuffer: Duration,
    /// Whether the player waits for a frame that is late, or goes on without.
    pub wait: bool,
}

/// Voice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// Voice in a packet, whole milliseconds [10 to 200 ms].
    pub packet: Duration,
    /// Each packet has a copy of the one so many before it (RFC 2198); 0: none.
    pub redundancy: u32,
    /// From the earliest instant at which a packet could have come to its playing.
    pub playout_delay: Duration,
}

/// iperf3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iperf3 {
    /// UDP instead of TCP.
    pub udp: bool,
    /// Rate of the payload; `None` is without limit.
    pub rate: Option<BitRate>,
    /// Connections side by side.
    pub streams: u32,
    /// Octets per write or datagram; `None` is iperf3's own.
    pub length: Option<Octets>,
}

/// Any program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Started before the network's time begins, and stopped at the end.
    pub background: bool,
    /// Sign that it is ready.
    pub ready: Option<Ready>,
    /// How long that may take.
    pub ready_within: Duration,
}

/// When a program is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ready {
    /// It listens at this TCP port.
    Port(u16),
    /// A line of its output has this in it.
    Pattern(String),
    /// This file is there.
    File(String),
}
