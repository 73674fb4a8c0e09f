//! Programs on the hosts of a live run, as data.

use cellrate_proto::Time;

use crate::model::NodeIndex;
use crate::programs::ApplicationKind;

/// A program, or the two ends of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// Unique among applications.
    pub name: String,
    /// Program that runs.
    pub kind: ApplicationKind,
    /// Where data comes from.
    pub host: NodeIndex,
    /// Where it goes to; none for some commands.
    pub peer: Option<NodeIndex>,
    /// When it begins.
    pub start: Time,
    /// When it is stopped, if it still runs: the end of the run at the latest.
    pub end: Time,
}
