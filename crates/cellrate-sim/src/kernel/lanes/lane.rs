//! A lane: the cells of one link that take the same way at its far end, in order.

use cellrate_engine::schedule::Schedule;
use cellrate_engine::tournament::NEVER;
use cellrate_proto::Time;

use super::cell_queue::CellQueue;
use super::short::Short;
use crate::cell::Significance;
use crate::kernel::hop::NONE;

/// Place that a lane leads to, and how cells get there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneEnd {
    /// A host.
    Host {
        /// Whether every arrival has to be an event.
        every_cell: bool,
    },
    /// A host behind this deferred port: what has to be an event is [awaited](crate::kernel::deferred::awaited) there.
    Behind {
        /// The port.
        port: u32,
    },
    /// A switch; every arrival is an event.
    Switch,
    /// A switch where the control loop of its connections ends, at a [virtual end](crate::kernel::virtual_end).
    VirtualEnd,
    /// A switch that [polices](crate::kernel::police) them, whatever it does with them then.
    Policed,
    /// A switch that [copies](crate::kernel::branch_point) them, or takes in BRMs.
    BranchPoint,
    /// A switch that [answers](crate::kernel::loopback) loopback requests of a segment.
    SegmentEnd,
    /// A deferred port of a switch.
    Deferred {
        /// The port.
        port: u32,
        /// The lane's place in the merge of that port.
        place: u32,
        /// Which cells have to be events.
        significance: Significance,
    },
}

/// The cells on a link, as seen by the node that receives them. Two cache lines.
#[derive(Debug)]
pub(crate) struct Lane {
    /// The cells that are still to be dealt with.
    pub cells: CellQueue,
    /// Where the cells go.
    pub leads_to: LaneEnd,
    /// Instants at which those cells of a deferred lane arrive that have to be events; behind a deferred port when
    /// those cells come to the port, where they have not been dealt with, that have to be events behind it.
    pub significant: Short<Time>,
    /// Leaf of the lane in the schedule.
    pub leaf: u32,
}

impl Lane {
    /// Makes an empty lane.
    pub fn new(leads_to: LaneEnd) -> Lane {
        Lane { cells: CellQueue::new(), leads_to, significant: Short::new(), leaf: NONE }
    }

    /// Reads a word of each cache line of the lane and its lists ([`crate::kernel::windows::prefetch`]).
    #[inline]
    pub fn prefetch(&self) -> u64 {
        self.significant.first().map_or(0, |at| at.as_ps()) ^ self.cells.prefetch() ^ u64::from(self.leaf)
    }

    /// The place of a deferred lane in the merge of its port.
    #[inline]
    pub fn place(&self) -> usize {
        match self.leads_to {
            LaneEnd::Deferred { place, .. } => place as usize,
            _ => unreachable!("only lanes of deferred ports are merged"),
        }
    }

    /// The key of the first cell of a deferred lane, if that is one that waits.
    #[inline]
    pub fn first_key(&self, schedule: &Schedule) -> u64 {
        match (self.cells.first(), self.leads_to) {
            (Some(first), LaneEnd::Deferred { significance, .. }) if !first.is_significant(significance) => {
                schedule.key(self.leaf as usize, first.arrives)
            }
            _ => NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_takes_two_cache_lines() {
        assert_eq!(size_of::<Lane>(), 128);
    }
}
