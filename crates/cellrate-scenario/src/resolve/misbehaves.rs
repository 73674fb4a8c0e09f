//! ABR sources that break rules.

use std::sync::Arc;

use cellrate_proto::misbehaviour::Misbehaviour;

use crate::model::Sender;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::Node;

/// `sender`, with the rules that it breaks by its checked table.
pub(super) fn build(node: Option<&Node>, sender: Sender) -> Result<Sender, Fault> {
    let Some((node, table)) = node.and_then(|node| Some((node, node.table()?))) else { return Ok(sender) };
    let Sender::Abr(mut abr) = sender else {
        let message = "misbehaves needs a connection of category \"abr\"";
        return Err(Fault::new(node.place, message, "Leave it out; send more than PCR by the traffic"));
    };
    let ignored = table.node("ignores").map(check::list).transpose()?.unwrap_or_default();
    let ignores = |word: &str| ignored.iter().any(|node| node.text() == Some(word));
    let misbehaviour = Misbehaviour {
        ignores_er: ignores("er"),
        ignores_ci: ignores("ci"),
        rate_factor: optional(table, "rate_factor", quantity::ratio)?.unwrap_or(1.0),
        tcr_factor: optional(table, "tcr_factor", quantity::ratio)?.unwrap_or(1.0),
    };
    check::configuration(misbehaviour.check(), |name| table.node(name), node.place)?;
    if misbehaviour == Misbehaviour::default() {
        let message = "misbehaves names no rule that the source breaks";
        return Err(Fault::new(
            node.place,
            message,
            "Write ignores = [\"er\"], or a rate_factor, or \"off\"",
        ));
    }
    Arc::make_mut(&mut abr).misbehaviour = misbehaviour;
    Ok(Sender::Abr(abr))
}
