//! Switches that segment control loops, as they are written: what is the default, what is refused and where.

use cellrate_proto::switch::QueueControl;
use cellrate_proto::{Cells, Duration};
use cellrate_scenario::*;

/// Two hosts at the ends of three switches, all of these defaults, the second one with `own`; and a probe of what `of`
/// names.
fn resolve(defaults: &str, own: &str, of: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"150 Mbps\", delay = \"3 ms\" }}\n\
         defaults.switch = {{ {defaults} }}\n\
         host = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"sw1\"] }}, {{ between = [\"sw{{i}}\", \"sw{{i+1}}\"], count = 2 }}, \
         {{ between = [\"sw3\", \"b\"] }}]\n\
         switch = [{{ name = \"sw1\" }}, {{ name = \"sw2\", {own} }}, {{ name = \"sw3\" }}]\n\
         vc = [{{ name = \"v\", path = [\"a\", \"sw1\", \"sw2\", \"sw3\", \"b\"] }}, \
         {{ name = \"u\", category = \"ubr\", path = [\"a\", \"sw1\", \"sw2\", \"sw3\", \"b\"], traffic = {{ type = \"greedy\" }} }}]\n\
         probe = [{{ record = [\"source_queue\"], of = [\"{of}\"], every = \"1 ms\" }}]\n"
    );
    Document::parse(&text, "t.toml").and_then(|document| document.resolve())
}

fn error(defaults: &str, own: &str, of: &str) -> String {
    match resolve(defaults, own, of) {
        Ok(_) => panic!("it resolves"),
        // The first line says it all.
        Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn nobody_segments_unless_it_is_said_and_one_can_be_left_out() {
    let switches = |defaults: &str, own: &str| -> Vec<u32> {
        let scenario = resolve(defaults, own, "v").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.segmenting(&scenario.connections[1]).count(), 0, "it is no connection of ABR");
        scenario.segmenting(&scenario.connections[0]).map(|segmenting| segmenting.switch.0).collect()
    };
    assert!(switches("", "").is_empty());
    assert_eq!(switches("", "vs_vd = {}"), [3]);
    assert_eq!(switches("vs_vd = {}", "vs_vd = \"off\""), [2, 4]);
    assert_eq!(switches("", "ports = { sw3 = { vs_vd = {} } }"), [3]);
    let none = switches("", "vs_vd = {}, ports = { sw1 = { vs_vd = \"off\" }, sw3 = { vs_vd = \"off\" } }");
    assert!(none.is_empty());
}

#[test]
fn t0_is_half_a_round_trip_where_it_is_not_said_and_that_is_longer_than_500_us() {
    let of = |own: &str| {
        let scenario = resolve("", own, "v").unwrap();
        let [one, other] = scenario.segmenting(&scenario.connections[0]).next().unwrap().vs_vd;
        assert_eq!(one, other);
        one
    };
    let t0 = |vs_vd: VsVd, round_trip: Duration| match vs_vd.coupling(round_trip).queue_control {
        QueueControl::QueueingDelay(control) => control.t0,
        other => panic!("{other:?}"),
    };
    let (us, ms) = (Duration::from_us, Duration::from_ms);
    assert_eq!(of("vs_vd = {}"), VsVd { t0: None, a: 1.15, b: 1.05, qdlf: 0.5, buffer: None });
    assert_eq!([us(10), us(998), ms(12)].map(|trip| t0(of("vs_vd = {}"), trip)), [us(500), us(500), ms(6)]);
    let own = of("vs_vd = { t0 = \"2 ms\", a = 1.5, b = 1.25, qdlf = \"10 %\", buffer = \"53 kB\" }");
    assert_eq!(own, VsVd { t0: Some(ms(2)), a: 1.5, b: 1.25, qdlf: 0.1, buffer: Some(Cells(1000)) });
    assert_eq!([us(10), ms(12)].map(|trip| t0(own, trip)), [ms(2), ms(2)]);
}

#[test]
fn each_direction_goes_by_its_own_port_or_else_by_the_other() {
    let t0 = |own: &str| {
        let scenario = resolve("", own, "v").unwrap();
        let segmenting = scenario.segmenting(&scenario.connections[0]).next().unwrap();
        assert_eq!((segmenting.switch, segmenting.hop), (NodeIndex(3), 2));
        segmenting.vs_vd.map(|vs_vd| vs_vd.t0.map_or(0, |t0| t0.as_ps() / 1_000_000_000))
    };
    let ports = |ports: &str| t0(&format!("ports = {{ {ports} }}"));
    assert_eq!(ports("sw3 = { vs_vd = { t0 = \"3 ms\" } }, sw1 = { vs_vd = { t0 = \"1 ms\" } }"), [3, 1]);
    assert_eq!(ports("sw3 = { vs_vd = { t0 = \"3 ms\" } }"), [3, 3]);
    assert_eq!(ports("sw1 = { vs_vd = { t0 = \"1 ms\" } }"), [1, 1]);
}

#[test]
fn a_virtual_source_is_named_with_its_switch() {
    let probed = |of: &str| resolve("", "vs_vd = {}", of).unwrap().probes[0].quantity;
    let at = |backward| Quantity::VirtualSource {
        quantity: FlowQuantity::SourceQueue,
        flow: FlowIndex::of(ConnectionIndex(0), backward),
        switch: NodeIndex(3),
    };
    assert_eq!(probed("v at sw2"), at(false));
    assert_eq!(probed("v (back) at sw2"), at(true));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let on = "vs_vd = {}";
    for (defaults, own, of, told) in [
        (
            "",
            "vs_vd = \"on\"",
            "v",
            "switch.sw2.vs_vd: a table is due here, not a string. Write { t0 = ... }; or write \"off\".",
        ),
        ("", "vs_vd = { t0 = \"0 ms\" }", "v", "switch.sw2.vs_vd.t0: "),
        ("", "vs_vd = { a = 1 }", "v", "switch.sw2.vs_vd.a: 1 is out of range."),
        ("vs_vd = { b = 0.9 }", "", "v", "defaults.switch.vs_vd.b: 0.9 is out of range."),
        (
            "",
            "vs_vd = { buffers = \"1 cell\" }",
            "v",
            "switch.sw2.vs_vd.buffers: there is no key \"buffers\" here. Did you mean \"buffer\"?",
        ),
        (
            "",
            "",
            "v at sw2",
            "probe.1.of: \"v\" has no virtual source at \"sw2\". No port on its way has vs_vd",
        ),
        ("", on, "v at sw1", "probe.1.of: \"v\" has no virtual source at \"sw1\". "),
        ("", on, "v at sw4", "probe.1.of: \"v\" has no virtual source at \"sw4\". Did you mean \"sw2\"?"),
        ("", on, "w at sw2", "probe.1.of: there is no vc \"w\"."),
        (
            "",
            on,
            "u at sw2",
            "probe.1.of: \"u\" has no virtual source at \"sw2\". Only connections of category abr have any",
        ),
    ] {
        let error = error(defaults, own, of);
        assert!(error.contains(told), "{error}\nis to have\n{told}");
    }
}

#[test]
fn a_virtual_source_has_what_a_source_has_and_nothing_of_a_receiver() {
    let text = |record: &str| {
        format!(
            "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"150 Mbps\", delay = \"3 ms\" }}\n\
             host = [{{ name = \"a\" }}, {{ name = \"b\" }}]\nswitch = [{{ name = \"sw\", vs_vd = {{}} }}]\n\
             link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"] }}]\n\
             vc = [{{ name = \"v\", path = [\"a\", \"sw\", \"b\"] }}]\n\
             probe = [{{ record = [\"{record}\"], of = [\"v at sw\"], every = \"1 ms\" }}]\n"
        )
    };
    let resolve =
        |record: &str| Document::parse(&text(record), "t.toml").and_then(|document| document.resolve());
    for record in ["acr", "source_rate", "source_queue", "forward_rm", "backward_rm"] {
        assert!(resolve(record).is_ok(), "{record}");
    }
    for record in ["received", "drops", "cwnd"] {
        let error = resolve(record).unwrap_err().to_string();
        assert!(error.contains(&format!("\"v at sw\" has no {record}")), "{error}");
    }
}
