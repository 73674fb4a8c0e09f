//! Live runs of nodes, with or without hosts of this machine.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cellrate_engine::plugins::{MissingPlugin, wanted};
use cellrate_live::bench::{self, BenchError};
use cellrate_live::engine::{self, CellTap, Options, Part, Stop, TapDirection, connection_of, throughput};
use cellrate_proto::wire::CELL_OCTETS;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{ConnectionIndex, NodeIndex, PortIndex, Scenario as Resolved};
use cellrate_sim::tap::TappedCell;
use numpy::IntoPyArray;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;

use crate::capture::{self, Capture, CaptureSettings};
use crate::error::{host_error, live_error, not_given};
use crate::interruptible::interrupted;
use crate::plugins::{PluginMakers, PythonPlugins};
use crate::run_result::{Part as NewValues, RunResult, Track};
use crate::scenario::{Scenario, SeriesInfo};

/// Runs nodes of a scenario, without hosts of this machine: all of them in this process, or those named, with cells in
/// datagrams to the others. Traffic is generated. `start_unix_ns` is when the run begins, the same for all processes of
/// it [ns since the Unix epoch]; at once without. `progress` is called with the share done [0 to 1] about 20 times a
/// second; what it raises, and what a signal raises, ends the run and is raised here.
///
/// `capture` as for `run`, of the ports of this process; `plugins` as for `run`, as far as its nodes have what is not
/// built in. `nonce` is the run's, the same for all its processes: datagrams without it are dropped.
#[pyfunction]
#[pyo3(signature = (scenario, nodes=None, start_unix_ns=None, progress=None, capture=None, plugins=None, nonce=None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub fn live_nodes(
    py: Python<'_>,
    scenario: &Scenario,
    nodes: Option<Vec<String>>,
    start_unix_ns: Option<u64>,
    progress: Option<Py<PyAny>>,
    capture: Option<CaptureSettings>,
    plugins: Option<PluginMakers>,
    nonce: Option<u64>,
) -> PyResult<RunResult> {
    let scenario = scenario.lived(py)?;
    let part = part(&scenario, nodes)?;
    let options = Options { part, start_unix_ns, nonce, ..Options::default() };
    let reports = Reports { progress: progress.as_ref(), look: None };
    carry(py, &scenario, options, reports, capture, plugins)
}

/// Looks whether all that is not built in and that these nodes have, or any without, is among `plugins`: kinds
/// ("algorithm", "policy", "traffic") and names.
#[pyfunction]
#[pyo3(signature = (scenario, plugins, nodes=None))]
pub fn check_plugins(
    py: Python<'_>,
    scenario: &Scenario,
    plugins: Vec<(String, String)>,
    nodes: Option<Vec<String>>,
) -> PyResult<()> {
    let scenario = scenario.lived(py)?;
    let part = part(&scenario, nodes)?;
    let is_there = |kind: &str, name: &str| plugins.iter().any(|plugin| plugin.0 == kind && plugin.1 == name);
    let mut wanted = wanted(&scenario, |node| part.has(node)).into_iter();
    let missing = wanted.find(|custom| !is_there(&custom.kind.to_string(), &custom.name));
    missing.map_or(Ok(()), |missing| Err(not_given(py, &MissingPlugin(missing))))
}

/// Callbacks that get reports of a live run about 20 times a second; an exception of theirs ends it.
#[derive(Clone, Copy)]
pub struct Reports<'a> {
    /// Called with the share done [0 to 1].
    pub progress: Option<&'a Py<PyAny>>,
    /// Called with the network's time \[s\], and the place, instants \[ps\] and new values of each series that has
    /// some.
    pub look: Option<&'a Py<PyAny>>,
}

/// Name, entity and unit of each series that a live run of all nodes records, and the interval \[ps\] of one taken at
/// intervals.
#[pyfunction]
pub fn live_series(py: Python<'_>, scenario: &Scenario) -> PyResult<Vec<SeriesInfo>> {
    let scenario = scenario.resolved(py)?;
    let series = engine::series_of(&scenario).into_iter();
    Ok(series.map(|(probe, entity, unit, every)| (probe, entity, unit, every.map(Duration::as_ps))).collect())
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

/// Runs `scenario` as `options` say, without holding the interpreter. `capture` and `plugins` as for [`live_nodes`].
pub fn carry(
    py: Python<'_>,
    scenario: &Resolved,
    options: Options<'_>,
    reports: Reports<'_>,
    capture: Option<CaptureSettings>,
    plugins: Option<PluginMakers>,
) -> PyResult<RunResult> {
    let Reports { progress, look } = reports;
    let capture = capture.map(|settings| begin(py, scenario, &options, settings)).transpose()?;
    let capture = capture.map(Mutex::new);
    let plugins = PythonPlugins::new(plugins);
    let failure = plugins.failure();
    let mut raised = None;
    let outcome = py.detach(|| {
        let failed =
            || failure.happened() || capture.as_ref().is_some_and(|capture| locked(capture).error.is_some());
        let report = |so_far: engine::Progress| {
            let told = Python::attach(|py| {
                py.check_signals().map_err(|error| interrupted(py, error))?;
                if let Some(progress) = progress {
                    progress.call1(py, (so_far.fraction,))?;
                }
                let Some(look) = look else { return Ok(()) };
                let recent: Vec<NewValues<'_>> = so_far
                    .recent
                    .into_iter()
                    .map(|recent| {
                        (recent.series, recent.times_ps.into_pyarray(py), recent.values.into_pyarray(py))
                    })
                    .collect();
                look.call1(py, (so_far.now.as_secs_f64(), recent)).map(drop)
            });
            match told {
                Ok(()) if failed() => ControlFlow::Break(Stop::Discard),
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(Stop::Discard)
                }
            }
        };
        let tap = capture.as_ref().map(|capture| {
            let packets = options.routes.iter().map(|route| route.connection).collect();
            Box::new(LiveTap { capture, packets }) as Box<dyn CellTap>
        });
        let watched = look.is_some();
        plugins.lend(|plugins| {
            let progress: Option<Box<dyn FnMut(engine::Progress) -> ControlFlow<Stop> + Send>> =
                Some(Box::new(report));
            engine::run(scenario, Options { progress, tap, watched, plugins, ..options })
        })
    });
    if let Some(error) = failure.take() {
        return Err(interrupted(py, error));
    }
    if let Some(error) = raised {
        return Err(error);
    }
    let capture = capture.map(|capture| capture.into_inner().unwrap_or_else(PoisonError::into_inner));
    let outcome = || outcome.map_err(|error| live_error(py, &error));
    let (mut outcome, files) = capture::end(py, capture, outcome)?;
    let tracks = outcome.series.into_iter().map(|series| Track {
        probe: series.probe,
        entity: series.entity,
        unit: series.unit,
        every: series.every,
        times_ps: series.times_ps,
        values: series.values,
    });
    let rows = outcome.summary.vcs.iter_mut().map(|row| &mut row.common);
    let delays = rows.filter_map(|row| Some((row.vc.clone(), row.delays.take()?))).collect();
    Ok(RunResult::new(&outcome.summary, tracks, delays)?.with_captured(files))
}

/// A capture whose instants are those of the system's date, and whose hosts have the addresses of the scenario.
fn begin(
    py: Python<'_>,
    scenario: &Resolved,
    options: &Options<'_>,
    settings: CaptureSettings,
) -> PyResult<Capture> {
    let origin_ns = options.start_unix_ns.unwrap_or_else(engine::unix_ns);
    let names = scenario.nodes.iter().map(|node| node.name.clone());
    let hosts = scenario.hosts.iter().map(|host| host.address).zip(names).collect();
    Capture::begin(py, scenario, settings, origin_ns, hosts)
}

fn locked(capture: &Mutex<Capture>) -> MutexGuard<'_, Capture> {
    capture.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes what leaves the ports of a capture.
struct LiveTap<'a> {
    capture: &'a Mutex<Capture>,
    /// The connections whose cells make up PDUs.
    packets: Vec<ConnectionIndex>,
}

impl CellTap for LiveTap<'_> {
    fn cell(&mut self, at: Time, interface: PortIndex, direction: TapDirection, octets: &[u8; CELL_OCTETS]) {
        if direction == TapDirection::Received {
            return;
        }
        let mut capture = locked(self.capture);
        let Some(port) = capture.tap.ports.iter().position(|step| step.port() == interface) else { return };
        if at >= capture.tap.until || capture.error.is_some() {
            return;
        }
        let [a, b, c, d, ..] = *octets;
        let connection = connection_of([a, b, c, d]);
        let has_pdu = connection.is_some_and(|connection| self.packets.contains(&connection));
        let lost = direction == TapDirection::Lost;
        let written = capture::write(&mut capture.files, TappedCell { port, at, octets, has_pdu, lost });
        // The next report ends the run.
        capture.error = written.err();
    }
}

/// How many cells the engine carries from a packet device to another, as JSON text: packets of `packet_octets` (29 to
/// 9180), for `seconds`; between devices without cost, or between TUN devices of two hosts.
#[pyfunction]
#[pyo3(signature = (seconds=1.0, packet_octets=1500, tun=false))]
pub fn live_throughput(py: Python<'_>, seconds: f64, packet_octets: usize, tun: bool) -> PyResult<String> {
    let span = Duration::from_secs_f64(seconds);
    let measured = py.detach(|| {
        if tun {
            bench::tun_to_tun(span, packet_octets)
        } else {
            throughput::measure(span, packet_octets).map_err(BenchError::Engine)
        }
    });
    let measured = measured.map_err(|error| match error {
        BenchError::Host(error) => host_error(py, "a host", &error),
        BenchError::Engine(error) => live_error(py, &error),
    })?;
    serde_json::to_string(&measured).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
