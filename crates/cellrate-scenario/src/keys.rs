//! Keys and kinds of values that several parts of the format have.

use cellrate_proto::declaration::{Dimension, Key, Kind, Range, Setting, Shape, key, required};
use cellrate_proto::wire::Encapsulation;

pub(crate) const TIME: Kind = Kind::Quantity(Dimension::Time);
pub(crate) const SPAN: Kind = Kind::Positive(Dimension::Time);
pub(crate) const RATE: Kind = Kind::Quantity(Dimension::Rate);
pub(crate) const POSITIVE_RATE: Kind = Kind::Positive(Dimension::Rate);
pub(crate) const CELLS: Kind = Kind::Quantity(Dimension::Cells);
/// That it is a power of two is left to the core.
pub(crate) const NRM: Kind = Kind::Integer(2, 256);
pub(crate) const FRACTION: Kind = Kind::Ratio(Range::closed(0.0, 1.0));
pub(crate) const SHARE: Kind = Kind::Ratio(Range::above(0.0, 1.0));
pub(crate) const OCTETS: Kind = Kind::Quantity(Dimension::Octets);

/// Largest length of a frame \[octets\]: no picture of any codec is longer, and its cells can be counted in 32 bits.
pub(crate) const MAX_FRAME: i64 = 1 << 24;
/// Largest payload of a datagram \[octets\]: with its headers it fits into an AAL5 SDU.
pub(crate) const MOST_PAYLOAD: u64 = 65_000;
/// Longest header of a datagram or a segment \[octets\].
pub(crate) const MOST_HEADER: u64 = 120;
/// Most columns of a file.
pub(crate) const MAX_COLUMN: i64 = 1_000;

pub(crate) const TIME_COLUMN_KEY: Key =
    key("time_column", Kind::Integer(1, MAX_COLUMN), "1", "In which column instants are.");
/// Units of times in a file.
pub(crate) const FILE_TIME_UNIT: Kind = Kind::Choice(&["s", "ms", "us", "ns", "ps", "min"]);
pub(crate) const TIME_UNIT_KEY: Key =
    key("time_unit", FILE_TIME_UNIT, "\"s\"", "Unit of the instants in the file.");
pub(crate) const START_KEY: Key = key("start", TIME, "\"0 ms\"", "The first instant with data.");
pub(crate) const END_KEY: Key = key("end", TIME, "never", "No data from this instant on.");
pub(crate) const PERIOD: Kind = Kind::Or(&[SPAN, Kind::Table(&DRAWN)]);

/// Lengths of on and off periods that are drawn.
pub(crate) const DRAWN: Shape = Shape {
    name: "drawn_period",
    about: "A time that is drawn for each period: exponentially or Pareto distributed.",
    keys: &[
        key("exponential", SPAN, "required: this or pareto", "The mean of an exponential distribution."),
        key("pareto", SPAN, "required: this or exponential", "The mean of a Pareto distribution."),
        key(
            "alpha",
            Kind::Ratio(Range::above(1.0, 100.0)),
            "1.4",
            "Shape of the Pareto distribution; below 2 its variance is infinite, and many such sources together are long-range dependent with H = (3 - alpha)/2.",
        ),
    ],
};

pub(crate) const EXPONENTIAL: Shape = Shape {
    name: "exponential",
    about: "An exponentially distributed time.",
    keys: &[required("exponential", SPAN, "The mean.")],
};

/// How IP packets are carried, with this default.
pub(crate) const fn encapsulation(default: &'static str) -> Key {
    key(
        "encapsulation",
        Encapsulation::KIND,
        default,
        "How IP packets become AAL5 SDUs: with the 8 octets of LLC/SNAP, or bare.",
    )
}
