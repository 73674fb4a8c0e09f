//! Ports that originate BRMs.

use cellrate_proto::Cells;
use cellrate_proto::switch::{BecnConfig, BecnIndication};
use cellrate_scenario::{Document, ScenarioError};

/// BRMs that the port sw->d originates, with these lines in `[defaults.switch]` and in the switch.
fn of(common: &str, own: &str) -> Result<Option<BecnConfig>, ScenarioError> {
    let text = format!(
        r#"
name = "x"
duration = "1 ms"
[defaults]
link = {{ rate = "10 Mbps", delay = "1 ms" }}
[defaults.switch]
{common}
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
"#
    );
    let scenario = Document::parse(&text, "x.toml")?.resolve()?;
    Ok(scenario.links[1].ports[0].control.becn)
}

#[test]
fn a_port_has_none_unless_it_is_said() {
    assert_eq!(of("", "").unwrap(), None);
    assert_eq!(of("becn = { threshold = \"10 cells\" }", "becn = \"off\"").unwrap(), None);
    assert_eq!(of("becn = { threshold = \"10 cells\" }", "ports.d.becn = \"off\"").unwrap(), None);
}

#[test]
fn a_threshold_and_what_is_set() {
    let ci = BecnConfig { threshold: Cells(10), indication: BecnIndication::Congestion };
    assert_eq!(of("becn = { threshold = \"10 cells\" }", "").unwrap(), Some(ci));
    assert_eq!(of("", "becn = { threshold = \"10 cells\", sets = \"ci\" }").unwrap(), Some(ci));
    let ni = BecnConfig { threshold: Cells(30), indication: BecnIndication::NoIncrease };
    let own = "ports.d.becn = { threshold = \"30 cells\", sets = \"ni\" }";
    assert_eq!(of("becn = { threshold = \"10 cells\" }", own).unwrap(), Some(ni));
}

#[test]
fn errors_name_what_is_wrong() {
    let told = |common: &str, own: &str| of(common, own).unwrap_err().to_string();
    let none = told("becn = { threshold = \"0 cells\" }", "");
    assert!(none.contains("threshold is 0 cells. It must be at least 1 cell"), "{none}");
    let neither = told("", "becn = { threshold = \"9 cells\", sets = \"efci\" }");
    assert!(neither.contains("ci") && neither.contains("ni"), "{neither}");
    let both = told("becn = { threshold = \"9 cells\" }", "vs_vd = {}");
    assert!(both.contains("becn cannot go with vs_vd") && both.contains("Turn one of the two off"), "{both}");
    assert!(told("becn = {}", "").contains("threshold"));
}
