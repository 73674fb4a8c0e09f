//! A small world to test in: hosts, switches, links and connections, said in a few words.
#![allow(dead_code, reason = "each test file uses its own part of the world")]

use cellrate_proto::misbehaviour::Misbehaviour;
use cellrate_proto::switch::{
    AveragingInterval, EricaConfig, PortControlConfig, QueueControl, SwitchAlgorithmConfig,
};
use cellrate_proto::uili::UiliConfig;
use cellrate_proto::{AbrParameters, BitRate, CellRate, Duration, Time};
use cellrate_scenario::traffic::{Greedy, OnOff};
use cellrate_scenario::*;
use cellrate_sim::{RunResult, run};
use std::ops::ControlFlow;
use std::sync::Arc;

pub const OC3: BitRate = BitRate::from_bps(149_760_000);

/// A scenario under construction.
pub struct World {
    pub scenario: Scenario,
    pub rate: BitRate,
    pub delay: Duration,
    pub control: PortControlConfig,
}

impl World {
    pub fn new(duration: Duration) -> World {
        let scenario = Scenario {
            name: "world".into(),
            purpose: "a test".into(),
            duration,
            measuring: Measuring::default(),
            seed: 1,
            nodes: vec![],
            hosts: vec![],
            links: vec![],
            connections: vec![],
            demands: Arc::new([]),
            book: cellrate_proto::admission::Book::default(),
            refused: vec![],
            overbooked: vec![],
            unkept: vec![],
            negotiated: vec![],
            clocks: vec![],
            probes: vec![],
            live: LiveSettings::default(),
            applications: vec![],
        };
        World { scenario, rate: OC3, delay: Duration::from_ms(5), control: PortControlConfig::default() }
    }

    pub fn node(&mut self, name: &str, kind: NodeKind) -> NodeIndex {
        if let Some(place) = self.scenario.nodes.iter().position(|node| node.name == name) {
            return NodeIndex(place as u32);
        }
        self.scenario.nodes.push(Node { name: name.into(), kind });
        NodeIndex(self.scenario.nodes.len() as u32 - 1)
    }

    /// Names that begin with "sw" are switches.
    fn kind(name: &str) -> NodeKind {
        if name.starts_with("sw") { NodeKind::Switch } else { NodeKind::Host }
    }

    pub fn link(&mut self, a: &str, b: &str, rate: BitRate, delay: Duration) -> LinkIndex {
        let ends = [a, b].map(|name| self.node(name, World::kind(name)));
        let port = |name: &str| {
            Arc::new(Port {
                control: if World::kind(name) == NodeKind::Switch {
                    self.control.clone()
                } else {
                    Default::default()
                },
                ..Port::default()
            })
        };
        let ports = [port(a), port(b)];
        self.scenario.links.push(Link {
            label: None,
            ends,
            rate,
            delay,
            ports,
            line: LineKeys::default(),
            changes: Arc::default(),
        });
        LinkIndex(self.scenario.links.len() as u32 - 1)
    }

    /// The step from `a` to `b`; the link is made, with the world's rate and delay, if there is none.
    pub fn step(&mut self, a: &str, b: &str) -> Step {
        let ends = [a, b].map(|name| self.node(name, World::kind(name)));
        for (index, link) in self.scenario.links.iter().enumerate() {
            for end in 0..2_u8 {
                if link.ends == [ends[usize::from(end)], ends[1 - usize::from(end)]] {
                    return Step { link: LinkIndex(index as u32), end };
                }
            }
        }
        let (rate, delay) = (self.rate, self.delay);
        Step { link: self.link(a, b, rate, delay), end: 0 }
    }

    fn path(&mut self, path: &[&str]) -> Vec<Step> {
        path.windows(2).map(|pair| self.step(pair[0], pair[1])).collect()
    }

    fn round_trip(&self, path: &[Step]) -> Duration {
        let one_way = path.iter().map(|step| self.scenario.links[step.link.0 as usize].delay);
        one_way.fold(Duration::ZERO, |sum, delay| sum + delay) * 2
    }

    pub fn abr(&mut self, name: &str, path: &[&str], traffic: Traffic) -> &mut Connection {
        let path = self.path(path);
        let pcr = path.iter().map(|step| self.scenario.links[step.link.0 as usize].rate).min().unwrap();
        let parameters =
            AbrParameters { frtt: self.round_trip(&path), ..AbrParameters::new(pcr.to_cell_rate()) };
        let sender = AbrSender {
            parameters: Arc::new(parameters),
            weight: 1.0,
            uili: UiliConfig::None,
            custom_uili: None,
            mbs: 1,
            misbehaviour: Misbehaviour::default(),
            clear_efci_state: true,
            waiting_brm: WaitingBrm::Overwrite,
            congested: Arc::default(),
        };
        let flow =
            |traffic| Flow { sender: Sender::Abr(Arc::new(sender.clone())), traffic, conditioning: None };
        self.scenario.connections.push(Connection {
            name: name.into(),
            category: Category::Abr,
            path,
            queue: ConnectionQueue::default(),
            forward: flow(Some(traffic)),
            backward: flow(None),
            policing: Vec::new(),
            loopbacks: Vec::new(),
            branch: None,
        });
        self.scenario.connections.last_mut().unwrap()
    }

    pub fn other(
        &mut self,
        name: &str,
        category: Category,
        path: &[&str],
        traffic: Traffic,
    ) -> &mut Connection {
        let path = self.path(path);
        let pcr = path.iter().map(|step| self.scenario.links[step.link.0 as usize].rate).min().unwrap();
        let flow = |traffic| Flow { sender: Sender::Peak(pcr.to_cell_rate()), traffic, conditioning: None };
        self.scenario.connections.push(Connection {
            name: name.into(),
            category,
            path,
            queue: ConnectionQueue::default(),
            forward: flow(Some(traffic)),
            backward: flow(None),
            policing: Vec::new(),
            loopbacks: Vec::new(),
            branch: None,
        });
        self.scenario.connections.last_mut().unwrap()
    }

    pub fn probe(&mut self, quantity: Quantity, every: Every) {
        self.scenario.probes.push(Probe { quantity, every });
    }

    pub fn acr_of(&mut self, connection: u32) {
        let quantity = Quantity::Flow {
            quantity: FlowQuantity::Acr,
            flow: FlowIndex::of(ConnectionIndex(connection), false),
        };
        self.probe(quantity, Every::Change);
    }

    pub fn run(&self) -> RunResult {
        run(&self.scenario, &mut |_| ControlFlow::Continue(())).expect("the run ends well")
    }
}

/// The parameters of the forward direction.
pub fn parameters(connection: &mut Connection) -> &mut AbrParameters {
    parameters_of(&mut connection.forward).expect("an ABR connection")
}

/// The parameters of a direction, if it is one of ABR.
pub fn parameters_of(flow: &mut Flow) -> Option<&mut AbrParameters> {
    match &mut flow.sender {
        Sender::Abr(abr) => Some(Arc::make_mut(&mut Arc::make_mut(abr).parameters)),
        Sender::Peak(_) => None,
    }
}

/// The settings of the port at an end of a link.
pub fn port(scenario: &mut Scenario, link: usize, end: usize) -> &mut Port {
    Arc::make_mut(&mut scenario.links[link].ports[end])
}

pub fn greedy() -> Traffic {
    Traffic::Greedy(Greedy::default())
}

pub fn greedy_in(start: Duration, end: Duration) -> Traffic {
    let window = GreedyWindow { start: Time::ZERO + start, end: Time::ZERO + end, cells: None };
    Traffic::Greedy(Greedy { windows: vec![window] })
}

pub fn square_wave(rate: CellRate, on: Duration, off: Duration) -> Traffic {
    let (on, off) = (Period::Fixed(on), Period::Fixed(off));
    Traffic::OnOff(OnOff { rate, on, off, start: Time::ZERO, end: Time::NEVER })
}

pub fn erica(interval: Duration, cells: Option<u32>) -> PortControlConfig {
    let config = EricaConfig {
        interval: AveragingInterval { time: interval, cells },
        queue_control: QueueControl::TargetUtilization(0.9),
        ..EricaConfig::default()
    };
    PortControlConfig { efci: None, becn: None, algorithm: SwitchAlgorithmConfig::Erica(Arc::new(config)) }
}

/// `n` greedy sources through one bottleneck with ERICA.
pub fn n_sources(n: usize, access: Duration, duration: Duration) -> World {
    let mut world = World::new(duration);
    world.control = erica(Duration::from_ms(5), None);
    world.link("sw1", "sw2", OC3, Duration::from_ms(5));
    world.delay = access;
    for i in 1..=n {
        world.abr(&format!("vc{i}"), &[&format!("s{i}"), "sw1", "sw2", &format!("d{i}")], greedy());
    }
    world
}
