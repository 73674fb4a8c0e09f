//! Rates that do not settle are said to, by rule and by what a run shows; others are not.

use std::ops::ControlFlow;

use cellrate_scenario::{Document, Scenario};
use cellrate_sim::UnsettledSummary;

fn resolve(text: &str) -> Scenario {
    Document::parse(text, "t")
        .and_then(|document| document.resolve())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn unsettled(scenario: &Scenario) -> Vec<UnsettledSummary> {
    cellrate_sim::run(scenario, &mut |_| ControlFlow::Continue(())).unwrap().summary.unsettled
}

/// Twenty greedy connections over lines of so many kilometres each, with this algorithm.
fn twenty(algorithm: &str, km: u32) -> Scenario {
    resolve(&format!(
        "name = \"t\"\nduration = \"1 s\"\n\
         defaults.link = {{ rate = \"149.76 Mbps\", length = \"{km} km\" }}\n\
         defaults.switch.algorithm = {{ {algorithm} }}\n\
         defaults.abr = {{ icr = \"2 Mbps\", rif = \"1/64\" }}\n\
         host = [{{ name = \"s{{i}}\", count = 20 }}, {{ name = \"d\" }}]\nswitch = [{{ name = \"sw\" }}]\n\
         link = [{{ between = [\"s{{i}}\", \"sw\"], count = 20 }}, {{ between = [\"sw\", \"d\"] }}]\n\
         vc = [{{ name = \"v{{i}}\", count = 20, path = [\"s{{i}}\", \"sw\", \"d\"] }}]\n"
    ))
}

#[test]
fn phantom_on_long_lines_is_said_to_swing_by_rule_and_by_run() {
    let rows = unsettled(&twenty("type = \"phantom\"", 1000));
    assert_eq!(rows.iter().map(|row| row.by).collect::<Vec<_>>(), ["rule", "run"]);
    assert!(
        rows.iter().all(|row| row.port == "sw->d" && row.algorithm == "Phantom" && row.connections == 20)
    );
    assert!(rows[1].swing.unwrap() > 1.0, "{rows:?}");
}

#[test]
fn a_warm_up_and_windows_take_no_row_away() {
    let plain = unsettled(&twenty("type = \"phantom\"", 1000));
    for measuring in
        ["warm_up = \"100 ms\"", "window = [{ name = \"end\", from = \"800 ms\", until = \"1 s\" }]"]
    {
        let mut scenario = twenty("type = \"phantom\"", 1000);
        scenario.measuring = resolve(&format!(
            "name = \"t\"\nduration = \"1 s\"\n{measuring}\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
             link = [{{ between = [\"a\", \"b\"], rate = \"149.76 Mbps\", length = \"1 km\" }}]\n"
        ))
        .measuring;
        assert_eq!(unsettled(&scenario), plain, "{measuring}");
    }
}

/// One of three connections has an MCR above its equal share, and port and sources settle: by one rate for all it has
/// that MCR and the others halves of the rest, by weights its MCR and a third of the rest.
#[test]
fn an_mcr_is_held_against_what_its_port_means_by_it() {
    for (algorithm, shares) in [
        ("type = \"consistent-marking\"", [41.14, 60.0]),
        ("type = \"consistent-marking\", fairness = \"weighted\"", [27.42, 87.42]),
    ] {
        let scenario = resolve(&format!(
            "name = \"t\"\nduration = \"500 ms\"\n\
             defaults = {{ link = {{ rate = \"149.76 Mbps\", delay = \"10 us\" }}, \
             switch = {{ algorithm = {{ {algorithm} }} }}, abr = {{ icr = \"5 Mbps\" }} }}\n\
             host = [{{ name = \"s{{i}}\", count = 3 }}, {{ name = \"d\" }}]\nswitch = [{{ name = \"sw\" }}]\n\
             link = [{{ between = [\"s{{i}}\", \"sw\"], count = 3 }}, {{ between = [\"sw\", \"d\"] }}]\n\
             vc = [{{ name = \"v{{i}}\", count = 2, path = [\"s{{i}}\", \"sw\", \"d\"] }},\n\
             {{ name = \"v3\", path = [\"s3\", \"sw\", \"d\"], abr = {{ mcr = \"60 Mbps\", icr = \"60 Mbps\" }} }}]\n"
        ));
        let summary = cellrate_sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap().summary;
        let row = |vc: &str| summary.vcs.iter().find(|row| row.vc == vc).unwrap();
        let acr = |vc: &str| row(vc).mean_acr.unwrap() * 424e-6;
        let near = |found: f64, due: f64| (found / due - 1.0).abs() < 0.05;
        assert!(
            near(acr("v1"), shares[0]) && near(acr("v3"), shares[1]),
            "{algorithm}: {} {}",
            acr("v1"),
            acr("v3")
        );
        assert_eq!(summary.unsettled, [], "{algorithm}");
    }
}

/// Three connections with hosts 5 ms away, whose port marks beside ERICA: 45 Mb/s are 66 BRMs in a round trip, which
/// take rates to e^-4.2 = 2 % at an RDF of 1/16, and to 60 % at 1/128.
#[test]
fn marks_beside_rates_swing_over_long_ways_unless_rdf_is_small() {
    let of = |rdf: &str| {
        unsettled(&resolve(&format!(
            "name = \"t\"\nduration = \"900 ms\"\n\
             defaults = {{ link = {{ rate = \"149.76 Mbps\", delay = \"5 ms\" }}, \
             switch = {{ algorithm.type = \"erica\", efci.high = \"100 cells\" }}, \
             abr = {{ icr = \"5 Mbps\", rdf = \"{rdf}\" }} }}\n\
             host = [{{ name = \"s{{i}}\", count = 3 }}, {{ name = \"d\" }}]\nswitch = [{{ name = \"sw\" }}]\n\
             link = [{{ between = [\"s{{i}}\", \"sw\"], count = 3 }}, {{ between = [\"sw\", \"d\"] }}]\n\
             vc = [{{ name = \"v{{i}}\", count = 3, path = [\"s{{i}}\", \"sw\", \"d\"] }}]\n"
        )))
    };
    let [row] = &of("1/16")[..] else { panic!("one row") };
    let remedy = row.remedy.as_deref().unwrap_or_default();
    assert!(row.by == "run" && remedy.starts_with("an rdf 16 times as small"), "{row:?}");
    assert!(row.share.unwrap() < 0.85, "{row:?}");
    let small = of("1/256");
    assert!(small.iter().all(|row| row.remedy.is_none() && row.share.unwrap() > 0.95), "{small:?}");
}

#[test]
fn what_settles_is_not_said_to_swing() {
    for (algorithm, km) in [
        ("type = \"phantom\", alpha = 0.002", 10),
        ("type = \"consistent-marking\"", 1000),
        ("type = \"erica\", delta = 0, effective_number = true, interval = \"10 ms\"", 10),
    ] {
        assert_eq!(unsettled(&twenty(algorithm, km)), [], "{algorithm}");
    }
}
