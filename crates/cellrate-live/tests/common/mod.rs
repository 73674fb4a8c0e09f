//! Runs of a scenario in both worlds, and how far apart they are.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::fmt;
use std::net::{SocketAddr, UdpSocket};
use std::ops::ControlFlow;
use std::path::Path;

use cellrate_live::engine::{Options, Outcome, Part, Thresholds, run, unix_ns};
use cellrate_scenario::{Document, NodeIndex, Scenario};

/// The head of the printed table.
pub const HEAD: &str =
    "scenario        phase [ms]    ACR: live/simulated   utilization        mean queue [cells]  timing";

/// A scenario of `scenarios/agreement`.
pub fn scenario(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/agreement/{name}.toml"));
    let text = std::fs::read_to_string(&path).expect("the scenario is there");
    parse(&text, name)
}

/// The scenario that `text` says.
pub fn parse(text: &str, name: &str) -> Scenario {
    let document = Document::parse(text, name).unwrap_or_else(|error| panic!("{error}"));
    document.resolve().unwrap_or_else(|error| panic!("{error}"))
}

/// Figures of a run that are compared: series by name and entity.
pub struct Figures {
    series: Vec<(String, String, Vec<u64>, Vec<f64>)>,
    pub in_time: bool,
}

/// The simulated run.
pub fn simulated(scenario: &Scenario) -> Figures {
    let result = cellrate_sim::run(scenario, &mut |_| ControlFlow::Continue(())).expect("it runs");
    let series = result.series.into_iter().map(|s| (s.probe, s.entity, s.times_ps, s.values)).collect();
    Figures { series, in_time: true }
}

/// The live run, repeated up to three times until it is in time.
pub fn live(scenario: &Scenario) -> Figures {
    let mut outcome = None;
    for _ in 0..3 {
        let attempt = run(scenario, Options::default()).unwrap_or_else(|error| panic!("{error}"));
        let passed = attempt.summary.timing.passed;
        outcome = Some(attempt);
        if passed {
            break;
        }
    }
    Figures::of(outcome.expect("three attempts"))
}

impl Figures {
    /// The figures of a live run.
    pub fn of(outcome: Outcome) -> Figures {
        let in_time = outcome.summary.timing.passed;
        let series = outcome.series.into_iter().map(|s| (s.probe, s.entity, s.times_ps, s.values)).collect();
        Figures { series, in_time }
    }

    /// Figures of all nodes of a distributed run.
    pub fn of_nodes(outcomes: Vec<Outcome>) -> Figures {
        let mut all = Figures { series: Vec::new(), in_time: true };
        for outcome in outcomes {
            let Figures { series, in_time } = Figures::of(outcome);
            all.series.extend(series);
            all.in_time &= in_time;
        }
        all
    }

    /// The mean of a series in a phase [ms].
    pub fn mean(&self, probe: &str, entity: &str, [from, to]: [u64; 2]) -> f64 {
        let found = self.series.iter().find(|(of, at, ..)| of == probe && at == entity);
        let (.., times, values) = found.unwrap_or_else(|| panic!("no {probe} of {entity}"));
        // A utilization is that of the time before it, so the first instant of a phase belongs to the one before.
        let within = |&&(ps, _): &&(u64, f64)| ps > from * 1_000_000_000 && ps <= to * 1_000_000_000;
        let pairs: Vec<(u64, f64)> = times.iter().copied().zip(values.iter().copied()).collect();
        let inside: Vec<f64> = pairs.iter().filter(within).map(|&(_, value)| value).collect();
        inside.iter().sum::<f64>() / inside.len() as f64
    }
}

/// Means of one phase, simulated and live.
struct Phase {
    span: [u64; 2],
    acr: Vec<(String, [f64; 2])>,
    utilization: [f64; 2],
    queue: [f64; 2],
}

/// Two runs side by side.
pub struct Comparison {
    name: String,
    phases: Vec<Phase>,
    /// Whether the live run passed its timing verdict.
    pub in_time: bool,
}

impl Comparison {
    pub fn new(
        name: &str,
        phases: &[[u64; 2]],
        scenario: &Scenario,
        simulated: &Figures,
        live: &Figures,
    ) -> Comparison {
        let abr = scenario.connections.iter().filter(|c| c.category == cellrate_scenario::Category::Abr);
        let names: Vec<String> = abr.map(|connection| connection.name.clone()).collect();
        let phases = phases.iter().map(|&span| {
            let both = |probe: &str, entity: &str| [simulated, live].map(|f| f.mean(probe, entity, span));
            Phase {
                span,
                acr: names.iter().map(|name| (name.clone(), both("acr", name))).collect(),
                utilization: both("utilization", "sw1->sw2"),
                queue: both("queue", "sw1->sw2"),
            }
        });
        Comparison { name: name.into(), phases: phases.collect(), in_time: live.in_time }
    }

    /// Figures that are further apart than they may be.
    pub fn disagreements(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        if !self.in_time {
            // Three attempts were too late; nothing is asked of them.
            return wrong;
        }
        for Phase { span: [from, to], acr, utilization, queue } in &self.phases {
            let place = format!("{} from {from} to {to} ms", self.name);
            for (vc, [simulated, live]) in acr {
                if (live / simulated - 1.0).abs() > 0.03 {
                    wrong
                        .push(format!("{place}: ACR of {vc} is {live:.0}, simulated {simulated:.0} cells/s"));
                }
            }
            let [simulated, live] = utilization;
            if (live - simulated).abs() > 0.02 {
                wrong.push(format!("{place}: utilization {live:.3}, simulated {simulated:.3}"));
            }
            let [simulated, live] = queue;
            if (live - simulated).abs() > (0.1 * simulated).max(20.0) {
                wrong.push(format!("{place}: mean queue {live:.1}, simulated {simulated:.1} cells"));
            }
        }
        wrong
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Phase { span: [from, to], acr, utilization, queue }) in self.phases.iter().enumerate() {
            let ratios: Vec<String> =
                acr.iter().map(|(_, [simulated, live])| format!("{:.4}", live / simulated)).collect();
            if index > 0 {
                writeln!(f)?;
            }
            write!(
                f,
                "{:<15} {from:>4} - {to:<6} {:<22} {:.4} / {:.4}    {:>7.2} / {:<7.2}   {}",
                self.name,
                ratios.join(" "),
                utilization[1],
                utilization[0],
                queue[1],
                queue[0],
                if self.in_time { "in time" } else { "late" },
            )?;
        }
        Ok(())
    }
}

/// A free UDP address on this machine for each node.
pub fn addresses(scenario: &Scenario) -> Vec<Option<SocketAddr>> {
    let sockets: Vec<UdpSocket> = scenario
        .nodes
        .iter()
        .map(|_| UdpSocket::bind("127.0.0.1:0").expect("there are free ports"))
        .collect();
    sockets.iter().map(|socket| socket.local_addr().ok()).collect()
}

/// The number of the node called `name`.
pub fn node(scenario: &Scenario, name: &str) -> NodeIndex {
    let place = scenario.nodes.iter().position(|node| node.name == name).expect("there is such a node");
    NodeIndex(place as u32)
}

/// Options of one node of a distributed run: all begin at `start_unix_ns`.
pub fn part(node: NodeIndex, addresses: &[Option<SocketAddr>], start_unix_ns: u64) -> Options<'static> {
    parts(vec![node], addresses, start_unix_ns)
}

/// Parts of a network with several nodes in one process.
fn parts(nodes: Vec<NodeIndex>, addresses: &[Option<SocketAddr>], start_unix_ns: u64) -> Options<'static> {
    let part = Part::Nodes { nodes, addresses: Some(addresses.to_vec()) };
    // What is compared here bears more lateness than a measurement would.
    let thresholds = Thresholds { late_cells: 0.05, ..Thresholds::default() };
    let nonce = Some(start_unix_ns);
    Options { part, start_unix_ns: Some(start_unix_ns), nonce, thresholds, ..Options::default() }
}

/// Soon enough, and late enough for all nodes to be there.
pub fn soon() -> u64 {
    unix_ns() + 300_000_000
}

/// Every node in a thread of its own, with cells in datagrams between them; `change` may change a node's options.
pub fn distributed(scenario: &Scenario, change: impl Fn(&mut Options<'_>) + Sync) -> Vec<Outcome> {
    let nodes = (0..scenario.nodes.len() as u32).map(|number| vec![NodeIndex(number)]);
    distributed_in(scenario, nodes.collect(), change)
}

/// A distributed run with several nodes in each thread.
pub fn distributed_in(
    scenario: &Scenario,
    groups: Vec<Vec<NodeIndex>>,
    change: impl Fn(&mut Options<'_>) + Sync,
) -> Vec<Outcome> {
    let (addresses, start) = (addresses(scenario), soon());
    let change = &change;
    std::thread::scope(|scope| {
        let threads: Vec<_> = groups
            .into_iter()
            .map(|nodes| {
                let mut options = parts(nodes, &addresses, start);
                scope.spawn(move || {
                    change(&mut options);
                    run(scenario, options).unwrap_or_else(|error| panic!("{error}"))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread ends with a result")).collect()
    })
}

/// The outcomes of `attempt`, repeated up to three times until every node was in time. `None`, and a word about it,
/// where the machine never let it: then nothing can be asked.
pub fn in_time(mut attempt: impl FnMut() -> Vec<Outcome>) -> Option<Vec<Outcome>> {
    for _ in 0..3 {
        let outcomes = attempt();
        let failures = |outcome: &Outcome| outcome.summary.timing.failures.clone();
        let failures: Vec<String> = outcomes.iter().flat_map(failures).collect();
        if failures.is_empty() {
            return Some(outcomes);
        }
        println!("late: {}", failures.join("; "));
    }
    println!("skipped: three attempts were late, so nothing is asked of them");
    None
}
