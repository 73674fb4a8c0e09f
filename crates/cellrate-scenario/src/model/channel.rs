//! Connections that are virtual paths.

use super::{Connection, Traffic};
use crate::traffic::Channel;

impl Connection {
    /// The channels of a direction, if this is a virtual path; none where only the other direction has some.
    pub fn channels(&self, backward: bool) -> &[Channel] {
        match &self.flow(backward).traffic {
            Some(Traffic::Channels(channels)) => channels,
            _ => &[],
        }
    }

    /// Whether it is a virtual path, whose RM and OAM cells are those of a path (VCI 6, and 3 or 4).
    pub fn is_path(&self) -> bool {
        matches!(self.forward.traffic, Some(Traffic::Channels(_)))
    }
}
