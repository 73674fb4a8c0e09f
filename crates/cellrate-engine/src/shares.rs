//! Shares: how much connections got of what they were due, as goodput, max-min fair shares, Jain's index and efficiency
//! of lines.

use cellrate_proto::units::BITS_PER_CELL;
use cellrate_proto::{CellRate, Time};
use cellrate_scenario::fair::{mean_max_min, sends_throughout};
use cellrate_scenario::{Category, FlowIndex, Scenario, Sender, Span};
use serde::Serialize;

use crate::declared::Row;

use crate::names::{flow_name, port_name};

/// Share of one direction of a connection with data.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "VC", many = "VCs", named = "{vc}")]
pub struct ShareSummary {
    /// Name of the connection; `name (back)` for the direction from the last host to the first.
    pub vc: String,
    /// "cbr", "vbr", "abr" or "ubr".
    pub category: &'static str,
    /// Goodput of applications: octets that TCP delivered, and without TCP 48 octets of each data cell
    /// delivered.
    #[row(unit = bps, adds = sum)]
    pub goodput_bps: f64,
    /// The throughput of data cells, 53 octets each, that is its max-min fair share: the mean of the fair rates at
    /// each instant to those that then send, at the rates that links then have; null for other categories,
    /// where MCRs ask for more than there is, and with more than 500 changes of who sends.
    #[row(unit = bps, adds = sum)]
    pub fair_share_bps: Option<f64>,
    /// Its throughput over that.
    #[row(unit = multiple, adds = least)]
    pub of_fair_share: Option<f64>,
}

/// How evenly the connections of one category with data were served.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "category", many = "categories", named = "{category}")]
pub struct FairnessSummary {
    /// "cbr", "vbr", "abr" or "ubr".
    pub category: &'static str,
    /// Directions with data.
    #[row(unit = plain, adds = sum)]
    pub vcs: u64,
    /// Jain's index of their throughputs, (sum x)^2 / (n sum x^2); null when nothing was delivered, and where some of
    /// them do not send all the time.
    #[row(unit = share, adds = least)]
    pub jain: Option<f64>,
    /// Jain's index of their throughputs over their fair shares, which are of the time in which each sends; null
    /// without those.
    #[row(unit = share, adds = least)]
    pub jain_of_fair_shares: Option<f64>,
    /// The least throughput over its fair share; null without those.
    #[row(unit = multiple, adds = least)]
    pub least_of_fair_share: Option<f64>,
}

/// How much of a line applications had of it.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "port", many = "ports", named = "{port}")]
pub struct EfficiencySummary {
    /// "sw1->sw2": the port of sw1 towards sw2.
    pub port: String,
    /// Goodput of all directions that go through it.
    #[row(unit = bps, adds = largest)]
    pub goodput_bps: f64,
    /// Goodput over the rate of the line.
    #[row(unit = share, adds = largest)]
    pub efficiency: f64,
}

/// Measured throughput of one direction with data.
#[derive(Clone, Copy, Debug)]
pub struct Got {
    /// The direction.
    pub flow: FlowIndex,
    /// Data cells delivered, 53 octets each [bit/s].
    pub throughput_bps: f64,
    /// Goodput of its applications [bit/s].
    pub goodput_bps: f64,
}

/// Rows of directions, of categories, and of ports, from what directions with data got in `span`.
///
/// A fair share is the mean over `span` of the rate that is fair at each instant among those that then send.
pub fn rows(
    scenario: &Scenario,
    got: &[Got],
    span: Span,
) -> (Vec<ShareSummary>, Vec<FairnessSummary>, Vec<EfficiencySummary>) {
    let fair = mean_max_min(scenario, span).unwrap_or_default();
    let own = of_leaves(scenario, got);
    let shares: Vec<ShareSummary> = own.iter().map(|got| share(scenario, got, &fair)).collect();
    let categories = [Category::Cbr, Category::Vbr, Category::Abr, Category::Gfr, Category::Ubr];
    let fairness = categories.into_iter().filter_map(|category| {
        let of = |got: &&Got| scenario.connection(got.flow.connection()).category == category;
        let throughputs: Vec<f64> = own.iter().filter(of).map(|got| got.throughput_bps).collect();
        let name = category.word();
        // Those that are due nothing, since they do not send in this time, have no share to be held to.
        let due = shares.iter().filter(|row| row.category == name && row.fair_share_bps != Some(0.0));
        let of_fair: Option<Vec<f64>> = due.map(|row| row.of_fair_share).collect();
        let all_send = own.iter().filter(of).all(|got| sends_throughout(scenario, got.flow, span));
        (!throughputs.is_empty()).then(|| FairnessSummary {
            category: name,
            vcs: throughputs.len() as u64,
            jain: if all_send { jain(&throughputs) } else { None },
            jain_of_fair_shares: of_fair.as_deref().and_then(jain),
            least_of_fair_share: of_fair.and_then(|shares| shares.into_iter().reduce(f64::min)),
        })
    });
    let fairness = fairness.collect();
    (shares, fairness, efficiencies(scenario, got))
}

/// Directions that send something of their own, and what they got: a tree as much as the least of its leaves.
fn of_leaves(scenario: &Scenario, got: &[Got]) -> Vec<Got> {
    let mut own: Vec<Got> = Vec::with_capacity(got.len());
    for leaf in got {
        match own.last_mut().filter(|_| scenario.connection(leaf.flow.connection()).branch.is_some()) {
            Some(tree) => {
                tree.throughput_bps = tree.throughput_bps.min(leaf.throughput_bps);
                tree.goodput_bps = tree.goodput_bps.min(leaf.goodput_bps);
            }
            None => own.push(*leaf),
        }
    }
    own
}

fn share(scenario: &Scenario, got: &Got, fair: &[(FlowIndex, CellRate)]) -> ShareSummary {
    let fair_share_bps = match &scenario.flow(got.flow).sender {
        Sender::Abr(abr) => in_order(fair, got.flow)
            .map(|rate| rate.as_cells_per_s() * BITS_PER_CELL as f64 * abr.parameters.data_share()),
        Sender::Peak(_) => None,
    };
    ShareSummary {
        vc: flow_name(scenario, got.flow),
        category: scenario.connection(got.flow.connection()).category.word(),
        goodput_bps: got.goodput_bps,
        fair_share_bps,
        of_fair_share: fair_share_bps.filter(|&share| share > 0.0).map(|share| got.throughput_bps / share),
    }
}

/// The fair rate of `flow`: rates are in the order of directions.
fn in_order(fair: &[(FlowIndex, CellRate)], flow: FlowIndex) -> Option<CellRate> {
    let place = fair.binary_search_by_key(&flow.index(), |(flow, _)| flow.index()).ok()?;
    fair.get(place).map(|(_, rate)| *rate)
}

/// The ports that directions with data go through, in the order of ports.
fn efficiencies(scenario: &Scenario, got: &[Got]) -> Vec<EfficiencySummary> {
    let mut sums = vec![None; scenario.ports().len()];
    for got in got {
        for step in scenario.steps(got.flow) {
            *sums[step.port().index()].get_or_insert(0.0) += got.goodput_bps;
        }
    }
    let row = |(port, sum): (_, Option<f64>)| {
        let goodput_bps = sum?;
        let link = scenario.link(cellrate_scenario::PortIndex::link(port));
        let start = Time::ZERO + scenario.measuring.warm_up;
        let end = Time::ZERO + scenario.duration;
        let rate = link.mean_rate_bps(cellrate_scenario::PortIndex::end(port), start, end);
        Some(EfficiencySummary {
            port: port_name(scenario, port),
            goodput_bps,
            efficiency: goodput_bps / rate,
        })
    };
    scenario.ports().zip(sums).filter_map(row).collect()
}

/// Jain's index: the square of the sum over the number times the sum of squares. `None` when all are zero.
fn jain(values: &[f64]) -> Option<f64> {
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::{ConnectionIndex, Document};

    #[test]
    fn rows_say_what_was_due_and_what_was_had() {
        // 1,000 cells/s for two ABR connections: 500 each, of which 31 in 32 are data.
        let text = "name = \"t\"\nduration = \"1 s\"\ndefaults.link = { rate = \"100000 cells/s\", length = \"1 km\" }\n\
             host = [{ name = \"h{i}\", count = 3 }]\nswitch = [{ name = \"s\" }]\n\
             link = [{ between = [\"h1\", \"s\"] }, { between = [\"h2\", \"s\"] }, { between = [\"s\", \"h3\"], rate = \"1000 cells/s\" }]\n\
             vc = [{ name = \"v1\", path = [\"h1\", \"s\", \"h3\"] }, { name = \"v2\", path = [\"h2\", \"s\", \"h3\"] }]";
        let scenario = Document::parse(text, "t").and_then(|document| document.resolve()).unwrap();
        let got = |connection, cells: f64| Got {
            flow: FlowIndex::of(ConnectionIndex(connection), false),
            throughput_bps: cells * 424.0,
            goodput_bps: cells * 384.0,
        };
        let span = Span { start: Time::ZERO, end: Time::ZERO + scenario.duration };
        let (shares, fairness, lines) = rows(&scenario, &[got(0, 300.0), got(1, 100.0)], span);
        let due = 500.0 * 424.0 * 31.0 / 32.0;
        assert_eq!(shares[0].fair_share_bps, Some(due));
        assert_eq!(shares[1].of_fair_share, Some(100.0 * 424.0 / due));
        // (300 + 100)^2 / (2 * (300^2 + 100^2)) = 0.8, whatever the scale.
        assert!((fairness[0].jain.unwrap() - 0.8).abs() < 1e-12 && fairness.len() == 1);
        assert!((fairness[0].jain_of_fair_shares.unwrap() - 0.8).abs() < 1e-12);
        assert_eq!(fairness[0].least_of_fair_share, shares[1].of_fair_share);
        let last = lines.last().unwrap();
        assert_eq!((last.port.as_str(), last.goodput_bps), ("s->h3", 400.0 * 384.0));
        assert!((last.efficiency - 400.0 * 384.0 / 424_000.0).abs() < 1e-12);
    }

    #[test]
    fn who_comes_and_goes_is_held_to_the_time_in_which_it_sends() {
        let text = |window: &str| {
            format!(
                "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"100000 cells/s\", length = \"1 km\" }}\n\
                 host = [{{ name = \"h{{i}}\", count = 3 }}]\nswitch = [{{ name = \"s\" }}]\n\
                 link = [{{ between = [\"h1\", \"s\"] }}, {{ between = [\"h2\", \"s\"] }}, \
                 {{ between = [\"s\", \"h3\"], rate = \"1000 cells/s\" }}]\n\
                 vc = [{{ name = \"v1\", path = [\"h1\", \"s\", \"h3\"] }}, \
                 {{ name = \"v2\", path = [\"h2\", \"s\", \"h3\"], traffic = {{ type = \"greedy\"{window} }} }}]"
            )
        };
        let rows_of = |window: &str, cells: [f64; 2]| {
            let scenario =
                Document::parse(&text(window), "t").and_then(|document| document.resolve()).unwrap();
            let span = Span { start: Time::ZERO, end: Time::ZERO + scenario.duration };
            let got = |connection: u32, cells: f64| Got {
                flow: FlowIndex::of(ConnectionIndex(connection), false),
                throughput_bps: cells * 424.0,
                goodput_bps: cells * 384.0,
            };
            rows(&scenario, &[got(0, cells[0]), got(1, cells[1])], span)
        };
        // v2 sends for a quarter of the time: v1 is due 750 + 125, v2 125.
        let (shares, fairness, _) = rows_of(", start = \"0 s\", end = \"250 ms\"", [875.0, 125.0]);
        assert_eq!(fairness[0].jain, None, "throughputs of different times are not held to each other");
        assert!((fairness[0].jain_of_fair_shares.unwrap() - 1.0).abs() < 1e-12);
        let due = shares[1].fair_share_bps.unwrap() * 32.0 / 31.0 / 424.0;
        assert!((due - 125.0).abs() < 1e-9, "{due}");
        // One that would send after the run is due nothing, and does not take the index away.
        let (shares, fairness, _) = rows_of(", start = \"2 s\"", [1000.0, 0.0]);
        assert_eq!((shares[1].of_fair_share, fairness[0].jain_of_fair_shares), (None, Some(1.0)));
    }

    #[test]
    fn nothing_delivered_is_no_index() {
        assert_eq!((jain(&[0.0, 0.0]), jain(&[5.0])), (None, Some(1.0)));
    }
}
