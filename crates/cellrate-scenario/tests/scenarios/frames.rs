//! Frames in datagrams as they are written.

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{Octets, Time};
use cellrate_scenario::*;

/// Two hosts and a link, with this connection.
fn resolve(category: &str, traffic: &str, more: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"b\"], rate = \"155.52 Mbps\", length = \"1 km\" }}]\n\
         [[vc]]\nname = \"v\"\ncategory = \"{category}\"\npath = [\"a\", \"b\"]\n\
         traffic = {{ type = \"frames\", {traffic} }}\n{more}"
    );
    Document::parse(&text, "t").and_then(|document| document.resolve())
}

fn frames(traffic: &str) -> FramesTraffic {
    let scenario = resolve("abr", traffic, "").unwrap_or_else(|error| panic!("{error}"));
    match &scenario.connections[0].forward.traffic {
        Some(Traffic::Frames(frames)) => (**frames).clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn clock_and_size_are_enough() {
    let plain = frames("frames_per_second = 24, size = \"40 kB\"");
    let expected = FramesTraffic {
        frames_per_second: 24,
        size: Octets(40_000),
        deviation: Octets(0),
        datagram: Octets(1472),
        header: Octets(28),
        encapsulation: Encapsulation::LlcSnapIpv4,
        follow_acr: None,
        start: Time::ZERO,
        end: Time::NEVER,
        record: 0,
    };
    assert_eq!(plain, expected);
    let other = frames(
        "frames_per_second = 50, size = \"172 octets\", deviation = \"172 octets\", datagram = \"65000 octets\", \
         header = \"40 octets\", encapsulation = \"vc-mux\", record = 7, follow_acr = {}",
    );
    assert_eq!((other.deviation, other.datagram, other.header), (Octets(172), Octets(65_000), Octets(40)));
    assert_eq!((other.encapsulation, other.record), (Encapsulation::VcMultiplexed, 7));
    assert_eq!(other.follow_acr, Some(FollowAcr { share: 0.9 }));
    let share = frames("frames_per_second = 1, size = \"1 octet\", follow_acr = { share = \"31/32\" }");
    assert_eq!(share.follow_acr, Some(FollowAcr { share: 0.96875 }));
}

#[test]
fn what_could_not_be_sent_is_refused() {
    for (category, traffic, more, expected) in [
        ("abr", "size = \"1 kB\"", "", "frames_per_second"),
        ("abr", "frames_per_second = 24", "", "size"),
        ("abr", "frames_per_second = 0, size = \"1 kB\"", "", "from 1 to 10000"),
        ("abr", "frames_per_second = 24, size = \"0 octets\"", "", "from 1 octet to 16 MiB"),
        ("abr", "frames_per_second = 24, size = \"16777217 octets\"", "", "from 1 octet to 16 MiB"),
        (
            "abr",
            "frames_per_second = 24, size = \"1 kB\", deviation = \"1001 octets\"",
            "",
            "at most the size",
        ),
        (
            "abr",
            "frames_per_second = 24, size = \"1 kB\", datagram = \"0 octets\"",
            "",
            "from 1 to 65000 octets",
        ),
        ("abr", "frames_per_second = 24, size = \"1 kB\", header = \"121 octets\"", "", "at most 120 octets"),
        ("abr", "frames_per_second = 24, size = \"1 kB\", follow_acr = { share = 0 }", "", "above 0"),
        (
            "ubr",
            "frames_per_second = 24, size = \"1 kB\", follow_acr = { share = 1 }",
            "",
            "a ubr connection has no ACR to follow",
        ),
        (
            "abr",
            "frames_per_second = 24, size = \"1 kB\"",
            "reverse = { traffic = { type = \"tcp\" } }\n",
            "another vc",
        ),
    ] {
        let message = match resolve(category, traffic, more) {
            Ok(_) => panic!("it resolves: {traffic}"),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(expected), "{traffic}: {message}");
    }
    assert!(resolve("ubr", "frames_per_second = 10000, size = \"16 MiB\"", "").is_ok());
}
