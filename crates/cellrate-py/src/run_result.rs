//! `run` and what it gives back.

#![expect(clippy::disallowed_methods, reason = "tells how far a run is, now and then, and what it took")]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cellrate_engine::histogram::Histogram;
use cellrate_engine::memory::Outlook;
use cellrate_proto::Duration as Interval;
use cellrate_sim::{Look, Progress, Recent, Simulation};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;

use crate::capture::{self, Capture, CaptureSettings};
use crate::error::run_error;
use crate::interruptible::interrupted;
use crate::plugins::{PluginMakers, PythonPlugins};
use crate::scenario::{Scenario, SeriesInfo};

/// How often the interpreter is asked for signals and told of progress.
pub const REPORT_EVERY: Duration = Duration::from_millis(50);

/// The figures of one run. Series are moved out, once each.
#[pyclass(frozen, module = "cellrate._native")]
pub struct RunResult {
    summary: String,
    series: Mutex<Vec<Option<Track>>>,
    delays: Vec<Distribution>,
    completions: Vec<Completions>,
    captured: Vec<CapturedFile>,
    /// From the call to the first instant of network time \[s\]; of simulations alone.
    set_up_s: Option<f64>,
}

/// A direction of a connection, and its data cells by their delays.
pub type Distribution = (String, Box<Histogram>);

/// Flows of a size of a class: the name of their entry, the least size, the first that is too large, and how many took
/// at most each time.
type Completions = (String, u64, Option<u64>, Vec<(Interval, u64)>);

/// A series: what it is, and its columns.
pub struct Track {
    /// Name of the quantity: "acr", "queue", ...
    pub probe: String,
    /// The VC or port by its name.
    pub entity: String,
    /// Unit of the values.
    pub unit: &'static str,
    /// The interval at which it was taken; none at every change.
    pub every: Option<Interval>,
    /// Instants \[ps\].
    pub times_ps: Vec<u64>,
    /// Values.
    pub values: Vec<f64>,
}

impl RunResult {
    /// Figures, series and distributions of delays of a run.
    pub fn new(
        summary: &impl serde::Serialize,
        series: impl Iterator<Item = Track>,
        delays: Vec<Distribution>,
    ) -> PyResult<RunResult> {
        let summary =
            serde_json::to_string(summary).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(RunResult {
            summary,
            series: Mutex::new(series.map(Some).collect()),
            delays,
            completions: Vec::new(),
            captured: Vec::new(),
            set_up_s: None,
        })
    }

    /// The result of a simulation that was called at `called` and whose network time began at `began`.
    fn begun(self, called: Instant, began: Option<Instant>) -> RunResult {
        let set_up_s = began.map_or(0.0, |began| began.duration_since(called).as_secs_f64());
        RunResult { set_up_s: Some(set_up_s), ..self }
    }

    /// The result with the files of its capture.
    pub fn with_captured(self, files: Vec<cellrate_capture::CapturedFile>) -> RunResult {
        let listed =
            |file: cellrate_capture::CapturedFile| (file.path, file.records, file.octets, file.left_out);
        RunResult { captured: files.into_iter().map(listed).collect(), ..self }
    }
}

/// File, records, octets, records left out.
type CapturedFile = (std::path::PathBuf, u64, u64, u64);

/// A direction, delays \[ps\] and cells.
type DelayColumns<'py> = (String, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

/// Name, least size, first too large one, times \[ps\] and flows.
type CompletionColumns<'py> =
    (String, u64, Option<u64>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

/// Instants \[ps\] and values.
type Columns<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl RunResult {
    /// Summary figures as JSON text.
    #[getter]
    fn summary(&self) -> &str {
        &self.summary
    }

    /// Wall time that resolving the scenario and building the network took \[s\]; `None` for a live run.
    #[getter]
    fn set_up_s(&self) -> Option<f64> {
        self.set_up_s
    }

    /// The files of the capture, if there was one.
    fn captured(&self) -> Vec<CapturedFile> {
        self.captured.clone()
    }

    /// The distribution of delays of each direction of a connection that delivered data: its name, delays in rising
    /// order \[ps\], and how many data cells had at most each.
    fn delays<'py>(&self, py: Python<'py>) -> Vec<DelayColumns<'py>> {
        let columns = |(vc, delays): &Distribution| {
            let steps = delays.distribution().into_iter();
            let (delays, cells): (Vec<u64>, Vec<u64>) =
                steps.map(|(delay, cells)| (delay.as_ps(), cells)).unzip();
            (vc.clone(), delays.into_pyarray(py), cells.into_pyarray(py))
        };
        self.delays.iter().map(columns).collect()
    }

    /// The distribution of completion times of each class of flows in which any is complete: the name of their entry,
    /// the bounds of the class \[octets\], times in rising order \[ps\], and how many flows took at most each.
    fn completions<'py>(&self, py: Python<'py>) -> Vec<CompletionColumns<'py>> {
        let columns = |(flows, from, below, steps): &Completions| {
            let (times, counts): (Vec<u64>, Vec<u64>) =
                steps.iter().map(|&(time, count)| (time.as_ps(), count)).unzip();
            (flows.clone(), *from, *below, times.into_pyarray(py), counts.into_pyarray(py))
        };
        self.completions.iter().map(columns).collect()
    }

    /// Descriptions of the series: quantity, entity and unit of each.
    fn series_info(&self) -> Vec<SeriesInfo> {
        let series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        let info = |track: &Track| {
            (track.probe.clone(), track.entity.clone(), track.unit, track.every.map(Interval::as_ps))
        };
        series.iter().flatten().map(info).collect()
    }

    /// Moves the columns of series `index` out: instants \[ps\] and values.
    fn take_series<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Columns<'py>> {
        let taken =
            self.series.lock().unwrap_or_else(PoisonError::into_inner).get_mut(index).and_then(Option::take);
        let series =
            taken.ok_or_else(|| PyKeyError::new_err(format!("no series {index}, or taken before")))?;
        Ok((series.times_ps.into_pyarray(py), series.values.into_pyarray(py)))
    }
}

/// Runs a scenario without holding the interpreter. `progress` is called with the share done [0 to 1] a few times a
/// second at most; what it raises, and what a signal raises, ends the run and is raised here. Up to `threads` threads
/// share the work.
///
/// `capture` is folder, ports by name (all that carry cells if `None`), span \[s\], whether cells, whether PDUs, octets
/// of a file. A run with a capture has one thread.
///
/// `plugins` makes what is not built in; what that raises ends the run and is raised here.
#[pyfunction]
#[pyo3(signature = (scenario, progress=None, threads=NonZeroUsize::MIN, capture=None, plugins=None))]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    progress: Option<Py<PyAny>>,
    threads: NonZeroUsize,
    capture: Option<CaptureSettings>,
    plugins: Option<PluginMakers>,
) -> PyResult<RunResult> {
    let (called, mut began) = (Instant::now(), None);
    let document = scenario;
    let scenario = document.ready(py)?;
    let mut capture = capture
        .map(|settings| Capture::begin(py, &scenario, settings, 0, cellrate_sim::tap::hosts(&scenario)))
        .transpose()?;
    let plugins = PythonPlugins::new(plugins);
    let failure = plugins.failure();
    let (mut raised, mut outlook) = (None, Outlook::default());
    let mut last = Instant::now();
    let outcome = py.detach(|| {
        let mut report = |so_far: Progress| {
            began.get_or_insert_with(Instant::now);
            if failure.happened() {
                return ControlFlow::Break(());
            }
            if last.elapsed() < REPORT_EVERY {
                return ControlFlow::Continue(());
            }
            last = Instant::now();
            let told = Python::attach(|py| {
                py.check_signals().map_err(|error| interrupted(py, error))?;
                document.check_memory(py, &mut outlook, so_far.fraction * scenario.duration.as_secs_f64())?;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (so_far.fraction,)).map(drop))
            });
            match told {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        plugins.lend(|plugins| {
            let simulation = Simulation::of(&scenario).on_threads(threads).with(plugins);
            match &mut capture {
                None => simulation.run(&mut report),
                Some(Capture { tap, files, error }) => simulation.run_tapped(&mut report, tap, &mut |cell| {
                    capture::write(files, cell).map_or_else(
                        |failure| {
                            *error = Some(failure);
                            ControlFlow::Break(())
                        },
                        ControlFlow::Continue,
                    )
                }),
            }
        })
    });
    if let Some(error) = failure.take() {
        return Err(interrupted(py, error));
    }
    if let Some(error) = raised {
        return Err(error);
    }
    let outcome = || outcome.map_err(|error| run_error(py, &error));
    let (result, files) = capture::end(py, capture, outcome)?;
    Ok(tracks_of(&scenario, result)?.with_captured(files).begun(called, began))
}

/// As [`run`], on one thread and without a capture; `look` is called each time that `every_ps` of network time, or a
/// little more, has passed: with that time \[s\], and the place, instants \[ps\] and new values of each series that has
/// some. What it raises ends the run and is raised here.
#[pyfunction]
#[pyo3(signature = (scenario, every_ps, look, plugins=None))]
pub fn run_watched(
    py: Python<'_>,
    scenario: &Scenario,
    every_ps: u64,
    look: Py<PyAny>,
    plugins: Option<PluginMakers>,
) -> PyResult<RunResult> {
    let (called, mut began) = (Instant::now(), None);
    let document = scenario;
    let scenario = document.ready(py)?;
    let plugins = PythonPlugins::new(plugins);
    let failure = plugins.failure();
    let (mut raised, mut outlook, mut last) = (None, Outlook::default(), called);
    let outcome = py.detach(|| {
        let mut tell = |Look { now, recent }: Look| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                if last.elapsed() >= REPORT_EVERY {
                    last = Instant::now();
                    document.check_memory(py, &mut outlook, now.as_secs_f64())?;
                }
                let recent: Vec<Part<'_>> = recent
                    .into_iter()
                    .map(|Recent { probe, times_ps, values }| {
                        (probe, times_ps.into_pyarray(py), values.into_pyarray(py))
                    })
                    .collect();
                look.call1(py, (now.as_secs_f64(), recent)).map(drop)
            });
            match told {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let every = Interval::from_ps(every_ps);
        let mut goes_on = |_| {
            began.get_or_insert_with(Instant::now);
            if failure.happened() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        plugins.lend(|plugins| {
            Simulation::of(&scenario).with(plugins).run_watched(every, &mut goes_on, &mut tell)
        })
    });
    if let Some(error) = failure.take().or(raised) {
        return Err(interrupted(py, error));
    }
    Ok(tracks_of(&scenario, outcome.map_err(|error| run_error(py, &error))?)?.begun(called, began))
}

/// The place of a series, and what has been added to it: instants \[ps\] and values.
pub type Part<'py> = (usize, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f64>>);

/// Figures and series of a run.
fn tracks_of(
    scenario: &cellrate_scenario::Scenario,
    mut result: cellrate_sim::RunResult,
) -> PyResult<RunResult> {
    let delays =
        result.summary.vcs.iter_mut().filter_map(|row| Some((row.vc.clone(), row.delays.take()?))).collect();
    let tracks = result.series.into_iter().zip(&scenario.probes).map(|(series, probe)| Track {
        probe: series.probe,
        entity: series.entity,
        unit: series.unit,
        every: probe.every.interval(),
        times_ps: series.times_ps,
        values: series.values,
    });
    let complete = result.summary.completions.iter_mut().filter(|row| !row.times.is_empty());
    let completions = complete
        .map(|row| (row.flows.clone(), row.from_octets, row.below_octets, std::mem::take(&mut row.times)))
        .collect();
    let done = RunResult::new(&result.summary, tracks, delays)?;
    Ok(RunResult { completions, ..done })
}
