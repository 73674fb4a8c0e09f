//! How many flows or calls are under way: clusters tell of beginnings and ends in their own order, and they are counted
//! in that of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cellrate_engine::recorder::Recorder;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::Every;

/// A series of the number of flows or calls under way.
#[derive(Debug)]
pub(crate) struct Series {
    /// The place of its probe among those of the run.
    pub probe: usize,
    pub recorder: Recorder,
    /// Span from one value to the next, and the instant of the next; none where every change is recorded.
    samples: Option<(Duration, Time)>,
    /// Instant from which on nothing is recorded.
    end: Time,
}

impl Series {
    /// Makes a series without values, for a run of this duration.
    pub fn new(probe: usize, every: Every, duration: Duration) -> Series {
        let end = Time::ZERO + duration;
        let (recorder, samples) = match every {
            Every::Interval(interval) => (Recorder::even(interval, duration), Some((interval, Time::ZERO))),
            Every::Change => (Recorder::of_changes(), None),
        };
        let mut series = Series { probe, recorder, samples, end };
        series.note(Time::ZERO, 0);
        series
    }

    /// Records that so many have been under way up to `until`, that instant included: a sample sees what was before its
    /// instant.
    fn pass(&mut self, until: Time, under_way: u64) {
        let Some((interval, next)) = &mut self.samples else { return };
        while *next <= until && *next < self.end {
            self.recorder.push(under_way as f64);
            *next = next.saturating_add(*interval);
        }
    }

    /// Records that so many are under way from `at` on.
    fn note(&mut self, at: Time, under_way: u64) {
        if self.samples.is_none() && at < self.end {
            self.recorder.push_change(at, under_way as f64);
        }
    }
}

/// The number of flows or calls of a demand that are under way, over time.
#[derive(Debug)]
pub(crate) struct Census {
    /// Instant from which on the mean and the largest number are counted.
    start: Time,
    /// Beginnings (true) and ends that have been reported and not been counted yet: no more than are under way or begin
    /// soon.
    known: BinaryHeap<Reverse<(Time, bool)>>,
    under_way: u64,
    /// Instant before which everything is counted.
    counted: Time,
    /// Sum of numbers under way, each times how long it held \[ps\].
    sum: u128,
    most: u64,
    /// Series of the number.
    series: Vec<Series>,
}

impl Census {
    /// Makes a census of none under way.
    pub fn new(start: Time, series: Vec<Series>) -> Census {
        let (known, counted) = (BinaryHeap::new(), Time::ZERO);
        Census { start, known, under_way: 0, counted, sum: 0, most: 0, series }
    }

    /// The series as they stand.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// Takes note that one begins at that instant, which is not counted yet.
    pub fn begins(&mut self, at: Time) {
        self.known.push(Reverse((at, true)));
    }

    /// Takes note that so many end at that instant.
    pub fn ends(&mut self, at: Time, count: u64) {
        (0..count).for_each(|_| self.known.push(Reverse((at, false))));
    }

    /// Counts up to `until`, before which all beginnings and ends have been reported.
    pub fn count_until(&mut self, until: Time) {
        while let Some(&Reverse((at, begins))) = self.known.peek()
            && at < until
        {
            self.known.pop();
            self.pass(at);
            // At one instant ends come first: none ends as it begins.
            self.under_way = if begins { self.under_way + 1 } else { self.under_way - 1 };
            self.series.iter_mut().for_each(|series| series.note(at, self.under_way));
        }
        self.pass(until);
    }

    /// Counts the time until `at`, during which the number stays as it is.
    fn pass(&mut self, at: Time) {
        let span = at.since(self.counted.max(self.start).min(at));
        if span.as_ps() > 0 {
            self.sum += u128::from(self.under_way) * u128::from(span.as_ps());
            self.most = self.most.max(self.under_way);
        }
        self.series.iter_mut().for_each(|series| series.pass(at, self.under_way));
        self.counted = self.counted.max(at);
    }

    /// Sum of numbers under way, each times how long it held \[ps\], and the largest number that held for any time.
    pub fn figures(&self) -> (u128, u64) {
        (self.sum, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> Time {
        Time::ZERO + Duration::from_ps(ps)
    }

    #[test]
    fn mean_and_most_are_those_from_the_start_on_in_any_order_of_telling() {
        let mut census = Census::new(at(10), Vec::new());
        // 2 to 12, 4 to 30, 20 to 30 and 30 to 40: two until 12, one until 20, two until 30, one until 40.
        for (begins, ends) in [(20, 30), (2, 12), (30, 40), (4, 30)] {
            census.begins(at(begins));
            census.ends(at(ends), 1);
        }
        census.count_until(at(15));
        assert_eq!(census.figures(), (2 * 2 + 3, 2));
        census.count_until(at(50));
        assert_eq!(census.figures(), (2 * 2 + 8 + 2 * 10 + 10, 2));
        assert_eq!((census.under_way, census.known.len()), (0, 0));
    }

    #[test]
    fn what_lasts_no_time_is_not_the_most() {
        let mut census = Census::new(at(0), Vec::new());
        census.begins(at(5));
        census.ends(at(7), 1);
        census.begins(at(7));
        census.ends(at(7), 0);
        census.ends(at(9), 1);
        census.count_until(at(20));
        assert_eq!(census.figures(), (4, 1));
    }

    #[test]
    fn series_have_what_was_before_each_sample_and_every_change_up_to_the_end() {
        let series = |every| Series::new(0, every, Duration::from_ps(21));
        let both = vec![series(Every::Interval(Duration::from_ps(5))), series(Every::Change)];
        let mut census = Census::new(at(10), both);
        for (begins, ends) in [(5, 15), (3, 10), (10, 40), (15, 15)] {
            census.begins(at(begins));
            census.ends(at(ends), 1);
        }
        census.count_until(at(9));
        let columns = |census: &Census| {
            census.series.iter().map(|of| of.recorder.clone().into_columns()).collect::<Vec<_>>()
        };
        assert_eq!(columns(&census), [(vec![0, 5], vec![0.0, 1.0]), (vec![0, 3, 5], vec![0.0, 1.0, 2.0])]);
        census.count_until(at(50));
        // At 10 one goes and another comes, which is not a change; 15 begins with no end but its own.
        assert_eq!(columns(&census)[0], (vec![0, 5, 10, 15, 20], vec![0.0, 1.0, 2.0, 2.0, 1.0]));
        assert_eq!(columns(&census)[1], (vec![0, 3, 5, 15], vec![0.0, 1.0, 2.0, 1.0]));
    }
}
