//! Traffic without answers: each kind is asked when, from some instant on, a data cell waits, and is told when one has
//! left. No event is spent on a cell's arrival at its own source.

mod bursts;
mod constant;
mod frames;
mod greedy;
mod limited;
mod on_off;
mod timed;
mod video;

pub use bursts::{Burst, Bursts, TrafficSource};
pub use constant::{Constant, run_of};
pub use frames::{Frame, Frames};
pub use greedy::Greedy;
pub use limited::Limited;
pub use on_off::OnOff;
pub use timed::Timed;
pub use video::Video;
