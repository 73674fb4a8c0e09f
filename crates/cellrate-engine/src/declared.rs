//! Rows of results as data: which columns a row has, and of each its unit, its sentence, and how it adds up.
//!
//! A row is a struct with `#[derive(Row)]` ([`rows`](crate::rows), and beside what they are of); all that is said of
//! its columns elsewhere follows from there: the tables and pictures that people see, criteria of searches, the types
//! that Python checks, `docs/results.md`.
//!
//! # Examples
//! ```
//! use cellrate_engine::declared::{Adds, Row, Unit};
//!
//! /// An output port.
//! #[derive(Row)]
//! #[row(one = "port", many = "ports", named = "{port}")]
//! struct Port {
//!     /// "sw1->sw2": the port of sw1 towards sw2.
//!     port: String,
//!     /// Cells lost for want of room.
//!     #[row(unit = cells, adds = sum, heading = "dropped")]
//!     dropped: u64,
//! }
//!
//! let dropped = &Port::columns()[1];
//! assert_eq!((dropped.key, dropped.unit, dropped.adds), ("dropped", Unit::Cells, Adds::Sum));
//! assert_eq!(dropped.sentence, "Cells lost for want of room.");
//! ```
//!
//! A number that does not say how it adds up is no column:
//! ```compile_fail
//! use cellrate_engine::declared::Row;
//!
//! /// An output port.
//! #[derive(Row)]
//! struct Port {
//!     /// Cells lost.
//!     #[row(unit = cells)]
//!     dropped: u64,
//! }
//! ```

pub use cellrate_derive::{Results, Row};
use cellrate_proto::declaration::Dimension;

/// A row of results.
pub trait Row {
    /// How its rows are called, and which of them tell something.
    const ABOUT: About;

    /// Its columns, in their order.
    fn columns() -> Vec<Column>;
}

/// The tables of a result.
pub trait Results {
    /// Its tables, in their order.
    fn tables() -> Vec<Table>;
}

/// How rows are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Noun for one, such as "port".
    pub one: &'static str,
    /// Noun for several.
    pub many: &'static str,
    /// The name of a row, of its columns: "{vc} #{connection}". A number is left out where no VC has several.
    pub named: &'static str,
    /// Columns and bounds: rows of which one is above its bound tell something, others are shown only if none does.
    /// All do where there are no bounds.
    pub tells: &'static [(&'static str, u64)],
}

/// A table of a result: rows of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its key in the summary.
    pub key: &'static str,
    /// Sentence of the reference.
    pub sentence: &'static str,
    /// Whether it is a list of rows, or a single one.
    pub is_list: bool,
    /// How its rows are called.
    pub about: About,
    /// Its columns, in their order.
    pub columns: Vec<Column>,
}

impl Table {
    /// A table of rows `R`.
    pub fn of<R: Row>(key: &'static str, sentence: &'static str, is_list: bool) -> Table {
        Table { key, sentence, is_list, about: R::ABOUT, columns: R::columns() }
    }
}

/// A column of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its key.
    pub key: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// Whether a value may be null.
    pub nullable: bool,
    /// Whether it says of what the row is.
    pub is_name: bool,
    /// Unit of its values.
    pub unit: Unit,
    /// How the rows of a result make one figure of it.
    pub adds: Adds,
    /// Heading in tables; empty where it is in none.
    pub heading: &'static str,
    /// Whether tables for people have it.
    pub shown: Shown,
    /// Unit in tables and pictures, if it is another one than that of its unit.
    pub shown_in: Option<&'static str>,
    /// Decimals in tables, if they are others than those of its unit.
    pub decimals: Option<u8>,
    /// Sentence of the reference.
    pub sentence: &'static str,
}

/// Unit of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// None: a name, a flag, a number of things.
    Plain,
    /// Cells of 53 octets.
    Cells,
    /// Cells per second.
    CellsPerS,
    /// Bits per second.
    Bps,
    /// Seconds.
    S,
    /// Octets.
    Octets,
    /// A part of something, from 0 to 1.
    Share,
    /// A multiple of something, which may be above 1.
    Multiple,
    /// Millionths.
    Ppm,
    /// PDUs.
    Pdus,
    /// Per second.
    PerS,
}

impl Unit {
    /// As results have it.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Plain | Unit::Multiple => "-",
            Unit::Cells => "cells",
            Unit::CellsPerS => "cells/s",
            Unit::Bps => "bit/s",
            Unit::S => "s",
            Unit::Octets => "octets",
            Unit::Share => "0 to 1",
            Unit::Ppm => "ppm",
            Unit::Pdus => "PDUs",
            Unit::PerS => "1/s",
        }
    }

    /// The dimension that a value for it is written in; `None` for a mere number.
    pub fn dimension(self) -> Option<Dimension> {
        match self {
            Unit::Cells => Some(Dimension::Cells),
            Unit::CellsPerS | Unit::Bps => Some(Dimension::Rate),
            Unit::S => Some(Dimension::Time),
            Unit::Octets => Some(Dimension::Octets),
            Unit::Share | Unit::Multiple => Some(Dimension::Ratio),
            Unit::Plain | Unit::Ppm | Unit::Pdus | Unit::PerS => None,
        }
    }
}

/// How the rows of a result make one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adds {
    /// Rows make none: a figure of all would mean nothing.
    None,
    /// Their sum.
    Sum,
    /// The largest.
    Largest,
    /// The least.
    Least,
    /// Their mean, weighted by a column if there is one.
    Mean(Option<&'static str>),
}

/// Whether tables for people have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// No table has it.
    Never,
    /// Where some row has more than zero.
    IfAny,
    /// Every table has it.
    Always,
}

/// Kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Yes or no.
    Flag,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A list of texts.
    Texts,
}

/// A value of a column.
pub trait Value {
    /// Its kind.
    const KIND: Kind;
    /// Whether it may be null.
    const NULLABLE: bool = false;
}

macro_rules! values {
    ($($kind:ident: $($of:ty),+;)*) => {
        $($(impl Value for $of {
            const KIND: Kind = Kind::$kind;
        })+)*
    };
}

values! {
    Text: String, &'static str;
    Flag: bool;
    Integer: u16, u32, u64;
    Number: f64;
    Texts: Vec<String>;
}

impl<V: Value> Value for Option<V> {
    const KIND: Kind = V::KIND;
    const NULLABLE: bool = true;
}
