//! Declarations: how a key, a table of keys and a figure say what they are, once.
//!
//! Whatever has parameters declares them beside its code: name, type, unit, default, range and meaning of each. Struct,
//! defaults, check and reader follow from `#[derive(Table)]`; the format of scenarios, its JSON Schema and its
//! reference take the [`Key`]s as they stand. Nothing here reads a file: an implementation of [`Values`] says where
//! values come from.

mod drawn;
mod error;
mod steps;
mod values;
mod words;
pub mod written;

pub use cellrate_derive::Table;
pub use drawn::Drawn;
pub use error::{ParameterError, in_range};
pub use steps::Steps;
pub use values::{OrOff, PowerOfTwoOrZero, Reading, Setting, SpanOrZero, Values};
pub use words::words;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

/// A unit of measurement that the value of a key is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A span or an instant; ps.
    Time,
    /// A rate of cells; cells/s.
    Rate,
    /// A rate of bits on a line; bit/s.
    LineRate,
    /// Room or amount; cells.
    Cells,
    /// Amount of data; octets.
    Octets,
    /// Length of a link; km.
    Length,
    /// By how much a clock is fast, or slow where it is negative; parts per billion.
    Offset,
    /// An angle; degrees.
    Angle,
    /// A part or a factor; no unit.
    Ratio,
}

/// The values that a key may have.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// The name of a thing, with `{i}` in groups.
    Name,
    /// The name of a node, a connection or a port that is defined elsewhere.
    Reference,
    /// A whole number in a range.
    Integer(i64, i64),
    /// True or false.
    Boolean,
    /// A number with a unit, zero or more.
    Quantity(Dimension),
    /// A number with a unit, above zero.
    Positive(Dimension),
    /// A ratio in a range.
    Ratio(Range),
    /// A power of two from 1/32768 to 1.
    PowerOfTwo,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The first that fits.
    Or(&'static [Kind]),
    /// A list of at least so many.
    List(&'static Kind, usize),
    /// A list of exactly two.
    Pair(&'static Kind, &'static Kind),
    /// A table of keys.
    Table(&'static Shape),
    /// A table whose `type` says which keys it has.
    Tagged(&'static Tagged),
    /// A table with keys of the user's choice.
    Map(&'static Kind),
    /// `[[...]]`: entries, which may be groups when the shape has a `count`.
    Entries(&'static Shape),
    /// A value of any other key.
    Any,
}

impl Kind {
    /// Whether a list is one value of this kind; where it is not, a list in a group gives each member its own value.
    pub fn is_list(self) -> bool {
        match self {
            Kind::List(..) | Kind::Pair(..) | Kind::Any | Kind::Entries(_) => true,
            Kind::Or(kinds) => kinds.iter().any(|kind| matches!(kind, Kind::List(..))),
            _ => false,
        }
    }

    /// The dimension of a number, where that is all that a value of this kind may be.
    pub fn dimension(self) -> Option<Dimension> {
        match self {
            Kind::Quantity(dimension) | Kind::Positive(dimension) => Some(dimension),
            Kind::Ratio(_) | Kind::PowerOfTwo => Some(Dimension::Ratio),
            _ => None,
        }
    }
}

/// The bounds of a ratio, stated once: checks, their messages and the reference follow from them.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Least value, or what is just below it.
    pub low: f64,
    /// Largest value, or what is just above it; [`f64::MAX`] where there is no bound.
    pub high: f64,
    /// Whether `low` itself is in the range.
    pub low_included: bool,
    /// Whether `high` itself is in the range.
    pub high_included: bool,
}

impl Range {
    /// Above 0, at most 1.
    pub const SHARE: Range = Range::above(0.0, 1.0);
    /// From 0 to 1, both included.
    pub const FRACTION: Range = Range::closed(0.0, 1.0);
    /// Above 0.
    pub const POSITIVE: Range = Range::above(0.0, f64::MAX);
    /// At least 0.
    pub const NOT_NEGATIVE: Range = Range::closed(0.0, f64::MAX);
    /// At least 1.
    pub const AT_LEAST_ONE: Range = Range::closed(1.0, f64::MAX);
    /// Above 1.
    pub const ABOVE_ONE: Range = Range::above(1.0, f64::MAX);

    /// From `low` to `high`, both included.
    pub const fn closed(low: f64, high: f64) -> Range {
        Range { low, high, low_included: true, high_included: true }
    }

    /// Above `low`, at most `high`.
    pub const fn above(low: f64, high: f64) -> Range {
        Range { low, high, low_included: false, high_included: true }
    }

    /// Above `low`, below `high`.
    pub const fn between(low: f64, high: f64) -> Range {
        Range { low, high, low_included: false, high_included: false }
    }

    /// At least `low`, below `high`.
    pub const fn below(low: f64, high: f64) -> Range {
        Range { low, high, low_included: true, high_included: false }
    }

    /// Whether `value` is in the range; a value that is no number is in none.
    pub fn contains(&self, value: f64) -> bool {
        (value > self.low || self.low_included && value == self.low)
            && (value < self.high || self.high_included && value == self.high)
    }

    /// The range for a table of keys.
    pub fn phrase(&self) -> String {
        if self.low == self.high {
            return format!("exactly {}", self.low);
        }
        let low =
            if self.low_included { format!("{} or more", self.low) } else { format!("above {}", self.low) };
        match (self.high == f64::MAX, self.high_included) {
            (true, _) => low,
            (false, true) => format!("{low}, at most {}", self.high),
            (false, false) => format!("{low}, below {}", self.high),
        }
    }

    /// The range for a message that begins with "It must be".
    pub fn allowed(&self) -> Cow<'static, str> {
        let Range { low, high, .. } = *self;
        let phrase = match (self.low_included, self.high_included) {
            (true, _) if low == high => format!("exactly {low}"),
            (true, _) if high == f64::MAX => format!("at least {low}"),
            (false, _) if high == f64::MAX => format!("above {low}"),
            (true, true) => format!("from {low} to {high}"),
            (true, false) => format!("from {low} to below {high}"),
            (false, true) => format!("above {low} and at most {high}"),
            (false, false) => format!("above {low} and below {high}"),
        };
        phrase.into()
    }

    /// Refuses a value of the parameter `name` outside the range.
    pub fn check(&self, name: &'static str, value: f64) -> Result<(), ParameterError> {
        if self.contains(value) {
            return Ok(());
        }
        Err(ParameterError { name, value, unit: "", allowed: self.allowed() })
    }
}

/// A table: its keys.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The name in the schema and the reference.
    pub name: &'static str,
    /// A sentence on the table.
    pub about: &'static str,
    /// The keys, in the order of the reference.
    pub keys: &'static [Key],
}

impl Shape {
    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// A family of tables told apart by `type`.
#[derive(Debug)]
pub struct Tagged {
    /// The key that such a table is the value of: its name in the reference.
    pub name: &'static str,
    /// The variant without a `type`, if there is one.
    pub default: Option<&'static str>,
    /// `type` and keys.
    pub variants: &'static [(&'static str, Shape)],
}

impl Tagged {
    /// The shape of the variant of this name.
    pub fn variant(&self, name: &str) -> Option<&'static Shape> {
        self.variants.iter().find(|(tag, _)| *tag == name).map(|(_, shape)| shape)
    }

    /// The shapes that a table with this `type`, or none, may have.
    pub fn shapes(&self, tag: Option<&str>) -> impl Iterator<Item = &'static Shape> {
        self.variants
            .iter()
            .filter(move |(name, _)| tag.is_none_or(|tag| tag == *name))
            .map(|(_, shape)| shape)
    }
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name, as it is written.
    pub name: &'static str,
    /// The values it may have.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
    /// The default: as it would be written, or as a phrase.
    pub default: &'static str,
    /// A sentence on its meaning.
    pub about: &'static str,
    /// All values, where there are only so many.
    pub steps: Option<Steps>,
}

impl Key {
    /// The key, whose values are these.
    pub const fn with_steps(self, steps: Steps) -> Key {
        Key { steps: Some(steps), ..self }
    }
}

/// A key that may be left out.
pub const fn key(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Key {
    Key { name, kind, required: false, default, about, steps: None }
}

/// A key that must be there.
pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, required: true, default: "required", about, steps: None }
}

/// How many keys, or whatever else, there are in all `parts` together.
pub const fn total<T>(parts: &[&[T]]) -> usize {
    let (mut sum, mut i) = (0, 0);
    while i < parts.len() {
        sum += parts[i].len();
        i += 1;
    }
    sum
}

/// All `parts` one after the other; `N` is their [total].
///
/// ```
/// use cellrate_proto::declaration::{joined, total};
/// const PARTS: &[&[u8]] = &[&[1, 2], &[], &[3]];
/// const ALL: [u8; total(PARTS)] = joined(PARTS);
/// assert_eq!(ALL, [1, 2, 3]);
/// ```
pub const fn joined<T: Copy, const N: usize>(parts: &[&[T]]) -> [T; N] {
    let mut first = 0;
    while parts[first].is_empty() {
        first += 1;
    }
    let mut all = [parts[first][0]; N];
    let (mut place, mut i) = (0, 0);
    while i < parts.len() {
        let mut j = 0;
        while j < parts[i].len() {
            all[place] = parts[i][j];
            place += 1;
            j += 1;
        }
        i += 1;
    }
    assert!(place == N, "N is the total");
    all
}

/// All `keys` but those of these names; `N` is how many that leaves.
///
/// ```
/// use cellrate_proto::declaration::{Key, Kind, key, without};
/// const KEYS: &[Key] = &[key("a", Kind::Boolean, "true", ""), key("b", Kind::Boolean, "true", "")];
/// const REST: [Key; 1] = without(KEYS, &["a"]);
/// assert_eq!(REST[0].name, "b");
/// ```
pub const fn without<const N: usize>(keys: &[Key], names: &[&str]) -> [Key; N] {
    let mut left = [keys[0]; N];
    let (mut count, mut i) = (0, 0);
    while i < keys.len() {
        let mut j = 0;
        while j < names.len() && !written::same(keys[i].name, names[j]) {
            j += 1;
        }
        if j == names.len() {
            left[count] = keys[i];
            count += 1;
        }
        i += 1;
    }
    assert!(count == N, "each name is that of a key");
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_where_it_says() {
        for (range, within, outside, allowed) in [
            (Range::SHARE, [1e-9, 1.0], [0.0, 1.0 + 1e-9], "above 0 and at most 1"),
            (Range::FRACTION, [0.0, 1.0], [-1e-9, 1.0 + 1e-9], "from 0 to 1"),
            (Range::POSITIVE, [1e-9, f64::MAX], [0.0, f64::INFINITY], "above 0"),
            (Range::ABOVE_ONE, [1.5, f64::MAX], [1.0, f64::NAN], "above 1"),
            (Range::between(0.0, 1.0), [0.1, 0.9], [0.0, 1.0], "above 0 and below 1"),
            (Range::below(0.0, 1.0), [0.0, 0.9], [-0.1, 1.0], "from 0 to below 1"),
            (Range::closed(2.0, 2.0), [2.0, 2.0], [1.9, 2.1], "exactly 2"),
            (Range::closed(2.0, f64::MAX), [2.0, 3.0], [1.9, f64::NAN], "at least 2"),
        ] {
            assert_eq!(within.map(|value| range.check("x", value)), [Ok(()), Ok(())], "{range:?}");
            for value in outside {
                let error = range.check("x", value).unwrap_err();
                assert_eq!((error.name, &*error.allowed), ("x", allowed));
            }
        }
    }
}
