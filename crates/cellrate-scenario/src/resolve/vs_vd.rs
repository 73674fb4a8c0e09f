//! Ports where control loops are segmented: how they are coupled.

use cellrate_proto::Duration;

use crate::model::VsVd;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::Table;

/// How loops are coupled at the port that this table describes; `None` if they are not segmented there.
pub(super) fn read(described: &Table) -> Result<Option<VsVd>, Fault> {
    let Some((node, table)) = described.node("vs_vd").and_then(|node| Some((node, node.table()?))) else {
        return Ok(None);
    };
    let ratio =
        |key: &str, default: f64| optional(table, key, quantity::ratio).map(|given| given.unwrap_or(default));
    let default = VsVd::default();
    let vs_vd = VsVd {
        t0: optional(table, "t0", quantity::span)?,
        a: ratio("a", default.a)?,
        b: ratio("b", default.b)?,
        qdlf: ratio("qdlf", default.qdlf)?,
        buffer: optional(table, "buffer", quantity::room)?.flatten(),
    };
    let coupling = vs_vd.coupling(Duration::ZERO);
    check::configuration(coupling.check(), |name| table.node(name), node.place)?;
    Ok(Some(vs_vd))
}
