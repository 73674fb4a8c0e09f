//! GFR (TM 4.1): which AAL5 frames are eligible for the guaranteed rate, by F-GCRA(T, L).

use super::increment;
use crate::units::{CellRate, Duration, Time};

/// F-GCRA(T, L): decides at the first cell of a frame whether all of it is eligible, and charges all of its cells or
/// none.
///
/// A frame is eligible if it has CLP = 0 and its first cell finds at most L in the bucket, which leaks one second a
/// second; each cell of an eligible frame adds T. Frames that are not eligible never count against those that follow.
#[derive(Clone, Copy, Debug)]
pub struct FrameGcra {
    increment: Duration,
    limit: Duration,
    content: Duration,
    at: Time,
    /// Whether the frame that has begun is eligible; `None` between frames.
    eligible: Option<bool>,
}

impl FrameGcra {
    /// F-GCRA(`increment`, `limit`); no cell has come.
    pub const fn new(increment: Duration, limit: Duration) -> FrameGcra {
        FrameGcra { increment, limit, content: Duration::ZERO, at: Time::ZERO, eligible: None }
    }

    /// The F-GCRA of a contract with this MCR, peak, burst of `mbs` cells at the peak, and delay variation: L is
    /// (MBS - 1)(1/MCR - 1/PCR) + CDVT.
    pub fn of_contract(mcr: CellRate, pcr: CellRate, mbs: u64, cdvt: Duration) -> FrameGcra {
        let gained = increment(mcr).as_ps().saturating_sub(increment(pcr).as_ps());
        let tolerance = Duration::from_ps(gained).saturating_mul(mbs.saturating_sub(1));
        FrameGcra::new(increment(mcr), tolerance.saturating_add(cdvt))
    }

    /// Says whether the frame of a cell that comes at `now` is eligible; `clp` is that of the cell, and `last` says
    /// whether the cell ends its frame.
    pub fn on_cell(&mut self, now: Time, clp: bool, last: bool) -> bool {
        let left = Duration::from_ps(self.content.as_ps().saturating_sub(now.since(self.at).as_ps()));
        let eligible = *self.eligible.get_or_insert(!clp && left <= self.limit);
        if eligible {
            self.content = left.saturating_add(self.increment);
            self.at = now;
        }
        if last {
            self.eligible = None;
        }
        eligible
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_worked_sequence_of_frames() {
        // T 4, L 12; frames of four cells one slot apart. The bucket at their first cells: 0 12 24 20 16 2.
        let mut frames = FrameGcra::new(Duration::from_ps(4), Duration::from_ps(12));
        let eligible: Vec<bool> = [(0, false), (4, false), (8, false), (12, true), (16, false), (30, false)]
            .into_iter()
            .map(|(from, clp)| {
                let cells = [0, 1, 2, 3].map(|n| frames.on_cell(Time::from_ps(from + n), clp, n == 3));
                assert!(
                    cells.iter().all(|&cell| cell == cells[0]),
                    "a frame is eligible whole or not at all"
                );
                cells[0]
            })
            .collect();
        assert_eq!(eligible, [true, true, false, false, false, true]);
    }

    #[test]
    fn frames_at_the_guaranteed_rate_are_all_eligible_whatever_else_is_sent() {
        // One frame of 32 cells each 32 / MCR, and beside each two more that are not eligible.
        let mcr = CellRate::new(1e5);
        let mut frames = FrameGcra::of_contract(mcr, CellRate::new(1e6), 32, Duration::ZERO);
        let (mut at, mut counted) = (Time::ZERO, 0);
        for frame in 0..300_u64 {
            let clp = frame % 3 != 0;
            for cell in 0..32 {
                counted += u64::from(frames.on_cell(at, clp, cell == 31));
                at += Duration::from_ps(320_000_000 / 3 / 32 + 1);
            }
        }
        assert_eq!(counted, 100 * 32);
    }
}
