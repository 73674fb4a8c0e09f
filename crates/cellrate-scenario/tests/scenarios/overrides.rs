//! `--set`, sweeps and what is stored.

use cellrate_scenario::{Document, Scenario, Sender};

use crate::GOOD;

fn good() -> Document {
    Document::parse(GOOD, "good.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn nrm(scenario: &Scenario) -> Vec<u32> {
    let senders = scenario.connections.iter().map(|connection| &connection.forward.sender);
    senders
        .filter_map(|sender| if let Sender::Abr(abr) = sender { Some(abr.parameters.nrm) } else { None })
        .collect()
}

fn set(path: &str, value: &str) -> Result<Scenario, String> {
    let mut document = good();
    document.set(path, value).and_then(|()| document.resolve()).map_err(|error| error.to_string())
}

#[test]
fn a_group_a_member_and_the_defaults_can_be_set() {
    assert_eq!(nrm(&set("vc.vc{i}.abr.nrm", "8").unwrap()), [8, 8, 8]);
    // Alone, out of its group; the one that is like the group keeps what the group had.
    assert_eq!(nrm(&set("vc.vc2.abr.nrm", "8").unwrap()), [32, 8, 32]);
    assert_eq!(set("duration", "5 ms").unwrap().duration.as_ps(), 5_000_000_000);
    assert_eq!(set("link.sw1-sw2.length", "2 km").unwrap().links[3].delay.as_ps(), 10_000_000);
    assert_eq!(set("link.s2-sw1.loss", "0").unwrap().links[1].line.loss, 0.0);
    assert_eq!(set("name", "12").unwrap().name, "12");
    assert!(set("switch.sw2.algorithm.threshold", "9 cells").is_ok());
    assert!(set("switch.sw1.efci.high", "200 cells").is_ok());
    assert!(set("probe.1.every", "2 ms").is_ok());
}

#[test]
fn a_document_with_another_seed_is_what_setting_it_makes() {
    let mut document = good();
    for seed in [0, 7, i64::MAX] {
        // Twice: the one that counts is the later one.
        let seeded = document.with_seed(3).with_seed(seed);
        document.set("seed", &seed.to_string()).unwrap();
        assert_eq!((seeded.hash(), seeded.to_toml()), (document.hash(), document.to_toml()));
        assert_eq!(seeded.resolve().unwrap().seed, seed as u64);
    }
    assert!(document.with_seed(-1).resolve().is_err());
}

#[test]
fn a_link_answers_to_its_ends_in_either_order() {
    let delay =
        |path| set(path, "2 km").unwrap().links.iter().map(|link| link.delay.as_ps()).collect::<Vec<_>>();
    assert_eq!(delay("link.sw2-sw1.length"), delay("link.sw1-sw2.length"));
    assert_eq!(delay("link.sw1-s2.length"), delay("link.s2-sw1.length"));
    let error = set("link.s2-sw2.length", "2 km").unwrap_err();
    assert!(error.contains("there is no link \"s2-sw2\""), "{error}");
}

#[test]
fn a_number_beyond_what_there_is_is_told_as_that() {
    let error = set("seed", "99999999999999999999").unwrap_err();
    assert!(error.starts_with("setting:1:8: seed: 99999999999999999999 is too large a number"), "{error}");
    // Where a text is due, it is one.
    assert_eq!(set("name", "99999999999999999999").unwrap().name, "99999999999999999999");
    assert_eq!(set("name", "nan").unwrap().name, "nan");
}

#[test]
fn what_cannot_be_set_is_named_with_what_can() {
    let error = set("vc.vc1.abr.nmr", "8").unwrap_err();
    assert!(error.contains("there is no key \"nmr\" in vc.vc1.abr. Did you mean \"nrm\"?"), "{error}");
    assert!(error.starts_with("setting:1:1: vc.vc1.abr.nmr: "), "{error}");
    let error = set("vc.vc9.abr.nrm", "8").unwrap_err();
    assert!(error.contains("there is no vc \"vc9\""), "{error}");
    let error = set("defaults.link.rate", "155").unwrap_err();
    assert!(error.contains("Write \"155 Mbps\""), "{error}");
    assert!(error.contains("1 | defaults.link.rate = 155\n  |                      ^^^"), "{error}");
    for path in ["", ".", "vc", "vc.vc1", "seed.x", "vc.vc1.path.0", "colour"] {
        assert!(set(path, "1").is_err(), "{path}");
    }
}

#[test]
fn a_group_answers_to_its_name_after_a_member_was_set() {
    let mut document = good();
    document.set("vc.vc2.abr.nrm", "8").unwrap();
    document.set("vc.vc{i}.abr.nrm", "16").unwrap();
    assert_eq!(nrm(&document.resolve().unwrap()), [16, 16, 32]);
}

#[test]
fn a_failed_override_leaves_the_document_as_it_was() {
    let mut document = good();
    let before = document.hash();
    assert!(document.set("vc.vc1.abr.nrm", "many").is_err());
    assert_eq!(document.hash(), before);
}

#[test]
fn sweeps_multiply_in_order_the_last_fastest() {
    let points = good().points().unwrap();
    let set: Vec<String> =
        points.iter().map(|point| format!("{} {}", point.set[0].1, point.set[1].1)).collect();
    assert_eq!(set, ["8 1", "8 2", "8 3", "32 1", "32 2", "32 3"]);
    assert_eq!(points[0].set[0].0, "vc.vc{i}.abr.nrm");
    let scenario = points[1].document.resolve().unwrap();
    assert_eq!((scenario.seed, nrm(&scenario)[0]), (2, 8));
    assert_eq!(points[1].document.points().unwrap().len(), 1);
}

#[test]
fn what_is_stored_reads_back_the_same_with_overrides() {
    let mut document = good();
    document.set("vc.vc2.abr.nrm", "16").unwrap();
    document.set("switch.sw2.buffers.abr", "77 cells").unwrap();
    let again = Document::parse(&document.to_toml(), "stored.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.resolve().unwrap(), document.resolve().unwrap());
    assert_eq!(again.hash(), document.hash());
    assert_ne!(again.hash(), good().hash());
}

#[test]
fn the_hash_is_of_the_content_and_stays_what_it_is() {
    let one = Document::parse("name = \"a\"\nduration = \"1 s\"\n", "x").unwrap();
    let other = Document::parse("duration   =  '1 s' \n\n name = 'a' # why\n", "y").unwrap();
    assert_eq!(one.hash(), other.hash());
    // SHA-256 of {"duration":"1 s","name":"a"}.
    assert_eq!(one.hash(), "dbf4a0641b2b515c38906c62c394e75881da6444fdc47048196cf3046a34e6bd");
}

#[test]
fn what_bears_on_no_result_changes_no_hash_and_empty_tables_are_kept() {
    let plain = "name = \"t\"\nduration = \"1 ms\"\n[defaults]\n[[host]]\nname = \"a\"\n";
    let document = |text: &str| Document::parse(text, "t.toml").unwrap_or_else(|error| panic!("{error}"));
    let hash = document(plain).hash();
    for head in [
        "# What it is for.\n",
        "\u{feff}",
        "#:schema ./scenario.json\n",
        "\u{feff}#:schema a\n# Why.\n\n# More.\n",
        "\r\n\n",
    ] {
        let text = format!("{head}{plain}");
        assert_eq!(document(&text).hash(), hash, "{head:?}");
        assert_eq!(document(&document(&text).to_toml()).hash(), hash, "{head:?}");
    }
    assert_eq!(
        document(&format!("{plain}[live]\n")).hash(),
        document(&document(&format!("{plain}[live]\n")).to_toml()).hash()
    );
    let purpose = |text: &str| document(text).resolve().unwrap().purpose;
    assert_eq!(purpose(&format!("\u{feff}#:schema a\n# Why.\n{plain}")), "Why.");
    assert_ne!(document(&plain.replace("1 ms", "2 ms")).hash(), hash);
    // Errors count columns without the mark.
    let error = Document::parse("\u{feff}nam = \"t\"\n", "t.toml").unwrap_err();
    assert_eq!((error.line(), error.column()), (1, 1));
}

#[test]
fn a_key_that_a_sweep_sets_cannot_be_set_too() {
    let swept = |set: &str, values: &str| {
        let plain = GOOD.split("[[sweep]]").next().unwrap();
        let text = format!("{plain}\n[[sweep]]\nset = \"{set}\"\nvalues = {values}\n");
        Document::parse(&text, "t.toml").unwrap_or_else(|error| panic!("{error}"))
    };
    for (sweep, values, path) in [
        ("duration", "[\"1 ms\", \"2 ms\"]", "duration"),
        ("vc.vc{i}.abr.nrm", "[8, 16]", "vc.vc2.abr.nrm"),
        ("link.sw1-sw2.length", "[\"1 km\", \"2 km\"]", "link.sw2-sw1.length"),
        ("switch.sw1.algorithm", "[{ type = \"erica\" }]", "switch.sw1.algorithm.interval"),
    ] {
        let error = swept(sweep, values).check_not_swept(path).unwrap_err();
        assert!(error.message().contains(&format!("a sweep of the scenario sets {sweep}")), "{error}");
        assert_eq!(error.key(), path);
    }
    for path in ["seed", "sweep.1.values", "vc.vc1.abr.crm"] {
        swept("duration", "[\"1 ms\", \"2 ms\"]").check_not_swept(path).unwrap();
    }
}

#[test]
fn quotes_around_a_text_are_tomls() {
    let mut document = Document::parse(GOOD, "t.toml").unwrap();
    for (value, name) in
        [("\"x y\"", "x y"), ("x y", "x y"), ("'x \"y\"'", "x \"y\""), ("7", "7"), ("\"7\"", "7")]
    {
        document.set("name", value).unwrap();
        assert_eq!(document.resolve().unwrap().name, name);
    }
}
