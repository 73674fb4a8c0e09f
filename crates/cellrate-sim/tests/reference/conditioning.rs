//! How the judge shapes and marks what a source without feedback sends: leaky buckets whose content leaks one second a
//! second, and a list of what has left.

use cellrate_scenario::{Marking, MarkingRule, Shaping};

use super::police::{Bucket, interval};
use super::*;

/// Flaws that take a source that shapes or marks to tell.
pub const CONDITIONING_FLAWS: [(Flaw, u64); 3] =
    [(Flaw::ShapersHaveNoBursts, 4), (Flaw::FramesMarkedCellByCell, 23), (Flaw::FirstOfSoManyIsMarked, 4)];

/// Shaper and marker of an end.
pub(super) struct Conditioned {
    flaw: Option<Flaw>,
    pcr: f64,
    shaping: Option<Shaping>,
    marking: Option<Marking>,
    /// Bucket of the cells that the shaper has let go.
    shaped: Bucket,
    /// Bucket of the cells that the marker has left alone.
    unmarked: Bucket,
    random: Random,
    /// Cells or frames that have begun so far.
    units: u64,
    /// CLP of the frame that has begun.
    of_frame: Option<bool>,
}

/// Cells that a bucket takes beyond what leaks, in picoseconds of its own rate.
fn tolerance(bucket: Shaping, pcr: f64) -> i128 {
    (interval(bucket.scr.as_cells_per_s()) - interval(pcr)) * (i128::from(bucket.mbs) - 1)
}

impl Conditioned {
    pub(super) fn of(scenario: &Scenario, flow: usize, flaw: Option<Flaw>) -> Option<Conditioned> {
        let own = flow_config(scenario, flow);
        let conditioning = own.conditioning.as_ref()?;
        let owner = Owner::flow(scenario, FlowIndex(flow as u32));
        Some(Conditioned {
            flaw,
            pcr: own.sender.pcr().as_cells_per_s(),
            shaping: conditioning.shaping,
            marking: conditioning.marking,
            shaped: Bucket::default(),
            unmarked: Bucket::default(),
            random: Random::new(scenario.seed, Stream::Tags(owner)),
            units: 0,
            of_frame: None,
        })
    }

    /// The first instant from `from` on at which the shaper lets a cell go.
    pub(super) fn earliest(&self, from: Time) -> Time {
        let Some(shaping) = self.shaping else { return from };
        let tolerance = match self.flaw {
            Some(Flaw::ShapersHaveNoBursts) => 0,
            _ => tolerance(shaping, self.pcr),
        };
        let wait = (self.shaped.left(from.as_ps().into()) - tolerance).max(0);
        from.saturating_add(Duration::from_ps(wait as u64))
    }

    /// A cell leaves at `now`.
    pub(super) fn leaves(&mut self, now: Time) {
        if let Some(shaping) = self.shaping {
            self.shaped.pour(now.as_ps().into(), interval(shaping.scr.as_cells_per_s()));
        }
    }

    /// CLP of the cell that has left at `now`.
    pub(super) fn marks(&mut self, now: Time, ends_pdu: bool) -> bool {
        let Some(marking) = self.marking else { return false };
        let whole_frames = marking.whole_frames && self.flaw != Some(Flaw::FramesMarkedCellByCell);
        let now = i128::from(now.as_ps());
        let begins = self.of_frame.is_none();
        let marked = match self.of_frame {
            Some(marked) => marked,
            None => {
                self.units += 1;
                match marking.rule {
                    MarkingRule::Share(share) => self.random.uniform() < share,
                    MarkingRule::Every(every) if self.flaw == Some(Flaw::FirstOfSoManyIsMarked) => {
                        every == 1 || self.units % u64::from(every) == 1
                    }
                    MarkingRule::Every(every) => self.units.is_multiple_of(every.into()),
                    MarkingRule::Bucket(bucket) => self.unmarked.left(now) > tolerance(bucket, self.pcr),
                }
            }
        };
        if let MarkingRule::Bucket(bucket) = marking.rule
            && !marked
            && (begins || whole_frames)
        {
            self.unmarked.pour(now, interval(bucket.scr.as_cells_per_s()));
        }
        self.of_frame = (whole_frames && !ends_pdu).then_some(marked);
        marked
    }
}
