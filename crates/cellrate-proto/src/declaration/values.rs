//! Values of keys as a configuration asks for them.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::{Dimension, Kind, ParameterError, Range};
use crate::power_of_two::PowerOfTwo;
use crate::units::{BitRate, CellRate, Cells, Duration, Octets, Time};

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

    /// A span of time, which may be 0.
    fn time(&self, key: &str) -> Result<Option<Duration>, Self::Error>;

    /// An amount of cells.
    fn cells(&self, key: &str) -> Result<Option<Cells>, Self::Error>;

    /// A rate of cells.
    fn rate(&self, key: &str) -> Result<Option<CellRate>, Self::Error>;

    /// A whole number from 1.
    fn count(&self, key: &str) -> Result<Option<u32>, Self::Error>;

    /// A power of two from 1/32768 to 1.
    fn power_of_two(&self, key: &str) -> Result<Option<PowerOfTwo>, Self::Error>;

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

/// How the value of a key is declared. Mostly that is the type that it is read into.
pub trait Setting {
    /// The type that the value is read into.
    type Value;
    /// The values that such a key may have.
    const KIND: Kind;
    /// The unit of [`number`](Setting::number), for messages; empty where there is none.
    const UNIT: &'static str = "";
    /// Whether a value stands in quotes in a file.
    const QUOTED: bool = true;

    /// The value as a number, for messages.
    fn number(value: &Self::Value) -> f64;

    /// Says which parameter within the value is out of its range first; by default there is none.
    ///
    /// # Errors
    /// That parameter, with its value and what is allowed.
    fn check(_value: &Self::Value) -> Result<(), ParameterError> {
        Ok(())
    }
}

/// How the value of a key is read from `V`.
pub trait Reading<V: Values>: Setting {
    /// The value of `key`, if it is there.
    ///
    /// # Errors
    /// The value is not one of the [kind](Setting::KIND).
    fn read(values: &V, key: &'static str) -> Result<Option<Self::Value>, V::Error>;
}

/// Declares how the values of a type are: type, kind, unit, whether they are quoted, method of [`Values`], number.
macro_rules! setting {
    ($(#[$meta:meta])* $setting:ty as $value:ty, $kind:expr, $unit:literal, $quoted:literal, $read:expr, $number:expr) => {
        $(#[$meta])*
        impl Setting for $setting {
            type Value = $value;
            const KIND: Kind = $kind;
            const UNIT: &'static str = $unit;
            const QUOTED: bool = $quoted;

            fn number(value: &$value) -> f64 {
                let number: fn(&$value) -> f64 = $number;
                number(value)
            }
        }

        impl<V: Values> Reading<V> for $setting {
            fn read(values: &V, key: &'static str) -> Result<Option<$value>, V::Error> {
                let read: fn(&V, &'static str) -> Result<Option<$value>, V::Error> = $read;
                read(values, key)
            }
        }
    };
}

/// A span of time that may be 0.
#[derive(Debug)]
pub struct SpanOrZero;

/// A power of two, or 0, which is `None`.
#[derive(Debug)]
pub struct PowerOfTwoOrZero;

setting!(f64 as f64, Kind::Ratio(Range::NOT_NEGATIVE), "", false, V::ratio, |value| *value);
setting!(bool as bool, Kind::Boolean, "", false, V::flag, |value| f64::from(u8::from(*value)));
setting!(Duration as Duration, Kind::Positive(Dimension::Time), "s", true, V::span, |value| value
    .as_secs_f64());
setting!(SpanOrZero as Duration, Kind::Quantity(Dimension::Time), "s", true, V::time, |value| value
    .as_secs_f64());
setting!(Cells as Cells, Kind::Quantity(Dimension::Cells), "cells", true, V::cells, |value| value.0 as f64);
setting!(CellRate as CellRate, Kind::Quantity(Dimension::Rate), "cells/s", true, V::rate, |value| value
    .as_cells_per_s());
setting!(
    /// A number that is counted up to.
    u32 as u32, Kind::Integer(1, u32::MAX as i64), "", false, V::count, |value| f64::from(*value)
);
setting!(PowerOfTwo as PowerOfTwo, Kind::PowerOfTwo, "", false, V::power_of_two, |value| value.value());
setting!(
    PowerOfTwoOrZero as Option<PowerOfTwo>,
    Kind::Or(&[Kind::PowerOfTwo, Kind::Ratio(Range::closed(0.0, 0.0))]),
    "",
    false,
    |values, key| match values.ratio(key)? {
        Some(0.0) => Ok(Some(None)),
        _ => Ok(values.power_of_two(key)?.map(Some)),
    },
    |value| value.map_or(0.0, PowerOfTwo::value)
);

impl PowerOfTwoOrZero {
    /// The power of two of a text such as "1/16".
    pub const fn written(text: &str) -> Option<PowerOfTwo> {
        Some(super::written::power_of_two(text))
    }
}

/// A value where something else decides if none is given.
impl<T: Setting> Setting for Option<T> {
    type Value = Option<T::Value>;
    const KIND: Kind = T::KIND;
    const UNIT: &'static str = T::UNIT;
    const QUOTED: bool = T::QUOTED;

    fn number(value: &Option<T::Value>) -> f64 {
        value.as_ref().map_or(f64::NAN, T::number)
    }

    fn check(value: &Option<T::Value>) -> Result<(), ParameterError> {
        value.as_ref().map_or(Ok(()), T::check)
    }
}

impl<V: Values, T: Reading<V>> Reading<V> for Option<T> {
    fn read(values: &V, key: &'static str) -> Result<Option<Option<T::Value>>, V::Error> {
        T::read(values, key).map(|value| value.map(Some))
    }
}

/// Declares how the values of a type are that only a scenario has a reader for: type, kind, whether they are quoted.
macro_rules! written {
    ($setting:ty, $kind:expr, $quoted:literal) => {
        impl Setting for $setting {
            type Value = $setting;
            const KIND: Kind = $kind;
            const QUOTED: bool = $quoted;

            fn number(_: &$setting) -> f64 {
                f64::NAN
            }
        }
    };
}

written!(BitRate, Kind::Quantity(Dimension::LineRate), true);
written!(Octets, Kind::Quantity(Dimension::Octets), true);
written!(Time, Kind::Quantity(Dimension::Time), true);
written!(String, Kind::Text, true);

/// A list, of any length.
impl<T: Setting> Setting for Vec<T> {
    type Value = Vec<T::Value>;
    const KIND: Kind = Kind::List(&T::KIND, 0);
    const QUOTED: bool = false;

    fn number(list: &Vec<T::Value>) -> f64 {
        list.len() as f64
    }
}

/// A value that several share.
impl<T: Setting> Setting for Arc<T> {
    type Value = Arc<T::Value>;
    const KIND: Kind = T::KIND;
    const QUOTED: bool = T::QUOTED;

    fn number(value: &Arc<T::Value>) -> f64 {
        T::number(value)
    }
}

impl<V: Values, T: Reading<V>> Reading<V> for Arc<T> {
    fn read(values: &V, key: &'static str) -> Result<Option<Arc<T::Value>>, V::Error> {
        Ok(T::read(values, key)?.map(Arc::new))
    }
}

/// A table, or the word "off", which is `None`.
#[derive(Debug)]
pub struct OrOff<T>(PhantomData<T>);

impl<T: Setting> OrOff<T> {
    /// The value of the word "off".
    pub const fn written(text: &str) -> Option<T::Value> {
        assert!(super::written::same(text, "off"), "the default is \"off\"");
        None
    }
}

impl<T: Setting> Setting for OrOff<T> {
    type Value = Option<T::Value>;
    const KIND: Kind = Kind::Or(&[T::KIND, Kind::Choice(&["off"])]);

    fn number(value: &Option<T::Value>) -> f64 {
        value.as_ref().map_or(f64::NAN, T::number)
    }

    fn check(value: &Option<T::Value>) -> Result<(), ParameterError> {
        value.as_ref().map_or(Ok(()), T::check)
    }
}

impl<V: Values, T: Reading<V>> Reading<V> for OrOff<T> {
    fn read(values: &V, key: &'static str) -> Result<Option<Option<T::Value>>, V::Error> {
        T::read(values, key).map(Some)
    }
}
