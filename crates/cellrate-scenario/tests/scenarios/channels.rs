//! Virtual channels of virtual paths.

use cellrate_proto::CellRate;
use cellrate_proto::scheduling::Weight;
use cellrate_scenario::traffic::{Constant, Greedy};
use cellrate_scenario::{Document, Scenario, Traffic, fair};

/// A connection with these keys.
fn with(keys: &str) -> Result<Scenario, String> {
    let text = format!(
        "name = \"x\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"10 Mbps\", delay = \"1 ms\" }}\n\
         host = [{{ name = \"s\" }}, {{ name = \"d\" }}, {{ name = \"e\" }}]\nswitch = [{{ name = \"sw\" }}]\n\
         link = [{{ between = [\"s\", \"sw\"] }}, {{ between = [\"sw\", \"d\"] }}, {{ between = [\"sw\", \"e\"] }}]\n\
         [[vc]]\nname = \"vc\"\npath = [\"s\", \"sw\", \"d\"]\n{keys}\n"
    );
    Document::parse(&text, "x.toml")
        .and_then(|document| document.resolve())
        .map_err(|error| error.to_string())
}

const CONSTANT: &str = "{ type = \"constant\", rate = \"100 cells/s\" }";

#[test]
fn each_has_a_name_traffic_and_a_weight() {
    let list = format!(
        "channels = [{{ name = \"a\" }}, {{ name = \"b\", weight = 2.0004, traffic = {CONSTANT} }}]\nbidirectional = true"
    );
    let scenario = with(&list).unwrap();
    let connection = &scenario.connections[0];
    assert!(connection.is_path());
    let [a, b] = connection.channels(false) else { panic!("two channels") };
    assert_eq!((&*a.name, &a.traffic, a.weight), ("a", &Traffic::Greedy(Greedy::default()), Weight::ONE));
    assert_eq!((&*b.name, b.weight.thousandths()), ("b", 2000));
    assert!(
        matches!(&b.traffic, Traffic::Constant(Constant { rate, .. }) if *rate == CellRate::new(100.0)),
        "{b:?}"
    );
    assert_eq!(connection.channels(false), connection.channels(true));
    let plain = with("").unwrap();
    assert!(!plain.connections[0].is_path() && plain.connections[0].channels(false).is_empty());
}

#[test]
fn fair_shares_of_channels_go_by_weight_up_to_what_each_asks_for() {
    let shares = |channels: &str, rate: f64| -> Vec<f64> {
        let scenario = with(&format!("channels = [{channels}]")).unwrap();
        let rates = fair::of_channels(scenario.connections[0].channels(false), CellRate::new(rate), None);
        rates.into_iter().map(CellRate::as_cells_per_s).collect()
    };
    let constant = format!("{{ name = \"c\", weight = 4, traffic = {CONSTANT} }}");
    assert_eq!(shares("{ name = \"a\", weight = 3 }, { name = \"b\" }", 400.0), [300.0, 100.0]);
    assert_eq!(shares(&format!("{constant}, {{ name = \"b\" }}"), 400.0), [100.0, 300.0]);
    assert_eq!(shares(&format!("{constant}, {{ name = \"b\" }}"), 100.0), [80.0, 20.0]);
    assert_eq!(shares(&constant, 400.0), [100.0]);
    // What one leaves lets another have what it asks for.
    let limited = "{ name = \"l\", traffic = { type = \"limited\", steps = [[\"0 s\", \"30 cells/s\"]] } }";
    assert_eq!(
        shares(&format!("{limited}, {{ name = \"b\" }}, {}", constant.replace("4", "1")), 200.0),
        [30.0, 85.0, 85.0]
    );
}

#[test]
fn over_time_those_that_do_not_send_leave_their_share() {
    let list = "channels = [{ name = \"a\", traffic = { end = \"0.5 s\" } }, { name = \"b\", traffic = { start = \"0.2 s\" } }]";
    let scenario = with(list).unwrap();
    let channels = scenario.connections[0].channels(false);
    let at = |ms: u64| {
        let at = cellrate_proto::Time::ZERO + cellrate_proto::Duration::from_ms(ms);
        let rates = fair::of_channels(channels, CellRate::new(10.0), Some(at));
        rates.into_iter().map(CellRate::as_cells_per_s).collect::<Vec<_>>()
    };
    assert_eq!([at(0), at(300), at(600)], [[10.0, 0.0], [5.0, 5.0], [0.0, 10.0]]);
    let spans = fair::max_min_over_time(&scenario, None).unwrap();
    let starts: Vec<f64> = spans.iter().map(|(at, _)| at.as_secs_f64()).collect();
    assert_eq!(starts, [0.0, 0.2, 0.5]);
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_right() {
    let asked = [
        ("channels = []", "at least 1"),
        ("channels = [{ weight = 2 }]", "name"),
        ("channels = [{ name = \"a\" }, { name = \"a\" }]", "another channel of this path is called \"a\""),
        ("channels = [{ name = \"a\", weight = 0 }]", "0.001"),
        ("channels = [{ name = \"a\", traffic = { type = \"tcp\" } }]", "greedy"),
        ("channels = [{ name = \"a\" }]\ncategory = \"ubr\"", "write category = \"abr\""),
        (
            "channels = [{ name = \"a\" }]\ntraffic = { type = \"greedy\" }",
            "each channel has traffic of its own",
        ),
        (
            "channels = [{ name = \"a\" }]\nreverse.traffic = { type = \"greedy\" }",
            "both ways with bidirectional",
        ),
        ("channels = [{ name = \"a\" }]\nbranches = [[\"sw\", \"e\"]]", "all go to its other end"),
    ];
    for (keys, text) in asked {
        let error = with(keys).unwrap_err();
        assert!(error.contains(text), "{keys}: {error}");
    }
    let many: Vec<String> = (0..1001).map(|number| format!("{{ name = \"c{number}\" }}")).collect();
    assert!(with(&format!("channels = [{}]", many.join(", "))).unwrap_err().contains("Write 1000 at most"));
}

#[test]
fn a_live_run_refuses_them_by_their_key() {
    let text = "name = \"x\"\nduration = \"1 s\"\nhost = [{ name = \"s\" }, { name = \"d\" }]\n\
                link = [{ between = [\"s\", \"d\"], rate = \"10 Mbps\", delay = \"1 ms\" }]\n\
                vc = [{ name = \"v\", path = [\"s\", \"d\"], channels = [{ name = \"a\" }] }]";
    let error = Document::parse(text, "x.toml").unwrap().resolve_for_live().unwrap_err().to_string();
    assert!(error.contains("channels need a simulation: a live run has no virtual paths"), "{error}");
}

#[test]
fn traffic_of_the_defaults_is_not_that_of_paths() {
    let text = format!(
        "name = \"x\"\nduration = \"1 s\"\nhost = [{{ name = \"s\" }}, {{ name = \"d\" }}]\ndefaults.vc.traffic = {CONSTANT}\n\
         link = [{{ between = [\"s\", \"d\"], rate = \"10 Mbps\", delay = \"1 ms\" }}]\n\
         vc = [{{ name = \"v\", path = [\"s\", \"d\"], channels = [{{ name = \"a\" }}] }}]"
    );
    assert!(Document::parse(&text, "x.toml").unwrap().resolve().unwrap().connections[0].is_path());
}
