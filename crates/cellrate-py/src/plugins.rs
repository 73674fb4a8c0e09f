//! Plugins in Python: `cellrate.plugins.collection` collects what is not built in, and here it is made for a run.

use std::collections::HashMap;

use cellrate_engine::plugins::{AlgorithmPort, Plugins, SendingEnd};
use cellrate_scenario::{Custom, CustomAlgorithm};
use pyo3::prelude::*;

use crate::making::Failure;
use crate::{algorithms, policies, traffic};

/// `cellrate.plugins.collection.PluginMakers`: what makes things, by the names that scenarios have for them.
#[derive(Default, FromPyObject)]
pub struct PluginMakers {
    algorithms: HashMap<String, Py<PyAny>>,
    policies: HashMap<String, Py<PyAny>>,
    traffic: HashMap<String, Py<PyAny>>,
}

/// Plugins in Python for one run.
pub struct PythonPlugins {
    makers: PluginMakers,
    failure: Failure,
}

impl PythonPlugins {
    /// Plugins that `makers` make; none without.
    pub fn new(makers: Option<PluginMakers>) -> PythonPlugins {
        PythonPlugins { makers: makers.unwrap_or_default(), failure: Failure::default() }
    }

    /// The exception that a plugin has raised, if any has.
    pub fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// Hands it over for as long as `run` takes.
    pub fn lend<T>(&self, run: impl FnOnce(Plugins<'_>) -> T) -> T {
        let PythonPlugins { makers, failure } = self;
        run(Plugins {
            algorithms: &|custom: &CustomAlgorithm, port: AlgorithmPort<'_>| {
                Some(algorithms::make(makers.algorithms.get(&custom.name)?, failure, custom, port))
            },
            policies: &|custom: &Custom, end: SendingEnd<'_>| {
                Some(policies::make(makers.policies.get(&custom.name)?, failure, custom, end))
            },
            traffic: &|custom: &Custom, end: SendingEnd<'_>| {
                Some(traffic::make(makers.traffic.get(&custom.name)?, failure, custom, end))
            },
        })
    }
}
