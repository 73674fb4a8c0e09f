//! Virtual paths: what their channels get of their ACR, worked out by hand, and what leaves on the wire.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use cellrate_proto::Time;
use cellrate_proto::wire::{Cell, Interface, PayloadType};
use cellrate_scenario::{Document, Scenario};
use cellrate_sim::tap::{self, Tap};
use cellrate_sim::{ChannelSummary, RunResult, Simulation, run};

/// Two hosts with a switch between them, and a connection of 10,000 cells/s at most with these keys.
fn pair(vc: &str) -> Scenario {
    let text = format!(
        r#"
name = "pair"
duration = "1 s"
defaults.link = {{ rate = "42.4 Mbps", delay = "1 ms" }}
host = [{{ name = "s" }}, {{ name = "d" }}]
switch = [{{ name = "sw" }}]
link = [{{ between = ["s", "sw"] }}, {{ between = ["sw", "d"] }}]
[[vc]]
name = "vc"
path = ["s", "sw", "d"]
abr = {{ pcr = "10000 cells/s", icr = "10000 cells/s" }}
{vc}
[[probe]]
record = ["acr", "received"]
of = ["vc"]
every = "1 ms"
"#
    );
    Document::parse(&text, "pair").unwrap().resolve().unwrap_or_else(|error| panic!("{error}"))
}

fn ran(scenario: &Scenario) -> RunResult {
    run(scenario, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn row<'a>(result: &'a RunResult, channel: &str) -> &'a ChannelSummary {
    result.summary.channels.iter().find(|row| row.channel == channel).unwrap()
}

#[test]
fn greedy_channels_get_their_weights_of_the_acr_of_their_path_to_a_cell() {
    let result = ran(&pair(
        "channels = [{ name = \"a\", weight = 5 }, { name = \"b\", weight = 2.5 }, { name = \"c\" }]",
    ));
    let sent = result.summary.vcs[0].data_sent;
    // Of every 32 cells one is an FRM; BRMs answer those of the other end, which has no data.
    assert!(sent.abs_diff(10_000 * 31 / 32) <= 20, "{sent}");
    for (name, share) in [("a", 5.0 / 8.5), ("b", 2.5 / 8.5), ("c", 1.0 / 8.5)] {
        let row = row(&result, name);
        assert!((row.sent as f64 - share * sent as f64).abs() <= 1.0, "{row:?}");
        assert!((row.of_fair_share.unwrap() - 1.0).abs() < 0.01, "{row:?}");
        assert_eq!(row.waiting, None);
        // Two lines of 10 us and 1 ms each.
        assert_eq!((row.mean_delay_s, row.max_delay_s), (Some(0.002_02), Some(0.002_02)));
    }
}

#[test]
fn what_a_channel_does_not_use_goes_to_the_others_by_their_weights() {
    let result = ran(&pair(
        "channels = [{ name = \"voice\", weight = 9, traffic = { type = \"constant\", rate = \"2000 cells/s\" } },\
         { name = \"a\", weight = 3 }, { name = \"b\" }]",
    ));
    let sent = result.summary.vcs[0].data_sent as f64;
    let voice = row(&result, "voice");
    // With two in five of the weights it never waits for more than a cell or two, and for an RM cell.
    assert!(voice.sent.abs_diff(2000) <= 2 && voice.waiting.unwrap() <= 2, "{voice:?}");
    for (name, share) in [("a", 0.75), ("b", 0.25)] {
        let row = row(&result, name);
        assert!((row.sent as f64 - share * (sent - voice.sent as f64)).abs() <= 3.0, "{row:?}");
        assert!((row.of_fair_share.unwrap() - 1.0).abs() < 0.01, "{row:?}");
    }
    let rates: f64 = result.summary.channels.iter().map(|row| row.throughput_bps).sum();
    assert!((rates - result.summary.vcs[0].throughput_bps).abs() < 1e-6 * rates);
}

#[test]
fn a_channel_that_asks_for_more_than_its_share_waits_and_takes_none_from_others() {
    let result = ran(&pair(
        "channels = [{ name = \"flood\", traffic = { type = \"constant\", rate = \"9000 cells/s\" } }, { name = \"a\" }]",
    ));
    let (flood, sent) = (row(&result, "flood"), result.summary.vcs[0].data_sent);
    assert!((flood.sent * 2).abs_diff(sent) <= 2, "{flood:?}");
    assert_eq!(flood.sent + flood.waiting.unwrap(), 9000);
}

#[test]
fn a_path_is_to_the_network_what_a_connection_is() {
    let both = |keys: &str| ran(&pair(&format!("{keys}\nbidirectional = true")));
    let plain = both("");
    let path = both("channels = [{ name = \"a\", weight = 3 }, { name = \"b\" }]");
    assert_eq!(plain.summary.vcs, path.summary.vcs);
    assert_eq!(plain.summary.ports, path.summary.ports);
    assert_eq!(plain.series, path.series);
    assert_eq!((plain.summary.channels.len(), path.summary.channels.len()), (0, 4));
    let names: Vec<&str> = path.summary.channels.iter().map(|row| &*row.vc).collect();
    assert_eq!(names, ["vc", "vc", "vc (back)", "vc (back)"]);
}

#[test]
fn figures_are_those_after_the_warm_up() {
    let mut scenario = pair(
        "channels = [{ name = \"early\", traffic = { end = \"0.5 s\" } }, { name = \"late\", traffic = { start = \"0.5 s\" } }]",
    );
    scenario.measuring.warm_up = cellrate_proto::Duration::from_ms(600);
    let result = ran(&scenario);
    assert_eq!((row(&result, "early").sent, row(&result, "early").delivered), (0, 0));
    let late = row(&result, "late");
    assert!(late.sent.abs_diff(4000 * 31 / 32) <= 20 && late.sent.abs_diff(late.delivered) <= 1, "{late:?}");
    assert!((late.throughput_bps - late.delivered as f64 * 424.0 / 0.4).abs() < 1.0, "{late:?}");
}

#[test]
fn cells_have_the_vpi_of_their_path_and_the_vci_of_their_channel() {
    let scenario = pair(
        "channels = [{ name = \"a\", weight = 3 }, { name = \"b\" }]\n\
         loopback = [{ every = \"10 ms\" }, { every = \"20 ms\", at = \"sw\" }]",
    );
    let mut counts: BTreeMap<(u16, u16, bool), u64> = BTreeMap::new();
    let mut sink = |cell: tap::TappedCell<'_>| {
        let header = Cell::parse(Interface::Uni, cell.octets).unwrap().header;
        let is_rm = header.payload_type == PayloadType::ResourceManagement;
        *counts.entry((header.path.vpi(), header.vci, is_rm)).or_default() += 1;
        ControlFlow::Continue(())
    };
    let ports = tap::ports_named(&scenario, &["s->sw".into()]).unwrap();
    let tap = Tap { ports, until: Time::NEVER };
    let result = Simulation::of(&scenario)
        .run_tapped(&mut |_| ControlFlow::Continue(()), &tap, &mut sink)
        .expect("the run ends well");
    let sent = &result.summary.vcs[0];
    let expected = [
        // OAM F4: of the segment, from end to end. RM cells.
        ((255, 3, false), 50),
        ((255, 4, false), 100),
        ((255, 6, true), sent.sent - sent.data_sent - 150),
        ((255, 32, false), row(&result, "a").sent),
        ((255, 33, false), row(&result, "b").sent),
    ];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
    let legend = tap::legend(&scenario);
    assert!(legend.contains("\nVPI 255: virtual path vc, s to d and back"), "{legend}");
    assert!(legend.contains("\nVPI 255 VCI 33: b in vc"), "{legend}");
}

#[test]
fn in_the_ready_scenario_a_line_goes_half_and_half_to_two_paths_and_by_number_to_connections() {
    let text = include_str!("../../../../scenarios/virtual-paths.toml");
    let scenario = Document::parse(text, "virtual-paths").unwrap().resolve().unwrap();
    let result = ran(&scenario);
    let rate = |of: &str| -> f64 {
        let rows = result.summary.vcs.iter().filter(|row| row.vc.starts_with(of));
        rows.map(|row| row.throughput_bps).sum()
    };
    let [few, many] = ["few", "many"].map(|name| {
        let row = result.summary.vcs.iter().find(|row| row.vc == name).unwrap();
        row.throughput_bps
    });
    assert!((few / many - 1.0).abs() < 0.02, "{few} and {many}");
    let [few, many] = [rate("few-vc"), rate("many-vc")];
    assert!((many / few / 3.0 - 1.0).abs() < 0.02, "{few} and {many}");
    // Within: 3 to 1, and beside a voice of 6 Mbps 2 to 1, 1, 1 and 1.
    for row in &result.summary.channels {
        assert!((row.of_fair_share.unwrap() - 1.0).abs() < 0.03, "{row:?}");
    }
    let of = |vc: &str, channel: &str| {
        let mut rows = result.summary.channels.iter();
        rows.find(|row| (&*row.vc, &*row.channel) == (vc, channel)).unwrap().throughput_bps
    };
    assert!((of("few", "files") / of("few", "mail") - 3.0).abs() < 0.01);
    assert!((of("many", "files") / of("many", "mail4") - 2.0).abs() < 0.01);
    assert!((of("many", "voice") / 6e6 - 1.0).abs() < 0.01);
}
