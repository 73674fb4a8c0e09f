//! TCP and video as they are written.

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{BitRate, Cells, Duration, Octets, Time};
use cellrate_scenario::*;

/// Two hosts and a link, with this traffic.
fn resolve(traffic: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"b\"], rate = \"155.52 Mbps\", length = \"1 km\" }}]\n\
         [[vc]]\nname = \"v\"\ncategory = \"ubr\"\npath = [\"a\", \"b\"]\ntraffic = {{ {traffic} }}\n"
    );
    Document::parse(&text, "t").and_then(|document| document.resolve())
}

fn tcp(keys: &str) -> TcpTraffic {
    let scenario = resolve(&format!("type = \"tcp\"{keys}")).unwrap_or_else(|error| panic!("{error}"));
    match &scenario.connections[0].forward.traffic {
        Some(Traffic::Tcp(tcp)) => (**tcp).clone(),
        other => panic!("{other:?}"),
    }
}

fn refused(traffic: &str) -> String {
    match resolve(traffic) {
        Ok(_) => panic!("it resolves: {traffic}"),
        Err(error) => format!("{}: {} {}", error.key(), error.message(), error.remedy()),
    }
}

#[test]
fn a_preset_fills_in_what_is_not_written() {
    let plain = tcp("");
    assert_eq!(plain.tcp, Preset::named("reno").unwrap().tcp());
    assert_eq!((plain.connections, plain.transfer, plain.start), (1, None, Time::ZERO));
    assert_eq!(plain.adapter_queue, AdapterQueue::Unbounded);
    assert_eq!(tcp(", preset = \"stop-and-go\"").encapsulation, Encapsulation::VcMultiplexed);
    let large = tcp(", preset = \"tcp-lrd-vbr\", mss = \"9140 octets\"");
    assert_eq!((large.tcp.mss, large.tcp.initial_window), (Octets(9140), Octets(9140)), "one segment");
    assert_eq!((large.tcp.window, large.tcp.recovery), (Octets(1 << 20), Recovery::None));
}

#[test]
fn every_key_is_a_setting_of_its_own() {
    let set = tcp(
        ", mss = \"1000 octets\", header = \"52 octets\", window = \"8704 kB\", initial_window = \"4 kB\", \
         ssthresh = \"64 KiB\", recovery = \"sack\", timer_granularity = \"50 us\", minimum_rto = \"1 ms\", \
         maximum_rto = \"2 s\", initial_rto = \"3 s\", delayed_ack = { timer = \"50 ms\", ticks = \"10 ms\" }, \
         congestion_control = \"linux-cubic\", slow_start = \"hystart++\", rtt_estimator = \"linux\", ecn = true, timestamps = true, window_validation = false, idle_restart = \"linux\", limited_transmit = true, partial_ack_timer = \"every\", \
         prr = \"slow-start\", rack_tlp = true, pacing = true, \
         encapsulation = \"vc-mux\", transfer = \"300 kB\", start = \"5 ms\", connections = 3, \
         adapter_queue = { pdus = 20 }",
    );
    let expected = TcpConfig {
        mss: Octets(1000),
        header: Octets(52),
        window: Octets(8_704_000),
        window_scaling: true,
        initial_window: Octets(4000),
        ssthresh: Some(Octets(65_536)),
        recovery: Recovery::Sack,
        timeout: TimeoutConfig {
            granularity: Duration::from_us(50),
            minimum: Duration::from_ms(1),
            maximum: Duration::from_secs(2),
            initial: Duration::from_secs(3),
        },
        delayed_ack: DelayedAck::TimerOnTicks { timer: Duration::from_ms(50), ticks: Duration::from_ms(10) },
        congestion_control: CongestionControl::LinuxCubic,
        slow_start: SlowStart::HyStartPlusPlus,
        estimator: Estimator::Linux,
        window_validation: false,
        idle_restart: IdleRestart::Linux,
        limited_transmit: true,
        partial_ack_timer: PartialAckTimer::Every,
        rate_reduction: Some(RateReduction::SlowStart),
        rack_tlp: true,
        pacing: true,
        ecn: true,
        timestamps: true,
    };
    assert_eq!(set.tcp, expected);
    assert_eq!((set.transfer, set.connections), (Some(Octets(300_000)), 3));
    assert_eq!((set.start, set.adapter_queue), (Time::ZERO + Duration::from_ms(5), AdapterQueue::Pdus(20)));
    assert_eq!(tcp(", adapter_queue = \"100 cells\"").adapter_queue, AdapterQueue::Cells(Cells(100)));
    assert_eq!(
        tcp(", adapter_queue = { high_water = \"64 cells\" }").adapter_queue,
        AdapterQueue::HighWater(Cells(64))
    );
    assert_eq!(tcp(", delayed_ack = \"every-segment\"").tcp.delayed_ack, DelayedAck::EverySegment);
}

#[test]
fn an_adapter_has_room_for_a_segment() {
    // 1460 + 40 + 8 of LLC/SNAP + 8 of AAL5 are 1516 octets, 31.6 cells.
    assert_eq!(tcp(", adapter_queue = \"32 cells\"").adapter_queue, AdapterQueue::Cells(Cells(32)));
    let told = refused("type = \"tcp\", adapter_queue = \"31 cells\"");
    assert!(told.starts_with("vc.v.traffic.adapter_queue: the adapter's queue is 31 cells"), "{told}");
}

#[test]
fn an_adapter_that_would_take_nothing_or_is_said_twice_is_refused() {
    for (queue, expected) in [
        (
            "{ high_water = \"0 cells\" }",
            "vc.v.traffic.adapter_queue.high_water: a high-water mark of 0 cells",
        ),
        ("{ pdus = 3, high_water = \"9 cells\" }", "vc.v.traffic.adapter_queue: more than one key is given"),
        ("{}", "vc.v.traffic.adapter_queue: no key is given"),
    ] {
        let told = refused(&format!("type = \"tcp\", adapter_queue = {queue}"));
        assert!(told.starts_with(expected), "{told}");
    }
    let told = refused("type = \"tcp\", delayed_ack = { heartbeat = \"200 ms\", ticks = \"10 ms\" }");
    assert!(told.starts_with("vc.v.traffic.delayed_ack.ticks: ticks needs a timer"), "{told}");
}

#[test]
fn an_adapter_may_go_by_acks_that_travel_alone() {
    let queue = |keys: &str| tcp(&format!(", adapter_queue = {{ {keys} }}")).adapter_queue;
    assert_eq!(queue("hold_acks = \"64 cells\""), AdapterQueue::HoldAcks(Cells(64)));
    let refusals = [
        ("hold_acks = \"0 cells\"", "vc.v.traffic.adapter_queue.hold_acks: a mark of 0 cells"),
        ("window = \"20 ms\"", "vc.v.traffic: adapter_queue with a window needs an abr connection"),
        ("window = \"20 ms\", pdus = 3", "vc.v.traffic.adapter_queue: more than one key is given"),
    ];
    for (keys, expected) in refusals {
        let told = refused(&format!("type = \"tcp\", adapter_queue = {{ {keys} }}"));
        assert!(told.starts_with(expected), "{told}");
    }
    let pages = "pages = { objects = [{ response = \"1 kB\" }] }";
    let told = refused(&format!("type = \"tcp\", adapter_queue = {{ hold_acks = \"9 cells\" }}, {pages}"));
    assert!(
        told.starts_with(
            "vc.v.traffic.adapter_queue: adapter_queue with hold_acks or window cannot go with pages"
        ),
        "{told}"
    );
}

#[test]
fn video_that_is_hardly_ever_in_range_is_refused() {
    let video = |deviation: &str| {
        format!("type = \"video\", mean = \"1 Mbps\", peak = \"1 Mbps\", deviation = \"{deviation}\"")
    };
    assert!(resolve(&format!("{}, out_of_range = \"truncate\"", video("500 Mbps"))).is_ok());
    assert!(refused(&video("500 Mbps")).starts_with("vc.v.traffic.deviation: deviation is 500 Mbps"));
}

#[test]
fn acks_are_data_of_the_direction_back() {
    let scenario = resolve("type = \"tcp\"").unwrap();
    let connection = &scenario.connections[0];
    assert!(connection.carries_data(true) && connection.carries_only_acks(true));
    assert!(connection.carries_data(false) && !connection.carries_only_acks(false));
}

#[test]
fn what_does_not_fit_together_is_refused_with_its_key() {
    for (keys, expected) in [
        ("window = \"65536 octets\", window_scaling = false", "65536 octets without window scaling"),
        ("mss = \"65001 octets\"", "It must be from 1 to 65000 octets"),
        ("mss = \"0 octets\"", "It must be from 1 to 65000 octets"),
        ("window = \"1459 octets\"", "1459 octets, is below mss, 1460 octets"),
        ("initial_window = \"1 kB\"", "Write one segment or more"),
        ("minimum_rto = \"65 s\"", "Write a larger maximum_rto"),
        ("timer_granularity = \"1 ns\"", "It must be from 1 us to 1 s"),
        ("delayed_ack = {}", "neither key is given"),
        ("delayed_ack = { heartbeat = \"1 ms\", timer = \"1 ms\" }", "both keys are given"),
        ("transfer = \"0 octets\"", "Write more than 0"),
        ("mss = \"1.5 octets\"", "is not whole"),
        ("mss = \"12 cells\"", "not a unit of a number of octets"),
        (
            "congestion_control = \"dctcp\", ecn = false",
            "congestion_control = \"dctcp\" needs ecn = true: it acts on marks",
        ),
        (
            "preset = \"dctcp\", ecn = false",
            "vc.v.traffic.ecn: congestion_control = \"dctcp\" needs ecn = true",
        ),
        ("prr = \"safe-ack\"", "vc.v.traffic.prr: prr needs recovery = \"sack\""),
        (
            "preset = \"linux\", recovery = \"newreno\", prr = \"none\"",
            "vc.v.traffic.recovery: rack_tlp needs recovery",
        ),
        ("preset = \"newreno\", rack_tlp = true", "recovery = \"sack\", or rack_tlp = false"),
        (
            "slow_start = \"hystart\"",
            "vc.v.traffic.slow_start: slow_start other than \"standard\" needs timestamps = true",
        ),
        ("preset = \"linux\", timer_granularity = \"10 ms\"", "It must be at most 1 ms, or slow_start ="),
        ("prr = \"ssrb\"", "vc.v.traffic.prr"),
        ("mss = \"12 octets\", timestamps = true", "mss is 12 octets, and timestamps take 12 octets of it"),
        ("header = \"112 octets\", timestamps = true", "It must be at most 108 octets with timestamps"),
        ("recovery = \"renno\"", "Did you mean \"reno\"?"),
    ] {
        let message = refused(&format!("type = \"tcp\", {keys}"));
        assert!(message.contains(expected), "{keys}: {message}");
    }
    assert_eq!(tcp(", window = \"65535 octets\", window_scaling = false").tcp.window, Octets(65_535));
    assert_eq!(tcp(", window = \"1460 octets\", initial_window = \"1460 octets\"").tcp.window, Octets(1460));
}

#[test]
fn dctcp_has_ecn_and_others_where_they_are_told() {
    assert!(tcp(", preset = \"dctcp\"").tcp.ecn && tcp(", congestion_control = \"dctcp\"").tcp.ecn);
    assert!(!tcp(", preset = \"cubic\"").tcp.ecn && tcp(", preset = \"cubic\", ecn = true").tcp.ecn);
    assert!(tcp(", preset = \"dctcp\", congestion_control = \"reno\"").tcp.ecn, "of the preset");
}

#[test]
fn video_has_the_papers_settings_by_default() {
    let scenario = resolve("type = \"video\", mean = \"5 Mbps\", deviation = \"7 Mbps\"").unwrap();
    let Some(Traffic::Video(video)) = &scenario.connections[0].forward.traffic else { panic!("video") };
    let expected = VideoTraffic {
        programs: 1,
        mean: BitRate::from_bps(5_000_000),
        deviation: BitRate::from_bps(7_000_000),
        hurst: 0.8,
        peak: BitRate::from_bps(15_000_000),
        reference_interval: [Duration::from_ms(20), Duration::from_ms(100)],
        out_of_range: OutOfRange::Ignore,
        method: NoiseMethod::DaviesHarte,
        sequence: None,
        start: Time::ZERO,
        end: Time::NEVER,
    };
    assert_eq!(**video, expected);
}

#[test]
fn video_that_could_not_be_made_is_refused() {
    let message = refused("type = \"video\", mean = \"26 Mbps\", deviation = \"5 Mbps\"");
    assert!(message.contains("more than two deviations"), "{message}");
    assert!(resolve("type = \"video\", mean = \"25 Mbps\", deviation = \"5 Mbps\"").is_ok());
    let message = refused(
        "type = \"video\", mean = \"5 Mbps\", deviation = \"5 Mbps\", reference_interval = [\"2 ms\", \"1 ms\"]",
    );
    assert!(message.contains("shorter than the shortest"), "{message}");
    let message = refused("type = \"video\", mean = \"5 Mbps\", deviation = \"5 Mbps\", hurst = 1");
    assert!(message.contains("below 1"), "{message}");
}
