//! OAM loopback cells that an end of a connection sends.

use cellrate_proto::declaration::{Kind, Table};
use cellrate_proto::{Duration, Time};

use super::{Connection, NodeIndex, Scenario};

/// Most loopbacks of one connection: correlation tags number them with four bits.
pub const MOST_LOOPBACKS: usize = 16;

/// OAM loopback requests that one end of a connection sends, and the node that answers them (I.610).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Table)]
#[table(name = "loopback", written)]
pub struct Loopback {
    /// The period.
    #[key(missing = "the period")]
    pub every: Duration,
    /// When the first one leaves.
    #[key(default = "0 s")]
    pub start: Time,
    /// The node that answers: a switch of the path (a segment loopback), or the host at the other end (end to end).
    ///
    /// It is at the far end of this hop of that direction, counted from 0; `None` is the other end.
    #[key(name = "at", default = "the other end", kind = Kind::Reference, elsewhere)]
    pub hop: Option<usize>,
    /// The last host of the path sends them, not the first.
    #[key(default = "false")]
    pub backward: bool,
}

impl Loopback {
    /// The node that answers.
    pub fn answering(&self, scenario: &Scenario, connection: &Connection) -> NodeIndex {
        let last = connection.path.len() - 1;
        scenario.head(connection.step(self.backward, self.hop.unwrap_or(last)))
    }
}
