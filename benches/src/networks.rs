//! Networks of the benches as texts: made by a function, or W1's with something changed.

/// How the text of a scenario is made, without its name and duration.
pub enum Text {
    /// By a function.
    Made(fn() -> String),
    /// By a description of what differs from W1's network.
    Changed(Network),
}

impl Text {
    /// The text.
    pub fn text(&self) -> String {
        match self {
            Text::Made(make) => make(),
            Text::Changed(network) => network.text(),
        }
    }
}

/// W1's network and what can be changed about it; parts of a file are given as its lines.
pub struct Network {
    /// Number of sources, VCs and, unless they share one, hosts at each side.
    pub sources: usize,
    /// Number of switches in a row.
    pub switches: usize,
    /// Rate of every link that has none of its own.
    pub rate: &'static str,
    /// Delay of every link.
    pub delay: &'static str,
    /// Lines of the access links of sources; [`RATES`] stands for as many rates as sources.
    pub access: &'static str,
    /// Lines of the links between switches.
    pub trunk: &'static str,
    /// Lines of every switch.
    pub switch: &'static str,
    /// Lines of ABR parameters.
    pub abr: &'static str,
    /// Lines of every VC; [`CBR`] stands for as many rates as sources.
    pub vc: &'static str,
    /// Whether all VCs have one source host and one destination host.
    pub one_host: bool,
    /// Further lines of the scenario, behind all others.
    pub more: &'static str,
}

/// Lines of a switch with ERICA.
pub const ERICA: &str = r#"algorithm = { type = "erica", target_utilization = "90 %", interval = "5 ms" }"#;

/// Stands for as many access rates as sources.
pub const RATES: &str = "{rates}";

/// Stands for as many constant rates as sources.
pub const CBR: &str = "{cbr}";

/// W1's network.
pub const BASE_NETWORK: Network = Network {
    sources: 15,
    switches: 2,
    rate: "149.76 Mbps",
    delay: "5 ms",
    access: "",
    trunk: "",
    switch: ERICA,
    abr: "",
    vc: "",
    one_host: false,
    more: "",
};

impl Network {
    /// The text of a scenario with it.
    fn text(&self) -> String {
        let &Network { sources, switches, rate, delay, switch, abr, trunk, one_host, more, .. } = self;
        let (access, vc) = match (self.access, self.vc) {
            (RATES, vc) => (self.access_rates(), vc.to_owned()),
            (access, CBR) => (access.to_owned(), self.constant_rates()),
            (access, vc) => (access.to_owned(), vc.to_owned()),
        };
        let (number, hosts) = if one_host { ("", 1) } else { ("{i}", sources) };
        let path: Vec<String> = (1..=switches).map(|i| format!("\"sw{i}\"")).collect();
        let (path, links) = (path.join(", "), switches - 1);
        format!(
            r#"
[defaults.link]
rate = "{rate}"
delay = "{delay}"
[defaults.switch]
{switch}
[defaults.abr]
{abr}
[[host]]
name = "s{number}"
count = {hosts}
[[host]]
name = "d{number}"
count = {hosts}
[[switch]]
name = "sw{{i}}"
count = {switches}
[[link]]
between = ["sw{{i}}", "sw{{i+1}}"]
count = {links}
{trunk}
[[link]]
between = ["s{number}", "sw1"]
count = {hosts}
{access}
[[link]]
between = ["sw{switches}", "d{number}"]
count = {hosts}
[[vc]]
name = "vc{{i}}"
count = {sources}
path = ["s{number}", {path}, "d{number}"]
{vc}
{more}
"#
        )
    }

    /// Rates from 0.8 to 1.46 times what each source could have of the line.
    fn access_rates(&self) -> String {
        let share = self.rate_bps() / self.sources as f64;
        let of = |i| format!("\"{:.0} bps\"", share * (0.8 + 0.66 * i as f64 / self.sources as f64));
        format!("rate = [{}]", (0..self.sources).map(of).collect::<Vec<_>>().join(", "))
    }

    /// Constant rates within 7 % of each other, 90 % of the line together.
    fn constant_rates(&self) -> String {
        let share = 0.9 * self.rate_bps() / 424.0 / self.sources as f64;
        let spread = |i| 0.07 * ((i as f64 + 0.5) / self.sources as f64 - 0.5);
        let of = |i| format!("\"{:.3} cells/s\"", share * (1.0 + spread(i)));
        let rates = (0..self.sources).map(of).collect::<Vec<_>>().join(", ");
        format!("category = \"cbr\"\ntraffic = {{ type = \"constant\", rate = [{rates}] }}")
    }

    fn rate_bps(&self) -> f64 {
        let number = self.rate.split(' ').next().and_then(|number| number.parse::<f64>().ok());
        number.expect("a number of Mbps") * 1e6
    }
}
