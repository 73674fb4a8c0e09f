//! Packed cells of several connections on one lane.
//!
//! The cells of a connection follow each other evenly though others come between. So each connection of such a lane is a strand: a cell
//! is the number of its strand, in an octet for each 7 bits, the lowest first, of which all but the last have the top bit set; and behind
//! that what it is after the cell before it on its strand, as where there is only one ([`super::packed`]). Times are those since the
//! last cell of the lane all the same.

use super::packed::{Trail, take};
use cellrate_proto::Time;

/// What a [trail](super::packed) has come to on one strand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Strand {
    /// The word of the data cell that comes next, if it is amid its PDU.
    pub next: u64,
    /// When the last cell left its source,
    pub sent: Time,
    /// and how long after the one before it [ps].
    pub spacing: u32,
}

/// The strands of a lane, by number.
#[derive(Clone, Debug)]
pub(super) struct Strands {
    all: Box<[Strand]>,
    /// That of the last cell: what it has come to is not here.
    last: usize,
}

/// Bits of a number in an octet, and what the octet has if there are more.
const BITS: u32 = 7;
const MORE: u8 = 1 << BITS;

impl Strands {
    /// So many, on which nothing has come.
    pub fn new(count: usize) -> Strands {
        Strands { all: vec![Strand::default(); count].into(), last: 0 }
    }

    /// The next cell is on the strand of this `number`, where `trail` goes on.
    #[inline]
    fn turn(&mut self, number: usize, trail: &mut Trail) {
        if number != self.last {
            self.all[self.last] = trail.strand();
            trail.turn_to(self.all[number]);
            self.last = number;
        }
    }

    /// Reads on which strand the next cell is.
    #[inline]
    pub fn read_turn(&mut self, octets: &mut &[u8], trail: &mut Trail) {
        let (mut number, mut shift) = (0, 0);
        loop {
            let [octet] = take(octets);
            number |= usize::from(octet & !MORE) << shift;
            if octet < MORE {
                break;
            }
            shift += BITS;
        }
        self.turn(number, trail);
    }
}

/// The strands of a lane, by the hops over its link, where cells leave for it.
#[derive(Clone, Debug)]
pub(super) struct StrandsByHop {
    strands: Strands,
    /// The hop of each, in order.
    hops: Box<[u32]>,
}

impl StrandsByHop {
    /// One for each of these hops, which are in order.
    pub fn new(hops: Box<[u32]>) -> StrandsByHop {
        debug_assert!(hops.is_sorted());
        StrandsByHop { strands: Strands::new(hops.len()), hops }
    }

    /// Writes down that the next cell is one over this hop.
    #[inline]
    pub fn write_turn(&mut self, hop: usize, octets: &mut Vec<u8>, trail: &mut Trail) {
        let Ok(number) = self.hops.binary_search(&(hop as u32)) else {
            unreachable!("no cell comes over another hop");
        };
        let mut rest = number;
        while rest >= MORE.into() {
            octets.push(rest as u8 | MORE);
            rest >>= BITS;
        }
        octets.push(rest as u8);
        self.strands.turn(number, trail);
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::cell::Cell;
    use crate::kernel::packed::{Packing, Unpacking};
    use cellrate_proto::{Direction, Duration, RateCode, RmCell, Time};
    use std::collections::VecDeque;

    use proptest::prelude::*;

    /// Of the link.
    const CELL_TIME: Duration = Duration::from_ps(2_726);

    /// Hop number 3 i for connection i.
    fn pair(connections: usize) -> (Packing, Unpacking) {
        let hops = (0..connections as u32).map(|connection| 3 * connection).collect();
        (Packing::of_several(CELL_TIME, hops), Unpacking::of_several(CELL_TIME, connections))
    }

    fn rm(ccr: u16) -> RmCell {
        RmCell {
            direction: Direction::Forward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::from_bits(ccr & 0x7fff),
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        }
    }

    proptest! {
        #[test]
        fn cells_of_several_connections_come_out_as_they_went_in(
            connections in 1_usize..400,
            // By cell: its connection, how long after the last one it comes, and what it is.
            cells in proptest::collection::vec((0_usize..400, 1_u64..40, 0_u16..40), 1..300),
            batch in 1_usize..50,
            taken in proptest::collection::vec(0_usize..60, 1..10),
        ) {
            let (mut packing, mut unpacking) = pair(connections);
            let mut sent = vec![(Time::ZERO, 0_u64); connections];
            let (mut at, mut deque, mut taken) = (Time::ZERO, VecDeque::new(), taken.into_iter().cycle());
            for cells in cells.chunks(batch) {
                for &(connection, gap, kind) in cells {
                    let connection = connection % connections;
                    let (left, number) = &mut sent[connection];
                    *left += Duration::from_ps(1_000 + u64::from(kind / 38));
                    at += if kind == 37 { Duration::from_ps(gap) } else { CELL_TIME * gap };
                    let cell = match kind {
                        0 => Cell::resource_management(*left, &rm(gap as u16)),
                        _ => {
                            *number += 1;
                            Cell::data(*left, *number, kind == 1)
                        }
                    };
                    let cell = cell.on_hop(3 * connection).arriving(at);
                    packing.push(cell);
                    deque.push_back(cell);
                }
                let (mut octets, mut spare) = (Vec::new(), Vec::new());
                let (length, count) = packing.take(&mut octets, &mut spare);
                prop_assert_eq!((length as usize, count as usize), (octets.len(), cells.len()));
                unpacking.append(&octets, count);
                let hops: Vec<(usize, u64)> = unpacking.hops().collect();
                prop_assert_eq!(hops, deque.iter().map(|cell: &Cell| (cell.hop(), 1)).collect::<Vec<_>>());
                for _ in 0..taken.next().unwrap_or(0).min(deque.len()) {
                    prop_assert_eq!(unpacking.first().copied(), deque.pop_front());
                    unpacking.skip();
                }
                let first = unpacking.first().copied();
                prop_assert_eq!((first, unpacking.len() as usize), (deque.front().copied(), deque.len()));
            }
        }
    }

    #[test]
    fn a_cell_that_follows_evenly_on_its_strand_takes_two_octets() {
        let (mut packing, _) = pair(3);
        let cell = |number: u64, connection: u64| {
            let sent = Time::ZERO + CELL_TIME * (10 * number + connection);
            Cell::data(sent, number, false).on_hop(3 * connection as usize).arriving(sent + CELL_TIME)
        };
        let mut octets = Vec::new();
        let mut lengths = Vec::new();
        for number in 1..5 {
            (0..3).for_each(|connection| packing.push(cell(number, connection)));
            lengths.push(packing.take(&mut octets, &mut Vec::new()));
        }
        // The first of each strand whole, the second at a spacing of its own.
        assert_eq!(lengths[2..], [(6, 3); 2]);
    }
}
