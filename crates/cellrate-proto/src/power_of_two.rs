//! Factors that signalling carries as powers of two.

use core::fmt;

/// A factor that signalling carries as a power of two: 2^-k, exactly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PowerOfTwo {
    negative_exponent: u8,
}

impl PowerOfTwo {
    /// 1.
    pub const ONE: PowerOfTwo = PowerOfTwo { negative_exponent: 0 };

    /// 2^-k for k from 0 to 15, `None` otherwise.
    pub const fn from_negative_exponent(k: u8) -> Option<PowerOfTwo> {
        if k <= 15 { Some(PowerOfTwo { negative_exponent: k }) } else { None }
    }

    /// The power of two that `factor` is, exactly; `None` for any other factor than one from 1/32768 to 1.
    pub fn exact(factor: f64) -> Option<PowerOfTwo> {
        (0..=15).map(|k| PowerOfTwo { negative_exponent: k }).find(|power| power.value() == factor)
    }

    /// k of 2^-k: the code that signalling carries.
    pub const fn negative_exponent(self) -> u8 {
        self.negative_exponent
    }

    /// The factor itself, from 1/32768 to 1.
    pub fn value(self) -> f64 {
        1.0 / f64::from(1_u32 << self.negative_exponent)
    }
}

impl fmt::Debug for PowerOfTwo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for PowerOfTwo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.negative_exponent {
            0 => f.write_str("1"),
            k => write!(f, "1/{}", 1_u32 << k),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn powers_of_two_are_exact() {
        assert_eq!(PowerOfTwo::exact(1.0 / 512.0).map(PowerOfTwo::negative_exponent), Some(9));
        assert_eq!(PowerOfTwo::exact(0.3), None);
        assert_eq!(PowerOfTwo::exact(2.0), None);
        assert_eq!(PowerOfTwo::exact(1.0 / 512.0).unwrap().to_string(), "1/512");
    }
}
