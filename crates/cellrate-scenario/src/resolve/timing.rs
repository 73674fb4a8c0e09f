//! Times that several kinds of traffic have.

use cellrate_proto::Time;

use super::{instant, optional};
use crate::model::Period;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::tree::{Node, Table};

pub(crate) fn start_and_end(table: &Table) -> Result<(Time, Time), Fault> {
    let start = optional(table, "start", instant)?.unwrap_or(Time::ZERO);
    let end = optional(table, "end", instant)?.unwrap_or(Time::NEVER);
    match table.node("end") {
        Some(node) if end <= start => {
            let message = format!("the end, {end}, is not after the start, {start}");
            Err(Fault::new(node.place, message, "Write a later end"))
        }
        _ => Ok((start, end)),
    }
}

pub(crate) fn period(node: &Node) -> Result<Period, Fault> {
    match node.table().and_then(|table| table.node("exponential")) {
        Some(mean) => quantity::span(mean).map(Period::Exponential),
        None => quantity::span(node).map(Period::Fixed),
    }
}
