//! GFR (TM 4.1): which AAL5 frames conform, and which are eligible for the guaranteed rate, by F-GCRA(T, L).
//!
//! A cell conforms if the GCRA of the peak passes it, its CLP is that of its frame's first cell, and its frame is no
//! longer than MFS. Of a frame whose first cell does not conform nothing passes; of one whose later cell does not,
//! nothing more but its last cell, which ends it at the receiver. A frame whose first cell conforms and has CLP = 0 is
//! eligible if F-GCRA says so at that cell.

use super::{Gcra, increment};
use crate::parameters::{ParameterError, in_range};
use crate::units::{CellRate, Duration, Time};

/// The contract of a GFR connection, and whether the network tags what is not eligible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameContract {
    /// GFR.2: cells of frames that are not eligible get CLP = 1. GFR.1 leaves CLP alone.
    pub tags: bool,
    /// Peak cell rate [cells/s].
    pub pcr: CellRate,
    /// Cell delay variation tolerance of the peak and of the minimum.
    pub cdvt: Duration,
    /// Minimum cell rate [cells/s].
    pub mcr: CellRate,
    /// Maximum burst size \[cells\]: so many may come at the peak in eligible frames.
    pub mbs: u64,
    /// Maximum frame size \[cells\].
    pub mfs: u64,
}

impl FrameContract {
    /// Refuses a peak of zero, an MCR that is zero or above the peak, a burst and a frame of no cells.
    ///
    /// # Errors
    /// With the parameter's name, value and range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let [pcr, mcr] = [self.pcr, self.mcr].map(CellRate::as_cells_per_s);
        in_range("PCR", pcr, "cells/s", pcr > 0.0, "above 0")?;
        in_range("MCR", mcr, "cells/s", mcr > 0.0 && self.mcr <= self.pcr, "above 0 and at most PCR")?;
        in_range("MBS", self.mbs as f64, "cells", self.mbs >= 1, "at least 1")?;
        in_range("MFS", self.mfs as f64, "cells", self.mfs >= 1, "at least 1")
    }

    /// Name of the conformance definition, "GFR.1" or "GFR.2".
    pub const fn name(&self) -> &'static str {
        if self.tags { "GFR.2" } else { "GFR.1" }
    }
}

/// Verdict on a cell of a GFR connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameVerdict {
    /// Part of a frame that the guarantee is for.
    Eligible,
    /// Conforming, and part of a frame that is not eligible.
    BestEffort,
    /// Not conforming, or part of a frame of which a cell before did not conform.
    Nonconforming,
}

/// A frame that has begun to pass.
#[derive(Clone, Copy, Debug)]
struct Passing {
    clp: bool,
    eligible: bool,
    /// Number of its cells so far.
    cells: u64,
}

/// State of the frame that comes.
#[derive(Clone, Copy, Debug)]
enum Progress {
    /// The next cell is the first one of a frame.
    Between,
    /// All cells of it have conformed so far.
    Within(Passing),
    /// One has not, after others had.
    Cut(Passing),
    /// The first has not.
    Refused,
}

/// A policer of the frames of one connection.
#[derive(Clone, Debug)]
pub struct FramePolicer {
    mfs: u64,
    peak: Gcra,
    minimum: FrameGcra,
    progress: Progress,
}

impl FramePolicer {
    /// A policer of this contract; no cell has come.
    pub fn new(contract: &FrameContract) -> FramePolicer {
        let FrameContract { pcr, cdvt, mcr, mbs, mfs, .. } = *contract;
        FramePolicer {
            mfs,
            peak: Gcra::new(increment(pcr), cdvt),
            minimum: FrameGcra::of_contract(mcr, pcr, mbs, cdvt),
            progress: Progress::Between,
        }
    }

    /// Verdict on a cell that comes at `now`, with this CLP; `last` says whether it ends its frame.
    pub fn on_cell(&mut self, now: Time, clp: bool, last: bool) -> FrameVerdict {
        let conforms = self.peak.conforms(now);
        let fits = |before: u64| last || before + 1 < self.mfs;
        let (passes, progress) = match self.progress {
            Progress::Between if conforms && fits(0) => {
                let eligible = !clp && self.minimum.has_room(now);
                (true, Progress::Within(Passing { clp, eligible, cells: 1 }))
            }
            Progress::Between | Progress::Refused => (false, Progress::Refused),
            Progress::Within(frame) if conforms && clp == frame.clp && fits(frame.cells) => {
                (true, Progress::Within(Passing { cells: frame.cells + 1, ..frame }))
            }
            Progress::Within(frame) => (false, Progress::Cut(frame)),
            Progress::Cut(frame) => (last && conforms && clp == frame.clp, Progress::Cut(frame)),
        };
        // What follows a frame whose end has not passed is cut as well, until an end passes.
        let is_over = last && (passes || matches!(progress, Progress::Refused));
        self.progress = if is_over { Progress::Between } else { progress };
        let (Progress::Within(frame) | Progress::Cut(frame), true) = (progress, passes) else {
            return FrameVerdict::Nonconforming;
        };
        self.peak.charge(now);
        if !frame.eligible {
            return FrameVerdict::BestEffort;
        }
        self.minimum.charge(now);
        FrameVerdict::Eligible
    }
}

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
        let eligible = match self.eligible {
            Some(eligible) => eligible,
            None => !clp && self.has_room(now),
        };
        if eligible {
            self.charge(now);
        }
        self.eligible = (!last).then_some(eligible);
        eligible
    }

    /// True if a frame with CLP = 0 whose first cell comes at `now` is eligible.
    pub fn has_room(&self, now: Time) -> bool {
        self.left(now) <= self.limit
    }

    /// Charges a cell of an eligible frame that passes at `now`.
    pub fn charge(&mut self, now: Time) {
        self.content = self.left(now).saturating_add(self.increment);
        self.at = now;
    }

    fn left(&self, now: Time) -> Duration {
        Duration::from_ps(self.content.as_ps().saturating_sub(now.since(self.at).as_ps()))
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

    /// PCR one cell a us, CDVT 0, MCR one in 4 us, MBS 5, MFS 4.
    fn policer() -> FramePolicer {
        let contract = FrameContract {
            tags: true,
            pcr: CellRate::new(1e6),
            cdvt: Duration::ZERO,
            mcr: CellRate::new(250e3),
            mbs: 5,
            mfs: 4,
        };
        assert_eq!(contract.check(), Ok(()));
        FramePolicer::new(&contract)
    }

    /// The verdicts on cells at these instants in us, with their CLP; the last one ends the frame.
    fn frame(policer: &mut FramePolicer, cells: &[(f64, bool)]) -> std::string::String {
        let letter = |(place, &(us, clp)): (usize, &(f64, bool))| {
            let now = Time::from_ps((us * 1e6) as u64);
            match policer.on_cell(now, clp, place + 1 == cells.len()) {
                FrameVerdict::Eligible => 'E',
                FrameVerdict::BestEffort => 'B',
                FrameVerdict::Nonconforming => 'N',
            }
        };
        cells.iter().enumerate().map(letter).collect()
    }

    #[test]
    fn a_frame_is_eligible_or_not_by_its_first_cell() {
        // L = 4 * 3 us. The bucket at the first cells of frames of four, in us: 0, 12, 24; of the fourth 23 - 11.
        let mut policer = policer();
        let at = |from: u32| [0, 1, 2, 3].map(|n| (f64::from(from + n), false));
        assert_eq!(frame(&mut policer, &at(0)), "EEEE");
        assert_eq!(frame(&mut policer, &at(4)), "EEEE");
        assert_eq!(frame(&mut policer, &at(8)), "BBBB");
        assert_eq!(frame(&mut policer, &at(20)), "EEEE", "what was not eligible was not charged");
    }

    #[test]
    fn what_fails_the_peak_takes_the_rest_of_its_frame_along_but_its_end() {
        let mut policer = policer();
        let clear = |instants: &[f64]| instants.iter().map(|&us| (us, false)).collect::<Vec<_>>();
        assert_eq!(frame(&mut policer, &clear(&[0.0, 0.5, 2.0, 3.0])), "ENNE");
        // The end of a frame fails: the one after has nothing but its end pass.
        assert_eq!(frame(&mut policer, &clear(&[10.0, 10.5])), "EN");
        assert_eq!(frame(&mut policer, &clear(&[20.0, 21.0])), "NE");
        // The first cell of a frame fails, and none of it passes; then the next.
        assert_eq!(frame(&mut policer, &clear(&[21.5, 23.0, 24.0])), "NNN");
        assert_eq!(frame(&mut policer, &clear(&[50.0])), "E");
        assert_eq!(frame(&mut policer, &clear(&[50.5])), "N");
        assert_eq!(
            frame(&mut policer, &clear(&[52.0])),
            "E",
            "a frame of one cell is over when it is refused"
        );
    }

    #[test]
    fn frames_longer_than_mfs_and_cells_of_another_clp_do_not_conform() {
        let mut policer = policer();
        let clear = |count: u32| (0..count).map(|n| (f64::from(n), false)).collect::<Vec<_>>();
        assert_eq!(frame(&mut policer.clone(), &clear(4)), "EEEE");
        assert_eq!(frame(&mut policer.clone(), &clear(6)), "EEENNE");
        let mixed = [(0.0, false), (1.0, true), (2.0, false), (3.0, false)];
        assert_eq!(frame(&mut policer.clone(), &mixed), "ENNE");
        let tagged = [(0.0, true), (1.0, true)];
        assert_eq!(frame(&mut policer, &tagged), "BB");
        assert_eq!(frame(&mut policer, &[(2.0, true), (3.0, false)]), "BN");
    }

    #[test]
    fn parameters_that_promise_nothing_are_refused() {
        let good = FrameContract {
            tags: false,
            pcr: CellRate::new(1e5),
            cdvt: Duration::ZERO,
            mcr: CellRate::new(1e5),
            mbs: 1,
            mfs: 1,
        };
        assert_eq!((good.check(), good.name()), (Ok(()), "GFR.1"));
        let bad = [
            FrameContract { pcr: CellRate::ZERO, ..good },
            FrameContract { mcr: CellRate::ZERO, ..good },
            FrameContract { mcr: CellRate::new(100_001.0), ..good },
            FrameContract { mbs: 0, ..good },
            FrameContract { mfs: 0, ..good },
        ];
        let names = bad.map(|contract| contract.check().unwrap_err().name);
        assert_eq!(names, ["PCR", "MCR", "MCR", "MBS", "MFS"]);
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
