//! Large files: what many entries, long lists and long chains take grows with their size and no faster. A check that
//! compares each with each would take minutes here.

use std::fmt::Write as _;

use cellrate_scenario::{Document, Scenario};

const HEAD: &str = r#"
name = "large"
duration = "1 us"
defaults.link = { rate = "149.76 Mbps", length = "10 km" }
switch = [{ name = "sw" }]
link = [{ between = ["s", "sw"] }, { between = ["sw", "d"] }]
"#;
const HOSTS: &str = "[[host]]\nname = \"s\"\n[[host]]\nname = \"d\"\n";
const VC: &str = "[[vc]]\nname = \"v\"\npath = [\"s\", \"sw\", \"d\"]\n";

fn document(text: &str) -> Document {
    Document::parse(text, "large.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn resolved(text: &str) -> Scenario {
    document(text).resolve().unwrap_or_else(|error| panic!("{error}"))
}

fn repeated(count: usize, mut one: impl FnMut(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, i| {
        text.push_str(&one(i));
        text
    })
}

#[test]
fn hundred_thousand_connections_written_out() {
    let vcs = repeated(100_000, |i| format!("[[vc]]\nname = \"v{i}\"\npath = [\"s\", \"sw\", \"d\"]\n"));
    assert_eq!(resolved(&[HEAD, HOSTS, &vcs].concat()).connections.len(), 100_000);
}

#[test]
fn many_hosts_links_and_ports_of_their_own() {
    let hosts = repeated(30_000, |i| format!("[[host]]\nname = \"h{i}\"\n"));
    let links = repeated(30_000, |i| format!("[[link]]\nbetween = [\"h{i}\", \"sw\"]\n"));
    let head = HEAD.replace("switch = [{ name = \"sw\" }]\n", "").replace("link = [", "# link = [");
    let mut ports = String::new();
    for i in 0..30_000 {
        let _ = write!(ports, "h{i} = {{ efci = {{ high = \"{} cells\" }} }}, ", 1 + i % 7);
    }
    let switch = format!("[[switch]]\nname = \"sw\"\nports = {{ {} }}\n", ports.trim_end_matches(", "));
    let scenario = resolved(&format!("{head}{hosts}{switch}{links}"));
    assert_eq!(scenario.links.len(), 30_000);
    assert!(scenario.links.iter().all(|link| link.ports[1].control.efci.is_some()));
}

#[test]
fn a_long_chain_of_likeness() {
    let like = |i: usize| match i {
        0 => VC.replace("\"v\"", "\"v0\""),
        _ => format!("[[vc]]\nname = \"v{i}\"\nlike = \"v{}\"\n", i - 1),
    };
    let forward = [HEAD, HOSTS, &repeated(20_000, like)].concat();
    assert_eq!(resolved(&forward).connections[19_999].path.len(), 2);
    // The other way round: the first is like the second, and so on.
    let like = |i: usize| match i {
        19_999 => VC.replace("\"v\"", "\"v19999\""),
        _ => format!("[[vc]]\nname = \"v{i}\"\nlike = \"v{}\"\n", i + 1),
    };
    let backward = [HEAD, HOSTS, &repeated(20_000, like)].concat();
    assert_eq!(resolved(&backward).connections[0].path.len(), 2);
    let circle = backward.replace("name = \"v19999\"", "name = \"v19999\"\nlike = \"v0\"");
    let error = document(&circle).resolve().unwrap_err().to_string();
    assert!(error.contains("like each other in a circle: v0 -> v1 -> v2"), "{error}");
    assert!(error.len() < 400, "{error}");
}

#[test]
fn a_group_with_a_value_for_each_member_and_long_lists_for_all() {
    let values: Vec<String> = (0..65_536).map(|i| format!("\"{} Mbps\"", 1 + i % 9)).collect();
    let group = VC.replace("\"v\"", "\"v{i}\"");
    let each = format!("{HEAD}{HOSTS}{group}count = 65536\nabr = {{ pcr = [{}] }}\n", values.join(", "));
    let scenario = resolved(&each);
    assert!(scenario.connections[8].forward.sender.pcr() > scenario.connections[9].forward.sender.pcr());
}

#[test]
fn a_probe_of_each_of_many_connections() {
    let group = VC.replace("\"v\"", "\"v{i}\"");
    let all = "[[probe]]\nrecord = [\"acr\", \"received\", \"forward_rm\"]\nevery = \"change\"\n";
    let scenario = resolved(&format!("{HEAD}{HOSTS}{group}count = 65536\n{all}"));
    assert_eq!(scenario.probes.len(), 3 * 65_536);
    let named = repeated(20_000, |i| {
        format!("[[probe]]\nrecord = [\"acr\"]\nof = [\"v{}\"]\nevery = \"change\"\n", i + 1)
    });
    let scenario = resolved(&format!("{HEAD}{HOSTS}{group}count = 20000\n{named}"));
    assert_eq!(scenario.probes.len(), 20_000);
}

#[test]
fn connections_that_are_admitted_one_by_one() {
    let group = VC.replace("\"v\"", "\"v{i}\"");
    let hosts =
        "[[host]]\nname = \"h{i}\"\ncount = 20000\n[[link]]\nbetween = [\"h{i}\", \"sw\"]\ncount = 20000\n";
    let head = HEAD.replace("name = \"large\"", "name = \"large\"\nadmission = true");
    let links = "[[link]]\nbetween = [\"s\", \"sw\"]\n[[link]]\nbetween = [\"sw\", \"d\"]\n";
    let head = head.replace("link = [", "# link = [").replace("switch = [{ name = \"sw\" }]", "");
    let scenario =
        resolved(&format!("{head}{HOSTS}[[switch]]\nname = \"sw\"\n{links}{hosts}{group}count = 20000\n"));
    assert_eq!(scenario.connections.len(), 20_000);
}

#[test]
fn ten_thousand_points_of_a_large_document() {
    let purpose = format!("purpose = \"{}\"\n", "A".repeat(1_000_000));
    let seeds: Vec<String> = (0..100).map(|seed| seed.to_string()).collect();
    let rates: Vec<String> = (1..=100).map(|rate| format!("\"{rate} Mbps\"")).collect();
    let group = VC.replace("\"v\"", "\"v{i}\"");
    let many = repeated(200, |i| format!("[[vc]]\nname = \"w{i}\"\npath = [\"s\", \"sw\", \"d\"]\n"));
    let text = format!(
        "{purpose}{HEAD}{HOSTS}{group}count = 3\n{many}[[sweep]]\nset = \"seed\"\nvalues = [{}]\n\
         [[sweep]]\nset = \"vc.v2.abr.pcr\"\nvalues = [{}]\n",
        seeds.join(", "),
        rates.join(", ")
    );
    let points = document(&text).points().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(points.len(), 10_000);
    let last = points[9_999].document.resolve().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((last.seed, last.connections.len()), (99, 203));
    let pcr = |i: usize| last.connections[i].forward.sender.pcr().to_bit_rate().as_bps();
    assert!(pcr(1) <= 100_000_000 && pcr(0) > 100_000_000, "{} {}", pcr(0), pcr(1));
    assert!(points[0].document.hash() != points[1].document.hash());
}
