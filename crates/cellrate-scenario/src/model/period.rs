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
