//! Live runs where there are none: the same names as on Linux, each of which raises `cellrate.LiveUnavailable`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::without_live;

/// A host of a live run, which cannot be made in a build without live runs.
#[pyclass(frozen, module = "cellrate._native")]
pub struct Host {}

/// The network of a live run, which cannot be made in a build without live runs.
#[pyclass(frozen, module = "cellrate._native")]
pub struct LiveNetwork {}

#[pymethods]
impl LiveNetwork {
    /// Raises `cellrate.LiveUnavailable`.
    #[new]
    #[pyo3(signature = (*_given, **_named))]
    fn new(
        py: Python<'_>,
        _given: &Bound<'_, PyTuple>,
        _named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<LiveNetwork> {
        Err(without_live(py))
    }
}

/// Declares functions that raise `cellrate.LiveUnavailable`, whatever they are given.
macro_rules! unavailable {
    ($($name:ident),+) => {
        $(
            /// Raises `cellrate.LiveUnavailable`.
            #[pyfunction]
            #[pyo3(signature = (*_given, **_named))]
            pub fn $name(
                py: Python<'_>,
                _given: &Bound<'_, PyTuple>,
                _named: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<()> {
                Err(without_live(py))
            }
        )+
    };
}

unavailable!(make_hosts, live_nodes, live_series, live_throughput, check_plugins);
