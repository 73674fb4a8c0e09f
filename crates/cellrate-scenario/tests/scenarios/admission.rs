//! Admission and negotiation as a scenario asks for them.

use cellrate_proto::parameters::PowerOfTwo;
use cellrate_proto::{AbrParameters, BitRate, CellRate, Cells, Duration};
use cellrate_scenario::{Category, Document, Quantity, Scenario, ScenarioError, Sender};

/// Two hosts a side, a bottleneck of 100 Mbps; `top` stands before the tables.
fn text(top: &str, switch: &str, vcs: &str) -> String {
    format!(
        "name = \"t\"\nduration = \"1 s\"\n{top}\n[defaults.link]\nrate = \"155 Mbps\"\ndelay = \"1 ms\"\n\
         [[host]]\nname = \"s{{i}}\"\ncount = 4\n[[host]]\nname = \"d{{i}}\"\ncount = 4\n\
         [[switch]]\nname = \"sw1\"\n{switch}\n[[switch]]\nname = \"sw2\"\n\
         [[link]]\nbetween = [\"s{{i}}\", \"sw1\"]\ncount = 4\n[[link]]\nbetween = [\"sw1\", \"sw2\"]\nrate = \"100 Mbps\"\n\
         [[link]]\nbetween = [\"sw2\", \"d{{i}}\"]\ncount = 4\n{vcs}"
    )
}

fn vc(number: usize, keys: &str) -> String {
    format!("[[vc]]\nname = \"v{number}\"\npath = [\"s{number}\", \"sw1\", \"sw2\", \"d{number}\"]\n{keys}\n")
}

fn resolve(text: &str) -> Result<Scenario, ScenarioError> {
    Document::parse(text, "t.toml")?.resolve()
}

fn resolved(text: &str) -> Scenario {
    resolve(text).unwrap_or_else(|error| panic!("{error}"))
}

fn parameters(scenario: &Scenario, name: &str) -> AbrParameters {
    let connection =
        scenario.connections.iter().find(|connection| connection.name == name).expect("admitted");
    let Sender::Abr(sender) = &connection.forward.sender else { panic!("an ABR sender") };
    AbrParameters::clone(&sender.parameters)
}

fn mbps(rate: u64) -> CellRate {
    BitRate::from_bps(rate * 1_000_000).to_cell_rate()
}

/// CBR 30, VBR 40 half of the time, ABR of at least 60 and 20: 30 + 20 leaves 50.
fn crowd() -> String {
    [
        vc(1, "category = \"cbr\"\ntraffic = { type = \"constant\", rate = \"30 Mbps\" }"),
        vc(2, "category = \"vbr\"\ntraffic = { type = \"on-off\", rate = \"40 Mbps\", on = \"4.24 ms\", off = \"4.24 ms\" }"),
        vc(3, "abr = { mcr = \"60 Mbps\" }"),
        vc(4, "abr = { mcr = \"60 Mbps\" }\nmcr_min = \"20 Mbps\""),
    ]
    .concat()
}

#[test]
fn a_connection_that_does_not_fit_is_refused_with_link_and_reason_and_the_next_is_still_asked() {
    let probe = "[[probe]]\nrecord = [\"acr\"]\nof = [\"v3\", \"v4\"]\nevery = \"1 ms\"\n";
    let scenario = resolved(&text("admission = { negotiate = false }", "", &(crowd() + probe)));
    let names: Vec<&str> = scenario.connections.iter().map(|connection| connection.name.as_str()).collect();
    assert_eq!(names, ["v1", "v2", "v4"]);
    let refused: Vec<_> =
        scenario.refused.iter().map(|r| (r.vc.as_str(), r.category, r.reason.as_str())).collect();
    let reason = "forward on sw1->sw2: its MCR must be 60 Mbps at least, and the link has room for 50 Mbps";
    assert_eq!(refused, [("v3", Category::Abr, reason)]);
    assert_eq!(parameters(&scenario, "v4").mcr, mbps(50));
    assert_eq!(parameters(&scenario, "v4").pcr, mbps(100), "the smallest link");
    // The probe of the refused connection is gone, the other one points at v4 where it now stands.
    assert_eq!(scenario.probes.len(), 1);
    let Quantity::Flow { flow, .. } = scenario.probes[0].quantity else { panic!("a flow") };
    assert_eq!(scenario.connection(flow.connection()).name, "v4");
}

#[test]
fn an_on_period_has_a_cell_for_each_part_of_one() {
    let on_off = |on: &str, scr: &str| {
        let traffic =
            format!("category = \"vbr\"\ntraffic = {{ type = \"on-off\", rate = \"40 Mbps\", {on} }}\n{scr}");
        resolved(&text("admission = true", "", &(vc(1, &traffic) + &vc(2, "abr = { mcr = \"79.9 Mbps\" }"))))
            .refused
            .len()
    };
    // 10.6 us a cell: 400 cells and half of the time are 20 Mbps, 401 cells 20.05 Mbps, and 79.9 Mbps are left of 100
    // only up to 20.1.
    assert_eq!(on_off("on = \"4.24 ms\", off = \"4.24 ms\"", ""), 0);
    assert_eq!(on_off("on = \"4.2401 ms\", off = \"4.2399 ms\"", ""), 0);
    // 3 cells where 2.1 times the spacing has passed: 28.6 Mbps.
    assert_eq!(on_off("on = \"22.26 us\", off = \"22.26 us\"", ""), 1);
    assert_eq!(on_off("on = \"22.26 us\", off = \"22.26 us\"", "scr = \"20 Mbps\""), 0);
    // 1 / (1 - exp(-1 / 2.1)) = 2.64 cells in the mean: 25.1 Mbps.
    let exponential = "on = { exponential = \"22.26 us\" }, off = { exponential = \"22.26 us\" }";
    assert_eq!(on_off(exponential, ""), 1);
}

#[test]
fn with_negotiation_the_refusal_names_the_node_and_mcr_is_in_whole_cells() {
    let scenario = resolved(&text("admission = true", "", &crowd()));
    // 60 Mbps are 141,509.4 cells/s, 50 Mbps 117,924.5.
    assert_eq!(
        scenario.refused[0].reason,
        "forward at sw1: its MCR must be at least 141509 cells/s, and the most there is 117924 cells/s (what its link can \
         still promise)"
    );
    assert_eq!(parameters(&scenario, "v4").mcr, CellRate::new(117_924.0));
}

#[test]
fn scr_is_booked_as_given_and_without_admission_everything_runs_as_written() {
    let scr = crowd().replace("off = \"4.24 ms\" }", "off = \"4.24 ms\" }\nscr = \"10 Mbps\"");
    let scenario = resolved(&text("admission = true", "", &scr));
    // 100 - 30 - 10 is enough for all 60 of v3, and leaves v4 less than its 20: half a cell/s, by rounding.
    assert_eq!(parameters(&scenario, "v3").mcr, CellRate::new(141_509.0));
    assert_eq!(scenario.refused.len(), 1);
    assert!(scenario.refused[0].vc == "v4" && scenario.refused[0].reason.contains("most there is 0 cells/s"));
    let off = resolved(&text("admission = false", "", &scr));
    assert_eq!((off.connections.len(), off.refused.len(), off.negotiated.len()), (4, 0, 0));
    assert_eq!(parameters(&off, "v4").mcr, mbps(60));
}

#[test]
fn switches_negotiate_and_the_trace_tells() {
    let limits = "negotiation = { rif = \"1/64\", rdf = \"1/128\", tbe = \"300 cells\", nrm = 64, processing = \"10 us\" }";
    let scenario = resolved(&text("admission = true", limits, &vc(1, "reverse = { abr = { rif = 1 } }")));
    let agreed = parameters(&scenario, "v1");
    // Three links of 1 ms and 10 us in sw1, both ways; RDF falls from 1/16 as RIF does, by 4.
    assert_eq!((agreed.frtt, agreed.tbe, agreed.nrm), (Duration::from_us(6020), Cells(300), 64));
    assert_eq!(
        (agreed.rif, agreed.rdf),
        (PowerOfTwo::exact(1.0 / 64.0).unwrap(), PowerOfTwo::exact(1.0 / 64.0).unwrap())
    );
    // 300 / 6.02 ms = 49,833.9.
    assert_eq!((agreed.pcr, agreed.icr), (CellRate::new(235_849.0), CellRate::new(49_833.0)));
    let forward: Vec<String> = scenario
        .negotiated
        .iter()
        .filter(|change| !change.backward && change.parameter != "frtt")
        .map(|c| format!("{} {} {} -> {}: {}", c.node, c.parameter, c.from, c.to, c.why))
        .collect();
    assert_eq!(
        forward,
        [
            "s1 pcr 235849.05660377358 cells/s -> 235849 cells/s: signalling carries whole cells/s",
            "s1 icr 235849.05660377358 cells/s -> 235849 cells/s: signalling carries whole cells/s",
            "sw1 tbe 16777215 cells -> 300 cells: its own limit",
            "sw1 rif 1/16 -> 1/64: its own limit",
            "sw1 rdf 1/16 -> 1/64: it wants 1/128, and RDF falls by no more than RIF",
            "sw1 nrm 32 cells -> 64 cells: its own limit",
            "s1 icr 235849 cells/s -> 49833 cells/s: TBE / FRTT",
        ]
    );
    assert!(scenario.negotiated.iter().any(|c| c.backward && c.parameter == "rif" && c.from == "1"));
    let unsignalled = "admission = { signal = [\"trm\"] }";
    assert_eq!(parameters(&resolved(&text(unsignalled, limits, &vc(1, ""))), "v1").nrm, 32);
}

#[test]
fn charging_limits_pcr_and_refuses_a_connection_without_mcr() {
    let vcs = vc(1, "abr = { mcr = \"10 Mbps\" }") + &vc(2, "");
    let scenario = resolved(&text("admission = { negotiate = false, charging = 4 }", "", &vcs));
    let agreed = parameters(&scenario, "v1");
    assert_eq!((agreed.pcr, agreed.icr), (mbps(40), mbps(40)));
    assert_eq!(scenario.refused[0].reason, "forward: PCR is limited to a multiple of MCR, and its MCR is 0");
}

#[test]
fn keys_of_set_up_are_told_where_they_cannot_be() {
    let told = |top: &str, switch: &str, keys: &str| {
        resolve(&text(top, switch, &vc(1, keys))).unwrap_err().to_string()
    };
    let wants = |error: String, words: &[&str]| {
        words.iter().for_each(|word| assert!(error.contains(word), "{word:?} is not in\n{error}"));
    };
    wants(told("", "", "abr = { mcr = \"1 Mbps\" }\nmcr_min = 0"), &["mcr_min", "unit"]);
    let min = "abr = { mcr = \"1 Mbps\" }\nmcr_min = \"0 Mbps\"";
    wants(
        told("", "", min),
        &["mcr_min needs admission, which the scenario does not ask for", "admission = true"],
    );
    assert!(resolve(&text("admission = false", "", &vc(1, min))).is_ok());
    wants(
        told("", "negotiation = { rif = \"1/16\" }", ""),
        &["negotiation needs admission, which the scenario"],
    );
    wants(
        told("admission = true", "", "mcr_min = \"1 Mbps\""),
        &["mcr_min is 2358.491", "at most MCR", "0 cells/s"],
    );
    let vbr = "category = \"vbr\"\npcr = \"1 Mbps\"\nscr = \"2 Mbps\"\ntraffic = { type = \"greedy\" }";
    wants(told("admission = true", "", vbr), &["scr is 4716.981", "at most PCR"]);
    wants(told("admission = true", "", "scr = \"2 Mbps\""), &["scr does not belong to category"]);
    wants(
        told("admission = true", "", "abr = { frtt = \"1 ms\" }"),
        &["frtt cannot be given here", "Leave it out"],
    );
    wants(
        told("admission = true", "negotiation = { nrm = 33 }", ""),
        &["nrm", "a power of two from 2 to 256"],
    );
    wants(told("admission = { charging = 11 }", "", ""), &["11"]);
    wants(told("admission = \"yes\"", "", ""), &["admission"]);
}

#[test]
fn on_off_sources_are_booked_together_where_that_is_asked_for() {
    // 40 Mb/s half of the time: each needs its peak at a port with next to no room, and its mean at one without limit.
    let source = |number, more: &str| {
        let traffic = "{ type = \"on-off\", rate = \"40 Mbps\", on = \"4.24 ms\", off = \"4.24 ms\" }";
        vc(number, &format!("category = \"vbr\"\ntraffic = {traffic}\n{more}"))
    };
    let four = |more: &str| (1..5).map(|number| source(number, more)).collect::<String>();
    let names = |scenario: &Scenario| -> Vec<String> {
        scenario.connections.iter().map(|connection| connection.name.clone()).collect()
    };
    let together = "admission = { equivalent_bandwidth = { loss = 0.000001 } }";
    let narrow = resolved(&text(together, "buffers = { guaranteed = \"1 cells\" }", &four("")));
    assert_eq!(names(&narrow), ["v1", "v2"]);
    let reason = &narrow.refused[0].reason;
    assert!(reason.starts_with("forward on sw1->sw2: it asks for 39.9"), "{reason}");
    assert_eq!(names(&resolved(&text(together, "", &four("")))).len(), 4);
    // What has an SCR of its own books that.
    let buffers = "buffers = { guaranteed = \"1 cells\" }";
    assert_eq!(names(&resolved(&text(together, buffers, &four("scr = \"25 Mbps\"")))).len(), 4);
    assert_eq!(names(&resolved(&text("admission = true", buffers, &four("")))).len(), 4);
    for (table, expected) in [
        ("{}", "the key \"loss\" is missing"),
        ("{ loss = 0 }", "above 0, at most 0.1"),
        ("{ loss = 0.2 }", "above 0, at most 0.1"),
    ] {
        let top = format!("admission = {{ equivalent_bandwidth = {table} }}");
        let error = resolve(&text(&top, "", &four(""))).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_switch_lowers_parameters_by_rules_that_know_the_path_and_what_is_left() {
    let switch =
        "negotiation = { rules = [\"rif\", \"rdf\", \"tbe\", \"icr\"] }\nbuffers = { abr = \"400 cells\" }";
    let asks = "abr = { rif = 1, nrm = 32, tbe = \"100000 cells\" }";
    let vcs = vc(1, "category = \"cbr\"\ntraffic = { type = \"constant\", rate = \"20 Mbps\" }")
        + &vc(2, asks)
        + &vc(3, asks);
    let scenario = resolved(&text("admission = true", switch, &vcs));
    // The host's link and the bottleneck: 4 ms there and back at 235,849 cells/s are 943.4 cells and 29.5 BRMs.
    let second = parameters(&scenario, "v2");
    let power = |k| PowerOfTwo::from_negative_exponent(k).unwrap();
    assert_eq!((second.rif, second.rdf, second.tbe), (power(7), power(6), Cells(944 + 400)));
    // 188,679 cells/s are left, and 400 cells in 4 ms are 100,000/s; for the third half of both.
    assert_eq!(second.icr, CellRate::new(224_000.0), "TBE / FRTT, 1,344 cells in 6 ms");
    assert_eq!(parameters(&scenario, "v3").icr, CellRate::new(144_339.0));
    let why: Vec<_> = scenario
        .negotiated
        .iter()
        .filter(|change| change.vc == "v3" && !change.backward && change.why.starts_with("its rule"))
        .map(|change| (change.node.as_str(), change.parameter))
        .collect();
    assert_eq!(why, [("sw1", "icr"), ("sw1", "tbe"), ("sw1", "rif"), ("sw1", "rdf")]);
    let error = resolve(&text("", switch, &vcs)).unwrap_err().to_string();
    assert!(error.contains("negotiation"), "{error}");
}
