//! Weighted max-min fair rates with minimum cell rates: what any explicit-rate algorithm is held to.
//!
//! Every flow gets its MCR and, above it, weight times a level of its own. By progressive filling the level of all
//! flows rises together until a port is full; its flows keep their level, the others go on. The last level that a flow
//! reaches is its normalised excess, (rate - MCR) / weight, and no other flow at its bottleneck has a larger one.
//!
//! Where an algorithm leaves the share of one connection more unused, a phantom of that weight fills the port with the
//! flows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::{fmt, iter};

use cellrate_proto::switch::{Others, Weighted};
use cellrate_proto::{BitRate, CellRate, Time};

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
/// A port has `utilization` (above 0 to 1) of its line for ABR, or without it what its algorithm [hands
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
pub fn max_min(scenario: &Scenario, utilization: Option<f64>) -> Result<Vec<FairShare>, Oversubscribed> {
    filled(scenario, utilization, Time::ZERO, &|flow| Demand::of(scenario, flow))
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
    utilization: Option<f64>,
) -> Result<Vec<(Time, Vec<FairShare>)>, Oversubscribed> {
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
        Ok((at, filled(scenario, utilization, at, &demand)?))
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
    utilization: Option<f64>,
    at: Time,
    demand: &dyn Fn(FlowIndex) -> Option<Demand>,
) -> Result<Vec<FairShare>, Oversubscribed> {
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
                    Sender::Abr(sender) => answered(nrm, f64::from(sender.parameters.nrm)),
                    Sender::Peak(_) => 0.0,
                };
                let answers = Answers { ports: back.map(|step| step.port().index()).collect(), share };
                let told = shaped(scenario, flow, &steps).filter(|&(rate, _)| rate < pcr);
                let most = told.map_or(pcr, |(rate, _)| rate.max(mcr));
                let shaped_at = told.map(|(_, port)| port);
                flows.push((flow, Flow { ports, mcr, pcr: most, weight }, answers, shaped_at));
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
        if let (Sender::Peak(peak), Category::Cbr | Category::Vbr) = (&asked.sender, category)
            && let Some(rate) = kind.and_then(|traffic| traffic.rate_at(at, *peak))
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
            (Sender::Peak(peak), Category::Cbr | Category::Vbr) => {
                let rate = flow.traffic.as_ref()?.kind().rate(*peak)?;
                Some(Demand::Guaranteed(rate.as_cells_per_s()))
            }
            (Sender::Peak(peak), _) => {
                Some(Demand::best_effort(flow.traffic.as_ref(), *peak, connection.queue.mcr))
            }
        }
    }
}

/// A flow to be given a rate.
#[derive(Debug)]
struct Flow {
    /// The output ports on the way, by their places in the list of capacities.
    ports: Vec<usize>,
    mcr: f64,
    pcr: f64,
    weight: f64,
}

impl Flow {
    /// The level at which it is at its PCR.
    fn peak_at(&self) -> f64 {
        (self.pcr - self.mcr) / self.weight
    }
}

/// The cells that come back of a flow that has no data the other way.
#[derive(Debug)]
struct Answers {
    /// The output ports on their way, by their places in the list of capacities; none where they are among the cells of
    /// another flow.
    ports: Vec<usize>,
    /// How many there are for each cell of the flow.
    share: f64,
}

/// The number of cells that come back for each cell of a flow with `nrm`: a backward RM cell for every Nrm of its
/// cells. Every Nrm-th cell of that direction, by its own Nrm, is a forward RM cell in its turn (TM 4.0, source
/// behaviour 3).
fn answered(nrm: f64, other_nrm: f64) -> f64 {
    1.0 / (nrm * (1.0 - 1.0 / other_nrm))
}

/// Rounds until rates agree with the cells that come back of them. As many come back as were sent where Nrm is 2, and
/// rates would swing for ever; going half of the way to each answer leaves at most half of the error in every round.
const ROUNDS: usize = 64;

/// [`fill`] with what the cells that come back of all flows leave of the ports: they ask for no more than a small part
/// of what a flow gets, unless Nrm is small, so nobody holds them back, and they come first.
fn fill_beside_answers(
    capacity: &[f64],
    phantoms: &[f64],
    flows: &[&Flow],
    answers: &[&Answers],
) -> Result<Vec<Filled>, (usize, f64)> {
    let orders = Orders::of(flows);
    let mut filled = fill(capacity, phantoms, flows, &orders)?;
    let mut promised = vec![0.0; capacity.len()];
    for flow in flows {
        flow.ports.iter().for_each(|&port| promised[port] += flow.mcr);
    }
    let mut rates: Vec<f64> = filled.iter().map(|&(rate, _)| rate).collect();
    for _ in 0..ROUNDS {
        let mut left = capacity.to_vec();
        for (answers, rate) in answers.iter().zip(&rates) {
            answers.ports.iter().for_each(|&port| left[port] -= rate * answers.share);
        }
        // MCRs are kept beside them.
        left.iter_mut().zip(&promised).for_each(|(left, promised)| *left = left.max(*promised));
        filled = fill(&left, phantoms, flows, &orders)?;
        let settled = rates.iter().zip(&filled).all(|(old, new)| (new.0 - old).abs() <= 1e-12 * new.0);
        if settled {
            break;
        }
        rates.iter_mut().zip(&filled).for_each(|(rate, new)| *rate = (*rate + new.0) / 2.0);
    }
    Ok(filled)
}

/// A rate, and the port that limits it; without one the flow is at its PCR.
type Filled = (f64, Option<usize>);

/// Orders in which flows stop rising, whatever ports have.
struct Orders {
    /// The flows through each port, each with the port before it, port by port.
    through: Vec<(usize, usize)>,
    /// The flows by the level at which they are at their PCRs.
    by_peak: Vec<usize>,
}

impl Orders {
    fn of(flows: &[&Flow]) -> Orders {
        let mut through = Vec::with_capacity(flows.iter().map(|flow| flow.ports.len()).sum());
        for (place, flow) in flows.iter().enumerate() {
            through.extend(flow.ports.iter().map(|&port| (port, place)));
        }
        through.sort_unstable();
        through.dedup();
        let mut by_peak: Vec<usize> = (0..flows.len()).collect();
        by_peak.sort_by(|&a, &b| flows[a].peak_at().total_cmp(&flows[b].peak_at()));
        Orders { through, by_peak }
    }

    /// The flows through `port`, in order.
    fn through(&self, port: usize) -> impl Iterator<Item = usize> {
        let first = self.through.partition_point(|&(other, _)| other < port);
        let from_there = self.through[first..].iter();
        from_there.take_while(move |&&(other, _)| other == port).map(|&(_, place)| place)
    }
}

/// Progressive filling: rate and bottleneck of each flow, or the port that is oversubscribed and its sum of MCRs. Each
/// port has a phantom of the weight in `phantoms`, which rises with the flows as long as there are any.
fn fill(
    capacity: &[f64],
    phantoms: &[f64],
    flows: &[&Flow],
    orders: &Orders,
) -> Result<Vec<Filled>, (usize, f64)> {
    // What is left of each port when every flow that is settled has its rate and every other its MCR, and the weights
    // of those others.
    let mut left = capacity.to_vec();
    let mut weight = phantoms.to_vec();
    let mut open = vec![0_usize; capacity.len()];
    for flow in flows {
        for &port in &flow.ports {
            left[port] -= flow.mcr;
            weight[port] += flow.weight;
            open[port] += 1;
        }
    }
    let tolerance = |port: usize| 1e-9 * capacity[port].max(1.0);
    if let Some(port) = (0..capacity.len()).find(|&port| open[port] > 0 && left[port] < -tolerance(port)) {
        return Err((port, capacity[port] - left[port]));
    }
    // The levels at which ports are full, lowest first; of each port the entry with its latest level counts.
    let mut levels: Vec<f64> =
        left.iter().zip(&weight).map(|(&left, &weight)| full_at(left, weight)).collect();
    let entry = |level: f64, port: usize| Reverse((level.to_bits(), port));
    let ports = (0..capacity.len()).filter(|&port| open[port] > 0);
    let mut full: BinaryHeap<_> = ports.map(|port| entry(levels[port], port)).collect();
    // And those at which flows are at their PCRs.
    let mut peaks = orders.by_peak.iter().copied().peekable();
    let mut settled: Vec<Option<Filled>> = vec![None; flows.len()];
    let mut rising = flows.len();
    while rising > 0 {
        // The lowest level at which something stops: a port that is full, or a flow at its PCR.
        while full
            .peek()
            .is_some_and(|&Reverse((level, port))| level != levels[port].to_bits() || open[port] == 0)
        {
            full.pop();
        }
        while peaks.next_if(|&flow| settled[flow].is_some()).is_some() {}
        let first_full = full.peek().map(|&Reverse((_, port))| port);
        let first_peak = peaks.peek().map(|&flow| flows[flow].peak_at());
        let mut stopping = Vec::new();
        let port = match (first_full, first_peak) {
            (None, None) => break,
            (Some(port), peak) if peak.is_none_or(|peak| levels[port] <= peak) => {
                stopping.extend(orders.through(port).filter(|&flow| settled[flow].is_none()));
                Some(port)
            }
            (_, peak) => {
                let at_peak = |&flow: &usize| peak.is_some_and(|peak| flows[flow].peak_at() <= peak);
                stopping
                    .extend(iter::from_fn(|| peaks.next_if(at_peak)).filter(|&flow| settled[flow].is_none()));
                None
            }
        };
        let level = port.map_or(0.0, |port| levels[port]);
        rising -= stopping.len();
        for &place in &stopping {
            let flow = flows[place];
            let excess = if port.is_none() { flow.pcr - flow.mcr } else { flow.weight * level };
            settled[place] = Some((if port.is_none() { flow.pcr } else { flow.mcr + excess }, port));
            for &port in &flow.ports {
                left[port] -= excess;
                open[port] -= 1;
                // Exactly zero once none is open, whatever rounding left.
                weight[port] = if open[port] == 0 { 0.0 } else { weight[port] - flow.weight };
            }
        }
        for port in stopping.into_iter().flat_map(|place| flows[place].ports.iter().copied()) {
            let level = full_at(left[port], weight[port]);
            if open[port] > 0 && level.to_bits() != levels[port].to_bits() {
                levels[port] = level;
                full.push(entry(level, port));
            }
        }
    }
    Ok(settled.into_iter().flatten().collect())
}

/// The level at which a port is full: what each unit of weight gets of what is left; never below 0, nor -0.
fn full_at(left: f64, weight: f64) -> f64 {
    (left / weight).max(0.0) + 0.0
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
    use proptest::prelude::*;

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

    /// Capacities of ports and weights of their phantoms, and flows.
    fn any_flows() -> impl Strategy<Value = (Vec<(f64, f64)>, Vec<Flow>)> {
        let port = (1_000.0..1e6_f64, prop_oneof![Just(0.0), 0.01..10.0_f64]);
        proptest::collection::vec(port, 1..8).prop_flat_map(|ports| {
            let way = proptest::sample::subsequence((0..ports.len()).collect::<Vec<_>>(), 1..=ports.len());
            let flow = (way, 0.0..30.0_f64, 30.0..1e6_f64, prop_oneof![Just(1.0), 0.1..10.0_f64])
                .prop_map(|(ports, mcr, pcr, weight)| Flow { ports, mcr, pcr, weight });
            (Just(ports), proptest::collection::vec(flow, 1..20))
        })
    }

    proptest! {
        #[test]
        fn no_port_is_over_its_capacity_and_every_flow_has_a_bottleneck((ports, flows) in any_flows()) {
            let (capacity, phantoms): (Vec<f64>, Vec<f64>) = ports.into_iter().unzip();
            let plain: Vec<&Flow> = flows.iter().collect();
            let shares = fill(&capacity, &phantoms, &plain, &Orders::of(&plain)).expect("20 MCRs of 30 fit into 1000");
            let load = |port: usize| -> f64 {
                flows.iter().zip(&shares).filter(|(flow, _)| flow.ports.contains(&port)).map(|(_, share)| share.0).sum()
            };
            for (port, capacity) in capacity.iter().enumerate() {
                prop_assert!(load(port) <= capacity * (1.0 + 1e-9));
            }
            let excess = |i: usize| (shares[i].0 - flows[i].mcr) / flows[i].weight;
            for (i, (rate, bottleneck)) in shares.iter().enumerate() {
                prop_assert!(*rate >= flows[i].mcr && *rate <= flows[i].pcr * (1.0 + 1e-12));
                match bottleneck {
                    None => prop_assert_eq!(*rate, flows[i].pcr),
                    Some(port) => {
                        prop_assert!(flows[i].ports.contains(port));
                        let full = load(*port) + phantoms[*port] * excess(i);
                        prop_assert!((full / capacity[*port] - 1.0).abs() <= 1e-9, "the bottleneck is full");
                        for (j, other) in flows.iter().enumerate().filter(|(_, other)| other.ports.contains(port)) {
                            prop_assert!(excess(j) <= excess(i) * (1.0 + 1e-9) + 1e-9, "{} {:?}", j, other.ports);
                        }
                    }
                }
            }
        }
    }
}
