//! Clocks that are not exactly alike.

use cellrate_proto::Duration;

use crate::model::{LinkIndex, NodeIndex};
use crate::values::ClockOffset;

/// The clock of a host or a link, as it was resolved. Rates of links and senders and starts of traffic have it in them
/// already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Whose.
    pub owner: ClockOwner,
    /// By how much it is fast.
    pub offset: ClockOffset,
    /// How much later than written everything is that the host has to send; none for a link.
    pub phase: Duration,
}

/// Whose clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockOwner {
    /// A host's: its links run by it where they have none of their own.
    Host(NodeIndex),
    /// A link's own.
    Link(LinkIndex),
}
