//! Values of keys as a configuration asks for them.

use alloc::string::String;

use super::{Dimension, Kind, Range};
use crate::parameters::ParameterError;
use crate::units::{CellRate, Cells, Duration};

/// The values of a table, by key: what a configuration is read from.
///
/// A key that is not there has no value (`None`); one whose value is not of its [`Kind`] is an error.
pub trait Values: Sized {
    /// An error, with the place of what it is about.
    type Error;

    /// A ratio.
    fn ratio(&self, key: &str) -> Result<Option<f64>, Self::Error>;

    /// A span of time above 0.
    fn span(&self, key: &str) -> Result<Option<Duration>, Self::Error>;

    /// An amount of cells.
    fn cells(&self, key: &str) -> Result<Option<Cells>, Self::Error>;

    /// A rate of cells.
    fn rate(&self, key: &str) -> Result<Option<CellRate>, Self::Error>;

    /// A whole number from 1.
    fn count(&self, key: &str) -> Result<Option<u32>, Self::Error>;

    /// True or false.
    fn flag(&self, key: &str) -> Result<Option<bool>, Self::Error>;

    /// A word.
    fn word(&self, key: &str) -> Result<Option<&str>, Self::Error>;

    /// The values of the table that a key has; `None` where it has a word instead, such as "off".
    fn table(&self, key: &str) -> Option<Self>;

    /// The key `name` is missing, because `beside` is there.
    fn missing(&self, name: &str, about: &str, beside: &str) -> Self::Error;

    /// The value of `key` cannot be taken.
    fn refused(&self, key: &str, message: String, remedy: String) -> Self::Error;

    /// A configuration made of these values refuses one of them.
    fn out_of_range(&self, error: ParameterError) -> Self::Error;
}

/// A type that the value of a key is read into.
pub trait Setting: Sized {
    /// The values that such a key may have.
    const KIND: Kind;
    /// The unit of [`number`](Setting::number), for messages; empty where there is none.
    const UNIT: &'static str = "";

    /// The value of `key`.
    fn read<V: Values>(values: &V, key: &'static str) -> Result<Option<Self>, V::Error>;

    /// The value as a number, for messages.
    fn number(&self) -> f64;
}

impl Setting for f64 {
    const KIND: Kind = Kind::Ratio(Range::closed(0.0, f64::MAX));

    fn read<V: Values>(values: &V, key: &'static str) -> Result<Option<f64>, V::Error> {
        values.ratio(key)
    }

    fn number(&self) -> f64 {
        *self
    }
}

impl Setting for Duration {
    const KIND: Kind = Kind::Positive(Dimension::Time);
    const UNIT: &'static str = "s";

    fn read<V: Values>(values: &V, key: &'static str) -> Result<Option<Duration>, V::Error> {
        values.span(key)
    }

    fn number(&self) -> f64 {
        self.as_secs_f64()
    }
}

impl Setting for Cells {
    const KIND: Kind = Kind::Quantity(Dimension::Cells);
    const UNIT: &'static str = "cells";

    fn read<V: Values>(values: &V, key: &'static str) -> Result<Option<Cells>, V::Error> {
        values.cells(key)
    }

    fn number(&self) -> f64 {
        self.0 as f64
    }
}

impl Setting for CellRate {
    const KIND: Kind = Kind::Quantity(Dimension::Rate);
    const UNIT: &'static str = "cells/s";

    fn read<V: Values>(values: &V, key: &'static str) -> Result<Option<CellRate>, V::Error> {
        values.rate(key)
    }

    fn number(&self) -> f64 {
        self.as_cells_per_s()
    }
}

/// A number that is counted up to.
impl Setting for u32 {
    const KIND: Kind = Kind::Integer(1, u32::MAX as i64);

    fn read<V: Values>(values: &V, key: &'static str) -> Result<Option<u32>, V::Error> {
        values.count(key)
    }

    fn number(&self) -> f64 {
        f64::from(*self)
    }
}

impl Setting for bool {
    const KIND: Kind = Kind::Boolean;

    fn read<V: Values>(values: &V, key: &'static str) -> Result<Option<bool>, V::Error> {
        values.flag(key)
    }

    fn number(&self) -> f64 {
        f64::from(u8::from(*self))
    }
}

/// A ratio where something else decides if none is given.
pub type OptionalRatio = Option<f64>;
/// A span where something else decides if none is given.
pub type OptionalSpan = Option<Duration>;
/// A rate where something else decides if none is given.
pub type OptionalRate = Option<CellRate>;

impl<T: Setting> Setting for Option<T> {
    const KIND: Kind = T::KIND;
    const UNIT: &'static str = T::UNIT;

    fn read<V: Values>(values: &V, key: &'static str) -> Result<Option<Option<T>>, V::Error> {
        T::read(values, key).map(|value| value.map(Some))
    }

    fn number(&self) -> f64 {
        self.as_ref().map_or(f64::NAN, T::number)
    }
}
