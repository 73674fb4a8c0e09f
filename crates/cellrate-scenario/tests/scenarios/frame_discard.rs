//! Ports that lose PDUs rather than cells.

use cellrate_proto::Cells;
use cellrate_proto::switch::FrameDiscardConfig;
use cellrate_proto::switch::frame_discard::{Early, Fair, Partial, Selective};
use cellrate_scenario::{Document, Scenario, ScenarioError};

/// A scenario with these lines in the switch, whose port sw->d everything goes to.
fn with(own: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        r#"
name = "x"
duration = "1 ms"
[defaults]
link = {{ rate = "10 Mbps", delay = "1 ms" }}
[defaults.switch]
frame_discard = {{ type = "early", threshold = "10 cells" }}
[[host]]
name = "s"
[[host]]
name = "d"
[[switch]]
name = "sw"
{own}
[[link]]
between = ["s", "sw"]
[[link]]
between = ["sw", "d"]
[[vc]]
name = "vc"
path = ["s", "sw", "d"]
category = "ubr"
traffic = {{ type = "tcp" }}
"#
    );
    Document::parse(&text, "x.toml")?.resolve()
}

fn of(own: &str) -> Option<FrameDiscardConfig> {
    let scenario = with(own).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.links[0].ports[0].frame_discard, None, "a host has none");
    scenario.links[1].ports[0].frame_discard
}

#[test]
fn a_port_has_that_of_its_switch_or_its_own() {
    let [early, partial] =
        [FrameDiscardConfig::Early(Early { threshold: Cells(10) }), FrameDiscardConfig::Partial(Partial {})];
    assert_eq!(of(""), Some(early));
    assert_eq!(of("frame_discard = \"off\""), None);
    assert_eq!(of("frame_discard = { type = \"partial\" }"), Some(partial));
    assert_eq!(of("ports.d.frame_discard = { type = \"partial\" }"), Some(partial));
    assert_eq!(of("ports.s.frame_discard = { type = \"partial\" }"), Some(early));
}

#[test]
fn the_scale_factor_is_that_of_the_reference_unless_it_is_said() {
    let threshold = Cells(30);
    let selective = |more: &str| {
        of(&format!("frame_discard = {{ type = \"selective\", threshold = \"30 cells\"{more} }}"))
    };
    assert_eq!(
        selective(""),
        Some(FrameDiscardConfig::Selective(Selective { threshold, scale_factor: 0.8 }))
    );
    let twice = FrameDiscardConfig::Selective(Selective { threshold, scale_factor: 2.0 });
    assert_eq!(selective(", scale_factor = 2"), Some(twice));
    let shared =
        "frame_discard = { type = \"fair\", threshold = \"30 cells\" }\nbuffers.shared = \"31 cells\"";
    assert_eq!(of(shared), Some(FrameDiscardConfig::Fair(Fair { threshold, scale_factor: 0.8 })));
    let fair = "frame_discard = { type = \"fair\", threshold = \"30 cells\" }\nbuffers.ubr = \"31 cells\"";
    assert_eq!(of(fair), Some(FrameDiscardConfig::Fair(Fair { threshold, scale_factor: 0.8 })));
}

#[test]
fn which_directions_have_pdus() {
    let with_traffic = |lines: &str| {
        let own = with("").expect("it is right").connections[0].clone();
        let text = format!(
            "name = \"x\"\nduration = \"1 ms\"\nhost = [{{ name = \"s\" }}, {{ name = \"d\" }}]\n\
             [[link]]\nbetween = [\"s\", \"d\"]\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\n\
             [[vc]]\nname = \"vc\"\npath = [\"s\", \"d\"]\ncategory = \"ubr\"\n{lines}\n"
        );
        let document = Document::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
        let connection = document.resolve().unwrap_or_else(|error| panic!("{error}")).connections[0].clone();
        assert_eq!(connection.category, own.category);
        [false, true].map(|backward| connection.carries_pdus(backward))
    };
    assert_eq!(with_traffic("traffic = { type = \"tcp\" }"), [true, true], "data, and ACKs");
    assert_eq!(with_traffic("traffic = { type = \"greedy\" }"), [false, false]);
    let voice = "{ type = \"frames\", size = \"160 octets\", frames_per_second = 50 }";
    assert_eq!(with_traffic(&format!("traffic = {voice}")), [true, false]);
    assert_eq!(
        with_traffic(&format!("traffic = {{ type = \"greedy\" }}\nreverse.traffic = {voice}")),
        [false, true]
    );
}

#[test]
fn errors_name_what_is_wrong() {
    let told = |own: &str| with(own).expect_err("it is wrong").to_string();
    let never = told("buffers.ubr = \"10 cells\"");
    assert!(never.contains("threshold is 10 cells. It must be less than the room of its buffer"), "{never}");
    assert!(told("buffers.shared = \"10 cells\"").contains("threshold is 10 cells"));
    let unlimited = told("frame_discard = { type = \"fair\", threshold = \"10 cells\" }");
    assert!(unlimited.contains("which is limited for fair discard"), "{unlimited}");
    assert!(told("frame_discard = { type = \"early\" }").contains("threshold"));
    let foreign = told("frame_discard = { type = \"partial\", threshold = \"10 cells\" }");
    assert!(foreign.contains("threshold"), "{foreign}");
    let unknown = told("frame_discard = { type = \"random\" }");
    assert!(["partial", "early", "selective", "fair"].iter().all(|name| unknown.contains(name)), "{unknown}");
    assert!(
        told("frame_discard = { type = \"selective\", threshold = \"10 cells\", scale_factor = 0 }")
            .contains("scale_factor")
    );
}

#[test]
fn buffers_of_other_categories_have_theirs_and_connections_say_whether_it_is_for_them() {
    let own = "frame_discard_abr = { type = \"partial\" }\n\
               frame_discard_guaranteed = { type = \"early\", threshold = \"5 cells\" }\n\
               buffers.guaranteed = \"6 cells\"";
    let scenario = with(own).unwrap_or_else(|error| panic!("{error}"));
    let early = |cells| Some(FrameDiscardConfig::Early(Early { threshold: Cells(cells) }));
    let of_port = scenario.links[1].ports[0].frame_discards();
    assert_eq!(of_port, [early(5), Some(FrameDiscardConfig::Partial(Partial {})), early(10)]);
    let told =
        with("frame_discard_abr = { type = \"early\", threshold = \"9 cells\" }\nbuffers.abr = \"9 cells\"");
    let told = told.expect_err("it is wrong").to_string();
    assert!(told.contains("threshold is 9 cells. It must be less than the room of its buffer"), "{told}");
    let allowed = |lines: &str| {
        let vc = format!("path = [\"s\", \"d\"]\nname = \"vc\"\n{lines}\n");
        let text = format!(
            "name = \"x\"\nduration = \"1 ms\"\nhost = [{{ name = \"s\" }}, {{ name = \"d\" }}]\n\
             [[link]]\nbetween = [\"s\", \"d\"]\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\n[[vc]]\n{vc}"
        );
        let document = Document::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
        let scenario = document.resolve().unwrap_or_else(|error| panic!("{error}"));
        scenario.connections[0].loses_whole_pdus()
    };
    assert!(!allowed("") && allowed("frame_discard = true"));
    let ubr = "category = \"ubr\"\ntraffic = { type = \"tcp\" }";
    assert!(allowed(ubr) && !allowed(&format!("{ubr}\nframe_discard = false")));
}
