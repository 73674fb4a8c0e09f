//! Use-it-or-lose-it policies of sources: a built-in one says itself how its keys are read.

use cellrate_proto::uili::UiliConfig;

use crate::text::check;
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};
use crate::text::written::Written;

/// The built-in policy that a checked table, or a word, describes; none for "none" and "custom".
pub(super) fn read(node: &Node) -> Result<UiliConfig, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let name = node.text().or(table.text("type")).unwrap_or_default();
    let read = UiliConfig::read(name, &Written::new(table, node.place));
    let config = read.unwrap_or(Ok(UiliConfig::None))?;
    check::configuration(config.check(), |name| table.node(name), node.place)?;
    Ok(config)
}
