//! The clock of a host or link as its entry describes it.

use cellrate_proto::Duration;

use crate::model::{ClockOffset, Processing};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::{Node, Table};
/// Clock as an entry describes it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnClock {
    pub offset: Option<Offset>,
    pub phase: Option<Phase>,
    pub processing: Option<Processing>,
}

/// Offset of a clock as it is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offset {
    Given(ClockOffset),
    /// Drawn, at most so much either way.
    Within(ClockOffset),
}

/// Phase of a host's first cell as it is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    Given(Duration),
    Random,
}

/// The offset that clocks of equipment have (SDH: 4.6 ppm for a network element that runs free, 20 ppm for customer
/// equipment; ITU-T G.813 and I.432).
pub(super) const INDEPENDENT: ClockOffset = ClockOffset::from_ppb(20_000);

impl OwnClock {
    /// The clock that a host's or link's entry asks for.
    pub fn read(table: &Table) -> Result<OwnClock, Fault> {
        let offset = |node: &Node| match node.table().and_then(|table| table.node("within")) {
            Some(within) => {
                let bound = quantity::clock_offset(within)?;
                if bound < ClockOffset::default() {
                    let message = format!("{} is below 0", within.plain());
                    return Err(Fault::new(
                        within.place,
                        message,
                        "Write how far it may be off to either side",
                    ));
                }
                Ok(Offset::Within(bound))
            }
            None => quantity::clock_offset(node).map(Offset::Given),
        };
        let phase = |node: &Node| match node.text() {
            Some("random") => Ok(Phase::Random),
            _ => quantity::time(node).map(Phase::Given),
        };
        Ok(OwnClock {
            offset: optional(table, "clock_offset", offset)?,
            phase: optional(table, "phase", phase)?,
            processing: optional(table, "processing", processing)?,
        })
    }
}

/// The processing time of a host as its key gives it.
fn processing(node: &Node) -> Result<Processing, Fault> {
    let table = node.table();
    if let Some(bounds) = table.and_then(|table| table.node("uniform")) {
        let [shortest, longest] = check::pair(bounds)?;
        let (from, to) = (quantity::time(shortest)?, quantity::time(longest)?);
        if to < from {
            let message = format!("{} is below {}", longest.plain(), shortest.plain());
            return Err(Fault::new(longest.place, message, "Write the shortest and the longest"));
        }
        return Ok(Processing::Uniform(from, to));
    }
    if let Some(mean) = table.and_then(|table| table.node("exponential")) {
        return quantity::span(mean).map(Processing::Exponential);
    }
    let fixed = quantity::time(node)?;
    Ok(if fixed == Duration::ZERO { Processing::None } else { Processing::Fixed(fixed) })
}
