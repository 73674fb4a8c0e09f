//! Switch algorithms written in Python: `cellrate.algorithms` says what they are, here they are called.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cellrate_engine::given::AlgorithmPort;
use cellrate_proto::switch::{
    AveragingInterval, Feedback, IntervalLoad, Meter, Metering, Metrics, Slot, SwitchAlgorithm, VcAtPort,
};
use cellrate_proto::{CellRate, Cells, Duration, Time};
use cellrate_scenario::CustomAlgorithm;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::making::{Failure, parameters};

/// `cellrate.algorithms.Calls`: `None` where there is nothing to call.
#[derive(Default, FromPyObject)]
struct Calls {
    interval_s: Option<f64>,
    interval_cells: Option<u32>,
    counts_vcs: bool,
    sees_running: bool,
    on_connect: Option<Py<PyAny>>,
    on_forward_rm: Option<Py<PyAny>>,
    on_interval_end: Option<Py<PyAny>>,
    on_backward_rm: Option<Py<PyAny>>,
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
        maker.bind(py).call1(arguments)?.extract::<Calls>()
    });
    let calls = calls.unwrap_or_default();
    Box::new(PythonAlgorithm {
        calls,
        figures,
        connections: 0,
        failure: failure.clone(),
        port: port.name.to_owned(),
    })
}

/// One of them at one port.
struct PythonAlgorithm {
    calls: Calls,
    figures: Metrics,
    connections: u32,
    failure: Failure,
    /// As results call it.
    port: String,
}

/// Start \[s\], ABR cells, CBR and VBR cells, active connections, cells of one connection.
type Running = (f64, u64, u64, u32, u64);

impl PythonAlgorithm {
    /// Where it is called for a connection, for errors.
    fn place(&self, slot: Slot) -> String {
        format!("port {}, connection number {} there", self.port, slot.0)
    }

    /// What has come since the interval began, if that is wanted.
    fn running(&self, slot: Slot, meter: &Meter) -> Option<Running> {
        let counts = || {
            let (start, own) = (meter.start().as_secs_f64(), meter.cells(slot));
            (start, meter.abr_cells(), meter.guaranteed_cells(), meter.active(), own)
        };
        self.calls.sees_running.then(counts)
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
        let Some(call) = &self.calls.on_connect else { return };
        let [pcr, mcr] = [vc.pcr, vc.mcr].map(CellRate::as_cells_per_s);
        self.failure.attempt(|py| call.call1(py, (slot.0, pcr, mcr, vc.weight)).map(drop));
    }

    fn on_forward_rm(&mut self, now: Time, slot: Slot, ccr: CellRate, meter: &Meter) {
        let Some(call) = &self.calls.on_forward_rm else { return };
        let (at, now, ccr) = (now, now.as_secs_f64(), ccr.as_cells_per_s());
        self.failure.attempt_at(
            at,
            || self.place(slot),
            |py| match self.running(slot, meter) {
                None => call.call1(py, (now, slot.0, ccr)).map(drop),
                Some(running) => call.call1(py, (now, slot.0, ccr, running)).map(drop),
            },
        );
    }

    fn on_backward_rm(
        &mut self,
        now: Time,
        slot: Slot,
        queue: Cells,
        meter: &Meter,
        feedback: &mut Feedback,
    ) {
        let Some(call) = &self.calls.on_backward_rm else { return };
        let (at, now) = (now, now.as_secs_f64());
        let answer = self.failure.attempt_at(
            at,
            || self.place(slot),
            |py| {
                let answer = match self.running(slot, meter) {
                    None => call.call1(py, (now, slot.0, queue.0)),
                    Some(running) => call.call1(py, (now, slot.0, queue.0, running)),
                };
                answer?.extract::<Option<(Option<f64>, bool, bool)>>(py)
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

    fn on_interval_end(&mut self, load: &IntervalLoad, meter: &Meter) {
        let Some(call) = &self.calls.on_interval_end else { return };
        let counted = if self.calls.counts_vcs { self.connections } else { 0 };
        let place = || format!("port {}, at the end of an interval", self.port);
        self.failure.attempt_at(load.end, place, |py| {
            let vc_cells: Vec<u64> = (0..counted).map(|slot| meter.previous_cells(Slot(slot))).collect();
            let told = (
                load.start.as_secs_f64(),
                load.end.as_secs_f64(),
                load.length().as_secs_f64(),
                load.abr_cells,
                load.guaranteed_cells,
                load.active,
                load.abr_queue.0,
                vc_cells,
            );
            let load = py.import("cellrate.algorithms")?.getattr("Load")?.call1(told)?;
            call.call1(py, (load,)).map(drop)
        });
    }

    fn metric_names(&self) -> Metrics {
        self.figures
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let Some(call) = &self.calls.figures else { return };
        let values = self.failure.attempt(|py| call.call0(py)?.extract::<Vec<f64>>(py));
        for (name, value) in self.figures.iter().zip(values.unwrap_or_default()) {
            visit(name, value);
        }
    }
}

/// Names that stay for as long as the process does: the same ones take room once.
fn interned(names: &[String]) -> Metrics {
    static NAMES: Mutex<BTreeSet<Metrics>> = Mutex::new(BTreeSet::new());
    let mut known = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known.iter().find(|known| known.iter().eq(names.iter())).copied();
    found.unwrap_or_else(|| {
        let leaked = names.iter().map(|name| &*name.clone().leak()).collect::<Vec<&'static str>>().leak();
        known.insert(leaked);
        leaked
    })
}
