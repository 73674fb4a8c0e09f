//! Connections that switches police.

use cellrate_proto::misbehaviour::Misbehaviour;
use cellrate_proto::policing::contract::{Contract, Coupling, Definition};
use cellrate_proto::policing::usage::{Action, Rule, UsageConfig};
use cellrate_proto::{CellRate, Cells, Duration};
use cellrate_scenario::{Document, Policing, Scenario, ScenarioError, Sender};

fn document(common: &str, vc: &str) -> Result<Document, ScenarioError> {
    let text = format!(
        r#"
name = "x"
duration = "1 ms"
[defaults]
link = {{ rate = "42.4 Mbps", delay = "1 ms" }}
{common}
[[host]]
name = "s"
[[host]]
name = "d"
[[switch]]
name = "sw1"
[[switch]]
name = "sw2"
[[link]]
between = ["s", "sw1"]
[[link]]
between = ["sw1", "sw2"]
[[link]]
between = ["sw2", "d"]
[[vc]]
name = "vc"
path = ["s", "sw1", "sw2", "d"]
{vc}
"#
    );
    Document::parse(&text, "x.toml")
}

fn with(common: &str, vc: &str) -> Result<Scenario, ScenarioError> {
    document(common, vc)?.resolve()
}

fn policing(vc: &str) -> Vec<Policing> {
    with("", vc).unwrap_or_else(|error| panic!("{error}")).connections[0].policing.clone()
}

const CBR: &str = "category = \"cbr\"\ntraffic = { type = \"constant\", rate = \"10000 cells/s\" }\n";
const VBR: &str = "category = \"vbr\"\npcr = \"50000 cells/s\"\ntraffic = { type = \"greedy\" }\n";

#[test]
fn nothing_is_policed_unless_it_is_said() {
    assert_eq!(policing(""), []);
    let all = "vc = { police = {} }";
    assert_eq!(with(all, "").unwrap().connections[0].policing.len(), 1);
    assert_eq!(with(all, "police = \"off\"").unwrap().connections[0].policing, []);
}

#[test]
fn what_is_not_written_follows_from_the_connection() {
    let [cbr] = policing(&format!("{CBR}police = {{}}"))[..] else { panic!("one") };
    let contract = Contract {
        definition: Definition::Cbr1,
        pcr: CellRate::new(1e5),
        cdvt: Duration::from_us(10),
        scr: CellRate::ZERO,
        mbs: 0,
        coupling: Coupling::Coupled,
    };
    let usage = UsageConfig { rule: Rule::Fixed(contract), action: Action::Discard };
    assert_eq!(cbr, Policing { backward: false, hop: 0, usage });
    let [abr] = policing("abr = { mcr = \"1 Mbps\", icr = \"2 Mbps\" }\npolice = { at = [\"sw2\"] }")[..]
    else {
        panic!("one")
    };
    let Rule::Abr(contract) = abr.usage.rule else { panic!("{abr:?}") };
    assert_eq!((abr.hop, contract.cdvt), (1, Duration::from_us(10)));
    assert_eq!(contract.shortest_delay, Duration::from_ms(4));
    assert_eq!(contract.longest_delay, Duration::from_us(4020));
    let bits = |rate: CellRate| rate.as_cells_per_s() * 424.0;
    assert_eq!([contract.pcr, contract.mcr, contract.icr].map(bits), [42.4e6, 1e6, 2e6]);
}

#[test]
fn several_switches_police_each_by_itself_and_the_other_direction_by_its_own_table() {
    let vc = "police = { at = [\"sw2\", \"sw1\"], action = \"count\" }\nreverse = { police = { tau3 = \"1 ms\" } }";
    let found: Vec<_> = policing(vc).iter().map(|one| (one.backward, one.hop, one.usage.action)).collect();
    assert_eq!(found, [(false, 0, Action::Count), (false, 1, Action::Count), (true, 0, Action::Discard)]);
}

#[test]
fn vbr_has_two_buckets() {
    let table =
        "definition = \"vbr.3\", scr = \"10000 cells/s\", mbs = 5, coupling = \"serial\", cdvt = \"0 s\"";
    let [vbr] = policing(&format!("{VBR}police = {{ {table} }}"))[..] else { panic!("one") };
    let contract = Contract {
        definition: Definition::Vbr3,
        pcr: CellRate::new(5e4),
        cdvt: Duration::ZERO,
        scr: CellRate::new(1e4),
        mbs: 5,
        coupling: Coupling::Serial,
    };
    assert_eq!(vbr.usage.rule, Rule::Fixed(contract));
}

#[test]
fn peaks_of_a_contract_are_those_agreed_on_at_set_up() {
    let mut document = document("", "abr = { mcr = \"1 Mbps\", icr = \"1 Mbps\" }\npolice = {}").unwrap();
    document.set("admission", "{ charging = 2 }").unwrap();
    let scenario = document.resolve().unwrap_or_else(|error| panic!("{error}"));
    let Rule::Abr(contract) = scenario.connections[0].policing[0].usage.rule else { panic!("one of ABR") };
    assert!((contract.pcr.as_cells_per_s() * 424.0 / 2e6 - 1.0).abs() < 0.01, "{contract:?}");
}

#[test]
fn errors_name_what_is_wrong() {
    let told = |vc: &str| with("", vc).unwrap_err().to_string();
    for (vc, parts) in [
        (
            "police = { at = [\"d\"] }".to_string(),
            ["is not a switch on the path of the connection", "sw1, sw2"],
        ),
        ("police = { at = [\"sw1\", \"sw1\"] }".into(), ["written twice", "once"]),
        ("police = { definition = \"cbr.1\" }".into(), ["the connection is one of abr", "\"abr.1\""]),
        ("police = { mbs = 3 }".into(), ["mbs is not a parameter of \"abr.1\"", "Leave it out"]),
        ("police = { pcr = \"1 Mbps\" }".into(), ["pcr is not a parameter", "abr.pcr"]),
        ("police = { tau2 = \"1 us\", tau3 = \"2 us\" }".into(), ["tau3 is", "at most tau2"]),
        (format!("{CBR}police = {{ action = \"tag\" }}"), ["cbr.1 tags nothing", "vbr.3"]),
        (
            format!("{CBR}police = {{ tau2 = \"1 ms\" }}"),
            ["tau2 is not a parameter of \"cbr.1\"", "Leave it out"],
        ),
        (
            format!("{CBR}reverse = {{ police = {{}} }}"),
            ["this direction carries none", "give the direction traffic"],
        ),
        (format!("{VBR}police = {{ mbs = 3 }}"), ["\"scr\" is missing", "sustainable"]),
        (format!("{VBR}police = {{ scr = \"1 Mbps\" }}"), ["\"mbs\" is missing", "burst"]),
        (format!("{VBR}police = {{ scr = \"40 Mbps\", mbs = 3 }}"), ["SCR is", "at most PCR"]),
        (
            format!(
                "{VBR}police = {{ definition = \"vbr.3\", scr = \"1 Mbps\", mbs = 3, action = \"discard\" }}"
            ),
            ["vbr.3 tags what bucket 2 refuses", "vbr.2"],
        ),
    ] {
        let message = told(&vc);
        assert!(parts.iter().all(|part| message.contains(part)), "{vc}: {message}");
    }
}

#[test]
fn a_live_run_polices_too() {
    for vc in ["police = {}", "reverse = { police = { action = \"count\" } }"] {
        let scenario = document("", vc).unwrap().resolve_for_live();
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.connections[0].policing, policing(vc));
    }
}

#[test]
fn sources_may_break_rules_each_direction_its_own() {
    let scenario = with(
        "",
        "misbehaves = { ignores = [\"er\"], rate_factor = 1.5 }\nreverse.misbehaves = { ignores = [\"ci\"], tcr_factor = 20 }",
    );
    let connection = &scenario.unwrap_or_else(|error| panic!("{error}")).connections[0];
    let of = |sender: &Sender| match sender {
        Sender::Abr(abr) => abr.misbehaviour,
        Sender::Peak(_) => panic!("one of ABR"),
    };
    let honest = Misbehaviour::default();
    let forward = Misbehaviour { ignores_er: true, rate_factor: 1.5, ..honest };
    assert_eq!(of(&connection.forward.sender), forward);
    assert_eq!(
        of(&connection.backward.sender),
        Misbehaviour { ignores_ci: true, tcr_factor: 20.0, ..honest }
    );
    let told = |vc: &str| with("", vc).unwrap_err().to_string();
    assert!(
        told(&format!("{CBR}misbehaves = {{ rate_factor = 2 }}"))
            .contains("misbehaves needs a connection of category \"abr\"")
    );
    assert!(told("misbehaves = {}").contains("names no rule that the source breaks"));
    assert!(told("misbehaves = { ignores = [\"ni\"] }").contains("ci"));
    assert!(told("misbehaves = { rate_factor = 0 }").contains("rate_factor"));
    assert!(told("misbehaves = { tcr_factor = 0 }").contains("tcr_factor"));
}

#[test]
fn ports_may_have_less_room_for_tagged_cells() {
    let common = "switch = { buffers = { shared = \"90 cells\", tagged = \"30 cells\" } }";
    let scenario = with(common, "").unwrap_or_else(|error| panic!("{error}"));
    let buffers = scenario.links[1].ports[0].buffers;
    assert_eq!((buffers.shared, buffers.tagged), (Some(Cells(90)), Some(Cells(30))));
    let live = document(common, "").unwrap().resolve_for_live().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(live.links[1].ports[0].buffers, buffers);
}

/// The tolerance of a policer at sw1, whose link from s changes like this.
fn tolerance(changes: &str, police: &str) -> Result<Duration, ScenarioError> {
    let text = document("", &format!("{CBR}police = {{ {police} }}"))?.to_toml();
    let link = "between = [\"s\", \"sw1\"]";
    assert!(text.contains(link), "{text}");
    let scenario = Document::parse(&text.replace(link, &format!("{link}\nchanges = [{changes}]")), "x.toml")?
        .resolve()?;
    match scenario.connections[0].policing[0].usage.rule {
        Rule::Fixed(contract) => Ok(contract.cdvt),
        _ => unreachable!("it is CBR"),
    }
}

#[test]
fn a_link_that_changes_before_the_policer_is_tolerated_or_cdvt_has_to_be_given() {
    // A cell time of 10 us, and by how much the delay falls.
    assert_eq!(tolerance("", "").unwrap(), Duration::from_us(10));
    assert_eq!(tolerance("{ at = \"500 us\", delay = \"100 us\" }", "").unwrap(), Duration::from_us(910));
    // A quarter of the rate for 200 us: 150 us of a source at the whole rate wait then, and a cell takes 40 us.
    let slow = "{ at = \"500 us\", rate = \"10.6 Mbps\" }, { at = \"700 us\", rate = \"42.4 Mbps\" }";
    let error = tolerance(slow, "").unwrap_err().to_string();
    assert!(error.contains("s->sw1 changes") && error.contains("cdvt = \"190 us\""), "{error}");
    assert_eq!(tolerance(slow, "cdvt = \"190 us\"").unwrap(), Duration::from_us(190));
    // One that gets slower and stays so lets no cells come closer.
    let slower = "{ at = \"500 us\", rate = \"10.6 Mbps\" }";
    assert_eq!(tolerance(slower, "").unwrap(), Duration::from_us(40));
}

#[test]
fn a_source_behind_a_bucket_is_policed_with_a_cdvt_of_its_own() {
    let error = with("", "abr = { mbs = 16 }\npolice = {}").unwrap_err().to_string();
    assert!(error.contains("cdvt has no default for a source with abr.mbs"), "{error}");
    let policed = policing("abr = { mbs = 16 }\npolice = { cdvt = \"1 ms\" }");
    assert!(matches!(policed[0].usage.rule, Rule::Abr(contract) if contract.cdvt == Duration::from_ms(1)));
    // The other direction has none, and a bucket of one cell is none.
    assert_eq!(policing("abr = { mbs = 1 }\npolice = {}").len(), 1);
}
