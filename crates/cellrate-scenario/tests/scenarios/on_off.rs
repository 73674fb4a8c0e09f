//! Times on and off, given each or by a period and a duty cycle.

use cellrate_proto::Duration;
use cellrate_scenario::traffic::OnOff;
use cellrate_scenario::{Document, Period, Traffic};

/// On-off traffic with these keys.
fn with(keys: &str) -> Result<OnOff, String> {
    let text = format!(
        "name = \"x\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"10 Mbps\", delay = \"1 ms\" }}\n\
         host = [{{ name = \"s\" }}, {{ name = \"d\" }}]\nlink = [{{ between = [\"s\", \"d\"] }}]\n\
         [[vc]]\nname = \"vc\"\npath = [\"s\", \"d\"]\ntraffic = {{ type = \"on-off\", rate = \"1 Mbps\", {keys} }}\n"
    );
    let scenario = Document::parse(&text, "x.toml").and_then(|document| document.resolve());
    match &scenario.map_err(|error| error.to_string())?.connections[0].forward.traffic {
        Some(Traffic::OnOff(on_off)) => Ok(*on_off),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_period_and_a_duty_cycle_are_times_on_and_off() {
    let given = with("on = \"14 ms\", off = \"6 ms\"").unwrap();
    assert_eq!(with("period = \"20 ms\", duty = \"70 %\""), Ok(given));
    let third = with("period = \"10 ps\", duty = 0.333").unwrap();
    let [on, off] = [3, 7].map(|ps| Period::Fixed(Duration::from_ps(ps)));
    assert_eq!((third.on, third.off), (on, off), "to the picosecond, and the period is kept");
}

#[test]
fn what_does_not_make_both_times_is_refused_where_it_stands() {
    for (keys, said) in [
        ("on = \"1 ms\"", "the key \"off\" is missing"),
        ("period = \"1 ms\"", "the key \"duty\" is missing"),
        ("duty = 0.5", "the key \"period\" is missing"),
        (
            "period = \"1 ms\", duty = 0.5, off = \"1 ms\"",
            "vc.vc.traffic.off: off cannot go with period and duty",
        ),
        ("period = \"1 ms\", duty = 1", "vc.vc.traffic.duty: 1 of 1 ms leaves no time on, or none off"),
        ("period = \"1 ps\", duty = 0.1", "leaves no time on, or none off"),
    ] {
        let error = with(keys).unwrap_err();
        assert!(error.contains(said), "{keys}: {error}");
    }
}
