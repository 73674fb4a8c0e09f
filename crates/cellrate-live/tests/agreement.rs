//! The two worlds agree: each scenario of `scenarios/agreement` run live and simulated, with generated traffic.
//!
//! Mean ACR of every connection and phase within 3 %, utilization within 2 %, mean queue within 10 % or 20 cells; asked
//! of runs that pass their timing verdict. A run that does not is repeated, up to three times. In one process nothing
//! of the outside takes part, so there the two are asked to be the same, cell by cell.

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use cellrate_live::engine::results::Summary;
use cellrate_live::engine::{Options, Thresholds, run};
use cellrate_proto::destination::{CongestedSpan, DestinationCongestion};
use cellrate_proto::switch::{
    AprcConfig, AveragingInterval, BecnConfig, BecnIndication, Feedback, IntervalLoad, Meter, Metering,
    Promises, Slot, SwitchAlgorithm, SwitchAlgorithmConfig, VcAtPort,
};
use cellrate_proto::{CellRate, Cells, Duration, Time};
use cellrate_scenario::{
    ConnectionIndex, Every, FlowIndex, FlowQuantity, NodeIndex, NodeKind, Probe, Quantity, Scenario, Sender,
    VsVd,
};
use cellrate_sim::{Algorithms, Plugins, PortSummary, Simulation};
use common::{Comparison, Figures, distributed_in, live, parse, scenario, simulated};

/// Scenario, and the phases in which its means are compared [ms].
const SCENARIOS: [(&str, &[[u64; 2]]); 10] = [
    ("greedy", &[[400, 2000]]),
    ("transient", &[[200, 800], [1000, 1600], [1800, 2400]]),
    ("round-trips", &[[600, 2000]]),
    ("mcr", &[[400, 2000]]),
    ("efci", &[[400, 3000]]),
    ("relative-rate", &[[400, 3000]]),
    ("erica", &[[200, 800], [1000, 1600], [1800, 2400]]),
    ("link-failure", &[[200, 800], [900, 1200], [1600, 2400]]),
    ("ubr-overload", &[[400, 2000]]),
    ("idle-source", &[[200, 600], [800, 1400], [1600, 2400]]),
];

/// Prints the table, and fails on what disagrees.
fn settle(comparisons: &[Comparison]) {
    println!("{}", common::HEAD);
    comparisons.iter().for_each(|comparison| println!("{comparison}"));
    let wrong: Vec<String> = comparisons.iter().flat_map(Comparison::disagreements).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ten_scenarios_go_the_same_way_in_both_worlds() {
    // All at once: the live ones mostly wait.
    let comparisons: Vec<Comparison> = std::thread::scope(|scope| {
        let runs = SCENARIOS.map(|(name, phases)| {
            scope.spawn(move || {
                let scenario = scenario(name);
                Comparison::new(name, phases, &scenario, &simulated(&scenario), &live(&scenario))
            })
        });
        runs.into_iter().map(|run| run.join().expect("a run ends with a result")).collect()
    });
    settle(&comparisons);
}

/// Counts of a flow: sent, delivered, dropped, in flight, FRMs, BRMs; and its last ACR.
type Account = (String, [u64; 6], Option<f64>);

/// Runs `scenario` in both worlds, in one process, and asks for the same counts of every connection and port. Returns
/// the last value of the last series in each.
fn ask_for_the_same(scenario: &Scenario, algorithms: &Algorithms<'_>) -> [Option<f64>; 2] {
    let simulation = Simulation::of(scenario).with_algorithms(algorithms);
    let simulated = simulation.run(&mut |_| ControlFlow::Continue(())).unwrap();
    let live = run(
        scenario,
        Options { plugins: Plugins { algorithms, ..Plugins::default() }, ..Options::default() },
    )
    .unwrap();
    let last = [
        simulated.series.last().and_then(|series| series.values.last().copied()),
        live.series.last().and_then(|series| series.values.last().copied()),
    ];
    let (simulated, live) = (simulated.summary, live.summary);
    let of_simulated = |vc: &cellrate_sim::FlowSummary| -> Account {
        let counts = [vc.sent, vc.delivered, vc.dropped, vc.in_flight];
        let [a, b, c, d] = counts;
        (vc.vc.clone(), [a, b, c, d, vc.forward_rm_sent, vc.backward_rm_received], vc.final_acr)
    };
    let of_live = |row: &cellrate_live::engine::results::FlowRow| -> Account {
        let vc = &row.common;
        let counts = [vc.sent.unwrap(), vc.delivered.unwrap(), vc.dropped, vc.in_flight];
        let [a, b, c, d] = counts;
        let rm = [vc.forward_rm_sent.unwrap(), vc.backward_rm_received.unwrap()];
        (vc.vc.clone(), [a, b, c, d, rm[0], rm[1]], vc.final_acr)
    };
    let expected: Vec<Account> = simulated.vcs.iter().map(of_simulated).collect();
    assert_eq!(live.vcs.iter().map(of_live).collect::<Vec<_>>(), expected, "{}", scenario.name);
    for (live, simulated) in live.ports.iter().zip(&simulated.ports) {
        let live = &live.common;
        assert!((live.mean_queue - simulated.mean_queue).abs() < 1e-6 * simulated.mean_queue.max(1.0));
        assert!((live.utilization - simulated.utilization).abs() < 1e-6);
        let exact =
            PortSummary { utilization: live.utilization, mean_queue: live.mean_queue, ..simulated.clone() };
        assert_eq!(live, &exact);
    }
    assert_eq!(live.virtual_sources, simulated.virtual_sources, "{}", scenario.name);
    assert_eq!(live.policing, simulated.policing, "{}", scenario.name);
    assert_eq!(live.loopbacks, simulated.loopbacks, "{}", scenario.name);
    last
}

/// Two ABR connections of which the first ignores what it is told, and one of UBR whose cells are tagged and lost
/// first; every connection is policed, with this action where ABR leaves the choice.
fn policed(action: &str) -> Scenario {
    let text = format!(
        r#"
name = "policed"
duration = "400 ms"
[defaults]
link = {{ rate = "20 Mbps", delay = "1 ms" }}
[defaults.switch]
algorithm = {{ type = "capc" }}
buffers = {{ abr = "400 cells", ubr = "300 cells", tagged = "200 cells" }}
[[host]]
name = "s{{i}}"
count = 3
[[host]]
name = "d{{i}}"
count = 3
[[switch]]
name = "sw{{i}}"
count = 2
[[link]]
between = ["s{{i}}", "sw1"]
count = 3
[[link]]
between = ["sw1", "sw2"]
[[link]]
between = ["sw2", "d{{i}}"]
count = 3
[[vc]]
name = "deaf"
path = ["s1", "sw1", "sw2", "d1"]
misbehaves = {{ ignores = ["er", "ci"] }}
police = {{ action = "{action}" }}
abr.icr = "2 Mbps"
[[vc]]
name = "honest"
path = ["s2", "sw1", "sw2", "d2"]
police = {{ at = ["sw1", "sw2"], action = "{action}", tau2 = "90 ms" }}
abr.icr = "2 Mbps"
[[vc]]
name = "ubr"
path = ["s3", "sw1", "sw2", "d3"]
category = "ubr"
pcr = "9 Mbps"
police = {{ definition = "ubr.2", pcr = "7 Mbps" }}
traffic = {{ type = "greedy" }}
"#
    );
    parse(&text, "policed")
}

#[test]
fn switches_that_police_do_the_same_in_both_worlds() {
    for action in ["discard", "tag", "count"] {
        let scenario = policed(action);
        ask_for_the_same(&scenario, &|_, _| None);
        let rows = run(&scenario, Options::default()).unwrap().summary.policing;
        assert_eq!(rows.len(), 4);
        assert!(rows[0].nonconforming > 100, "{:?}", rows[0]);
        assert!(rows[3].tagged > 1000 && rows[3].discarded > 1000, "{:?}", rows[3]);
    }
}

#[test]
fn loopback_cells_go_the_same_way_in_both_worlds() {
    let text = include_str!("../../../scenarios/oam-loopback.toml");
    let mut scenario = parse(text, "oam-loopback");
    scenario.duration = Duration::from_ms(400);
    for segmented in [false, true] {
        if segmented {
            segment(&mut scenario, None);
        }
        ask_for_the_same(&scenario, &|_, _| None);
        let rows = run(&scenario, Options::default()).unwrap().summary.loopbacks;
        assert!(rows.len() >= 4 && rows.iter().all(|row| row.answered > 10), "{rows:?}");
    }
}

/// Every switch of `scenario` segments the loops through it.
fn segment(scenario: &mut Scenario, buffer: Option<Cells>) {
    let vs_vd = VsVd { buffer, ..VsVd::default() };
    for link in &mut scenario.links {
        for (node, port) in link.ends.iter().zip(&mut link.ports) {
            if scenario.nodes[node.0 as usize].kind == NodeKind::Switch {
                Arc::make_mut(port).vs_vd = Some(vs_vd);
            }
        }
    }
}

#[test]
fn switches_that_segment_loops_do_the_same_in_both_worlds() {
    for (name, buffer) in [("erica", None), ("efci", None), ("link-failure", Some(Cells(5)))] {
        let mut scenario = scenario(name);
        scenario.duration = Duration::from_ms(900);
        segment(&mut scenario, buffer);
        let (quantity, flow) = (FlowQuantity::SourceQueue, FlowIndex::of(ConnectionIndex(0), false));
        let switch = scenario.tail(scenario.connections[0].path[1]);
        let quantity = Quantity::VirtualSource { quantity, flow, switch };
        scenario.probes.push(Probe { quantity, every: Every::Interval(Duration::from_ms(1)) });
        let queues = ask_for_the_same(&scenario, &|_, _| None);
        assert!(queues[0].is_some() && queues[0] == queues[1], "{name}: {queues:?}");
    }
}

#[test]
fn switches_that_originate_brms_do_the_same_in_both_worlds() {
    for (name, sets) in [
        ("relative-rate", BecnIndication::Congestion),
        ("erica", BecnIndication::NoIncrease),
        ("efci", BecnIndication::Congestion),
    ] {
        let mut scenario = scenario(name);
        scenario.duration = Duration::from_ms(900);
        let becn = BecnConfig { threshold: Cells(2), indication: sets };
        for link in &mut scenario.links {
            for (node, port) in link.ends.iter().zip(&mut link.ports) {
                if scenario.nodes[node.0 as usize].kind == NodeKind::Switch {
                    Arc::make_mut(port).control.becn = Some(becn);
                }
            }
        }
        ask_for_the_same(&scenario, &|_, _| None);
        let summary = run(&scenario, Options::default()).unwrap().summary;
        let originated: u64 = summary.ports.iter().map(|port| port.common.backward_rm_originated).sum();
        assert!(originated > 3, "{name}: {originated}");
    }
}

#[test]
fn congested_destinations_do_the_same_in_both_worlds() {
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    let spans =
        [(100, 350, None), (500, 700, Some(CellRate::new(2_000.0)))].map(|(start, end, explicit_rate)| {
            CongestedSpan {
                start: at(start),
                end: at(end),
                congestion: DestinationCongestion {
                    congestion_indication: false,
                    no_increase: true,
                    explicit_rate,
                },
                originates: true,
            }
        });
    let mut scenario = scenario("erica");
    scenario.duration = Duration::from_ms(900);
    let plain = run(&scenario, Options::default()).unwrap().summary;
    for connection in &mut scenario.connections {
        for flow in [&mut connection.forward, &mut connection.backward] {
            if let Sender::Abr(abr) = &mut flow.sender {
                Arc::make_mut(abr).congested = spans.into();
            }
        }
    }
    ask_for_the_same(&scenario, &|_, _| None);
    let told = run(&scenario, Options::default()).unwrap().summary;
    let sent = |summary: &Summary| summary.vcs.iter().filter_map(|row| row.common.data_sent).sum::<u64>();
    assert!(sent(&told) < sent(&plain));
}

#[test]
fn in_one_process_the_two_worlds_are_the_same_cell_by_cell() {
    for name in ["erica", "efci", "ubr-overload"] {
        let mut scenario = scenario(name);
        scenario.duration = Duration::from_ms(900);
        ask_for_the_same(&scenario, &|_, _| None);
    }
}

/// The network of `erica`, whose line between the switches changes so; switches have queues by `queueing`.
fn over_a_line_that(changes: &str, queueing: &str) -> Scenario {
    let text = include_str!("../../../scenarios/agreement/erica.toml");
    let line = "between = [\"sw1\", \"sw2\"]\ndelay = \"2 ms\"\n";
    let switches = "[[switch]]\nname = \"sw{i}\"\n";
    assert!(text.contains(line) && text.contains(switches));
    let text = text.replace(line, &format!("between = [\"sw1\", \"sw2\"]\n{changes}\n"));
    parse(&text.replace(switches, &format!("{switches}{queueing}\n")), "changing")
}

#[test]
fn links_that_change_are_the_same_in_both_worlds_cell_by_cell() {
    // A slower line, one that stops, a delay that falls while cells are on the line, loss, and a hand-over that loses
    // what is on it; one direction by itself.
    let steps = "delay = \"2 ms\"\nchanges = [\
        { at = \"150 ms\", rate = \"6 Mbps\", delay = \"7 ms\" }, { at = \"301.3 ms\", delay = \"1 ms\" }, \
        { at = \"400 ms\", rate = \"0 bps\" }, { at = \"420 ms\", rate = \"12 Mbps\", loss = \"0.5 %\" }, \
        { at = \"600 ms\", from = \"sw2\", rate = \"3 Mbps\" }, \
        { at = \"700 ms\", rate = \"10 Mbps\", delay = \"3 ms\", in_flight = \"lost\" }]";
    let orbit = "delay = { type = \"leo\", altitude = \"550 km\", minimum_elevation = \"25 deg\", hand_over = \"0.3 s\", \
        step = \"10 ms\", in_flight = \"lost\" }";
    for (changes, queueing) in [(steps, ""), (steps, "queueing = { type = \"round-robin\" }"), (orbit, "")] {
        let mut scenario = over_a_line_that(changes, queueing);
        scenario.duration = Duration::from_ms(900);
        assert!(scenario.links.iter().any(|link| link.is_changing()));
        ask_for_the_same(&scenario, &|_, _| None);
    }
}

#[test]
fn other_algorithms_do_the_same_in_both_worlds() {
    let aprc = AprcConfig { interval_cells: 20, ..AprcConfig::new(Cells(10)) };
    for algorithm in
        [SwitchAlgorithmConfig::Aprc(Arc::new(aprc)), SwitchAlgorithmConfig::Phantom(Arc::default())]
    {
        let mut scenario = scenario("erica");
        scenario.duration = Duration::from_ms(900);
        for port in scenario.links.iter_mut().flat_map(|link| &mut link.ports) {
            if port.control.algorithm != SwitchAlgorithmConfig::None {
                Arc::make_mut(port).control.algorithm = algorithm.clone();
            }
        }
        ask_for_the_same(&scenario, &|_, _| None);
    }
}

/// Half of the line for everybody whose BRM finds an empty queue; else what it claimed last, halved.
struct Halving {
    link_rate: CellRate,
    claimed: Vec<CellRate>,
    answered: u32,
}

impl Promises for Halving {}

impl SwitchAlgorithm for Halving {
    fn metering(&self) -> Option<Metering> {
        let interval = AveragingInterval::of_time(Duration::from_ms(1));
        Some(Metering { interval, bidirectional: false, history: false })
    }

    fn on_connect(&mut self, _slot: Slot, vc: &VcAtPort) {
        self.claimed.push(vc.mcr);
    }

    fn on_forward_rm(&mut self, _now: Time, slot: Slot, ccr: CellRate, _meter: &Meter) {
        self.claimed[slot.0 as usize] = ccr;
    }

    fn on_interval_end(&mut self, _load: &IntervalLoad, _meter: &Meter) {}

    fn on_backward_rm(
        &mut self,
        _now: Time,
        slot: Slot,
        queue: Cells,
        _meter: &Meter,
        feedback: &mut Feedback,
    ) {
        let half = |rate: CellRate| CellRate::new(rate.as_cells_per_s() / 2.0);
        let claimed = self.claimed[slot.0 as usize];
        feedback.limit(half(if queue == Cells::ZERO { self.link_rate } else { claimed }));
        self.answered += 1;
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("answered", self.answered.into());
    }
}

#[test]
fn an_algorithm_that_a_run_is_given_does_the_same_in_both_worlds() {
    let text = include_str!("../../../scenarios/agreement/erica.toml");
    let built_in = r#"{ type = "erica", target_utilization = "90 %", interval = "10 ms" }"#;
    assert!(text.contains(built_in));
    let text = text.replace(built_in, r#"{ type = "custom", name = "halving", figures = ["answered"] }"#)
        + "\n[[probe]]\nrecord = [\"answered\"]\nof = [\"sw1->sw2\"]\nevery = \"2 ms\"\n";
    let mut own = parse(&text, "halving");
    own.duration = Duration::from_ms(900);
    let answered = ask_for_the_same(&own, &|custom, port| {
        assert_eq!(custom.name, "halving");
        Some(Box::new(Halving { link_rate: port.link_rate, claimed: Vec::new(), answered: 0 }))
    });
    let [Some(simulated), Some(live)] = answered else { panic!("it is recorded: {answered:?}") };
    assert!(simulated > 100.0 && simulated == live, "{answered:?}");
    let without = run(&own, Options::default()).unwrap_err().to_string();
    assert!(
        without.ends_with("has the custom algorithm \"halving\", which the run was not given"),
        "{without}"
    );
}

#[test]
fn delays_are_recorded_alike_in_both_worlds() {
    let text = include_str!("../../../scenarios/agreement/erica.toml").to_string()
        + "\n[[probe]]\nrecord = [\"delay\", \"max_delay\"]\nevery = \"2 ms\"\n";
    let mut scenario = parse(&text, "delays");
    scenario.duration = Duration::from_ms(300);
    let simulated = Simulation::of(&scenario).run(&mut |_| ControlFlow::Continue(())).unwrap();
    let live = run(&scenario, Options::default()).unwrap();
    let of = |probe: &str, entity: &str, times_ps: &[u64], values: &[f64]| {
        let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
        probe.contains("delay").then(|| (probe.to_string(), entity.to_string(), times_ps.to_vec(), bits))
    };
    let simulated: Vec<_> =
        simulated.series.iter().filter_map(|s| of(&s.probe, &s.entity, &s.times_ps, &s.values)).collect();
    let live: Vec<_> =
        live.series.iter().filter_map(|s| of(&s.probe, &s.entity, &s.times_ps, &s.values)).collect();
    // Where nothing came there is no delay, and elsewhere one of 1 ms and more.
    let delays = simulated.iter().flat_map(|(.., bits)| bits).map(|&bits| f64::from_bits(bits));
    let told = delays.filter(|delay| !delay.is_nan()).inspect(|delay| assert!(*delay > 1e-3)).count();
    assert!(told > 100, "{told}");
    assert!(simulated == live);
}

#[test]
fn nodes_of_their_own_know_the_delay_of_a_line_that_changes() {
    let changes = "delay = \"25 ms\"\nchanges = [{ at = \"800 ms\", rate = \"5 Mbps\", delay = \"60 ms\" }, \
        { at = \"1600 ms\", rate = \"10 Mbps\", delay = \"25 ms\" }]";
    let mut scenario = over_a_line_that(changes, "");
    scenario
        .links
        .iter_mut()
        .filter(|link| !link.is_changing())
        .for_each(|link| link.delay = Duration::from_ms(25));
    let simulated = simulated(&scenario);
    let attempt = || {
        let groups = (0..scenario.nodes.len() as u32).map(|node| vec![NodeIndex(node)]).collect();
        let outcomes = distributed_in(&scenario, groups, |options| {
            options.timestamps = Some(true);
            options.thresholds = Thresholds::default();
        });
        let phases: &[[u64; 2]] = &[[200, 750], [1100, 1550], [1900, 2400]];
        Comparison::new("changing", phases, &scenario, &simulated, &Figures::of_nodes(outcomes))
    };
    let first = attempt();
    settle(&[if first.in_time { first } else { attempt() }]);
}

#[test]
fn with_instants_in_datagrams_nodes_of_their_own_go_the_same_way_too() {
    let all = [(SCENARIOS[0], false), (SCENARIOS[7], false), (SCENARIOS[9], false), (SCENARIOS[0], true)];
    let comparisons = all.map(|((name, phases), segmented)| {
        let mut scenario = scenario(name);
        if segmented {
            segment(&mut scenario, None);
        }
        // Lines so long that a stall of the machine mostly ends before the cells that it holds up are due.
        scenario.links.iter_mut().for_each(|link| link.delay = Duration::from_ms(25));
        let simulated = simulated(&scenario);
        let attempt = || {
            // The hosts together, as they are with applications, and each switch by itself.
            let (hosts, switches): (Vec<NodeIndex>, Vec<NodeIndex>) = (0..scenario.nodes.len() as u32)
                .map(NodeIndex)
                .partition(|node| scenario.nodes[node.0 as usize].kind == NodeKind::Host);
            let groups = std::iter::once(hosts).chain(switches.into_iter().map(|switch| vec![switch]));
            let outcomes = distributed_in(&scenario, groups.collect(), |options| {
                options.timestamps = Some(true);
                options.thresholds = Thresholds::default();
            });
            Comparison::new(name, phases, &scenario, &simulated, &Figures::of_nodes(outcomes))
        };
        let first = attempt();
        if first.in_time { first } else { attempt() }
    });
    // With every cell in time, all goes as it did. Where one was late nothing is asked: ERICA rests wherever the load
    // factor is near 1, and a burst may move it to another such place.
    settle(&comparisons);
}
