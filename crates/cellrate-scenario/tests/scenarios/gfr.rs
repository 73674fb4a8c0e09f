//! Connections of GFR, and those of UBR with an MCR.

use cellrate_proto::policing::frame::FrameContract;
use cellrate_proto::policing::usage::{Action, Rule};
use cellrate_proto::switch::FrameDiscardConfig;
use cellrate_proto::switch::frame_discard::{Differential, DoubleEarly};
use cellrate_proto::{CellRate, Cells, Duration};
use cellrate_scenario::{Category, Connection, Document, Scenario, ScenarioError};

const GFR: &str = "category = \"gfr\"\nmcr = \"20000 cells/s\"\ntraffic = { type = \"tcp\" }\n";

fn document(top: &str, vc: &str) -> Result<Document, ScenarioError> {
    let text = format!(
        r#"
name = "x"
duration = "1 ms"
{top}
[defaults]
link = {{ rate = "42.4 Mbps", delay = "1 ms" }}
[[host]]
name = "s"
[[host]]
name = "d"
[[switch]]
name = "sw"
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
    Document::parse(&text, "x.toml")
}

fn with(top: &str, vc: &str) -> Result<Scenario, ScenarioError> {
    document(top, vc)?.resolve()
}

fn connection(vc: &str) -> Connection {
    with("", vc).unwrap_or_else(|error| panic!("{error}")).connections[0].clone()
}

#[test]
fn a_contract_is_that_of_the_connection() {
    let plain = connection(GFR);
    assert_eq!((plain.category, plain.queue.mcr), (Category::Gfr, CellRate::new(2e4)));
    let usage = |vc: &str| connection(&format!("{GFR}{vc}")).policing[0].usage;
    let whole = FrameContract {
        tags: false,
        pcr: CellRate::new(1e5),
        cdvt: Duration::from_us(10),
        mcr: CellRate::new(2e4),
        mbs: 192,
        mfs: 192,
    };
    assert_eq!(usage("police = {}").rule, Rule::Frames(whole));
    let said = usage("mbs = 300\nmfs = 32\npolice = { definition = \"gfr.2\", pcr = \"50000 cells/s\" }");
    let other = FrameContract { tags: true, pcr: CellRate::new(5e4), mbs: 300, mfs: 32, ..whole };
    assert_eq!((said.rule, said.action), (Rule::Frames(other), Action::Discard));
    assert_eq!(usage("police = { action = \"count\" }").action, Action::Count);
}

#[test]
fn ubr_may_have_an_mcr_and_admission_books_it() {
    let ubr = "category = \"ubr\"\ntraffic = { type = \"greedy\" }\nmcr = \"60000 cells/s\"";
    assert_eq!(connection(ubr).queue.mcr, CellRate::new(6e4));
    let two = format!("{ubr}\n[[vc]]\nname = \"other\"\npath = [\"s\", \"sw\", \"d\"]\n{GFR}");
    let scenario = |mcr: &str| {
        let mut document = document("admission = true", &two).unwrap_or_else(|error| panic!("{error}"));
        document.set("vc.other.mcr", mcr).unwrap();
        document.resolve().unwrap_or_else(|error| panic!("{error}"))
    };
    assert_eq!(scenario("40000 cells/s").connections.len(), 2);
    let refused = scenario("40001 cells/s").refused;
    assert!(refused[0].reason.contains("room for 16.96 Mb"), "{refused:?}");
}

#[test]
fn ports_have_two_thresholds_or_go_by_parts_of_the_mcrs() {
    let discard = |table: &str| {
        let mut document = document("", GFR).unwrap();
        document.set("defaults.switch.frame_discard", table)?;
        document.resolve().map(|scenario| scenario.links[1].ports[0].frame_discard)
    };
    let double = "{ type = \"double-early\", tagged_threshold = \"30 cells\", threshold = \"90 cells\" }";
    let (low, high) = (Cells(30), Cells(90));
    assert_eq!(
        discard(double).unwrap(),
        Some(FrameDiscardConfig::DoubleEarly(DoubleEarly { tagged_threshold: low, threshold: high }))
    );
    let differential = |more: &str| {
        discard(&format!("{{ type = \"differential\", low = \"30 cells\", high = \"90 cells\"{more} }}"))
    };
    let half = FrameDiscardConfig::Differential(Differential { low, high, fairness: 0.5 });
    assert_eq!(differential("").unwrap(), Some(half));
    let all = FrameDiscardConfig::Differential(Differential { low, high, fairness: 1.0 });
    assert_eq!(differential(", fairness = 1").unwrap(), Some(all));
    let told = differential(", fairness = 1.5").unwrap_err().to_string();
    assert!(told.contains("fairness"), "{told}");
    let order = discard("{ type = \"differential\", low = \"90 cells\", high = \"90 cells\" }");
    assert!(order.unwrap_err().to_string().contains("less than high"));
    let order =
        discard("{ type = \"double-early\", tagged_threshold = \"91 cells\", threshold = \"90 cells\" }");
    assert!(order.unwrap_err().to_string().contains("at most threshold"));
}

#[test]
fn errors_name_what_is_wrong() {
    let gfr = |mcr: &str, traffic: &str| format!("category = \"gfr\"\n{mcr}\ntraffic = {{ {traffic} }}\n");
    for (vc, parts) in [
        (gfr("", "type = \"tcp\""), ["\"mcr\" is missing", "guaranteed"]),
        (gfr("mcr = \"0 cells/s\"", "type = \"tcp\""), ["mcr", "0"]),
        (gfr("mcr = \"100001 cells/s\"", "type = \"tcp\""), ["mcr is 100001", "at most PCR"]),
        (
            gfr("mcr = \"1 Mbps\"", "type = \"greedy\""),
            ["\"greedy\" is in single cells", "category = \"ubr\""],
        ),
        (format!("{GFR}reverse.traffic = {{ type = \"greedy\" }}"), ["\"greedy\"", ""]),
        (format!("{GFR}police = {{ definition = \"ubr.1\" }}"), ["one of gfr", "\"gfr.1\" or \"gfr.2\""]),
        (format!("{GFR}police = {{ action = \"tag\" }}"), ["gfr.1 tags nothing", "gfr.2"]),
        (
            format!("{GFR}police = {{ definition = \"gfr.2\", action = \"discard\" }}"),
            ["gfr.2 tags what is not eligible", "gfr.1"],
        ),
        (
            format!("{GFR}police = {{ mbs = 3 }}"),
            ["mbs is not a parameter of \"gfr.1\"", "mbs of the connection"],
        ),
        (format!("{GFR}mfs = 1367"), ["mfs", "1366"]),
        ("mcr = \"1 Mbps\"".into(), ["mcr does not belong to category \"abr\"", "abr = { mcr"]),
        (
            "category = \"cbr\"\nmcr = \"1 Mbps\"\ntraffic = { type = \"greedy\" }".into(),
            ["mcr does not belong to category \"cbr\"", "\"gfr\" or \"ubr\""],
        ),
        (
            "category = \"ubr\"\nmbs = 3\ntraffic = { type = \"greedy\" }".into(),
            ["mbs does not belong to category \"ubr\"", "\"gfr\""],
        ),
    ] {
        let message = with("", &vc).unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{vc}: {message}");
    }
}
