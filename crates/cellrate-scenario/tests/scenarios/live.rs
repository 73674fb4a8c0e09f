//! Settings of live runs as they are written.

use cellrate_proto::Duration;
use cellrate_scenario::*;

/// Two hosts and a link, with this `[live]`.
fn resolve(live: &str) -> Result<LiveSettings, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"b\"], rate = \"155.52 Mbps\", length = \"1 km\" }}]\n\
         vc = [{{ name = \"v\", path = [\"a\", \"b\"] }}]\n{live}\n"
    );
    let scenario = Document::parse(&text, "t").and_then(|document| document.resolve());
    scenario.map(|scenario| scenario.live)
}

fn refused(live: &str) -> String {
    match resolve(live) {
        Ok(_) => panic!("it resolves: {live}"),
        Err(error) => format!("{}: {} {}", error.key(), error.message(), error.remedy()),
    }
}

#[test]
fn nothing_written_is_the_default() {
    assert_eq!(resolve("").unwrap(), LiveSettings::default());
}

#[test]
fn every_key_is_a_setting_of_its_own() {
    let live = resolve(
        "[live]\nnodes = { b = \"[::1]:7000\" }\nquantum = \"100 us\"\ncatch_up = \"50 ms\"\n\
         timestamps = true\nstamps = false",
    );
    let expected = LiveSettings {
        addresses: vec![None, Some("[::1]:7000".parse().unwrap())],
        quantum: Some(Duration::from_us(100)),
        catch_up: Duration::from_ms(50),
        timestamps: true,
        stamps: false,
    };
    assert_eq!(live.unwrap(), expected);
}

#[test]
fn what_cannot_be_is_named() {
    let error = refused("[live.nodes]\nc = \"127.0.0.1:1\"");
    assert!(error.contains("there is no host or switch \"c\""), "{error}");
    let error = refused("[live.nodes]\na = \"localhost\"");
    assert!(error.contains("\"localhost\" is not an address and a port"), "{error}");
    let error = refused("[live.nodes]\na = \"127.0.0.1:1\"\nb = \"127.0.0.1:1\"");
    assert!(error.contains("another node takes datagrams at 127.0.0.1:1"), "{error}");
    let error = refused("[live]\nquantum = \"0 us\"");
    assert!(error.starts_with("live.quantum"), "{error}");
}

#[test]
fn a_node_has_the_address_of_one_machine() {
    let kinds = [
        ("0.0.0.0:1", "means every address"),
        ("[::]:1", "means every address"),
        ("[::ffff:0.0.0.0]:1", "means every address"),
        ("224.0.0.1:1", "is a multicast address"),
        ("239.255.255.255:1", "is a multicast address"),
        ("[ff02::1]:1", "is a multicast address"),
        ("[::ffff:224.0.0.1]:1", "is a multicast address"),
        ("255.255.255.255:1", "is a broadcast address"),
        ("127.0.0.1:0", "has port 0"),
    ];
    for (address, why) in kinds {
        let error = refused(&format!("[live.nodes]\na = \"{address}\""));
        assert!(error.starts_with("live.nodes.a") && error.contains(why), "{address}: {error}");
    }
    for address in ["223.255.255.255:1", "240.0.0.1:65535", "[fe80::1]:1", "127.0.0.1:1"] {
        assert!(resolve(&format!("[live.nodes]\na = \"{address}\"")).is_ok(), "{address}");
    }
}

#[test]
fn a_live_run_refuses_rm_values_in_data_cells_wherever_they_are_asked_for() {
    let live = |before: &str, vc: &str| {
        let text = format!(
            "name = \"t\"\nduration = \"1 s\"\n{before}\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
             link = [{{ between = [\"a\", \"b\"], rate = \"155.52 Mbps\", length = \"1 km\" }}]\n\
             vc = [{{ name = \"v\", path = [\"a\", \"b\"]{vc} }}]\n"
        );
        Document::parse(&text, "t").and_then(|document| document.resolve_for_live()).map(|_| ())
    };
    assert_eq!(live("", ", abr = { rm = \"own-cells\" }").map_err(|error| error.to_string()), Ok(()));
    for (before, vc) in [
        ("", ", abr = { rm = \"in-band\" }"),
        ("", ", reverse = { abr = { rm = \"in-band\" } }"),
        ("defaults.abr = { rm = \"in-band\" }", ""),
        ("defaults.vc = { abr = { rm = \"in-band\", nrm = 1 } }", ""),
    ] {
        let error = live(before, vc).unwrap_err().to_string();
        assert!(error.contains("a cell of 53 octets has no room for data and RM values"), "{error}");
    }
}
