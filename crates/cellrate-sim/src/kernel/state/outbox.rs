//! Outbox of a cluster for one lane of another, until clusters [exchange](crate::kernel::windows::exchange) what they
//! sent.

use cellrate_proto::{Duration, Time};

use super::event_mark::EventMark;
use crate::cell::{Cell, Significance};
use crate::kernel::lanes::lane::LaneEnd;
use crate::kernel::lanes::packed::Packing;
use crate::stretch::{self, Stretch};

/// The cells that left for another cluster since the last exchange.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// The cluster.
    pub cluster: u32,
    /// Lane of that cluster.
    pub lane: u32,
    /// Which cells have to be events there, if the lane leads to a deferred port.
    pub significance: Option<Significance>,
    /// Cells that have been sent, in order of arrival.
    pub sent: Sent,
    /// Cells among them that have to be events, if the lane leads to a deferred port.
    pub significant: Vec<EventMark>,
}

/// The cells themselves.
#[derive(Debug)]
pub(crate) enum Sent {
    /// As they are.
    Plain {
        /// Cells in order.
        cells: Vec<Cell>,
        /// Whether there may be [stretches](Stretch) among them.
        takes_stretches: bool,
        /// Number of cells in the last window.
        expected: u32,
        /// Time of one cell on the link, which packing needs.
        cell_time: Duration,
        /// The hops of the lane, in order, if there are several.
        hops: Box<[u32]>,
    },
    /// [Packed](crate::kernel::lanes::packed).
    Packed(Packing),
}

impl Outbox {
    /// An empty one, for that lane of that cluster, at a link on which a cell takes so long; `hops` are those over it
    /// that lead there, in order.
    pub fn new(cluster: u32, lane: u32, leads_to: LaneEnd, cell_time: Duration, hops: &[u32]) -> Outbox {
        let significance = match leads_to {
            LaneEnd::Deferred { significance, .. } => Some(significance),
            LaneEnd::Host { .. }
            | LaneEnd::Behind { .. }
            | LaneEnd::Switch
            | LaneEnd::VirtualEnd
            | LaneEnd::Policed
            | LaneEnd::BranchPoint
            | LaneEnd::SegmentEnd => None,
        };
        let hops = if hops.len() > 1 { hops.into() } else { Box::default() };
        let sent = Sent::Plain { cells: Vec::new(), takes_stretches: false, expected: 0, cell_time, hops };
        Outbox { cluster, lane, significance, sent, significant: Vec::new() }
    }

    /// A word of each of its cache lines ([`crate::kernel::windows::prefetch`]).
    #[inline]
    pub fn prefetch(&self) -> u64 {
        self.significant.len() as u64 ^ u64::from(self.lane)
    }

    /// Puts `cell` on its way.
    #[inline(always)]
    pub fn push(&mut self, cell: Cell) {
        if cell.is_special()
            && self.significance.is_some_and(|significance| cell.is_significant(significance))
        {
            if self.significant.capacity() == 0 {
                // In a large network most outboxes have no more than one in a window.
                self.significant.reserve_exact(1);
            }
            self.significant.push(EventMark::of(&cell));
        }
        self.push_data(cell);
    }

    /// A data cell amid its PDU is on its way.
    #[inline(always)]
    pub fn push_data(&mut self, cell: Cell) {
        match &mut self.sent {
            Sent::Plain { cells, .. } => cells.push(cell),
            Sent::Packed(packing) => packing.push(cell),
        }
    }

    /// Puts data cells amid their PDUs on their way: `first`, and `stretch` behind it.
    #[inline]
    pub fn push_stretch(&mut self, first: Cell, stretch: Stretch) {
        if let Sent::Plain { cells, takes_stretches: true, .. } = &mut self.sent {
            return stretch::push(cells, first, stretch);
        }
        (0..=stretch.count).for_each(|count| self.push_data(stretch.cell(first, count)));
    }

    /// Puts data cells amid their PDUs on their way, which left their source evenly: the first is like `first`, and
    /// they arrive then.
    #[inline]
    pub fn push_evenly_sent(&mut self, first: Cell, spacing: Duration, arrivals: &[Time]) {
        match &mut self.sent {
            Sent::Packed(packing) => packing.push_evenly_sent(first, spacing, arrivals),
            Sent::Plain { cells, .. } => {
                let mut cell = first;
                cells.extend(arrivals.iter().map(|&arrives| {
                    let this = cell.arriving(arrives);
                    cell = cell.followed_by(spacing);
                    this
                }));
            }
        }
    }

    /// A window begins, which will be much like the last one.
    pub fn make_room(&mut self, empty: &mut Vec<Vec<u8>>) {
        match &mut self.sent {
            Sent::Packed(packing) => packing.make_room(empty),
            Sent::Plain { cells, expected, .. } => {
                let expected = *expected as usize;
                cells.reserve_exact(expected + expected / 8);
            }
        }
    }
}
