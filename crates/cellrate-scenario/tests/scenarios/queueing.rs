//! Ports with queues for connections, and weights for categories.

use cellrate_proto::Cells;
use cellrate_proto::scheduling::{Discipline, Weight};
use cellrate_scenario::{ConnectionQueue, Document, Queueing, Scenario, ScenarioError};

/// A scenario with these lines in the switch and in the connection, and a weight by default where the switch goes by
/// weights.
fn with(switch: &str, vc: &str) -> Result<Scenario, ScenarioError> {
    let weight = if switch.starts_with("queueing = { type = \"round") { "" } else { "queue_weight = 2" };
    let text = format!(
        r#"
name = "x"
duration = "1 ms"
[defaults]
link = {{ rate = "10 Mbps", delay = "1 ms" }}
vc = {{ {weight} }}
[defaults.switch]
queueing = {{ type = "weighted-fair" }}
[[host]]
name = "s"
[[host]]
name = "d"
[[switch]]
name = "sw"
{switch}
[[link]]
between = ["s", "sw"]
[[link]]
between = ["sw", "d"]
[[vc]]
name = "vc"
path = ["s", "sw", "d"]
{vc}
"#
    );
    Document::parse(&text, "x.toml")?.resolve()
}

fn of(switch: &str) -> Queueing {
    let scenario = with(switch, "").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.links[0].ports[0].queueing, Queueing::default(), "a host has one queue");
    scenario.links[1].ports[0].queueing
}

fn queue_of(vc: &str) -> ConnectionQueue {
    with("", vc).unwrap_or_else(|error| panic!("{error}")).connections[0].queue
}

#[test]
fn a_port_has_the_queues_of_its_switch_or_its_own() {
    let fair = Queueing { discipline: Discipline::WeightedFair, ..Queueing::default() };
    assert_eq!(of(""), fair);
    assert_eq!(of("ports.d.queueing = { type = \"fifo\" }"), Queueing::default());
    assert_eq!(of("queueing = { type = \"round-robin\" }").discipline, Discipline::RoundRobin);
    let drr = |quantum| Discipline::DeficitRoundRobin { quantum };
    assert_eq!(of("queueing = { type = \"deficit-round-robin\" }").discipline, drr(1));
    assert_eq!(of("queueing = { type = \"deficit-round-robin\", quantum = 4 }").discipline, drr(4));
    let weights = [Weight::nearest(4.0), Weight::ONE, Weight::nearest(0.5)];
    let all = "queueing = { type = \"weighted-fair\", room = \"9 cells\", class_weights = { guaranteed = 4, ubr = 0.5 } }";
    assert_eq!(of(all), Queueing { class_weights: Some(weights), room: Some(Cells(9)), ..fair });
}

#[test]
fn a_connection_has_a_weight_and_may_be_held_to_a_rate() {
    assert_eq!(
        queue_of(""),
        ConnectionQueue { weight: Some(Weight::nearest(2.0)), ..ConnectionQueue::default() }
    );
    let own = queue_of("queue_weight = \"1/8\"\nshaped_to = \"4.24 Mbps\"");
    assert_eq!(own.weight, Some(Weight::nearest(0.125)));
    assert_eq!(own.shaped_to.map(|rate| rate.as_cells_per_s()), Some(10_000.0));
}

#[test]
fn errors_name_what_is_wrong() {
    let told = |switch: &str, vc: &str| with(switch, vc).expect_err("it is wrong").to_string();
    let unknown = told("queueing = { type = \"wfq\" }", "");
    assert!(["fifo", "round-robin", "weighted-fair"].iter().all(|name| unknown.contains(name)), "{unknown}");
    let nothing = told("queueing = { type = \"round-robin\", room = \"0 cells\" }", "");
    assert!(nothing.contains("room") && nothing.contains("at least 1 cell"), "{nothing}");
    assert!(told("queueing = { type = \"fifo\", room = \"5 cells\" }", "").contains("room"));
    assert!(told("queueing = { type = \"weighted-fair\", quantum = 2 }", "").contains("quantum"));
    assert!(told("queueing = { type = \"fifo\", class_weights = { abr = 0 } }", "").contains("0.001"));
    assert!(told("", "queue_weight = 0").contains("0.001"));
    assert!(told("", "shaped_to = \"0 Mbps\"").contains("shaped_to"));
}

#[test]
fn keys_that_no_port_on_the_way_goes_by_are_refused() {
    let fifo = "queueing = { type = \"fifo\" }";
    let round = "queueing = { type = \"round-robin\" }";
    let told = |switch: &str, vc: &str| with(switch, vc).expect_err("it has no effect").to_string();
    // The weight stands in the defaults.
    let weight = told(fifo, "");
    assert!(weight.contains("x.toml:6") && weight.contains("queue_weight has no effect"), "{weight}");
    let weight = told(round, "queue_weight = 3");
    assert!(weight.contains("round-robin goes by none"), "{weight}");
    let shaped =
        told("queueing = { type = \"fifo\", class_weights = { abr = 2 } }", "shaped_to = \"1 Mbps\"");
    assert!(shaped.contains("has no effect") && shaped.contains("weighted-fair"), "{shaped}");
    // One port of those that go back is enough, and round robin holds connections to rates.
    assert!(with("ports.d.queueing = { type = \"fifo\" }", "shaped_to = \"1 Mbps\"").is_ok());
    assert!(with(round, "shaped_to = \"1 Mbps\"").is_ok());
    let promised = told("", "shaped_to = \"1 Mbps\"\nabr = { mcr = \"2 Mbps\" }");
    assert!(promised.contains("hold back what set-up promises"), "{promised}");
}
