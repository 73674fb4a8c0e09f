//! Values as they are written in a scenario, for what declares its keys itself: switch algorithms and policies.

use cellrate_proto::declaration::Values;
use cellrate_proto::parameters::{ParameterError, PowerOfTwo};
use cellrate_proto::{CellRate, Cells, Duration};

use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::Table;

/// The values of a checked table, as declarations ask for them.
pub(super) struct Written<'a> {
    table: &'a Table,
    /// The key that the table is the value of, by which parameters of it begin; empty for the outermost.
    key: &'a str,
    place: Place,
}

impl<'a> Written<'a> {
    /// The values of `table`, which stands at `place`.
    pub fn new(table: &'a Table, place: Place) -> Written<'a> {
        Written { table, key: "", place }
    }

    fn place_of(&self, key: &str) -> Place {
        self.table.node(key).map_or(self.place, |node| node.place)
    }
}

impl Values for Written<'_> {
    type Error = Fault;

    fn ratio(&self, key: &str) -> Result<Option<f64>, Fault> {
        optional(self.table, key, quantity::ratio)
    }

    fn span(&self, key: &str) -> Result<Option<Duration>, Fault> {
        optional(self.table, key, quantity::span)
    }

    fn time(&self, key: &str) -> Result<Option<Duration>, Fault> {
        optional(self.table, key, quantity::time)
    }

    fn cells(&self, key: &str) -> Result<Option<Cells>, Fault> {
        optional(self.table, key, quantity::cells)
    }

    fn rate(&self, key: &str) -> Result<Option<CellRate>, Fault> {
        optional(self.table, key, quantity::cell_rate)
    }

    fn count(&self, key: &str) -> Result<Option<u32>, Fault> {
        let count = optional(self.table, key, |node| check::integer(node, 1, i64::from(u32::MAX)))?;
        Ok(count.map(|count| count as u32))
    }

    fn power_of_two(&self, key: &str) -> Result<Option<PowerOfTwo>, Fault> {
        optional(self.table, key, check::power_of_two)
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, Fault> {
        optional(self.table, key, check::boolean)
    }

    fn word(&self, key: &str) -> Result<Option<&str>, Fault> {
        self.table.node(key).map(check::text).transpose()
    }

    fn table(&self, key: &str) -> Option<Self> {
        let node = self.table.node(key)?;
        // The name of the key outlives the call because the table's own does.
        let key = self.table.entries.iter().find(|entry| &*entry.key == key)?.key.as_ref();
        Some(Written { table: node.table()?, key, place: node.place })
    }

    fn missing(&self, name: &str, about: &str, beside: &str) -> Fault {
        check::missing(self.place_of(beside), name, about)
    }

    fn refused(&self, key: &str, message: String, remedy: String) -> Fault {
        Fault::new(self.place_of(key), message, remedy)
    }

    fn out_of_range(&self, error: ParameterError) -> Fault {
        let own = |name: &str| {
            let own = name.strip_prefix(self.key).and_then(|name| name.strip_prefix('_'));
            self.table.node(own.unwrap_or(name))
        };
        let refused: Result<(), Fault> = check::configuration(Err(error), own, self.place);
        refused.expect_err("it is refused")
    }
}
