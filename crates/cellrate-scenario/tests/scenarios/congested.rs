//! Destinations that are congested.

use std::sync::Arc;

use cellrate_proto::destination::{CongestedSpan, DestinationCongestion};
use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::{Document, Flow, Scenario, Sender};

/// A connection with these ABR parameters, and what else stands in it.
fn with(abr: &str, more: &str) -> Result<Scenario, String> {
    let text = format!(
        "name = \"x\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"10 Mbps\", delay = \"1 ms\" }}\n\
         host = [{{ name = \"s\" }}, {{ name = \"d\" }}]\nlink = [{{ between = [\"s\", \"d\"] }}]\n{more}\n"
    );
    let vc = format!("[[vc]]\nname = \"vc\"\npath = [\"s\", \"d\"]\n{abr}\n");
    Document::parse(&format!("{text}{}", if more.contains("flows") { String::new() } else { vc }), "x.toml")
        .and_then(|document| document.resolve())
        .map_err(|error| error.to_string())
}

fn spans(flow: &Flow) -> Arc<[CongestedSpan]> {
    let Sender::Abr(abr) = &flow.sender else { panic!("ABR") };
    Arc::clone(&abr.congested)
}

#[test]
fn spans_say_when_and_what() {
    let list = "[{ during = [\"1 ms\", \"2 ms\"] }, { during = [\"2 ms\", \"5 ms\"], er = \"100 cells/s\" }, \
                { during = [\"6 ms\", \"7 ms\"], ni = true, originates = true }]";
    let scenario = with(&format!("abr.congested = {list}\nreverse.abr.congested = []"), "").unwrap();
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    let says = |ci, ni, er: Option<f64>| DestinationCongestion {
        congestion_indication: ci,
        no_increase: ni,
        explicit_rate: er.map(CellRate::new),
    };
    let span = |start, end, congestion, originates| CongestedSpan {
        start: at(start),
        end: at(end),
        congestion,
        originates,
    };
    let expected = [
        span(1, 2, says(true, false, None), false),
        span(2, 5, says(false, false, Some(100.0)), false),
        span(6, 7, says(false, true, None), true),
    ];
    assert_eq!(*spans(&scenario.connections[0].forward), expected);
    assert!(spans(&scenario.connections[0].backward).is_empty());
    // Without a word of their own both directions have the same.
    let both = with("", &format!("defaults.abr.congested = {list}")).unwrap();
    assert_eq!(*spans(&both.connections[0].backward), expected);
    assert!(spans(&with("", "").unwrap().connections[0].forward).is_empty());
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_right() {
    let told = |spans: &str| with(&format!("abr.congested = [{spans}]"), "").unwrap_err();
    let asked = [
        ("{ during = [\"2 ms\", \"2 ms\"] }", "ends before it has begun"),
        ("{ during = [\"1 ms\", \"4 ms\"] }, { during = [\"3 ms\", \"5 ms\"] }", "in order and apart"),
        ("{ during = [\"1 ms\", \"4 ms\"], ci = false }", "Write ci = true, ni = true or an er"),
        (
            "{ during = [\"1 ms\", \"4 ms\"], er = \"1 Mbps\", originates = true }",
            "Write ci = true or ni = true",
        ),
        ("{ ci = true }", "the key \"during\" is missing"),
    ];
    for (spans, remedy) in asked {
        let message = told(spans);
        assert!(message.contains("x.toml:") && message.contains(remedy), "{message}");
    }
    let flows = "[[flows]]\nname = \"f\"\npairs = [[\"s\", \"d\"]]\narrivals = { type = \"poisson\", gap = \"1 ms\" }\n\
                 size = { type = \"fixed\", octets = \"9 kB\" }\n\
                 abr.congested = [{ during = [\"1 ms\", \"4 ms\"], ci = true, originates = true }]";
    let message = with("", flows).unwrap_err();
    assert!(message.contains("Leave originates out, or write a vc"), "{message}");
}
