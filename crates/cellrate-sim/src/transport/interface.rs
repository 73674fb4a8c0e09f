//! TCP, or a receiver of datagrams, as the kernel sees it at one end of a VC.

use std::collections::VecDeque;

use cellrate_proto::Time;

use super::adapter::Departed;
use super::datagrams::Datagrams;
use super::flows::Arriving;
use super::reassembly::Reassembly;
use super::stack::Stack;
use crate::cell::{Cell, SEQUENCE_MASK};

/// One end's transport, and what it needs to tell PDUs from cells.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The senders and receivers.
    pub stack: Stack,
    /// Which PDUs of the other direction have come whole.
    pub reassembly: Reassembly,
    /// Segments that the other end has sent and the kernel has brought over from another cluster.
    pub arrivals: VecDeque<Departed>,
    /// Where the other end is.
    pub peer: Peer,
    /// The timer as the schedule knows it.
    pub scheduled: Time,
    /// Datagrams of the other direction that have come, where no one answers them.
    pub datagrams: Option<Datagrams>,
    /// Flows of a size of the other direction.
    pub flows: Option<Arriving>,
}

/// Where the other end of a VC is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// In the same cluster, with this index.
    Near(u32),
    /// In another one; what it sends comes with the exchange of cells.
    Far,
}

impl Interface {
    /// One that has seen nothing.
    pub fn new(stack: Stack, peer: Peer) -> Interface {
        Interface {
            stack,
            reassembly: Reassembly::new(),
            arrivals: VecDeque::new(),
            peer,
            scheduled: Time::NEVER,
            datagrams: None,
            flows: None,
        }
    }

    /// `cell` has made a PDU whole: returned if there is something left to do at the instant at which it arrives.
    #[inline]
    pub fn on_whole(&mut self, cell: Cell) -> Option<Cell> {
        // A datagram has no answer: its instant is written down, and no event is spent on it.
        let Some(datagrams) = &mut self.datagrams else { return Some(cell) };
        datagrams.on_whole(cell.sequence(), cell.arrives);
        None
    }

    /// One that tells which flows of a size are complete.
    pub fn of_flows(peer: Peer) -> Interface {
        Interface { flows: Some(Arriving::default()), ..Interface::new(Stack::default(), peer) }
    }

    /// One that only puts datagrams together.
    pub fn of_datagrams(peer: Peer) -> Interface {
        Interface { datagrams: Some(Datagrams::default()), ..Interface::new(Stack::default(), peer) }
    }
}

/// The PDU whose last cell has this number (modulo 2^30). What left before it has not come whole and is forgotten.
pub fn pick_up(departed: &mut VecDeque<Departed>, last_cell: u32) -> Option<Departed> {
    while let Some(next) = departed.pop_front() {
        if next.last_cell & SEQUENCE_MASK == u64::from(last_cell) {
            return Some(next);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Contents, Segment, Sequence, Span};

    #[test]
    fn what_did_not_come_whole_is_passed_over() {
        let departed = |last_cell: u64| {
            let span = Span { from: Sequence(last_cell), to: Sequence(last_cell + 1) };
            Departed { last_cell, cells: 1, segment: Segment::plain(0, Contents::Data(span)) }
        };
        let mut queue: VecDeque<Departed> = [3, 7, (1 << 30) + 2].map(departed).into();
        assert_eq!(pick_up(&mut queue, 7), Some(departed(7)));
        assert_eq!(pick_up(&mut queue, 2), Some(departed((1 << 30) + 2)));
        assert_eq!(pick_up(&mut queue, 9), None);
    }
}
