//! Keys of times that several kinds of traffic have.

use cellrate_proto::declaration::{Key, Kind, Shape, key, required};

use super::kinds::{SPAN, TIME};

pub(crate) const START_KEY: Key = key("start", TIME, "\"0 ms\"", "The first instant with data.");
pub(crate) const END_KEY: Key = key("end", TIME, "never", "No data from this instant on.");
pub(crate) const PERIOD: Kind = Kind::Or(&[SPAN, Kind::Table(&EXPONENTIAL)]);

pub(super) const EXPONENTIAL: Shape = Shape {
    name: "exponential",
    about: "An exponentially distributed time.",
    keys: &[required("exponential", SPAN, "The mean.")],
};
