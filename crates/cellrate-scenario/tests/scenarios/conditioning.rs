//! Sources that shape and mark what they send, and policers of several definitions.

use cellrate_proto::CellRate;
use cellrate_proto::policing::usage::Rule;
use cellrate_scenario::fair::max_min;
use cellrate_scenario::{Conditioning, Document, Marking, MarkingRule, Scenario, ScenarioError, Shaping};

fn document(vc: &str) -> Result<Document, ScenarioError> {
    let text = format!(
        r#"
name = "x"
duration = "1 ms"
host = [{{ name = "s" }}, {{ name = "d" }}]
switch = [{{ name = "sw1" }}, {{ name = "sw2" }}]
link = [{{ between = ["s", "sw1"] }}, {{ between = ["sw1", "sw2"] }}, {{ between = ["sw2", "d"] }}]
[defaults]
link = {{ rate = "42.4 Mbps", delay = "1 us" }}
[[vc]]
name = "vc"
path = ["s", "sw1", "sw2", "d"]
{vc}
"#
    );
    Document::parse(&text, "x.toml")
}

fn with(vc: &str) -> Result<Scenario, ScenarioError> {
    document(vc)?.resolve()
}

fn conditioning(keys: &str) -> Option<Conditioning> {
    let scenario = with(&format!("{VBR}{keys}")).unwrap_or_else(|error| panic!("{error}"));
    scenario.connections[0].forward.conditioning.as_deref().copied()
}

fn refused(vc: &str) -> String {
    with(vc).expect_err("it is refused").to_string()
}

const VBR: &str = "category = \"vbr\"\npcr = \"50000 cells/s\"\ntraffic = { type = \"greedy\" }\n";
const TCP: &str = "category = \"ubr\"\ntraffic = { type = \"tcp\" }\n";

#[test]
fn a_source_has_a_shaper_and_a_marker_where_they_are_written() {
    assert_eq!(conditioning("shaping = \"off\"\ntagging = \"off\""), None);
    let bucket = Shaping { scr: CellRate::new(1e4), mbs: 20 };
    let shaped = conditioning("shaping = { scr = \"10000 cells/s\", mbs = 20 }").unwrap();
    assert_eq!(shaped, Conditioning { shaping: Some(bucket), marking: None });
    for (keys, rule) in [
        ("share = 0.25", MarkingRule::Share(0.25)),
        ("every = 3", MarkingRule::Every(3)),
        ("scr = \"10000 cells/s\", mbs = 20", MarkingRule::Bucket(bucket)),
    ] {
        let marking = Some(Marking { rule, whole_frames: false });
        let found = conditioning(&format!("tagging = {{ {keys} }}")).unwrap();
        assert_eq!(found, Conditioning { shaping: None, marking });
    }
}

#[test]
fn frames_are_tagged_where_there_are_any_and_of_gfr_by_default() {
    let whole = |vc: &str| {
        let scenario = with(vc).unwrap_or_else(|error| panic!("{error}"));
        scenario.connections[0].forward.conditioning.as_ref().unwrap().marking.unwrap().whole_frames
    };
    assert!(!whole(&format!("{TCP}tagging = {{ every = 2 }}")));
    assert!(whole(&format!("{TCP}tagging = {{ every = 2, of = \"frames\" }}")));
    let gfr = "category = \"gfr\"\nmcr = \"1000 cells/s\"\ntraffic = { type = \"tcp\" }\n";
    assert!(whole(&format!("{gfr}tagging = {{ every = 2 }}")));
    assert!(!whole(&format!("{gfr}tagging = {{ every = 2, of = \"cells\" }}")));
    let error = refused(&format!("{VBR}tagging = {{ every = 2, of = \"frames\" }}"));
    assert!(error.contains("in single cells"), "{error}");
}

#[test]
fn the_other_direction_has_its_own() {
    let scenario = with(&format!("{TCP}reverse = {{ tagging = {{ every = 2 }} }}")).unwrap();
    let [there, back] = [&scenario.connections[0].forward, &scenario.connections[0].backward];
    assert!(there.conditioning.is_none() && back.conditioning.is_some());
    let error = refused(&format!("{VBR}reverse = {{ shaping = {{ scr = \"1 Mbps\", mbs = 2 }} }}"));
    assert!(error.contains("this direction carries none"), "{error}");
}

#[test]
fn what_has_no_effect_is_refused() {
    for key in ["tagging = { every = 2 }", "shaping = { scr = \"1 Mbps\", mbs = 2 }"] {
        let error = refused(key);
        assert!(error.contains("abr connection"), "{error}");
    }
    let error = refused(&format!("{VBR}shaping = {{ scr = \"60000 cells/s\", mbs = 2 }}"));
    assert!(error.contains("at most PCR, which is 50000 cells/s"), "{error}");
    for (keys, words) in [
        ("share = 0.5, every = 2", "more than one rule"),
        ("", "\"share\" is missing"),
        ("scr = \"1 Mbps\"", "\"mbs\" is missing"),
        ("mbs = 3", "\"scr\" is missing"),
        ("every = 2, mbs = 3", "more than one rule"),
        ("share = 0", "out of range"),
        ("every = 0", "from 1 to"),
    ] {
        let error = refused(&format!("{VBR}tagging = {{ {keys} }}"));
        assert!(error.contains(words), "{keys}: {error}");
    }
}

#[test]
fn a_shaped_source_leaves_others_what_its_scr_leaves() {
    let abr = "[[vc]]\nname = \"abr\"\npath = [\"s\", \"sw1\", \"sw2\", \"d\"]\n";
    let fair = |keys: &str| {
        let scenario = with(&format!("{VBR}{keys}\n{abr}")).unwrap();
        max_min(&scenario, Some(1.0)).unwrap()[0].rate.as_cells_per_s()
    };
    // The backward RM cells of one go with the cells of nobody else: 100,000 cells/s less the VBR.
    assert!((fair("") - 50e3).abs() < 1.0, "{}", fair(""));
    let shaped = fair("shaping = { scr = \"10000 cells/s\", mbs = 20 }");
    assert!((shaped - 90e3).abs() < 1.0, "{shaped}");
}

#[test]
fn a_policer_has_scr_and_mbs_of_the_shaper_by_default() {
    let keys = "shaping = { scr = \"10000 cells/s\", mbs = 20 }\npolice = {}";
    let scenario = with(&format!("{VBR}{keys}")).unwrap();
    let Rule::Fixed(contract) = scenario.connections[0].policing[0].usage.rule else { panic!("of VBR") };
    assert_eq!((contract.scr.as_cells_per_s(), contract.mbs), (1e4, 20));
}

#[test]
fn each_place_may_police_by_a_definition_of_its_own() {
    let bucket = "scr = \"10000 cells/s\", mbs = 20";
    let police = format!(
        "police = [{{ at = [\"sw2\"], definition = \"vbr.2\", {bucket} }}, {{ definition = \"vbr.3\", {bucket} }}]"
    );
    let scenario = with(&format!("{VBR}{police}")).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<_> = scenario.connections[0]
        .policing
        .iter()
        .map(|policing| (policing.hop, policing.usage.definition()))
        .collect();
    assert_eq!(found, [(0, "VBR.3"), (1, "VBR.2")], "in the order of the way");
    let twice = format!("{VBR}police = [{{ {bucket} }}, {{ at = [\"sw1\"], {bucket} }}]");
    let error = refused(&twice);
    assert!(error.contains("sw1 polices this direction by another table"), "{error}");
    // A list is one value, in a group, too.
    let mut document = document(&format!("{VBR}{police}")).unwrap();
    document.set("vc.vc.count", "2").unwrap();
    document.set("vc.vc.name", "\"vc{i}\"").unwrap();
    let group = document.resolve().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(group.connections.iter().map(|vc| vc.policing.len()).collect::<Vec<_>>(), [2, 2]);
}
