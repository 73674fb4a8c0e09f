//! The algorithm of an output port: a built-in one, which says itself how its keys are read, or one that a run is
//! given.

use std::sync::Arc;

use cellrate_proto::Duration;
use cellrate_proto::switch::SwitchAlgorithmConfig;

use crate::format::{DEMAND_QUANTITIES, FLOW_QUANTITIES, PORT_QUANTITIES};
use crate::model::CustomAlgorithm;
use crate::plugin::parameters;
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::{Node, Table};
use crate::text::written::Written;

/// The built-in algorithm that a checked table describes; none for "none" and "custom".
pub(super) fn built_in(table: &Table) -> Result<SwitchAlgorithmConfig, Fault> {
    let place = table.node("type").map(|node| node.place).unwrap_or_default();
    let name = table.text("type").unwrap_or_default();
    let read = SwitchAlgorithmConfig::read(name, &Written::new(table, place));
    let config = read.unwrap_or(Ok(SwitchAlgorithmConfig::None))?;
    check::configuration(config.check(), |name| table.node(name), place)?;
    Ok(config)
}

/// A probe has an octet for the place of a figure.
const MOST_FIGURES: usize = 255;

/// An algorithm that is not built in, if that is what the table asks for.
pub(super) fn custom(table: &Table) -> Result<Option<Arc<CustomAlgorithm>>, Fault> {
    if table.text("type") != Some("custom") {
        return Ok(None);
    }
    let mut figures: Vec<String> = Vec::new();
    for node in table.node("figures").map(check::list).transpose()?.unwrap_or_default() {
        let name = check::text(node)?;
        if let Some(owner) = owner(name) {
            let message = format!("{name} is recorded of every {owner}");
            return Err(Fault::new(node.place, message, "Give the figure another name"));
        }
        if figures.iter().any(|figure| figure == name) {
            return Err(Fault::new(node.place, format!("{name} is there twice"), "Name each figure once"));
        }
        figures.push(name.to_string());
        if figures.len() > MOST_FIGURES {
            let message = format!("there are more than {MOST_FIGURES} figures");
            return Err(Fault::new(node.place, message, "Name fewer"));
        }
    }
    Ok(Some(Arc::new(CustomAlgorithm {
        name: table.text("name").unwrap_or_default().to_string(),
        figures,
        parameters: parameters(table)?,
    })))
}

/// Whoever has a quantity of this name whatever the algorithm.
fn owner(quantity: &str) -> Option<&'static str> {
    let owners =
        [(FLOW_QUANTITIES, "connection"), (PORT_QUANTITIES, "port"), (DEMAND_QUANTITIES, "entry of flows")];
    owners.iter().find(|(names, _)| names.contains(&quantity)).map(|&(_, owner)| owner)
}

/// The interval of a port's algorithm, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Interval {
    given: Duration,
    place: Place,
}

impl Interval {
    /// The one that the keys of a port say, if they do.
    pub fn read(table: &Table) -> Result<Option<Interval>, Fault> {
        let algorithm = table.node("algorithm").and_then(Node::table);
        let read = |node: &Node| Ok(Interval { given: quantity::span(node)?, place: node.place });
        algorithm.map_or(Ok(None), |algorithm| optional(algorithm, "interval", read))
    }

    /// Whether a port whose line takes `cell_time` for a cell can be run with it: intervals that end more often than
    /// cells come, and than every microsecond, cost the run more than the cells do.
    ///
    /// # Errors
    /// The interval is too short, with the least that there may be.
    pub fn check(self, cell_time: Duration, port: impl FnOnce() -> String) -> Result<(), Fault> {
        let least = least_interval(cell_time);
        if self.given >= least {
            return Ok(());
        }
        let (given, port) = (self.given, port());
        let message =
            format!("the interval is {given}, and a cell takes {cell_time} on the line of port {port}");
        Err(Fault::new(self.place, message, format!("It must be at least {least}")))
    }
}

/// Least averaging interval of an algorithm, built in or of one's own, at a port whose line takes `cell_time` for a
/// cell: a microsecond, or a cell's time where that is shorter.
pub fn least_interval(cell_time: Duration) -> Duration {
    cell_time.min(Duration::from_us(1))
}
