//! The two worlds agree: each scenario of `scenarios/agreement` run live and simulated, with generated traffic.
//!
//! Mean ACR of every connection and phase within 3 %, utilization within 2 %, mean queue within 10 % or 20 cells; asked of
//! runs that pass their timing verdict. A run that does not is repeated, up to three times.

mod common;

use common::{Comparison, live, scenario, simulated};

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
    println!("{}", common::HEAD);
    let mut wrong = Vec::new();
    for comparison in &comparisons {
        println!("{comparison}");
        wrong.extend(comparison.disagreements());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
