//! Packed cells of several connections on one lane.
//!
//! The cells of a connection follow each other evenly though others come between. So each connection of such a lane is
//! a strand: a cell is the number of its strand, in an octet for each 7 bits, the lowest first, of which all but the
//! last have the top bit set; and behind that what it is after the cell before it on its strand, as where there is only
//! one ([`super::trail`]). Times are those since the last cell of the lane all the same.

use super::trail::{Strand, Trail, take};

/// The strands of a lane, by number.
#[derive(Clone, Debug)]
pub(crate) struct Strands {
    all: Box<[Strand]>,
    /// That of the last cell: what it has come to is not here.
    last: usize,
}

/// Bits of a number in an octet, and what the octet has if there are more.
const BITS: u32 = 7;
const MORE: u8 = 1 << BITS;

impl Strands {
    /// Makes so many strands, on which nothing has come.
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
pub(crate) struct StrandsByHop {
    strands: Strands,
    /// The hop of each, in order.
    hops: Box<[u32]>,
}

impl StrandsByHop {
    /// Makes one strand for each of these hops, which are in order.
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
