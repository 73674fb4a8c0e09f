//! Where the cells of a connection are held to its contract.

use cellrate_proto::policing::usage::UsageConfig;

/// A policer of one direction of a connection, where a link of its path leads to a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policing {
    /// Whether it polices the direction from the last host to the first.
    pub backward: bool,
    /// The hop of that direction, counted from 0, at whose far end its cells are policed.
    pub hop: usize,
    /// The conformance definition, and what becomes of cells that do not conform.
    pub usage: UsageConfig,
}
