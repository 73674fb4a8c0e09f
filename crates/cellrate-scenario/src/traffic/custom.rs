//! Traffic that is not built in.

use std::sync::Arc;

use cellrate_proto::declaration::Shape;
use cellrate_proto::{CellRate, Duration};

use super::TrafficKind;
use super::kinds::Declared;
use crate::plugin::{Custom, NAME_KEY, PARAMETERS_KEY};
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};

impl Declared for Arc<Custom> {
    const SHAPE: Shape = Shape {
        name: "custom",
        about: "Traffic that is not built in and is given to the run by its name (docs/guides/sources.md).",
        keys: &[NAME_KEY, PARAMETERS_KEY],
    };

    fn read(_node: &Node, table: &Table, _peak: CellRate) -> Result<Arc<Custom>, Fault> {
        Custom::of(table)
    }
}

/// A program says itself when it begins, and how fast it sends.
impl TrafficKind for Arc<Custom> {
    fn delay(&mut self, _phase: Duration) {}
}
