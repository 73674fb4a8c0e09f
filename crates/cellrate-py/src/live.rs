//! Live runs of nodes, with or without hosts of this machine.

use std::net::SocketAddr;
use std::ops::ControlFlow;

use cellrate_live::engine::{self, Options, Part, Stop, throughput};
use cellrate_proto::Duration;
use cellrate_scenario::{NodeIndex, Scenario as Resolved};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;

use crate::error::{live_error, scenario_error};
use crate::run_result::{RunResult, Track, interrupted};
use crate::scenario::Scenario;

/// Runs nodes of a scenario, without hosts of this machine: all of them in this process, or those named, with cells in
/// datagrams to the others. Traffic is generated. `start_unix_ns` is when the run begins, the same for all processes of it
/// [ns since the Unix epoch]; at once without. `progress` is called with the share done [0 to 1] about 20 times a second;
/// what it raises, and what a signal raises, ends the run and is raised here.
#[pyfunction]
#[pyo3(signature = (scenario, nodes=None, start_unix_ns=None, progress=None))]
pub fn live_nodes(
    py: Python<'_>,
    scenario: &Scenario,
    nodes: Option<Vec<String>>,
    start_unix_ns: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let scenario = scenario.document.resolve().map_err(|error| scenario_error(py, &error))?;
    let part = part(&scenario, nodes)?;
    carry(py, &scenario, Options { part, start_unix_ns, ..Options::default() }, progress.as_ref())
}

/// The nodes of these names; all in this process without.
pub fn part(scenario: &Resolved, nodes: Option<Vec<String>>) -> PyResult<Part> {
    let Some(names) = nodes else { return Ok(Part::Whole) };
    let number = |name: String| {
        let place = scenario.nodes.iter().position(|node| node.name == name);
        let missing = || PyKeyError::new_err(format!("there is no host or switch {name}"));
        place.map(|place| NodeIndex(place as u32)).ok_or_else(missing)
    };
    let nodes = names.into_iter().map(number).collect::<PyResult<Vec<_>>>()?;
    Ok(Part::Nodes { nodes, addresses: None::<Vec<Option<SocketAddr>>> })
}

/// Runs `scenario` as `options` say, without holding the interpreter. `progress` as for [`live_nodes`].
pub fn carry(
    py: Python<'_>,
    scenario: &Resolved,
    options: Options<'_>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<RunResult> {
    let mut raised = None;
    let outcome = py.detach(|| {
        let report = |so_far: engine::Progress| {
            let told = Python::attach(|py| {
                py.check_signals().map_err(|error| interrupted(py, error))?;
                progress.map_or(Ok(()), |progress| progress.call1(py, (so_far.fraction,)).map(drop))
            });
            match told {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(Stop::Discard)
                }
            }
        };
        engine::run(scenario, Options { progress: Some(Box::new(report)), ..options })
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let outcome = outcome.map_err(|error| live_error(py, &error))?;
    let tracks = outcome.series.into_iter().map(|series| Track {
        probe: series.probe,
        entity: series.entity,
        unit: series.unit,
        every: series.every,
        times_ps: series.times_ps,
        values: series.values,
    });
    RunResult::new(&outcome.summary, tracks)
}

/// How many cells the engine carries from a packet device to another, as JSON text: packets of `packet_octets` (20 to
/// 9180), for `seconds`.
#[pyfunction]
#[pyo3(signature = (seconds=1.0, packet_octets=1500))]
pub fn live_throughput(py: Python<'_>, seconds: f64, packet_octets: usize) -> PyResult<String> {
    let measured = py.detach(|| throughput::measure(Duration::from_secs_f64(seconds), packet_octets));
    let measured = measured.map_err(|error| live_error(py, &error))?;
    serde_json::to_string(&measured).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
