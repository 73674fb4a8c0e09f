//! `Scenario`: a document with its settings, before a run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cellrate_engine::beyond_lines::{overbooked, unkept};
use cellrate_engine::memory::{self, Outlook};
use cellrate_engine::names::{flow_name, port_name};
use cellrate_engine::plugins::wanted;
use cellrate_engine::rows::cannot_settle;
use cellrate_engine::topology::Topology;
use cellrate_proto::{CellRate, Time};
use cellrate_scenario::fair::{
    Asked, Bottleneck, Criterion, FairShare, before_abr, ends_at, max_min, max_min_over_time, of_channels,
};
use cellrate_scenario::{Document, Probe, Scenario as Resolved, ScenarioError, Sender, SweepPoint};
use cellrate_sim::RunError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::{oversubscribed, run_error, run_failed, scenario_error};
use crate::interruptible::interruptible;

/// The most memory that a run takes \[octets\] without a look at how much there is: looking takes a quarter of a
/// millisecond, a short run not much more.
const LITTLE: u64 = 16 << 20;

/// A scenario document.
#[pyclass(frozen, module = "cellrate._native")]
pub struct Scenario {
    pub(crate) document: Arc<Document>,
    places: Arc<Places>,
    /// Tells it from all others of the process.
    number: u64,
}

/// Where the files are that a scenario refers to: in its own folder, and in others that its user allows.
struct Places {
    own: PathBuf,
    allowed: Vec<PathBuf>,
}

/// The scenario that was resolved last, by the number of its document: what is asked of one after the other (facts,
/// names of series, the run) resolves it once, and thousands of points of a sweep do not stay in memory.
static LAST: Mutex<Option<(u64, Arc<Resolved>)>> = Mutex::new(None);

static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// Frees what was resolved of a scenario along with it.
impl Drop for Scenario {
    fn drop(&mut self) {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        last.take_if(|(number, _)| *number == self.number);
    }
}

/// A point of a sweep: its values, by path, and the scenario with them.
type Point = (Vec<(String, String)>, Scenario);

/// A direction that goes before ABR, for Python: name, rate that goes off \[cells/s\], mean of one that varies.
type Before = (String, Option<f64>, Option<f64>);

/// VC, whether backward, rate \[cells/s\], and the port that keeps the flow from more, if one does.
type Share = (String, bool, f64, Option<String>, Vec<(String, f64)>);

/// Probe, entity, unit, and the interval \[ps\] of a series taken at intervals.
pub type SeriesInfo = (String, String, &'static str, Option<u64>);

impl Scenario {
    fn of(document: Document, places: Arc<Places>) -> Scenario {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Scenario { document: Arc::new(document), places, number }
    }

    /// Does `work` with the document, where signals can end the wait for it.
    fn with_document<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Document) -> Result<T, ScenarioError> + Send + 'static,
    ) -> PyResult<T> {
        let document = Arc::clone(&self.document);
        interruptible(py, move || work(&document))?.map_err(|error| scenario_error(py, &error))
    }

    /// The scenario that the document describes.
    pub(crate) fn resolved(&self, py: Python<'_>) -> PyResult<Arc<Resolved>> {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, scenario)) = last.filter(|(number, _)| *number == self.number) {
            return Ok(scenario);
        }
        let scenario = Arc::new(self.with_document(py, Document::resolve)?);
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some((self.number, Arc::clone(&scenario)));
        Ok(scenario)
    }

    /// Like [`resolved`](Scenario::resolved), where it has no part in real programs.
    pub(crate) fn simulated(&self, py: Python<'_>) -> PyResult<Arc<Resolved>> {
        self.document.check_for_simulation().map_err(|error| scenario_error(py, &error))?;
        self.resolved(py)
    }

    /// Like [`resolved`](Scenario::resolved), where a live run can have all that it asks for.
    pub(crate) fn lived(&self, py: Python<'_>) -> PyResult<Arc<Resolved>> {
        self.document.check_for_live().map_err(|error| scenario_error(py, &error))?;
        self.resolved(py)
    }

    /// Like [`simulated`](Scenario::simulated), where a simulator can run it, in the memory that there is.
    pub(crate) fn ready(&self, py: Python<'_>) -> PyResult<Arc<Resolved>> {
        let scenario = self.simulated(py)?;
        let asked = Arc::clone(&scenario);
        let about = match interruptible(py, move || cellrate_sim::check(&asked))? {
            Ok(()) => None,
            Err(
                error @ (RunError::TooLong { .. }
                | RunError::TooLongInBand { .. }
                | RunError::BacklogTooLong { .. }),
            ) => Some(("duration", error)),
            Err(error @ RunError::TooLarge { .. }) => Some(("vc", error)),
            Err(error) => return Err(run_error(py, &error)),
        };
        if let Some((key, error)) = about {
            return Err(scenario_error(py, &self.document.error_about(key, &error.to_string(), "")));
        }
        let shares = cellrate_sim::footprint(&scenario);
        let needed = shares.iter().fold(0_u64, |sum, share| sum.saturating_add(share.octets));
        if let Some(most) = shares.first()
            && needed > LITTLE
            && let Some(left) = memory::left()
            && needed > left
        {
            let what = format!("{}: the run takes {} of memory at least", most.what, memory::shown(needed));
            let remedy = format!(
                "There are {} left: record less often or of fewer things, or shorten `duration`",
                memory::shown(left)
            );
            return Err(run_failed(py, &self.document.error_about(most.key, &what, &remedy).to_string()));
        }
        Ok(scenario)
    }

    /// Raises `cellrate.RunError` where a run that has come to `now_s` \[s\] has too little memory to go on.
    pub(crate) fn check_memory(&self, py: Python<'_>, outlook: &mut Outlook, now_s: f64) -> PyResult<()> {
        let Some(left) = outlook.too_little() else { return Ok(()) };
        let what = format!(
            "the run has come to {now_s:.6} s, and {} of memory are left: too little to go on",
            memory::shown(left)
        );
        let remedy = "Shorten `duration`, bound queues by `buffers`, or record less often or of fewer things";
        Err(run_failed(py, &self.document.error_about("duration", &what, remedy).to_string()))
    }
}

/// Fair rates as Python asks for them.
fn asked(utilization: Option<f64>, gmm: bool) -> Asked {
    Asked { utilization, criterion: if gmm { Criterion::Gmm } else { Criterion::McrPlusShare } }
}

/// Max-min fair share of a flow, by names.
fn row(scenario: &Resolved, share: FairShare, at: Option<Time>) -> Share {
    let vc = scenario.connection(share.flow.connection()).name.clone();
    let port = match share.bottleneck {
        Bottleneck::Port(port) | Bottleneck::Shaping(port) => Some(port_name(scenario, port)),
        Bottleneck::PeakCellRate => None,
    };
    let channels = scenario.connection(share.flow.connection()).channels(share.flow.is_backward());
    // FRMs of the path are cells of their own.
    let data = match &scenario.flow(share.flow).sender {
        Sender::Abr(abr) => share.rate * abr.parameters.data_share(),
        Sender::Peak(_) => share.rate,
    };
    let rates = of_channels(channels, data, at);
    let channels = channels.iter().zip(rates).map(|(one, rate)| (one.name.clone(), rate.as_cells_per_s()));
    (vc, share.flow.is_backward(), share.rate.as_cells_per_s(), port, channels.collect())
}

/// `document` with another value at each path, and with what is in the files that it refers to.
fn whole(
    mut document: Document,
    settings: &[(String, String)],
    places: &Places,
) -> Result<Document, ScenarioError> {
    for (path, value) in settings {
        document.check_not_swept(path)?;
        document.set(path, value)?;
    }
    document.read_files_from(&places.own, &places.allowed)?;
    Ok(document)
}

#[pymethods]
impl Scenario {
    /// Reads a scenario file; errors call it `file`. The files that it refers to are in `folder` or in `allowed`
    /// folders, and read when the value at each path has been replaced.
    #[staticmethod]
    #[pyo3(signature = (text, file, folder, settings, allowed=Vec::new()))]
    fn parse(
        py: Python<'_>,
        text: &[u8],
        file: &str,
        folder: PathBuf,
        settings: Vec<(String, String)>,
        allowed: Vec<PathBuf>,
    ) -> PyResult<Scenario> {
        let (text, file) = (text.to_vec(), file.to_string());
        let places = Arc::new(Places { own: folder, allowed });
        let known = Arc::clone(&places);
        let document = interruptible(py, move || {
            Document::parse_bytes(&text, &file).and_then(|document| whole(document, &settings, &known))
        })?;
        Ok(Scenario::of(document.map_err(|error| scenario_error(py, &error))?, places))
    }

    /// A copy in which the value at each path is another one, written as in TOML or as plain text.
    fn with_set(&self, py: Python<'_>, settings: Vec<(String, String)>) -> PyResult<Scenario> {
        let places = Arc::clone(&self.places);
        let changed = self.with_document(py, move |document| whole(document.clone(), &settings, &places))?;
        Ok(Scenario::of(changed, Arc::clone(&self.places)))
    }

    /// A copy with another seed, which is not checked before it runs.
    fn with_seed(&self, seed: i64) -> Scenario {
        Scenario::of(self.document.with_seed(seed), Arc::clone(&self.places))
    }

    /// The points of the sweep, each with what it sets; one point that sets nothing when there is no sweep.
    fn points(&self, py: Python<'_>) -> PyResult<Vec<Point>> {
        let places = Arc::clone(&self.places);
        let points = self.with_document(py, move |document| {
            let taken_in = |SweepPoint { set, document }| Ok((set, whole(document, &[], &places)?));
            document.points()?.into_iter().map(taken_in).collect::<Result<Vec<_>, _>>()
        })?;
        let of = |document| Scenario::of(document, Arc::clone(&self.places));
        Ok(match <[_; 1]>::try_from(points) {
            // Without a sweep it is this one, which need not be resolved again.
            Ok([(set, _)]) if set.is_empty() => {
                let (document, places) = (Arc::clone(&self.document), Arc::clone(&self.places));
                vec![(set, Scenario { document, places, number: self.number })]
            }
            Ok([(set, document)]) => vec![(set, of(document))],
            Err(points) => points.into_iter().map(|(set, document)| (set, of(document))).collect(),
        })
    }

    /// Checks everything that a run would; gives name, duration \[s\] and seed.
    fn check(&self, py: Python<'_>) -> PyResult<(String, f64, u64)> {
        let mut scenario = self.resolved(py)?;
        scenario = if scenario.applications.is_empty() { self.ready(py)? } else { self.lived(py)? };
        Ok((scenario.name.clone(), scenario.duration.as_secs_f64(), scenario.seed))
    }

    /// Purpose of the scenario, as its text says.
    fn purpose(&self) -> String {
        self.document.purpose()
    }

    /// Max-min fair rates of the ABR flows when ports hand out `utilization` of their lines, or what their algorithms
    /// do; by generalized max-min with `gmm`.
    fn fair(&self, py: Python<'_>, utilization: Option<f64>, gmm: bool) -> PyResult<Vec<Share>> {
        let scenario = self.resolved(py)?;
        let (of, asked) = (Arc::clone(&scenario), asked(utilization, gmm));
        let shares = interruptible(py, move || max_min(&of, asked))?;
        let shares = shares.map_err(|error| oversubscribed(py, &error))?;
        Ok(shares.into_iter().map(|share| row(&scenario, share, None)).collect())
    }

    /// CBR and VBR directions with traffic, which go before ABR: name, rate \[cells/s\] that fair rates take off, and
    /// the mean of one that varies.
    fn before_abr(&self, py: Python<'_>) -> PyResult<Vec<Before>> {
        let scenario = self.resolved(py)?;
        let rate = |rate: Option<CellRate>| rate.map(CellRate::as_cells_per_s);
        let rows = before_abr(&scenario).into_iter();
        Ok(rows.map(|one| (flow_name(&scenario, one.flow), rate(one.counted), rate(one.mean))).collect())
    }

    /// Max-min fair rates of the ABR flows that send, from each instant \[s\] on at which that changes, when ports hand
    /// out `utilization` of their lines, or what their algorithms do; by generalized max-min with `gmm`.
    fn fair_over_time(
        &self,
        py: Python<'_>,
        utilization: Option<f64>,
        gmm: bool,
    ) -> PyResult<Vec<(f64, Vec<Share>)>> {
        let scenario = self.resolved(py)?;
        let (of, asked) = (Arc::clone(&scenario), asked(utilization, gmm));
        let spans = interruptible(py, move || max_min_over_time(&of, asked))?;
        let spans = spans.map_err(|error| oversubscribed(py, &error))?;
        let rows = |at, shares: Vec<FairShare>| {
            shares.into_iter().map(|share| row(&scenario, share, Some(at))).collect()
        };
        Ok(spans.into_iter().map(|(at, shares)| (at.as_secs_f64(), rows(at, shares))).collect())
    }

    /// The ports of which is known before a run that their algorithm cannot settle, as JSON text: rows of `unsettled`.
    fn cannot_settle(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = self.resolved(py)?;
        Ok(serde_json::json!(cannot_settle(&scenario)).to_string())
    }

    /// The ports whose lines are promised more than once, as JSON text: rows of `overbooked`.
    fn overbooked(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = self.resolved(py)?;
        Ok(serde_json::json!(overbooked(&scenario)).to_string())
    }

    /// Connection, direction, and the instant \[s\] from which on it has no new data, of flows that end before the run.
    fn ends(&self, py: Python<'_>) -> PyResult<Vec<(String, bool, f64)>> {
        let scenario = self.resolved(py)?;
        let ends = scenario.flows().filter_map(|flow| {
            let name = &scenario.connection(flow.connection()).name;
            Some((name.clone(), flow.is_backward(), ends_at(&scenario, flow)?.as_secs_f64()))
        });
        Ok(ends.collect())
    }

    /// The ports at which others may take what is promised, as JSON text: rows of `unkept`.
    fn unkept(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = self.resolved(py)?;
        Ok(serde_json::json!(unkept(&scenario)).to_string())
    }

    /// The number of threads that can share a run.
    fn most_threads(&self, py: Python<'_>) -> PyResult<usize> {
        let scenario = self.document.resolve_for_simulation().map_err(|error| scenario_error(py, &error))?;
        Ok(cellrate_sim::clusters_of(&scenario))
    }

    /// Name, entity and unit of each series that a simulation records, and the interval \[ps\] of one taken at
    /// intervals.
    fn series(&self, py: Python<'_>) -> PyResult<Vec<SeriesInfo>> {
        let scenario = self.simulated(py)?;
        let interval = |probe: &Probe| probe.every.interval().map(cellrate_proto::Duration::as_ps);
        let names = cellrate_sim::series_of(&scenario).into_iter().zip(&scenario.probes);
        Ok(names.map(|((probe, entity, unit), from)| (probe, entity, unit, interval(from))).collect())
    }

    /// The network as JSON text: nodes, each with what its ports do about congestion; links; and the ways of
    /// connections.
    fn topology(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = self.resolved(py)?;
        serde_json::to_string(&Topology::of(&scenario))
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Kind ("algorithm", "policy", "traffic") and name of what is not built in, each once.
    fn customs(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let scenario = self.resolved(py)?;
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
