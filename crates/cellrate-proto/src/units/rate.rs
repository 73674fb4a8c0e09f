//! Rates: of cells (a double, because ABR computes with it) and of bits on a line (an integer, because a line has one).

use core::fmt;
use core::ops::{Add, Mul};

use super::Duration;

/// Bits that one cell takes on a line: 53 octets.
pub const BITS_PER_CELL: u64 = 53 * 8;

const PS_PER_SECOND: f64 = 1e12;

/// A rate of cells [cells/s]. Finite and not negative.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct CellRate(f64);

/// The rate of a line, headers and all [bit/s].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitRate(u64);

impl CellRate {
    /// No cells at all.
    pub const ZERO: CellRate = CellRate(0.0);

    /// `rate` cells per second. What is negative or not a number becomes zero.
    pub const fn new(rate: f64) -> CellRate {
        CellRate(if rate > 0.0 { rate } else { 0.0 })
    }

    /// Cells per second.
    pub const fn as_cells_per_s(self) -> f64 {
        self.0
    }

    /// The bits per second that these cells take on a line, 53 octets each, rounded to the nearest.
    pub fn to_bit_rate(self) -> BitRate {
        BitRate((self.0 * BITS_PER_CELL as f64 + 0.5) as u64)
    }

    /// The time from one cell to the next, rounded up to a whole picosecond so that a paced stream never exceeds the
    /// rate; [`Duration::FOREVER`] at rate zero.
    pub fn interval(self) -> Duration {
        if self.0 <= 0.0 {
            return Duration::FOREVER;
        }
        let exact = PS_PER_SECOND / self.0;
        let floor = exact as u64;
        Duration::from_ps(if (floor as f64) < exact { floor.saturating_add(1) } else { floor })
    }

    /// The smaller of two rates.
    pub fn min(self, other: CellRate) -> CellRate {
        if other.0 < self.0 { other } else { self }
    }

    /// The larger of two rates.
    pub fn max(self, other: CellRate) -> CellRate {
        if other.0 > self.0 { other } else { self }
    }

    /// The difference, or zero when `other` is larger.
    pub fn saturating_sub(self, other: CellRate) -> CellRate {
        CellRate::new(self.0 - other.0)
    }

    /// Cells sent in `span` at this rate (not rounded).
    pub fn cells_in(self, span: Duration) -> f64 {
        self.0 * span.as_secs_f64()
    }

    /// This rate as a multiple of `other`; zero over zero is zero, anything else over zero is infinite.
    pub fn ratio(self, other: CellRate) -> f64 {
        if self.0 == 0.0 { 0.0 } else { self.0 / other.0 }
    }
}

impl BitRate {
    /// `bits` bits per second.
    pub const fn from_bps(bits: u64) -> BitRate {
        BitRate(bits)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Cells per second that fill this line.
    pub fn to_cell_rate(self) -> CellRate {
        CellRate(self.0 as f64 / BITS_PER_CELL as f64)
    }

    /// The time one cell takes on this line, rounded up to a whole picosecond; [`Duration::FOREVER`] at rate zero.
    pub const fn cell_time(self) -> Duration {
        if self.0 == 0 {
            return Duration::FOREVER;
        }
        Duration::from_ps((BITS_PER_CELL * 1_000_000_000_000).div_ceil(self.0))
    }
}

impl Add for CellRate {
    type Output = CellRate;
    fn add(self, other: CellRate) -> CellRate {
        CellRate(self.0 + other.0)
    }
}

/// Scaled by a factor that is not negative (a target utilization, a rate increase factor).
impl Mul<f64> for CellRate {
    type Output = CellRate;
    fn mul(self, factor: f64) -> CellRate {
        CellRate::new(self.0 * factor)
    }
}

impl fmt::Debug for CellRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cells/s", self.0)
    }
}

impl fmt::Display for CellRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Debug for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, name) = match self.0 {
            0..1_000 => (1, "bps"),
            1_000..1_000_000 => (1_000, "kbps"),
            1_000_000..1_000_000_000 => (1_000_000, "Mbps"),
            _ => (1_000_000_000, "Gbps"),
        };
        write!(f, "{} {name}", self.0 as f64 / scale as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_cell_takes_424_bits_of_the_line() {
        // 424 bit / 149.76 Mb/s = 2.83119658... us, rounded up to the picosecond.
        assert_eq!(BitRate::from_bps(149_760_000).cell_time(), Duration::from_ps(2_831_197));
        // 424 bit / 155.52 Mb/s = 2.72633744... us.
        assert_eq!(BitRate::from_bps(155_520_000).cell_time(), Duration::from_ps(2_726_338));
        // 424 bit / 10 Mb/s = 42.4 us, exactly.
        assert_eq!(BitRate::from_bps(10_000_000).cell_time(), Duration::from_ps(42_400_000));
    }

    #[test]
    fn the_interval_rounds_up_so_that_a_stream_never_exceeds_its_rate() {
        assert_eq!(CellRate::new(3.0).interval(), Duration::from_ps(333_333_333_334));
        assert_eq!(CellRate::new(4.0).interval(), Duration::from_ps(250_000_000_000));
        assert_eq!(CellRate::ZERO.interval(), Duration::FOREVER);
        assert_eq!(CellRate::new(1e-9).interval(), Duration::FOREVER);
    }

    #[test]
    fn what_is_no_rate_becomes_zero() {
        assert_eq!(CellRate::new(-1.0), CellRate::ZERO);
        assert_eq!(CellRate::new(f64::NAN), CellRate::ZERO);
    }

    #[test]
    fn bits_and_cells_convert_both_ways() {
        let oc3 = BitRate::from_bps(155_520_000);
        assert_eq!(oc3.to_cell_rate().to_bit_rate(), oc3);
        assert_eq!(oc3.to_string(), "155.52 Mbps");
    }
}
