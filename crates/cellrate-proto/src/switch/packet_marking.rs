//! Marking of IP packets (ECN, RFC 3168) by a port that looks into AAL5 PDUs.
//!
//! The IP header is in the first cell of a PDU, so that cell decides: the packet is marked if it finds more than the
//! threshold in the buffer, of its own category, the cell in transmission included. That is the step that DCTCP asks
//! for (RFC 8257, section 3.1); of ATM's own marking, EFCI, it is independent. The port writes CE into the first cell
//! and puts the checksum in the last one right, which is linear in what has changed. It knows beginnings of PDUs by the
//! ends before them, as frame discard does: where the end of one has been lost, the next one goes on with its mark, and
//! is spoiled anyway.

use super::Slot;
use super::list::List;
use crate::units::Cells;

/// When a port marks packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMarkingConfig {
    /// K: a packet is marked whose first cell finds more cells.
    pub threshold: Cells,
}

/// A connection.
#[derive(Clone, Copy, Debug, Default)]
struct Vc {
    /// Whether the last cell was amid its PDU.
    within: bool,
    /// Whether that PDU is marked.
    marked: bool,
}

/// Marking at a port with so many categories, whose connections have numbers of their own each.
#[derive(Clone, Debug)]
pub struct PacketMarking<const CATEGORIES: usize> {
    config: PacketMarkingConfig,
    vcs: [List<Vc>; CATEGORIES],
}

impl<const CATEGORIES: usize> PacketMarking<CATEGORIES> {
    /// A port without connections.
    pub fn new(config: PacketMarkingConfig) -> PacketMarking<CATEGORIES> {
        PacketMarking { config, vcs: [const { List::new() }; CATEGORIES] }
    }

    /// One more connection of this category.
    pub fn connect(&mut self, category: usize) -> Slot {
        let vcs = &mut self.vcs[category];
        vcs.push(Vc::default());
        Slot(vcs.as_slice().len() as u32 - 1)
    }

    /// A data cell gets into the buffer, which had `queue` cells of its category before: whether it has to say that its
    /// packet is marked. Only the first cell of a PDU and the last one do. `ends_pdu`: whether its AAL user bit is set.
    #[inline]
    pub fn marks(&mut self, category: usize, slot: Slot, ends_pdu: bool, queue: Cells) -> bool {
        let vc = &mut self.vcs[category][slot];
        let is_first = !vc.within;
        if is_first {
            vc.marked = queue > self.config.threshold;
        }
        vc.within = !ends_pdu;
        vc.marked && (is_first || ends_pdu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_first_cell_decides_and_the_first_and_the_last_say_so() {
        let mut marking = PacketMarking::<2>::new(PacketMarkingConfig { threshold: Cells(4) });
        let [first, second] = [marking.connect(1), marking.connect(1)];
        let mut pdu = |slot, queues: [u64; 3]| -> Vec<bool> {
            let cells = queues.iter().zip(1..);
            cells.map(|(&queue, place)| marking.marks(1, slot, place == 3, Cells(queue))).collect()
        };
        assert_eq!(pdu(first, [4, 9, 9]), [false, false, false], "exactly the threshold is not above it");
        assert_eq!(pdu(first, [5, 0, 0]), [true, false, true]);
        assert_eq!(pdu(second, [0, 5, 5]), [false, false, false]);
    }

    #[test]
    fn connections_have_marks_of_their_own() {
        let mut marking = PacketMarking::<1>::new(PacketMarkingConfig { threshold: Cells(0) });
        let [first, second] = [marking.connect(0), marking.connect(0)];
        assert!(marking.marks(0, first, false, Cells(1)));
        assert!(!marking.marks(0, second, false, Cells(0)));
        assert!(marking.marks(0, first, true, Cells(0)));
        assert!(!marking.marks(0, second, true, Cells(1)));
        assert!(marking.marks(0, second, true, Cells(1)), "a PDU of one cell");
    }
}
