//! Over which time figures count, as it is written.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::*;

/// Two hosts and a link for a second, with these lines at the head.
fn resolve(lines: &str) -> Result<Measuring, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\n{lines}\n[[host]]\nname = \"h{{i}}\"\ncount = 2\n[[link]]\nbetween = [\"h1\", \"h2\"]\n\
         rate = \"155.52 Mbps\"\nlength = \"1 km\"\n[[vc]]\nname = \"v\"\npath = [\"h1\", \"h2\"]\n"
    );
    let scenario = Document::parse(&text, "t").and_then(|document| document.resolve());
    scenario.map(|scenario| scenario.measuring)
}

fn refused(lines: &str) -> String {
    match resolve(lines) {
        Ok(measuring) => panic!("it resolves: {measuring:?}"),
        Err(error) => error.to_string(),
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

#[test]
fn windows_end_with_the_run_and_begin_with_the_end_of_the_warm_up_unless_they_say_otherwise() {
    assert_eq!(resolve("").unwrap(), Measuring::default());
    let measuring = resolve(
        "warm_up = \"100 ms\"\nwindow = [{ name = \"a\" }, { name = \"b\", from = \"0 s\", until = \"50 ms\" }]",
    );
    let measuring = measuring.unwrap();
    assert_eq!(measuring.start(), at(100));
    let spans: Vec<_> = measuring.windows.iter().map(|window| (window.span.start, window.span.end)).collect();
    assert_eq!(spans, [(at(100), at(1000)), (at(0), at(50))]);
    assert_eq!(measuring.instants(at(1000)), [at(50), at(100)]);
}

#[test]
fn what_leaves_nothing_to_measure_is_refused_where_it_stands() {
    for (lines, message) in [
        ("warm_up = \"1 s\"", "leaves nothing of the run"),
        ("window = [{ name = \"a\", until = \"1001 ms\" }]", "after the run, which ends at 1 s"),
        ("window = [{ name = \"a\", from = \"1 s\" }]", "is not after its beginning"),
        ("window = [{ name = \"a\", from = \"2 ms\", until = \"2 ms\" }]", "is not after its beginning"),
        ("window = [{ name = \"a\" }, { name = \"a\" }]", "there is another window \"a\""),
    ] {
        let error = refused(lines);
        assert!(error.contains(message) && error.contains("t:3"), "{lines}: {error}");
    }
    let many: Vec<String> = (0..65).map(|number| format!("{{ name = \"w{number}\" }}")).collect();
    assert!(refused(&format!("window = [{}]", many.join(", "))).contains("more than 64 windows"));
}

#[test]
fn a_live_run_measures_all_of_its_time() {
    let text = "name = \"t\"\nduration = \"1 s\"\nwarm_up = \"1 ms\"";
    let error = Document::parse(text, "t").unwrap().resolve_for_live().unwrap_err();
    assert!(
        error.to_string().contains("a live run measures all of its time") && error.line() == 3,
        "{error}"
    );
    let without = text.replace("1 ms", "0 s");
    assert!(Document::parse(&without, "t").unwrap().resolve_for_live().is_ok());
}
