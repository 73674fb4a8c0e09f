//! The one mapping from Rust errors to the exceptions of `cellrate.errors`.

use cellrate_capture::CaptureError;
use cellrate_engine::plugins::{CustomKind, MissingPlugin, Wanted};
#[cfg(live)]
use cellrate_live::host::HostError;
use cellrate_scenario::ScenarioError;
use cellrate_scenario::fair::Oversubscribed;
use cellrate_sim::RunError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// `cellrate.ScenarioError` with its attributes.
pub fn scenario_error(py: Python<'_>, error: &ScenarioError) -> PyErr {
    raised(|| {
        let fields = PyDict::new(py);
        fields.set_item("file", error.file())?;
        fields.set_item("line", error.line())?;
        fields.set_item("column", error.column())?;
        fields.set_item("key", error.key())?;
        fields.set_item("message", error.message())?;
        fields.set_item("remedy", error.remedy())?;
        class(py, "ScenarioError")?.call((error.to_string(),), Some(&fields))
    })
}

/// `cellrate.ScenarioError` without a place.
pub fn oversubscribed(py: Python<'_>, error: &Oversubscribed) -> PyErr {
    raised(|| class(py, "ScenarioError")?.call1((error.to_string(),)))
}

/// `cellrate.CellrateError` for a parameter that is out of range.
pub fn parameter_error(py: Python<'_>, text: &str) -> PyErr {
    raised(|| class(py, "CellrateError")?.call1((text,)))
}

/// `cellrate.RunError` for a capture that could not be written.
pub fn capture_error(py: Python<'_>, error: &CaptureError) -> PyErr {
    raised(|| class(py, "RunError")?.call1((error.to_string(),)))
}

/// `cellrate.RunError` for what a run was given that ended it in a way of its own.
pub fn run_failed(py: Python<'_>, text: &str) -> PyErr {
    raised(|| class(py, "RunError")?.call1((text,)))
}

/// `cellrate.Interrupted` or `cellrate.RunError`; `cellrate.CellrateError` where the caller should have given more.
pub fn run_error(py: Python<'_>, error: &RunError) -> PyErr {
    let name = match error {
        RunError::MissingPlugin(error) => return not_given(py, error),
        RunError::Interrupted => "Interrupted",
        RunError::TooLong { .. }
        | RunError::TooLongInBand { .. }
        | RunError::TooLarge { .. }
        | RunError::BacklogTooLong { .. }
        | RunError::NotConserved { .. } => "RunError",
    };
    raised(|| class(py, name)?.call1((error.to_string(),)))
}

/// `cellrate.CellrateError`, with what to do about it.
pub fn not_given(py: Python<'_>, error: &MissingPlugin) -> PyErr {
    let Wanted { kind, name, .. } = &error.0;
    let keyword = match kind {
        CustomKind::Algorithm => "algorithms",
        CustomKind::Policy => "policies",
        CustomKind::Traffic => "traffic",
    };
    let remedy = format!(
        "give it: {keyword}={{\"{name}\": ...}} in Python, --{kind} {name}=FILE.py:CLASS on the command line"
    );
    parameter_error(py, &format!("{error}; {remedy}"))
}

/// `cellrate.LiveUnavailable` where the machine lacks something, `cellrate.RunError` where the kernel refuses a
/// setting.
#[cfg(live)]
pub fn host_error(py: Python<'_>, name: &str, error: &HostError) -> PyErr {
    let class_name = if error.is_lack() { "LiveUnavailable" } else { "RunError" };
    raised(|| class(py, class_name)?.call1((format!("host {name}: {error}"),)))
}

/// The exception for an error of a live run.
#[cfg(live)]
pub fn live_error(py: Python<'_>, error: &cellrate_live::engine::Error) -> PyErr {
    use cellrate_live::engine::Error;
    let name = match error {
        Error::MissingPlugin(error) => return not_given(py, error),
        Error::Interrupted => "Interrupted",
        // Something that the scenario lacks, not the machine.
        Error::NoAddress { .. } | Error::NoRate { .. } => "CellrateError",
        Error::TooLarge { .. }
        | Error::NoDevice { .. }
        | Error::NoApplication { .. }
        | Error::Bind { .. }
        | Error::TooLong { .. }
        | Error::TooLate { .. }
        | Error::System(_)
        | Error::NotConserved { .. } => "RunError",
    };
    raised(|| class(py, name)?.call1((error.to_string(),)))
}

/// `cellrate.LiveUnavailable` where this module has no live runs.
#[cfg(not(live))]
pub fn without_live(py: Python<'_>) -> PyErr {
    let text = "live runs need Linux, and this build of cellrate has none: use a machine, or a virtual machine, with Linux; \
                simulations run here as they do there";
    raised(|| class(py, "LiveUnavailable")?.call1((text,)))
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("cellrate.errors")?.getattr(name)
}

/// The instance as an error to raise, or what went wrong while making it.
fn raised<'py>(instance: impl FnOnce() -> PyResult<Bound<'py, PyAny>>) -> PyErr {
    instance().map_or_else(|error| error, PyErr::from_value)
}
