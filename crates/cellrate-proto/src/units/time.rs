//! Instants and spans of time, in integer picoseconds: 64 bits hold 213 days, and a cell slot of 2.831... us at
//! 149.76 Mb/s loses less than 10^-6 of itself to rounding.
//!
//! # Bounds
//!
//! The longest span is 18,446,744.073709551614 s, which is 213 days, 12 hours, 5 minutes and 44 seconds; one picosecond
//! more is [`Duration::FOREVER`], and that instant [`Time::NEVER`].
//!
//! # Overflow
//!
//! - Constructors from whole units never wrap: one panics in every build where the span does not fit, and its form that
//!   begins with `checked_` gives `None`. From seconds as a double, what is too long is [`Duration::FOREVER`].
//! - Methods that begin with `checked_` or `saturating_` are for numbers that come from outside, as the stamps of a
//!   capture, and for what may be endless, as the spacing of cells at a rate of zero.
//! - Operators are for instants and spans within a run, which fit by far: a result that does not is a defect. They
//!   panic as integers do where a build checks for overflow, as all tests do; otherwise they wrap. Differences and
//!   products that check in every build take 0.4 % more instructions per cell hop (W4 of `docs/performance.md`),
//!   overflow checks of all integers 5 to 12 %.

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
    ///
    /// It is an instant and no `Option`, so that it takes part in `min`, `max` and comparisons as what it means, the
    /// latest of all, and a key in a schedule has 8 octets, not 16. Whoever does arithmetic with it takes the checked
    /// or saturating forms, which keep it: never is still never later on.
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

    /// The instant `span` later; `None` when that is beyond the last one, or never.
    ///
    /// ```
    /// use cellrate_proto::{Duration, Time};
    /// let last = Time::from_ps(u64::MAX - 1);
    /// assert_eq!(Time::ZERO.checked_add(Duration::from_ps(u64::MAX - 1)), Some(last));
    /// assert_eq!(last.checked_add(Duration::from_ps(1)), None, "that is never");
    /// ```
    pub const fn checked_add(self, span: Duration) -> Option<Time> {
        match self.0.checked_add(span.0) {
            None | Some(u64::MAX) => None,
            Some(ps) => Some(Time(ps)),
        }
    }

    /// The instant `span` earlier; `None` when that is before the start, or this instant is never.
    ///
    /// ```
    /// use cellrate_proto::{Duration, Time};
    /// let at = Time::from_ps(5);
    /// assert_eq!(at.checked_sub(Duration::from_ps(5)), Some(Time::ZERO));
    /// assert_eq!(at.checked_sub(Duration::from_ps(6)), None);
    /// ```
    pub const fn checked_sub(self, span: Duration) -> Option<Time> {
        match self.0.checked_sub(span.0) {
            Some(ps) if self.0 != u64::MAX => Some(Time(ps)),
            _ => None,
        }
    }

    /// The instant `span` later, or [`Time::NEVER`] when that is beyond the last one.
    pub const fn saturating_add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

/// Makes the constructors of [`Duration`] from a number of whole units: each that panics where the span does not fit,
/// and its checked form.
macro_rules! whole_units {
    ($($from:ident, $checked:ident: $unit:ident of $ps:literal ps, at most $most:literal;)+) => {$(
        #[doc = concat!("`n` ", stringify!($unit), ", at most ", stringify!($most), ".")]
        ///
        /// # Panics
        #[doc = concat!("If there are more; [`Duration::", stringify!($checked), "`] does not.")]
        #[inline]
        #[track_caller]
        pub const fn $from(n: u64) -> Duration {
            match Duration::$checked(n) {
                Some(span) => span,
                None => panic!(concat!(
                    "a span of more than ", stringify!($most), " ", stringify!($unit), " does not fit into a Duration"
                )),
            }
        }

        #[doc = concat!("`n` ", stringify!($unit), "; `None` for more than ", stringify!($most), ".")]
        ///
        /// ```
        /// use cellrate_proto::Duration;
        #[doc = concat!("assert_eq!(Duration::", stringify!($checked), "(7), Some(Duration::", stringify!($from), "(7)));")]
        #[doc = concat!("assert!(Duration::", stringify!($checked), "(", stringify!($most), ").is_some());")]
        #[doc = concat!("assert_eq!(Duration::", stringify!($checked), "(", stringify!($most), " + 1), None);")]
        /// ```
        #[inline]
        pub const fn $checked(n: u64) -> Option<Duration> {
            const { assert!($most == u64::MAX / $ps) };
            if n <= $most { Some(Duration(n * $ps)) } else { None }
        }
    )+};
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run: the spacing of cells at a rate of zero.
    ///
    /// It is a span and no `Option` for the reasons of [`Time::NEVER`]: a spacing is added to an instant for every
    /// cell, and a sum that saturates is one instruction more where an `Option` would be a branch for all rates but
    /// zero.
    pub const FOREVER: Duration = Duration(u64::MAX);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Duration {
        Duration(ps)
    }

    whole_units! {
        from_ns, checked_from_ns: nanoseconds of 1_000 ps, at most 18_446_744_073_709_551;
        from_us, checked_from_us: microseconds of 1_000_000 ps, at most 18_446_744_073_709;
        from_ms, checked_from_ms: milliseconds of 1_000_000_000 ps, at most 18_446_744_073;
        from_secs, checked_from_secs: seconds of 1_000_000_000_000 ps, at most 18_446_744;
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

    /// The sum; `None` when it does not fit, or is endless.
    ///
    /// ```
    /// use cellrate_proto::Duration;
    /// let ms = Duration::from_ms(1);
    /// assert_eq!(ms.checked_add(ms), Some(Duration::from_ms(2)));
    /// assert_eq!(ms.checked_add(Duration::FOREVER), None);
    /// ```
    pub const fn checked_add(self, other: Duration) -> Option<Duration> {
        match self.0.checked_add(other.0) {
            None | Some(u64::MAX) => None,
            Some(ps) => Some(Duration(ps)),
        }
    }

    /// The difference; `None` when `other` is longer, or this span is endless.
    ///
    /// ```
    /// use cellrate_proto::Duration;
    /// let [one, two] = [1, 2].map(Duration::from_ms);
    /// assert_eq!((two.checked_sub(one), one.checked_sub(two)), (Some(one), None));
    /// assert_eq!(Duration::FOREVER.checked_sub(one), None);
    /// ```
    pub const fn checked_sub(self, other: Duration) -> Option<Duration> {
        match self.0.checked_sub(other.0) {
            Some(ps) if self.0 != u64::MAX => Some(Duration(ps)),
            _ => None,
        }
    }

    /// The sum, or [`Duration::FOREVER`] when it does not fit.
    pub const fn saturating_add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }

    /// This span times `n`; `None` when that does not fit, or is endless.
    ///
    /// ```
    /// use cellrate_proto::Duration;
    /// let day = Duration::from_secs(86_400);
    /// assert_eq!(day.checked_mul(213), Some(Duration::from_secs(213 * 86_400)));
    /// assert_eq!(day.checked_mul(214), None);
    /// ```
    pub const fn checked_mul(self, n: u64) -> Option<Duration> {
        match self.0.checked_mul(n) {
            None | Some(u64::MAX) => None,
            Some(ps) => Some(Duration(ps)),
        }
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
    use proptest::prelude::*;
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

    #[test]
    fn the_longest_span_is_as_long_as_the_page_says() {
        let longest = Duration::from_ps(Duration::FOREVER.as_ps() - 1);
        assert_eq!(longest.to_string(), "18446744.073709551614 s");
        assert_eq!(18_446_744, ((213 * 24 + 12) * 60 + 5) * 60 + 44);
    }

    #[test]
    fn whole_units_that_do_not_fit_are_refused_in_every_build() {
        let from = [Duration::from_ns, Duration::from_us, Duration::from_ms, Duration::from_secs];
        for (from, ps) in from.into_iter().zip([1_000, 1_000_000, 1_000_000_000, 1_000_000_000_000]) {
            let most = u64::MAX / ps;
            assert_eq!(from(most).as_ps(), most * ps);
            let refused = std::panic::catch_unwind(|| from(most + 1)).unwrap_err();
            let message = refused.downcast_ref::<&str>().unwrap();
            assert!(message.replace('_', "").contains(&most.to_string()), "{message}");
        }
    }

    /// Spans that are short, long, and at the end of what there is.
    fn numbers() -> impl Strategy<Value = u64> {
        prop_oneof![0..1_000_u64, any::<u64>(), (0..1_000_u64).prop_map(|less| u64::MAX - less)]
    }

    /// The span of so many picoseconds, if there is one.
    fn exactly(ps: u128) -> Option<u64> {
        u64::try_from(ps).ok().filter(|ps| *ps != u64::MAX)
    }

    proptest! {
        #[test]
        fn checked_forms_are_exact_or_none_and_saturating_ones_agree(a in numbers(), b in numbers()) {
            let (one, other) = (Duration::from_ps(a), Duration::from_ps(b));
            let (sum, product) = (exactly(u128::from(a) + u128::from(b)), exactly(u128::from(a) * u128::from(b)));
            let ps = |span: Option<Duration>| span.map(Duration::as_ps);
            prop_assert_eq!(ps(one.checked_add(other)), sum);
            prop_assert_eq!(ps(one.checked_mul(b)), product);
            prop_assert_eq!(Time::from_ps(a).checked_add(other).map(Time::as_ps), sum);
            prop_assert_eq!(ps(one.checked_sub(other)), a.checked_sub(b).filter(|_| a != u64::MAX));
            prop_assert_eq!(Time::from_ps(a).checked_sub(other).map(Time::as_ps), a.checked_sub(b).filter(|_| a != u64::MAX));
            prop_assert_eq!(one.saturating_add(other).as_ps(), sum.unwrap_or(u64::MAX));
            prop_assert_eq!(one.saturating_mul(b).as_ps(), product.unwrap_or(u64::MAX));
            prop_assert_eq!(Time::from_ps(a).saturating_add(other).as_ps(), sum.unwrap_or(u64::MAX));
            prop_assert_eq!(Time::from_ps(a).since(Time::from_ps(b)).as_ps(), a.saturating_sub(b));
        }

        #[test]
        fn whole_units_are_exact_or_none(n in numbers()) {
            let exact = |per: u64| exactly(u128::from(n) * u128::from(per)).map(Duration::from_ps);
            prop_assert_eq!(Duration::checked_from_ns(n), exact(1_000));
            prop_assert_eq!(Duration::checked_from_us(n), exact(1_000_000));
            prop_assert_eq!(Duration::checked_from_ms(n), exact(1_000_000_000));
            prop_assert_eq!(Duration::checked_from_secs(n), exact(1_000_000_000_000));
        }

        #[test]
        fn any_double_is_a_span(bits in any::<u64>()) {
            let s = f64::from_bits(bits);
            let span = Duration::from_secs_f64(s);
            match s {
                s if s.is_nan() || s <= 0.0 => prop_assert_eq!(span, Duration::ZERO),
                s if s * 1e12 >= u64::MAX as f64 => prop_assert_eq!(span, Duration::FOREVER),
                s => prop_assert!((span.as_ps() as f64 - s * 1e12).abs() <= 0.5 + s * 1e12 / 2_f64.powi(50)),
            }
        }
    }
}
