//! Traffic of sending ends: what a scenario may say of it, and, where it comes whatever the network does, when its
//! cells come.
//!
//! A kind of such open-loop traffic is a file beside this one, which declares its `type`, its keys and how they are
//! read (`Declared`), what a scenario has to know of it, with safe answers where it says nothing ([`TrafficKind`]),
//! and its cells ([`Generated`]). With its line in the list below the format of scenarios, its schema and reference,
//! clocks of hosts, fair shares, admission, sources in both worlds and random networks follow.

mod channel;
mod constant;
mod greedy;
mod kinds;
mod limited;
mod on_off;
mod timed;

use std::sync::Arc;

use cellrate_proto::declaration::Shape;
use cellrate_proto::{Duration, Time};

use crate::model::custom::Custom;
use crate::model::demand::Datagrams;
use crate::model::frames::FramesTraffic;
use crate::model::mpeg2::Mpeg2Traffic;
use crate::model::request_response::RequestResponse;
use crate::model::tcp::TcpTraffic;
use crate::model::video::VideoTraffic;
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};

pub use channel::{Channel, MOST_CHANNELS, MOST_PATHS};
pub use constant::run_of;
pub use greedy::GreedyWindow;
pub use kinds::{Draws, Generate, Generated, TrafficKind};

use kinds::Declared;

kinds::kinds! {
    greedy::Greedy,
    limited::Limited,
    constant::Constant,
    on_off::OnOff,
    timed::Timed,
}
