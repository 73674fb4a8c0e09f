//! Traffic as a checked table describes it.

use cellrate_proto::CellRate;

use crate::model::Traffic;
use crate::text::error::Fault;
use crate::text::tree::Node;

/// The traffic that a checked table describes, of a sender with this peak rate; `None` for none.
pub(super) fn read(node: &Node, peak: CellRate) -> Result<Option<Traffic>, Fault> {
    let Some(table) = node.table() else { return Ok(None) };
    Traffic::declared(table.text("type").unwrap_or("greedy"), node, table, peak).transpose()
}
