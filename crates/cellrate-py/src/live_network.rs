//! The network of a live run, in one process.

use std::sync::{Arc, PoisonError};

use cellrate_live::engine::{self, Offers, Options, Route, routes};
use cellrate_scenario::{ConnectionIndex, FlowIndex, NodeIndex, Scenario as Resolved};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;

use crate::capture::CaptureSettings;
use crate::live::{Reports, carry, part};
use crate::live_hosts::Host;
use crate::plugins::PluginMakers;
use crate::run_result::RunResult;
use crate::scenario::Scenario;

/// A network between hosts.
#[pyclass(frozen, module = "cellrate._native")]
pub struct LiveNetwork {
    scenario: Arc<Resolved>,
    hosts: Vec<Py<Host>>,
    routes: Vec<Route>,
    offers: Arc<Offers>,
}

#[pymethods]
impl LiveNetwork {
    /// The network of a scenario between its hosts, in their order.
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, hosts: Vec<Py<Host>>) -> PyResult<LiveNetwork> {
        let scenario = scenario.lived(py)?;
        let addresses: Vec<_> =
            (0..).map(NodeIndex).zip(scenario.hosts.iter().map(|host| host.address)).collect();
        let carries = |number: ConnectionIndex| scenario.connection(number).carries_packets();
        let routes = routes(&scenario, &addresses, carries);
        let offers = Arc::new(Offers::new(&scenario));
        Ok(LiveNetwork { scenario, hosts, routes, offers })
    }

    /// ACR of the adapter on the way from one host to another, and its PCR [cells/s].
    fn offer(&self, host: &str, peer: &str) -> PyResult<(f64, f64)> {
        let node = |name: &str| {
            let place = self.scenario.nodes.iter().position(|node| node.name == name);
            place.map(|place| NodeIndex(place as u32))
        };
        let way = node(host).zip(node(peer)).and_then(|(host, peer)| {
            let destination = self.scenario.hosts.get(peer.0 as usize)?.address;
            self.routes.iter().find(|route| route.host == host && route.destination == destination)
        });
        let route =
            way.ok_or_else(|| PyKeyError::new_err(format!("no vc carries packets from {host} to {peer}")))?;
        let forward = FlowIndex::of(route.connection, false);
        let begins_here = self.scenario.tail(self.scenario.step(forward, 0)) == route.host;
        let flow = if begins_here { forward } else { forward.other() };
        let (acr, pcr) = (self.offers.rate(flow), self.scenario.flow(flow).sender.pcr());
        Ok((acr.as_cells_per_s(), pcr.as_cells_per_s()))
    }

    /// Runs the network for the scenario's duration, without holding the interpreter. `progress` is called with the
    /// share done [0 to 1] about 20 times a second; what it raises ends the run and is raised here. With `nodes`, the
    /// hosts among them, only these are run, with cells in datagrams to the others, from `start_unix_ns` on: see
    /// `live_nodes`. `capture` as for `run`, of the ports of this process. `look` is called as often as `progress`,
    /// with the network's time \[s\], and the place, instants \[ps\] and new values of each series that has some.
    /// `plugins` and `nonce` as for `live_nodes`.
    #[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
    #[pyo3(signature = (progress, nodes=None, start_unix_ns=None, capture=None, look=None, plugins=None, nonce=None))]
    fn run(
        &self,
        py: Python<'_>,
        progress: Py<PyAny>,
        nodes: Option<Vec<String>>,
        start_unix_ns: Option<u64>,
        capture: Option<CaptureSettings>,
        look: Option<Py<PyAny>>,
        plugins: Option<PluginMakers>,
        nonce: Option<u64>,
    ) -> PyResult<RunResult> {
        let part = part(&self.scenario, nodes)?;
        let mut hosts = Vec::new();
        for (number, (host, settings)) in self.hosts.iter().zip(&self.scenario.hosts).enumerate() {
            let device = host.get().host().lock().unwrap_or_else(PoisonError::into_inner).take_device();
            let device =
                device.ok_or_else(|| PyRuntimeError::new_err("the hosts have been in a run before"))?;
            let node = NodeIndex(number as u32);
            hosts.push(engine::Host { node, device: Box::new(device), mtu: settings.mtu.0 as usize });
        }
        let options = Options {
            hosts,
            routes: self.routes.clone(),
            offers: Some(Arc::clone(&self.offers)),
            part,
            start_unix_ns,
            nonce,
            ..Options::default()
        };
        let reports = Reports { progress: Some(&progress), look: look.as_ref() };
        carry(py, &self.scenario, options, reports, capture, plugins)
    }
}
