//! `Scenario`: a document with its settings, before a run.

use std::path::PathBuf;

use cellrate_engine::given::wanted;
use cellrate_engine::names::port_name;
use cellrate_engine::rows::cannot_settle;
use cellrate_engine::topology::Topology;
use cellrate_scenario::fair::{Bottleneck, FairShare, max_min};
use cellrate_scenario::{Document, Probe, SweepPoint};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::{oversubscribed, scenario_error};

/// A scenario document.
#[pyclass(frozen, module = "cellrate._native")]
pub struct Scenario {
    pub(crate) document: Document,
    /// Where the files are that it refers to.
    folder: PathBuf,
}

/// What a point of a sweep sets, by path, and the scenario with it.
type Point = (Vec<(String, String)>, Scenario);

/// VC, whether backward, rate [cells/s], and the port that keeps the flow from more, if one does.
type Share = (String, bool, f64, Option<String>);

/// Probe, entity, unit, and the interval \[ps\] of a series taken at intervals.
pub type SeriesInfo = (String, String, &'static str, Option<u64>);

impl Scenario {
    /// With what is in the files that the document refers to.
    fn whole(py: Python<'_>, mut document: Document, folder: PathBuf) -> PyResult<Scenario> {
        document.take_in(&folder).map_err(|error| scenario_error(py, &error))?;
        Ok(Scenario { document, folder })
    }
}

/// `document` with another value at each path.
fn changed(py: Python<'_>, mut document: Document, settings: &[(String, String)]) -> PyResult<Document> {
    for (path, value) in settings {
        document.set(path, value).map_err(|error| scenario_error(py, &error))?;
    }
    Ok(document)
}

#[pymethods]
impl Scenario {
    /// Reads a document; `file` is the name that errors give. Values at paths are replaced by those of `settings`, and
    /// files that it refers to then are read too, as seen from `folder`.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        text: &[u8],
        file: &str,
        folder: PathBuf,
        settings: Vec<(String, String)>,
    ) -> PyResult<Scenario> {
        let document = Document::parse_bytes(text, file).map_err(|error| scenario_error(py, &error))?;
        Scenario::whole(py, changed(py, document, &settings)?, folder)
    }

    /// A copy in which the value at each path is another one, written as in TOML or as plain text.
    fn with_set(&self, py: Python<'_>, settings: Vec<(String, String)>) -> PyResult<Scenario> {
        Scenario::whole(py, changed(py, self.document.clone(), &settings)?, self.folder.clone())
    }

    /// The points of the sweep, each with what it sets; one point that sets nothing when there is no sweep.
    fn points(&self, py: Python<'_>) -> PyResult<Vec<Point>> {
        let points = self.document.points().map_err(|error| scenario_error(py, &error))?;
        let whole =
            |point: SweepPoint| Ok((point.set, Scenario::whole(py, point.document, self.folder.clone())?));
        points.into_iter().map(whole).collect()
    }

    /// Checks everything; gives name, purpose, duration \[s\] and seed.
    fn check(&self, py: Python<'_>) -> PyResult<(String, String, f64, u64)> {
        let scenario = self.document.resolve().map_err(|error| scenario_error(py, &error))?;
        Ok((scenario.name, scenario.purpose, scenario.duration.as_secs_f64(), scenario.seed))
    }

    /// Max-min fair rates of the ABR flows when ports hand out `utilization` of their lines, or what their algorithms
    /// do.
    fn fair(&self, py: Python<'_>, utilization: Option<f64>) -> PyResult<Vec<Share>> {
        let scenario = self.document.resolve().map_err(|error| scenario_error(py, &error))?;
        let shares = max_min(&scenario, utilization).map_err(|error| oversubscribed(py, &error))?;
        let row = |share: FairShare| {
            let vc = scenario.connection(share.flow.connection()).name.clone();
            let port = match share.bottleneck {
                Bottleneck::Port(port) => Some(port_name(&scenario, port)),
                Bottleneck::PeakCellRate => None,
            };
            (vc, share.flow.is_backward(), share.rate.as_cells_per_s(), port)
        };
        Ok(shares.into_iter().map(row).collect())
    }

    /// The ports of which is known before a run that their algorithm cannot settle, as JSON text: rows of `unsettled`.
    fn cannot_settle(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = self.document.resolve().map_err(|error| scenario_error(py, &error))?;
        Ok(serde_json::json!(cannot_settle(&scenario)).to_string())
    }

    /// The number of threads that can share a run.
    fn most_threads(&self, py: Python<'_>) -> PyResult<usize> {
        let scenario = self.document.resolve_for_simulation().map_err(|error| scenario_error(py, &error))?;
        Ok(cellrate_sim::clusters_of(&scenario))
    }

    /// Name, entity and unit of each series that a simulation records, and the interval \[ps\] of one taken at
    /// intervals.
    fn series(&self, py: Python<'_>) -> PyResult<Vec<SeriesInfo>> {
        let scenario = self.document.resolve_for_simulation().map_err(|error| scenario_error(py, &error))?;
        let interval = |probe: &Probe| probe.every.interval().map(cellrate_proto::Duration::as_ps);
        let names = cellrate_sim::series_of(&scenario).into_iter().zip(&scenario.probes);
        Ok(names.map(|((probe, entity, unit), from)| (probe, entity, unit, interval(from))).collect())
    }

    /// The network as JSON text: nodes, each with what its ports do about congestion; links; and the ways of
    /// connections.
    fn topology(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = self.document.resolve().map_err(|error| scenario_error(py, &error))?;
        serde_json::to_string(&Topology::of(&scenario))
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Kind ("algorithm", "policy", "traffic") and name of what is not built in, each once.
    fn customs(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let scenario = self.document.resolve().map_err(|error| scenario_error(py, &error))?;
        let mut all: Vec<(String, String)> = Vec::new();
        for custom in wanted(&scenario, |_| true) {
            let named = (custom.kind.to_string(), custom.name);
            if !all.contains(&named) {
                all.push(named);
            }
        }
        Ok(all)
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
