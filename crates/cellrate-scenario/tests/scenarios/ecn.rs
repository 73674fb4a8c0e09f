//! Ports that mark packets, as they are written.

use cellrate_proto::Cells;
use cellrate_proto::switch::PacketMarkingConfig;
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
    let marking = |cells| Some(PacketMarkingConfig { threshold: Cells(cells) });
    assert_eq!(of(""), None);
    assert_eq!(of("ecn = \"off\""), None);
    assert_eq!(of("ecn = { threshold = \"640 cells\" }"), marking(640));
    assert_eq!(of("ports.d.ecn = { threshold = \"0 cells\" }"), marking(0));
    assert_eq!(of("ecn = { threshold = \"640 cells\" }\nports.d.ecn = \"off\""), None);
}

#[test]
fn without_a_threshold_or_live_it_is_refused() {
    let told = document("ecn = {}").and_then(|document| document.resolve()).unwrap_err().to_string();
    assert!(told.contains("threshold"), "{told}");
    for own in ["ecn = { threshold = \"9 cells\" }", "ports.d.ecn = { threshold = \"9 cells\" }"] {
        let live = document(own).unwrap().resolve_for_live().unwrap_err().to_string();
        assert!(live.contains("ecn is of simulations: the ports of a live run mark no packets"), "{live}");
    }
    assert!(document("ecn = \"off\"").unwrap().resolve_for_live().is_ok());
}
