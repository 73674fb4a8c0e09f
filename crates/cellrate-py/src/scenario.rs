//! `Scenario`: a document with its settings, before a run.

use cellrate_scenario::Document;
use pyo3::prelude::*;

use crate::error::scenario_error;

/// A scenario document.
#[pyclass(frozen, module = "cellrate._native")]
pub struct Scenario {
    pub(crate) document: Document,
}

#[pymethods]
impl Scenario {
    /// Reads a document; `file` is the name that errors give.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &[u8], file: &str) -> PyResult<Scenario> {
        let document = Document::parse_bytes(text, file).map_err(|error| scenario_error(py, &error))?;
        Ok(Scenario { document })
    }

    /// A copy in which the value at each path is another one, written as in TOML or as plain text.
    fn with_set(&self, py: Python<'_>, settings: Vec<(String, String)>) -> PyResult<Scenario> {
        let mut document = self.document.clone();
        for (path, value) in &settings {
            document.set(path, value).map_err(|error| scenario_error(py, &error))?;
        }
        Ok(Scenario { document })
    }

    /// The points of the sweep, each with what it sets; one point that sets nothing when there is no sweep.
    fn points(&self, py: Python<'_>) -> PyResult<Vec<(Vec<(String, String)>, Scenario)>> {
        let points = self.document.points().map_err(|error| scenario_error(py, &error))?;
        Ok(points.into_iter().map(|point| (point.set, Scenario { document: point.document })).collect())
    }

    /// Checks everything; gives name, purpose, duration [s] and seed.
    fn check(&self, py: Python<'_>) -> PyResult<(String, String, f64, u64)> {
        let scenario = self.document.resolve().map_err(|error| scenario_error(py, &error))?;
        Ok((scenario.name, scenario.purpose, scenario.duration.as_secs_f64(), scenario.seed))
    }

    /// The document as TOML, settings applied.
    fn to_toml(&self) -> String {
        self.document.to_toml()
    }

    /// A hash of everything that bears on the result.
    fn hash(&self) -> String {
        self.document.hash()
    }
}

/// The JSON Schema of scenario documents, as JSON text.
#[pyfunction]
pub fn schema() -> String {
    cellrate_scenario::schema().to_string()
}
