//! OAM loopback cells that an end of a connection sends.

use cellrate_proto::{Duration, Time};

use super::{Connection, NodeIndex, Scenario};

/// Most loopbacks of one connection: correlation tags number them with four bits.
pub const MOST_LOOPBACKS: usize = 16;

/// F5 loopback requests that one end of a connection sends at a period, and where they are answered (I.610).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loopback {
    /// Whether the last host of the path sends them.
    pub backward: bool,
    /// The period.
    pub every: Duration,
    /// When the first one leaves.
    pub start: Time,
    /// The hop of that direction, counted from 0, at whose far end a switch answers them, along a segment; `None`: the
    /// other end does, from end to end.
    pub hop: Option<usize>,
}

impl Loopback {
    /// The node that answers.
    pub fn answering(&self, scenario: &Scenario, connection: &Connection) -> NodeIndex {
        let last = connection.path.len() - 1;
        scenario.head(connection.step(self.backward, self.hop.unwrap_or(last)))
    }
}
