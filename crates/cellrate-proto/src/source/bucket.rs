//! A leaky bucket before an ABR source, by which small bursts leave at PCR whatever ACR is (paper uili, section 7.2.3).
//! TM 4.0 has none; the paper names it as what a network may allow.

use super::{Extras, Source};
use crate::units::{CellRate, Duration, Time};

/// How far a source has come, and what spaces its in-rate cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// No in-rate cell was ever sent, or none since it began anew.
    Fresh,
    /// Its cells leave 1/ACR apart.
    Paced,
    /// Its cells leave as a [`Bucket`] says, which differs from one to the next.
    Bursting,
}

/// The bucket: cells that may leave at once, filled at ACR.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    /// Cells that may leave at PCR one after the other when it is full: its size is less, by what ACR fills meanwhile.
    mbs: f64,
    /// Cells that it lacked at `since` \[cells\].
    spent: f64,
    /// When that was; never before the last in-rate cell.
    since: Time,
}

impl Bucket {
    /// It is filled up to `now` at this rate.
    fn fill(&mut self, now: Time, rate: CellRate) {
        self.spent = (self.spent - rate.cells_in(now.since(self.since))).max(0.0);
        self.since = now;
    }

    /// The time from the cell that left at `last` until it holds a whole one, at this rate; not less than 1/PCR.
    fn spacing(&self, last: Time, rate: CellRate, pcr: CellRate) -> Duration {
        if rate == CellRate::ZERO {
            return Duration::FOREVER;
        }
        // GCRA(1/ACR, BT), BT = (MBS - 1)(1/ACR - 1/PCR), in cells: BT ACR = (MBS - 1)(1 - ACR/PCR).
        let lacks = self.spent - (self.mbs - 1.0) * (1.0 - rate.ratio(pcr)).max(0.0);
        let by_rate = match lacks > 0.0 {
            true => self.since.since(last).saturating_add((rate * (1.0 / lacks)).interval()),
            false => Duration::ZERO,
        };
        by_rate.max(pcr.interval())
    }
}

impl Source {
    /// This source behind a leaky bucket, which ACR fills: `mbs` in-rate cells may leave at PCR one after the other,
    /// whatever ACR is, as those of a VBR source whose SCR is ACR. In any span no more leave than `mbs` and what ACR
    /// allows in it, and none while ACR is 0. With an `mbs` of 1 nothing changes.
    ///
    /// ```
    /// use cellrate_proto::uili::UiliConfig;
    /// use cellrate_proto::{AbrParameters, CellRate, Duration, Source, Time};
    ///
    /// // PCR is a cell in 10 us, ICR one in 40 us.
    /// let parameters = AbrParameters { icr: CellRate::new(25e3), ..AbrParameters::new(CellRate::new(1e5)) };
    /// let mut source = Source::new(parameters, &UiliConfig::None).bursting(3);
    /// let mut next = |now| {
    ///     let at = source.next_transmission(now, |from| from);
    ///     source.transmit(at, true).expect("it is the instant of the next transmission");
    ///     at.since(Time::ZERO)
    /// };
    /// // Three at PCR: the third leaves BT = 2 (40 - 10) us before its turn by ACR, and so do all that follow.
    /// let mut now = Time::ZERO;
    /// for us in [0, 10, 20, 60, 100] {
    ///     assert_eq!(next(now), Duration::from_us(us));
    ///     now = Time::ZERO + Duration::from_us(us);
    /// }
    /// ```
    #[must_use]
    pub fn bursting(mut self, mbs: u32) -> Source {
        if mbs > 1 {
            let bucket = Bucket { mbs: mbs.into(), spent: 0.0, since: Time::ZERO };
            self.extras_mut().bucket = Some(bucket);
            self.spacing = self.spacing_at(self.acr);
        }
        self
    }

    /// Whether an in-rate cell was sent, since it began anew.
    #[inline]
    pub(super) fn has_started(&self) -> bool {
        self.progress != Progress::Fresh
    }

    /// The in-rate cell that leaves at `now` is taken from the bucket, if there is one.
    pub(super) fn spend(&mut self, now: Time) {
        self.progress = Progress::Paced;
        let rate = self.rate(self.acr);
        if let Some(Extras { bucket: Some(bucket), .. }) = self.extras.as_deref_mut() {
            bucket.fill(now, rate);
            bucket.spent += 1.0;
            self.progress = Progress::Bursting;
            self.spacing = self.spacing_at(self.acr);
        }
    }

    /// The bucket is filled at the ACR of now, which ends at `now`.
    pub(super) fn fill(&mut self, now: Time) {
        let rate = self.rate(self.acr);
        if let Some(Extras { bucket: Some(bucket), .. }) = self.extras.as_deref_mut() {
            bucket.fill(now, rate);
        }
    }

    /// The rate at which cells leave in the long run at this ACR: that of one that breaks the rules is another.
    #[inline]
    fn rate(&self, acr: CellRate) -> CellRate {
        self.extras.as_ref().map_or(acr, |extras| acr * extras.misbehaviour.rate_factor)
    }

    /// The time from the last in-rate cell to the next at this ACR.
    #[inline]
    pub(super) fn spacing_at(&self, acr: CellRate) -> Duration {
        let rate = self.rate(acr);
        match self.extras.as_deref() {
            Some(Extras { bucket: Some(bucket), .. }) => {
                bucket.spacing(self.last_cell, rate, self.parameters.pcr)
            }
            _ => rate.interval(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AcrCause, Emission};
    use super::*;
    use crate::parameters::AbrParameters;
    use crate::uili::UiliConfig;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// PCR is a cell in 10 us, ACR one in 40 us, and the bucket has room for so many.
    fn source(mbs: u32) -> Source {
        let parameters = AbrParameters { icr: CellRate::new(25e3), ..AbrParameters::new(CellRate::new(1e5)) };
        Source::new(parameters, &UiliConfig::None).bursting(mbs)
    }

    /// To the nanosecond: what the bucket holds is rounded to the picosecond again and again.
    fn rounded(time: Time) -> Time {
        Time::from_ps((time.as_ps() + 500) / 1000 * 1000)
    }

    /// Sends `count` cells as early as they may leave from `now` on: when the last one does.
    fn send(source: &mut Source, count: u32, mut now: Time) -> Time {
        for _ in 0..count {
            now = source.next_transmission(now, |from| from);
            assert!(matches!(source.transmit(now, true), Some(Emission::ForwardRm(_) | Emission::Data)));
        }
        rounded(now)
    }

    fn step(source: &mut Source, us: u64, rate: f64) {
        source.step_acr(at(us), CellRate::new(rate), AcrCause::Idle);
    }

    #[test]
    fn an_idle_source_fills_its_bucket_at_acr_and_no_further() {
        let mut own = source(4);
        assert_eq!(send(&mut own, 4, at(0)), at(30));
        // BT is 90 us: cell k leaves at 40 k - 90 us at the earliest.
        assert_eq!(send(&mut own, 1, at(50)), at(70));
        assert_eq!(send(&mut own, 1, at(70)), at(110));
        // After a long time it is full, not more: four at PCR, and the fifth 160 - 90 us after the first.
        assert_eq!(send(&mut own, 5, at(10_000)), at(10_070));
    }

    #[test]
    fn what_is_lacking_is_filled_at_the_acr_that_changes() {
        let mut own = source(2);
        assert_eq!(send(&mut own, 2, at(0)), at(10));
        // Of two cells 20 us have filled half a one. At a fifth of the rate the bucket has room for a burst of 0.95
        // cells before the next, and 1.5 - 0.95 cells take 110 us.
        step(&mut own, 20, 5e3);
        assert_eq!(rounded(own.next_transmission(at(20), |from| from)), at(130));
        // At 70 us another quarter has come. At the old rate it has room for 0.75: 1.25 - 0.75 cells take 20 us.
        step(&mut own, 70, 25e3);
        assert_eq!(rounded(own.next_transmission(at(70), |from| from)), at(90));
    }

    #[test]
    fn nothing_leaves_at_an_acr_of_zero_and_what_was_spared_stays() {
        let mut own = source(4);
        send(&mut own, 1, at(0));
        step(&mut own, 40, 0.0);
        assert_eq!(own.in_rate_opportunity(), Time::NEVER);
        step(&mut own, 1_000, 25e3);
        assert_eq!(send(&mut own, 4, at(1_000)), at(1_030));
        assert_eq!(send(&mut own, 1, at(1_030)), at(1_070));
    }

    #[test]
    fn a_bucket_of_one_cell_is_none() {
        assert!(source(1).extras.is_none());
        assert_eq!(source(1).spacing(), Duration::from_us(40));
    }

    #[test]
    fn one_that_begins_anew_has_no_more_in_its_bucket_than_before() {
        let mut own = source(4);
        assert_eq!(send(&mut own, 4, at(0)), at(30));
        own.restart(at(40));
        // The first cell leaves at once (rule 2), and is taken from the bucket: 4 - 2.25 cells take 70 us.
        assert_eq!(send(&mut own, 1, at(40)), at(40));
        assert_eq!(send(&mut own, 1, at(40)), at(110));
    }
}
