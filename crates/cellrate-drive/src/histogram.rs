//! A log-linear histogram of spans of time: 64 steps per doubling, so a quantile is within 0.8 % of a value that occurred.

use cellrate_proto::Duration;

const STEP_BITS: u32 = 6;
const STEPS: u64 = 1 << STEP_BITS;

/// Counts of spans, by their size. Its memory is that of the octaves that occurred.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The bucket that `counts[0]` counts.
    first: usize,
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    max: Duration,
}

impl Histogram {
    /// Counts one span.
    #[inline]
    pub fn record(&mut self, span: Duration) {
        let bucket = bucket(span.as_ps());
        let place = bucket.wrapping_sub(self.first);
        match self.counts.get_mut(place) {
            Some(count) => *count += 1,
            None => self.widen(bucket),
        }
        self.total += 1;
        self.sum += u128::from(span.as_ps());
        self.max = self.max.max(span);
    }

    /// Makes room for `bucket` and counts one there.
    #[cold]
    fn widen(&mut self, bucket: usize) {
        // Whole octaves, so that few calls come here.
        let octave = bucket / STEPS as usize * STEPS as usize;
        if self.counts.is_empty() {
            self.first = octave;
        } else if octave < self.first {
            let more = self.first - octave;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = octave;
        }
        let needed = octave + STEPS as usize - self.first;
        if self.counts.len() < needed {
            self.counts.resize(needed, 0);
        }
        self.counts[bucket - self.first] += 1;
    }

    /// Mean, exactly; `None` when nothing was counted.
    pub fn mean_s(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64 / 1e12)
    }

    /// Largest, exactly; `None` when nothing was counted.
    pub fn max_s(&self) -> Option<f64> {
        (self.total > 0).then(|| self.max.as_secs_f64())
    }

    /// The smallest value that at least `share` of all are not above: the middle of its bucket, and never above the
    /// largest.
    pub fn quantile_s(&self, share: f64) -> Option<f64> {
        let rank = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (place, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                let middle = Duration::from_ps(middle(self.first + place));
                return Some(middle.min(self.max).as_secs_f64());
            }
        }
        None
    }
}

/// Values below 64 have a bucket each; above, the top seven bits name it.
#[inline]
fn bucket(ps: u64) -> usize {
    let octave = (u64::BITS - ps.leading_zeros()).saturating_sub(STEP_BITS + 1);
    (u64::from(octave) * STEPS + (ps >> octave)) as usize
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let octave = bucket / STEPS - 1;
    let low = (bucket - octave * STEPS) << octave;
    low + (1 << octave) / 2
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
        fn quantiles_are_those_of_the_sorted_values(mut values in proptest::collection::vec(1_u64..1_000_000_000_000, 1..200)) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&ps| histogram.record(Duration::from_ps(ps)));
            values.sort_unstable();
            for share in [0.5, 0.99, 1.0] {
                let exact = values[(share * values.len() as f64).ceil() as usize - 1] as f64 * 1e-12;
                let found = histogram.quantile_s(share).unwrap();
                prop_assert!((found / exact - 1.0).abs() < 0.01, "{share}: {found} against {exact}");
            }
        }
    }

    #[test]
    fn nothing_counted_has_no_figures() {
        let histogram = Histogram::default();
        assert_eq!((histogram.mean_s(), histogram.quantile_s(0.5), histogram.max_s()), (None, None, None));
    }
}
