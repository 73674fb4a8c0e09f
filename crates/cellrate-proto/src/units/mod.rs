//! Quantities as types: an instant is not a duration, a cell rate is not a bit rate, and the products between them are
//! written once, here, with their rounding named.

mod amount;
mod rate;
mod time;

pub use amount::{Cells, Octets};
pub use rate::{BITS_PER_CELL, BitRate, CellRate};
pub use time::{Duration, Time};
