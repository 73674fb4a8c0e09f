//! Equivalent bandwidth of on/off sources (R. Guérin, H. Ahmadi, M. Naghshineh, "Equivalent capacity and its
//! application to bandwidth allocation in high-speed networks", IEEE JSAC 9, 1991).
//!
//! Each source is on and off for exponential times. What together they need of a line, so that no more than a share of
//! their cells finds its buffer full, is the smaller of two approximations: the sum of what each would need alone
//! (fluid flow), and what a Gaussian distribution of the sum of their rates exceeds as rarely (stationary).

use crate::units::{BITS_PER_CELL, CellRate, Cells, Duration};

/// An on/off source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOffSource {
    /// Rate while it is on [cells/s, above 0].
    pub peak: CellRate,
    /// Mean rate [cells/s, above 0, at most the peak].
    pub mean: CellRate,
    /// Mean time for which it is on.
    pub burst: Duration,
}

/// Bandwidth that on/off sources need together, as sums that sources can be taken out of again: whole bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Needs {
    /// Sum of what each would need alone [bit/s].
    alone: u64,
    /// Means [bit/s].
    mean: u64,
    /// Variances of the rates [bit^2/s^2].
    variance: u128,
}

impl Needs {
    /// Needs of one source at a buffer of so many cells (`None`: without limit), of which a share of at most `loss` is
    /// to be lost [above 0, at most 0.1].
    pub fn of(source: &OnOffSource, room: Option<Cells>, loss: f64) -> Needs {
        let bits = |rate: CellRate| rate.as_cells_per_s() * BITS_PER_CELL as f64;
        let (peak, mean) = (bits(source.peak), bits(source.mean));
        let room = room.map(|room| room.0 as f64 * BITS_PER_CELL as f64);
        let alone = capacity(peak, mean, source.burst.as_secs_f64(), room, loss);
        Needs {
            alone: libm::ceil(alone) as u64,
            mean: libm::ceil(mean) as u64,
            variance: libm::ceil(mean * (peak - mean).max(0.0)) as u128,
        }
    }

    /// With those of others as well.
    pub fn plus(self, other: Needs) -> Needs {
        Needs {
            alone: self.alone + other.alone,
            mean: self.mean + other.mean,
            variance: self.variance + other.variance,
        }
    }

    /// Without those of others, which must be among them.
    pub fn less(self, other: Needs) -> Needs {
        Needs {
            alone: self.alone - other.alone,
            mean: self.mean - other.mean,
            variance: self.variance - other.variance,
        }
    }

    /// Bandwidth that all of them need together [bit/s].
    pub fn bandwidth(&self, loss: f64) -> u64 {
        let together = self.mean as f64 + deviations(loss) * libm::sqrt(self.variance as f64);
        self.alone.min(libm::ceil(together) as u64)
    }
}

/// How many standard deviations above the mean a Gaussian rate is exceeded with probability `loss`, as the paper
/// approximates it.
fn deviations(loss: f64) -> f64 {
    libm::sqrt(-2.0 * libm::log(loss) - libm::log(2.0 * core::f64::consts::PI))
}

/// Equivalent capacity of one source, from its mean to its peak, by fluid flow. Rates and `room` are in any unit of
/// data, `burst` in seconds.
fn capacity(peak: f64, mean: f64, burst: f64, room: Option<f64>, loss: f64) -> f64 {
    let Some(room) = room else { return mean };
    let share = mean / peak;
    let y = libm::log(1.0 / loss) * burst * (1.0 - share) * peak;
    if y <= 0.0 {
        return peak;
    }
    let root = libm::sqrt((y - room) * (y - room) + 4.0 * room * share * y);
    // Two forms of one, each without a difference of two numbers that are nearly alike.
    if room > y { 2.0 * mean * room / (root + room - y) } else { peak * (y - room + root) / (2.0 * y) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LOSS: f64 = 1e-6;

    fn source() -> OnOffSource {
        let rate = |bits: f64| CellRate::new(bits / BITS_PER_CELL as f64);
        OnOffSource { peak: rate(10e6), mean: rate(1e6), burst: Duration::from_ms(100) }
    }

    #[test]
    fn worked_by_hand() {
        // 10 Mb/s for a tenth of the time, 100 ms each time: y = 13.8155 * 0.1 s * 0.9 * 10 Mb/s = 12.434 Mbit.
        for (room, expected) in [(0.3e6, 9.78339e6), (1e6, 9.28239e6), (3e6, 7.89294e6)] {
            let capacity = capacity(10e6, 1e6, 0.1, Some(room), LOSS);
            assert!((capacity - expected).abs() < 10.0, "{room}: {capacity}");
        }
        // Without a buffer it is the peak; a very large one leaves the mean.
        assert_eq!(capacity(10e6, 1e6, 0.1, Some(0.0), LOSS), 10e6);
        assert!((capacity(10e6, 1e6, 0.1, Some(1e15), LOSS) - 1e6).abs() < 1.0);
        assert_eq!(capacity(10e6, 1e6, 0.1, None, LOSS), 1e6);
        assert_eq!(capacity(10e6, 10e6, 0.1, Some(1e6), LOSS), 10e6);
    }

    #[test]
    fn fifty_together_need_what_the_gaussian_bound_says_and_one_what_it_needs_alone() {
        let one = Needs::of(&source(), Some(Cells(2_358)), LOSS);
        let fifty = (0..50).fold(Needs::default(), |sum, _| sum.plus(one));
        // 50 + 5.07869 * sqrt(50 * 9) Mb/s; alone they would need 464 Mb/s.
        assert!((fifty.bandwidth(LOSS) as f64 - 157.735e6).abs() < 1e3, "{}", fifty.bandwidth(LOSS));
        assert!((one.bandwidth(LOSS) as f64 - 9.2825e6).abs() < 1e3, "{}", one.bandwidth(LOSS));
        assert_eq!((0..50).fold(fifty, |sum, _| sum.less(one)), Needs::default());
        assert_eq!(Needs::default().bandwidth(LOSS), 0);
    }

    proptest! {
        #[test]
        fn a_capacity_is_between_mean_and_peak_and_falls_with_the_buffer_and_with_what_may_be_lost(
            peak in 1e3..1e9_f64, share in 0.001..1.0_f64, burst in 1e-5..10.0_f64, room in 0.0..1e10_f64,
            more in 1.0..100.0_f64, exponent in 1.0..12.0_f64,
        ) {
            let (mean, loss) = (peak * share, libm::pow(10.0, -exponent));
            let needed = |room, loss| capacity(peak, mean, burst, Some(room), loss);
            let here = needed(room, loss);
            let slack = 1.0 + 1e-9;
            prop_assert!(here <= peak * slack && here * slack >= mean, "{} {} {}", mean, here, peak);
            prop_assert!(needed(room * more, loss) <= here * slack);
            prop_assert!(needed(room, loss / more) * slack >= here);
        }

        #[test]
        fn another_source_never_needs_less_of_a_line(
            sources in proptest::collection::vec((1e3..1e6_f64, 0.001..1.0_f64, 1_u64..1_000_000), 1..40),
            room in proptest::option::of(0..100_000_u64),
        ) {
            let mut sum = Needs::default();
            for (peak, share, us) in sources {
                let source = OnOffSource {
                    peak: CellRate::new(peak),
                    mean: CellRate::new(peak * share),
                    burst: Duration::from_us(us),
                };
                let with = sum.plus(Needs::of(&source, room.map(Cells), 1e-4));
                prop_assert!(with.bandwidth(1e-4) >= sum.bandwidth(1e-4));
                sum = with;
            }
        }
    }
}
