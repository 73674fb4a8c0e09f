//! ABR sources that break rules.

use std::sync::Arc;

use cellrate_proto::misbehaviour::Misbehaviour;

use crate::format::Misbehaves;
use crate::model::Sender;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::tree::Node;
use crate::text::written::Written;

/// `sender`, with the rules that it breaks by its checked table.
pub(super) fn build(node: Option<&Node>, sender: Sender) -> Result<Sender, Fault> {
    let Some(node) = node.filter(|node| node.table().is_some()) else { return Ok(sender) };
    let Sender::Abr(mut abr) = sender else {
        let message = "misbehaves needs a connection of category \"abr\"";
        return Err(Fault::new(node.place, message, "Leave it out; send more than PCR by the traffic"));
    };
    let values = Written::of(node);
    let Misbehaves { ignores, rate_factor, tcr_factor } = Misbehaves::read(&values)?;
    let ignores = |word: &str| ignores.iter().any(|one| one == word);
    let (ignores_er, ignores_ci) = (ignores("er"), ignores("ci"));
    let misbehaviour = Misbehaviour { ignores_er, ignores_ci, rate_factor, tcr_factor };
    check::configuration(misbehaviour.check(), |name| values.node(name), node.place)?;
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
