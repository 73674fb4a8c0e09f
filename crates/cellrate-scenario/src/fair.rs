//! Weighted max-min fair rates with minimum cell rates: what any explicit-rate algorithm is held to.
//!
//! Every flow gets its MCR and, above it, weight times a level of its own. By progressive filling the level of all
//! flows rises together until a port is full; its flows keep their level, the others go on. The last level that a flow
//! reaches is its normalised excess, (rate - MCR) / weight, and no other flow at its bottleneck has a larger one.
//!
//! By the other [criterion](Criterion) a flow stays at its MCR until the level has reached that, and rises with the
//! others from there on.
//!
//! Where an algorithm leaves the share of one connection more unused, a phantom of that weight fills the port with the
//! flows.

mod filling;

use std::collections::BTreeMap;
use std::{fmt, iter};

use cellrate_proto::switch::{Fairness, Others, Weighted};
use cellrate_proto::{BitRate, CellRate, Time};

use self::filling::{Answers, Flow, answered, fill_beside_answers};
use crate::model::{Category, Channel, FlowIndex, Port, PortIndex, Scenario, Sender, Span, Step, Traffic};

/// Max-min fair share of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FairShare {
    /// The flow.
    pub flow: FlowIndex,
    /// The rate of the flow, its forward RM cells included [cells/s].
    pub rate: CellRate,
    /// Bottleneck that keeps it from more.
    pub bottleneck: Bottleneck,
}

/// Limit that keeps a flow from a higher rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// An output port, which is full.
    Port(PortIndex),
    /// An output port that holds the flow to a rate, whatever the line is used for.
    Shaping(PortIndex),
    /// The flow's own PCR.
    PeakCellRate,
}

/// The share of a flow with an MCR beside the others (TM 4.0, appendix I.3, has both as examples).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// Its MCR, and a share by weight of what all MCRs leave.
    #[default]
    McrPlusShare,
    /// The larger of its MCR and its share by weight: generalized max-min (Y. Hou, H. Tzeng, S. Panwar, INFOCOM 1998),
    /// as sources have it that are all told the same rate and send at no less than MCR.
    Gmm,
}

/// The fair rates that are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Asked {
    /// Share of each line that is handed out [above 0 to 1]; `None` for what the algorithm of its port hands out.
    pub utilization: Option<f64>,
    /// The meaning of MCRs.
    pub criterion: Criterion,
}

impl From<Option<f64>> for Asked {
    fn from(utilization: Option<f64>) -> Asked {
        Asked { utilization, ..Asked::default() }
    }
}

/// A port that cannot carry the MCRs that were promised.
#[derive(Clone, Debug, PartialEq)]
pub struct Oversubscribed {
    /// The port, as `from->to`.
    pub port: String,
    /// Sum of the MCRs of the flows through it [cells/s].
    pub promised: CellRate,
    /// Capacity that the port has for ABR [cells/s].
    pub capacity: CellRate,
}

impl fmt::Display for Oversubscribed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Oversubscribed { port, .. } = self;
        let to_three_decimals = |rate: CellRate| (rate.as_cells_per_s() * 1000.0).round() / 1000.0;
        let (promised, capacity) = (to_three_decimals(self.promised), to_three_decimals(self.capacity));
        write!(
            f,
            "port {port}: the MCRs of its connections sum to {promised} cells/s, and it has {capacity} cells/s for ABR"
        )
    }
}

impl std::error::Error for Oversubscribed {}

/// The fair rates of all ABR flows with traffic, each taken as greedy up to its PCR: forward flows in the order of the
/// connections, each followed by its backward flow if that has traffic. A tree is one flow, through the ports on all
/// its ways.
///
/// A port has `utilization` of its line for ABR, or without it what its algorithm [hands
/// out](crate::Port::target_utilization), of which its [phantom](crate::Port::phantom_weight) has a share. What ABR has
/// of that is what [other categories](Others) leave it: by strict priority, what is behind the CBR and VBR traffic of
/// constant rate, whenever that is sent, and the MCRs of GFR and UBR; with weights for categories its part, and what
/// the others do not ask for of theirs. Less goes off for what comes back of flows the other way: a backward RM
/// cell for every Nrm cells of each, and the forward RM cells among these. Those of a connection with data both
/// ways are among the cells of its other direction, whose rate has them in it. Left out of account are guaranteed
/// traffic of varying rate and connections that carry flows or calls of a [demand](crate::Demand); GFR and UBR of
/// varying rate take what they get. A link whose rate changes has the one of the beginning. MCRs are kept where
/// they fit on the line, if they are more than what is handed out of it. A flow that a port holds to a rate has
/// what it may be [told of](crate::Port::told_of).
///
/// # Errors
/// [`Oversubscribed`] when the MCRs through a port exceed what it has.
pub fn max_min(scenario: &Scenario, asked: impl Into<Asked>) -> Result<Vec<FairShare>, Oversubscribed> {
    filled(scenario, asked.into(), Time::ZERO, &|flow| Demand::of(scenario, flow))
}

/// A direction of CBR or VBR, which goes before ABR, as fair rates take it into account.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Before {
    /// The direction.
    pub flow: FlowIndex,
    /// Rate that fair rates take off, whenever it is sent; none where its rate varies, which they leave out.
    pub counted: Option<CellRate>,
    /// Mean of a rate that varies, where that is known.
    pub mean: Option<CellRate>,
}

/// The CBR and VBR directions with traffic, which have the first part of what [`max_min`] hands out, or would.
pub fn before_abr(scenario: &Scenario) -> Vec<Before> {
    let guaranteed = |flow: &FlowIndex| {
        let category = scenario.connection(flow.connection()).category;
        matches!(category, Category::Cbr | Category::Vbr)
            && !matches!(scenario.flow(*flow).sender, Sender::Abr(_))
    };
    let taken = |flow| {
        let traffic = scenario.flow(flow).traffic.as_ref()?;
        let counted = match Demand::of(scenario, flow) {
            Some(Demand::Guaranteed(rate)) => Some(CellRate::new(rate)),
            _ => None,
        };
        let mean = traffic.kind().mean_rate().filter(|_| counted.is_none());
        Some(Before { flow, counted, mean })
    };
    scenario.flows().filter(guaranteed).filter_map(taken).collect()
}

/// Most changes of who sends for which [`max_min_over_time`] gives rates.
pub const MOST_CHANGES: usize = 500;

/// Fair rates from each instant on at which it changes who sends, of those flows that then send: the first entry is for
/// the beginning.
///
/// Greedy sources send in their windows, sources with a limit from the first one on that is above zero, and all others
/// from their start to their end. What leads over a link that is down or has stopped does not send, and a link has the
/// rate that is then in force. Otherwise as [`max_min`]. With more than [`MOST_CHANGES`] changes there is no entry.
///
/// # Errors
/// As [`max_min`], of any of the instants.
pub fn max_min_over_time(
    scenario: &Scenario,
    asked: impl Into<Asked>,
) -> Result<Vec<(Time, Vec<FairShare>)>, Oversubscribed> {
    let asked = asked.into();
    let end = Time::ZERO + scenario.duration;
    let mut changes = vec![Time::ZERO];
    for flow in scenario.flows() {
        // What UBR and GFR send has no part in the shares of others.
        let category = scenario.connection(flow.connection()).category;
        let counts = matches!(category, Category::Cbr | Category::Vbr | Category::Abr);
        if let Some(traffic) = scenario.flow(flow).traffic.as_ref().filter(|_| counts) {
            changes.extend(traffic.kind().changes());
        }
    }
    for link in &scenario.links {
        changes.extend(link.line.outages.iter().flat_map(|span| [span.start, span.end]));
        if link.changes_rate() {
            changes.extend(link.changes.iter().map(|step| step.at));
        }
    }
    changes.retain(|&at| at < end);
    changes.sort_unstable();
    changes.dedup();
    if changes.len() > MOST_CHANGES {
        return Ok(Vec::new());
    }
    let at_each = changes.into_iter().map(|at| {
        let demand = |flow: FlowIndex| {
            let is_down = |step: Step| {
                let link = scenario.link(step.link);
                link.rate_at(step.end, at) == BitRate::default()
                    || link.line.outages.iter().any(|span| span.start <= at && at < span.end)
            };
            let cut = steps_of(scenario, flow).any(is_down);
            (!cut).then(|| Demand::at(scenario, flow, at)).flatten()
        };
        Ok((at, filled(scenario, asked, at, &demand)?))
    });
    at_each.collect()
}

/// The mean of [`max_min_over_time`] over `span`, in which a flow has a rate of zero while it does not send: in the
/// order of directions, those of all ABR flows; none with more than [`MOST_CHANGES`] changes.
///
/// # Errors
/// As [`max_min`], of any of the instants.
pub fn mean_max_min(scenario: &Scenario, span: Span) -> Result<Vec<(FlowIndex, CellRate)>, Oversubscribed> {
    let entries = max_min_over_time(scenario, None)?;
    let whole = span.end.since(span.start).as_secs_f64();
    let is_abr = |flow: &FlowIndex| matches!(Demand::of(scenario, *flow), Some(Demand::Abr { .. }));
    let flows = scenario.flows().filter(|flow| !entries.is_empty() && is_abr(flow));
    let mut means: BTreeMap<usize, (FlowIndex, f64)> =
        flows.map(|flow| (flow.index(), (flow, 0.0))).collect();
    for (place, (from, shares)) in entries.iter().enumerate() {
        let until = entries.get(place + 1).map_or(span.end, |(next, _)| *next);
        let (from, until) = ((*from).max(span.start), until.min(span.end));
        let part = if until > from { until.since(from).as_secs_f64() / whole } else { 0.0 };
        for share in shares {
            let (_, mean) = means.entry(share.flow.index()).or_insert((share.flow, 0.0));
            *mean += part * share.rate.as_cells_per_s();
        }
    }
    Ok(means.into_values().map(|(flow, mean)| (flow, CellRate::new(mean))).collect())
}

/// Whether a flow has data at any instant of `span`, as far as that is known beforehand.
pub fn sends_throughout(scenario: &Scenario, flow: FlowIndex, span: Span) -> bool {
    let Some(traffic) = &scenario.flow(flow).traffic else { return true };
    let changes = traffic.kind().changes().into_iter().filter(|&at| span.start < at && at < span.end);
    iter::once(span.start).chain(changes).all(|at| traffic.kind().sends_at(at))
}

/// The instant from which on a flow has no new data, as far as that is known beforehand; none of one that has some to
/// the end of the run.
pub fn ends_at(scenario: &Scenario, flow: FlowIndex) -> Option<Time> {
    let kind = scenario.flow(flow).traffic.as_ref()?.kind();
    let last = kind.changes().into_iter().max()?;
    (last < Time::ZERO + scenario.duration && !kind.sends_at(last)).then_some(last)
}

/// The fair rates of the channels of a virtual path whose data has `rate` [cells/s]: by their weights, but none more
/// than the one rate that its traffic asks for. With `at` those alone that then send.
pub fn of_channels(channels: &[Channel], rate: CellRate, at: Option<Time>) -> Vec<CellRate> {
    let asked = |channel: &Channel| {
        let traffic = channel.traffic.kind();
        match at.is_some_and(|at| !traffic.sends_at(at)) {
            true => 0.0,
            false => traffic.rate(rate).unwrap_or(rate).as_cells_per_s(),
        }
    };
    // Those that ask for least for their weight are served first; each of the others could then have as much for its
    // weight, or more.
    let mut order: Vec<(usize, f64, f64)> = channels
        .iter()
        .enumerate()
        .map(|(place, channel)| (place, asked(channel), f64::from(channel.weight.thousandths())))
        .collect();
    order.sort_by(|(_, a, a_weight), (_, b, b_weight)| (a / a_weight).total_cmp(&(b / b_weight)));
    let (mut left, mut weights) =
        (rate.as_cells_per_s(), order.iter().map(|(.., weight)| weight).sum::<f64>());
    let mut rates = vec![CellRate::ZERO; channels.len()];
    for (place, asked, weight) in order {
        let own = asked.min(left * weight / weights);
        rates[place] = CellRate::new(own);
        left -= own;
        weights -= weight;
    }
    rates
}

/// The fair rates of the ABR flows that have a demand, with the rates that lines have at `at`.
fn filled(
    scenario: &Scenario,
    asked: Asked,
    at: Time,
    demand: &dyn Fn(FlowIndex) -> Option<Demand>,
) -> Result<Vec<FairShare>, Oversubscribed> {
    let Asked { utilization, criterion } = asked;
    let line = |port: PortIndex| scenario.link(port.link()).rate_at(port.end(), at).to_cell_rate();
    let mut used = vec![Used::default(); scenario.ports().len()];
    let mut flows = Vec::new();
    for flow in scenario.flows() {
        let Some(asked) = demand(flow) else { continue };
        // A tree is held to what the least of its branches allows.
        let steps: Vec<Step> = steps_of(scenario, flow).collect();
        let ports: Vec<usize> = steps.iter().map(|step| step.port().index()).collect();
        match asked {
            Demand::Guaranteed(rate) => ports.iter().for_each(|&port| used[port].guaranteed += rate),
            Demand::BestEffort { rate, mcr } => ports.iter().for_each(|&port| {
                used[port].ubr += rate;
                used[port].booked += mcr.min(rate);
            }),
            Demand::Abr { mcr, pcr, weight, nrm } => {
                ports.iter().for_each(|&port| used[port].mcrs += mcr);
                let other = flow.other();
                let one_way = !matches!(demand(other), Some(Demand::Abr { .. }));
                let back = one_way.then(|| steps_of(scenario, other)).into_iter().flatten();
                let share = match &scenario.flow(other).sender {
                    Sender::Abr(sender) => answered(nrm, sender.parameters.data_share()),
                    Sender::Peak(_) => 0.0,
                };
                let answers = Answers { ports: back.map(|step| step.port().index()).collect(), share };
                let told = shaped(scenario, flow, &steps).filter(|&(rate, _)| rate < pcr);
                let most = told.map_or(pcr, |(rate, _)| rate.max(mcr));
                let shaped_at = told.map(|(_, port)| port);
                let rises_from = criterion.rises_from(mcr, weight);
                flows.push((flow, Flow { ports, mcr, pcr: most, weight, rises_from }, answers, shaped_at));
            }
        }
    }
    let capacity: Vec<f64> = scenario
        .ports()
        .zip(&used)
        .map(|(port, used)| {
            let utilization = utilization.unwrap_or_else(|| scenario.port(port).target_utilization());
            let others = used.others(scenario.port(port));
            let of = |rate: CellRate| others.available(rate).as_cells_per_s();
            of(line(port) * utilization).max(used.mcrs.min(of(line(port))))
        })
        .collect();
    let phantom = |port: &Port| if utilization.is_none() { port.phantom_weight() } else { 0.0 };
    let phantoms: Vec<f64> = scenario.ports().map(|port| phantom(scenario.port(port))).collect();
    let plain: Vec<&Flow> = flows.iter().map(|(_, flow, ..)| flow).collect();
    let answers: Vec<&Answers> = flows.iter().map(|(_, _, answers, _)| answers).collect();
    let index = |port: usize| PortIndex(port as u32);
    let shares = fill_beside_answers(&capacity, &phantoms, &plain, &answers)
        .map_err(|(port, promised)| oversubscribed(scenario, index(port), promised, capacity[port]))?;
    Ok(flows
        .iter()
        .zip(shares)
        .map(|((flow, .., shaped_at), (rate, port))| FairShare {
            flow: *flow,
            rate: CellRate::new(rate),
            bottleneck: match (port, shaped_at) {
                (Some(port), _) => Bottleneck::Port(index(port)),
                (None, Some(port)) => Bottleneck::Shaping(*port),
                (None, None) => Bottleneck::PeakCellRate,
            },
        })
        .collect())
}

impl Criterion {
    /// The criterion that the ports of `scenario` go by: the first where one divides by weights and MCRs, and else that
    /// of one rate for all.
    pub fn of(scenario: &Scenario) -> Criterion {
        let is_weighted =
            |port: PortIndex| scenario.port(port).control.algorithm.fairness() == Fairness::Weighted;
        if scenario.ports().any(is_weighted) { Criterion::McrPlusShare } else { Criterion::Gmm }
    }

    /// The level from which on a flow has more than its MCR.
    fn rises_from(self, mcr: f64, weight: f64) -> f64 {
        match self {
            Criterion::McrPlusShare => 0.0,
            Criterion::Gmm => mcr / weight,
        }
    }
}

/// Rates that the connections through a port ask for [cells/s].
#[derive(Clone, Copy, Default)]
struct Used {
    /// CBR and VBR.
    guaranteed: f64,
    /// GFR and UBR.
    ubr: f64,
    /// MCRs of GFR and UBR, as far as they are used.
    booked: f64,
    /// MCRs of ABR.
    mcrs: f64,
}

impl Used {
    /// These rates as the scheduler of the port sees them.
    fn others(self, port: &Port) -> Others {
        let booked = if port.queueing.books() { self.booked } else { 0.0 };
        let used = [self.guaranteed, self.ubr].map(CellRate::new);
        Others {
            first: CellRate::new(self.guaranteed + booked),
            weighted: port.queueing.class_weights.map(|weights| Weighted { weights, used }),
        }
    }
}

/// The least that a port on the way tells a flow which it holds to a rate, and that port.
fn shaped(scenario: &Scenario, flow: FlowIndex, steps: &[Step]) -> Option<(f64, PortIndex)> {
    let queue = &scenario.connection(flow.connection()).queue;
    let told = steps.iter().filter_map(|step| {
        let rate = scenario.port(step.port()).told_of(queue)?;
        Some((rate.as_cells_per_s(), step.port()))
    });
    told.min_by(|(a, _), (b, _)| a.total_cmp(b))
}

/// The links that a direction crosses: of a tree, those of all its branches.
fn steps_of(scenario: &Scenario, flow: FlowIndex) -> impl Iterator<Item = Step> {
    let backward = flow.is_backward();
    scenario.all_steps(flow.connection()).map(move |step| if backward { step.turned() } else { step })
}

/// Demand of a direction of a connection on the ports of its way [cells/s].
enum Demand {
    Guaranteed(f64),
    /// GFR or UBR: its rate, infinite where it takes what it gets, and its MCR.
    BestEffort {
        rate: f64,
        mcr: f64,
    },
    Abr {
        mcr: f64,
        pcr: f64,
        weight: f64,
        nrm: f64,
    },
}

impl Demand {
    /// That of a flow that sends at `at`; of guaranteed traffic the rate that it then has.
    fn at(scenario: &Scenario, flow: FlowIndex, at: Time) -> Option<Demand> {
        let asked = &scenario.flow(flow);
        let traffic = asked.traffic.as_ref();
        let kind = traffic.map(Traffic::kind);
        if kind.is_some_and(|traffic| !traffic.sends_at(at)) {
            return None;
        }
        let category = scenario.connection(flow.connection()).category;
        if let (Sender::Peak(_), Category::Cbr | Category::Vbr) = (&asked.sender, category)
            && let Some(rate) = kind.and_then(|traffic| traffic.rate_at(at, asked.sustained()))
        {
            return Some(Demand::Guaranteed(rate.as_cells_per_s()));
        }
        Demand::of(scenario, flow)
    }

    /// That of a GFR or UBR connection whose cells leave no faster than `peak`.
    fn best_effort(traffic: Option<&Traffic>, peak: CellRate, mcr: CellRate) -> Demand {
        let kind = traffic.map(Traffic::kind);
        let rate = kind.and_then(|traffic| traffic.rate(peak).or_else(|| traffic.mean_rate()));
        Demand::BestEffort {
            rate: rate.map_or(f64::INFINITY, CellRate::as_cells_per_s),
            mcr: mcr.as_cells_per_s(),
        }
    }

    fn of(scenario: &Scenario, flow: FlowIndex) -> Option<Demand> {
        let (connection, backward) = (scenario.connection(flow.connection()), flow.is_backward());
        let flow = connection.flow(backward);
        // ACKs of TCP ask for no more than a small part of what the data gets.
        if !connection.carries_data(backward) || connection.carries_only_acks(backward) {
            return None;
        }
        // Who sends when, among connections that carry calls, a run shows.
        if match &flow.traffic {
            Some(Traffic::Call(_) | Traffic::Transfers(_)) => true,
            Some(Traffic::Tcp(tcp)) => tcp.successive,
            _ => false,
        } {
            return None;
        }
        // What a branch of a tree carries its trunk has asked for.
        if connection.branch.is_some() {
            return None;
        }
        match (&flow.sender, connection.category) {
            (Sender::Abr(sender), _) => Some(Demand::Abr {
                mcr: sender.parameters.mcr.as_cells_per_s(),
                pcr: sender.parameters.pcr.as_cells_per_s(),
                weight: sender.weight,
                nrm: f64::from(sender.parameters.nrm),
            }),
            (Sender::Peak(_), Category::Cbr | Category::Vbr) => {
                let rate = flow.traffic.as_ref()?.kind().rate(flow.sustained())?;
                Some(Demand::Guaranteed(rate.as_cells_per_s()))
            }
            (Sender::Peak(_), _) => {
                Some(Demand::best_effort(flow.traffic.as_ref(), flow.sustained(), connection.queue.mcr))
            }
        }
    }
}

fn oversubscribed(scenario: &Scenario, port: PortIndex, promised: f64, capacity: f64) -> Oversubscribed {
    let [tail, head] = [scenario.tail(port.step()), scenario.head(port.step())];
    Oversubscribed {
        port: format!("{}->{}", scenario.node(tail).name, scenario.node(head).name),
        promised: CellRate::new(promised),
        capacity: CellRate::new(capacity),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, LinkIndex};

    fn shares(text: &str, utilization: f64) -> Vec<(f64, Bottleneck)> {
        let scenario = Document::parse(text, "test.toml")
            .and_then(|document| document.resolve())
            .unwrap_or_else(|e| panic!("{e}"));
        max_min(&scenario, Some(utilization))
            .unwrap()
            .iter()
            .map(|share| (share.rate.as_cells_per_s(), share.bottleneck))
            .collect()
    }

    fn close(given: f64, expected: f64) {
        assert!((given - expected).abs() <= 1e-9 * expected.max(1.0), "{given} is not {expected}");
    }

    /// Hosts a, b, c on sw1, d on sw2; 1000 cells/s between the switches.
    const NETWORK: &str = r#"
        name = "t"
        duration = "1 s"
        defaults.link = { rate = "100000 cells/s", length = "1 km" }
        host = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
        switch = [{ name = "sw{i}", count = 2 }]
        link = [
            { between = ["a", "sw1"] }, { between = ["b", "sw1"] }, { between = ["c", "sw1"] }, { between = ["d", "sw2"] },
            { between = ["sw1", "sw2"], rate = "1000 cells/s" },
        ]
    "#;

    #[test]
    fn weights_share_what_the_minimum_rates_leave() {
        let text = format!(
            "{NETWORK}vc = [\n\
             {{ name = \"x\", path = [\"a\", \"sw1\", \"sw2\", \"d\"], abr = {{ mcr = \"100 cells/s\" }} }},\n\
             {{ name = \"y\", path = [\"b\", \"sw1\", \"sw2\", \"d\"], abr = {{ weight = 2 }} }},\n\
             {{ name = \"z\", path = [\"c\", \"sw1\", \"sw2\", \"d\"], abr = {{ pcr = \"50 cells/s\" }} }}]\n"
        );
        // 1000 - 50 (z, at its PCR) - 100 (MCR of x) = 850 for weights 1 + 2: 283.33 each unit.
        let given = shares(&text, 1.0);
        close(given[0].0, 100.0 + 850.0 / 3.0);
        close(given[1].0, 2.0 * 850.0 / 3.0);
        close(given[2].0, 50.0);
        assert_eq!(given[0].1, Bottleneck::Port(PortIndex::of(LinkIndex(4), 0)));
        assert_eq!(given[2].1, Bottleneck::PeakCellRate);
    }

    /// Out of 1000 cells/s, 600 are promised to x and 300 to z; y has weight 1 and no MCR.
    #[test]
    fn by_gmm_a_flow_has_the_larger_of_its_mcr_and_its_share() {
        let vc = |name: &str, host: &str, mcr: u32| {
            format!(
                "{{ name = \"{name}\", path = [\"{host}\", \"sw1\", \"sw2\", \"d\"], abr = {{ mcr = \"{mcr} cells/s\" }} }},\n"
            )
        };
        let rates = |utilization: f64, minima: [u32; 3]| -> Vec<f64> {
            let vcs: String = ["x", "y", "z"]
                .iter()
                .zip(["a", "b", "c"])
                .zip(minima)
                .map(|((name, host), mcr)| vc(name, host, mcr))
                .collect();
            let scenario = Document::parse(&format!("{NETWORK}vc = [\n{vcs}]\n"), "test.toml")
                .and_then(|document| document.resolve())
                .unwrap_or_else(|e| panic!("{e}"));
            let asked = Asked { utilization: Some(utilization), criterion: Criterion::Gmm };
            max_min(&scenario, asked).unwrap().iter().map(|share| share.rate.as_cells_per_s()).collect()
        };
        let all = |given: Vec<f64>, expected: [f64; 3]| {
            given.iter().zip(expected).for_each(|(&rate, expected)| close(rate, expected))
        };
        // x keeps its 600; y and z would share 400, of which z is promised 300.
        all(rates(1.0, [600, 0, 300]), [600.0, 100.0, 300.0]);
        // z has 100 and rises with y once both have that.
        all(rates(1.0, [600, 0, 100]), [600.0, 200.0, 200.0]);
        // A third is more than any of the MCRs: they mean nothing.
        all(rates(1.0, [300, 0, 100]), [1000.0 / 3.0; 3]);
        // MCRs fill what there is.
        all(rates(1.0, [700, 0, 300]), [700.0, 0.0, 300.0]);
    }

    #[test]
    fn guaranteed_traffic_and_the_target_come_first_and_both_directions_count() {
        let text = format!(
            "{NETWORK}vc = [\n\
             {{ name = \"x\", path = [\"a\", \"sw1\", \"sw2\", \"d\"], bidirectional = true }},\n\
             {{ name = \"c\", category = \"cbr\", path = [\"b\", \"sw1\", \"sw2\", \"d\"], \
                traffic = {{ type = \"constant\", rate = \"300 cells/s\" }} }}]\n"
        );
        // Forward 0.9 * 1000 - 300 = 600; backward 0.9 * 1000.
        let given = shares(&text, 0.9);
        close(given[0].0, 600.0);
        close(given[1].0, 900.0);
        assert_eq!(given[1].1, Bottleneck::Port(PortIndex::of(LinkIndex(4), 1)));
    }

    #[test]
    fn guaranteed_traffic_is_told_with_its_rate_or_its_mean_where_it_varies() {
        let text = format!(
            "{NETWORK}vc = [\n\
             {{ name = \"x\", path = [\"a\", \"sw1\", \"sw2\", \"d\"] }},\n\
             {{ name = \"c\", category = \"cbr\", path = [\"b\", \"sw1\", \"sw2\", \"d\"],\n\
                traffic = {{ type = \"constant\", rate = \"300 cells/s\" }} }},\n\
             {{ name = \"v\", category = \"vbr\", path = [\"b\", \"sw1\", \"sw2\", \"d\"],\n\
                traffic = {{ type = \"on-off\", rate = \"200 cells/s\", on = \"1 s\", off = \"3 s\" }} }},\n\
             {{ name = \"u\", category = \"ubr\", path = [\"b\", \"sw1\", \"sw2\", \"d\"],\n\
                traffic = {{ type = \"constant\", rate = \"10 cells/s\" }} }}]\n"
        );
        let scenario = Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap();
        let told: Vec<_> = before_abr(&scenario)
            .into_iter()
            .map(|one| (&scenario.connection(one.flow.connection()).name[..], one.counted, one.mean))
            .collect();
        let rate = |rate| Some(CellRate::new(rate));
        assert_eq!(told, [("c", rate(300.0), None), ("v", None, rate(50.0))]);
    }

    #[test]
    fn backward_rm_cells_of_flows_the_other_way_come_first() {
        let both = |nrm: u32| {
            let text = format!(
                "{NETWORK}vc = [\n\
                 {{ name = \"x\", path = [\"a\", \"sw1\", \"sw2\", \"d\"] }},\n\
                 {{ name = \"y\", path = [\"d\", \"sw2\", \"sw1\", \"b\"], abr = {{ nrm = {nrm} }} }}]\n"
            );
            let given = shares(&text, 1.0);
            [given[0].0, given[1].0]
        };
        // A cell comes back for every 31, since one of 32 that come back is an FRM: x + y / 31 = 1000 and the other way
        // round; then x + y / 7 = 1000 and y + x / 31 = 1000.
        both(32).iter().for_each(|&rate| close(rate, 31_000.0 / 32.0));
        let x = (1000.0 - 1000.0 / 7.0) / (1.0 - 1.0 / 217.0);
        both(8).iter().zip([x, 1000.0 - x / 31.0]).for_each(|(&rate, expected)| close(rate, expected));
        // With Nrm 2 both ways as many cells come back: x + y = 1000.
        let text = format!(
            "{NETWORK}defaults.abr = {{ nrm = 2 }}\nvc = [\n\
             {{ name = \"x\", path = [\"a\", \"sw1\", \"sw2\", \"d\"] }},\n\
             {{ name = \"y\", path = [\"d\", \"sw2\", \"sw1\", \"b\"] }}]\n"
        );
        shares(&text, 1.0).iter().for_each(|share| close(share.0, 500.0));
    }

    #[test]
    fn a_phantom_has_the_share_of_one_more_by_its_weight() {
        let text = format!(
            "{NETWORK}defaults.switch.algorithm = {{ type = \"phantom\", utilization_factor = 4 }}\nvc = [\n\
             {{ name = \"x\", path = [\"a\", \"sw1\", \"sw2\", \"d\"] }},\n\
             {{ name = \"y\", path = [\"b\", \"sw1\", \"sw2\", \"d\"] }},\n\
             {{ name = \"z\", path = [\"c\", \"sw1\", \"sw2\", \"d\"], abr = {{ pcr = \"100 cells/s\" }} }}]\n"
        );
        // 1000 - 100 (z, at its PCR) = 900 for weights 1 + 1 + 1/4: 400, of which a quarter is left. Of a share that is
        // named there is no phantom.
        let scenario = Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap();
        let rates = |utilization| -> Vec<f64> {
            let shares = max_min(&scenario, utilization).unwrap();
            shares.iter().map(|share| share.rate.as_cells_per_s()).collect()
        };
        for (rate, expected) in rates(None).iter().zip([400.0, 400.0, 100.0]) {
            close(*rate, expected);
        }
        for (rate, expected) in rates(Some(1.0)).iter().zip([450.0, 450.0, 100.0]) {
            close(*rate, expected);
        }
    }

    /// 900 of 1000 cells/s are handed out; `port` is the switch's table, `others` more connections.
    fn rate_beside(port: &str, x: &str, others: &str) -> (f64, Bottleneck) {
        let text = format!(
            "{NETWORK}defaults.switch = {{ {port}algorithm = {{ type = \"erica\" }} }}\nvc = [\n\
             {{ name = \"x\", path = [\"a\", \"sw1\", \"sw2\", \"d\"]{x} }},\n{others}]\n"
        );
        let scenario = Document::parse(&text, "t")
            .and_then(|document| document.resolve())
            .unwrap_or_else(|e| panic!("{e}"));
        let share = max_min(&scenario, None).unwrap()[0];
        (share.rate.as_cells_per_s(), share.bottleneck)
    }

    fn other(category: &str, keys: &str) -> String {
        let from = if category == "ubr" { "c" } else { "b" };
        let greedy = if keys.contains("traffic") { "" } else { ", traffic = { type = \"greedy\" }" };
        format!(
            "{{ name = \"{category}\", category = \"{category}\", path = [\"{from}\", \"sw1\", \"sw2\", \"d\"]{keys}{greedy} }},\n"
        )
    }

    #[test]
    fn a_category_has_its_part_by_weight_and_what_others_leave() {
        let weights = "queueing = { type = \"fifo\", class_weights = { abr = 2 } }, ";
        let constant =
            |rate: u32| format!(", traffic = {{ type = \"constant\", rate = \"{rate} cells/s\" }}");
        // By strict priority UBR is nothing to ABR.
        close(rate_beside("", "", &other("ubr", "")).0, 900.0);
        close(rate_beside(weights, "", &other("ubr", "")).0, 600.0);
        close(rate_beside(weights, "", &other("ubr", &constant(100))).0, 800.0);
        // CBR of 100 is less than its quarter; of 800 a greedy UBR has a third.
        let both = other("cbr", &constant(100)) + &other("ubr", "");
        close(rate_beside(weights, "", &both).0, 800.0 * 2.0 / 3.0);
        let both = other("cbr", &constant(700)) + &other("ubr", "");
        close(rate_beside(weights, "", &both).0, 450.0);
    }

    #[test]
    fn minimum_rates_of_ubr_come_first_as_far_as_they_are_used() {
        close(rate_beside("", "", &other("ubr", ", mcr = \"300 cells/s\"")).0, 600.0);
        let little = ", mcr = \"300 cells/s\", traffic = { type = \"constant\", rate = \"50 cells/s\" }";
        close(rate_beside("", "", &other("ubr", little)).0, 850.0);
    }

    #[test]
    fn who_is_held_to_a_rate_has_what_it_is_told_of_it() {
        let queueing = "queueing = { type = \"weighted-fair\" }, ";
        let (rate, bottleneck) = rate_beside(queueing, ", shaped_to = \"200 cells/s\"", "");
        close(rate, 180.0);
        let port = PortIndex::of(LinkIndex(4), 0);
        assert_eq!(bottleneck, Bottleneck::Shaping(port));
        let (rate, bottleneck) = rate_beside(queueing, ", shaped_to = \"2000 cells/s\"", "");
        close(rate, 900.0);
        assert_eq!(bottleneck, Bottleneck::Port(port));
    }

    #[test]
    fn minimum_rates_that_fit_on_the_line_are_kept_beyond_what_is_handed_out() {
        close(rate_beside("", ", abr = { mcr = \"950 cells/s\" }", "").0, 950.0);
    }

    #[test]
    fn a_mean_share_is_of_the_time_in_which_each_sends() {
        let text = format!(
            "{NETWORK}vc = [\n\
             {{ name = \"x\", path = [\"a\", \"sw1\", \"sw2\", \"d\"] }},\n\
             {{ name = \"y\", path = [\"b\", \"sw1\", \"sw2\", \"d\"], \
                traffic = {{ type = \"greedy\", start = \"500 ms\", end = \"750 ms\" }} }},\n\
             {{ name = \"z\", path = [\"c\", \"sw1\", \"sw2\", \"d\"], \
                traffic = {{ type = \"tcp\", start = \"900 ms\" }} }}]\n"
        );
        let scenario = Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap();
        let instant = |ms| Time::ZERO + cellrate_proto::Duration::from_ms(ms);
        let [whole, late] = [0, 600].map(|ms| Span { start: instant(ms), end: instant(1000) });
        let means = |span| -> Vec<f64> {
            mean_max_min(&scenario, span).unwrap().iter().map(|(_, rate)| rate.as_cells_per_s()).collect()
        };
        // x is alone for 650 ms, and has half for 350 ms; y has half for 250 ms, z for 100 ms.
        for (mean, expected) in means(whole).iter().zip([825.0, 125.0, 50.0]) {
            assert!((mean - expected).abs() < 2.0, "{mean} is not about {expected}");
        }
        // From 600 ms on: 150 ms of each half, 150 ms alone, 100 ms of half.
        for (mean, expected) in means(late).iter().zip([687.5, 187.5, 125.0]) {
            assert!((mean - expected).abs() < 2.0, "{mean} is not about {expected}");
        }
        let throughout = |span| -> Vec<bool> {
            (0..3)
                .map(|n| sends_throughout(&scenario, FlowIndex::of(crate::ConnectionIndex(n), false), span))
                .collect()
        };
        assert_eq!(throughout(whole), [true, false, false]);
        let all_three = Span { start: instant(900), end: instant(1000) };
        assert_eq!(throughout(all_three), [true, false, true]);
        assert_eq!(throughout(Span { start: instant(500), end: instant(750) }), [true, true, false]);
        let ends = [0, 1, 2].map(|n| ends_at(&scenario, FlowIndex::of(crate::ConnectionIndex(n), false)));
        assert_eq!(ends, [None, Some(instant(750)), None], "TCP begins late, and goes on");
    }

    #[test]
    fn promises_that_cannot_be_kept_are_named() {
        let text = format!(
            "{NETWORK}vc = [{{ name = \"v{{i}}\", count = 2, path = [\"a\", \"sw1\", \"sw2\", \"d\"], abr = {{ mcr = \"600 cells/s\" }} }}]\n"
        );
        let scenario = Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap();
        let error = max_min(&scenario, Some(1.0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "port sw1->sw2: the MCRs of its connections sum to 1200 cells/s, and it has 1000 cells/s for ABR"
        );
        let error = Oversubscribed { promised: CellRate::new(1_000_000.0 / 424.0), ..error };
        assert!(error.to_string().contains("sum to 2358.491 cells/s, and it has 1000 cells/s"), "{error}");
    }
}
