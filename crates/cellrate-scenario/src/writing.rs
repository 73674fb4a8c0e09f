//! Values that come from elsewhere than a scenario's text, as TOML.

use std::sync::Arc;

use crate::text::error::Place;
use crate::text::tree::{Entry, Node, Table, Value};

/// A value of TOML without a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// Text that is TOML already, such as a whole number beyond 64 bits.
    AsIs(String),
    /// A list.
    List(Vec<Written>),
    /// A table: its keys with their values, in their order.
    Table(Vec<(String, Written)>),
}

/// A value on one line.
///
/// # Examples
/// ```
/// use cellrate_scenario::writing::{Written, value_to_toml};
///
/// let table = Written::Table(vec![("rate".into(), Written::Text("10 Mbps".into()))]);
/// assert_eq!(value_to_toml(&table), r#"{ rate = "10 Mbps" }"#);
/// ```
pub fn value_to_toml(value: &Written) -> String {
    node(value).to_toml()
}

/// A document, with sections for its tables and entries for its lists of tables, as [`Document::to_toml`] writes one.
///
/// [`Document::to_toml`]: crate::Document::to_toml
pub fn to_toml(pairs: &[(String, Written)]) -> String {
    table(pairs).to_toml()
}

fn node(value: &Written) -> Node {
    let value = match value {
        Written::Text(text) => Value::from(&**text),
        Written::Integer(number) => Value::Integer(*number),
        Written::Float(number) => Value::Float(*number),
        Written::Boolean(flag) => Value::Boolean(*flag),
        Written::AsIs(text) => Value::Date(text.clone()),
        Written::List(items) => Value::from(items.iter().map(node).collect::<Vec<_>>()),
        Written::Table(pairs) => Value::from(table(pairs)),
    };
    Node { place: Place::default(), value }
}

fn table(pairs: &[(String, Written)]) -> Table {
    let entry = |(key, value): &(String, Written)| Entry {
        key: Arc::from(&**key),
        place: Place::default(),
        node: node(value),
    };
    Table { entries: pairs.iter().map(entry).collect() }
}
