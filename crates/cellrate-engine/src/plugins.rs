//! Parts of a run that are not built in, and that the scenario only names: switch algorithms, use-it-or-lose-it
//! policies of sources, traffic.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use cellrate_proto::switch::{PortControl, SwitchAlgorithm};
use cellrate_proto::uili::{Uili, UiliPolicy};
use cellrate_proto::{CellRate, Source};
use cellrate_scenario::{
    AbrSender, Custom, CustomAlgorithm, FlowIndex, NodeIndex, PortIndex, Scenario, Sender, Traffic,
};

use crate::names::{flow_name, port_name};
use crate::random::{Owner, Random, Stream};
use crate::segments::virtual_ends;
use crate::traffic::{Bursts, TrafficSource};

/// Makes the switch algorithm that a scenario names, with its parameters, for a port; `None` where there is none of
/// this name. What it makes may be called by several threads, one after the other.
pub type Algorithms<'a> =
    dyn Fn(&CustomAlgorithm, AlgorithmPort<'_>) -> Option<Box<dyn SwitchAlgorithm + Send>> + Sync + 'a;

/// The output port that an algorithm is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlgorithmPort<'a> {
    /// As results call it: "sw1->sw2".
    pub name: &'a str,
    /// Rate of the port's line.
    pub link_rate: CellRate,
}

/// Makes the use-it-or-lose-it policy that a scenario names, with its parameters, for a source; `None` where there is
/// none of this name. What it makes may be called by several threads, one after the other.
pub type Policies<'a> = dyn Fn(&Custom, SendingEnd<'_>) -> Option<Box<dyn UiliPolicy + Send>> + Sync + 'a;

/// Makes the traffic that a scenario names, with its parameters, for a sending end; otherwise like [`Policies`].
pub type TrafficSources<'a> =
    dyn Fn(&Custom, SendingEnd<'_>) -> Option<Box<dyn TrafficSource + Send>> + Sync + 'a;

/// The end of a connection that a policy or traffic is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendingEnd<'a> {
    /// Its direction, as results call it: "vc1", or "vc1 (back)"; a virtual source has the name of its direction.
    pub name: &'a str,
    /// PCR for ABR, the peak rate otherwise.
    pub pcr: CellRate,
    /// MCR for ABR, 0 otherwise.
    pub mcr: CellRate,
    /// The rate that it begins with: ICR in force, or its peak rate.
    pub icr: CellRate,
    /// For random numbers: another one for each direction, and with each seed of the scenario.
    pub seed: u64,
}

/// Parts that a run is given: algorithms, policies and traffic that are not built in. The default is nothing.
#[derive(Clone, Copy)]
pub struct Plugins<'a> {
    /// Makes switch algorithms.
    pub algorithms: &'a Algorithms<'a>,
    /// Makes policies.
    pub policies: &'a Policies<'a>,
    /// Makes traffic.
    pub traffic: &'a TrafficSources<'a>,
}

impl Default for Plugins<'_> {
    fn default() -> Self {
        Plugins { algorithms: &|_, _| None, policies: &|_, _| None, traffic: &|_, _| None }
    }
}

/// The kinds of what a run may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomKind {
    /// A port's algorithm.
    Algorithm,
    /// A source's use-it-or-lose-it policy.
    Policy,
    /// Traffic of a sending end.
    Traffic,
}

impl fmt::Display for CustomKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CustomKind::Algorithm => "algorithm",
            CustomKind::Policy => "policy",
            CustomKind::Traffic => "traffic",
        })
    }
}

/// Something that a scenario asks for and that is not built in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its kind.
    pub kind: CustomKind,
    /// Name in the scenario.
    pub name: String,
    /// Who has it: a port or a direction of a connection.
    pub owner: String,
}

/// The run was not given it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPlugin(pub Wanted);

impl fmt::Display for MissingPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingPlugin(Wanted { kind, name, owner }) = self;
        let what = if *kind == CustomKind::Algorithm { "port" } else { "connection" };
        write!(f, "{what} {owner} has the custom {kind} \"{name}\", which the run was not given")
    }
}

impl Error for MissingPlugin {}

impl Plugins<'_> {
    /// The control of a port.
    ///
    /// # Errors
    /// Where it has an algorithm that the run was not given.
    pub fn control(&self, scenario: &Scenario, port: PortIndex) -> Result<PortControl, MissingPlugin> {
        let (config, link_rate) = (scenario.port(port), scenario.link(port.link()).rate.to_cell_rate());
        let mut control = match &config.custom {
            None => PortControl::new(&config.control, link_rate),
            Some(custom) => {
                let owner = port_name(scenario, port);
                match (self.algorithms)(custom, AlgorithmPort { name: &owner, link_rate }) {
                    Some(algorithm) => PortControl::with_algorithm(&config.control, algorithm),
                    None => {
                        let name = custom.name.clone();
                        return Err(MissingPlugin(Wanted { kind: CustomKind::Algorithm, name, owner }));
                    }
                }
            }
        };
        let queueing = &config.queueing;
        if queueing.class_weights.is_some() || queueing.books() {
            control.watch_sent(queueing.class_weights);
        }
        Ok(control)
    }

    /// The ABR source of a direction, `sender`, with its policy.
    ///
    /// # Errors
    /// Where it has a policy that the run was not given.
    pub fn source(
        &self,
        scenario: &Scenario,
        flow: FlowIndex,
        sender: &AbrSender,
    ) -> Result<Source, MissingPlugin> {
        let parameters = Arc::clone(&sender.parameters);
        let Some(custom) = &sender.custom_uili else { return Ok(Source::new(parameters, &sender.uili)) };
        let policy = self.made(scenario, flow, CustomKind::Policy, custom, self.policies)?;
        Ok(Source::under(parameters, Uili::Custom(policy)))
    }

    /// The traffic of a direction that is not built in.
    ///
    /// # Errors
    /// Where the run was not given it.
    pub fn bursts(
        &self,
        scenario: &Scenario,
        flow: FlowIndex,
        custom: &Custom,
    ) -> Result<Bursts, MissingPlugin> {
        let source = self.made(scenario, flow, CustomKind::Traffic, custom, self.traffic)?;
        Ok(Bursts::new(source, scenario.flow(flow).sender.icr()))
    }

    fn made<T: ?Sized>(
        &self,
        scenario: &Scenario,
        flow: FlowIndex,
        kind: CustomKind,
        custom: &Custom,
        make: &dyn Fn(&Custom, SendingEnd<'_>) -> Option<Box<T>>,
    ) -> Result<Box<T>, MissingPlugin> {
        let owner = flow_name(scenario, flow);
        let sender = &scenario.flow(flow).sender;
        let named = Owner::named(&owner);
        let stream = match kind {
            CustomKind::Policy => Stream::Policy(named),
            CustomKind::Algorithm | CustomKind::Traffic => Stream::Traffic(named),
        };
        let seed = Random::new(scenario.seed, stream).bits();
        let (pcr, mcr, icr) = (sender.pcr(), sender.mcr(), sender.icr());
        let end = SendingEnd { name: &owner, pcr, mcr, icr, seed };
        make(custom, end)
            .ok_or_else(|| MissingPlugin(Wanted { kind, name: custom.name.clone(), owner: owner.clone() }))
    }
}

/// All that `scenario` asks for and that is not built in, as far as a node needs it that is `here`: of ports in the
/// order of links, then of directions of connections in theirs.
pub fn wanted(scenario: &Scenario, here: impl Fn(NodeIndex) -> bool) -> Vec<Wanted> {
    let mut all = Vec::new();
    for port in scenario.ports() {
        if let Some(custom) = &scenario.port(port).custom
            && here(scenario.tail(port.step()))
        {
            let (name, owner) = (custom.name.clone(), port_name(scenario, port));
            all.push(Wanted { kind: CustomKind::Algorithm, name, owner });
        }
    }
    let virtual_ends = virtual_ends(scenario);
    for flow in scenario.flows() {
        let own = scenario.flow(flow);
        let sends_here = here(scenario.tail(scenario.step(flow, 0)));
        // Virtual sources, at switches, have the policy of their direction.
        let relays_here = || virtual_ends.iter().any(|end| end.flow == flow && here(end.switch));
        if let Sender::Abr(abr) = &own.sender
            && let Some(custom) = &abr.custom_uili
            && (sends_here || relays_here())
        {
            let (name, owner) = (custom.name.clone(), flow_name(scenario, flow));
            all.push(Wanted { kind: CustomKind::Policy, name, owner });
        }
        if let Some(Traffic::Custom(custom)) = &own.traffic
            && sends_here
        {
            let (name, owner) = (custom.name.clone(), flow_name(scenario, flow));
            all.push(Wanted { kind: CustomKind::Traffic, name, owner });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::Document;

    /// a - sw1 - sw2 - b, the loop segmented at sw2 towards b; everything is custom.
    fn scenario() -> Scenario {
        let text = r#"
            name = "t"
            duration = "1 s"
            seed = 5
            host = [{ name = "a" }, { name = "b" }]
            link = [{ between = ["a", "sw1"] }, { between = ["sw1", "sw2"] }, { between = ["sw2", "b"] }]
            [defaults]
            link = { rate = "150 Mbps", length = "10 km" }
            switch.algorithm = { type = "custom", name = "fair" }
            [[switch]]
            name = "sw1"
            [[switch]]
            name = "sw2"
            ports.b.vs_vd = {}
            [[vc]]
            name = "v"
            path = ["a", "sw1", "sw2", "b"]
            abr = { icr = "1 Mbps", mcr = "100 kbps", uili = { type = "custom", name = "thrifty", parameters = { n = 3 } } }
            traffic = { type = "custom", name = "bursty" }
            reverse.traffic = { type = "custom", name = "other" }
        "#;
        let document = Document::parse(text, "t.toml").unwrap_or_else(|error| panic!("{error}"));
        document.resolve().unwrap_or_else(|error| panic!("{error}"))
    }

    fn at(scenario: &Scenario, node: &str) -> Vec<String> {
        let wanted = wanted(scenario, |index| scenario.node(index).name == node);
        wanted.iter().map(|Wanted { kind, name, owner }| format!("{owner}: {kind} {name}")).collect()
    }

    #[test]
    fn each_node_wants_what_its_ports_and_ends_have() {
        let scenario = scenario();
        assert_eq!(at(&scenario, "a"), ["v: policy thrifty", "v: traffic bursty"]);
        assert_eq!(at(&scenario, "b"), ["v (back): policy thrifty", "v (back): traffic other"]);
        assert_eq!(at(&scenario, "sw1"), ["sw1->a: algorithm fair", "sw1->sw2: algorithm fair"]);
        let with_virtual_ends = [
            "sw2->sw1: algorithm fair",
            "sw2->b: algorithm fair",
            "v: policy thrifty",
            "v (back): policy thrifty",
        ];
        assert_eq!(at(&scenario, "sw2"), with_virtual_ends);
        assert_eq!(wanted(&scenario, |_| true).len(), 8);
    }

    #[test]
    fn who_makes_something_is_told_the_end_and_what_is_missing_is_said() {
        let scenario = scenario();
        let told = std::sync::Mutex::new(Vec::new());
        let note = |custom: &Custom, end: SendingEnd<'_>| {
            let rates = [end.pcr, end.mcr, end.icr].map(|rate| rate.as_cells_per_s().round());
            told.lock().unwrap().push((custom.name.clone(), end.name.to_owned(), rates, end.seed));
        };
        let policies = |custom: &Custom, end: SendingEnd<'_>| -> Option<Box<dyn UiliPolicy + Send>> {
            note(custom, end);
            None
        };
        let traffic = |custom: &Custom, end: SendingEnd<'_>| -> Option<Box<dyn TrafficSource + Send>> {
            note(custom, end);
            None
        };
        let plugins = Plugins { policies: &policies, traffic: &traffic, ..Plugins::default() };
        let flows = [0, 1].map(FlowIndex);
        let [forward, backward] = flows.map(|flow| scenario.flow(flow));
        let Sender::Abr(abr) = &forward.sender else { panic!("it is an ABR connection") };
        let error = plugins.source(&scenario, flows[0], abr).expect_err("there is none");
        assert_eq!(
            error.to_string(),
            "connection v has the custom policy \"thrifty\", which the run was not given"
        );
        let Some(Traffic::Custom(other)) = &backward.traffic else { panic!("it is custom") };
        let error = plugins.bursts(&scenario, flows[1], other).expect_err("there is none");
        assert_eq!(
            error.to_string(),
            "connection v (back) has the custom traffic \"other\", which the run was not given"
        );
        let told = told.into_inner().unwrap();
        let rates = [353_774.0, 236.0, 2358.0];
        let [one, two] = &told[..] else { panic!("{told:?}") };
        assert_eq!((&*one.0, &*one.1, one.2), ("thrifty", "v", rates));
        assert_eq!((&*two.0, &*two.1, two.2), ("other", "v (back)", rates));
        assert_ne!(one.3, two.3);
    }
}
