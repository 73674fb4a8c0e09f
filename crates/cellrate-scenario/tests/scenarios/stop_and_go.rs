//! Stop & Go as it is written: what it fixes, what it chooses, what it refuses and where.

use cellrate_proto::parameters::PowerOfTwo;
use cellrate_proto::switch::{StopAndGoConfig, StopAndGoForm, SwitchAlgorithmConfig};
use cellrate_proto::{AbrParameters, BitRate, Cells};
use cellrate_scenario::*;

use crate::expected_error::assert_error;

/// Two hosts, 10 km from a switch with this algorithm, and these ABR parameters.
fn resolve(algorithm: &str, abr: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"150 Mbps\", length = \"10 km\" }}\n\
         host = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"] }}]\n\
         [[switch]]\nname = \"sw\"\nalgorithm = {algorithm}\n\
         [[vc]]\nname = \"v\"\npath = [\"a\", \"sw\", \"b\"]\nabr = {{ {abr} }}\n"
    );
    Document::parse(&text, "t.toml").and_then(|document| document.resolve())
}

const STOP_AND_GO: &str = "{ type = \"stop-and-go\", threshold = \"250 cells\" }";
const RATES: &str = "pcr = \"50 Mbps\", mcr = \"1 Mbps\"";

fn parameters(abr: &str) -> AbrParameters {
    let scenario = resolve(STOP_AND_GO, abr).unwrap_or_else(|error| panic!("{error}"));
    let [forward, backward] = [&scenario.connections[0].forward, &scenario.connections[0].backward];
    assert_eq!(forward.sender, backward.sender, "both directions pass such a port");
    let Sender::Abr(sender) = &forward.sender else { panic!("an ABR sender") };
    AbrParameters::clone(&sender.parameters)
}

fn rate(mbps: u64) -> cellrate_proto::CellRate {
    BitRate::from_bps(mbps * 1_000_000).to_cell_rate()
}

#[test]
fn the_form_is_relative_rate_unless_it_is_said() {
    let algorithm = |text: &str| {
        let scenario = resolve(text, RATES).unwrap_or_else(|error| panic!("{error}"));
        scenario.links[1].ports[0].control.algorithm.clone()
    };
    let config = |form| SwitchAlgorithmConfig::StopAndGo(StopAndGoConfig { threshold: Cells(250), form });
    assert_eq!(algorithm(STOP_AND_GO), config(StopAndGoForm::RelativeRate));
    let explicit = "{ type = \"stop-and-go\", threshold = \"250 cells\", form = \"explicit-rate\" }";
    assert_eq!(algorithm(explicit), config(StopAndGoForm::ExplicitRate));
}

#[test]
fn what_is_not_said_is_table_1() {
    let parameters = parameters(RATES);
    assert_eq!((parameters.rif, parameters.rdf), (PowerOfTwo::ONE, PowerOfTwo::ONE));
    assert_eq!((parameters.cdf, parameters.nrm), (Some(PowerOfTwo::ONE), 32));
}

#[test]
fn icr_is_pcr_where_tbe_covers_a_round_trip_and_mcr_elsewhere() {
    // 50 Mb/s are 117,924.5 cells/s, and FRTT is 200 us: 23.6 cells.
    assert_eq!(parameters(&format!("{RATES}, tbe = \"24 cells\"")).icr, rate(50));
    assert_eq!(parameters(&format!("{RATES}, tbe = \"23 cells\"")).icr, rate(1));
    assert_eq!(parameters(&format!("{RATES}, tbe = \"24 cells\", icr = \"1 Mbps\"")).icr, rate(1));
}

#[test]
fn a_connection_beside_it_keeps_its_parameters() {
    let scenario = resolve("{ type = \"erica\" }", RATES).unwrap_or_else(|error| panic!("{error}"));
    let Sender::Abr(sender) = &scenario.connections[0].forward.sender else { panic!("an ABR sender") };
    assert_eq!(sender.parameters.rif.value(), 1.0 / 16.0);
}

#[test]
fn other_parameters_are_refused_at_their_place_and_with_the_reason() {
    let told = ["rif = \"1/16\"", "rdf = 0.5", "cdf = 0", "nrm = 8", "icr = \"10 Mbps\""].map(|key| {
        let error = resolve(STOP_AND_GO, &format!("{RATES}, {key}")).map(drop);
        error.map_or_else(|error| error.to_string(), |()| panic!("it resolves: {key}"))
    });
    assert_error("stop_and_go_refusals", &told.join("\n\n"));
}

#[test]
fn set_up_leaves_a_source_two_rates_or_refuses_it() {
    let set_up = |limit: &str| {
        let text = format!(
            "name = \"t\"\nduration = \"1 s\"\nadmission = true\n\
             defaults.link = {{ rate = \"150 Mbps\", length = \"10 km\" }}\n\
             host = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
             link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"] }}]\n\
             [[switch]]\nname = \"sw\"\nalgorithm = {STOP_AND_GO}\nnegotiation = {{ {limit} }}\n\
             [[vc]]\nname = \"v\"\npath = [\"a\", \"sw\", \"b\"]\nabr = {{ {RATES} }}\n"
        );
        Document::parse(&text, "t.toml").and_then(|document| document.resolve()).expect("it resolves")
    };
    let slower = set_up("icr = \"20 Mbps\"");
    let Sender::Abr(sender) = &slower.connections[0].forward.sender else { panic!("an ABR sender") };
    assert_eq!(sender.parameters.icr, sender.parameters.mcr);
    assert!(slower.negotiated.iter().any(|change| change.why == "Stop & Go starts at PCR or at MCR"));
    let refused = &set_up("rif = \"1/16\"").refused[0];
    assert!(
        refused.reason.starts_with("forward on sw->b: rif became 0.063, and must be 1"),
        "{}",
        refused.reason
    );
}
