//! Pages over TCP as they are written.

use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::*;

/// Two hosts and a link; `keys` are those of the connection.
fn resolve(keys: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"b\"], rate = \"155.52 Mbps\", length = \"1 km\" }}]\n\
         [[vc]]\nname = \"v\"\ncategory = \"ubr\"\npath = [\"a\", \"b\"]\n{keys}\n"
    );
    Document::parse(&text, "t").and_then(|document| document.resolve())
}

fn connection(keys: &str) -> Connection {
    resolve(keys).unwrap_or_else(|error| panic!("{error}")).connections.remove(0)
}

fn refused(keys: &str) -> String {
    match resolve(keys) {
        Ok(_) => panic!("it resolves: {keys}"),
        Err(error) => format!("{}: {} {}", error.key(), error.message(), error.remedy()),
    }
}

const PAGE: &str = "pages = { objects = [{ response = \"600 octets\" }] }";

#[test]
fn a_page_needs_no_more_than_its_objects() {
    let connection = connection(&format!("traffic = {{ type = \"tcp\", {PAGE} }}"));
    let expected = Pages {
        objects: vec![PageObject {
            request: Octets(300),
            response: Octets(600),
            server_time: Duration::ZERO,
        }],
        clients: 1,
        count: None,
        object_gap: Duration::ZERO,
        think_time: Period::Fixed(Duration::ZERO),
        connection: ConnectionUse::PerObject,
        handshake: true,
        end: Time::NEVER,
        record: 0,
    };
    assert_eq!(connection.pages(), Some(&expected));
    let Some(Traffic::Tcp(tcp)) = &connection.forward.traffic else { panic!("tcp") };
    assert_eq!((tcp.connections, tcp.transfer), (0, None));
    assert!(connection.carries_data(true) && !connection.carries_only_acks(true), "the responses");
}

#[test]
fn every_key_of_pages_is_a_setting_of_its_own() {
    let connection = connection(
        "traffic = { type = \"tcp\", preset = \"internet-applications\", connections = 2, transfer = \"1 MB\", start = \"1 ms\", \
         pages = { objects = [{ request = \"250 octets\", response = \"600 octets\", server_time = \"3 ms\" }, \
         { response = \"300 kB\" }], clients = 3, count = 30, object_gap = \"5 ms\", \
         think_time = { exponential = \"2 s\" }, connection = \"per-page\", handshake = false, end = \"900 ms\", \
         record = 60 } }\nreverse.traffic = { type = \"tcp\", preset = \"reno\", connections = 0 }",
    );
    let expected = Pages {
        objects: vec![
            PageObject { request: Octets(250), response: Octets(600), server_time: Duration::from_ms(3) },
            PageObject { request: Octets(300), response: Octets(300_000), server_time: Duration::ZERO },
        ],
        clients: 3,
        count: Some(30),
        object_gap: Duration::from_ms(5),
        think_time: Period::Exponential(Duration::from_secs(2)),
        connection: ConnectionUse::PerPage,
        handshake: false,
        end: Time::ZERO + Duration::from_ms(900),
        record: 60,
    };
    assert_eq!(connection.pages(), Some(&expected));
    let Some(Traffic::Tcp(back)) = &connection.backward.traffic else { panic!("tcp") };
    assert_eq!((back.connections, back.tcp.mss), (0, Octets(1460)));
}

#[test]
fn paper_000_has_a_window_of_one_segment() {
    let tcp = Preset::named("internet-applications").expect("it is there").tcp();
    assert_eq!(
        (tcp.offered_window(), tcp.mss, tcp.initial_window),
        (Octets(9148), Octets(9140), Octets(9140))
    );
    assert_eq!(tcp.delayed_ack, DelayedAck::Timer(Duration::from_ms(50)));
}

#[test]
fn pages_that_cannot_be_are_refused_with_their_key() {
    for (keys, expected) in [
        ("traffic = { type = \"tcp\", pages = {} }", "objects"),
        ("traffic = { type = \"tcp\", pages = { objects = [] } }", "objects"),
        ("traffic = { type = \"tcp\", pages = { objects = [{}] } }", "response"),
        (
            "traffic = { type = \"tcp\", pages = { objects = [{ response = \"1025 GiB\" }] } }",
            "from 1 octet to 1024 GiB",
        ),
        ("traffic = { type = \"tcp\", pages = { objects = [{ response = \"0 octets\" }] } }", "response"),
        (
            "traffic = { type = \"tcp\", start = \"5 ms\", pages = { objects = [{ response = \"1 kB\" }], end = \"5 ms\" } }",
            "is not after the start of the traffic",
        ),
        (
            "traffic = { type = \"tcp\", connections = 65535, pages = { objects = [{ response = \"1 kB\" }] } }",
            "65535 connections and 1 clients are more than 65535 together",
        ),
        (
            "traffic = { type = \"tcp\", pages = { clients = 2, objects = [{ response = \"1 kB\" }] } }\n\
             reverse.traffic = { type = \"tcp\", connections = 65534 }",
            "65534 connections of the reverse traffic and 2 clients are more than 65535 together",
        ),
        (
            "traffic = { type = \"tcp\", transfer = \"1 kB\", pages = { objects = [{ response = \"1 kB\" }] } }",
            "transfer needs connections to send it",
        ),
        ("traffic = { type = \"tcp\", connections = 0 }", "connections is 0, and there are no pages either"),
        (
            "traffic = { type = \"tcp\" }\nreverse.traffic = { type = \"tcp\", connections = 0 }",
            "connections is 0, and there are no pages either",
        ),
        (
            "traffic = { type = \"tcp\", pages = { objects = [{ response = \"1 kB\", reqest = \"1 kB\" }] } }",
            "Did you mean \"request\"?",
        ),
    ] {
        let message = refused(keys);
        assert!(message.contains(expected), "{keys}: {message}");
    }
}

#[test]
fn pages_are_fetched_from_the_first_host() {
    let back =
        refused(&format!("traffic = {{ type = \"none\" }}\nreverse.traffic = {{ type = \"tcp\", {PAGE} }}"));
    assert!(back.contains("Turn the path around"), "{back}");
    let both = refused(&format!("bidirectional = true\ntraffic = {{ type = \"tcp\", {PAGE} }}"));
    assert!(both.contains("Leave bidirectional out"), "{both}");
}

#[test]
fn the_way_of_the_acks_has_no_traffic_of_another_type() {
    for (traffic, reverse) in [("tcp", "greedy"), ("greedy", "tcp")] {
        let message = refused(&format!(
            "traffic = {{ type = \"{traffic}\" }}\nreverse.traffic = {{ type = \"{reverse}\" }}"
        ));
        assert!(message.contains("which carries its ACKs"), "{message}");
    }
    assert!(resolve("traffic = { type = \"none\" }\nreverse.traffic = { type = \"tcp\" }").is_ok());
    assert!(resolve("traffic = { type = \"tcp\" }\nreverse.traffic = { type = \"none\" }").is_ok());
}

#[test]
fn responses_can_be_recorded_where_there_are_pages() {
    let probe = "\n[[probe]]\nrecord = [\"responses\", \"response_time\", \"cwnd\"]\nevery = \"change\"";
    let back = "\n[[probe]]\nrecord = [\"cwnd\"]\nof = [\"v (back)\"]\nevery = \"change\"";
    let scenario = resolve(&format!("traffic = {{ type = \"tcp\", {PAGE} }}{probe}{back}")).unwrap();
    let found = |quantity, backward| {
        let of = Quantity::Flow { quantity, flow: FlowIndex::of(ConnectionIndex(0), backward) };
        scenario.probes.iter().any(|probe| probe.quantity == of)
    };
    assert!(found(FlowQuantity::Responses, false) && found(FlowQuantity::ResponseTime, false));
    assert!(!found(FlowQuantity::Responses, true));
    assert!(found(FlowQuantity::Cwnd, false) && found(FlowQuantity::Cwnd, true), "the server sends, too");
    let message = refused(&format!("traffic = {{ type = \"tcp\" }}{probe}"));
    assert!(message.contains("has pages"), "{message}");
}
