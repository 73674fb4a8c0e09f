//! Several links between the same two nodes: what they are called, and how paths, ports and probes name one of them.

use cellrate_scenario::{Document, Quantity, Scenario};

const HEAD: &str = r#"
name = "parallel"
duration = "10 ms"
defaults.link = { rate = "149.76 Mbps", length = "10 km" }
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "s", ports = { long = { efci = { high = "9 cells" } } } }, { name = "t" }]
[[link]]
between = ["a", "s"]
[[link]]
between = ["b", "t"]
[[link]]
between = ["s", "t"]
[[link]]
between = ["t", "s"]
length = "400 km"
[[link]]
name = "long"
between = ["s", "t"]
length = "900 km"
"#;

fn vc(name: &str, path: &str) -> String {
    format!("[[vc]]\nname = \"{name}\"\npath = [{path}]\n")
}

fn resolved(text: &str) -> Result<Scenario, String> {
    let document = Document::parse(text, "parallel.toml").map_err(|error| error.to_string())?;
    document.resolve().map_err(|error| error.to_string())
}

#[test]
fn a_path_takes_the_first_or_the_one_that_it_names() {
    let vcs = [
        vc("first", r#""a", "s", "t", "b""#),
        vc("second", r#""a", "s", "s-t#2", "t", "b""#),
        vc("named", r#""a", "s", "long", "t", "b""#),
        vc("back", r#""b", "t", "long", "s", "a""#),
        vc("other-order", r#""b", "t", "t-s#1", "s", "a""#),
    ];
    let scenario = resolved(&format!("{HEAD}{}", vcs.concat())).unwrap();
    let middle: Vec<u32> = scenario.connections.iter().map(|vc| vc.path[1].link.0).collect();
    assert_eq!(middle, [2, 3, 4, 4, 2]);
    let labels: Vec<Option<&str>> = scenario.links.iter().map(|link| link.label.as_deref()).collect();
    assert_eq!(labels, [None, None, None, Some("#2"), Some("long")]);
    // Round trips are those of the links that are taken.
    let delay =
        |i: usize| scenario.links[scenario.connections[i].path[1].link.0 as usize].delay.as_ps() / 1_000_000;
    assert_eq!([0, 1, 2].map(delay), [50, 2_000, 4_500]);
    // What is written for a link's name is written for its port alone.
    let marks = |link: usize, end: usize| scenario.links[link].ports[end].control.efci.is_some();
    assert_eq!([marks(2, 0), marks(3, 1), marks(4, 0), marks(4, 1)], [false, false, true, false]);
}

#[test]
fn probes_and_settings_name_one_of_them_too() {
    let probe = |of: &str| format!("[[probe]]\nrecord = [\"queue\"]\nof = [\"{of}\"]\nevery = \"1 ms\"\n");
    let ports = |of: &str| -> Vec<u32> {
        let scenario = resolved(&format!("{HEAD}{}", probe(of))).unwrap();
        let port = |quantity: &Quantity| match quantity {
            Quantity::Port { port, .. } => port.0,
            other => panic!("{other:?}"),
        };
        scenario.probes.iter().map(|probe| port(&probe.quantity)).collect()
    };
    assert_eq!(ports("s->t"), [4], "that of the first is called so");
    assert_eq!(ports("s->t (long)"), [8]);
    assert_eq!(ports("s->t (#2)"), [7]);
    let mut document = Document::parse(HEAD, "parallel.toml").unwrap();
    for (path, value) in
        [("link.long.length", "1 km"), ("link.s-t#2.length", "2 km"), ("link.t-s#1.length", "3 km")]
    {
        document.set(path, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let delays: Vec<u64> =
        document.resolve().unwrap().links[2..].iter().map(|link| link.delay.as_ps() / 1_000_000).collect();
    assert_eq!(delays, [15, 10, 5]);
}

#[test]
fn all_of_them_may_have_names() {
    let named = HEAD.replacen("between = [\"s\", \"t\"]", "name = \"short\"\nbetween = [\"s\", \"t\"]", 1);
    let probe = "[[probe]]\nrecord = [\"queue\"]\nof = [\"s->t\"]\nevery = \"1 ms\"\n";
    let scenario = resolved(&format!("{named}{probe}")).unwrap();
    assert_eq!(scenario.links[2].label.as_deref(), Some("short"));
    assert_eq!(scenario.probes.len(), 3, "none is called s->t alone: all are meant");
    let group = HEAD.replace("name = \"long\"\n", "name = \"l{i}\"\ncount = 3\n").replace("long = ", "l2 = ");
    let scenario = resolved(&format!("{group}{}", vc("v", r#""a", "s", "l3", "t", "b""#))).unwrap();
    assert_eq!((scenario.links.len(), scenario.connections[0].path[1].link.0), (7, 6));
}

#[test]
fn a_link_that_does_not_fit_into_a_path_is_told_with_what_there_is() {
    for (path, message) in [
        (r#""long", "a", "s", "t", "b""#, "the link \"long\" does not stand between two nodes"),
        (r#""a", "long", "s", "t", "b""#, "the link \"long\" does not lead from \"a\" to \"s\""),
        (r#""a", "s", "long", "long", "t", "b""#, "the link \"long\" does not stand between two nodes"),
        (r#""a", "s", "t", "b", "long""#, "the path ends with the link \"long\""),
        (r#""a", "s", "s-t#9", "t", "b""#, "there is no host or switch \"s-t#9\""),
    ] {
        let error = resolved(&format!("{HEAD}{}", vc("v", path))).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    for name in ["a", "long"] {
        let twice = format!("{HEAD}[[link]]\nname = \"{name}\"\nbetween = [\"s\", \"t\"]\n");
        let error = resolved(&twice).unwrap_err();
        assert!(error.contains(&format!("\"{name}\". Give each a name of its own")), "{error}");
    }
}
