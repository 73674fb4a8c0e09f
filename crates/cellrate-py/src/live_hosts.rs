//! Hosts of a live run.

use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Mutex, PoisonError};

use cellrate_live::host::Host as LiveHost;
use pyo3::prelude::*;

use crate::error::host_error;
use crate::scenario::Scenario;

/// A host: a network namespace with its device to the network.
#[pyclass(frozen, module = "cellrate._native")]
pub struct Host {
    name: String,
    address: String,
    mtu: u64,
    host: Mutex<LiveHost>,
}

impl Host {
    /// The host itself.
    pub fn host(&self) -> &Mutex<LiveHost> {
        &self.host
    }
}

#[pymethods]
impl Host {
    /// The node's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Its IPv4 address.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// Its largest IP packet \[octets\].
    #[getter]
    fn mtu(&self) -> u64 {
        self.mtu
    }

    /// The descriptor of its namespace, valid as long as this object.
    fn fileno(&self) -> i32 {
        let host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        host.namespace().as_fd().as_raw_fd()
    }
}

/// Makes a machine of every host of the scenario, in their order.
#[pyfunction]
pub fn make_hosts(py: Python<'_>, scenario: &Scenario) -> PyResult<Vec<Host>> {
    let scenario = scenario.lived(py)?;
    let make = || {
        scenario.hosts.iter().zip(&scenario.nodes).map(|(settings, node)| {
            let host = LiveHost::new(settings).map_err(|error| (node.name.clone(), error))?;
            let (name, address) = (node.name.clone(), settings.address.to_string());
            Ok(Host { name, address, mtu: settings.mtu.0, host: Mutex::new(host) })
        })
    };
    py.detach(|| make().collect::<Result<Vec<_>, _>>()).map_err(|(name, error)| host_error(py, &name, &error))
}
