//! Faults of every kind: a switch dies and comes back, RM cells are damaged, data is lost, datagrams come twice or in
//! disorder, a neighbour sends nonsense. Nothing crashes, and what is right goes on.

#![expect(clippy::disallowed_methods, reason = "waits for a process")]

mod common;

use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as StdDuration, Instant};

use cellrate_live::engine::results::{FlowSummary, LinkRow};
use cellrate_live::engine::{Faults, Options, Outcome, run};
use cellrate_proto::Duration;
use cellrate_scenario::{NodeIndex, Scenario};
use common::{Figures, addresses, distributed, in_time, node, parse, part, soon};

/// One greedy connection over two switches; rule 6 acts after 8 FRMs without an answer, rule 5 after 200 ms.
fn chain(duration_ms: u64) -> Scenario {
    let text = format!(
        r#"
name = "chain"
duration = "{duration_ms} ms"
host = [{{ name = "a" }}, {{ name = "b" }}, {{ name = "z" }}]
switch = [{{ name = "sw1" }}, {{ name = "sw2" }}]
link = [{{ between = ["a", "sw1"] }}, {{ between = ["sw1", "sw2"] }}, {{ between = ["sw2", "b"] }}, {{ between = ["z", "sw1"] }}]
vc = [
  {{ name = "vc", path = ["a", "sw1", "sw2", "b"] }},
  {{ name = "idle", path = ["z", "sw1", "sw2", "b"], traffic = {{ start = "1 min" }} }},
]
probe = [{{ record = ["acr", "received"], of = ["vc"], every = "10 ms" }}]

[defaults.link]
rate = "10 Mbps"
delay = "2 ms"

[defaults.abr]
icr = "4 Mbps"
crm = 8
cdf = "1/2"
adtf = "200 ms"

[defaults.switch]
algorithm = {{ type = "erica", target_utilization = "90 %", interval = "10 ms" }}
"#
    );
    parse(&text, "chain")
}

fn vc<'a>(outcome: &'a Outcome, name: &str) -> &'a FlowSummary<Option<u64>, Option<f64>> {
    let mut rows = outcome.summary.vcs.iter().map(|row| &row.common);
    rows.find(|row| row.vc == name).unwrap_or_else(|| panic!("no row of {name}"))
}

fn of_node<'a>(outcomes: &'a [Outcome], name: &str) -> &'a Outcome {
    outcomes.iter().find(|outcome| outcome.summary.run.nodes == [name]).expect("it ran")
}

fn delivered(outcomes: &[Outcome]) -> u64 {
    vc(of_node(outcomes, "b"), "vc").data_delivered.expect("b receives")
}

fn links(outcomes: &[Outcome]) -> impl Iterator<Item = &LinkRow> {
    outcomes.iter().flat_map(|outcome| &outcome.summary.links)
}

#[test]
fn damaged_rm_cells_are_counted_and_rates_stay_right() {
    let scenario = chain(2000);
    let clean = run(&scenario, Options::default()).unwrap();
    let faults = Faults { rm_damage: 0.01, ..Faults::default() };
    let outcome = run(&scenario, Options { faults, ..Options::default() }).unwrap();
    let damaged: u64 = outcome.summary.ports.iter().map(|port| port.damaged_rm).sum();
    let found: u64 = outcome.summary.nodes.iter().map(|node| node.damaged_rm).sum();
    assert!(damaged > 10, "{damaged}");
    // All but what is still on its way.
    assert!(found <= damaged && found + 2 >= damaged, "{found} of {damaged}");
    let [clean, hurt] = [&clean, &outcome].map(|outcome| vc(outcome, "vc").mean_acr.unwrap());
    assert!((hurt / clean - 1.0).abs() < 0.05, "ACR {hurt} instead of {clean}");
}

#[test]
fn one_data_cell_in_a_thousand_lost_is_one_missing() {
    let scenario = chain(2000);
    let faults = Faults { data_loss: 0.001, ..Faults::default() };
    let outcome = run(&scenario, Options { faults, ..Options::default() }).unwrap();
    let row = vc(&outcome, "vc");
    // Three lines: 0.3 % of about 40,000 cells, give or take 5 standard deviations of 11.
    let share = row.dropped as f64 / row.data_sent.unwrap() as f64;
    assert!((0.0015..0.0045).contains(&share), "{share}");
    assert!(row.data_delivered.unwrap() as f64 > 0.95 * row.data_sent.unwrap() as f64);
}

#[test]
fn datagrams_that_come_twice_or_in_disorder_do_little_harm() {
    let scenario = chain(1500);
    let faults = Faults { duplicate: 0.05, reorder: 0.01, ..Faults::default() };
    let clean = in_time(|| distributed(&scenario, |_| ()));
    let hurt = in_time(|| {
        distributed(&scenario, |options| {
            options.faults = faults;
            options.thresholds.lost_datagrams = 0.2;
        })
    });
    let (Some(clean), Some(outcomes)) = (clean, hurt) else { return };
    let dropped: u64 = links(&outcomes).map(|link| link.out_of_order).sum();
    assert!(dropped > 50, "{dropped}");
    let kept = delivered(&outcomes) as f64 / delivered(&clean) as f64;
    assert!(kept > 0.95, "{kept} of the goodput is left");
}

#[test]
fn a_path_that_loses_datagrams_fails_the_verdict_of_who_misses_them() {
    let scenario = chain(1500);
    let faults = Faults { datagram_loss: 0.02, ..Faults::default() };
    let outcomes = distributed(&scenario, |options| options.faults = faults);
    for name in ["a", "b", "sw1", "sw2"] {
        let timing = &of_node(&outcomes, name).summary.timing;
        let told =
            timing.failures.iter().any(|failure| failure.contains("datagrams missing and 0 out of order"));
        assert!(!timing.passed && told, "{name}: {timing:?}");
        assert!(timing.lost_datagrams_share > 0.002, "{name}: {timing:?}");
    }
    // All of them.
    let scenario = chain(1500);
    let faults = Faults { datagram_loss: 1.0, ..Faults::default() };
    let outcomes = distributed(&scenario, |options| options.faults = faults);
    let failures = &of_node(&outcomes, "a").summary.timing.failures;
    assert!(
        failures.iter().any(|failure| failure.ends_with("datagrams were sent and none came")),
        "{failures:?}"
    );
}

#[test]
fn a_run_with_a_nonce_takes_nothing_of_others_at_a_neighbour_s_address() {
    let scenario = chain(1500);
    let Some(outcomes) = in_time(|| among_nonsense(&scenario, |_| ())) else { return };
    let summary = &of_node(&outcomes, "sw1").summary;
    let refused = summary.datagrams.unwrap();
    assert!(refused.of_other_runs > 500 && refused.from_strangers > 500, "{refused:?}");
    assert_eq!((refused.malformed, summary.nodes.iter().map(|node| node.unknown_vc).sum::<u64>()), (0, 0));
}

#[test]
fn a_neighbour_and_a_stranger_that_send_nonsense_do_not_disturb_the_others() {
    let scenario = chain(1500);
    let clean = in_time(|| distributed(&scenario, |_| ()));
    let without_nonce = |options: &mut Options<'_>| {
        options.nonce = None;
        options.thresholds.malformed_datagrams = 1.0;
    };
    let disturbed = in_time(|| among_nonsense(&scenario, without_nonce));
    let (Some(clean), Some(outcomes)) = (clean, disturbed) else { return };
    let refused = of_node(&outcomes, "sw1").summary.datagrams.unwrap();
    assert!(refused.malformed > 500 && refused.from_strangers > 500, "{refused:?}");
    let unknown: u64 = outcomes.iter().flat_map(|o| &o.summary.nodes).map(|node| node.unknown_vc).sum();
    assert!(unknown > 50, "{unknown} cells of no connection");
    let kept = delivered(&outcomes) as f64 / delivered(&clean) as f64;
    assert!(kept > 0.95, "{kept} of the goodput is left");
}

/// A run in which z is not run: someone else sits at its address, and a stranger beside it.
fn among_nonsense(scenario: &Scenario, change: impl Fn(&mut Options<'_>)) -> Vec<Outcome> {
    let (addresses, start) = (addresses(scenario), soon());
    let target = addresses[node(scenario, "sw1").0 as usize].unwrap();
    let neighbour = UdpSocket::bind(addresses[node(scenario, "z").0 as usize].unwrap()).unwrap();
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for socket in [&neighbour, &stranger] {
            scope.spawn(|| nonsense(socket, target, &done));
        }
        let nodes = ["a", "b", "sw1", "sw2"].map(|name| {
            let mut options = part(node(scenario, name), &addresses, start);
            change(&mut options);
            scope.spawn(move || run(scenario, options).unwrap_or_else(|error| panic!("{error}")))
        });
        let outcomes = nodes.map(|node| node.join().expect("a node ends with a result")).into();
        done.store(true, Ordering::Relaxed);
        outcomes
    })
}

/// Random octets, some of them behind a head that looks right, 10,000 datagrams a second.
fn nonsense(socket: &UdpSocket, target: std::net::SocketAddr, done: &AtomicBool) {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let begin = Instant::now();
    for number in 0_u64.. {
        if done.load(Ordering::Relaxed) {
            return;
        }
        let mut octets: Vec<u8> = (0..random() % 200).map(|_| random() as u8).collect();
        if number.is_multiple_of(4) && octets.len() > 60 {
            // z's label, a control word, and whole cells of random connections.
            octets[..8].copy_from_slice(&[0, 1, 0x61, 64, 0, 0, 0, 0]);
            octets.truncate(60);
        }
        // What the system does not take is not sent.
        let _ = socket.send_to(&octets, target);
        // Ten at a time, a thousand times a second.
        if number % 10 == 9 {
            let due = begin + StdDuration::from_micros(100 * number);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
}

/// Where a child process finds out which node it is.
const CHILD: &str = "CELLRATE_TEST_NODE";

/// Not a test of its own: a node of a distributed run, in a process of its own, when [`child`] starts it.
#[test]
fn node_process() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = told.split(' ').collect();
    let [duration, node, start, addresses @ ..] = &words[..] else { panic!("{told}") };
    let scenario = chain(duration.parse().unwrap());
    let addresses: Vec<_> = addresses.iter().map(|address| address.parse().ok()).collect();
    let options = part(NodeIndex(node.parse().unwrap()), &addresses, start.parse().unwrap());
    run(&scenario, options).unwrap_or_else(|error| panic!("{error}"));
}

fn child(told: &str) -> Child {
    let test = std::env::current_exe().expect("this test has a file");
    let mut command = Command::new(test);
    command.args(["--exact", "node_process"]).env(CHILD, told);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a process starts")
}

#[test]
fn a_switch_that_is_killed_costs_what_rule_6_and_adtf_say_and_traffic_returns_when_it_does() {
    const DURATION_MS: u64 = 4000;
    let scenario = chain(DURATION_MS);
    let (addresses, start) = (addresses(&scenario), soon());
    let number = node(&scenario, "sw2").0;
    let listed: Vec<String> = addresses.iter().map(|address| address.unwrap().to_string()).collect();
    let told = format!("{DURATION_MS} {number} {start} {}", listed.join(" "));
    let since_start = |ms: u64| {
        let wait = (start + ms * 1_000_000).saturating_sub(cellrate_live::engine::unix_ns());
        std::thread::sleep(StdDuration::from_nanos(wait));
    };
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let mut switch = child(&told);
        let nodes = ["a", "b", "sw1", "z"].map(|name| {
            let (options, scenario) = (part(node(&scenario, name), &addresses, start), &scenario);
            scope.spawn(move || run(scenario, options).unwrap_or_else(|error| panic!("{error}")))
        });
        since_start(1200);
        switch.kill().expect("it runs");
        switch.wait().expect("it is gone");
        since_start(2000);
        let mut switch = child(&told);
        let outcomes = nodes.map(|node| node.join().expect("a node ends with a result")).into();
        switch.wait().expect("it ends with the run");
        outcomes
    });
    let source = vc(of_node(&outcomes, "a"), "vc");
    assert!(source.cutoff_decreases > Some(3), "rule 6 acted: {source:?}");
    let sw1 = of_node(&outcomes, "sw1");
    let restarts: u64 = sw1.summary.links.iter().map(|link| link.restarts).sum();
    assert_eq!(restarts, 1, "{:?}", sw1.summary.links);
    let figures = Figures::of_nodes(outcomes);
    let acr = |span| figures.mean("acr", "vc", span);
    let [before, without, after] = [[800, 1200], [1500, 2000], [3200, 4000]].map(acr);
    assert!(without < 0.2 * before, "{without} cells/s without answers, {before} before");
    assert!(after > 0.8 * before, "{after} cells/s after the return, {before} before");
    // The counter goes on where it was.
    let received = |ms: u64| figures.mean("received", "vc", [ms - 10, ms]);
    assert!(received(2000) - received(1500) < 100.0, "nothing comes through a dead switch");
    let rate = (received(3990) - received(3200)) / 0.79;
    assert!(rate > 0.7 * before, "{rate} cells/s come again");
}

#[test]
fn a_start_long_past_and_an_unknown_address_are_refused() {
    let scenario = chain(1000);
    let addresses = addresses(&scenario);
    let long_ago = cellrate_live::engine::unix_ns() - Duration::from_secs(60).as_ps() / 1000;
    let error = run(&scenario, part(NodeIndex(0), &addresses, long_ago)).unwrap_err();
    assert!(error.to_string().contains("the run ended 59."), "{error}");
    let error = run(&scenario, part(NodeIndex(0), &addresses[..1], soon())).unwrap_err();
    assert!(error.to_string().starts_with("no address of sw1"), "{error}");
}
