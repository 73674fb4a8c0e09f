//! Clocks that are not exactly alike: what is written, what is drawn, and what follows from them.

use std::collections::BTreeMap;

use cellrate_proto::{BitRate, CellRate, Duration, Time};
use cellrate_scenario::traffic::{Constant, Greedy};
use cellrate_scenario::*;

const LINE: BitRate = BitRate::from_bps(149_760_000);

/// Two hosts before two switches and a third behind, the hosts with `own` keys; CBR of 100 Mb/s, UBR as fast as it can.
fn resolve(clocks: &str, own: &str, seed: u64) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\nseed = {seed}\n{clocks}\n\
         defaults.link = {{ rate = \"149.76 Mbps\", length = \"1 km\" }}\n\
         host = [{{ name = \"s{{i}}\", count = 2{own} }}, {{ name = \"d\" }}]\n\
         switch = [{{ name = \"sw1\" }}, {{ name = \"sw2\" }}]\n\
         link = [{{ between = [\"s{{i}}\", \"sw1\"], count = 2 }}, {{ between = [\"sw1\", \"sw2\"] }}, {{ between = [\"sw2\", \"d\"] }}]\n\
         vc = [{{ name = \"c\", category = \"cbr\", path = [\"s1\", \"sw1\", \"sw2\", \"d\"], \
         traffic = {{ type = \"constant\", rate = \"100 Mbps\", start = \"1 ms\" }} }}, \
         {{ name = \"u\", category = \"ubr\", path = [\"s2\", \"sw1\", \"sw2\", \"d\"], traffic = {{ type = \"greedy\" }} }}]\n"
    );
    Document::parse(&text, "t.toml").and_then(|document| document.resolve())
}

fn good(clocks: &str, own: &str, seed: u64) -> Scenario {
    resolve(clocks, own, seed).unwrap_or_else(|error| panic!("{error}"))
}

/// Offset and phase by the name of whoever has the clock.
fn clocks(scenario: &Scenario) -> BTreeMap<String, (i64, u64)> {
    let name = |node: NodeIndex| scenario.node(node).name.clone();
    let of = |clock: &Clock| match clock.owner {
        ClockOwner::Host(node) => name(node),
        ClockOwner::Link(link) => scenario.link(link).ends.map(name).join("-"),
    };
    let row = |clock: &Clock| (of(clock), (clock.offset.as_ppb(), clock.phase.as_ps()));
    scenario.clocks.iter().map(row).collect()
}

#[test]
fn clocks_are_exact_unless_it_is_said() {
    let exact = good("", "", 1);
    assert!(exact.clocks.is_empty());
    assert_eq!(exact, good("defaults.clocks = \"exact\"", "", 1));
    assert!(exact.links.iter().all(|link| link.rate == LINE));
}

#[test]
fn an_offset_that_is_given_moves_line_peak_and_constant_rate() {
    let scenario = good("", ", clock_offset = [\"20 ppm\", \"-5 ppm\"], phase = [\"2 us\", \"0 us\"]", 1);
    // 149.76 Mb/s times 20 ppm is 2995.2 bit/s, times 5 ppm 748.8.
    let rates: Vec<u64> = scenario.links.iter().map(|link| link.rate.as_bps()).collect();
    assert_eq!(rates, [149_762_995, 149_759_251, 149_760_000, 149_760_000]);
    let peak = |number: usize| scenario.connections[number].forward.sender.pcr();
    assert_eq!(peak(0), scenario.links[0].rate.to_cell_rate(), "a sender that fills its line still does");
    assert_eq!(peak(1), scenario.links[1].rate.to_cell_rate());
    let nominal = CellRate::new(100e6 / 424.0);
    assert_eq!(
        scenario.connections[0].forward.traffic,
        Some(Traffic::Constant(Constant {
            rate: ClockOffset::from_ppb(20_000).of_rate(nominal),
            start: Time::ZERO + Duration::from_us(1002),
            end: Time::NEVER,
        }))
    );
    assert_eq!(scenario.connections[1].forward.traffic, Some(Traffic::Greedy(Greedy::default())));
    assert_eq!(clocks(&scenario), [("s1".into(), (20_000, 2_000_000)), ("s2".into(), (-5000, 0))].into());
}

#[test]
fn independent_clocks_are_within_20_ppm_and_a_cell_time_and_hang_on_names() {
    let independent = "defaults.clocks = \"independent\"";
    let scenario = good(independent, "", 7);
    let drawn = clocks(&scenario);
    assert_eq!(drawn.keys().collect::<Vec<_>>(), ["d", "s1", "s2", "sw1-sw2"]);
    let cell_time = LINE.cell_time().as_ps();
    for (name, (offset, phase)) in &drawn {
        assert!(offset.abs() <= 20_000 && *phase < cell_time, "{name}: {offset}, {phase}");
        assert_eq!(*phase == 0, name.contains('-'), "links have no phase");
    }
    assert_eq!(good(independent, "", 7), scenario);
    assert_ne!(clocks(&good(independent, "", 8)), drawn);
    // Another name, another draw; and the rest stays what it is.
    let given = clocks(&good(independent, ", clock_offset = \"0 ppm\", phase = \"0 us\"", 7));
    assert_eq!(given.keys().collect::<Vec<_>>(), ["d", "sw1-sw2"]);
    assert_eq!((given["d"], given["sw1-sw2"]), (drawn["d"], drawn["sw1-sw2"]));
}

#[test]
fn offsets_within_a_bound_are_even() {
    // 400 seeds of 3 ppb either way: seven values, 57 expected of each, deviation 7.
    let mut found = BTreeMap::new();
    for seed in 0..400 {
        let scenario = good("", ", clock_offset = { within = \"3 ppb\" }", seed);
        *found.entry(clocks(&scenario).get("s1").map_or(0, |clock| clock.0)).or_insert(0) += 1;
    }
    assert_eq!(found.keys().copied().collect::<Vec<i64>>(), (-3..=3).collect::<Vec<_>>());
    assert!(found.values().all(|count| (28..=86).contains(count)), "{found:?}");
}

#[test]
fn what_no_clock_is_off_by_is_refused_in_its_place() {
    let told = |own: &str| resolve("", own, 1).expect_err("it is wrong").to_string();
    let error = told(", clock_offset = \"1001 ppm\"");
    assert!(error.contains("clock_offset: 1001 ppm is more than a clock may be off"), "{error}");
    assert!(error.contains("at most 1000 ppm"), "{error}");
    assert!(told(", clock_offset = { within = \"-1 ppm\" }").contains("below 0"));
    assert!(told(", clock_offset = 20").contains("no unit"));
    assert!(told(", phase = \"-1 us\"").contains("phase"));
    assert!(resolve("", ", clock_offset = \"-1000 ppm\"", 1).is_ok());
    assert!(resolve("defaults.clocks = \"real\"", "", 1).is_err());
}

#[test]
fn admission_goes_by_rates_as_written() {
    let full = "admission = true\ndefaults.clocks = \"independent\"";
    for seed in 1..=8 {
        let scenario = good(full, "", seed);
        assert!(scenario.refused.is_empty(), "seed {seed}: {:?}", scenario.refused);
    }
}

#[test]
fn hosts_take_the_time_for_pdus_that_is_written_or_up_to_a_cell_time() {
    let of = |clocks: &str, own: &str| {
        good(clocks, own, 1).hosts.iter().map(|host| host.processing).collect::<Vec<_>>()
    };
    let us = Duration::from_us;
    assert_eq!(of("", ""), [Processing::None; 3]);
    let independent = "defaults.clocks = \"independent\"";
    let up_to_a_cell = Processing::Uniform(Duration::ZERO, LINE.cell_time());
    assert_eq!(of(independent, ""), [up_to_a_cell; 3]);
    let fixed = Processing::Fixed(us(5));
    assert_eq!(of(independent, ", processing = \"5 us\""), [fixed, fixed, up_to_a_cell]);
    assert_eq!(
        of("", ", processing = { uniform = [\"0 us\", \"8 us\"] }")[0],
        Processing::Uniform(us(0), us(8))
    );
    assert_eq!(of("", ", processing = { exponential = \"8 us\" }")[0], Processing::Exponential(us(8)));
    let wrong = resolve("", ", processing = { uniform = [\"8 us\", \"0 us\"] }", 1).expect_err("it is wrong");
    assert!(wrong.to_string().contains("0 us is below 8 us"), "{wrong}");
}
