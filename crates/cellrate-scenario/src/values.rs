//! Values of a scenario that the protocol core does not have.

use core::fmt;

use cellrate_proto::{BitRate, CellRate, Duration};

/// By how much a clock is fast; negative for one that is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ClockOffset(i64);

const BILLION: i128 = 1_000_000_000;

impl ClockOffset {
    /// The largest that a scenario may name.
    pub const MOST: ClockOffset = ClockOffset(1_000_000);

    /// So many parts per billion.
    pub const fn from_ppb(ppb: i64) -> ClockOffset {
        ClockOffset(ppb)
    }

    /// Parts per billion.
    pub const fn as_ppb(self) -> i64 {
        self.0
    }

    /// Parts per million.
    pub fn as_ppm(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// True rate of a line of `nominal` by such a clock, to the nearest bit per second and at least 1; one that has
    /// stopped stays so.
    pub fn of_line(self, nominal: BitRate) -> BitRate {
        let scaled = i128::from(nominal.as_bps()) * (BILLION + i128::from(self.0));
        let bps = (scaled + BILLION / 2).div_euclid(BILLION);
        let least = nominal.as_bps().min(1);
        BitRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(least))
    }

    /// True rate of a sender that is to send at `nominal` by such a clock.
    pub fn of_rate(self, nominal: CellRate) -> CellRate {
        nominal * (1.0 + self.0 as f64 / BILLION as f64)
    }
}

impl fmt::Display for ClockOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ppm", self.as_ppm())
    }
}

/// The length of an on or an off period, or of a thought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Period {
    /// Always the same.
    Fixed(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
    /// Pareto distributed with this mean and shape alpha, above 1: heavy-tailed where alpha is below 2.
    Pareto(Duration, f64),
}

impl Period {
    /// Its length, or the mean of it.
    pub const fn mean(&self) -> Duration {
        match *self {
            Period::Fixed(span) | Period::Exponential(span) | Period::Pareto(span, _) => span,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_off_to_the_nearest_bit() {
        // 149.76 Mb/s times 20 ppm is 2995.2 bit/s.
        let line = BitRate::from_bps(149_760_000);
        let rate = |ppb| ClockOffset::from_ppb(ppb).of_line(line).as_bps();
        assert_eq!([0, 20_000, -20_000].map(rate), [149_760_000, 149_762_995, 149_757_005]);
        assert_eq!(ClockOffset::from_ppb(-1_000_000).of_line(BitRate::from_bps(1)).as_bps(), 1);
        assert_eq!(ClockOffset::from_ppb(-20_500).to_string(), "-20.5 ppm");
    }
}
