//! Values as they are written in a scenario, for whatever declares its keys: `#[derive(Table)]` reads them here.

use std::sync::LazyLock;

use cellrate_proto::declaration::{Dimension, Kind, Reading, Setting, Values};
use cellrate_proto::parameters::{ParameterError, PowerOfTwo};
use cellrate_proto::{BitRate, CellRate, Cells, Duration, Octets, Time};

use super::error::{Fault, Place};
use super::reading::{instant, optional, some_octets};
use super::tree::{Node, Table};
use super::{check, quantity};

/// The values of a checked table, as declarations ask for them.
pub(crate) struct Written<'a> {
    table: &'a Table,
    /// The key that the table is the value of, by which parameters of it begin; empty for the outermost.
    key: &'a str,
    place: Place,
}

impl<'a> Written<'a> {
    /// The values of `table`, which stands at `place`.
    pub fn new(table: &'a Table, place: Place) -> Written<'a> {
        Written { table, key: "", place }
    }

    /// The values of the table that `node` is; of an empty one where it is something else.
    pub fn of(node: &'a Node) -> Written<'a> {
        static EMPTY: LazyLock<Table> = LazyLock::new(Table::default);
        Written::new(node.table().unwrap_or(&EMPTY), node.place)
    }

    /// The value of `key` as it is written.
    pub fn node(&self, key: &str) -> Option<&'a Node> {
        self.table.node(key)
    }

    /// Where the value of `key` stands, or else the table.
    pub fn place_of(&self, key: &str) -> Place {
        self.table.node(key).map_or(self.place, |node| node.place)
    }
}

impl Values for Written<'_> {
    type Error = Fault;

    fn ratio(&self, key: &str) -> Result<Option<f64>, Fault> {
        optional(self.table, key, quantity::ratio)
    }

    fn span(&self, key: &str) -> Result<Option<Duration>, Fault> {
        optional(self.table, key, quantity::span)
    }

    fn time(&self, key: &str) -> Result<Option<Duration>, Fault> {
        optional(self.table, key, quantity::time)
    }

    fn cells(&self, key: &str) -> Result<Option<Cells>, Fault> {
        optional(self.table, key, quantity::cells)
    }

    fn rate(&self, key: &str) -> Result<Option<CellRate>, Fault> {
        optional(self.table, key, quantity::cell_rate)
    }

    fn count(&self, key: &str) -> Result<Option<u32>, Fault> {
        let count = optional(self.table, key, |node| check::integer(node, 1, i64::from(u32::MAX)))?;
        Ok(count.map(|count| count as u32))
    }

    fn power_of_two(&self, key: &str) -> Result<Option<PowerOfTwo>, Fault> {
        optional(self.table, key, check::power_of_two)
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, Fault> {
        optional(self.table, key, check::boolean)
    }

    fn word(&self, key: &str) -> Result<Option<&str>, Fault> {
        self.table.node(key).map(check::text).transpose()
    }

    fn table(&self, key: &str) -> Option<Self> {
        let node = self.table.node(key)?;
        // The name of the key outlives the call because the table's own does.
        let key = self.table.entries.iter().find(|entry| &*entry.key == key)?.key.as_ref();
        Some(Written { table: node.table()?, key, place: node.place })
    }

    fn missing(&self, name: &str, about: &str, beside: &str) -> Fault {
        check::missing(self.place_of(beside), name, about)
    }

    fn refused(&self, key: &str, message: String, remedy: String) -> Fault {
        Fault::new(self.place_of(key), message, remedy)
    }

    fn out_of_range(&self, error: ParameterError) -> Fault {
        let own = |name: &str| {
            let own = name.strip_prefix(self.key).and_then(|name| name.strip_prefix('_'));
            self.table.node(own.unwrap_or(name))
        };
        let refused: Result<(), Fault> = check::configuration(Err(error), own, self.place);
        refused.expect_err("it is refused")
    }
}

/// A type that a value of a file is read into.
pub(crate) trait FromNode: Setting {
    /// The value that is written.
    ///
    /// # Errors
    /// The value is not one of the [kind](Setting::KIND), or does not fit otherwise.
    fn from_node(node: &Node) -> Result<Self::Value, Fault>;
}

/// Declares by which functions values are read.
macro_rules! from_node {
    ($($setting:ty: $read:expr;)+) => {
        $(
            impl $crate::text::written::FromNode for $setting {
                fn from_node(
                    node: &$crate::text::tree::Node,
                ) -> Result<<$setting as ::cellrate_proto::declaration::Setting>::Value, $crate::text::error::Fault>
                {
                    let read: fn(&$crate::text::tree::Node) -> Result<_, $crate::text::error::Fault> = $read;
                    read(node)
                }
            }

            impl ::cellrate_proto::declaration::Reading<$crate::text::written::Written<'_>> for $setting {
                fn read(
                    values: &$crate::text::written::Written<'_>,
                    key: &'static str,
                ) -> Result<
                    Option<<$setting as ::cellrate_proto::declaration::Setting>::Value>,
                    $crate::text::error::Fault,
                > {
                    values.node(key).map(<$setting as $crate::text::written::FromNode>::from_node).transpose()
                }
            }
        )+
    };
}
pub(crate) use from_node;

/// Declares the kind of a type that only scenarios have, with the type that it is read into where that is another one.
macro_rules! setting {
    ($setting:ty, $kind:expr) => {
        $crate::text::written::setting!($setting => $setting, $kind, true);
    };
    ($setting:ty => $value:ty, $kind:expr, $quoted:literal) => {
        impl ::cellrate_proto::declaration::Setting for $setting {
            type Value = $value;
            const KIND: ::cellrate_proto::declaration::Kind = $kind;
            const QUOTED: bool = $quoted;

            fn number(_: &$value) -> f64 {
                f64::NAN
            }
        }
    };
}
pub(crate) use setting;

from_node! {
    BitRate: quantity::line_rate_or_none;
    Octets: quantity::octets;
    Time: instant;
    String: |node| check::text(node).map(str::to_owned);
    Node: |node| Ok(node.clone());
}

// A value that is kept as it is written, since others decide what it means.
setting!(Node, Kind::Any);

impl<T: FromNode> Reading<Written<'_>> for Vec<T> {
    fn read(values: &Written<'_>, key: &'static str) -> Result<Option<Vec<T::Value>>, Fault> {
        let list = values.node(key).map(check::list).transpose()?;
        list.map(|list| list.iter().map(T::from_node).collect()).transpose()
    }
}

/// Room for cells, or the word "infinite", which is `None`.
#[derive(Debug)]
pub struct Room;

impl Room {
    /// The room of the word "infinite".
    pub(crate) fn written(_infinite: &str) -> Option<Cells> {
        None
    }
}

setting!(
    Room => Option<Cells>,
    Kind::Or(&[Kind::Quantity(Dimension::Cells), Kind::Choice(&["infinite"])]),
    true
);

from_node! {
    Room: quantity::room;
}

/// An amount of data above 0.
#[derive(Debug)]
pub struct SomeOctets;

setting!(SomeOctets => Octets, Kind::Quantity(Dimension::Octets), true);

from_node! {
    SomeOctets: some_octets;
}

/// A whole number from 0.
#[derive(Debug)]
pub struct CountOrZero;

setting!(CountOrZero => u32, Kind::Integer(0, u32::MAX as i64), false);

from_node! {
    CountOrZero: |node| check::integer(node, 0, i64::from(u32::MAX)).map(|count| count as u32);
}

/// An amount of data, or the word "infinite", which is `None`.
#[derive(Debug)]
pub struct OctetsOrNoEnd;

setting!(
    OctetsOrNoEnd => Option<Octets>,
    Kind::Or(&[Kind::Quantity(Dimension::Octets), Kind::Choice(&["infinite"])]),
    true
);

from_node! {
    OctetsOrNoEnd: |node| match node.text() {
        Some("infinite") => Ok(None),
        _ => quantity::octets(node).map(Some),
    };
}

/// An amount of data from `LOW` to `HIGH` octets.
#[derive(Debug)]
pub struct OctetsFrom<const LOW: u64, const HIGH: u64>;

impl<const LOW: u64, const HIGH: u64> OctetsFrom<LOW, HIGH> {
    /// A default such as "9180 octets".
    pub(crate) const fn written(text: &str) -> Octets {
        cellrate_proto::declaration::written::octets(text)
    }
}

impl<const LOW: u64, const HIGH: u64> Setting for OctetsFrom<LOW, HIGH> {
    type Value = Octets;
    const KIND: Kind = Kind::Quantity(Dimension::Octets);

    fn number(value: &Octets) -> f64 {
        value.0 as f64
    }
}

impl<const LOW: u64, const HIGH: u64> Reading<Written<'_>> for OctetsFrom<LOW, HIGH> {
    fn read(values: &Written<'_>, key: &'static str) -> Result<Option<Octets>, Fault> {
        optional(values.table, key, |node| octets_from(node, LOW, HIGH))
    }
}

/// Reads an amount of data from `low` to `high` octets.
pub(crate) fn octets_from(node: &Node, low: u64, high: u64) -> Result<Octets, Fault> {
    let octets = quantity::octets(node)?;
    if (low..=high).contains(&octets.0) {
        return Ok(octets);
    }
    let message = format!("{} is out of range", node.plain());
    Err(Fault::new(node.place, message, format!("It must be from {low} to {high} octets")))
}
