//! Switch behaviour at one output port (TM 4.0, 5.10.6): what is measured, and what is answered.
//!
//! A [`PortControl`] sits beside the queues of an output port and is told of every ABR and higher-priority cell that
//! arrives there; that costs a few counters. Rates are computed only when a resource management cell passes and when
//! an averaging interval ends. Feedback goes into backward RM cells as they pass the switch in the other direction.
//!
//! Order of calls at an event of the port at time `now`: first [`PortControl::end_intervals`] when
//! [`PortControl::interval_due`] says so, then the event itself. A cell that arrives at the very end of an interval
//! belongs to the next one.
//!
//! A port may also send BRMs of its own ([`PortControl::originate`]). What its UBR buffer takes in is up to
//! [`FrameDiscard`], if it has that; which IP packets it marks up to [`PacketMarking`].
//!
//! Feedback only ever lowers ER and sets CI or NI; no algorithm can do otherwise, because [`Feedback`] has no verb for
//! it.

mod aging;
mod aprc;
mod available;
mod averaging;
mod becn;
mod built_in;
mod capc;
mod consistent_marking;
mod efci;
mod eprca;
mod erica;
mod fecn;
pub mod frame_discard;
mod intelligent_marking;
mod list;
mod meter;
mod minima;
mod osu;
mod packet_marking;
mod phantom;
mod pi;
mod port_control;
mod rcp;
mod relative_rate;
mod round_trips;
#[cfg(test)]
mod small_port;
mod stop_and_go;
mod weights;

pub use aging::{Aging, AgingConfig};
pub use available::{Others, Term, Weighted};
pub use averaging::{ActiveSources, AveragedLoad, Fading, LoadAveraging};
pub use becn::{Becn, BecnConfig, BecnIndication};
pub use built_in::{BuiltIn, Figure, Form};
pub use efci::{Efci, EfciConfig};
pub use frame_discard::{FrameDiscard, FrameDiscardConfig, PduCell};
pub use intelligent_marking::MarkingFactors;
pub use meter::{AveragingInterval, IntervalLoad, Meter, Metering, QuietMeter, Sent, VcMeter};
pub use packet_marking::{Found, PacketMarking, PacketMarkingConfig, RedConfig};
pub use port_control::{PortControl, PortControlConfig};
pub use round_trips::{IntervalRoundTrips, RoundTrips};
pub use weights::Fairness;

use alloc::boxed::Box;
use core::fmt;

use crate::declaration::{Drawn, Values};
use crate::parameters::ParameterError;
use crate::rate_code::RateCode;
use crate::units::{CellRate, Cells, Duration, Time};

built_in::algorithms! {
    relative_rate::RelativeRate,
    stop_and_go::StopAndGo,
    eprca::Eprca,
    aprc::Aprc,
    capc::Capc,
    phantom::Phantom,
    consistent_marking::ConsistentMarking,
    pi::Pi,
    fecn::Fecn,
    rcp::Rcp,
    osu::Osu,
    erica::Erica,
}

/// A connection as one port numbers it: 0 for the first that was connected there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Slot(pub u32);

/// Feedback fields of a backward RM cell, with the verbs that a switch has: lower ER, set CI, set NI.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feedback {
    explicit_rate: RateCode,
    congestion_indication: bool,
    no_increase: bool,
}

impl Feedback {
    /// The feedback fields as they came.
    pub const fn new(explicit_rate: RateCode, congestion_indication: bool, no_increase: bool) -> Feedback {
        Feedback { explicit_rate, congestion_indication, no_increase }
    }

    /// Lowers ER to `rate`, rounded down to a code; leaves it where it is already lower.
    pub fn limit(&mut self, rate: CellRate) {
        self.explicit_rate = self.explicit_rate.min(RateCode::floor(rate));
    }

    /// Limits ER to a rate that is a code already.
    pub fn limit_to_code(&mut self, code: RateCode) {
        self.explicit_rate = self.explicit_rate.min(code);
    }

    /// CI := 1.
    pub fn indicate_congestion(&mut self) {
        self.congestion_indication = true;
    }

    /// NI := 1.
    pub fn forbid_increase(&mut self) {
        self.no_increase = true;
    }

    /// ER.
    pub const fn explicit_rate(&self) -> RateCode {
        self.explicit_rate
    }

    /// CI.
    pub const fn congestion_indication(&self) -> bool {
        self.congestion_indication
    }

    /// NI.
    pub const fn no_increase(&self) -> bool {
        self.no_increase
    }
}

/// A switch algorithm at one output port. It never sees a data cell: the port's [`Meter`] counts those.
///
/// The built-in ones are chosen by [`SwitchAlgorithmConfig`]; anything else that answers these calls can take their
/// place.
pub trait SwitchAlgorithm: Promises {
    /// Measurements that the algorithm wants: always the same. Default `None`: no averaging intervals, and nobody
    /// counts cells.
    fn metering(&self) -> Option<Metering> {
        None
    }

    /// From now on the line takes `link_rate` cells/s. What an algorithm hands out of it follows at the end of the
    /// averaging interval. Default: the line's rate is not looked at.
    fn on_link_rate(&mut self, link_rate: CellRate) {
        let _ = link_rate;
    }

    /// A connection was set up through this port. Slots come in order: 0, 1, 2, ... Default: nothing is kept of it.
    fn on_connect(&mut self, slot: Slot, vc: &VcAtPort) {
        let _ = (slot, vc);
    }

    /// An FRM passed forward, claiming `ccr`. Default: claims are not looked at.
    fn on_forward_rm(&mut self, now: Time, slot: Slot, ccr: CellRate, meter: &Meter) {
        let _ = (now, slot, ccr, meter);
    }

    /// A BRM passes backward: answer it. `queue` is the port's ABR queue now.
    fn on_backward_rm(&mut self, now: Time, slot: Slot, queue: Cells, meter: &Meter, feedback: &mut Feedback);

    /// An averaging interval ended. `meter` is already in the next one: what the ended one counted per connection is
    /// in [`Meter::previous_cells`]. Default: nothing depends on intervals.
    fn on_interval_end(&mut self, load: &IntervalLoad, meter: &Meter) {
        let _ = (load, meter);
    }

    /// Figures for plots as they stand now: name and value, always in the same order. Default: none.
    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = visit;
    }
}

/// Promises of an algorithm that save time: when it may be told late, or not at all.
///
/// None of them changes what an algorithm answers, and each may be left out: the defaults promise nothing. Random
/// networks are run with them and without (`crates/cellrate-sim/tests/differential.rs`), so that a promise that is not
/// kept is found.
pub trait Promises {
    /// Whether [`on_forward_rm`](SwitchAlgorithm::on_forward_rm) looks at no cell that has come since the interval
    /// began: then those before an FRM may be counted after it. Default false.
    fn ignores_open_interval(&self) -> bool {
        false
    }

    /// Whether the answer to a BRM of this connection in the present interval is settled: then who answers need not
    /// know of all cells yet that have come since the interval began, nor of the queue. Default [`Settled::No`].
    fn answer_is_fixed(&self, slot: Slot, meter: &Meter) -> Settled {
        let _ = (slot, meter);
        Settled::No
    }

    /// Whether another interval without cells, and with an empty queue, would leave everything as it is: then a long
    /// idle time is passed over in one step. Default false: every interval is ended one by one.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// A word of the last cache line of its state, for a driver that wants it in the caches; the value means nothing.
    /// Default 0, which reads nothing.
    #[inline]
    fn prefetch(&self) -> u64 {
        0
    }
}

/// Whether something still depends on the cells that have come since the averaging interval began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It may.
    No,
    /// On FRMs of the same connection, and on nothing else.
    ButForForwardRms,
    /// No cell changes it, nor does the queue.
    Yes,
}

/// A connection as a port learns of it at set-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VcAtPort {
    /// PCR [cells/s].
    pub pcr: CellRate,
    /// MCR [cells/s].
    pub mcr: CellRate,
    /// Weight in weighted max-min sharing [no unit, above 0]. Default 1.
    pub weight: f64,
    /// Fixed round-trip time, as set-up tells it (FRTT; TM 4.0, 5.10.3). Default 0, which is as good as unknown.
    pub round_trip: Duration,
}
