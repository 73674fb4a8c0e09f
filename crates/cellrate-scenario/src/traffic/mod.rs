//! Traffic of sending ends: what a scenario may say of it, and, where it comes whatever the network does, when its
//! cells come.
//!
//! A kind of such open-loop traffic is a file beside this one, which declares its `type`, its keys and how they are
//! read (`Declared`), what a scenario has to know of it, with safe answers where it says nothing ([`TrafficKind`]),
//! and its cells ([`Generated`]). With its line in the list below the format of scenarios, its schema and reference,
//! clocks of hosts, fair shares, admission, sources in both worlds and random networks follow.

mod arrivals;
mod channel;
mod constant;
mod custom;
mod demand;
pub(crate) mod frame_trace;
mod frames;
mod greedy;
mod kinds;
mod limited;
mod minisources;
mod mmpp;
mod mpeg2;
mod on_off;
mod poisson;
mod request_response;
pub(crate) mod tcp;
mod timed;
mod video;
mod voice;

use std::borrow::{Borrow, BorrowMut};
use std::sync::Arc;

use cellrate_proto::declaration::Shape;
use cellrate_proto::{CellRate, Duration, Time};

use crate::plugin::Custom;
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};

pub use arrivals::{Arrivals, Backlog, Queued};
pub use channel::{Channel, MOST_CHANNELS, MOST_PATHS};
pub use constant::run_of;
pub use demand::Datagrams;
pub use frames::{Adaptation, FirstOfTrace, FollowAcr, FollowMeans, FrameLengths, FrameRate, FramesTraffic};
pub use greedy::GreedyWindow;
pub use kinds::{Draws, Generate, Generated, TrafficKind};
pub use mpeg2::{Mpeg2Decoder, Mpeg2Traffic, Packing, Picture, RateControl};
pub use request_response::RequestResponse;
pub use tcp::*;
pub use video::{NoiseMethod, OutOfRange, VideoTraffic};

use kinds::Declared;

kinds::kinds! {
    open_loop {
        greedy::Greedy,
        limited::Limited,
        constant::Constant,
        on_off::OnOff,
        timed::Timed,
        poisson::Poisson,
        mmpp::Mmpp,
        minisources::Minisources,
        voice::Voice,
    }
    others {
        /// A client that asks and a server that answers; on the forward flow only. The backward flow, which has no
        /// traffic of its own then, carries the answers.
        RequestResponse(RequestResponse) of RequestResponse,
        /// TCP over AAL5; its ACKs go the other way as data.
        Tcp(Box<TcpTraffic>) of TcpTraffic,
        /// Compressed video.
        Video(Box<VideoTraffic>) of VideoTraffic,
        /// Frames of a codec in UDP datagrams.
        Frames(Box<FramesTraffic>) of FramesTraffic,
        /// An MPEG-2 transport stream.
        Mpeg2(Box<Mpeg2Traffic>) of Mpeg2Traffic,
        /// Traffic that is not built in.
        Custom(Arc<Custom>) of Arc<Custom>,
    }
}
