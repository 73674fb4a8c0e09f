//! Values of keys that have only so many.

use alloc::format;
use alloc::string::String;

/// The values that a key may have, in rising order, where there are only so many: those that signalling carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// Unit of the values as written; empty for values without a unit.
    pub unit: &'static str,
    /// How many of `unit` one of the unit of messages is: 1000 for ms, whose messages are in s.
    pub scale: f64,
    /// The first above 0, in `unit`.
    pub first: f64,
    /// How many there are from `first` on.
    pub count: u32,
    /// Whether each is twice the one before it; else each is larger by `first`.
    pub doubling: bool,
    /// Whether 0 is one, too.
    pub zero: bool,
}

impl Steps {
    /// Powers of two from 2^-`k` to 1.
    pub const fn powers_to_one(k: u32) -> Steps {
        let first = 1.0 / (1_u32 << k) as f64;
        Steps { unit: "", scale: 1.0, first, count: k + 1, doubling: true, zero: false }
    }

    /// The value of this number, counted from 0.
    fn value(&self, number: u32) -> f64 {
        match self.doubling {
            true => self.first * (1_u64 << number) as f64,
            false => self.first * f64::from(number + 1),
        }
    }

    /// Whether `value`, in the unit of messages, is one of them; what time is rounded to makes no difference.
    pub fn contains(&self, value: f64) -> bool {
        let value = value * self.scale;
        let is = |number: u32| {
            let step = self.value(number);
            (value - step).abs() <= 1e-15 * step
        };
        if self.doubling {
            return self.zero && value == 0.0 || (0..self.count).any(is);
        }
        // The nearest multiple alone can be it.
        let nearest = (value / self.first + 0.5) as u32;
        self.zero && value == 0.0 || (1..=self.count).contains(&nearest) && is(nearest - 1)
    }

    /// All of them, as they would be written.
    ///
    /// ```
    /// use cellrate_proto::declaration::Steps;
    /// let texts = Steps { zero: true, ..Steps::powers_to_one(2) };
    /// assert!(texts.texts().eq(["0", "1/4", "1/2", "1"]));
    /// ```
    pub fn texts(&self) -> impl Iterator<Item = String> + use<'_> {
        let text = |number| match self.value(number) {
            part if self.unit.is_empty() && part < 1.0 => format!("1/{}", 1.0 / part),
            value if self.unit.is_empty() => format!("{value}"),
            value => format!("{value} {}", self.unit),
        };
        self.zero.then(|| String::from("0")).into_iter().chain((0..self.count).map(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_step_is_one_of_them_and_what_is_beside_it_is_not() {
        let tens = Steps { unit: "ms", scale: 1e3, first: 10.0, count: 1023, doubling: false, zero: false };
        for number in 1..=1023_u64 {
            assert!(tens.contains((number * 10_000_000_000) as f64 / 1e12), "{number}");
            assert!(!tens.contains((number * 10_000_000_000 + 1) as f64 / 1e12), "{number}");
        }
        assert_eq!([0.0, 0.005, 10.24, f64::NAN, 1e300].map(|value| tens.contains(value)), [false; 5]);
        assert_eq!(tens.texts().last().as_deref(), Some("10230 ms"));
        let halves = Steps { zero: true, ..Steps::powers_to_one(6) };
        assert_eq!([0.0, 1.0 / 64.0, 1.0].map(|value| halves.contains(value)), [true; 3]);
        assert_eq!([1.0 / 128.0, 0.3, 2.0, f64::NAN].map(|value| halves.contains(value)), [false; 4]);
        let spans = Steps { unit: "ms", scale: 1e3, first: 0.78125, count: 8, doubling: true, zero: false };
        let texts: Vec<String> = spans.texts().collect();
        assert_eq!(texts[..2], ["0.78125 ms", "1.5625 ms"]);
        assert_eq!(texts.last().map(String::as_str), Some("100 ms"));
    }
}
