//! A log-linear histogram of spans of time: 64 steps per doubling, so a quantile is within 0.8 % of a value that
//! occurred.
//!
//! A network has one per direction of a connection, and every data cell touches it: so a bucket counts in an octet, in
//! one place with its neighbours, and what that cannot hold is carried over to 16 bits apart, and from there to a list.

use std::collections::BTreeMap;
use std::fmt;

use cellrate_proto::Duration;

use crate::wide::Wide;

const STEP_BITS: u32 = 6;
const STEPS: u64 = 1 << STEP_BITS;
/// Buckets that are made room for at once.
const ROOM: usize = 16;

/// Counts of spans, by their size. Its memory is that of the sizes that occurred.
#[derive(Clone, Default)]
pub struct Histogram {
    /// The bucket that `counts[0]` counts.
    first: u32,
    /// The bucket that a [`Recording`] counted in last.
    latest: u32,
    /// Modulo 2^8.
    counts: Box<[u8]>,
    /// `None` before the first time.
    carried: Option<Box<Carried>>,
    total: u64,
    sum: Wide,
    max: Duration,
    /// The largest complement of a span, which is that of the least; 0 when nothing was counted.
    max_complement: u64,
}

/// Equal: as many spans of each size, and the same sum, least and largest of all.
impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        let figures = |of: &Histogram| (of.total, of.sum, of.extremes());
        figures(self) == figures(other) && self.distribution() == other.distribution()
    }
}

/// The text of what makes two equal, and of nothing else: not of where a bucket was found last.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Histogram");
        text.field("total", &self.total).field("sum", &self.sum).field("extremes", &self.extremes());
        text.field("distribution", &self.distribution()).finish()
    }
}

/// The least and the largest of some spans; the default is that of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extremes {
    max: Duration,
    /// The complement of the least, as in a histogram.
    max_complement: u64,
}

impl Extremes {
    /// The spans of this value and of `other` together.
    #[must_use]
    pub fn with(self, other: Extremes) -> Extremes {
        let max_complement = self.max_complement.max(other.max_complement);
        Extremes { max: self.max.max(other.max), max_complement }
    }
}

/// Buckets that have outgrown the small counters of a histogram: most often few of them.
#[derive(Clone, Debug, Default)]
struct Carried {
    /// The largest span of earlier intervals, since the largest [began anew](Histogram::begin_extremes).
    earlier: Duration,
    /// The largest span of this interval before the largest began anew.
    recent: Duration,
    /// The bucket of `times[0]`.
    first: u32,
    /// How often each counted to 2^8: modulo 2^16.
    times: Box<[u16]>,
    /// Buckets, and how often each counted to 2^24.
    beyond: BTreeMap<u32, u64>,
}

/// A [`Histogram`] while spans are counted that are much alike: those in the bucket of the last one are only numbered.
#[derive(Debug)]
pub struct Recording<'a> {
    histogram: &'a mut Histogram,
    /// The least span of that bucket \[ps\], how many there are, and how many were counted there.
    low: u64,
    width: u64,
    alike: u64,
    /// Their sum, modulo 2^64; the rest is in the histogram already.
    sum: u64,
    max: u64,
    min: u64,
}

impl Recording<'_> {
    /// Counts one span.
    #[inline(always)]
    pub fn record(&mut self, span: Duration) {
        let ps = span.as_ps();
        if ps.wrapping_sub(self.low) >= self.width {
            (self.low, self.width) = self.histogram.change_bucket(self.low, self.alike, ps);
            self.alike = 0;
        }
        self.alike += 1;
        let (sum, carries) = self.sum.overflowing_add(ps);
        self.sum = sum;
        if carries {
            self.carry();
        }
        if ps > self.max {
            self.raise(ps);
        }
        if ps < self.min {
            self.lower(ps);
        }
    }

    /// Counts `count` spans, each `step` longer than the one before, or shorter.
    pub fn record_even(&mut self, first: Duration, step: i64, count: u64) {
        let span = |index: u64| Duration::from_ps(first.as_ps().wrapping_add_signed(step * index as i64));
        let ends = [first, span(count - 1)].map(Duration::as_ps);
        if ends.iter().any(|ps| ps.wrapping_sub(self.low) >= self.width) {
            return (0..count).for_each(|index| self.record(span(index)));
        }
        self.alike += count;
        // The first and the last, the second and the last but one: all such pairs are as long.
        let twice = u128::from(count) * (u128::from(ends[0]) + u128::from(ends[1]));
        self.histogram.sum.add_wide(twice / 2);
        self.max = self.max.max(ends[0]).max(ends[1]);
        self.min = self.min.min(ends[0]).min(ends[1]);
    }

    #[cold]
    fn carry(&mut self) {
        self.histogram.sum.add_wide(1 << u64::BITS);
    }

    /// Apart, because a branch that is hardly ever taken costs less than a choice.
    #[cold]
    fn raise(&mut self, ps: u64) {
        self.max = ps;
    }

    #[cold]
    fn lower(&mut self, ps: u64) {
        self.min = ps;
    }

    /// No more are counted.
    #[inline(always)]
    pub fn close(self) {
        let latest = bucket(self.low);
        self.histogram.count(latest, self.alike);
        self.histogram.sum.add(self.sum);
        self.histogram.max = Duration::from_ps(self.max);
        self.histogram.max_complement = !self.min;
        self.histogram.latest = latest as u32;
    }
}

impl Histogram {
    /// For counting spans that are much alike.
    #[inline(always)]
    pub fn recording(&mut self) -> Recording<'_> {
        let (low, width) = span_of(self.latest.into());
        let (max, min) = (self.max.as_ps(), !self.max_complement);
        Recording { low, width, alike: 0, sum: 0, max, min, histogram: self }
    }

    /// Counts one span.
    #[inline]
    pub fn record(&mut self, span: Duration) {
        self.count(bucket(span.as_ps()), 1);
        self.sum.add(span.as_ps());
        self.max = self.max.max(span);
        self.max_complement = self.max_complement.max(!span.as_ps());
    }

    /// Counts `alike` in the bucket of `low`; the least of the bucket of `ps`, and how many belong there.
    #[inline(never)]
    fn change_bucket(&mut self, low: u64, alike: u64, ps: u64) -> (u64, u64) {
        self.count(bucket(low), alike);
        let octave = octave(ps);
        (ps >> octave << octave, 1 << octave)
    }

    /// Counts `more` in `bucket`.
    #[inline(always)]
    fn count(&mut self, bucket: usize, more: u64) {
        let place = bucket.wrapping_sub(self.first as usize);
        match self.counts.get_mut(place) {
            Some(count) => {
                let sum = u64::from(*count) + more;
                *count = sum as u8;
                if sum > u64::from(u8::MAX) {
                    self.carry(place, sum >> u8::BITS);
                }
            }
            // Nothing is no reason to make room.
            None if more == 0 => {}
            None => self.widen(bucket, more),
        }
        self.total += more;
    }

    #[cold]
    fn carry(&mut self, place: usize, carries: u64) {
        let bucket = self.first as usize + place;
        let Carried { first, times, beyond, .. } = &mut **self.carried.get_or_insert_default();
        let place = bucket.wrapping_sub(*first as usize);
        let place = if place < times.len() { place } else { widen(first, times, bucket) };
        let sum = u64::from(times[place]) + carries;
        times[place] = sum as u16;
        if sum > u64::from(u16::MAX) {
            *beyond.entry(bucket as u32).or_default() += sum >> u16::BITS;
        }
    }

    /// Makes room for `bucket` and counts `more` there.
    #[cold]
    fn widen(&mut self, bucket: usize, more: u64) {
        let place = widen(&mut self.first, &mut self.counts, bucket);
        self.counts[place] = more as u8;
        if more > u64::from(u8::MAX) {
            self.carry(place, more >> u8::BITS);
        }
    }

    /// The number of spans in the bucket at `place`.
    fn number_at(&self, place: usize) -> u64 {
        let bucket = self.first + place as u32;
        let carried = self.carried.as_deref().map_or(0, |Carried { first, times, beyond, .. }| {
            let beyond = beyond.get(&bucket).copied().unwrap_or(0);
            let times = times.get(bucket.wrapping_sub(*first) as usize).copied().map_or(0, u64::from);
            (beyond << u16::BITS) + times
        });
        (carried << u8::BITS) + u64::from(self.counts[place])
    }

    /// How many spans were counted.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Reads a word of what spans like the last ones will be counted in, to bring it into the caches before a pass over
    /// very many histograms. The value means nothing.
    #[inline]
    pub fn prefetch(&self) -> u64 {
        let count = self.counts.get(self.latest.wrapping_sub(self.first) as usize).copied().unwrap_or(0);
        self.total ^ u64::from(count)
    }

    /// Mean, exactly; `None` when nothing was counted.
    pub fn mean_s(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum.get() as f64 / self.total as f64 / 1e12)
    }

    /// The least, if anything was counted.
    fn min(&self) -> Duration {
        Duration::from_ps(!self.max_complement)
    }

    /// Sum of all spans \[ps\], exactly.
    pub fn sum_ps(&self) -> u128 {
        self.sum.get()
    }

    /// Largest, exactly; `None` when nothing was counted.
    pub fn max_s(&self) -> Option<f64> {
        (self.total > 0).then(|| self.max().as_secs_f64())
    }

    /// Largest since the beginning, or since it was [begun anew](Histogram::begin_extremes); zero of nothing.
    #[inline]
    pub fn max(&self) -> Duration {
        self.carried.as_deref().map_or(self.max, |carried| self.max.max(carried.earlier))
    }

    /// Least and largest since the beginning, or since they were [begun anew](Histogram::begin_extremes).
    pub fn extremes(&self) -> Extremes {
        Extremes { max: self.max(), max_complement: self.max_complement }
    }

    /// The least and the largest are looked for anew among what is counted from now on.
    pub fn begin_extremes(&mut self) {
        // Whoever ends intervals may not have ended one yet.
        let carried = &mut **self.carried.get_or_insert_default();
        carried.recent = carried.recent.max(self.max);
        carried.earlier = Duration::ZERO;
        (self.max, self.max_complement) = (Duration::ZERO, 0);
    }

    /// Ends an interval and gives its largest span, exactly; zero if nothing was counted in it. [`Histogram::max`] goes
    /// on as it was.
    pub fn end_interval(&mut self) -> Duration {
        let carried = &mut **self.carried.get_or_insert_default();
        let largest = self.max.max(std::mem::take(&mut carried.recent));
        carried.earlier = carried.earlier.max(std::mem::take(&mut self.max));
        largest
    }

    /// The distribution in steps: how many spans are no longer than each, counted exactly. A step is 1/64 of the span
    /// apart from the next, or less; the last one is the largest span.
    pub fn distribution(&self) -> Vec<(Duration, u64)> {
        let (mut steps, mut seen) = (Vec::new(), 0);
        for place in 0..self.counts.len() {
            let number = self.number_at(place);
            if number > 0 {
                seen += number;
                let (low, width) = span_of(u64::from(self.first) + place as u64);
                steps.push((Duration::from_ps(low + (width - 1)).min(self.max()), seen));
            }
        }
        steps
    }

    /// The counts that came after `before`, whose least and largest values are `extremes`.
    pub fn since(&self, before: Option<&Histogram>, extremes: Extremes) -> Histogram {
        let Extremes { max, max_complement } = extremes;
        let mut since = Histogram { first: self.first, max, max_complement, ..Histogram::default() };
        since.counts = vec![0; self.counts.len()].into();
        for place in 0..self.counts.len() {
            let bucket = self.first as usize + place;
            let earlier = before.and_then(|before| {
                let place = bucket.checked_sub(before.first as usize)?;
                (place < before.counts.len()).then(|| before.number_at(place))
            });
            since.count(bucket, self.number_at(place) - earlier.unwrap_or(0));
        }
        since.sum.add_wide(self.sum.get().wrapping_sub(before.map_or(0, |before| before.sum.get())));
        since
    }

    /// The smallest value that at least `share` of all are not above: the middle of its bucket, and never above the
    /// largest or below the least. Where all are the same, that is it exactly.
    pub fn quantile_s(&self, share: f64) -> Option<f64> {
        let rank = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for place in 0..self.counts.len() {
            seen += self.number_at(place);
            if seen >= rank {
                let middle = Duration::from_ps(middle(self.first as usize + place));
                return Some(middle.min(self.max()).max(self.min()).as_secs_f64());
            }
        }
        None
    }
}

/// Makes room for `bucket` in `counts`, of which the first one is that of the bucket `first`. Returns the place where
/// it counts.
fn widen<T: Copy + Default>(first: &mut u32, counts: &mut Box<[T]>, bucket: usize) -> usize {
    // Several at once, so that few calls come here.
    let start = bucket / ROOM * ROOM;
    let first_before = if counts.is_empty() { start } else { *first as usize };
    let before = first_before.saturating_sub(start);
    let len = (first_before + counts.len()).max(start + ROOM) - first_before + before;
    let mut wider = Vec::with_capacity(len);
    wider.resize(before, T::default());
    wider.extend_from_slice(counts);
    wider.resize(len, T::default());
    *first = (first_before - before) as u32;
    *counts = wider.into();
    bucket - *first as usize
}

/// Values below 64 have a bucket each; above, the top seven bits name it.
#[inline]
fn bucket(ps: u64) -> usize {
    let octave = octave(ps);
    (u64::from(octave) * STEPS + (ps >> octave)) as usize
}

/// How many bits below those that name the bucket.
#[inline]
fn octave(ps: u64) -> u32 {
    (u64::BITS - ps.leading_zeros()).saturating_sub(STEP_BITS + 1)
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let (low, width) = span_of(bucket as u64);
    low + width / 2
}

/// The least value of a bucket, and how many it holds.
#[inline(always)]
fn span_of(bucket: u64) -> (u64, u64) {
    let octave = (bucket / STEPS).saturating_sub(1);
    ((bucket - octave * STEPS) << octave, 1 << octave)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_middle_of_a_bucket_is_within_one_part_in_128_of_what_it_holds(ps: u64) {
            let ps = ps >> 1;
            let error = middle(bucket(ps)).abs_diff(ps);
            prop_assert!(error as f64 <= ps as f64 / 128.0, "{ps}: off by {error}");
        }

        #[test]
        fn what_was_counted_since_is_what_one_that_began_then_has(
            spans in proptest::collection::vec((0_u32..57, 0_u64..200, 1_u64..70_000), 2..20), at: prop::sample::Index)
        {
            let (mut all, mut own, mut before) = (Histogram::default(), Histogram::default(), None);
            let at = at.index(spans.len());
            for (index, &(shift, ps, count)) in spans.iter().enumerate() {
                if index == at {
                    before = Some(all.clone());
                    all.begin_extremes();
                }
                for histogram in [Some(&mut all), (index >= at).then_some(&mut own)].into_iter().flatten() {
                    (0..count).for_each(|_| histogram.record(Duration::from_ps(ps << shift)));
                }
            }
            let since = all.since(before.as_ref(), all.extremes());
            prop_assert_eq!(&since, &own);
            for share in [0.01, 0.5, 0.99, 1.0] {
                prop_assert_eq!(since.quantile_s(share), own.quantile_s(share));
            }
        }

        #[test]
        fn spans_much_alike_count_as_one_by_one(groups in proptest::collection::vec(
            proptest::collection::vec((0_u32..57, 0_u64..200), 0..50), 1..8))
        {
            let (mut alike, mut one_by_one) = (Histogram::default(), Histogram::default());
            for group in groups {
                let spans = group.into_iter().map(|(shift, ps)| Duration::from_ps(ps << shift));
                let mut recording = alike.recording();
                spans.clone().for_each(|span| recording.record(span));
                recording.close();
                spans.for_each(|span| one_by_one.record(span));
                prop_assert_eq!((alike.total, alike.sum, alike.max, alike.min()), (one_by_one.total, one_by_one.sum, one_by_one.max, one_by_one.min()));
                for share in [0.1, 0.5, 0.9] {
                    prop_assert_eq!(alike.quantile_s(share), one_by_one.quantile_s(share));
                }
            }
        }

        #[test]
        fn spans_that_go_up_or_down_evenly_count_as_one_by_one(
            // By recording: spans near each other, so that many have one bucket and some cross into the next, and
            // others that make the sum longer than 64 bits.
            groups in proptest::collection::vec(
                (0..3_usize, proptest::collection::vec((0_u64..300, -9_i64..10, 1_u64..40), 1..20)), 1..6),
        ) {
            let (mut evenly, mut one_by_one) = (Histogram::default(), Histogram::default());
            for (size, group) in groups {
                let shift = [0, 12, 50][size];
                let mut recording = evenly.recording();
                for (more, step, count) in group {
                    let span = |index: u64| {
                        Duration::from_ps((5_000 + more).wrapping_add_signed(step * index as i64) << shift)
                    };
                    recording.record_even(span(0), step << shift, count);
                    (0..count).for_each(|index| one_by_one.record(span(index)));
                }
                recording.close();
                prop_assert_eq!(
                    (evenly.total, evenly.sum, evenly.max, evenly.min()),
                    (one_by_one.total, one_by_one.sum, one_by_one.max, one_by_one.min())
                );
                for share in [0.1, 0.5, 0.9] {
                    prop_assert_eq!(evenly.quantile_s(share), one_by_one.quantile_s(share));
                }
            }
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_values(mut values in proptest::collection::vec(1_u64..1_000_000_000_000, 1..200)) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&ps| histogram.record(Duration::from_ps(ps)));
            values.sort_unstable();
            for share in [0.5, 0.99, 1.0] {
                let exact = values[(share * values.len() as f64).ceil() as usize - 1] as f64 * 1e-12;
                let found = histogram.quantile_s(share).unwrap();
                prop_assert!((found / exact - 1.0).abs() < 0.01, "{share}: {found} against {exact}");
                let [least, largest] = [values[0], values[values.len() - 1]].map(|ps| Duration::from_ps(ps).as_secs_f64());
                let within = (least..=largest).contains(&found);
                prop_assert!(within, "{share}: {found} lies beyond what was counted");
            }
        }
    }

    #[test]
    fn a_distribution_counts_exactly_at_steps_no_further_apart_than_a_64th() {
        let mut histogram = Histogram::default();
        let spans: Vec<u64> = (0..1_000_u64).map(|i| 7 + i * i * 1_003 % 1_000_000).collect();
        spans.iter().for_each(|&ps| histogram.record(Duration::from_ps(ps)));
        let steps = histogram.distribution();
        for &(step, number) in &steps {
            let exact = spans.iter().filter(|&&ps| ps <= step.as_ps()).count();
            assert_eq!(number, exact as u64, "up to {step}");
        }
        for &ps in &spans {
            let (step, _) = steps.iter().find(|(step, _)| step.as_ps() >= ps).unwrap();
            assert!((step.as_ps() - ps) * 64 <= ps.max(64), "{ps} is counted at {step}");
        }
        assert_eq!(steps.last(), Some(&(histogram.max(), 1_000)));
    }

    #[test]
    fn the_largest_of_intervals_and_that_of_windows_do_not_disturb_each_other() {
        let ps = Duration::from_ps;
        let mut histogram = Histogram::default();
        histogram.record(ps(50));
        // A window begins before the first interval has ended.
        histogram.begin_extremes();
        histogram.record(ps(40));
        assert_eq!((histogram.max(), histogram.end_interval()), (ps(40), ps(50)));
        histogram.record(ps(30));
        // A window begins within an interval.
        histogram.begin_extremes();
        histogram.record(ps(20));
        assert_eq!((histogram.max(), histogram.end_interval()), (ps(20), ps(30)));
        assert_eq!((histogram.max(), histogram.end_interval()), (ps(20), ps(0)));
        histogram.record(ps(10));
        assert_eq!((histogram.end_interval(), histogram.max()), (ps(10), ps(20)));
        assert_eq!(histogram.quantile_s(1.0), Some(20e-12));
    }

    /// The number of spans in the bucket of `ps`.
    fn number_of(histogram: &Histogram, ps: u64) -> u64 {
        histogram.number_at(bucket(ps) - histogram.first as usize)
    }

    #[test]
    fn a_bucket_counts_beyond_what_it_holds_itself() {
        let [small, large] = [1_000, 2_000].map(Duration::from_ps);
        let near =
            |span: Duration, found: Option<f64>| (found.unwrap() / span.as_secs_f64() - 1.0).abs() < 0.01;
        for bits in [8, 24] {
            // As many of each as so many bits can hold, counted at once and one by one; the larger first, so that room
            // is made before what has been carried over.
            let mut histogram = Histogram::default();
            let most = (1 << bits) - 1;
            let numbers = |histogram: &Histogram| [number_of(histogram, 1_000), number_of(histogram, 2_000)];
            for span in [large, small] {
                let mut recording = histogram.recording();
                recording.record_even(span, 0, most - 1);
                recording.close();
                histogram.record(span);
            }
            assert_eq!(numbers(&histogram), [most; 2]);
            assert!(near(small, histogram.quantile_s(0.5)), "the median changes sides with one more");
            histogram.record(large);
            assert_eq!(numbers(&histogram), [most, most + 1]);
            assert!(near(large, histogram.quantile_s(0.5)));
            let carried = histogram.carried.expect("more than an octet holds");
            assert_eq!(
                carried.beyond.into_values().collect::<Vec<_>>(),
                if bits == 8 { vec![] } else { vec![1] }
            );
        }
    }

    #[test]
    fn many_are_counted_at_once_whether_or_not_there_is_a_bucket() {
        let mut histogram = Histogram::default();
        for count in [100, 200, 100_000, 100_000] {
            let mut recording = histogram.recording();
            (0..count).for_each(|_| recording.record(Duration::from_ps(5)));
            recording.close();
        }
        assert_eq!((number_of(&histogram, 5), histogram.total), (200_300, 200_300));
    }

    #[test]
    fn room_is_made_on_both_sides_and_between() {
        let mut histogram = Histogram::default();
        for ps in [1 << 20, 1 << 24, 1 << 12, 1 << 24, 3] {
            histogram.record(Duration::from_ps(ps));
        }
        let counted: u64 = (0..histogram.counts.len()).map(|place| histogram.number_at(place)).sum();
        assert_eq!((counted, number_of(&histogram, 3), number_of(&histogram, 1 << 24)), (5, 1, 2));
    }

    #[test]
    fn quantiles_of_a_constant_are_that_constant() {
        // No middle of a bucket: 5 us/km times 1000 km, and a cell of 149.76 Mb/s.
        let delay = Duration::from_ps(5_002_831_196);
        let (mut one_by_one, mut alike) = (Histogram::default(), Histogram::default());
        let mut recording = alike.recording();
        for _ in 0..300 {
            one_by_one.record(delay);
            recording.record(delay);
        }
        recording.record_even(delay, 0, 5);
        recording.close();
        for histogram in [one_by_one, alike] {
            for share in [0.01, 0.5, 0.99, 1.0] {
                assert_eq!(histogram.quantile_s(share), Some(delay.as_secs_f64()));
            }
        }
    }

    #[test]
    fn nothing_counted_has_no_figures() {
        let histogram = Histogram::default();
        assert_eq!((histogram.mean_s(), histogram.quantile_s(0.5), histogram.max_s()), (None, None, None));
    }
}
