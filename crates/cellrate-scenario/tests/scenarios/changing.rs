//! Links that change in time, as they are written.

use cellrate_proto::{BitRate, Duration, Time};
use cellrate_scenario::*;

/// A host before a switch and one behind it, over a link with these keys, for a second; with these lines at the end.
fn resolve(link: &str, lines: &str) -> Result<Scenario, ScenarioError> {
    Document::parse(&text(link, lines), "t").and_then(|document| document.resolve())
}

fn text(link: &str, lines: &str) -> String {
    format!(
        "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"100 Mbps\", delay = \"10 ms\" }}\n\
         switch = [{{ name = \"sw\" }}]\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         [[link]]\nbetween = [\"a\", \"sw\"]\n[[link]]\nbetween = [\"sw\", \"b\"]\n{link}\n\
         [[vc]]\nname = \"v\"\npath = [\"a\", \"sw\", \"b\"]\n{lines}"
    )
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
        (link.rate, link.delay, link.line.loss),
        (mbps(80), ms(10), 0.0),
        "a change at 0 is the beginning"
    );
    let first = LineState { rate: mbps(80), delay: ms(12), cell_loss: 0.25, in_flight: InFlight::Kept };
    let second = LineState { rate: mbps(0), in_flight: InFlight::Lost, ..first };
    let [first, second] =
        [(100, first), (200, second)].map(|(ms, line)| LinkStep { at: at(ms), lines: [line; 2] });
    assert_eq!(link.changes[..], [first, second], "what would come as the run ends does not");
    assert!(link.is_changing() && !scenario.links[0].is_changing());
    assert_eq!((link.slowest_rate(), link.fastest_rate()), (mbps(0), mbps(80)));
    assert_eq!((link.shortest_delay(), link.longest_delay()), (ms(10), ms(12)));
    assert_eq!([0, 199, 200, 999].map(|ms| link.rate_at(0, at(ms))), [mbps(80), mbps(80), mbps(0), mbps(0)]);
    assert_eq!(link.mean_rate_bps(0, Time::ZERO, at(1_000)), 16e6);
    assert_eq!(link.mean_rate_bps(0, at(100), at(300)), 40e6);
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
fn a_line_out_of_one_end_changes_alone() {
    let changes = "changes = [{ at = \"0 s\", from = \"b\", rate = \"10 Mbps\" }, { at = \"100 ms\", from = \"sw\", loss = 0.5, in_flight = \"lost\" },\n\
         { at = \"200 ms\", from = \"b\", delay = \"1 ms\" }, { at = \"200 ms\", from = \"sw\", rate = \"0 bps\" }, { at = \"300 ms\", rate = \"50 Mbps\" }]";
    let scenario = resolve(changes, "").unwrap();
    let link = &scenario.links[1];
    let (fast, in_flight) = (link.first_state(), InFlight::Kept);
    assert_eq!((fast.rate, link.changes.len()), (mbps(100), 4), "the lines begin apart");
    let slow = LineState { rate: mbps(10), ..fast };
    let lossy = LineState { cell_loss: 0.5, ..fast };
    let late = LineState { delay: Duration::from_ms(1), ..slow };
    let lines: Vec<[LineState; 2]> = link.changes.iter().map(|step| step.lines).collect();
    assert_eq!(lines[0], [fast, slow]);
    assert_eq!(lines[1], [LineState { in_flight: InFlight::Lost, ..lossy }, slow]);
    assert_eq!(lines[2], [LineState { rate: mbps(0), in_flight, ..lossy }, late]);
    assert_eq!(lines[3], [LineState { rate: mbps(50), ..lossy }, LineState { rate: mbps(50), ..late }]);
    assert_eq!([0, 1].map(|end| link.rate_at(end, at(250))), [mbps(0), mbps(10)]);
    assert_eq!([0, 1].map(|end| link.mean_rate_bps(end, Time::ZERO, at(400))), [62.5e6, 20e6]);
    let first = fair::max_min_over_time(&scenario, Some(1.0)).unwrap().swap_remove(0).1;
    assert_eq!(first[0].rate, mbps(100).to_cell_rate(), "the slow line is that of the way back");
    for (changes, message) in [
        ("{ at = \"1 ms\", from = \"a\", loss = 1 }", "\"a\" is not an end of the link"),
        ("{ at = \"1 ms\", from = \"b\" }", "the change changes nothing"),
        (
            "{ at = \"1 ms\", from = \"b\", loss = 1 }, { at = \"1 ms\", loss = 0 }",
            "is not after the one before it",
        ),
        (
            "{ at = \"1 ms\", from = \"b\", loss = 1 }, { at = \"1 ms\", from = \"sw\", loss = 0 }, { at = \"1 ms\", from = \"b\", loss = 0 }",
            "is not after the one before it",
        ),
    ] {
        let error = refused(&format!("changes = [{changes}]"), "");
        assert!(error.contains(message), "{changes}: {error}");
    }
}

#[test]
fn a_line_may_lose_cells_in_bursts() {
    let link = |keys: &str| resolve(keys, "").map(|scenario| scenario.links[1].clone());
    let bursts = link("loss = 0.001\nloss_bursts = { begin = \"0.1 %\", end = 0.1 }").unwrap();
    assert_eq!(bursts.line.loss, 0.001);
    assert_eq!(bursts.line.loss_bursts, Some(LossBursts { begin: 0.001, end: 0.1, loss: 1.0 }));
    for (keys, message) in [
        ("loss_bursts = { begin = 0.1 }", "end"),
        ("loss_bursts = { begin = 0, end = 0.1 }", "begin"),
        ("loss_bursts = { begin = 0.1, end = 0.1, loss = 2 }", "loss"),
    ] {
        let error = refused(keys, "");
        assert!(error.contains(message), "{keys}: {error}");
    }
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

/// The last link's steps, with files of these names beside the scenario.
fn with_file(link: &str, name: &str, holds: &str) -> Result<Link, ScenarioError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), holds).unwrap();
    let mut document = Document::parse(&text(link, ""), "t")?;
    document.read_files(folder.path())?;
    // What is stored runs without the file.
    let stored = Document::parse(&document.to_toml(), "t")?.resolve()?;
    let scenario = document.resolve()?;
    assert_eq!(stored, scenario);
    Ok(scenario.links[1].clone())
}

#[test]
fn a_table_in_a_file_is_the_rate_or_the_delay() {
    let holds = "time;rate;delay\n# a drive\n0;12.5;7\n0.25;0;7\n0.5;40;9.5\n7;1;1\n";
    let rate = "rate = { type = \"csv\", file = \"rate.csv\", unit = \"Mbps\" }";
    let link = with_file(rate, "rate.csv", holds).unwrap();
    assert_eq!((link.rate, link.delay), (BitRate::from_bps(12_500_000), Duration::from_ms(10)));
    let steps: Vec<_> = link.changes.iter().map(|step| (step.at, step.lines[0].rate)).collect();
    assert_eq!(steps, [(at(250), mbps(0)), (at(500), mbps(40))]);
    // Both, and changes of what they leave.
    let both = "rate = { type = \"csv\", file = \"both.csv\", unit = \"Mbps\" }\n\
         delay = { type = \"csv\", file = \"both.csv\", column = 3, unit = \"ms\" }\nchanges = [{ at = \"300 ms\", loss = 0.5 }]";
    let link = with_file(both, "both.csv", holds).unwrap();
    let ms = Duration::from_us;
    let steps: Vec<_> = link
        .changes
        .iter()
        .map(|step| {
            let line = step.lines[1];
            (step.at, line.rate, line.delay, line.cell_loss)
        })
        .collect();
    assert_eq!(link.delay, ms(7_000));
    let expected = [
        (at(250), mbps(0), ms(7_000), 0.0),
        (at(300), mbps(0), ms(7_000), 0.5),
        (at(500), mbps(40), ms(9_500), 0.5),
    ];
    assert_eq!(steps, expected);
    for (holds, message) in [
        ("0 1\n0 2\n", "line 2 of bad.csv: 0 does not come after the instant before it"),
        ("0 1\n1 x\n", "line 2 of bad.csv: \"x\" is not a value of zero or more"),
        ("0 1\n1\n", "line 2 of bad.csv: it has 1 column"),
        ("0 1\n-1 1\n", "line 2 of bad.csv: \"-1\" is not an instant"),
        ("nothing\n", "there are no steps in bad.csv"),
    ] {
        let error =
            with_file(&rate.replace("rate.csv", "bad.csv"), "bad.csv", holds).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("t:10"), "{holds}: {error}");
    }
    let error = with_file(&rate.replace(", unit = \"Mbps\"", ""), "rate.csv", holds).unwrap_err().to_string();
    assert!(error.contains("unit"), "{error}");
}

/// The rates are the trace's own octets, wherever a step ends, to half a bit per second in each.
#[test]
fn a_packet_delivery_trace_is_its_own_total() {
    // Two chances in the first ms, one in each 7th, a gap, and the last at 400 ms, from where it begins anew.
    let instants: Vec<u64> = [0, 0].into_iter().chain((1..30).map(|i| 7 * i)).chain([400]).collect();
    let holds: String = instants.iter().map(|instant| format!("{instant}\n")).collect();
    let trace = "rate = { type = \"mahimahi\", file = \"x.trace\", step = \"50 ms\" }";
    let link = with_file(trace, "x.trace", &holds).unwrap();
    let total = |until_ms: u64, bases: &[u64]| {
        let all = bases.iter().flat_map(|base| instants.iter().map(move |instant| base + instant));
        all.filter(|&at| at < until_ms).count() as f64 * 1504.0 * 8.0
    };
    for until in [50, 250, 400, 450, 1_000] {
        let bits = link.mean_rate_bps(0, Time::ZERO, at(until)) * until as f64 / 1e3;
        assert!((bits - total(until, &[0, 400, 800])).abs() <= 1.0, "{until}: {bits}");
    }
    // 0, 0, 7, ..., 49 ms are nine chances in 50 ms.
    assert_eq!(link.rate, BitRate::from_bps(9 * 1504 * 8 * 20));
    assert_eq!(link.rate_at(0, at(299)), BitRate::default(), "a gap");
    let once = with_file(&trace.replace(" }", ", repeat = false }"), "x.trace", &holds).unwrap();
    assert_eq!(
        (once.rate_at(0, at(410)), once.rate_at(0, at(450))),
        (BitRate::from_bps(1504 * 8 * 20), BitRate::default())
    );
    for (holds, message) in [
        ("1\n\n2\n", "line 2 of bad.trace: \"\" is not a whole number of ms"),
        ("5\n4\n", "line 2 of bad.trace: 4 comes after 5"),
        ("0\n", "line 1 of bad.trace: the last instant is 0"),
        ("", "there is nothing in bad.trace"),
    ] {
        let error =
            with_file(&trace.replace("x.trace", "bad.trace"), "bad.trace", holds).unwrap_err().to_string();
        assert!(error.contains(message), "{holds}: {error}");
    }
    let error = refused("rate = { type = \"mahimahi\", opportunities = [0, 5], step = \"1.5 ms\" }", "");
    assert!(error.contains("Write whole milliseconds"), "{error}");
    let error = refused("rate = { type = \"mahimahi\", opportunities = [5, 0] }", "");
    assert!(error.contains("0 ms comes after 5 ms"), "{error}");
    let error = refused("rate = { type = \"mahimahi\", file = \"x.trace\" }", "");
    assert!(error.contains("needs a scenario that is read from a file itself"), "{error}");
    let both = "rate = { type = \"mahimahi\", opportunities = [0, 5] }\nchanges = [{ at = \"1 ms\", rate = \"1 Mbps\" }]";
    assert!(refused(both, "").contains("Leave out one of the two rates"));
}

#[test]
fn an_orbit_is_steps_of_delay_with_a_hand_over() {
    let leo = "delay = { type = \"leo\", altitude = \"550 km\", minimum_elevation = \"25 deg\", hand_over = \"400 ms\", legs = 1, beside = \"1 ms\", in_flight = \"lost\" }";
    let scenario = resolve(leo, "").unwrap();
    let link = &scenario.links[1];
    // Just before it sets a satellite is 1123.3 km away, 3.7471 ms; each step of 100 ms takes it farther.
    assert_eq!(link.changes.len(), 9);
    let delays: Vec<f64> = std::iter::once(link.delay)
        .chain(link.changes.iter().map(|step| step.lines[0].delay))
        .map(|delay| delay.as_secs_f64() * 1e3 - 1.0)
        .collect();
    let lost: Vec<Time> = link
        .changes
        .iter()
        .filter(|step| step.lines[0].in_flight == InFlight::Lost)
        .map(|step| step.at)
        .collect();
    assert_eq!(lost, [at(400), at(800)]);
    assert!(delays[..4].is_sorted() && delays[4] == delays[0] && delays[8] == delays[0], "{delays:?}");
    assert!((delays[3] - 3.747).abs() < 0.003 && delays[3] < 3.7471, "{delays:?}");
    for (change, message) in [
        (("25 deg", "95 deg"), "is beyond the zenith"),
        (("25 deg", "90 deg"), "never above its minimum elevation"),
        (("400 ms", "270 s"), "its pass takes"),
        (("550 km", "100 m"), "out of range"),
        (("legs = 1", "step = \"100 ns\""), "more than 1000000 steps"),
    ] {
        let error = refused(&leo.replace(change.0, change.1), "");
        assert!(error.contains(message) && error.contains("t:10"), "{change:?}: {error}");
    }
    let live = Document::parse(&text(leo, ""), "t").unwrap().resolve_for_live().unwrap();
    assert!(live.links.iter().any(|link| link.changes.len() == 9), "a live run has them, too");
}
