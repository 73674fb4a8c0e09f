//! The queue of PDUs at the sending end of a VC: IP's packets on their way to become cells.

use std::collections::VecDeque;

use cellrate_proto::wire::{Encapsulation, cells_for};
use cellrate_proto::{Cells, Octets};
use cellrate_scenario::{AdapterQueue, TcpTraffic};

use super::segment::Segment;

/// Segments that wait for their turn, cell by cell, and those that have left.
#[derive(Clone, Debug)]
pub struct Adapter {
    header: Octets,
    encapsulation: Encapsulation,
    limit: AdapterQueue,
    waiting: VecDeque<(Segment, u32)>,
    /// Cells of the first one that have not left.
    left_of_first: u32,
    waiting_cells: u64,
    max_cells: u64,
    sent_cells: u64,
    dropped: u64,
    accepted: u64,
    /// What has left, for the far end to pick up: the simulator's cells carry numbers, not octets.
    pub departed: VecDeque<Departed>,
}

/// A PDU that has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departed {
    /// The number of its last cell among the data cells of the direction, counted from 1.
    pub last_cell: u64,
    /// What it carries.
    pub segment: Segment,
}

impl Adapter {
    /// An empty one. `header` is what TCP and IP put before the payload.
    pub fn new(header: Octets, encapsulation: Encapsulation, limit: AdapterQueue) -> Adapter {
        Adapter {
            header,
            encapsulation,
            limit,
            waiting: VecDeque::new(),
            left_of_first: 0,
            waiting_cells: 0,
            max_cells: 0,
            sent_cells: 0,
            dropped: 0,
            accepted: 0,
            departed: VecDeque::new(),
        }
    }

    /// Takes a segment in, if there is room for all of it; else it is lost.
    pub fn offer(&mut self, segment: Segment) {
        let cells = cells_for(segment.packet(self.header), self.encapsulation).0;
        let fits = match self.limit {
            AdapterQueue::Unbounded => true,
            AdapterQueue::Cells(Cells(room)) => self.waiting_cells + cells <= room,
            AdapterQueue::Pdus(room) => (self.waiting.len() as u64) < room,
        };
        if !fits {
            self.dropped += 1;
            return;
        }
        if self.waiting.is_empty() {
            self.left_of_first = cells as u32;
        }
        self.accepted += 1;
        self.waiting_cells += cells;
        self.max_cells = self.max_cells.max(self.waiting_cells);
        self.waiting.push_back((segment, cells as u32));
    }

    /// The one at either end of a VC with this TCP.
    pub fn of(traffic: &TcpTraffic) -> Adapter {
        Adapter::new(traffic.tcp.header, traffic.encapsulation, traffic.adapter_queue)
    }

    /// Cells that have not left.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting_cells
    }

    /// A cell leaves; whether it is the last of its PDU.
    #[inline]
    pub fn take(&mut self) -> bool {
        self.waiting_cells -= 1;
        self.sent_cells += 1;
        self.left_of_first -= 1;
        if self.left_of_first > 0 {
            return false;
        }
        if let Some((segment, _)) = self.waiting.pop_front() {
            self.departed.push_back(Departed { last_cell: self.sent_cells, segment });
        }
        self.left_of_first = self.waiting.front().map_or(0, |&(_, cells)| cells);
        true
    }

    /// Cells left of the first PDU.
    pub fn left_of_first(&self) -> u32 {
        self.left_of_first
    }

    /// `count` cells leave, all of the first PDU.
    pub fn take_run(&mut self, count: u32) {
        // The last cell of a PDU is the one with consequences.
        let plain = count.min(self.left_of_first.saturating_sub(1));
        self.waiting_cells -= u64::from(plain);
        self.sent_cells += u64::from(plain);
        self.left_of_first -= plain;
        if plain < count {
            self.take();
        }
    }

    /// PDUs taken in so far.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// PDUs lost for want of room.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// PDUs that have not left whole.
    pub fn waiting_pdus(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// The most cells that have waited.
    pub fn max_waiting(&self) -> Cells {
        Cells(self.max_cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Contents, Sequence, Span};

    fn segment(octets: u64) -> Segment {
        Segment { connection: 0, contents: Contents::Data(Span { from: Sequence(0), to: Sequence(octets) }) }
    }

    fn adapter(limit: AdapterQueue) -> Adapter {
        Adapter::new(Octets(40), Encapsulation::VcMultiplexed, limit)
    }

    #[test]
    fn the_last_cell_of_each_pdu_is_marked() {
        // 100 + 48 octets are 4 cells, 1 + 48 are 2.
        let mut adapter = adapter(AdapterQueue::Unbounded);
        adapter.offer(segment(100));
        adapter.offer(segment(1));
        assert_eq!(adapter.waiting(), 6);
        let ends: Vec<bool> = (0..6).map(|_| adapter.take()).collect();
        assert_eq!(ends, [false, false, false, true, false, true]);
        let numbers: Vec<u64> = adapter.departed.iter().map(|departed| departed.last_cell).collect();
        assert_eq!((numbers, adapter.waiting()), (vec![4, 6], 0));
    }

    #[test]
    fn a_run_of_cells_leaves_as_one_by_one() {
        for run in 1..=4 {
            let (mut at_once, mut one_by_one) =
                (adapter(AdapterQueue::Unbounded), adapter(AdapterQueue::Unbounded));
            for adapter in [&mut at_once, &mut one_by_one] {
                adapter.offer(segment(100));
                adapter.offer(segment(1));
            }
            assert_eq!(at_once.left_of_first(), 4);
            at_once.take_run(run);
            (0..run).for_each(|_| _ = one_by_one.take());
            assert_eq!(at_once.departed, one_by_one.departed);
            assert_eq!(
                (at_once.waiting(), at_once.left_of_first()),
                (one_by_one.waiting(), one_by_one.left_of_first())
            );
        }
    }

    #[test]
    fn a_pdu_that_does_not_fit_whole_is_lost_whole() {
        let mut by_cells = adapter(AdapterQueue::Cells(Cells(7)));
        (0..3).for_each(|_| by_cells.offer(segment(100)));
        assert_eq!((by_cells.accepted(), by_cells.dropped(), by_cells.waiting()), (1, 2, 4));
        by_cells.take();
        by_cells.offer(segment(100));
        assert_eq!((by_cells.accepted(), by_cells.waiting()), (2, 7), "3 left and 4 are exactly 7");
        let mut by_pdus = adapter(AdapterQueue::Pdus(2));
        (0..3).for_each(|_| by_pdus.offer(segment(100)));
        assert_eq!((by_pdus.accepted(), by_pdus.dropped(), by_pdus.max_waiting()), (2, 1, Cells(8)));
        (0..4).for_each(|_| _ = by_pdus.take());
        by_pdus.offer(segment(100));
        assert_eq!(by_pdus.accepted(), 3, "the first has left whole");
    }
}
