//! Values drawn at random within what keys allow: any configuration, by its declaration alone.
//!
//! Random networks and the tests that hold every algorithm take their parameters from here, so that a new one is among
//! them as soon as it is declared. Dice are given; nothing here draws by itself.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};

use super::{Dimension, Key, Kind, ParameterError, Range, Values, written};
use crate::power_of_two::PowerOfTwo;
use crate::units::{CellRate, Cells, Duration};

/// Values of some keys, by name.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    values: BTreeMap<&'static str, Value>,
}

#[derive(Clone, Debug)]
enum Value {
    Ratio(f64),
    Span(Duration),
    Cells(Cells),
    Rate(CellRate),
    Count(u32),
    Flag(bool),
    Choice(&'static str),
    Table(Drawn),
}

impl Drawn {
    /// The least that `keys` need: those that must be there, and nothing else.
    pub fn least(keys: &[Key]) -> Drawn {
        Drawn::new(keys, &mut || 0.0)
    }

    /// Values for `keys`: those that must be there, and each of the others in half of all cases. `dice` gives numbers
    /// from 0 to below 1.
    pub fn new(keys: &[Key], dice: &mut dyn FnMut() -> f64) -> Drawn {
        let mut values = BTreeMap::new();
        for key in keys {
            if (key.required || dice() >= 0.5)
                && let Some(value) = draw(key, key.kind, dice)
            {
                values.insert(key.name, value);
            }
        }
        Drawn { values }
    }

    /// The same values, with this span for `key`.
    pub fn with_span(mut self, key: &'static str, span: Duration) -> Drawn {
        self.values.insert(key, Value::Span(span));
        self
    }

    /// The same values, with this ratio for `key`.
    pub fn with_ratio(mut self, key: &'static str, ratio: f64) -> Drawn {
        self.values.insert(key, Value::Ratio(ratio));
        self
    }

    /// The same values, with this amount for `key`.
    pub fn with_cells(mut self, key: &'static str, cells: Cells) -> Drawn {
        self.values.insert(key, Value::Cells(cells));
        self
    }

    /// The same values, without any for `key`.
    pub fn without(mut self, key: &str) -> Drawn {
        self.values.remove(key);
        self
    }
}

/// Unbounded values are up to four times the default, cells and counts up to 40.
fn draw(key: &Key, kind: Kind, dice: &mut dyn FnMut() -> f64) -> Option<Value> {
    let is_number = key.default.trim_matches('"').starts_with(|first: char| first.is_ascii_digit());
    let mut scale = || 0.25 + 3.75 * dice();
    Some(match kind {
        Kind::Ratio(Range { low, high: f64::MAX, .. }) => {
            // A phrase may begin with a number.
            let is_ratio =
                is_number && key.default.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'/'));
            let default = if is_ratio { written::ratio(key.default) } else { low + 1.0 };
            Value::Ratio(low + (default - low) * scale())
        }
        Kind::Ratio(Range { low, high, .. }) => Value::Ratio(low + (high - low) * (0.01 + 0.98 * dice())),
        Kind::Positive(Dimension::Time) => {
            let default = if is_number { written::span(key.default) } else { Duration::from_us(750) };
            Value::Span(Duration::from_ps((default.as_ps() as f64 * scale()) as u64))
        }
        Kind::Quantity(Dimension::Cells) => Value::Cells(Cells(1 + (dice() * 40.0) as u64)),
        Kind::Quantity(Dimension::Rate) => Value::Rate(CellRate::new(dice() * 100_000.0)),
        Kind::Integer(low, high) => {
            Value::Count((low + (dice() * (high - low).min(40) as f64) as i64) as u32)
        }
        Kind::PowerOfTwo => Value::Ratio(1.0 / f64::from(1_u32 << (dice() * 16.0) as u32)),
        Kind::Boolean => Value::Flag(dice() < 0.5),
        Kind::Choice(words) => Value::Choice(words[(dice() * words.len() as f64) as usize]),
        Kind::Or(kinds) => return draw(key, kinds[(dice() * kinds.len() as f64) as usize], dice),
        Kind::Table(shape) => Value::Table(Drawn::new(shape.keys, dice)),
        _ => return None,
    })
}

impl Values for Drawn {
    type Error = String;

    fn ratio(&self, key: &str) -> Result<Option<f64>, String> {
        self.get(key, |value| if let Value::Ratio(ratio) = value { Some(*ratio) } else { None })
    }

    fn span(&self, key: &str) -> Result<Option<Duration>, String> {
        self.get(key, |value| if let Value::Span(span) = value { Some(*span) } else { None })
    }

    fn time(&self, key: &str) -> Result<Option<Duration>, String> {
        self.span(key)
    }

    fn cells(&self, key: &str) -> Result<Option<Cells>, String> {
        self.get(key, |value| if let Value::Cells(cells) = value { Some(*cells) } else { None })
    }

    fn rate(&self, key: &str) -> Result<Option<CellRate>, String> {
        self.get(key, |value| if let Value::Rate(rate) = value { Some(*rate) } else { None })
    }

    fn count(&self, key: &str) -> Result<Option<u32>, String> {
        self.get(key, |value| if let Value::Count(count) = value { Some(*count) } else { None })
    }

    fn power_of_two(&self, key: &str) -> Result<Option<PowerOfTwo>, String> {
        Ok(self.ratio(key)?.and_then(PowerOfTwo::exact))
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        self.get(key, |value| if let Value::Flag(flag) = value { Some(*flag) } else { None })
    }

    fn word(&self, key: &str) -> Result<Option<&str>, String> {
        self.get(key, |value| if let Value::Choice(word) = value { Some(*word) } else { None })
    }

    fn table(&self, key: &str) -> Option<Drawn> {
        if let Some(Value::Table(table)) = self.values.get(key) { Some(table.clone()) } else { None }
    }

    fn missing(&self, name: &str, _about: &str, _beside: &str) -> String {
        format!("{name} is missing")
    }

    fn refused(&self, _key: &str, message: String, _remedy: String) -> String {
        message
    }

    fn out_of_range(&self, error: ParameterError) -> String {
        error.to_string()
    }
}

impl Drawn {
    /// The value of `key`, if it is of the right kind.
    fn get<'a, T>(&'a self, key: &str, right: impl Fn(&'a Value) -> Option<T>) -> Result<Option<T>, String> {
        let Some(value) = self.values.get(key) else { return Ok(None) };
        right(value).map(Some).ok_or_else(|| format!("{key} is {value:?}"))
    }
}
