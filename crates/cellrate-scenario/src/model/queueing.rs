//! How the cells that wait at a port take turns.

use cellrate_proto::scheduling::{Discipline, Weight};
use cellrate_proto::{CellRate, Cells};

/// The queues of a port. The default is one for each priority, the first priority first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Queueing {
    /// Within a priority.
    pub discipline: Discipline,
    /// Weights of CBR and VBR together, of ABR, and of GFR and UBR together; `None` is strict priority.
    pub class_weights: Option<[Weight; 3]>,
    /// Cells of one connection that may wait where each has a queue of its own; `None` is no limit beside the buffers.
    pub room: Option<Cells>,
    /// The MCRs of the GFR and UBR connections that leave here beside ABR ones, together: by strict priority so much of
    /// them goes before ABR [cells/s].
    pub booked: CellRate,
}

impl Queueing {
    /// Whether GFR and UBR go before ABR as far as a rate is booked for them.
    pub fn books(&self) -> bool {
        self.booked > CellRate::ZERO && self.class_weights.is_none()
    }

    /// Whether every connection has a queue of its own.
    pub fn is_per_vc(&self) -> bool {
        self.discipline != Discipline::Fifo
    }
}

/// Parameters of a connection at ports, beside those of ABR.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConnectionQueue {
    /// Its weight, the same for both directions; `None` is that of the ABR parameters, or MCR in thousands of cells/s,
    /// or 1.
    pub weight: Option<Weight>,
    /// The rate that each direction is held to, if it is [cells/s].
    pub shaped_to: Option<CellRate>,
    /// MCR of each direction of a GFR or UBR connection [cells/s]; 0 where it has none, and of other categories, whose
    /// senders say theirs.
    pub mcr: CellRate,
    /// Frame discard allowed or not, both directions; `None` is allowed for GFR and UBR, and not for others.
    pub frame_discard: Option<bool>,
}
