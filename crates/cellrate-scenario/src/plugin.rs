//! Plugins that a scenario names and a run is given: switch algorithms, use-it-or-lose-it policies and traffic that are
//! not built in.

use std::sync::Arc;

use cellrate_proto::declaration::{Key, Kind, key, required};

use crate::text::error::Fault;
use crate::text::tree::{Node, Table, Value};

/// By which name a run is given it.
pub(crate) const NAME_KEY: Key = required("name", Kind::Name, "The name by which it is given to the run.");

/// Parameters that are handed to the plugin.
pub(crate) const PARAMETERS_KEY: Key = key(
    "parameters",
    Kind::Map(&Kind::Any),
    "none",
    "Its parameters, by name: numbers, texts, true or false.",
);

/// The algorithm of a port that is not built in: its name, and what it is handed.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomAlgorithm {
    /// The name by which a run is given it.
    pub name: String,
    /// Names of the figures that it offers to probes, in the order of
    /// [`metrics`](cellrate_proto::switch::SwitchAlgorithm::metrics).
    pub figures: Vec<String>,
    /// Parameters by name, in the order of the scenario.
    pub parameters: Vec<(String, CustomParameter)>,
}

/// A policy of a source, or traffic, that is not built in: its name, and what it is handed.
#[derive(Clone, Debug, PartialEq)]
pub struct Custom {
    /// The name by which a run is given it.
    pub name: String,
    /// Parameters by name, in the order of the scenario.
    pub parameters: Vec<(String, CustomParameter)>,
}

impl Custom {
    /// The plugin that a checked table asks for; `None` where it asks for something built in.
    pub(crate) fn read(table: &Table) -> Result<Option<Arc<Custom>>, Fault> {
        (table.text("type") == Some("custom")).then(|| Custom::of(table)).transpose()
    }

    /// The plugin that a checked table of type "custom" asks for.
    pub(crate) fn of(table: &Table) -> Result<Arc<Custom>, Fault> {
        let name = table.text("name").unwrap_or_default().to_string();
        Ok(Arc::new(Custom { name, parameters: parameters(table)? }))
    }
}

/// Parameters that a checked table hands to a plugin, by name.
pub(crate) fn parameters(table: &Table) -> Result<Vec<(String, CustomParameter)>, Fault> {
    let entries = table.node("parameters").and_then(Node::table).map_or(&[][..], |table| &table.entries);
    entries.iter().map(|entry| parameter(&entry.node).map(|value| (entry.key.to_string(), value))).collect()
}

fn parameter(node: &Node) -> Result<CustomParameter, Fault> {
    Ok(match &node.value {
        Value::Boolean(flag) => CustomParameter::Boolean(*flag),
        Value::Integer(number) => CustomParameter::Integer(*number),
        Value::Float(number) => CustomParameter::Number(*number),
        Value::Text(text) => CustomParameter::Text(text.to_string()),
        Value::Date(_) | Value::List(_) | Value::Numbers(_) | Value::Table(_) => {
            let message = format!("a parameter cannot be {}", node.kind());
            return Err(Fault::new(node.place, message, "Write a number, a string, true or false"));
        }
    })
}

/// The value of a parameter; what it means is the affair of who is handed it.
#[derive(Clone, Debug, PartialEq)]
pub enum CustomParameter {
    /// true or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text; a unit in it is no more than text.
    Text(String),
}
