//! Resolved scenarios, against numbers worked out by hand.

use cellrate_proto::parameters::{MAX_RATE, MAX_RM_CELL_RATE, PowerOfTwo};
use cellrate_proto::switch::{LoadAveraging, QueueControl, SwitchAlgorithmConfig};
use cellrate_proto::{BitRate, CellRate, Cells, Duration, Time};
use cellrate_scenario::traffic::{Greedy, Limited};
use cellrate_scenario::*;

use crate::GOOD;

fn good() -> Scenario {
    Document::parse(GOOD, "good.toml")
        .and_then(|document| document.resolve())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn abr(flow: &Flow) -> &AbrSender {
    let Sender::Abr(sender) = &flow.sender else { panic!("an ABR sender") };
    sender
}

#[test]
fn the_network_is_as_written() {
    let scenario = good();
    assert_eq!(scenario.purpose, "Uses most of the format.");
    assert_eq!((scenario.duration, scenario.seed), (Duration::from_ms(400), 7));
    let names: Vec<&str> = scenario.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["s1", "s2", "s3", "d1", "d2", "d3", "sw1", "sw2"]);
    assert_eq!(scenario.links.len(), 7);
    // A length of its own per member, 5 us per km; the default length; a delay in its place.
    let delays: Vec<Duration> = scenario.links.iter().map(|link| link.delay).collect();
    assert_eq!(delays[..4], [5, 25, 50, 5000].map(Duration::from_us));
    assert_eq!(delays[4], Duration::from_ms(2));
    assert_eq!(scenario.links[1].line.loss, 0.001);
    assert_eq!(scenario.links[3].line.outages.len(), 2);
    assert_eq!(scenario.links[3].rate, BitRate::from_bps(155_520_000));
}

#[test]
fn a_port_override_goes_over_the_switch_and_that_over_the_defaults() {
    let scenario = good();
    let bottleneck = &scenario.links[3].ports[0];
    let SwitchAlgorithmConfig::Erica(erica) = &bottleneck.control.algorithm else { panic!("ERICA") };
    assert_eq!(erica.queue_control, QueueControl::TargetUtilization(0.8));
    assert_eq!(erica.load_averaging, LoadAveraging::Ratio { alpha: 0.8 });
    assert_eq!(bottleneck.control.efci, None);
    // 1,024,000 octets / 53 = 19320.75.
    assert_eq!(bottleneck.buffers.shared, Some(Cells(19_320)));
    assert_eq!((bottleneck.buffers.abr, bottleneck.buffers.ubr), (Some(Cells(1000)), None));
    let to_s1 = &scenario.links[0].ports[1];
    assert_eq!(to_s1.control.algorithm, SwitchAlgorithmConfig::None);
    assert_eq!(to_s1.control.efci.map(|efci| (efci.high, efci.low)), Some((Cells(127), Cells(100))));
    assert!(matches!(scenario.links[3].ports[1].control.algorithm, SwitchAlgorithmConfig::RelativeRate(_)));
    assert_eq!(scenario.links[0].ports[0].control, Default::default(), "hosts do nothing");
}

#[test]
fn connections_have_their_parameters_both_ways() {
    let scenario = good();
    let vc1 = &scenario.connections[0];
    let sender = abr(&vc1.forward);
    assert_eq!(sender.parameters.pcr, CellRate::new(100e6 / 424.0));
    assert_eq!(sender.parameters.icr, CellRate::new(10e6 / 424.0));
    assert_eq!(abr(&scenario.connections[1].forward).parameters.icr, CellRate::new(20_000.0));
    // 2 * (5 us + 5 ms + 2 ms).
    assert_eq!(sender.parameters.frtt, Duration::from_us(14_010));
    assert_eq!((sender.parameters.cdf, sender.weight, sender.clear_efci_state), (None, 2.0, false));
    assert_eq!(sender.parameters.rif, PowerOfTwo::exact(0.0625).unwrap());
    assert_eq!((sender.parameters.nrm, abr(&vc1.backward).parameters.nrm), (32, 8));
    assert_eq!(
        vc1.forward.traffic,
        Some(Traffic::Limited(Limited {
            steps: vec![
                (Time::ZERO, Some(CellRate::new(10e6 / 424.0))),
                (Time::from_ps(200_000_000_000), None)
            ]
        }))
    );
    let Some(Traffic::Greedy(Greedy { windows })) = &vc1.backward.traffic else { panic!("greedy") };
    assert_eq!((windows[1].end, windows[1].cells), (Time::NEVER, Some(Cells(10))));
    assert_eq!(vc1.path[2], Step { link: LinkIndex(4), end: 0 });
    assert_eq!(scenario.head(vc1.path[2]), NodeIndex(3));
    let like = &scenario.connections[2];
    assert_eq!(like.name, "like-1");
    assert_eq!(abr(&like.forward).parameters.mcr, CellRate::new(1e6 / 424.0));
    let video = &scenario.connections[3];
    assert_eq!(video.forward.traffic, video.backward.traffic);
    assert_eq!(video.forward.sender, Sender::Peak(BitRate::from_bps(155_520_000).to_cell_rate()));
}

#[test]
fn probes_find_groups_directions_and_ports() {
    let scenario = good();
    let probes = &scenario.probes;
    // acr of vc1, vc2 and vc1 (back); queue and z of one port; received of the five forward directions.
    assert_eq!(probes.len(), 3 + 2 + 5);
    let acr = |connection, backward| Quantity::Flow {
        quantity: FlowQuantity::Acr,
        flow: FlowIndex::of(ConnectionIndex(connection), backward),
    };
    assert_eq!(
        [probes[0], probes[1], probes[2]].map(|p| p.quantity),
        [acr(0, false), acr(1, false), acr(0, true)]
    );
    let z = Quantity::Port { quantity: PortQuantity::Metric(0), port: PortIndex::of(LinkIndex(3), 0) };
    assert_eq!(probes[4], Probe { quantity: z, every: Every::Interval(Duration::from_ms(1)) });
    assert_eq!(probes[9].every, Every::Change);
}

#[test]
fn pcr_is_the_narrowest_link_and_never_more_than_an_rm_cell_carries() {
    let text = |rate: &str| {
        format!(
            "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
             link = [{{ between = [\"a\", \"b\"], rate = \"{rate}\", length = \"1 km\" }}]\n\
             vc = [{{ name = \"v\", path = [\"b\", \"a\"] }}]\n"
        )
    };
    let pcr = |rate: &str| {
        let scenario = Document::parse(&text(rate), "t").unwrap().resolve().unwrap();
        (
            abr(&scenario.connections[0].forward).parameters.pcr.as_cells_per_s(),
            scenario.connections[0].path[0].end,
        )
    };
    assert_eq!(pcr("4240 kbps"), (10_000.0, 1));
    assert_eq!(pcr("16777215 cells/s"), (MAX_RATE, 1));
    assert_eq!(pcr("848 Gbps"), (2e9, 1));
    assert_eq!(pcr("10 Tbps"), (MAX_RM_CELL_RATE, 1));
}

#[test]
fn the_number_of_a_member_may_stand_in_any_text_of_its_group() {
    let text = |pcr: &str, start: &str| {
        format!(
            "name = \"x\"\nduration = \"1 s\"\nswitch = [{{ name = \"sw\" }}]\nhost = [{{ name = \"d\" }}, {{ name = \"s{{i}}\", count = 3 }}]\n\
             [defaults.link]\nrate = \"100 Mbps\"\n[[link]]\nbetween = [\"sw\", \"d\"]\nlength = \"1 km\"\n\
             [[link]]\nbetween = [\"s{{i}}\", \"sw\"]\ncount = 3\nlength = \"{{i}}00 km\"\n\
             [[vc]]\nname = \"vc{{i}}\"\ncount = 3\npath = [\"s{{i}}\", \"sw\", \"d\"]\nabr.pcr = \"{pcr}\"\n\
             traffic = {{ type = \"greedy\", start = \"{start}\" }}\n"
        )
    };
    let resolve = |text: String| Document::parse(&text, "x.toml").and_then(|document| document.resolve());
    let scenario = resolve(text("{i+1}0 Mbps", "{i}0 ms")).unwrap_or_else(|error| panic!("{error}"));
    let delays: Vec<u64> = scenario.links[1..].iter().map(|link| link.delay.as_ps() / 1_000_000).collect();
    assert_eq!(delays, [500, 1000, 1500]);
    let starts: Vec<u64> = scenario
        .connections
        .iter()
        .map(|connection| match &connection.forward.traffic {
            Some(Traffic::Greedy(Greedy { windows })) => windows[0].start.as_ps() / 1_000_000_000,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(starts, [10, 20, 30]);
    // What is wrong with the first member is said of the document as written, with others when they are written out.
    let told = |pcr: &str, start: &str| resolve(text(pcr, start)).expect_err("it is wrong").to_string();
    assert!(told("{i} Mbps", "{i} parsecs").contains("parsecs"));
    assert!(told("{i-1} Mbps", "1 ms").contains("pcr"));
    assert!(told("{i} Mbps", "{i+9999999} ms").contains("is not a time"));
}

#[test]
fn a_probe_without_every_takes_a_thousandth_of_the_duration() {
    let text = GOOD.split("[[probe]]").next().unwrap().to_owned()
        + "[[probe]]\nrecord = [\"delay\", \"max_delay\"]\nof = [\"vc{i}\"]\n";
    let document = Document::parse(&text, "good.toml");
    let scenario = document.and_then(|document| document.resolve()).unwrap_or_else(|error| panic!("{error}"));
    let recorded: Vec<Every> = scenario.probes.iter().map(|probe| probe.every).collect();
    assert_eq!(recorded, [Every::Interval(Duration::from_us(400)); 4]);
}

#[test]
fn fair_rates_follow_who_sends() {
    let text = "name = \"spans\"\nduration = \"100 ms\"\n\
        [defaults]\nlink = { rate = \"100 Mbps\", length = \"1 km\" }\n\
        [[host]]\nname = \"h{i}\"\ncount = 3\n[[host]]\nname = \"d\"\n[[switch]]\nname = \"sw\"\n\
        [[link]]\nbetween = [\"h{i}\", \"sw\"]\ncount = 3\n[[link]]\nbetween = [\"sw\", \"d\"]\n\
        [[vc]]\nname = \"always\"\npath = [\"h1\", \"sw\", \"d\"]\n\
        [[vc]]\nname = \"late\"\npath = [\"h2\", \"sw\", \"d\"]\n\
        traffic = { type = \"greedy\", windows = [{ start = \"20 ms\", end = \"60 ms\" }] }\n";
    let document = Document::parse(text, "spans.toml");
    let mut scenario =
        document.and_then(|document| document.resolve()).unwrap_or_else(|error| panic!("{error}"));
    let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
    // The link of the first one is down at the end.
    scenario.links[0].line.outages = vec![Span { start: at(80), end: at(90) }];
    let found = fair::max_min_over_time(&scenario, None).unwrap();
    let rates: Vec<(Time, Vec<i64>)> = found
        .iter()
        .map(|(at, shares)| {
            (*at, shares.iter().map(|share| (share.rate.as_cells_per_s() / 1e3).round() as i64).collect())
        })
        .collect();
    let alone =
        fair::max_min(&scenario, None).unwrap().iter().map(|share| share.rate.as_cells_per_s()).sum::<f64>();
    let (whole, half) = ((alone / 1e3).round() as i64, (alone / 2e3).round() as i64);
    assert_eq!(
        rates,
        [
            (at(0), vec![whole]),
            (at(20), vec![half; 2]),
            (at(60), vec![whole]),
            (at(80), vec![]),
            (at(90), vec![whole])
        ]
    );
}
