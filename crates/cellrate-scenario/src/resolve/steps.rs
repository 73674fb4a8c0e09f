//! Steps that a course in time is made of.

use cellrate_proto::{Duration, Time};

use crate::model::InFlight;
use crate::text::course::MOST_STEPS;
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};

/// Delays, and what becomes of what is on the line at the instant of each.
pub(super) type Delays = Vec<(Time, (Duration, InFlight))>;

/// Whether there are not too many steps.
pub(super) fn check_number(node: &Node, table: &Table, end: Time, step: Duration) -> Result<(), Fault> {
    if end.as_ps() / step.as_ps().max(1) <= MOST_STEPS as u64 {
        return Ok(());
    }
    let place = table.node("step").map_or(node.place, |step| step.place);
    let message = format!("the run has more than {MOST_STEPS} steps of {step}");
    Err(Fault::new(place, message, "Write a longer step, or a shorter duration"))
}
