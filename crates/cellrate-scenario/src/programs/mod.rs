//! Programs that run on the hosts of a live run.
//!
//! A kind of program is a file beside this one, which declares its `type`, its keys and how they are read
//! ([`Program`]). With its line in the list below the format of scenarios, its schema and reference follow; how it is
//! run is an affair of `python/cellrate/live`.

mod command;
mod ftp;
mod iperf3;
mod ping;
mod quic;
mod video;
mod voice;
mod web;

use cellrate_proto::declaration::Shape;

use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::tree::{Node, Table};

pub use command::{Command, Ready};
pub use ftp::Ftp;
pub use iperf3::Iperf3;
pub use ping::Ping;
pub use quic::{Download, Player, Sending};
pub use video::LiveVideo;
pub use voice::Voice;
pub use web::Web;

/// A kind of program as a scenario writes it.
trait Program: Sized {
    /// Its `type`, a sentence on it, and its keys.
    const SHAPE: Shape;

    /// The program that a table at `place` describes, which has been checked against the keys.
    ///
    /// # Errors
    /// A key that is missing, or values that do not fit together.
    fn read(table: &Table, place: Place) -> Result<Self, Fault>;
}

/// Makes everything that chooses among programs by enum: of each the variant with what it holds, and the type that
/// declares itself.
macro_rules! programs {
    ($($(#[$about:meta])* $variant:ident($holder:ty) of $program:ty),+ $(,)?) => {
        /// Programs of an application.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ApplicationKind {
            $(
                $(#[$about])*
                $variant($holder),
            )+
        }

        /// Declarations of programs, in the order of the list.
        pub(crate) const PROGRAMS: &[Shape] = &[$(<$program as Program>::SHAPE),+];

        impl ApplicationKind {
            /// The `type` in a file.
            pub fn name(&self) -> &'static str {
                match self {
                    $(ApplicationKind::$variant(_) => <$program as Program>::SHAPE.name,)+
                }
            }

            /// The program that a checked table, or a word, describes.
            ///
            /// # Errors
            /// A key that is missing, or values that do not fit together.
            pub(crate) fn read(node: &Node) -> Result<ApplicationKind, Fault> {
                let empty = Table::default();
                let table = node.table().unwrap_or(&empty);
                let name = node.text().or(table.text("type")).unwrap_or_default();
                $(if name == <$program as Program>::SHAPE.name {
                    let read = <$program as Program>::read(table, node.place);
                    return read.map(|program| ApplicationKind::$variant(program.into()));
                })+
                Err(check::missing(node.place, "type", "which program runs"))
            }
        }
    };
}

programs! {
    /// A file from vsftpd, fetched with curl.
    Ftp(Ftp) of Ftp,
    /// Pages from nginx: a text and an image each.
    Web(Web) of Web,
    /// Motion JPEG.
    Video(Box<LiveVideo>) of LiveVideo,
    /// G.711 over RTP.
    Voice(Voice) of Voice,
    /// iperf3.
    Iperf3(Iperf3) of Iperf3,
    /// ping.
    Ping(Ping) of Ping,
    /// Video in segments over HTTP/3, in a quality by advice or estimate.
    Player(Box<Player>) of Player,
    /// A file over HTTP/3, paced by advice.
    Download(Download) of Download,
    /// Any program.
    Command(Command) of Command,
}
