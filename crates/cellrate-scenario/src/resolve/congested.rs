//! Spans in which destinations are congested.

use std::sync::Arc;

use cellrate_proto::destination::{CongestedSpan, DestinationCongestion};

use crate::format::Congested;
use crate::model::{Connection, Sender};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::reading::instant;
use crate::text::tree::Node;
use crate::text::written::FromNode;

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
    let Congested { during, ci, ni: no_increase, er: explicit_rate, originates } =
        Congested::from_node(node)?;
    let [start, end] = check::pair(&during)?;
    let (start, end) = (instant(start)?, instant(end)?);
    if end <= start {
        let message = format!("the congestion from {start} to {end} ends before it has begun");
        return Err(Fault::new(during.place, message, "Write [start, end], the end after the start"));
    }
    let alone = !no_increase && explicit_rate.is_none();
    let congestion_indication = ci.unwrap_or(alone);
    if alone && !congestion_indication {
        let message = "the span says nothing in its BRMs: ci is false, and there is neither ni nor er";
        return Err(Fault::new(node.place, message, "Write ci = true, ni = true or an er"));
    }
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
