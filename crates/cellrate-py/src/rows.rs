//! Rows of results as they are declared, and quantities and TOML as scenario files have them.

use cellrate_engine::declared::{self, Adds, Kind, Results, Shown, Unit};
use cellrate_proto::declaration::Dimension;
use cellrate_scenario::writing::{Written, to_toml as document_to_toml, value_to_toml};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::error::parameter_error;

/// A table of a result.
#[pyclass(frozen, get_all, module = "cellrate._native")]
pub struct Table {
    /// Its key in the summary.
    key: &'static str,
    /// Sentence of the reference.
    sentence: &'static str,
    /// Whether it is a list of rows.
    is_list: bool,
    /// Noun for one row.
    one: &'static str,
    /// Noun for several.
    many: &'static str,
    /// The name of a row, of its columns.
    named: &'static str,
    /// Columns and bounds: a row above one of them tells something.
    tells: Vec<(&'static str, u64)>,
    /// Its columns.
    columns: Vec<Py<Column>>,
}

/// A column of a table of results.
#[pyclass(frozen, get_all, module = "cellrate._native")]
pub struct Column {
    /// Its key.
    key: &'static str,
    /// "text", "flag", "integer", "number" or "texts".
    kind: &'static str,
    /// Whether a value may be null.
    nullable: bool,
    /// Whether it says of what the row is.
    is_name: bool,
    /// Unit in results: "cells", "bit/s", "0 to 1" ...; "-" without one.
    unit: &'static str,
    /// Name of the dimension that a value is written in; none for a mere number.
    dimension: Option<&'static str>,
    /// "sum", "largest", "least" or "mean"; none where rows make no figure.
    adds: Option<&'static str>,
    /// Column by which a mean is weighted.
    weight: Option<&'static str>,
    /// Heading in tables; empty where it is in none.
    heading: &'static str,
    /// "always", "any" (where some row has more than zero) or "never".
    shown: &'static str,
    /// Unit in tables and pictures, if it is not that of its unit.
    shown_in: Option<&'static str>,
    /// Decimals in tables, if they are not those of its unit.
    decimals: Option<u8>,
    /// Sentence of the reference.
    sentence: &'static str,
}

impl Column {
    fn of(column: &declared::Column) -> Column {
        let (adds, weight) = match column.adds {
            Adds::None => (None, None),
            Adds::Sum => (Some("sum"), None),
            Adds::Largest => (Some("largest"), None),
            Adds::Least => (Some("least"), None),
            Adds::Mean(weight) => (Some("mean"), weight),
        };
        Column {
            key: column.key,
            kind: match column.kind {
                Kind::Text => "text",
                Kind::Flag => "flag",
                Kind::Integer => "integer",
                Kind::Number => "number",
                Kind::Texts => "texts",
            },
            nullable: column.nullable,
            is_name: column.is_name || matches!(column.kind, Kind::Text | Kind::Flag | Kind::Texts),
            unit: column.unit.word(),
            dimension: match column.unit {
                Unit::Share => Some("share"),
                other => other.dimension().map(name_of),
            },
            adds,
            weight,
            heading: column.heading,
            shown: match column.shown {
                Shown::Always => "always",
                Shown::IfAny => "any",
                Shown::Never => "never",
            },
            shown_in: column.shown_in,
            decimals: column.decimals,
            sentence: column.sentence,
        }
    }
}

/// The tables of a simulation's result, or of a live run's.
#[pyfunction]
#[pyo3(signature = (live=false))]
pub fn tables(py: Python<'_>, live: bool) -> PyResult<Vec<Table>> {
    let found = if live { of_live_runs() } else { cellrate_sim::Summary::tables() };
    let table = |table: declared::Table| {
        let columns = table.columns.iter().map(|column| Py::new(py, Column::of(column)));
        Ok(Table {
            key: table.key,
            sentence: table.sentence,
            is_list: table.is_list,
            one: table.about.one,
            many: table.about.many,
            named: table.about.named,
            tells: table.about.tells.to_vec(),
            columns: columns.collect::<PyResult<_>>()?,
        })
    };
    found.into_iter().map(table).collect()
}

#[cfg(live)]
fn of_live_runs() -> Vec<declared::Table> {
    cellrate_live::engine::Summary::tables()
}

#[cfg(not(live))]
fn of_live_runs() -> Vec<declared::Table> {
    Vec::new()
}

/// Dimensions by the names that Python has for them.
const DIMENSIONS: [(&str, Dimension); 6] = [
    ("time", Dimension::Time),
    ("rate", Dimension::Rate),
    ("length", Dimension::Length),
    ("size", Dimension::Octets),
    ("cells", Dimension::Cells),
    ("ratio", Dimension::Ratio),
];

fn name_of(dimension: Dimension) -> &'static str {
    DIMENSIONS.iter().find(|(_, known)| *known == dimension).map_or("", |(name, _)| name)
}

/// A number with its unit in the base unit of its dimension: s, bit/s, km, octets, cells; a ratio as it is.
#[pyfunction]
pub fn quantity(py: Python<'_>, text: &str, dimension: &str) -> PyResult<f64> {
    let Some((_, dimension)) = DIMENSIONS.iter().find(|(name, _)| *name == dimension) else {
        return Err(PyValueError::new_err(format!("there is no dimension {dimension:?}")));
    };
    cellrate_scenario::quantity(text, *dimension).map_err(|message| parameter_error(py, &message))
}

/// The units of a dimension, in their order.
#[pyfunction]
pub fn units(dimension: &str) -> Vec<&'static str> {
    let known = DIMENSIONS.iter().find(|(name, _)| *name == dimension);
    known.map_or(Vec::new(), |(_, dimension)| cellrate_scenario::units(*dimension))
}

/// A value as TOML on one line; `path` is where it goes, for errors.
#[pyfunction]
pub fn to_toml(value: &Bound<'_, PyAny>, path: &str) -> PyResult<String> {
    Ok(value_to_toml(&written(value, path)?))
}

/// A document as TOML, with sections for its tables.
#[pyfunction]
pub fn document_toml(content: &Bound<'_, PyMapping>) -> PyResult<String> {
    let pairs = pairs(content, "the document", |key| key.to_string())?;
    Ok(document_to_toml(&pairs))
}

/// A Python value as one of TOML.
fn written(value: &Bound<'_, PyAny>, path: &str) -> PyResult<Written> {
    if value.is_instance_of::<PyString>() {
        return Ok(Written::Text(value.extract()?));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Written::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        // What 64 bits do not hold is written all the same: who reads it says so, with its place.
        return Ok(match value.extract::<i64>() {
            Ok(number) => Written::Integer(number),
            Err(_) => Written::AsIs(value.call_method0("__int__")?.str()?.to_string()),
        });
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Written::Float(value.extract()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.enumerate();
        let items = items.map(|(place, item)| written(&item?, &format!("{path}[{place}]")));
        return Ok(Written::List(items.collect::<PyResult<_>>()?));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        return Ok(Written::Table(pairs(mapping, path, |key| format!("{path}.{key}"))?));
    }
    // Numbers of NumPy are what they are in Python.
    if value.get_type().module()? == "numpy" && !value.hasattr("__len__")? && value.hasattr("item")? {
        return written(&value.call_method0("item")?, path);
    }
    Err(PyTypeError::new_err(format!(
        "{path} is set to {}, of type {}; a setting is a number, True or False, a text such as \"5 ms\", or a list or \
         dict of these",
        shown(value)?,
        value.get_type().name()?,
    )))
}

fn pairs(
    mapping: &Bound<'_, PyMapping>,
    path: &str,
    below: impl Fn(&str) -> String,
) -> PyResult<Vec<(String, Written)>> {
    let mut pairs = Vec::new();
    for pair in mapping.items()?.iter() {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        if !key.is_instance_of::<PyString>() {
            let message = format!(
                "{path} has the key {}, of type {}; keys are texts",
                shown(&key)?,
                key.get_type().name()?
            );
            return Err(PyTypeError::new_err(message));
        }
        let key: String = key.extract()?;
        let value = written(&value, &below(&key))?;
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// A value as errors show it.
fn shown(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.py().import("cellrate.errors")?.call_method1("shown", (value,))?.extract()
}
