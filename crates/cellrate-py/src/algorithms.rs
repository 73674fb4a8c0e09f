//! Switch algorithms written in Python: `cellrate.algorithms` says what they are, here they are called.
//!
//! To cross into Python costs more than most of what is done there. So FRMs, whose calls give no answer, are told
//! together with the next call that does, in their order; and an answer that is a plain rate is read here.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cellrate_engine::plugins::AlgorithmPort;
use cellrate_proto::switch::{
    AveragingInterval, Feedback, IntervalLoad, Meter, Metering, Promises, RoundTrips, Slot, SwitchAlgorithm,
    VcAtPort,
};
use cellrate_proto::{CellRate, Cells, Duration, Time};
use cellrate_scenario::{CustomAlgorithm, least_interval};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyList};

use crate::error::parameter_error;
use crate::making::{Failure, note, note_place, parameters};

/// `cellrate.algorithms.Calls`: `None` where there is nothing to call.
#[derive(Default, FromPyObject)]
struct Calls {
    interval_s: Option<f64>,
    interval_cells: Option<u32>,
    counts_vcs: bool,
    sees_running: bool,
    on_connect: Option<Py<PyAny>>,
    on_forward_rm: Option<Py<PyAny>>,
    on_link_rate: Option<Py<PyAny>>,
    on_interval_end: Option<Py<PyAny>>,
    on_backward_rm: Option<Py<PyAny>>,
    answer: Option<Py<PyAny>>,
    figures: Option<Py<PyAny>>,
}

/// The one that `maker` makes for a port, or one that does nothing if making it raises. The maker is called with the
/// port, its link rate [cells/s], parameters and names of figures, and gives `cellrate.algorithms.Calls`.
pub fn make(
    maker: &Py<PyAny>,
    failure: &Failure,
    custom: &CustomAlgorithm,
    port: AlgorithmPort<'_>,
) -> Box<dyn SwitchAlgorithm + Send> {
    let figures = interned(&custom.figures);
    let calls = failure.attempt(|py| {
        let parameters = parameters(py, &custom.parameters)?;
        let arguments = (port.name, port.link_rate.as_cells_per_s(), parameters, PyList::new(py, figures)?);
        let calls = maker.bind(py).call1(arguments)?.extract::<Calls>()?;
        check_interval(py, &calls, &port, custom)?;
        Ok(calls)
    });
    let calls = calls.unwrap_or_default();
    Box::new(PythonAlgorithm {
        calls,
        figures,
        connections: 0,
        round_trips: RoundTrips::default(),
        failure: failure.clone(),
        port: port.name.to_owned(),
        untold: RefCell::default(),
    })
}

/// Refuses intervals that a built-in algorithm may not have either.
fn check_interval(
    py: Python<'_>,
    calls: &Calls,
    port: &AlgorithmPort<'_>,
    custom: &CustomAlgorithm,
) -> PyResult<()> {
    let Some(interval_s) = calls.interval_s else { return Ok(()) };
    let least = least_interval(port.link_rate.interval());
    if Duration::from_secs_f64(interval_s) >= least {
        return Ok(());
    }
    let (name, port) = (&custom.name, port.name);
    Err(parameter_error(
        py,
        &format!(
            "the interval of the algorithm \"{name}\" of port {port} is {interval_s} s; it must be at least {least}"
        ),
    ))
}

/// One of them at one port.
struct PythonAlgorithm {
    calls: Calls,
    figures: &'static [&'static str],
    connections: u32,
    round_trips: RoundTrips,
    failure: Failure,
    /// As results call it.
    port: String,
    /// FRMs that it has not been told of, in order.
    untold: RefCell<Vec<ForwardRm>>,
}

/// Instant, connection, CCR and what had come, if that is wanted.
type ForwardRm = (Time, Slot, CellRate, Option<Running>);

/// At most so many FRMs wait to be told.
const MOST_UNTOLD: usize = 64;

/// Start \[s\], ABR cells, CBR and VBR cells, active connections, cells of one connection.
type Running = (f64, u64, u64, u32, u64);

impl PythonAlgorithm {
    /// Where it is called for a connection, for errors.
    fn place(&self, slot: Slot, method: &str) -> String {
        format!("port {}, connection number {} there, in {method}", self.port, slot.0)
    }

    /// As [`attempt`](PythonAlgorithm::attempt), where no instant is known.
    fn attempt_in<T>(&self, method: &str, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        let place = || format!("port {}, in {method}", self.port);
        self.attempt(|py| call(py).inspect_err(|error| note_place(py, error, place)))
    }

    /// Counts of the open interval, if they are wanted.
    fn running(&self, slot: Slot, meter: &Meter) -> Option<Running> {
        let counts = || {
            let (start, own) = (meter.start().as_secs_f64(), meter.cells(slot));
            (start, meter.abr_cells(), meter.guaranteed_cells(), meter.active(), own)
        };
        self.calls.sees_running.then(counts)
    }

    /// Calls into Python, after what it has not been told of: FRMs are told before anything else is asked.
    fn attempt<T>(&self, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        self.failure.attempt(|py| {
            self.tell_with(py)?;
            call(py)
        })
    }

    /// As [`attempt`](PythonAlgorithm::attempt); what the call raises is given a note that says where and when.
    fn attempt_at<T>(
        &self,
        now: Time,
        place: impl FnOnce() -> String,
        call: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> Option<T> {
        self.attempt(|py| call(py).inspect_err(|error| note(py, error, now, place)))
    }

    /// Tells it of the FRMs that it has not been told of.
    fn tell(&self) {
        self.failure.attempt(|py| self.tell_with(py));
    }

    fn tell_with(&self, py: Python<'_>) -> PyResult<()> {
        let Some(call) = &self.calls.on_forward_rm else { return Ok(()) };
        for (now, slot, ccr, running) in self.untold.take() {
            let (seconds, ccr) = (now.as_secs_f64(), ccr.as_cells_per_s());
            let told = match running {
                None => call.call1(py, (seconds, slot.0, ccr)),
                Some(running) => call.call1(py, (seconds, slot.0, ccr, running)),
            };
            told.inspect_err(|error| note(py, error, now, || self.place(slot, "on_forward_rm")))?;
        }
        Ok(())
    }
}

impl Drop for PythonAlgorithm {
    fn drop(&mut self) {
        if !self.untold.borrow().is_empty() {
            self.tell();
        }
    }
}

/// ER at most, CI and NI.
type Answer = Option<(Option<f64>, bool, bool)>;

/// Answer of a call of `on_backward_rm`: a rate as it is, anything else by `answer`, which checks it.
fn read(py: Python<'_>, given: &Bound<'_, PyAny>, answer: &Py<PyAny>) -> PyResult<Answer> {
    if given.is_none() {
        return Ok(None);
    }
    if let Ok(rate) = given.cast_exact::<PyFloat>() {
        let rate = rate.value();
        if rate >= 0.0 {
            return Ok(Some((Some(rate), false, false)));
        }
    }
    answer.call1(py, (given,))?.extract(py)
}

impl Promises for PythonAlgorithm {
    /// One that hears of no interval, or of nothing any more, misses none where nothing comes.
    fn is_at_rest(&self) -> bool {
        self.calls.on_interval_end.is_none() || self.failure.happened()
    }
}

impl SwitchAlgorithm for PythonAlgorithm {
    fn metering(&self) -> Option<Metering> {
        let Calls { interval_s, interval_cells, counts_vcs, .. } = self.calls;
        let time = interval_s.map_or(Duration::FOREVER, Duration::from_secs_f64);
        let interval = AveragingInterval { time, cells: interval_cells };
        // Without any interval, too: who is not metered does not hear of FRMs.
        Some(Metering { interval, bidirectional: false, history: counts_vcs })
    }

    fn on_connect(&mut self, slot: Slot, vc: &VcAtPort) {
        self.connections += 1;
        self.round_trips.connect(vc);
        let [pcr, mcr] = [vc.pcr, vc.mcr].map(CellRate::as_cells_per_s);
        let Some(call) = &self.calls.on_connect else { return };
        self.attempt_in("on_connect", |py| call.call1(py, (slot.0, pcr, mcr, vc.weight)).map(drop));
    }

    fn on_forward_rm(&mut self, now: Time, slot: Slot, ccr: CellRate, meter: &Meter) {
        if self.calls.on_forward_rm.is_none() {
            return;
        }
        let running = self.running(slot, meter);
        let untold = self.untold.get_mut();
        untold.push((now, slot, ccr, running));
        if untold.len() >= MOST_UNTOLD {
            self.tell();
        }
    }

    fn on_backward_rm(
        &mut self,
        now: Time,
        slot: Slot,
        queue: Cells,
        meter: &Meter,
        feedback: &mut Feedback,
    ) {
        let (Some(call), Some(answer)) = (&self.calls.on_backward_rm, &self.calls.answer) else { return };
        let running = self.running(slot, meter);
        let answer = self.attempt_at(
            now,
            || self.place(slot, "on_backward_rm"),
            |py| {
                let now = now.as_secs_f64();
                let given = match running {
                    None => call.bind(py).call1((now, slot.0, queue.0)),
                    Some(running) => call.bind(py).call1((now, slot.0, queue.0, running)),
                };
                read(py, &given?, answer)
            },
        );
        let Some(Some((er, ci, ni))) = answer else { return };
        if let Some(er) = er {
            feedback.limit(CellRate::new(er));
        }
        if ci {
            feedback.indicate_congestion();
        }
        if ni {
            feedback.forbid_increase();
        }
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        let Some(call) = &self.calls.on_link_rate else { return };
        self.attempt_in("on_link_rate", |py| call.call1(py, (link_rate.as_cells_per_s(),)).map(drop));
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, meter: &Meter) {
        let Some(call) = &self.calls.on_interval_end else { return };
        let counted = if self.calls.counts_vcs { self.connections } else { 0 };
        let place = || format!("port {}, at the end of an interval", self.port);
        self.attempt_at(load.end, place, |py| {
            // Very many may end in one step of the run, which looks for signals only between its steps.
            py.check_signals()?;
            let vc_cells: Vec<u64> = (0..counted).map(|slot| meter.previous_cells(Slot(slot))).collect();
            let round_trips = self.round_trips.of_last_interval(meter).filter(|_| self.calls.counts_vcs);
            let terms = load.others().terms().map(|term| (term.part, term.first.as_cells_per_s()));
            let told = (
                load.start.as_secs_f64(),
                load.end.as_secs_f64(),
                load.length().as_secs_f64(),
                load.abr_cells,
                load.guaranteed_cells,
                load.active,
                load.abr_queue.0,
                vc_cells,
                terms.collect::<Vec<_>>(),
                round_trips.map(|round_trips| round_trips.mean),
                round_trips.map(|round_trips| round_trips.longest),
            );
            let load = py.import("cellrate.algorithms")?.getattr("Load")?.call1(told)?;
            call.call1(py, (load,)).map(drop)
        });
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let Some(call) = &self.calls.figures else { return };
        let values = self.attempt_in("figures", |py| call.call0(py)?.extract::<Vec<f64>>(py));
        for (name, value) in self.figures.iter().zip(values.unwrap_or_default()) {
            visit(name, value);
        }
    }
}

/// Names that stay for as long as the process does: the same ones take room once.
fn interned(names: &[String]) -> &'static [&'static str] {
    static NAMES: Mutex<BTreeSet<&'static [&'static str]>> = Mutex::new(BTreeSet::new());
    let mut known = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known.iter().find(|known| known.iter().eq(names.iter())).copied();
    found.unwrap_or_else(|| {
        let leaked = names.iter().map(|name| &*name.clone().leak()).collect::<Vec<&'static str>>().leak();
        known.insert(leaked);
        leaked
    })
}
