//! Spans in which destinations are congested.

use std::sync::Arc;

use cellrate_proto::destination::{CongestedSpan, DestinationCongestion};

use crate::model::{Connection, Sender};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::reading::{instant, optional};
use crate::text::tree::{Node, Table};

/// The spans of a checked list.
pub(super) fn read(node: &Node) -> Result<Arc<[CongestedSpan]>, Fault> {
    let mut spans: Vec<CongestedSpan> = Vec::new();
    for node in check::list(node)? {
        let span = span(node)?;
        if let Some(before) = spans.last().filter(|before| span.start < before.end) {
            let message = format!(
                "the congestion begins at {}, and the one before it ends at {}",
                span.start, before.end
            );
            return Err(Fault::new(node.place, message, "Write spans in order and apart"));
        }
        spans.push(span);
    }
    Ok(spans.into())
}

fn span(node: &Node) -> Result<CongestedSpan, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let Some(during) = table.node("during") else {
        return Err(check::missing(node.place, "during", "the span, [start, end]"));
    };
    let [start, end] = check::pair(during)?;
    let (start, end) = (instant(start)?, instant(end)?);
    if end <= start {
        let message = format!("the congestion from {start} to {end} ends before it has begun");
        return Err(Fault::new(during.place, message, "Write [start, end], the end after the start"));
    }
    let explicit_rate = optional(table, "er", quantity::cell_rate)?;
    let no_increase = optional(table, "ni", check::boolean)?.unwrap_or(false);
    let alone = !no_increase && explicit_rate.is_none();
    let congestion_indication = optional(table, "ci", check::boolean)?.unwrap_or(alone);
    if alone && !congestion_indication {
        let message = "the span says nothing in its BRMs: ci is false, and there is neither ni nor er";
        return Err(Fault::new(node.place, message, "Write ci = true, ni = true or an er"));
    }
    let originates = optional(table, "originates", check::boolean)?.unwrap_or(false);
    if originates && !congestion_indication && !no_increase {
        let message = "originates needs ci or ni: a BRM of its own has to say one of them";
        return Err(Fault::new(node.place, message, "Write ci = true or ni = true, or leave originates out"));
    }
    let congestion = DestinationCongestion { congestion_indication, no_increase, explicit_rate };
    Ok(CongestedSpan { start, end, congestion, originates })
}

/// Refuses destinations that originate BRMs where `connection` carries flows or calls, which are not always there.
pub(super) fn refuse_originating(connection: &Connection, place: Place) -> Result<(), Fault> {
    let originates = |sender: &Sender| match sender {
        Sender::Abr(abr) => abr.congested.iter().any(|span| span.originates),
        Sender::Peak(_) => false,
    };
    if originates(&connection.forward.sender) || originates(&connection.backward.sender) {
        let message =
            "congested.originates needs a connection that is there all the time, and flows come and go";
        return Err(Fault::new(place, message, "Leave originates out, or write a vc"));
    }
    Ok(())
}
