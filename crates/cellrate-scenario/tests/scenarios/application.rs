//! Hosts as machines, and the programs on them.

use std::net::Ipv4Addr;
use std::sync::Arc;

use cellrate_proto::{BitRate, Cells, Duration, Octets, Time};
use cellrate_scenario::*;

/// Two hosts and a link; `host` stands in `[defaults.host.live]`, `rest` at the end.
fn document(host: &str, rest: &str) -> Result<Document, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"10 s\"\n[defaults.host.live]\n{host}\n[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n\
         [[host]]\nname = \"c\"\n[[switch]]\nname = \"sw\"\n\
         [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbps\"\nlength = \"1 km\"\n\
         [[vc]]\nname = \"v\"\npath = [\"a\", \"b\"]\ntraffic = {{ type = \"none\" }}\n{rest}\n"
    );
    Document::parse(&text, "t")
}

fn application(keys: &str) -> Result<Application, ScenarioError> {
    let rest = format!("[[application]]\nname = \"x\"\nhost = \"a\"\npeer = \"b\"\n{keys}\n");
    document("", &rest)?.resolve().map(|scenario| scenario.applications[0].clone())
}

fn refused<T>(outcome: Result<T, ScenarioError>) -> String {
    match outcome {
        Ok(_) => panic!("it resolves"),
        Err(error) => format!("{}: {}. {}", error.key(), error.message(), error.remedy()),
    }
}

#[test]
fn hosts_have_addresses_of_their_own_and_the_mtu_of_rfc_2225() {
    let hosts = document("", "").unwrap().resolve().unwrap().hosts;
    let addresses: Vec<Ipv4Addr> = hosts.iter().map(|host| host.address).collect();
    assert_eq!(addresses, [[10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 3]].map(Ipv4Addr::from));
    assert!(hosts.iter().all(|host| (host.mtu, host.adapter_queue) == (Octets(9180), Cells(4096))));
    assert_eq!(hosts[0].tcp.congestion_control, "reno");
}

#[test]
fn every_setting_of_a_host_has_its_key() {
    let keys = "mtu = \"1500 octets\"\ntransmit_queue = 20\nadapter_queue = \"100 cells\"\ntcp = { congestion_control = \"cubic\", receive_window = \"9148 octets\", \
                send_buffer = \"64 KiB\", mss = \"1000 octets\", initial_window = 1, delayed_ack = false, minimum_rto = \"400 ms\", \
                sack = false, timestamps = false }\nadapter_tcp = { window = \"9148 octets\", delayed_ack = { timer = \"50 ms\", ticks = \"10 ms\" }, acr_window = \"21 ms\" }\n\
                scone = { leaving = \"acr\", arriving = \"5 Mbps\", every = \"10 s\", most = 20 }";
    let scenario = document(keys, "").unwrap().resolve().unwrap();
    let expected = HostSettings {
        address: Ipv4Addr::new(10, 0, 0, 2),
        mtu: Octets(1500),
        adapter_queue: Cells(100),
        transmit_queue: 20,
        processing: Processing::None,
        tcp: Arc::new(HostTcp {
            congestion_control: "cubic".into(),
            receive_window: Some(Octets(9148)),
            send_buffer: Some(Octets(65_536)),
            mss: Some(Octets(1000)),
            initial_window: Some(1),
            delayed_ack: false,
            minimum_rto: Some(Duration::from_ms(400)),
            sack: false,
            timestamps: false,
        }),
        adapter_tcp: AdapterTcp {
            window: Some(9148),
            delayed_ack: Some(DelayedAck::TimerOnTicks {
                timer: Duration::from_ms(50),
                ticks: Duration::from_ms(10),
            }),
            arriving_acks: ArrivingAcks::Window(Duration::from_ms(21)),
        },
        scone: SconeElements {
            leaving: Some(Advised::Acr),
            arriving: Some(BitRate::from_bps(5_000_000)),
            every: Duration::from_secs(10),
            most: 20,
        },
    };
    assert_eq!(scenario.hosts[1], expected);
    let holding = document("adapter_tcp.hold_acks = \"100 cells\"", "").unwrap().resolve().unwrap();
    assert_eq!(holding.hosts[1].adapter_tcp.arriving_acks, ArrivingAcks::Held(Cells(100)));
}

#[test]
fn what_no_host_can_be_is_refused() {
    for (keys, expected) in [
        ("mtu = \"575 octets\"", "from 576 to 65527 octets"),
        ("mtu = \"65528 octets\"", "from 576 to 65527 octets"),
        ("address = \"10.0.0\"", "is not an IPv4 address of a host"),
        ("address = \"224.0.0.1\"", "is not an IPv4 address of a host"),
        ("address = \"10.0.0.7\"", "and so has \"a\""),
        ("tcp = { mss = \"9141 octets\" }", "from 88 to 9140 octets"),
        ("tcp = { congestion_control = \"reno; ls\" }", "is not the name of a congestion control"),
        ("tcp = { minimum_rto = \"1500 us\" }", "Write whole milliseconds"),
        ("adapter_queue = \"191 cells\"", "a packet of 9180 octets, which is 192 cells"),
        ("adapter_tcp = { window = \"65536 octets\" }", "from 536 to 65535 octets"),
        ("adapter_tcp = { delayed_ack = {} }", "neither key is given"),
        ("adapter_tcp = { hold_acks = \"0 cells\" }", "lets nothing through"),
        ("adapter_tcp = { hold_acks = \"9 cells\", acr_window = \"1 ms\" }", "Write one of them"),
        ("transmit_queue = 0", "from 1 to 1000000"),
        ("scone = { leaving = \"ers\" }", "acr"),
        ("scone = { leaving = \"99 kbps\" }", "from 100 kbps to 199.5 Gbps"),
        ("scone = { arriving = \"acr\" }", "arriving"),
        ("scone = { arriving = \"200 Gbps\" }", "from 100 kbps to 199.5 Gbps"),
        ("scone = { arriving = \"1 Mbps\", every = \"34 s\" }", "at most 33.5 s"),
        ("scone = { rate = \"1 Mbps\" }", "leaving"),
    ] {
        let message = refused(document(keys, "").and_then(|document| document.resolve()));
        assert!(message.contains(expected), "{keys}: {message}");
    }
    assert!(document("mtu = \"65527 octets\"", "").unwrap().resolve().is_ok());
}

#[test]
fn a_player_and_a_download_have_what_they_can_use() {
    let ApplicationKind::Player(player) = application("kind = \"quic-player\"").unwrap().kind else {
        panic!("it is a player")
    };
    assert_eq!((player.by.as_str(), player.qualities.len(), player.share), ("both", 5, 0.9));
    assert_eq!((player.segment, player.buffer), (Duration::from_secs(2), Duration::from_secs(20)));
    let keys =
        "kind = { type = \"quic-download\", size = \"3 MB\", pace = true, congestion_control = \"reno\" }";
    let sending = Sending { pace: true, congestion_control: "reno".into() };
    let expected = Download { size: Octets(3_000_000), part: Octets(500_000), sending };
    assert_eq!(application(keys).unwrap().kind, ApplicationKind::Download(expected));
    for (keys, expected) in [
        ("by = \"guess\"", "estimate"),
        ("qualities = []", "qualities"),
        ("qualities = [\"2 Mbps\", \"1 Mbps\"]", "the lowest first"),
        ("qualities = [\"1 Mbps\", \"1 Mbps\"]", "the lowest first"),
        ("qualities = [\"0 Mbps\"]", "qualities"),
        ("segment = \"30 s\"", "one segment at least"),
        ("prebuffer = \"30 s\"", "as much as the buffer at most"),
        ("segment = \"0 s\"", "segment"),
        ("congestion_control = \"bbr\"", "cubic"),
        ("share = 1.5", "share"),
    ] {
        let message = refused(application(&format!("kind = {{ type = \"quic-player\", {keys} }}")));
        assert!(message.contains(expected), "{keys}: {message}");
    }
}

#[test]
fn a_kind_may_be_a_word_alone() {
    let ftp = application("kind = \"ftp\"\nstart = \"2 s\"").unwrap();
    assert_eq!(ftp.kind, ApplicationKind::Ftp(Ftp { size: None }));
    assert_eq!(
        (ftp.start, ftp.end),
        (Time::ZERO + Duration::from_secs(2), Time::ZERO + Duration::from_secs(10))
    );
    let web = application("kind = { type = \"web\", pages = 3 }").unwrap().kind;
    let expected = Web { pages: 3, html: Octets(600), image: Octets(300_000), gap: Duration::from_secs(1) };
    assert_eq!(web, ApplicationKind::Web(expected));
    let message = refused(application("kind = \"command\""));
    assert!(message.contains("words"), "{message}");
}

#[test]
fn every_kind_has_its_settings() {
    let kind =
        |text: &str| application(&format!("kind = {{ {text} }}")).unwrap_or_else(|e| panic!("{e}")).kind;
    let video = LiveVideo {
        rate: BitRate::from_bps(4_000_000),
        frame_rate: 12.5,
        send_every: 2,
        follow_acr: Some(0.9),
        buffer: Octets(500_000),
        prebuffer: Duration::from_ms(250),
        wait: false,
    };
    assert_eq!(
        kind(
            "type = \"video\", rate = \"4 Mbps\", frame_rate = 12.5, send_every = 2, follow_acr = true, buffer = \"500 kB\", \
             prebuffer = \"250 ms\", late = \"skip\""
        ),
        ApplicationKind::Video(Box::new(video))
    );
    assert_eq!(
        kind("type = \"voice\", packet = \"40 ms\", redundancy = 2, playout_delay = \"80 ms\""),
        ApplicationKind::Voice(Voice {
            packet: Duration::from_ms(40),
            redundancy: 2,
            playout_delay: Duration::from_ms(80)
        })
    );
    assert_eq!(
        kind("type = \"iperf3\", protocol = \"udp\", streams = 2, length = \"1000 octets\""),
        ApplicationKind::Iperf3(Iperf3 {
            udp: true,
            rate: Some(BitRate::from_bps(1_000_000)),
            streams: 2,
            length: Some(Octets(1000))
        })
    );
    assert_eq!(
        kind(
            "type = \"command\", words = [\"sleep\", \"1\"], background = true, ready = { port = 80 }, ready_within = \"1 s\""
        ),
        ApplicationKind::Command(Command {
            words: vec!["sleep".into(), "1".into()],
            background: true,
            ready: Some(Ready::Port(80)),
            ready_within: Duration::from_secs(1)
        })
    );
    assert_eq!(
        kind("type = \"ping\", interval = \"20 ms\", size = \"1 kB\""),
        ApplicationKind::Ping(Ping { interval: Duration::from_ms(20), size: Octets(1000) })
    );
    assert_eq!(
        kind("type = \"ftp\", size = \"2 MB\""),
        ApplicationKind::Ftp(Ftp { size: Some(Octets(2_000_000)) })
    );
}

#[test]
fn what_does_not_fit_is_refused_with_its_key() {
    for (keys, expected) in [
        ("kind = \"fpt\"", "\"ftp\""),
        ("kind = { type = \"ftp\", pages = 3 }", "type \"ftp\" has no key \"pages\"; type \"web\" has"),
        ("kind = { type = \"video\", rate = \"100 kbps\" }", "Let them have from 2000 to 4000000"),
        ("kind = { type = \"video\", acr_share = 0.5 }", "needs follow_acr = true"),
        (
            "kind = { type = \"iperf3\", protocol = \"udp\", rate = \"unlimited\" }",
            "udp has no rate of its own",
        ),
        (
            "kind = { type = \"iperf3\", protocol = \"udp\", length = \"65508 octets\" }",
            "from 16 to 65507 octets",
        ),
        ("kind = { type = \"command\", words = [\"x\"], ready = {} }", "Write one of port, pattern and file"),
        ("kind = { type = \"voice\", packet = \"5 ms\" }", "from 10 to 200 ms"),
        ("kind = { type = \"ping\", interval = \"5 ms\" }", "from 10 ms to 1 min"),
        ("kind = { type = \"ping\", interval = \"2 min\" }", "from 10 ms to 1 min"),
        ("kind = { type = \"ping\", size = \"8 octets\" }", "from 16 to 65507 octets"),
        ("kind = { type = \"ping\", size = \"65508 octets\" }", "from 16 to 65507 octets"),
        ("kind = \"ftp\"\nstart = \"10 s\"", "not before the end of the run"),
        ("kind = \"ftp\"\nstart = \"2 s\"\nend = \"1 s\"", "Write a later end"),
    ] {
        let message = refused(application(keys));
        assert!(message.contains(expected), "{keys}: {message}");
    }
    let rest = |host: &str, peer: &str| {
        document("", &format!("[[application]]\nname = \"x\"\nkind = \"ftp\"\nhost = \"{host}\"\n{peer}\n"))
            .and_then(|document| document.resolve())
    };
    assert!(refused(rest("a", "")).contains("\"peer\" is missing"));
    assert!(refused(rest("sw", "peer = \"b\"")).contains("\"sw\" is a switch"));
    assert!(refused(rest("a", "peer = \"c\"")).contains("no vc between \"a\" and \"c\""));
    assert!(rest("b", "peer = \"a\"").is_ok(), "against the direction of the vc");
    let mut busy =
        document("", "[[application]]\nname = \"x\"\nkind = \"ftp\"\nhost = \"a\"\npeer = \"b\"\n").unwrap();
    busy.set("vc.v.traffic.type", "greedy").unwrap();
    assert!(refused(busy.resolve()).contains("the vc \"v\" between \"a\" and \"b\" has traffic of its own"));
}

#[test]
fn a_simulation_names_the_application_that_it_cannot_run() {
    let document =
        document("", "[[application]]\nname = \"bulk\"\nkind = \"ftp\"\nhost = \"a\"\npeer = \"b\"\n")
            .unwrap();
    let message = refused(document.resolve_for_simulation());
    assert!(
        message.starts_with("application.bulk.name: the application \"bulk\" needs a live run"),
        "{message}"
    );
    assert!(message.contains("cellrate live run"), "{message}");
}
