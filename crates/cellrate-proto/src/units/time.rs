//! Instants and spans of time, in integer picoseconds: 64 bits hold 213 days, and a cell slot of 2.831... us at
//! 149.76 Mb/s loses less than 10^-6 of itself to rounding.
//!
//! # Overflow
//!
//! Operators and constructors are for instants and spans of a run, which fit by far. A result that does not fit is a
//! defect: they panic as integers do, where a build checks for overflow. What may be endless, as the spacing of cells
//! at a rate of zero, is for the `saturating_` methods.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

/// An instant [ps since the start of the run].
///
/// ```
/// use cellrate_proto::{Duration, Time};
///
/// let at = Time::ZERO + Duration::from_us(3);
/// assert_eq!((at.as_ps(), at.to_string()), (3_000_000, "3 us".to_owned()));
/// assert!(at < Time::NEVER);
/// // A span is never negative: nothing has passed since an instant that is still to come.
/// assert_eq!(Time::ZERO.since(at), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A span of time \[ps\].
///
/// ```
/// use cellrate_proto::{Duration, Time};
///
/// let cell = Duration::from_ps(2_831_197);
/// assert_eq!((cell * 1_000).to_string(), "2.831197 ms");
/// assert_eq!((Duration::from_ms(10).div_floor(cell), Duration::from_ms(10).div_ceil(cell)), (3_532, 3_533));
///
/// let at = Time::ZERO + cell;
/// assert_eq!((at.since(Time::ZERO), Time::ZERO.since(at)), (cell, Duration::ZERO));
/// assert_eq!(at.saturating_add(Duration::FOREVER), Time::NEVER);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any instant of a run: the key of something that waits for an arrival only.
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// Picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start, as the nearest double: for plots and printing.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// The span from `earlier` to here; zero when `earlier` is later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` later, or [`Time::NEVER`] when that is beyond the last one.
    pub const fn saturating_add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run: the spacing of cells at a rate of zero.
    pub const FOREVER: Duration = Duration(u64::MAX);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Duration {
        Duration(ps)
    }

    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Duration {
        Duration(ns * 1_000)
    }

    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Duration {
        Duration(us * 1_000_000)
    }

    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Duration {
        Duration(ms * 1_000_000_000)
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s * 1_000_000_000_000)
    }

    /// `s` seconds, rounded to the nearest picosecond; negative and NaN give zero, too long gives
    /// [`Duration::FOREVER`].
    pub fn from_secs_f64(s: f64) -> Duration {
        Duration((s * 1e12 + 0.5) as u64)
    }

    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds, as the nearest double.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// The sum, or [`Duration::FOREVER`] when it does not fit.
    pub const fn saturating_add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }

    /// This span times `n`, or [`Duration::FOREVER`] when it does not fit.
    pub const fn saturating_mul(self, n: u64) -> Duration {
        // WebAssembly has no product of 128 bits, by which others see that one of 64 is too large: a call, each time.
        if cfg!(target_arch = "wasm32") && (self.0 | n) >> u32::BITS == 0 {
            return Duration(self.0 * n);
        }
        Duration(self.0.saturating_mul(n))
    }

    /// How many whole `step`s fit in this span (floor).
    ///
    /// # Panics
    /// If `step` is zero.
    pub const fn div_floor(self, step: Duration) -> u64 {
        self.0 / step.0
    }

    /// How many `step`s cover this span (ceiling).
    ///
    /// # Panics
    /// If `step` is zero.
    pub const fn div_ceil(self, step: Duration) -> u64 {
        self.0.div_ceil(step.0)
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, span: Duration) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0 - other.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, n: u64) -> Duration {
        Duration(self.0 * n)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER { f.write_str("never") } else { write_span(f, self.0) }
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Duration::FOREVER { f.write_str("forever") } else { write_span(f, self.0) }
    }
}

/// Prints in the largest unit that leaves a whole part, exactly: `2.831197 us`, `5 ms`.
fn write_span(f: &mut fmt::Formatter<'_>, ps: u64) -> fmt::Result {
    const UNITS: [(u64, usize, &str); 5] = [
        (1_000_000_000_000, 12, "s"),
        (1_000_000_000, 9, "ms"),
        (1_000_000, 6, "us"),
        (1_000, 3, "ns"),
        (1, 0, "ps"),
    ];
    let (scale, digits, name) = UNITS.into_iter().find(|&(scale, ..)| ps >= scale).unwrap_or((1, 0, "ps"));
    let (whole, mut rest) = (ps / scale, ps % scale);
    if rest == 0 {
        return write!(f, "{whole} {name}");
    }
    let mut width = digits;
    while rest % 10 == 0 {
        rest /= 10;
        width -= 1;
    }
    write!(f, "{whole}.{rest:0width$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn prints_exactly_in_the_unit_that_reads_best() {
        assert_eq!(Duration::from_ps(2_831_197).to_string(), "2.831197 us");
        assert_eq!(Duration::from_ms(5).to_string(), "5 ms");
        assert_eq!(Duration::from_ps(1_500_000_000_000).to_string(), "1.5 s");
        assert_eq!(Duration::ZERO.to_string(), "0 ps");
        assert_eq!(Time::NEVER.to_string(), "never");
    }

    #[test]
    fn seconds_read_back_as_they_were_written() {
        // A quotient is rounded once; times 1e-12, itself rounded, 50 ms would be 0.049999999999999996 s.
        assert_eq!(Duration::from_ms(50).as_secs_f64(), 0.05);
        assert_eq!(Time::from_ps(2_831_197).as_secs_f64(), 2.831197e-6);
    }

    #[test]
    fn seconds_round_to_the_nearest_picosecond_and_never_wrap() {
        assert_eq!(Duration::from_secs_f64(1e-12), Duration::from_ps(1));
        assert_eq!(Duration::from_secs_f64(0.4e-12), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(1e30), Duration::FOREVER);
    }
}
