//! Frame discard (TM 4.0, 5.8): a switch that has to lose cells of AAL5 PDUs loses whole PDUs, or what is left of them.
//!
//! A PDU of which one cell is lost is lost; its other cells take room and line for nothing. A cell is the last one of
//! its PDU if its AAL user bit is set, and the cell after that is the first one of the next.
//!
//! | policy | a PDU is refused whole | reference |
//! | --- | --- | --- |
//! | partial (PPD) | if its first cell finds no room | Romanow, Floyd, 1995 |
//! | early (EPD) | or X > R when its first cell comes | the same |
//! | selective | or X > R and Y N / X > Z | Goyal and others, ATM Forum 96-1269 |
//! | fair (FBA) | or X > R and Y N / X > Z (K - R) / (X - R) | Heinanen, Kilkki, 1995; the same |
//!
//! X are the cells in the buffer when the cell comes, Y those of its connection, N the connections that have any there,
//! K its room. With each policy a PDU is cut short as soon as one of its other cells finds no room: nothing more of it
//! gets in but its last cell, which ends it at the receiver. If that finds no room either, it is the end of the next
//! PDU that does; whatever is between would be spoiled.

use alloc::collections::VecDeque;

use super::Slot;
use super::list::List;
use crate::parameters::{ParameterError, in_range};
use crate::units::Cells;

/// Which PDUs are refused whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrameDiscardConfig {
    /// None that the buffer has room for.
    Partial,
    /// All while there are more cells.
    Early {
        /// R: more than these [cells; no default].
        threshold: Cells,
    },
    /// While there are more cells, those of connections that have more of them than others.
    Selective {
        /// R: more than these [cells; no default].
        threshold: Cells,
        /// Z: from this part on of what each connection has on average [above 0; the reference says 0.8].
        scale_factor: f64,
    },
    /// Fair buffer allocation: while there are more cells, those of connections that have more of them than others, by
    /// a limit that falls as the buffer fills.
    Fair {
        /// R: more than these [cells, less than the room; no default].
        threshold: Cells,
        /// Z: at a full buffer, from this part on of what each connection has on average [above 0; the reference says
        /// 0.8].
        scale_factor: f64,
    },
}

impl FrameDiscardConfig {
    /// Z of the policies that have one, if nothing else is said: 0.8, of the values that the reference tries the one
    /// that it takes.
    pub const SCALE_FACTOR: f64 = 0.8;

    /// R, if there is one.
    pub const fn threshold(&self) -> Option<Cells> {
        match *self {
            FrameDiscardConfig::Partial => None,
            FrameDiscardConfig::Early { threshold }
            | FrameDiscardConfig::Selective { threshold, .. }
            | FrameDiscardConfig::Fair { threshold, .. } => Some(threshold),
        }
    }

    /// Z, if there is one.
    const fn scale_factor(&self) -> Option<f64> {
        match *self {
            FrameDiscardConfig::Partial | FrameDiscardConfig::Early { .. } => None,
            FrameDiscardConfig::Selective { scale_factor, .. }
            | FrameDiscardConfig::Fair { scale_factor, .. } => Some(scale_factor),
        }
    }

    /// Refuses Z that is no positive number, R that a buffer with this room never has more cells than, and fair discard
    /// before a buffer without limit.
    pub fn check(&self, room: Option<Cells>) -> Result<(), ParameterError> {
        if let Some(scale_factor) = self.scale_factor() {
            let is_positive = scale_factor > 0.0 && scale_factor.is_finite();
            in_range("scale_factor", scale_factor, "", is_positive, "above 0")?;
        }
        if let Some(threshold) = self.threshold() {
            let is_below = match room {
                Some(room) => threshold < room,
                None => !matches!(self, FrameDiscardConfig::Fair { .. }),
            };
            let allowed = "less than the room of the UBR buffer, which is limited for fair discard";
            in_range("threshold", threshold.0 as f64, "cells", is_below, allowed)?;
        }
        Ok(())
    }
}

/// How a connection stands with the PDU that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The next cell is the first one of a PDU.
    Between,
    /// All cells of it have got in so far.
    Within,
    /// One has not, after others had.
    Cut,
    /// None has, and none will.
    Refused,
}

/// A connection.
#[derive(Clone, Copy, Debug)]
struct Vc {
    progress: Progress,
    /// Whether its cells are those of PDUs.
    has_pdus: bool,
    /// Its cells in the buffer, where somebody has to know.
    cells: u64,
}

/// Frame discard before the buffer of a port.
#[derive(Clone, Debug)]
pub struct FrameDiscard {
    config: FrameDiscardConfig,
    /// `u64::MAX`: without limit.
    room: u64,
    vcs: List<Vc>,
    /// The owners of the cells in the buffer, the oldest first; none where departures say whose cell it is.
    owners: Option<VecDeque<Slot>>,
    /// How many connections have any.
    active: u64,
    refused: u64,
    cut: u64,
}

impl FrameDiscard {
    /// Before an empty buffer with this room.
    pub fn new(config: FrameDiscardConfig, room: Option<Cells>) -> FrameDiscard {
        let room = room.map_or(u64::MAX, |cells| cells.0);
        let (vcs, owners) = (List::new(), Some(VecDeque::new()));
        FrameDiscard { config, room, vcs, owners, active: 0, refused: 0, cut: 0 }
    }

    /// Frame discard where connections have queues of their own in the buffer: each departure says whose cell it is.
    pub fn before_queues(config: FrameDiscardConfig, room: Option<Cells>) -> FrameDiscard {
        FrameDiscard { owners: None, ..FrameDiscard::new(config, room) }
    }

    /// One more connection, whose cells are those of PDUs or not; others lose cells one by one.
    pub fn connect(&mut self, has_pdus: bool) -> Slot {
        self.vcs.push(Vc { progress: Progress::Between, has_pdus, cells: 0 });
        Slot(self.vcs.as_slice().len() as u32 - 1)
    }

    /// A cell of a connection comes to a buffer that has `queue` cells in it: whether it gets in. `has_room`: whether it
    /// could. `ends_pdu`: whether its AAL user bit is set.
    pub fn admits(&mut self, slot: Slot, ends_pdu: bool, queue: Cells, has_room: bool) -> bool {
        let vc = self.vcs[slot];
        if !vc.has_pdus {
            return has_room && self.let_in(slot);
        }
        let (gets_in, progress) = match vc.progress {
            Progress::Between if !has_room || self.refuses(vc.cells, queue.0) => {
                self.refused += 1;
                (false, Progress::Refused)
            }
            Progress::Between | Progress::Within if has_room => (true, Progress::Within),
            Progress::Between | Progress::Within => {
                self.cut += 1;
                (false, Progress::Cut)
            }
            Progress::Cut => (ends_pdu && has_room, Progress::Cut),
            Progress::Refused => (false, Progress::Refused),
        };
        // What follows a cut PDU whose last cell has not got in is cut as well.
        let is_over = ends_pdu && (gets_in || progress == Progress::Refused);
        self.vcs[slot].progress = if is_over { Progress::Between } else { progress };
        gets_in && self.let_in(slot)
    }

    /// Whether a PDU is refused whose connection has so many of the cells in the buffer.
    fn refuses(&self, own: u64, queue: u64) -> bool {
        let Some(Cells(threshold)) = self.config.threshold() else { return false };
        // Y / (X / N), compared without a division: nothing is rounded as long as it stays below 2^53.
        let weighed = own as f64 * self.active as f64;
        queue > threshold
            && match self.config {
                FrameDiscardConfig::Partial | FrameDiscardConfig::Early { .. } => true,
                FrameDiscardConfig::Selective { scale_factor, .. } => weighed > scale_factor * queue as f64,
                FrameDiscardConfig::Fair { scale_factor, .. } => {
                    let (above, spare) = (queue - threshold, self.room - threshold);
                    weighed * above as f64 > scale_factor * queue as f64 * spare as f64
                }
            }
    }

    fn accounts(&self) -> bool {
        self.config.scale_factor().is_some()
    }

    /// A cell gets in: true.
    fn let_in(&mut self, slot: Slot) -> bool {
        if self.accounts() {
            let vc = &mut self.vcs[slot];
            vc.cells += 1;
            self.active += u64::from(vc.cells == 1);
            if let Some(owners) = &mut self.owners {
                owners.push_back(slot);
            }
        }
        true
    }

    /// A cell has left the buffer: the oldest, or one of `owner` where connections have queues of their own.
    pub fn on_departure(&mut self, owner: Option<Slot>) {
        let oldest = self.owners.as_mut().and_then(VecDeque::pop_front);
        let Some(slot) = owner.or(oldest).filter(|_| self.accounts()) else { return };
        let vc = &mut self.vcs[slot];
        vc.cells -= 1;
        self.active -= u64::from(vc.cells == 0);
    }

    /// PDUs of which no cell got in.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// PDUs that lost a cell for want of room after others of them, or the end of the one before, had got in.
    pub const fn cut(&self) -> u64 {
        self.cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const ROOM: u64 = 10;
    const EARLY: FrameDiscardConfig = FrameDiscardConfig::Early { threshold: Cells(5) };

    /// A buffer that cells come to and leave.
    struct Buffer {
        discard: FrameDiscard,
        cells: u64,
    }

    impl Buffer {
        fn new(config: FrameDiscardConfig, vcs: u32) -> Buffer {
            let room = Some(Cells(ROOM));
            assert_eq!(config.check(room), Ok(()));
            let mut discard = FrameDiscard::new(config, room);
            for number in 0..vcs {
                assert_eq!(discard.connect(true), Slot(number));
            }
            Buffer { discard, cells: 0 }
        }

        /// A cell of a connection comes, the last of its PDU or not.
        fn come(&mut self, vc: u32, ends_pdu: bool) -> bool {
            let gets_in = self.discard.admits(Slot(vc), ends_pdu, Cells(self.cells), self.cells < ROOM);
            self.cells += u64::from(gets_in);
            assert!(self.cells <= ROOM);
            gets_in
        }

        /// A PDU of so many cells comes: which of them get in.
        fn pdu(&mut self, vc: u32, cells: u32) -> Vec<bool> {
            (1..=cells).map(|cell| self.come(vc, cell == cells)).collect()
        }

        fn leave(&mut self, cells: u64) {
            (0..cells).for_each(|_| self.discard.on_departure(None));
            self.cells -= cells;
        }

        fn counts(&self) -> (u64, u64) {
            (self.discard.refused(), self.discard.cut())
        }
    }

    #[test]
    fn where_connections_take_turns_a_departure_says_whose_cell_it_is() {
        let config = FrameDiscardConfig::Selective { threshold: Cells(1), scale_factor: 1.0 };
        let mut discard = FrameDiscard::before_queues(config, None);
        let [first, second] = [0, 1].map(|_| discard.connect(true));
        assert!((0..4).all(|queue| discard.admits(first, queue == 3, Cells(queue), true)));
        assert!((4..6).all(|queue| discard.admits(second, queue == 5, Cells(queue), true)));
        // A cell of the second goes first: with one of five it has less than its part, and the first has more.
        discard.on_departure(Some(second));
        assert!(discard.clone().admits(second, true, Cells(5), true));
        assert!(!discard.clone().admits(first, true, Cells(5), true));
        // Three of the first go: with one cell each nobody has more.
        (0..3).for_each(|_| discard.on_departure(Some(first)));
        assert!(discard.admits(first, true, Cells(2), true));
    }

    #[test]
    fn a_pdu_that_lost_a_cell_is_cut_but_for_its_last_cell() {
        let mut buffer = Buffer::new(FrameDiscardConfig::Partial, 2);
        assert_eq!(buffer.pdu(0, 8), [true; 8]);
        assert_eq!((1..4).map(|_| buffer.come(1, false)).collect::<Vec<_>>(), [true, true, false]);
        // There is room again, but not for what is spoiled.
        buffer.leave(3);
        assert!(!buffer.come(1, false));
        assert!(buffer.come(1, true));
        assert_eq!(buffer.pdu(1, 2), [true, true]);
        assert_eq!(buffer.counts(), (0, 1));
    }

    #[test]
    fn where_the_last_cell_is_lost_the_next_one_takes_its_place() {
        let mut buffer = Buffer::new(FrameDiscardConfig::Partial, 2);
        assert_eq!(buffer.pdu(0, 8), [true; 8]);
        assert_eq!(buffer.pdu(1, 4), [true, true, false, false]);
        buffer.leave(3);
        assert_eq!(buffer.pdu(1, 3), [false, false, true]);
        assert_eq!(buffer.pdu(1, 2), [true, true]);
        assert_eq!(buffer.counts(), (0, 1));
    }

    #[test]
    fn a_pdu_whose_first_cell_finds_no_room_is_refused_whole() {
        let mut buffer = Buffer::new(FrameDiscardConfig::Partial, 2);
        assert_eq!(buffer.pdu(0, 10), [true; 10]);
        assert!(!buffer.come(1, false));
        buffer.leave(5);
        assert!(!buffer.come(1, false));
        assert!(!buffer.come(1, true));
        assert_eq!(buffer.pdu(1, 1), [true]);
        assert_eq!(buffer.counts(), (1, 0));
    }

    #[test]
    fn early_discard_refuses_what_begins_above_the_threshold() {
        let mut buffer = Buffer::new(EARLY, 2);
        assert_eq!(buffer.pdu(0, 5), [true; 5], "of which five are at the threshold, not above it");
        assert_eq!(buffer.pdu(1, 3), [true; 3]);
        assert_eq!(buffer.pdu(0, 2), [false; 2]);
        buffer.leave(3);
        assert_eq!(buffer.pdu(0, 7), [true, true, true, true, true, false, false]);
        assert_eq!(buffer.counts(), (1, 1));
    }

    #[test]
    fn selective_discard_leaves_those_alone_that_have_less_than_others() {
        let config = FrameDiscardConfig::Selective { threshold: Cells(5), scale_factor: 0.8 };
        let mut buffer = Buffer::new(config, 3);
        buffer.pdu(0, 6);
        assert_eq!(buffer.pdu(1, 1), [true], "it has none of six");
        assert_eq!(buffer.pdu(0, 1), [false], "6 * 2 / 7 is above 0.8");
        assert_eq!(buffer.pdu(1, 1), [true], "1 * 2 / 7 is below it");
        assert_eq!(buffer.pdu(1, 1), [true], "2 * 2 / 8 is below it");
        assert_eq!(buffer.pdu(1, 1), [true], "3 * 2 / 9 is below it");
        // Those of the first connection: two are left of it, and four of the other.
        buffer.leave(4);
        assert_eq!(buffer.pdu(0, 1), [true], "6 is above 5, but 2 * 2 / 6 below 0.8");
        assert_eq!(buffer.pdu(1, 1), [false], "4 * 2 / 7");
        assert_eq!(buffer.counts(), (2, 0));
    }

    #[test]
    fn fair_discard_grows_strict_as_the_buffer_fills() {
        let config = FrameDiscardConfig::Fair { threshold: Cells(5), scale_factor: 0.8 };
        let mut buffer = Buffer::new(config, 2);
        buffer.pdu(0, 6);
        buffer.pdu(1, 1);
        assert_eq!(buffer.pdu(0, 1), [true], "6 * 2 / 7 is below 0.8 * 5 / 2");
        assert_eq!(buffer.pdu(0, 1), [false], "7 * 2 / 8 is above 0.8 * 5 / 3");
        assert_eq!(buffer.pdu(1, 1), [true], "1 * 2 / 8");
        assert_eq!(buffer.pdu(1, 1), [true], "2 * 2 / 9 is below 0.8 * 5 / 4");
        assert_eq!(buffer.counts(), (1, 0));
    }

    #[test]
    fn cells_without_pdus_are_lost_one_by_one() {
        let mut discard = FrameDiscard::new(EARLY, Some(Cells(ROOM)));
        let vc = discard.connect(false);
        let admitted = [(9, true), (10, false), (9, true)]
            .map(|(queue, has_room)| (discard.admits(vc, false, Cells(queue), has_room), has_room));
        assert!(admitted.iter().all(|(gets_in, has_room)| gets_in == has_room));
        assert_eq!((discard.refused(), discard.cut()), (0, 0));
    }

    #[test]
    fn what_has_no_effect_is_refused() {
        let fair = |threshold| FrameDiscardConfig::Fair { threshold: Cells(threshold), scale_factor: 0.8 };
        assert_eq!(EARLY.check(None), Ok(()));
        assert_eq!(EARLY.check(Some(Cells(6))), Ok(()));
        for (config, room) in [(EARLY, Some(Cells(5))), (fair(5), Some(Cells(5))), (fair(5), None)] {
            assert_eq!(config.check(room).map_err(|error| error.name), Err("threshold"));
        }
        for scale_factor in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            let config = FrameDiscardConfig::Selective { threshold: Cells(5), scale_factor };
            assert_eq!(config.check(None).map_err(|error| error.name), Err("scale_factor"));
        }
    }

    fn policies() -> impl Strategy<Value = FrameDiscardConfig> {
        let threshold = (0..ROOM).prop_map(Cells);
        (0_u8..4, threshold, 0.1_f64..3.0).prop_map(|(kind, threshold, scale_factor)| match kind {
            0 => FrameDiscardConfig::Partial,
            1 => FrameDiscardConfig::Early { threshold },
            2 => FrameDiscardConfig::Selective { threshold, scale_factor },
            _ => FrameDiscardConfig::Fair { threshold, scale_factor },
        })
    }

    proptest! {
        #[test]
        fn of_each_pdu_all_gets_in_or_nothing_or_the_beginning_and_perhaps_the_end(
            config in policies(),
            // Who sends a cell, whether it ends a PDU, how many leave before.
            steps in proptest::collection::vec((0_u32..3, 0_u8..4, 0_u64..3), 1..300),
        ) {
            let mut buffer = Buffer::new(config, 3);
            let mut coming: [Vec<bool>; 3] = Default::default();
            // Whether the end of the PDU before is still missing at the receiver.
            let mut is_open = [false; 3];
            let (mut refused, mut cut) = (0, 0);
            for (vc, kind, left) in steps {
                buffer.leave(left.min(buffer.cells));
                let ends = kind == 0;
                let (had_room, number) = (buffer.cells < ROOM, vc as usize);
                let gets_in = buffer.come(vc, ends);
                prop_assert!(had_room || !gets_in);
                coming[number].push(gets_in);
                if !ends {
                    continue;
                }
                let pdu = std::mem::take(&mut coming[number]);
                let (last, before) = pdu.split_last().expect("it has a last cell");
                let admitted = pdu.iter().filter(|&&gets_in| gets_in).count();
                if is_open[number] {
                    prop_assert!(before.iter().all(|gets_in| !gets_in));
                    is_open[number] = !last;
                } else if admitted == 0 {
                    refused += 1;
                } else if admitted < pdu.len() {
                    let beginning = before.iter().take_while(|&&gets_in| gets_in).count();
                    prop_assert_eq!(admitted - usize::from(*last), beginning);
                    is_open[number] = !last;
                    cut += 1;
                }
            }
            for (pdu, is_open) in coming.iter().zip(is_open) {
                refused += u64::from(pdu.first() == Some(&false) && !is_open);
                cut += u64::from(pdu.first() == Some(&true) && pdu.contains(&false));
            }
            prop_assert_eq!(buffer.counts(), (refused, cut));
        }
    }
}
