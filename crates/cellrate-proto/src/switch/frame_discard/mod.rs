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

mod built_in;
mod differential;
mod double_early;
mod early;
mod fair;
mod partial;
mod selective;

use alloc::collections::VecDeque;

use super::Slot;
use super::list::List;
use crate::declaration::{Drawn, Shape, Values};
use crate::parameters::{ParameterError, in_range};
use crate::units::{CellRate, Cells};

pub use built_in::BuiltIn;

built_in::policies! {
    partial::Partial,
    early::Early,
    selective::Selective,
    fair::Fair,
    double_early::DoubleEarly,
    differential::Differential,
}

/// The first or a later cell of a PDU, as frame discard sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PduCell {
    /// AAL user bit: true in the last cell of the PDU.
    pub ends_pdu: bool,
    /// CLP.
    pub clp: bool,
}

/// The first cell of a PDU, which has come to a buffer that has room for it, as a policy may know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstCell {
    /// CLP.
    pub clp: bool,
    /// X: cells in the buffer \[cells\].
    pub queue: u64,
    /// Y: those of its connection \[cells\]; 0 before a policy that does not [count](BuiltIn::COUNTS) them.
    pub own: u64,
    /// N: connections that have cells there; 0 before a policy that does not [count](BuiltIn::COUNTS) them.
    pub active: u64,
    /// K: room of the buffer \[cells\]; `u64::MAX` without limit.
    pub room: u64,
    /// Minimum cell rate that its connection is promised [cells/s].
    pub mcr: f64,
    /// Sum of the minimum cell rates of all connections [cells/s].
    pub promised: f64,
}

impl FirstCell {
    /// Y N: how many cells all would have together if each connection with cells there had as many as this one.
    /// Compared with X instead of Y / (X / N) it needs no division, and nothing is rounded below 2^53.
    pub fn weighed(&self) -> f64 {
        self.own as f64 * self.active as f64
    }

    /// w: its connection's part of the minimum cell rates of all; 0 where there are none.
    pub fn part(&self) -> f64 {
        if self.promised > 0.0 { self.mcr / self.promised } else { 0.0 }
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
    /// Its cells in the buffer, where a policy has to know.
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
    #[inline]
    pub fn admits(
        &mut self,
        slot: Slot,
        cell: PduCell,
        queue: Cells,
        has_room: bool,
        draw: impl FnOnce() -> f64,
    ) -> bool {
        // Nearly all cells: one amid a PDU that has got in so far.
        if self.vcs[slot].progress == Progress::Within && has_room && !cell.ends_pdu {
            return self.let_in(slot);
        }
        self.admits_at_border(slot, cell, queue, has_room, draw)
    }

    /// Whether the first or last cell of a PDU gets in, one that finds no room or follows one that did not get in, or
    /// one of no PDU.
    #[inline(never)]
    fn admits_at_border(
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
        let &FrameDiscard { room, active, promised, .. } = self;
        let &Vc { cells: own, mcr, .. } = vc;
        self.config.refuses(&FirstCell { clp, queue, own, active, room, mcr, promised }, draw)
    }

    /// Whether it counts the cells of each connection in the buffer, and has to know of departures.
    pub const fn counts(&self) -> bool {
        self.config.counts()
    }

    /// A cell gets in: true.
    #[inline]
    fn let_in(&mut self, slot: Slot) -> bool {
        if self.config.counts() {
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
        let Some(slot) = owner.or(oldest).filter(|_| self.config.counts()) else { return };
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
mod tests;
