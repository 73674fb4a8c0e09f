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
//! | double early (double EPD) | or X > R, or X > R1 and CLP = 1 in its first cell | TM 4.1, on GFR |
//! | differential (DFBA) | or X > H, or X > L and CLP = 1, or, with probability P, X > L and Y > w X | Forum 98-0885 |
//!
//! X are the cells in the buffer when the cell comes, Y those of its connection, N the connections that have any there,
//! K its room. CLP is that of the first cell. With w, the connection's part of the MCRs of all,
//! P = (1 - w) (a (Y - w X) / (X (1 - w)) + (1 - a) (X - L) / (H - L)): the first term is for fairness, the second
//! for the load, and the factor before them spares connections with a large part.
//!
//! With each policy a PDU is cut short as soon as one of its other cells finds no room: nothing more of it
//! gets in but its last cell, which ends it at the receiver. If that finds no room either, it is the end of the next
//! PDU that does; whatever is between would be spoiled.

use alloc::collections::VecDeque;

use super::Slot;
use super::list::List;
use crate::parameters::{ParameterError, in_range};
use crate::units::{CellRate, Cells};

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
    /// PDUs of all while there are more cells than `threshold`, and those with CLP = 1 while there are more than
    /// `tagged_threshold`.
    DoubleEarly {
        /// R1: more than these [cells, at most `threshold`; no default].
        tagged_threshold: Cells,
        /// R: more than these [cells; no default].
        threshold: Cells,
    },
    /// Differential fair buffer allocation: while there are more cells than `low`, those with CLP = 1, and by chance
    /// those of connections that have more of the cells than their part of the MCRs; all while there are more than
    /// `high`.
    Differential {
        /// L: more than these [cells, less than `high`; no default].
        low: Cells,
        /// H: more than these [cells; no default].
        high: Cells,
        /// a: how much of the probability is for fairness, the rest for the load [0 to 1; 0.5 in implementations].
        fairness: f64,
    },
}

/// The first or a later cell of a PDU, as frame discard sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PduCell {
    /// AAL user bit: true in the last cell of the PDU.
    pub ends_pdu: bool,
    /// CLP.
    pub clp: bool,
}

impl FrameDiscardConfig {
    /// a, if nothing else is said.
    pub const FAIRNESS: f64 = 0.5;

    /// Z of the policies that have one, if nothing else is said: 0.8, of the values that the reference tries the one
    /// that it takes.
    pub const SCALE_FACTOR: f64 = 0.8;

    /// R, or H, if there is one.
    pub const fn threshold(&self) -> Option<Cells> {
        match *self {
            FrameDiscardConfig::Partial => None,
            FrameDiscardConfig::Early { threshold }
            | FrameDiscardConfig::Selective { threshold, .. }
            | FrameDiscardConfig::Fair { threshold, .. }
            | FrameDiscardConfig::DoubleEarly { threshold, .. }
            | FrameDiscardConfig::Differential { high: threshold, .. } => Some(threshold),
        }
    }

    /// Z, if there is one.
    const fn scale_factor(&self) -> Option<f64> {
        match *self {
            FrameDiscardConfig::Selective { scale_factor, .. }
            | FrameDiscardConfig::Fair { scale_factor, .. } => Some(scale_factor),
            _ => None,
        }
    }

    /// Refuses Z that is no positive number, R or H that a buffer with this room never has more cells than, fair
    /// discard before a buffer without limit, R1 above R, L that is not below H, and a that is no part of 1.
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
            let allowed = "less than the room of its buffer, which is limited for fair discard";
            let name =
                if matches!(self, FrameDiscardConfig::Differential { .. }) { "high" } else { "threshold" };
            in_range(name, threshold.0 as f64, "cells", is_below, allowed)?;
        }
        match *self {
            FrameDiscardConfig::DoubleEarly { tagged_threshold, threshold } => {
                let is_ordered = tagged_threshold <= threshold;
                in_range(
                    "tagged_threshold",
                    tagged_threshold.0 as f64,
                    "cells",
                    is_ordered,
                    "at most threshold",
                )
            }
            FrameDiscardConfig::Differential { low, high, fairness } => {
                in_range("low", low.0 as f64, "cells", low < high, "less than high")?;
                in_range("fairness", fairness, "", (0.0..=1.0).contains(&fairness), "from 0 to 1")
            }
            _ => Ok(()),
        }
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
    /// Minimum cell rate that it is promised [cells/s].
    mcr: f64,
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
    /// Sum of the minimum cell rates of all connections [cells/s].
    promised: f64,
    refused: u64,
    cut: u64,
}

impl FrameDiscard {
    /// Before an empty buffer with this room.
    pub fn new(config: FrameDiscardConfig, room: Option<Cells>) -> FrameDiscard {
        let room = room.map_or(u64::MAX, |cells| cells.0);
        let (vcs, owners) = (List::new(), Some(VecDeque::new()));
        FrameDiscard { config, room, vcs, owners, active: 0, promised: 0.0, refused: 0, cut: 0 }
    }

    /// Frame discard where connections have queues of their own in the buffer: each departure says whose cell it is.
    pub fn before_queues(config: FrameDiscardConfig, room: Option<Cells>) -> FrameDiscard {
        FrameDiscard { owners: None, ..FrameDiscard::new(config, room) }
    }

    /// One more connection, whose cells are those of PDUs or not; others lose cells one by one. `mcr` is what it is
    /// promised.
    pub fn connect(&mut self, has_pdus: bool, mcr: CellRate) -> Slot {
        let mcr = mcr.as_cells_per_s();
        self.promised += mcr;
        self.vcs.push(Vc { progress: Progress::Between, has_pdus, cells: 0, mcr });
        Slot(self.vcs.as_slice().len() as u32 - 1)
    }

    /// A cell of a connection comes to a buffer that has `queue` cells in it: whether it gets in. `has_room`: whether
    /// it could. `draw` gives a number uniform in [0, 1); it is asked for one where chance decides.
    pub fn admits(
        &mut self,
        slot: Slot,
        cell: PduCell,
        queue: Cells,
        has_room: bool,
        draw: impl FnOnce() -> f64,
    ) -> bool {
        let PduCell { ends_pdu, clp } = cell;
        let vc = self.vcs[slot];
        if !vc.has_pdus {
            return has_room && self.let_in(slot);
        }
        let (gets_in, progress) = match vc.progress {
            Progress::Between if !has_room || self.refuses(&vc, clp, queue.0, draw) => {
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

    /// True if a PDU of `vc` whose first cell has this CLP is refused.
    fn refuses(&self, vc: &Vc, clp: bool, queue: u64, draw: impl FnOnce() -> f64) -> bool {
        let own = vc.cells;
        let Some(Cells(threshold)) = self.config.threshold() else { return false };
        match self.config {
            FrameDiscardConfig::DoubleEarly { tagged_threshold, .. } => {
                return queue > threshold || clp && queue > tagged_threshold.0;
            }
            FrameDiscardConfig::Differential { low, fairness, .. } => {
                return queue > threshold
                    || queue > low.0
                        && (clp || self.exceeds_by_chance(vc, queue, [low.0, threshold], fairness, draw));
            }
            _ => {}
        }
        // Y / (X / N), compared without a division: nothing is rounded as long as it stays below 2^53.
        let weighed = own as f64 * self.active as f64;
        queue > threshold
            && match self.config {
                FrameDiscardConfig::Selective { scale_factor, .. } => weighed > scale_factor * queue as f64,
                FrameDiscardConfig::Fair { scale_factor, .. } => {
                    let (above, spare) = (queue - threshold, self.room - threshold);
                    weighed * above as f64 > scale_factor * queue as f64 * spare as f64
                }
                _ => true,
            }
    }

    /// True if `vc` has more of the cells than its part of what is promised, and chance has it lose for that.
    fn exceeds_by_chance(
        &self,
        vc: &Vc,
        queue: u64,
        [low, high]: [u64; 2],
        fairness: f64,
        draw: impl FnOnce() -> f64,
    ) -> bool {
        let part = if self.promised > 0.0 { vc.mcr / self.promised } else { 0.0 };
        let (own, queue) = (vc.cells as f64, queue as f64);
        let excess = own - part * queue;
        if excess <= 0.0 || part >= 1.0 {
            return false;
        }
        let unfair = excess / (queue * (1.0 - part));
        let load = (queue - low as f64) / (high - low) as f64;
        draw() < (1.0 - part) * (fairness * unfair + (1.0 - fairness) * load)
    }

    fn accounts(&self) -> bool {
        self.config.scale_factor().is_some() || matches!(self.config, FrameDiscardConfig::Differential { .. })
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
                assert_eq!(discard.connect(true, CellRate::ZERO), Slot(number));
            }
            Buffer { discard, cells: 0 }
        }

        /// A cell of a connection comes, the last of its PDU or not.
        fn come(&mut self, vc: u32, ends_pdu: bool) -> bool {
            self.come_tagged(vc, ends_pdu, false)
        }

        fn come_tagged(&mut self, vc: u32, ends_pdu: bool, clp: bool) -> bool {
            let (cell, has_room) = (PduCell { ends_pdu, clp }, self.cells < ROOM);
            let gets_in = self.discard.admits(Slot(vc), cell, Cells(self.cells), has_room, || 0.5);
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
        let [first, second] = [0, 1].map(|_| discard.connect(true, CellRate::ZERO));
        fn admits(discard: &mut FrameDiscard, vc: Slot, ends_pdu: bool, queue: u64) -> bool {
            let cell = PduCell { ends_pdu, clp: false };
            discard.admits(vc, cell, Cells(queue), true, || unreachable!("nothing is left to chance"))
        }
        assert!((0..4).all(|queue| admits(&mut discard, first, queue == 3, queue)));
        assert!((4..6).all(|queue| admits(&mut discard, second, queue == 5, queue)));
        // A cell of the second goes first: with one of five it has less than its part, and the first has more.
        discard.on_departure(Some(second));
        assert!(admits(&mut discard.clone(), second, true, 5));
        assert!(!admits(&mut discard.clone(), first, true, 5));
        // Three of the first go: with one cell each nobody has more.
        (0..3).for_each(|_| discard.on_departure(Some(first)));
        assert!(admits(&mut discard, first, true, 2));
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
        let vc = discard.connect(false, CellRate::ZERO);
        let admitted = [(9, true), (10, false), (9, true)].map(|(queue, has_room)| {
            (discard.admits(vc, PduCell::default(), Cells(queue), has_room, || 0.0), has_room)
        });
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

    #[test]
    fn tagged_pdus_are_refused_above_a_threshold_of_their_own() {
        let config = FrameDiscardConfig::DoubleEarly { tagged_threshold: Cells(3), threshold: Cells(5) };
        let mut buffer = Buffer::new(config, 2);
        assert_eq!(buffer.pdu(0, 3), [true; 3]);
        assert!(buffer.come_tagged(1, true, true), "of which three are at the threshold, not above it");
        assert!(!buffer.come_tagged(1, true, true));
        assert_eq!(buffer.pdu(0, 2), [true; 2]);
        assert_eq!(buffer.pdu(0, 1), [false]);
        // A PDU goes by its first cell.
        buffer.leave(3);
        assert!(buffer.come_tagged(1, false, false) && buffer.come_tagged(1, true, true));
        assert_eq!(buffer.counts(), (2, 0));
    }

    #[test]
    fn differential_discard_goes_by_parts_of_the_mcrs_and_by_chance() {
        // X 700, Y 300, w 0.2, L 500, H 900, a 0.5: P = 0.8 (0.5 * 160 / 560 + 0.5 * 0.5) = 0.314286.
        let config = FrameDiscardConfig::Differential { low: Cells(500), high: Cells(900), fairness: 0.5 };
        assert_eq!(config.check(Some(Cells(1000))), Ok(()));
        let mut discard = FrameDiscard::new(config, Some(Cells(1000)));
        let [small, large] = [20.0, 80.0].map(|mcr| discard.connect(true, CellRate::new(mcr)));
        let end = |clp| PduCell { ends_pdu: true, clp };
        let never = || unreachable!("nothing is left to chance");
        for queue in 0..700 {
            let vc = if queue < 300 { small } else { large };
            // What has no more than its part is never refused, nor is anything while there are no more than L.
            let draw = || if queue <= 500 { unreachable!("nothing is left to chance") } else { 1.0 };
            assert!(discard.admits(vc, end(false), Cells(queue), true, draw), "{queue}");
        }
        let with =
            |clp, queue, draw: f64| discard.clone().admits(small, end(clp), Cells(queue), true, || draw);
        assert!(!with(false, 700, 0.314_285) && with(false, 700, 0.314_287));
        assert!(!with(true, 501, 1.0) && with(true, 500, 0.0), "tagged PDUs are refused above L");
        assert!(!with(false, 901, 1.0) && !with(true, 901, 1.0), "and all above H");
        assert!(
            discard.clone().admits(large, end(false), Cells(700), true, never),
            "400 of 700 is below 0.8"
        );
        assert_eq!(discard.refused(), 0);
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        let double = |tagged, threshold| FrameDiscardConfig::DoubleEarly {
            tagged_threshold: Cells(tagged),
            threshold: Cells(threshold),
        };
        let differential = |low, high, fairness| FrameDiscardConfig::Differential {
            low: Cells(low),
            high: Cells(high),
            fairness,
        };
        let room = Some(Cells(10));
        for config in [double(5, 5), double(0, 9), differential(0, 9, 0.0), differential(8, 9, 1.0)] {
            assert_eq!(config.check(room), Ok(()));
        }
        for (config, name) in [
            (double(6, 5), "tagged_threshold"),
            (double(5, 10), "threshold"),
            (differential(9, 9, 0.5), "low"),
            (differential(5, 10, 0.5), "high"),
            (differential(5, 9, 1.5), "fairness"),
            (differential(5, 9, f64::NAN), "fairness"),
        ] {
            assert_eq!(config.check(room).map_err(|error| error.name), Err(name));
        }
    }

    fn policies() -> impl Strategy<Value = FrameDiscardConfig> {
        let threshold = (0..ROOM).prop_map(Cells);
        (0_u8..6, threshold, 0.1_f64..3.0).prop_map(|(kind, threshold, scale_factor)| match kind {
            0 => FrameDiscardConfig::Partial,
            1 => FrameDiscardConfig::Early { threshold },
            2 => FrameDiscardConfig::Selective { threshold, scale_factor },
            3 => FrameDiscardConfig::DoubleEarly { tagged_threshold: Cells(threshold.0 / 2), threshold },
            4 if threshold.0 > 0 => FrameDiscardConfig::Differential {
                low: Cells(threshold.0 / 2),
                high: threshold,
                fairness: scale_factor / 3.0,
            },
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
