//! `explain`: the steps of a source's ACR, with the rules and the RM cells behind them.

#![expect(clippy::disallowed_methods, reason = "tells how far it is, now and then")]

use std::ops::ControlFlow;
use std::time::Instant;

use cellrate_proto::{Duration, Time};
use cellrate_sim::Explaining;
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{parameter_error, run_error};
use crate::interruptible::interrupted;
use crate::plugins::{PluginMakers, PythonPlugins};
use crate::run_result::REPORT_EVERY;
use crate::scenario::Scenario;

/// The last `most` steps of the ACR of `vc` up to `until_s` \[s\], and `words` about the last of them, as JSON text.
/// What `plugins` raise, and what a signal raises, ends the run and is raised here.
#[pyfunction]
#[pyo3(signature = (scenario, vc, until_s, most, plugins=None))]
pub fn explain(
    py: Python<'_>,
    scenario: &Scenario,
    vc: &str,
    until_s: f64,
    most: usize,
    plugins: Option<PluginMakers>,
) -> PyResult<String> {
    let scenario = scenario.ready(py)?;
    let sources = cellrate_sim::explainable(&scenario);
    let Some(&(_, flow)) = sources.iter().find(|(name, _)| name == vc) else {
        let names: Vec<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
        let there = if names.is_empty() { "none".to_owned() } else { listed(&names) };
        return Err(parameter_error(py, &format!("no ABR source is called {vc}; ABR sources are {there}")));
    };
    let until = Time::ZERO + Duration::from_secs_f64(until_s);
    let plugins = PythonPlugins::new(plugins);
    let failure = plugins.failure();
    let (mut raised, mut last) = (None, Instant::now());
    let outcome = py.detach(|| {
        let mut goes_on = |_| {
            if failure.happened() {
                return ControlFlow::Break(());
            }
            if last.elapsed() < REPORT_EVERY {
                return ControlFlow::Continue(());
            }
            last = Instant::now();
            match Python::attach(|py| py.check_signals().map_err(|error| interrupted(py, error))) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let mut explaining = plugins.lend(|plugins| Explaining::begin(&scenario, plugins, flow, most))?;
        explaining.advance(until, &mut goes_on)?;
        Ok(json!({ "steps": explaining.steps(until), "words": explaining.words(until) }).to_string())
    });
    if let Some(error) = failure.take() {
        return Err(interrupted(py, error));
    }
    if let Some(error) = raised {
        return Err(error);
    }
    outcome.map_err(|error| run_error(py, &error))
}

/// Names as an error lists them.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
