//! Defaults as a person would write them, read while compiling: `"0.5 ms"`, `"1/128"`, `"50 cells"`.
//!
//! A default stands once, as the text that the reference shows; the value is made of it. A text that cannot be read
//! does not compile. Scenarios are read by a parser of their own, which knows more units; a test holds the two
//! together.

use crate::power_of_two::PowerOfTwo;
use crate::units::{CellRate, Cells, Duration, Octets, Time};

/// A decimal number at the head of a text: its digits, how many of them are decimals, and where it ends.
struct Number {
    digits: u64,
    decimals: u32,
    end: usize,
}

/// The number that begins at `from`.
const fn number(text: &str, from: usize) -> Number {
    let bytes = text.as_bytes();
    let (mut digits, mut decimals, mut end, mut point) = (0, 0, from, false);
    while end < bytes.len() && (bytes[end].is_ascii_digit() || bytes[end] == b'.' && !point) {
        if bytes[end] == b'.' {
            point = true;
        } else {
            digits = 10 * digits + (bytes[end] - b'0') as u64;
            decimals += point as u32;
        }
        end += 1;
    }
    assert!(end > from, "a number is due here");
    assert!(digits < 1 << 53 && decimals <= 15, "more digits than a value can keep");
    Number { digits, decimals, end }
}

impl Number {
    /// The nearest double: both parts are exact, and the division rounds once.
    const fn value(&self) -> f64 {
        self.digits as f64 / 10_u64.pow(self.decimals) as f64
    }

    /// The number times a power of ten, which must be whole.
    const fn scaled(&self, power: u32) -> u64 {
        let (factor, divisor) = (10_u64.pow(power), 10_u64.pow(self.decimals));
        assert!((self.digits * factor).is_multiple_of(divisor), "a whole number of the smallest unit is due");
        self.digits * factor / divisor
    }
}

/// Whether two texts are the same.
pub const fn same(text: &str, other: &str) -> bool {
    let (text, other) = (text.as_bytes(), other.as_bytes());
    if text.len() != other.len() {
        return false;
    }
    let mut i = 0;
    while i < text.len() {
        if text[i] != other[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The text between the quotes, where there are any.
const fn bare(text: &str) -> &str {
    match text.as_bytes() {
        [b'"', .., b'"'] => text.split_at(text.len() - 1).0.split_at(1).1,
        _ => text,
    }
}

/// The unit behind the number and the space.
const fn unit_of<'a>(text: &'a str, number: &Number) -> &'a str {
    text.split_at(number.end).1.trim_ascii()
}

/// The ratio of a text such as "0.95", "1/16" or "5".
///
/// ```
/// use cellrate_proto::declaration::written;
/// assert_eq!([written::ratio("0.95"), written::ratio("1/128"), written::ratio("5")], [0.95, 0.0078125, 5.0]);
/// ```
pub const fn ratio(text: &str) -> f64 {
    let above = number(text, 0);
    if above.end == text.len() {
        return above.value();
    }
    assert!(text.as_bytes()[above.end] == b'/', "a ratio is a number, or one over another");
    let below = number(text, above.end + 1);
    assert!(below.end == text.len(), "a ratio ends with its number");
    above.value() / below.value()
}

/// The span of a text such as "0.5 ms".
///
/// ```
/// use cellrate_proto::{Duration, declaration::written};
/// assert_eq!(written::span("0.5 ms"), Duration::from_us(500));
/// assert_eq!(written::span("\"10 s\""), Duration::from_secs(10));
/// ```
pub const fn span(text: &str) -> Duration {
    let text = bare(text);
    let number = number(text, 0);
    let unit = unit_of(text, &number);
    let power = if same(unit, "us") {
        6
    } else if same(unit, "ms") {
        9
    } else {
        assert!(same(unit, "s"), "the unit of a default is us, ms or s");
        12
    };
    Duration::from_ps(number.scaled(power))
}

/// The instant of a text such as "0 s", from the beginning of a run.
pub const fn instant(text: &str) -> Time {
    match bare(text).as_bytes() {
        [b'0', b' ', ..] => Time::ZERO,
        _ => Time::from_ps(span(text).as_ps()),
    }
}

/// The number of cells of a text such as "50 cells".
///
/// ```
/// use cellrate_proto::{Cells, declaration::written};
/// assert_eq!(written::cells("50 cells"), Cells(50));
/// ```
pub const fn cells(text: &str) -> Cells {
    let text = bare(text);
    let number = number(text, 0);
    let unit = unit_of(text, &number);
    assert!(same(unit, "cells") || same(unit, "cell"), "the unit of a default is cells");
    Cells(number.scaled(0))
}

/// The amount of data of a text such as "9180 octets".
///
/// ```
/// use cellrate_proto::{Octets, declaration::written};
/// assert_eq!(written::octets("9180 octets"), Octets(9180));
/// ```
pub const fn octets(text: &str) -> Octets {
    let text = bare(text);
    let number = number(text, 0);
    assert!(same(unit_of(text, &number), "octets"), "the unit of a default is octets");
    Octets(number.scaled(0))
}

/// The cell rate of a text such as "100 cells/s" or "10 Mbps": 424 bits for each cell.
///
/// ```
/// use cellrate_proto::{CellRate, declaration::written};
/// assert_eq!(written::rate("10 Mbps"), CellRate::new(10e6 / 424.0));
/// assert_eq!(written::rate("100 cells/s"), CellRate::new(100.0));
/// ```
pub const fn rate(text: &str) -> CellRate {
    let text = bare(text);
    let number = number(text, 0);
    let unit = unit_of(text, &number);
    if same(unit, "cells/s") {
        return CellRate::new(number.value());
    }
    assert!(same(unit, "Mbps"), "the unit of a default is cells/s or Mbps");
    CellRate::new(number.scaled(6) as f64 / 424.0)
}

/// The whole number of a text such as "100".
pub const fn count(text: &str) -> u32 {
    let number = number(text, 0);
    assert!(number.end == text.len() && number.decimals == 0, "a whole number is due");
    assert!(number.digits <= u32::MAX as u64, "more than there may be");
    number.digits as u32
}

/// The power of two of a text such as "1/16".
///
/// ```
/// use cellrate_proto::declaration::written;
/// assert_eq!(written::power_of_two("1/16").value(), 0.0625);
/// ```
pub const fn power_of_two(text: &str) -> PowerOfTwo {
    let (value, mut k) = (ratio(text), 0);
    loop {
        match PowerOfTwo::from_negative_exponent(k) {
            Some(power) if value == 1.0 / (1_u32 << k) as f64 => return power,
            Some(_) => k += 1,
            None => panic!("a power of two from 1/32768 to 1 is due"),
        }
    }
}

/// Whether a text is "true".
pub const fn flag(text: &str) -> bool {
    assert!(same(text, "true") || same(text, "false"), "true or false is due");
    same(text, "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_is_the_double_nearest_to_what_is_written() {
        assert_eq!([ratio("0.1"), ratio("1.15"), ratio("15/16"), ratio("0.95")], [0.1, 1.15, 0.9375, 0.95]);
        assert_eq!((span("\"500 us\""), cells("\"0 cells\"")), (Duration::from_us(500), Cells(0)));
        assert_eq!((count("100"), flag("false"), flag("true")), (100, false, true));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for text in ["", "x", "1/", "1/0x", "5 %", "1/16 "] {
            assert!(std::panic::catch_unwind(|| ratio(text)).is_err(), "{text:?}");
        }
        for text in ["5", "5 m", "ms", "0.0000000000001 s"] {
            assert!(std::panic::catch_unwind(|| span(text)).is_err(), "{text:?}");
        }
        for text in ["1/17", "2", "1/65536", "0"] {
            assert!(std::panic::catch_unwind(|| power_of_two(text)).is_err(), "{text:?}");
        }
        assert!(std::panic::catch_unwind(|| rate("5 kbps")).is_err());
        assert!(std::panic::catch_unwind(|| cells("5 kB")).is_err());
        assert!(std::panic::catch_unwind(|| count("1.5")).is_err());
        assert!(std::panic::catch_unwind(|| flag("yes")).is_err());
    }
}
