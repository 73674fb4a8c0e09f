//! Policers at switches, against closed forms.

use std::ops::ControlFlow;

use crate::world::{World, greedy, port};
use cellrate_proto::policing::contract::{Contract, Coupling, Definition};
use cellrate_proto::policing::usage::{Action, Rule, UsageConfig};
use cellrate_proto::{BitRate, CellRate, Cells, Duration, Time};
use cellrate_scenario::traffic::Constant;
use cellrate_scenario::*;
use cellrate_sim::{PolicingSummary, RunResult, run};

/// A line of one cell in 10 us.
const LINE: BitRate = BitRate::from_bps(42_400_000);

/// One connection over one switch, 10,000 cell times long, whose source sends one cell in so many microseconds.
fn one(category: Category, definition: Definition, every_us: f64, action: Action) -> RunResult {
    let mut world = World::new(Duration::from_ms(100));
    world.rate = BitRate::from_bps(424_000_000);
    world.link("s", "sw", world.rate, Duration::from_us(7));
    world.link("sw", "d", LINE, Duration::from_us(7));
    let traffic = match every_us {
        10.0 => greedy(),
        _ => Traffic::Constant(Constant {
            rate: CellRate::new(1e6 / every_us),
            start: Time::ZERO,
            end: Time::NEVER,
        }),
    };
    let connection = world.other("vc", category, &["s", "sw", "d"], traffic);
    connection.forward.sender = Sender::Peak(CellRate::new(1e6 / every_us));
    let contract = Contract {
        definition,
        pcr: CellRate::new(1e5),
        cdvt: Duration::ZERO,
        scr: CellRate::new(25e3),
        mbs: 10,
        coupling: Coupling::Coupled,
    };
    let usage = UsageConfig { rule: Rule::Fixed(contract), action };
    connection.policing.push(Policing { backward: false, hop: 0, usage });
    world.run()
}

fn row(result: &RunResult) -> &PolicingSummary {
    &result.summary.policing[0]
}

#[test]
fn a_source_at_exactly_its_peak_conforms_without_tolerance() {
    let result = one(Category::Cbr, Definition::Cbr1, 10.0, Action::Discard);
    let row = row(&result);
    assert_eq!((row.vc.as_str(), row.switch.as_str(), row.definition), ("vc", "sw", "CBR.1"));
    assert_eq!((row.conforming, row.nonconforming), (10_000, 0));
}

#[test]
fn of_a_source_a_quarter_too_fast_every_second_cell_is_discarded() {
    // A cell every 8 us, of which one every 16 us is 10 us behind the one before.
    let result = one(Category::Cbr, Definition::Cbr1, 8.0, Action::Discard);
    assert_eq!((row(&result).conforming, row(&result).discarded), (6_250, 6_249));
    let vc = &result.summary.vcs[0];
    assert_eq!((vc.sent, vc.dropped), (12_500, 6_249));
    assert_eq!(vc.sent, vc.delivered + vc.dropped + vc.in_flight);
    assert!(result.summary.ports.iter().all(|port| port.dropped == 0), "no port has lost it");
    let counted = one(Category::Cbr, Definition::Cbr1, 8.0, Action::Count);
    let row = row(&counted);
    assert_eq!((row.conforming, row.nonconforming, row.discarded), (6_250, 6_249, 0));
    assert_eq!(counted.summary.vcs[0].dropped, 0);
}

#[test]
fn of_a_source_that_stays_at_its_peak_mbs_cells_pass_and_then_every_fourth() {
    // Ten of the first, then one every 40 us: cells 13, 17 and so on to 9,997.
    let passed = 10 + 2_497;
    let discarded = one(Category::Vbr, Definition::Vbr1, 10.0, Action::Discard);
    assert_eq!((row(&discarded).conforming, row(&discarded).discarded), (passed, 10_000 - passed));
    let tagged = one(Category::Vbr, Definition::Vbr3, 10.0, Action::Discard);
    assert_eq!((row(&tagged).conforming, row(&tagged).tagged), (passed, 10_000 - passed));
    assert_eq!(tagged.summary.vcs[0].dropped, 0);
}

#[test]
fn ubr_2_tags_all_that_keeps_to_the_peak() {
    let result = one(Category::Ubr, Definition::Ubr2, 8.0, Action::Discard);
    let row = row(&result);
    assert_eq!((row.conforming, row.tagged, row.discarded), (0, 6_250, 6_249));
}

/// With the tolerances that follow from the links, of which nobody else has a part between a source and its switch.
#[test]
fn abr_sources_that_follow_the_standard_conform() {
    for text in [
        include_str!("../../../../scenarios/two-source-transient.toml"),
        include_str!("../../../../scenarios/parking-lot.toml"),
        include_str!("../../../../scenarios/satellite.toml"),
    ] {
        let mut document = Document::parse(text, "ready").unwrap();
        document.set("defaults.vc.police", "{}").unwrap();
        let scenario = document.resolve().unwrap();
        let result = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(result.summary.policing.iter().any(|row| row.conforming > 1000), "{}", scenario.name);
        for row in result.summary.policing.iter().filter(|row| row.definition == "ABR.1") {
            assert_eq!(row.nonconforming, 0, "{}: {row:?}", scenario.name);
        }
    }
}

#[test]
fn windows_have_rows_of_what_policers_found_in_them() {
    // A cell every 8 us, as above, from 40 to 60 ms, which comes to the switch 8 us later; windows 6 us.
    let mut world = World::new(Duration::from_ms(100));
    (world.rate, world.delay) = (BitRate::from_bps(424_000_000), Duration::from_us(7));
    let ms = |ms| Time::ZERO + Duration::from_ms(ms);
    let traffic = Traffic::Constant(Constant { rate: CellRate::new(125e3), start: ms(40), end: ms(60) });
    let connection = world.other("vc", Category::Cbr, &["s", "sw", "d"], traffic);
    connection.forward.sender = Sender::Peak(CellRate::new(125e3));
    let contract = Contract {
        definition: Definition::Cbr1,
        pcr: CellRate::new(1e5),
        cdvt: Duration::ZERO,
        scr: CellRate::ZERO,
        mbs: 0,
        coupling: Coupling::Coupled,
    };
    let usage = UsageConfig { rule: Rule::Fixed(contract), action: Action::Discard };
    connection.policing.push(Policing { backward: false, hop: 0, usage });
    for (name, from, until) in [("before", 0, 40), ("first", 40, 52), ("both", 0, 100), ("then", 52, 100)] {
        let span = Span { start: ms(from) + Duration::from_us(6), end: ms(until) + Duration::from_us(6) };
        let span = if until == 100 { Span { end: ms(100), ..span } } else { span };
        world.scenario.measuring.windows.push(Window { name: name.into(), span });
    }
    let result = world.run();
    let rows = result.summary.policing_windows.iter();
    let found: Vec<_> =
        rows.map(|row| (row.window.as_str(), row.row.conforming, row.row.discarded)).collect();
    assert_eq!(found, [("before", 0, 0), ("first", 750, 750), ("both", 1250, 1250), ("then", 500, 500)]);
}

#[test]
fn of_out_of_rate_frms_ten_a_second_pass() {
    // A source that begins at 0, and whose destination never lets it increase.
    let text = "name = 'tcr'\nduration = '1 s'\n\
        host = [{ name = 's' }, { name = 'd' }]\nswitch = [{ name = 'sw' }]\n\
        link = [{ between = ['s', 'sw'] }, { between = ['sw', 'd'] }]\n\
        [defaults.link]\nrate = '42.4 Mbps'\ndelay = '7 us'\n\
        [[vc]]\nname = 'vc'\npath = ['s', 'sw', 'd']\npolice = {}\n\
        abr = { icr = '0 Mbps', congested = [{ during = ['0 s', '1 s'], ni = true }] }\n";
    let run = |factor: &str| {
        let mut document = Document::parse(text, "tcr").unwrap();
        document.set("vc.vc.misbehaves", &format!("{{ ignores = ['er'], tcr_factor = {factor} }}")).unwrap();
        let scenario = document.resolve().unwrap();
        let result = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(result.summary.vcs[0].data_sent, 0);
        (row(&result).conforming, row(&result).discarded)
    };
    assert_eq!(run("1"), (10, 0));
    // One in 20 ms, of which every fifth conforms.
    assert_eq!(run("5"), (10, 40));
    assert_eq!(run("0.5"), (5, 0));
}

/// A line of one cell in 10 us, before which one source sends a cell every 20 us that is tagged and another every 10
/// us that is not.
#[test]
fn tagged_cells_are_lost_first_and_others_have_the_rest_of_the_buffer() {
    let run = |tagged: Option<Cells>| {
        let mut world = World::new(Duration::from_ms(100));
        (world.rate, world.delay) = (BitRate::from_bps(424_000_000), Duration::from_us(3));
        world.link("sw", "d", LINE, Duration::from_us(7));
        for (name, every_us) in [("tagged", 20.0), ("other", 10.0)] {
            let rate = CellRate::new(1e6 / every_us);
            let traffic = Traffic::Constant(Constant { rate, start: Time::ZERO, end: Time::NEVER });
            let connection = world.other(name, Category::Ubr, &[name, "sw", "d"], traffic);
            connection.forward.sender = Sender::Peak(rate);
        }
        let contract = Contract {
            definition: Definition::Ubr2,
            pcr: CellRate::new(1e5),
            cdvt: Duration::ZERO,
            scr: CellRate::ZERO,
            mbs: 0,
            coupling: Coupling::Coupled,
        };
        let usage = UsageConfig { rule: Rule::Fixed(contract), action: Action::Discard };
        world.scenario.connections[0].policing.push(Policing { backward: false, hop: 0, usage });
        port(&mut world.scenario, 0, 0).buffers =
            Buffers { ubr: Some(Cells(100)), tagged, ..Buffers::default() };
        world.run()
    };
    let result = run(Some(Cells(50)));
    let line = result.summary.ports.iter().find(|row| row.port == "sw->d").unwrap();
    // The others fill the line; what is tagged gets in until 50 cells stand there, and they never do without.
    assert_eq!(result.summary.vcs[1].dropped, 0);
    assert!((50..=52).contains(&line.max_queue), "{line:?}");
    assert!(line.tagged_dropped > 4_800 && line.tagged_dropped == line.dropped, "{line:?}");
    let alike = run(None);
    let line = alike.summary.ports.iter().find(|row| row.port == "sw->d").unwrap();
    assert_eq!((line.tagged_dropped, line.max_queue), (0, 100));
    assert!(alike.summary.vcs[1].dropped > 1_000, "{:?}", alike.summary.vcs);
}

#[test]
fn what_is_discarded_where_a_tree_begins_comes_to_no_leaf() {
    // A cell every 8 us where one every 10 us conforms: every second one passes, and is copied.
    let mut world = World::new(Duration::from_ms(100));
    world.link("s", "sw", BitRate::from_bps(424_000_000), Duration::from_us(7));
    for leaf in ["d", "e"] {
        world.link("sw", leaf, LINE, Duration::from_us(7));
    }
    let traffic =
        Traffic::Constant(Constant { rate: CellRate::new(125e3), start: Time::ZERO, end: Time::NEVER });
    let to_leaf = world.step("sw", "e");
    let connection = world.other("vc", Category::Cbr, &["s", "sw", "d"], traffic);
    connection.forward.sender = Sender::Peak(CellRate::new(125e3));
    let definition = Definition::Cbr1;
    let (pcr, scr, cdvt) = (CellRate::new(1e5), CellRate::ZERO, Duration::ZERO);
    let contract = Contract { definition, pcr, cdvt, scr, mbs: 0, coupling: Coupling::Coupled };
    let usage = UsageConfig { rule: Rule::Fixed(contract), action: Action::Discard };
    let branch = Connection {
        name: "vc to e".into(),
        path: vec![to_leaf],
        forward: Flow { traffic: None, ..connection.forward.clone() },
        branch: Some(Branch { from: ConnectionIndex(0), hop: 1, consolidation: Default::default() }),
        ..connection.clone()
    };
    connection.policing.push(Policing { backward: false, hop: 0, usage });
    world.scenario.connections.push(branch);
    let result = world.run();
    let row = row(&result);
    assert_eq!((row.conforming, row.discarded), (6_250, 6_249));
    let [trunk, leaf] = &result.summary.vcs[..] else { panic!("two leaves") };
    assert_eq!((trunk.sent, trunk.dropped, leaf.sent, leaf.dropped), (12_500, 6_249, 6_250, 0));
    assert!(leaf.delivered.abs_diff(6_250) < 3 && leaf.delivered == trunk.delivered, "{leaf:?}");
}
