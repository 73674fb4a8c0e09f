//! The workloads, as scenario files.

use std::fmt::Write;

use crate::networks::Text;

/// A workload: what it is called, what it is, and how long it runs by default.
pub struct Workload {
    /// "W1" ...
    pub name: &'static str,
    /// A few words.
    pub what: &'static str,
    /// Network time of a full run \[ms\].
    pub full_ms: u64,
    /// Network time of a run under the instruction counter \[ms\].
    pub counted_ms: u64,
    /// The rest of the file.
    pub text: Text,
}

/// No two have one name.
impl PartialEq for Workload {
    fn eq(&self, other: &Workload) -> bool {
        self.name == other.name
    }
}

/// The workloads of the table, in its order.
pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "W1",
        what: "15 greedy ABR sources, ERICA, 5 ms links",
        full_ms: 10_000,
        counted_ms: 400,
        text: Text::Made(|| greedy_15("5 ms")),
    },
    Workload {
        name: "W2",
        what: "W1 with 10 us access links",
        full_ms: 10_000,
        counted_ms: 400,
        text: Text::Made(|| greedy_15("10 us")),
    },
    Workload {
        name: "W3",
        what: "parking lot: 8 switches, 22 VCs, 1 ms links",
        full_ms: 10_000,
        counted_ms: 200,
        text: Text::Made(|| parking_lot(8)),
    },
    Workload {
        name: "W4",
        what: "15 TCP transfers, MSS 512, under 9 video programs, ERICA+",
        full_ms: 10_000,
        counted_ms: 400,
        text: Text::Made(tcp_under_video),
    },
    Workload {
        name: "W5",
        what: "10,000 VCs, 100 switches, mixed rates",
        full_ms: 100,
        counted_ms: 25,
        text: Text::Made(|| mixed(100, 100)),
    },
    Workload {
        name: "W6",
        what: "W1 with ACR, queue and utilization every 1 ms",
        full_ms: 10_000,
        counted_ms: 400,
        text: Text::Made(|| greedy_15("5 ms") + SERIES),
    },
];

/// Workloads that are run only if they are asked for.
pub const ON_REQUEST: &[Workload] = &[
    Workload {
        name: "W5x10",
        what: "100,000 VCs, 1000 switches, mixed rates",
        full_ms: 100,
        counted_ms: 25,
        text: Text::Made(|| mixed(1000, 100)),
    },
    Workload {
        name: "W5shared",
        what: "9900 VCs, 100 switches, mixed rates, ten VCs per host",
        full_ms: 100,
        counted_ms: 12,
        text: Text::Made(|| shared(100, 10, 10)),
    },
];

impl Workload {
    /// The scenario file, for `ms` of network time.
    pub fn scenario(&self, ms: u64) -> String {
        format!(
            "name = \"{}\"\npurpose = \"{}\"\nduration = \"{ms} ms\"\n{}",
            self.name,
            self.what,
            self.text.text()
        )
    }
}

const SERIES: &str = r#"
[[probe]]
record = ["acr", "queue", "utilization"]
every = "1 ms"
"#;

/// Networks of other sizes and durations than the workloads, by name.
pub fn training() -> [(&'static str, String); 4] {
    let head = |name: &str, ms: u64| {
        format!("name = \"{name}\"\npurpose = \"What is frequent.\"\nduration = \"{ms} ms\"\n")
    };
    [
        ("large", head("large", 60) + &mixed(20, 40)),
        ("crowded", head("crowded", 60) + &mixed(10, 80)),
        ("shared", head("shared", 60) + &shared(12, 6, 5)),
        ("recorded", head("recorded", 1_500) + &parking_lot(5) + SERIES),
    ]
}

fn greedy_15(access: &str) -> String {
    format!(
        r#"
[defaults.link]
rate = "149.76 Mbps"
delay = "{access}"
[defaults.switch]
algorithm = {{ type = "erica", target_utilization = "90 %", interval = "5 ms" }}
[[host]]
name = "s{{i}}"
count = 15
[[host]]
name = "d{{i}}"
count = 15
[[switch]]
name = "sw{{i}}"
count = 2
[[link]]
between = ["sw1", "sw2"]
delay = "5 ms"
[[link]]
between = ["s{{i}}", "sw1"]
count = 15
[[link]]
between = ["sw2", "d{{i}}"]
count = 15
[[vc]]
name = "vc{{i}}"
count = 15
path = ["s{{i}}", "sw1", "sw2", "d{{i}}"]
"#
    )
}

/// Row 1 of table 1 of paper tcp-lrd-vbr, without its name and duration.
fn tcp_under_video() -> String {
    let text = include_str!("../../papers/tcp-lrd-vbr/scenarios/terrestrial.toml");
    let defaults = text.find("[defaults]").unwrap_or_default();
    text[defaults..].to_owned()
}

/// A chain of switches; one VC from end to end, and three more that cross each link between switches.
fn parking_lot(switches: usize) -> String {
    let links = switches - 1;
    let mut text = format!(
        r#"
[defaults.link]
rate = "149.76 Mbps"
delay = "1 ms"
[defaults.switch]
algorithm = {{ type = "erica", target_utilization = "90 %", interval = "5 ms" }}
[[switch]]
name = "sw{{i}}"
count = {switches}
[[link]]
between = ["sw{{i}}", "sw{{i+1}}"]
count = {links}
[[host]]
name = "long-s"
[[host]]
name = "long-d"
[[link]]
between = ["long-s", "sw1"]
[[link]]
between = ["sw{switches}", "long-d"]
"#
    );
    let path: Vec<String> = (1..=switches).map(|i| format!("\"sw{i}\"")).collect();
    for k in 1..=3 {
        crossing(&mut text, k, links, "");
    }
    let _ = writeln!(text, "[[vc]]\nname = \"long\"\npath = [\"long-s\", {}, \"long-d\"]", path.join(", "));
    text
}

/// VC number `k` over each link of a chain, with hosts of its own.
fn crossing(text: &mut String, k: usize, links: usize, link_keys: &str) {
    hosts_beside(text, k, links, link_keys);
    vc_beside(text, &k.to_string(), k, links);
}

/// Host number `k` before and behind each link of a chain.
fn hosts_beside(text: &mut String, k: usize, links: usize, link_keys: &str) {
    let _ = write!(
        text,
        r#"
[[host]]
name = "s{k}-{{i}}"
count = {links}
[[host]]
name = "d{k}-{{i}}"
count = {links}
[[link]]
between = ["s{k}-{{i}}", "sw{{i}}"]
count = {links}
{link_keys}
[[link]]
between = ["sw{{i+1}}", "d{k}-{{i}}"]
count = {links}
{link_keys}
"#
    );
}

/// A VC from host number `k` to host number `k` over each link.
fn vc_beside(text: &mut String, name: &str, k: usize, links: usize) {
    let _ = write!(
        text,
        r#"
[[vc]]
name = "vc{name}-{{i}}"
count = {links}
path = ["s{k}-{{i}}", "sw{{i}}", "sw{{i+1}}", "d{k}-{{i}}"]
"#
    );
}

/// A chain of switches with `per_link` VCs over each link and as many over the first three, on access links of several
/// rates and lengths.
fn mixed(switches: usize, per_link: usize) -> String {
    let links = switches - 1;
    let mut text = large_chain(switches);
    let _ = write!(
        text,
        r#"
[[host]]
name = "xs{{i}}"
count = {per_link}
[[host]]
name = "xd{{i}}"
count = {per_link}
[[link]]
between = ["xs{{i}}", "sw1"]
count = {per_link}
[[link]]
between = ["sw4", "xd{{i}}"]
count = {per_link}
[[vc]]
name = "x{{i}}"
count = {per_link}
path = ["xs{{i}}", "sw1", "sw2", "sw3", "sw4", "xd{{i}}"]
"#
    );
    for k in 1..=per_link {
        crossing(&mut text, k, links, &access_link(k, "25.6 Mbps"));
    }
    text
}

/// Networks in which hosts are shared: `hosts` before and behind each link have `per_host` VCs each, and nothing goes
/// over three links. Access links take what these are granted.
fn shared(switches: usize, hosts: usize, per_host: usize) -> String {
    let links = switches - 1;
    let mut text = large_chain(switches);
    for k in 1..=hosts {
        hosts_beside(&mut text, k, links, &access_link(k, "77.76 Mbps"));
        (1..=per_host).for_each(|vc| vc_beside(&mut text, &format!("{k}-{vc}"), k, links));
    }
    text
}

/// A chain of switches on fast lines.
fn large_chain(switches: usize) -> String {
    let links = switches - 1;
    format!(
        r#"
[defaults.link]
rate = "622.08 Mbps"
delay = "1 ms"
[defaults.switch]
algorithm = {{ type = "erica", target_utilization = "90 %", interval = "5 ms" }}
[defaults.abr]
icr = "1 Mbps"
[[switch]]
name = "sw{{i}}"
count = {switches}
[[link]]
between = ["sw{{i}}", "sw{{i+1}}"]
count = {links}
"#
    )
}

/// Rates and lengths by turns.
fn access_link(k: usize, slowest: &str) -> String {
    let access = [("155.52 Mbps", "10 us"), ("149.76 Mbps", "200 us"), (slowest, "1 ms")];
    let (rate, delay) = access[k % access.len()];
    format!("rate = \"{rate}\"\ndelay = \"{delay}\"")
}
