//! The engine: adapters, switch ports and lines in logical time, gated by the wall clock.
//!
//! ```text
//!   PacketDevice --> adapter: queue, AAL5, ABR source --> port --> line --> switch --> port --> line --> adapter --> PacketDevice
//!                    \_________________________ one process, or one for each node __________________________/
//! ```
//!
//! Every cell leaves at its ideal instant: the last cell of its source plus 1/ACR, the last cell of its port plus the
//! cell time. The wall clock only says how far events may have gone. So what the protocol values see is exact however
//! late a wake-up comes, lateness does not add up, and a stall shorter than a link's delay does not show at its far
//! end.
//!
//! [`run()`] does a run; [`Options`] says how; [`Outcome`] is what it found, the verdict on its own timing included.

mod acks;
mod adapter;
mod advice;
mod becn;
mod cell;
mod changes;
mod clock;
mod counters;
mod device;
mod edge;
mod error;
mod exchanges;
mod faults;
mod incoming;
mod loopback;
mod machine;
mod network;
mod offers;
mod options;
mod peer;
mod police;
mod port;
pub mod pseudowire;
pub mod results;
mod run;
mod sampler;
mod sequence;
mod supply;
mod tap;
#[cfg(test)]
mod test_segments;
pub mod throughput;
mod verdict;
mod virtual_end;

pub use changes::{Changes, LinkChange, Refused};
pub use clock::unix_ns;
pub use device::{PacketDevice, PairedDevice, ScriptedDevice};
pub use error::Error;
pub use faults::Faults;
pub use offers::Offers;
pub use options::{Host, Options, Part, Progress, Recent, Route, Stop, default_quantum, routes};
pub use results::{Outcome, Series, Summary};
pub use run::run;
pub use sampler::series_of;
pub use tap::{CellTap, TapDirection, connection_of};
pub use verdict::{Thresholds, Timing};
