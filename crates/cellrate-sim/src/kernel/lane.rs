//! A lane: the cells of one link that take the same way at its far end, in order.

use std::collections::VecDeque;

use cellrate_proto::Time;

use super::hop::NONE;
use super::ring::Ring;

/// What a lane leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// A host.
    Host {
        /// Whether every arrival has to be an event.
        every_cell: bool,
    },
    /// A switch; every arrival is an event.
    Switch,
    /// A deferred port of a switch.
    Deferred {
        /// The port.
        port: u32,
        /// The lane's place in the merge of that port.
        place: u32,
        /// Whether the end of a PDU has to be an event.
        pdu_ends_matter: bool,
    },
}

/// The cells on a link, as seen by the node that receives them.
#[derive(Debug)]
pub(crate) struct Lane {
    /// The cells that are still to be dealt with.
    pub ring: Ring,
    /// Where they go.
    pub course: Course,
    /// Of a deferred lane: when those cells arrive that have to be events.
    pub significant: VecDeque<Time>,
    /// In the schedule.
    pub leaf: u32,
}

impl Lane {
    /// An empty one.
    pub fn new(course: Course) -> Lane {
        Lane { ring: Ring::new(), course, significant: VecDeque::new(), leaf: NONE }
    }
}
