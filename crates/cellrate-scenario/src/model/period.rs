//! How long something lasts that happens again and again.

use cellrate_proto::Duration;

/// The length of an on or an off period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Period {
    /// Always the same.
    Fixed(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

impl Period {
    /// Its length, or the mean of it.
    pub const fn mean(&self) -> Duration {
        match *self {
            Period::Fixed(span) | Period::Exponential(span) => span,
        }
    }
}
