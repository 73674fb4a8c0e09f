//! Notes of cells that have to be events.

use cellrate_proto::Time;

use crate::cell::Cell;

/// A cell on its way to a deferred port that has to be an event, there or behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventMark {
    /// Twice the instant at which it comes to the port \[ps\], plus one for a BRM: no instant of a run needs all bits.
    word: u64,
}

impl EventMark {
    /// The mark of this cell.
    #[inline]
    pub fn of(cell: &Cell) -> EventMark {
        EventMark { word: cell.arrives.as_ps() << 1 | u64::from(cell.is_backward_rm()) }
    }

    /// Instant at which the cell comes to the port.
    #[inline]
    pub fn at(self) -> Time {
        Time::from_ps(self.word >> 1)
    }

    /// Whether it is a BRM.
    #[inline]
    pub fn is_backward(self) -> bool {
        self.word & 1 != 0
    }
}
