//! Kinds of values that many keys have.

use cellrate_proto::declaration::{Dimension, Kind, Range};

pub(crate) const TIME: Kind = Kind::Quantity(Dimension::Time);
pub(crate) const SPAN: Kind = Kind::Positive(Dimension::Time);
pub(crate) const RATE: Kind = Kind::Quantity(Dimension::Rate);
pub(crate) const POSITIVE_RATE: Kind = Kind::Positive(Dimension::Rate);
pub(crate) const CELLS: Kind = Kind::Quantity(Dimension::Cells);
/// That it is a power of two is left to the core.
pub(crate) const NRM: Kind = Kind::Integer(2, 256);
pub(crate) const ROOM: Kind = Kind::Or(&[CELLS, Kind::Choice(&["infinite"])]);
pub(crate) const FRACTION: Kind = Kind::Ratio(Range::closed(0.0, 1.0));
pub(crate) const SHARE: Kind = Kind::Ratio(Range::above(0.0, 1.0));
