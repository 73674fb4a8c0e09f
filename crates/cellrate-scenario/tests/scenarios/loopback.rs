//! OAM loopback cells of connections.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Document, Loopback, Scenario};

/// A connection over two switches with these keys.
fn with(keys: &str) -> Result<Scenario, String> {
    let text = format!(
        "name = \"x\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"10 Mbps\", delay = \"1 ms\" }}\n\
         host = [{{ name = \"s\" }}, {{ name = \"d\" }}, {{ name = \"e\" }}]\n\
         switch = [{{ name = \"sw1\" }}, {{ name = \"sw2\" }}]\n\
         link = [{{ between = [\"s\", \"sw1\"] }}, {{ between = [\"sw1\", \"sw2\"] }}, \
         {{ between = [\"sw2\", \"d\"] }}, {{ between = [\"sw2\", \"e\"] }}]\n\
         [[vc]]\nname = \"vc\"\npath = [\"s\", \"sw1\", \"sw2\", \"d\"]\n{keys}\n"
    );
    Document::parse(&text, "x.toml")
        .and_then(|document| document.resolve())
        .map_err(|error| error.to_string())
}

#[test]
fn each_says_who_sends_who_answers_and_when() {
    let list = "loopback = [{ every = \"5 ms\" }, { every = \"1 s\", at = \"sw2\", start = \"3 ms\" }, \
                { every = \"1 s\", at = \"sw2\", backward = true }, { every = \"1 s\", at = \"d\" }]";
    let scenario = with(list).unwrap();
    let one = |backward, every, start, hop| Loopback {
        backward,
        every: Duration::from_ms(every),
        start: Time::ZERO + Duration::from_ms(start),
        hop,
    };
    let expected = [
        one(false, 5, 0, None),
        one(false, 1000, 3, Some(1)),
        one(true, 1000, 0, Some(0)),
        one(false, 1000, 0, None),
    ];
    let connection = &scenario.connections[0];
    assert_eq!(connection.loopbacks, expected);
    let names: Vec<&str> = expected
        .iter()
        .map(|loopback| &*scenario.node(loopback.answering(&scenario, connection)).name)
        .collect();
    assert_eq!(names, ["d", "sw2", "sw2", "d"]);
    assert!(with("").unwrap().connections[0].loopbacks.is_empty());
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_right() {
    let asked = [
        ("loopback = [{ at = \"sw1\" }]", "every"),
        ("loopback = [{ every = \"0 s\" }]", "no time at all"),
        ("loopback = [{ every = \"1 ps\" }]", "on the line of port s->sw1. Write "),
        ("loopback = [{ every = \"1 us\", backward = true }]", "on the line of port d->sw2. Write "),
        ("loopback = [{ every = \"1 s\", at = \"s\" }]", "s is not on the way of these loopback cells"),
        ("loopback = [{ every = \"1 s\", at = \"e\" }]", "It leads to sw1, sw2, d"),
        ("loopback = [{ every = \"1 s\", at = \"d\", backward = true }]", "It leads to sw2, sw1, s"),
        (
            "branches = [[\"sw2\", \"e\"]]\nloopback = [{ every = \"1 s\" }]",
            "would be answered by every leaf. Leave loopback out, or the branches",
        ),
    ];
    for (keys, told) in asked {
        let error = with(keys).unwrap_err();
        assert!(error.contains(told), "{keys}: {error}");
    }
    let many = format!("loopback = [{}]", "{ every = \"1 s\" }, ".repeat(17));
    assert!(with(&many).unwrap_err().contains("loopback has 17 entries"));
    let probe = "[[probe]]\nrecord = [\"loopback_time\"]\nof = [\"vc\"]\nevery = \"1 ms\"";
    let error = with(probe).unwrap_err();
    assert!(error.contains("Only directions whose sending end has a loopback have it"), "{error}");
}
