//! The network of a live run, in one process.

use std::sync::{Arc, PoisonError};

use cellrate_live::engine::{self, Changes, LinkChange, Offers, Options, Route, routes};
use cellrate_proto::{BitRate, Duration};
use cellrate_scenario::{ConnectionIndex, FlowIndex, LinkIndex, NodeIndex, Scenario as Resolved};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;

use crate::capture::CaptureSettings;
use crate::error::parameter_error;
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
    changes: Option<Arc<Changes>>,
}

/// A link: its name, its other name if it has one, rate [bit/s], delay \[s\] and loss as they are.
type LinkRow = (String, String, u64, f64, f64);

#[pymethods]
impl LiveNetwork {
    /// The network of a scenario between its hosts, in their order. Whether its links may be changed while it runs.
    #[new]
    #[pyo3(signature = (scenario, hosts, changes_links=false))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        hosts: Vec<Py<Host>>,
        changes_links: bool,
    ) -> PyResult<LiveNetwork> {
        let scenario = scenario.lived(py)?;
        let addresses: Vec<_> =
            (0..).map(NodeIndex).zip(scenario.hosts.iter().map(|host| host.address)).collect();
        let carries = |number: ConnectionIndex| scenario.connection(number).carries_packets();
        let routes = routes(&scenario, &addresses, carries);
        let offers = Arc::new(Offers::new(&scenario));
        let changes = changes_links.then(|| Arc::new(Changes::new(&scenario)));
        Ok(LiveNetwork { scenario, hosts, routes, offers, changes })
    }

    /// The links as they are, in the order of the scenario: name ("a-b", "a-b#2" or its own), the same from its other
    /// end, rate [bit/s], delay \[s\] and loss [0 to 1].
    fn links(&self) -> Vec<LinkRow> {
        let states = self.changes.as_ref().map(|changes| changes.states());
        let rows = self.scenario.links.iter().enumerate().map(|(number, link)| {
            let [one, other] = link.ends.map(|end| &self.scenario.node(end).name);
            let [name, same] = match &link.label {
                None => [format!("{one}-{other}"), format!("{other}-{one}")],
                Some(label) if label.starts_with('#') => {
                    [format!("{one}-{other}{label}"), format!("{other}-{one}{label}")]
                }
                Some(label) => [label.clone(), label.clone()],
            };
            let state = states.as_ref().map_or_else(|| link.first_state(), |states| states[number]);
            let (rate, delay) = (state.rate.as_bps(), state.delay.as_secs_f64());
            (name, same, rate, delay, state.cell_loss)
        });
        rows.collect()
    }

    /// Changes the link of this number, both ways, while the network runs: its rate [bit/s], its delay \[s\], and the
    /// probability that a cell is lost on it. What is not given stays as it is. It happens within some 50 ms.
    #[pyo3(signature = (link, rate_bps=None, delay_s=None, loss=None))]
    fn change_link(
        &self,
        py: Python<'_>,
        link: u32,
        rate_bps: Option<f64>,
        delay_s: Option<f64>,
        loss: Option<f64>,
    ) -> PyResult<()> {
        let changes = self.changes.as_ref();
        let changes =
            changes.ok_or_else(|| parameter_error(py, "the links of this network stay as they are"))?;
        if link as usize >= self.scenario.links.len() {
            return Err(PyKeyError::new_err(format!("there is no link {link}")));
        }
        let link = LinkIndex(link);
        let keeps = self.scenario.connections.iter().find_map(|connection| {
            let ends = [connection.path.first(), connection.path.last()];
            let is_at_host = ends.into_iter().flatten().any(|step| step.link == link);
            is_at_host
                .then(|| connection.needs_constant_lines())
                .flatten()
                .map(|traffic| (connection, traffic))
        });
        if let (Some(_), Some((connection, traffic))) = (rate_bps, keeps) {
            return Err(parameter_error(
                py,
                &format!(
                    "its rate stays as it is: it is a link of a host of vc \"{}\", which has {traffic}, whose adapter has a \
                 line of constant rate",
                    connection.name
                ),
            ));
        }
        // Beyond 64 bits both stay out of range.
        let change = LinkChange {
            link,
            rate: rate_bps.map(|bps| BitRate::from_bps(bps.round() as u64)),
            delay: delay_s.map(|s| Duration::from_ps((s * 1e12).round() as u64)),
            cell_loss: loss,
        };
        changes.ask(change).map_err(|refused| parameter_error(py, &refused.to_string()))
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
            changes: self.changes.clone(),
            part,
            start_unix_ns,
            nonce,
            ..Options::default()
        };
        let reports = Reports { progress: Some(&progress), look: look.as_ref() };
        carry(py, &self.scenario, options, reports, capture, plugins)
    }
}
