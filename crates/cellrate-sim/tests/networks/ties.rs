//! Cells that come to an idle line at the same instant: the highest category goes first, whatever stands first in the
//! file.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use cellrate_scenario::Document;
use cellrate_sim::{FlowSummary, RunResult};

/// Orders of three things.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

const CATEGORIES: [&str; 3] = ["cbr", "abr", "ubr"];

fn run(text: &str) -> RunResult {
    let scenario = Document::parse(text, "t").and_then(|document| document.resolve()).expect(text);
    cellrate_sim::run(&scenario, &mut |_| ControlFlow::Continue(())).expect("the run ends well")
}

/// Rows of both directions of all connections, by name.
fn rows(result: RunResult) -> BTreeMap<String, FlowSummary> {
    result.summary.vcs.into_iter().map(|row| (row.vc.clone(), row)).collect()
}

/// Three connections of three categories to one host, their hosts, links and themselves in the `order` that is given:
/// each from a host of its own, or all from one. Whatever each has to send falls on the same instants.
fn network(order: [usize; 3], shared: bool, switch: &str, traffic: [&str; 3], delay: &str) -> String {
    let from = |place: usize| if shared { "s".to_string() } else { format!("s{place}") };
    let hosts = if shared { vec!["s".to_string()] } else { order.map(from).to_vec() };
    let mut text = format!(
        "name = \"t\"\nduration = \"40 ms\"\ndefaults.link = {{ rate = \"42.4 Mbps\", delay = \"{delay}\" }}\n\
         switch = [{{ name = \"sw\", {switch} }}]\n[[host]]\nname = \"d\"\n"
    );
    for host in &hosts {
        text += &format!("[[host]]\nname = \"{host}\"\n[[link]]\nbetween = [\"{host}\", \"sw\"]\n");
    }
    text += "[[link]]\nbetween = [\"sw\", \"d\"]\n";
    for place in order {
        text += &format!(
            "[[vc]]\nname = \"{0}\"\ncategory = \"{0}\"\npath = [\"{1}\", \"sw\", \"d\"]\ntraffic = {{ {2} }}\n",
            CATEGORIES[place],
            from(place),
            traffic[place],
        );
    }
    text
}

const SWITCHES: [&str; 6] = [
    "",
    "efci = { high = \"4 cells\", low = \"2 cells\" }",
    "algorithm = { type = \"erica\" }",
    "queueing = { type = \"round-robin\" }",
    "queueing = { type = \"weighted-fair\" }",
    "buffers = { ubr = \"50 cells\" }, frame_discard = { type = \"partial\" }",
];

#[test]
fn results_hang_on_no_order_of_lines_in_the_file() {
    let constant = "type = \"constant\", rate = \"10 Mbps\"";
    let traffics = [
        [constant; 3],
        [constant, "type = \"greedy\"", "type = \"constant\", rate = \"20 Mbps\""],
        ["type = \"constant\", rate = \"5 Mbps\"", constant, "type = \"tcp\", preset = \"reno\""],
    ];
    for (switch, traffic) in SWITCHES.iter().flat_map(|switch| traffics.map(|traffic| (switch, traffic))) {
        // With 1 us all is one cluster, with 1 ms each node is one.
        for (shared, delay) in [(false, "1 us"), (false, "1 ms"), (true, "1 ms")] {
            let [first, others @ ..] =
                ORDERS.map(|order| rows(run(&network(order, shared, switch, traffic, delay))));
            for (order, other) in ORDERS[1..].iter().zip(others) {
                assert_eq!(other, first, "{order:?}, {switch}, {traffic:?}, {shared}, {delay}");
            }
        }
    }
}

#[test]
fn the_highest_category_waits_for_nothing_and_each_other_for_those_above_it() {
    // 10 us a cell, and one cell of CBR and of UBR every 10 ms: two lines, two delays of 1 ms, and a cell that goes
    // before.
    let constant = "type = \"constant\", rate = \"42.4 kbps\"";
    let traffic = [constant, "type = \"none\"", constant];
    for (order, switch) in ORDERS.iter().flat_map(|&order| SWITCHES.map(|switch| (order, switch))) {
        let rows = rows(run(&network(order, false, switch, traffic, "1 ms")));
        for (category, expected) in [("cbr", 2.020e-3), ("ubr", 2.030e-3)] {
            let longest = rows[category].max_delay_s.expect("its cells arrive");
            assert!((longest - expected).abs() < 1e-9, "{category}, {order:?}, {switch}: {longest}");
        }
    }
}
