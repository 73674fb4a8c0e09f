//! The rate signal: a rate in seven bits, on a logarithmic scale.

use core::fmt;

use crate::units::BitRate;

/// A rate as a SCONE packet carries it: 100 kb/s * 10^(n/20) for n from 0 to 126, or unknown (127). Neighbouring
/// signals are 12.2 % apart.
///
/// ```
/// use cellrate_proto::BitRate;
/// use cellrate_proto::scone::RateSignal;
/// let advice = RateSignal::floor(BitRate::from_bps(25_000_000));
/// assert_eq!(advice.as_u8(), 47);
/// assert_eq!(advice.rate(), Some(BitRate::from_bps(22_387_211))); // not above what was asked
/// assert_eq!(RateSignal::UNKNOWN.rate(), None);
/// assert!(advice < RateSignal::UNKNOWN); // any advice is lower than none
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RateSignal(u8);

/// 10^(k/20), in units of 10^-15, for k from 0 to 19.
const STEPS: [u64; 20] = [
    1_000_000_000_000_000,
    1_122_018_454_301_963,
    1_258_925_411_794_167,
    1_412_537_544_622_754,
    1_584_893_192_461_113,
    1_778_279_410_038_923,
    1_995_262_314_968_879,
    2_238_721_138_568_340,
    2_511_886_431_509_580,
    2_818_382_931_264_454,
    3_162_277_660_168_379,
    3_548_133_892_335_755,
    3_981_071_705_534_973,
    4_466_835_921_509_631,
    5_011_872_336_272_723,
    5_623_413_251_903_491,
    6_309_573_444_801_932,
    7_079_457_843_841_379,
    7_943_282_347_242_815,
    8_912_509_381_337_455,
];
const ONE: u128 = 1_000_000_000_000_000;
/// The rate of signal 0 [bit/s].
const LOWEST: u128 = 100_000;

impl RateSignal {
    /// The lowest rate that can be advised: 100 kb/s.
    pub const LOWEST: RateSignal = RateSignal(0);
    /// The highest rate that can be advised: 199.5 Gb/s.
    pub const HIGHEST: RateSignal = RateSignal(126);
    /// No advice: what endpoints send, and what arrives where no element has advised anything.
    pub const UNKNOWN: RateSignal = RateSignal(127);

    /// The signal whose seven bits are `bits`; the eighth is ignored.
    pub const fn from_bits(bits: u8) -> RateSignal {
        RateSignal(bits & 0x7f)
    }

    /// Its seven bits.
    pub const fn as_u8(self) -> u8 {
        self.0
    }

    /// The largest signal whose rate is not above `rate`, so that no element advises more than it means to. Rates below
    /// 100 kb/s become [`RateSignal::LOWEST`], since less cannot be said; rates above 199.5 Gb/s become
    /// [`RateSignal::HIGHEST`].
    pub fn floor(rate: BitRate) -> RateSignal {
        let (mut low, mut high) = (0, RateSignal::HIGHEST.0);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if bits_per_s(middle) <= rate.as_bps() {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        RateSignal(low)
    }

    /// The rate that it stands for, rounded to the nearest bit/s; `None` where it is unknown.
    pub fn rate(self) -> Option<BitRate> {
        (self != RateSignal::UNKNOWN).then(|| BitRate::from_bps(bits_per_s(self.0)))
    }
}

fn bits_per_s(n: u8) -> u64 {
    let decades = u32::from(n / 20);
    let exact = u128::from(STEPS[usize::from(n % 20)]) * LOWEST * 10u128.pow(decades);
    // At most 199.5 * 10^9, which fits.
    ((exact + ONE / 2) / ONE) as u64
}

impl fmt::Debug for RateSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rate() {
            Some(rate) => write!(f, "signal {} ({rate})", self.0),
            None => write!(f, "signal 127 (unknown)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bps(signal: u8) -> u64 {
        RateSignal::from_bits(signal).rate().unwrap().as_bps()
    }

    /// The table of the draft, section "Rate Signals", by the digits that it prints.
    #[test]
    fn signals_are_those_of_the_drafts_table() {
        for (signal, printed, unit) in [
            (0, 100.0, 1e3),
            (1, 112.0, 1e3),
            (2, 126.0, 1e3),
            (3, 141.0, 1e3),
            (20, 1.0, 1e6),
            (21, 1.12, 1e6),
            (40, 10.0, 1e6),
            (41, 11.2, 1e6),
            (60, 100.0, 1e6),
            (61, 112.0, 1e6),
            (80, 1.0, 1e9),
            (81, 1.12, 1e9),
            (100, 10.0, 1e9),
            (101, 11.2, 1e9),
            (120, 100.0, 1e9),
            (121, 112.0, 1e9),
            (126, 199.5, 1e9),
        ] {
            let rate = bps(signal) as f64 / unit;
            assert!((rate / printed - 1.0).abs() < 0.0022, "{signal}: {rate}, printed {printed}");
        }
        assert_eq!((bps(20), bps(60), bps(120)), (1_000_000, 100_000_000, 100_000_000_000));
        assert_eq!(RateSignal::UNKNOWN.rate(), None);
    }

    #[test]
    fn a_rate_becomes_the_largest_signal_not_above_it() {
        for n in 0..=126 {
            let rate = bps(n);
            assert_eq!(RateSignal::floor(BitRate::from_bps(rate)).as_u8(), n);
            assert_eq!(RateSignal::floor(BitRate::from_bps(rate - 1)).as_u8(), n.saturating_sub(1));
        }
        assert_eq!(RateSignal::floor(BitRate::from_bps(0)), RateSignal::LOWEST);
        assert_eq!(RateSignal::floor(BitRate::from_bps(u64::MAX)), RateSignal::HIGHEST);
    }

    /// Rates spread evenly over a logarithmic scale lose 1 - (1 - 1/s)/ln s of themselves in the mean, with s =
    /// 10^(1/20), and 1 - 1/s at most.
    #[test]
    fn rounding_down_loses_5_6_percent_in_the_mean_and_10_9_at_most() {
        let (mut sum, mut most, steps) = (0.0, 0.0f64, 20_000);
        for step in 0..steps {
            let rate = libm::pow(10.0, 6.0 + 2.0 * f64::from(step) / f64::from(steps));
            let told = RateSignal::floor(BitRate::from_bps(rate as u64)).rate().unwrap().as_bps() as f64;
            let lost = 1.0 - told / rate;
            sum += lost;
            most = most.max(lost);
        }
        let mean = sum / f64::from(steps);
        assert!((mean - 0.0558).abs() < 0.0005, "{mean}");
        assert!((most - 0.1087).abs() < 0.0005, "{most}");
    }
}
