//! Ports that mark packets, as they are written.

use cellrate_proto::Cells;
use cellrate_proto::switch::{PacketMarkingConfig, RedConfig};
use cellrate_scenario::*;

fn document(own: &str) -> Result<Document, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"s\" }}, {{ name = \"d\" }}]\n\
         [[switch]]\nname = \"sw\"\n{own}\n\
         [[link]]\nbetween = [\"s\", \"sw\"]\nrate = \"150 Mbps\"\nlength = \"1 km\"\n\
         [[link]]\nbetween = [\"sw\", \"d\"]\nrate = \"150 Mbps\"\nlength = \"1 km\"\n\
         [[vc]]\nname = \"v\"\ncategory = \"ubr\"\npath = [\"s\", \"sw\", \"d\"]\ntraffic = {{ type = \"greedy\" }}\n"
    );
    Document::parse(&text, "t")
}

/// Marking at the port towards the second host.
fn of(own: &str) -> Option<PacketMarkingConfig> {
    let scenario =
        document(own).and_then(|document| document.resolve()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.links[0].ports[0].ecn, None, "a host has none");
    scenario.links[1].ports[0].ecn
}

#[test]
fn a_port_marks_above_its_threshold_or_not_at_all() {
    let marking = |cells| Some(PacketMarkingConfig::Step { threshold: Cells(cells) });
    assert_eq!(of(""), None);
    assert_eq!(of("ecn = \"off\""), None);
    assert_eq!(of("ecn = { threshold = \"640 cells\" }"), marking(640));
    assert_eq!(of("ports.d.ecn = { threshold = \"0 cells\" }"), marking(0));
    assert_eq!(of("ecn = { threshold = \"640 cells\" }\nports.d.ecn = \"off\""), None);
}

#[test]
fn red_has_two_thresholds_and_defaults_for_the_rest() {
    let red = |own: &str| match of(&format!("ecn = {{ type = \"red\", {own} }}")) {
        Some(PacketMarkingConfig::Red(red)) => red,
        other => panic!("{other:?}"),
    };
    let plain = RedConfig {
        minimum: Cells(100),
        maximum: Cells(300),
        probability: 0.1,
        weight: 0.002,
        gentle: true,
        packet: Cells(32),
    };
    let thresholds = "minimum = \"100 cells\", maximum = \"300 cells\"";
    assert_eq!(red(thresholds), plain);
    let own = format!("{thresholds}, probability = 0.02, weight = 1, gentle = false, packet = \"9 cells\"");
    let expected = RedConfig { probability: 0.02, weight: 1.0, gentle: false, packet: Cells(9), ..plain };
    assert_eq!(red(&own), expected);
    for (own, told) in [
        ("minimum = \"9 cells\", maximum = \"9 cells\"", "maximum is 9 cells, and minimum 9 cells"),
        ("minimum = \"9 cells\"", "maximum"),
        ("minimum = \"1 cells\", maximum = \"9 cells\", probability = 1.5", "probability"),
        ("minimum = \"1 cells\", maximum = \"9 cells\", threshold = \"3 cells\"", "threshold"),
    ] {
        let text = format!("ecn = {{ type = \"red\", {own} }}");
        let error = document(&text).and_then(|document| document.resolve()).unwrap_err().to_string();
        assert!(error.contains(told), "{own}: {error}");
    }
}

#[test]
fn without_a_threshold_or_live_it_is_refused() {
    let told = document("ecn = {}").and_then(|document| document.resolve()).unwrap_err().to_string();
    assert!(told.contains("threshold"), "{told}");
    for own in ["ecn = { threshold = \"9 cells\" }", "ports.d.ecn = { threshold = \"9 cells\" }"] {
        let live = document(own).unwrap().resolve_for_live().unwrap_err().to_string();
        assert!(live.contains("ecn needs a simulation: the ports of a live run mark no packets"), "{live}");
    }
    assert!(document("ecn = \"off\"").unwrap().resolve_for_live().is_ok());
}
