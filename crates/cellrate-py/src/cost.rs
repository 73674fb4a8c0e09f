//! `algorithm_cost`: what a scenario's switch algorithm costs this processor.

#![expect(clippy::disallowed_methods, reason = "measures a cost")]

use std::time::Instant;

use cellrate_engine::cost::{Cost, measure};
use pyo3::prelude::*;

use crate::error::run_failed;
use crate::plugins::{PluginMakers, PythonPlugins};
use crate::scenario::Scenario;

/// Time \[ns\] of an RM cell and of the end of an averaging interval (`None` where none ends), at the first port of the
/// scenario with an algorithm; measured for `budget_s` or a bit longer.
#[pyfunction]
#[pyo3(signature = (scenario, budget_s, plugins=None))]
pub fn algorithm_cost(
    py: Python<'_>,
    scenario: &Scenario,
    budget_s: f64,
    plugins: Option<PluginMakers>,
) -> PyResult<(f64, Option<f64>)> {
    let scenario = scenario.resolved(py)?;
    let port = scenario.ports().find(|&port| {
        let port = scenario.port(port);
        port.custom.is_some() || port.control.algorithm.form().is_some()
    });
    let port = port.ok_or_else(|| run_failed(py, "no port of the scenario has a switch algorithm"))?;
    let plugins = PythonPlugins::new(plugins);
    let failure = plugins.failure();
    let measured = py.detach(|| {
        plugins.lend(|plugins| {
            let mut control = plugins.control(&scenario, port)?;
            let begun = Instant::now();
            let mut clock = || begun.elapsed().as_nanos() as u64;
            let line = scenario.link(port.link()).rate.to_cell_rate();
            Ok::<Cost, cellrate_engine::plugins::MissingPlugin>(measure(
                &mut control,
                line,
                &mut clock,
                (budget_s * 1e9) as u64,
            ))
        })
    });
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let Cost { rm_cell, interval } = measured.map_err(|error| run_failed(py, &error.to_string()))?;
    Ok((rm_cell, interval))
}

/// The algorithms that are built in: the name of each, and the names of the keys that have no default.
#[pyfunction]
pub fn built_in_algorithms() -> Vec<(&'static str, Vec<&'static str>)> {
    let required = |keys: &'static [cellrate_proto::declaration::Key]| {
        keys.iter().filter(|key| key.required).map(|key| key.name).collect()
    };
    let forms = cellrate_proto::switch::FORMS.iter();
    forms.map(|form| (form.shape.name, required(form.shape.keys))).collect()
}
