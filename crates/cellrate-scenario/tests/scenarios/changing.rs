//! Links that change in time, as they are written.

use cellrate_proto::{BitRate, Duration, Time};
use cellrate_scenario::*;

/// A host before a switch and one behind it, over a link with these keys, for a second; with these lines at the end.
fn resolve(link: &str, lines: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"100 Mbps\", delay = \"10 ms\" }}\n\
         switch = [{{ name = \"sw\" }}]\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         [[link]]\nbetween = [\"a\", \"sw\"]\n[[link]]\nbetween = [\"sw\", \"b\"]\n{link}\n\
         [[vc]]\nname = \"v\"\npath = [\"a\", \"sw\", \"b\"]\n{lines}"
    );
    Document::parse(&text, "t").and_then(|document| document.resolve())
}

fn refused(link: &str, lines: &str) -> String {
    resolve(link, lines)
        .map_or_else(|error| error.to_string(), |scenario| panic!("it resolves: {scenario:?}"))
}

const fn at(ms: u64) -> Time {
    Time::from_ps(ms * 1_000_000_000)
}

const fn mbps(rate: u64) -> BitRate {
    BitRate::from_bps(rate * 1_000_000)
}

#[test]
fn a_change_says_what_changes_and_the_rest_stays() {
    let changes = "changes = [{ at = \"0 s\", rate = \"80 Mbps\" }, { at = \"100 ms\", delay = \"12 ms\", loss = 0.25 },\n\
         { at = \"200 ms\", rate = \"0 bps\", in_flight = \"lost\" }, { at = \"1 s\", rate = \"900 Mbps\" }]";
    let scenario = resolve(changes, "").unwrap();
    let link = &scenario.links[1];
    let ms = Duration::from_ms;
    assert_eq!(
        (link.rate, link.delay, link.cell_loss),
        (mbps(80), ms(10), 0.0),
        "a change at 0 is the beginning"
    );
    let first =
        LinkStep { at: at(100), rate: mbps(80), delay: ms(12), cell_loss: 0.25, in_flight: InFlight::Kept };
    let second = LinkStep { at: at(200), rate: mbps(0), in_flight: InFlight::Lost, ..first };
    assert_eq!(link.changes[..], [first, second], "what would come as the run ends does not");
    assert!(link.is_changing() && !scenario.links[0].is_changing());
    assert_eq!((link.slowest_rate(), link.fastest_rate()), (mbps(0), mbps(80)));
    assert_eq!((link.shortest_delay(), link.longest_delay()), (ms(10), ms(12)));
    assert_eq!([0, 199, 200, 999].map(|ms| link.rate_at(at(ms))), [mbps(80), mbps(80), mbps(0), mbps(0)]);
    assert_eq!(link.mean_rate_bps(Time::ZERO, at(1_000)), 16e6);
    assert_eq!(link.mean_rate_bps(at(100), at(300)), 40e6);
    assert!(!scenario.is_stationary());
}

#[test]
fn parameters_go_by_the_largest_rate_and_delay_and_admission_by_the_least_rate() {
    let changes = "changes = [{ at = \"1 ms\", rate = \"40 Mbps\", delay = \"90 ms\" }, { at = \"2 ms\", rate = \"70 Mbps\" }]";
    let scenario = resolve(changes, "").unwrap();
    let Sender::Abr(abr) = &scenario.connections[0].forward.sender else { panic!("it is abr") };
    assert_eq!(abr.parameters.pcr, mbps(100).to_cell_rate());
    assert_eq!(abr.parameters.frtt, Duration::from_ms(2 * (10 + 90)));
    let admission = |mcr: u64| {
        let lines = format!("abr = {{ mcr = \"{mcr} Mbps\" }}\n[admission]\n");
        resolve(changes, &lines).unwrap().refused.len()
    };
    assert_eq!([39, 41].map(admission), [0, 1]);
}

#[test]
fn what_cannot_be_is_refused_where_it_stands() {
    for (link, lines, message) in [
        ("changes = [{ rate = \"1 Mbps\" }]", "", "at"),
        ("changes = [{ at = \"1 ms\" }]", "", "the change changes nothing"),
        (
            "changes = [{ at = \"2 ms\", loss = 0 }, { at = \"2 ms\", loss = 1 }]",
            "",
            "is not after the one before it",
        ),
        ("changes = [{ at = \"0 s\", rate = \"0 bps\" }]", "", "the link never takes a cell"),
        ("changes = [{ at = \"1 ms\", in_flight = \"gone\" }]", "", "kept"),
        ("changes = [{ at = \"1 ms\", rate = \"11 Tbps\" }]", "", "beyond the fastest line"),
        (
            "changes = [{ at = \"1 ms\", rate = \"1 Mbps\" }]",
            "traffic = { type = \"tcp\" }",
            "the rate of the link of sw->b changes, and it is a link of a host of vc \"v\", which has TCP",
        ),
    ] {
        let error = refused(link, lines);
        assert!(error.contains(message) && error.contains("t:10"), "{link}: {error}");
    }
    // The delay may change there.
    resolve("changes = [{ at = \"1 ms\", delay = \"1 ms\" }]", "traffic = { type = \"tcp\" }").unwrap();
}

#[test]
fn a_live_run_has_links_that_stay() {
    let text = "name = \"t\"\nduration = \"1 s\"\n[defaults.link]\nchanges = [{ at = \"1 ms\", loss = 0.1 }]";
    let error = Document::parse(text, "t").unwrap().resolve_for_live().unwrap_err();
    assert!(error.to_string().contains("this is a live run") && error.line() == 4, "{error}");
}

#[test]
fn fair_shares_follow_the_rates_in_force() {
    let changes = "changes = [{ at = \"100 ms\", rate = \"40 Mbps\" }, { at = \"200 ms\", rate = \"0 bps\" },\n\
         { at = \"300 ms\", delay = \"1 ms\", rate = \"400 Mbps\" }]";
    let scenario = resolve(changes, "").unwrap();
    let spans = fair::max_min_over_time(&scenario, Some(1.0)).unwrap();
    let rates: Vec<(Time, Vec<f64>)> = spans
        .into_iter()
        .map(|(at, shares)| (at, shares.iter().map(|share| share.rate.as_cells_per_s()).collect()))
        .collect();
    // The host's own link takes 100 Mb/s.
    let cells = |rate: u64| vec![mbps(rate).to_cell_rate().as_cells_per_s()];
    for ((at_ms, expected), (instant, rate)) in
        [(0, cells(100)), (100, cells(40)), (200, vec![]), (300, cells(100))].into_iter().zip(&rates)
    {
        assert_eq!(*instant, at(at_ms));
        assert!(expected.iter().zip(rate).all(|(e, r)| (e / r - 1.0).abs() < 1e-9), "{rate:?}");
        assert_eq!(expected.len(), rate.len());
    }
    assert_eq!(rates.len(), 4);
}
