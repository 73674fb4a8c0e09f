//! Processes by which flows or calls arrive.

mod list;
mod mmpp;
mod pareto;
mod poisson;
mod trace;

use super::{Arrivals, Choice, PairOf};
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};

/// Reads a process from its table; a trace names pairs of hosts itself.
type Read = fn(&Node, &Table, &mut PairOf<'_>) -> Result<Arrivals, Fault>;

type Process = Choice<Read>;

/// All of them, in the order of the reference.
pub(super) const PROCESSES: &[Process] =
    &[poisson::PROCESS, mmpp::PROCESS, pareto::PROCESS, list::PROCESS, trace::PROCESS];

const GAP: &str = "Mean time from one to the next.";
