//! Ports where control loops are segmented: how they are coupled.

use cellrate_proto::Duration;

use crate::model::VsVd;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::tree::Table;
use crate::text::written::Written;

/// How loops are coupled at the port that this table describes; `None` if they are not segmented there.
pub(super) fn read(described: &Table) -> Result<Option<VsVd>, Fault> {
    let Some(node) = described.node("vs_vd").filter(|node| node.table().is_some()) else { return Ok(None) };
    let values = Written::of(node);
    let vs_vd = VsVd::read(&values)?;
    let coupling = vs_vd.coupling(Duration::ZERO);
    check::configuration(coupling.check(), |name| values.node(name), node.place)?;
    Ok(Some(vs_vd))
}
