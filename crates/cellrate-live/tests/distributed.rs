//! A node of the network in each thread, as it would be in each process, with cells in datagrams between them.

mod common;

use common::{Comparison, Figures, distributed, scenario, simulated};

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

#[test]
fn datagrams_carry_the_ten_scenarios() {
    println!("{}", common::HEAD);
    let mut wrong = Vec::new();
    for (name, phases) in SCENARIOS {
        let scenario = scenario(name);
        let timed = std::env::var_os("TIMED").is_some();
        let outcomes = distributed(&scenario, |options| options.timestamps = timed);
        for outcome in &outcomes {
            println!(
                "{:?} {:?} {:?}",
                outcome.summary.run.node, outcome.summary.timing, outcome.summary.links
            );
        }
        let live = Figures::of_nodes(outcomes);
        let comparison = Comparison::new(name, phases, &scenario, &simulated(&scenario), &live);
        println!("{comparison}");
        wrong.extend(comparison.disagreements());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
