//! A parameter that is out of its range.

use alloc::borrow::Cow;
use core::fmt;

/// A parameter outside its range: which, what was given, and what is allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    /// The parameter, in the standard's symbol, lower case.
    pub name: &'static str,
    /// Value that was given, in `unit`.
    pub value: f64,
    /// The unit of `value`; empty for a plain number.
    pub unit: &'static str,
    /// The range, as a phrase.
    pub allowed: Cow<'static, str>,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParameterError { name, value, unit, allowed } = self;
        let space = if unit.is_empty() { "" } else { " " };
        write!(f, "{name} is {value}{space}{unit}; it must be {allowed}")
    }
}

impl core::error::Error for ParameterError {}

/// Refuses a value of which something does not hold.
pub fn in_range(
    name: &'static str,
    value: f64,
    unit: &'static str,
    holds: bool,
    allowed: &'static str,
) -> Result<(), ParameterError> {
    if holds { Ok(()) } else { Err(ParameterError { name, value, unit, allowed: allowed.into() }) }
}
