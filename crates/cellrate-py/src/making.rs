//! Making and calling of plugins in Python: arguments that are handed to them, exceptions that they raise.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cellrate_engine::plugins::SendingEnd;
use cellrate_proto::{CellRate, Time};
use cellrate_scenario::{Custom, CustomParameter};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The first exception that something that a run was given raised; nothing is called any more then.
#[derive(Clone, Default)]
pub struct Failure {
    happened: Arc<AtomicBool>,
    error: Arc<Mutex<Option<PyErr>>>,
}

impl Failure {
    /// Whether there was one.
    pub fn happened(&self) -> bool {
        self.happened.load(Ordering::Relaxed)
    }

    /// The exception.
    pub fn take(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Calls into Python, unless something has gone wrong there; `None` if something has or does.
    pub fn attempt<T>(&self, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.happened() {
            return None;
        }
        match Python::attach(call) {
            Ok(value) => Some(value),
            Err(error) => {
                let error = Python::attach(|py| contained(py, error));
                self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                self.happened.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    /// As [`attempt`](Failure::attempt); what is raised is given a note that says `where_` and when it happened.
    pub fn attempt_at<T>(
        &self,
        now: Time,
        where_: impl FnOnce() -> String,
        call: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> Option<T> {
        self.attempt(|py| call(py).inspect_err(|error| note(py, error, now, where_)))
    }
}

/// Gives an exception a note that says where and when it happened.
pub fn note(py: Python<'_>, error: &PyErr, now: Time, where_: impl FnOnce() -> String) {
    let note = format!("at network time {} s, {}", now.as_secs_f64(), where_());
    // Without the note it is the same exception.
    drop(error.value(py).call_method1("add_note", (note,)));
}

/// Gives an exception a note that says where it happened.
pub fn note_place(py: Python<'_>, error: &PyErr, where_: impl FnOnce() -> String) {
    // Without the note it is the same exception.
    drop(error.value(py).call_method1("add_note", (where_(),)));
}

/// Errors that would end the process, or pass by handlers of exceptions, become failures of the run:
/// `cellrate.plugin_classes.contained` says which.
fn contained(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyException>(py) {
        return error;
    }
    let found = || {
        let value = error.value(py);
        // Where it was raised is not yet with the value.
        value.setattr("__traceback__", error.traceback(py))?;
        py.import("cellrate.plugin_classes")?.getattr("contained")?.call1((value,))
    };
    found().map_or_else(|error| error, PyErr::from_value)
}

/// The parameters of a scenario, by name.
pub fn parameters<'py>(
    py: Python<'py>,
    parameters: &[(String, CustomParameter)],
) -> PyResult<Bound<'py, PyDict>> {
    let by_name = PyDict::new(py);
    for (name, value) in parameters {
        match value {
            CustomParameter::Boolean(flag) => by_name.set_item(name, flag)?,
            CustomParameter::Integer(number) => by_name.set_item(name, number)?,
            CustomParameter::Number(number) => by_name.set_item(name, number)?,
            CustomParameter::Text(text) => by_name.set_item(name, text)?,
        }
    }
    Ok(by_name)
}

/// The plugin that `maker` makes for an end: called with its name, PCR, MCR, the rate that it begins with [cells/s], a
/// seed, and parameters.
pub fn made_for_end<'py>(
    py: Python<'py>,
    maker: &Py<PyAny>,
    custom: &Custom,
    end: SendingEnd<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let SendingEnd { name, pcr, mcr, icr, seed } = end;
    let [pcr, mcr, icr] = [pcr, mcr, icr].map(CellRate::as_cells_per_s);
    let arguments = (name, pcr, mcr, icr, seed, parameters(py, &custom.parameters)?);
    maker.bind(py).call1(arguments)
}
