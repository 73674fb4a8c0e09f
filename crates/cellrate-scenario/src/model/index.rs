//! What names the things of a resolved scenario: their places in its lists.

/// Index into [`Scenario::nodes`](crate::Scenario::nodes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeIndex(pub u32);

/// Index into [`Scenario::links`](crate::Scenario::links).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkIndex(pub u32);

/// Index into [`Scenario::connections`](crate::Scenario::connections).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionIndex(pub u32);
