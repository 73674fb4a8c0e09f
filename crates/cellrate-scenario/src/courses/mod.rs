//! Courses that a link's rate and delay follow in time: tables, traces, orbits.
//!
//! A course is a file beside this one: its keys, how they are read, how a file that it names is read, and its steps.
//! In the lists below its `type` is chosen.

mod leo;
mod mahimahi;
mod table;

use cellrate_proto::declaration::Tagged;
use cellrate_proto::{BitRate, Duration, Time};

use crate::model::InFlight;
use crate::text::error::{Fault, Place};
use crate::text::files::Folders;
use crate::text::tree::{Node, Table, Value};
use crate::text::{check, quantity};

pub(crate) const RATE_COURSE: Tagged =
    Tagged { name: "rate", default: None, variants: &[("csv", table::RATE), ("mahimahi", mahimahi::SHAPE)] };

pub(crate) const DELAY_COURSE: Tagged =
    Tagged { name: "delay", default: None, variants: &[("csv", table::DELAY), ("leo", leo::SHAPE)] };

/// Most steps of a link's rate or delay.
pub(crate) const MOST_STEPS: usize = 1_000_000;

/// Delays, and the fate of cells on the line at the instant of each.
pub(crate) type Delays = Vec<(Time, (Duration, InFlight))>;

/// The rate of a link: from each instant on, the first at 0.
pub(crate) fn rate(node: &Node, end: Time) -> Result<Vec<(Time, BitRate)>, Fault> {
    let Some(table) = node.table() else { return Ok(vec![(Time::ZERO, quantity::line_rate(node)?)]) };
    match table.text("type") {
        Some("mahimahi") => mahimahi::rates(node, table, end),
        _ => table::steps(node, table, quantity::line_rate_or_none),
    }
}

/// Its delay, and the fate of cells on the line then.
pub(crate) fn delay(node: &Node, end: Time) -> Result<Delays, Fault> {
    let kept = |delay| (delay, InFlight::Kept);
    let Some(table) = node.table() else { return Ok(vec![(Time::ZERO, kept(quantity::time(node)?))]) };
    match table.text("type") {
        Some("leo") => leo::delays(node, table, end),
        _ => table::steps(node, table, |node| quantity::time(node).map(kept)),
    }
}

/// Reads the file that `table` names. Says whether it is of a kind that is known here.
pub(crate) fn read_file(table: &mut Table, folders: &Folders<'_>) -> Result<bool, Fault> {
    let read: FromFile = match table.text("type") {
        Some("csv") => table::of_file,
        Some("mahimahi") => mahimahi::of_file,
        _ => return Ok(false),
    };
    let Some(entry) = table.remove("file") else { return Ok(false) };
    let (file, place) = (check::text(&entry.node)?, entry.node.place);
    let (key, value) = read(table, file, folders, place)?;
    table.set(key, entry.place, Node { place, value });
    Ok(true)
}

/// Reads a course from the file that a table named at a place, as its keys say. Gives the key that takes its place, and
/// the value of that.
type FromFile = fn(&Table, &str, &Folders<'_>, Place) -> Result<(&'static str, Value), Fault>;

/// Whether there are not too many steps.
fn check_number(node: &Node, table: &Table, end: Time, step: Duration) -> Result<(), Fault> {
    if end.as_ps() / step.as_ps().max(1) <= MOST_STEPS as u64 {
        return Ok(());
    }
    let place = table.node("step").map_or(node.place, |step| step.place);
    let message = format!("the run has more than {MOST_STEPS} steps of {step}");
    Err(Fault::new(place, message, "Write a longer step, or a shorter duration"))
}
