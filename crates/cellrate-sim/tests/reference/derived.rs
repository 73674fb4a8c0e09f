//! Rows that the judge works out from what it has counted: shares, fairness, efficiency of lines, hosts whose own line
//! was too slow, and losses that a phase decided.

use std::collections::BTreeSet;

use cellrate_proto::parameters::RmPlacement;
use cellrate_scenario::fair::{mean_max_min, sends_throughout};
use cellrate_scenario::{ConnectionIndex, FlowIndex, NodeKind, Processing, Span};
use cellrate_sim::results::{EfficiencySummary, FairnessSummary, ShareSummary};
use cellrate_sim::{HostBottleneck, PhaseEffectSummary, Summary};

use super::*;

/// Such rows.
pub struct Derived {
    shares: Vec<ShareSummary>,
    fairness: Vec<FairnessSummary>,
    efficiency: Vec<EfficiencySummary>,
    host_bottlenecks: Vec<HostBottleneck>,
    phase_effects: Vec<PhaseEffectSummary>,
}

/// Octets of data cells and of payload that a direction brought, per second.
struct Brought {
    flow: usize,
    line_octets: f64,
    useful_octets: f64,
}

impl Network<'_> {
    pub(super) fn derived(&self, vcs: &[FlowSummary], tcp: &[TcpRow]) -> Derived {
        let brought: Vec<Brought> = (0..self.paths.len())
            .filter(|&flow| self.brings_data(flow))
            .map(|flow| self.brought(flow, vcs, tcp))
            .collect();
        let (shares, fairness) = self.shares(&brought);
        Derived {
            shares,
            fairness,
            efficiency: self.efficiency(&brought),
            host_bottlenecks: self.slow_hosts(),
            phase_effects: self.phase_effects(),
        }
    }

    /// Whether a direction has data of its own, and is no slot of flows or calls that come and go.
    fn brings_data(&self, flow: usize) -> bool {
        let connection = &self.scenario.connections[flow / 2];
        let (own, other, back) = match flow % 2 {
            0 => (&connection.forward, &connection.backward, false),
            _ => (&connection.backward, &connection.forward, true),
        };
        let of_slot = |slot: &std::ops::Range<u32>| slot.contains(&(flow as u32 / 2));
        let pairs = self.scenario.demands.iter().flat_map(|demand| &demand.pairs);
        let answers = match &other.traffic {
            Some(Traffic::Tcp(tcp)) => tcp.pages.is_some(),
            Some(Traffic::RequestResponse(_)) => back,
            _ => false,
        };
        let is_copy = connection.branch.is_some() && !back;
        !pairs.map(|pair| &pair.slots).any(of_slot) && (own.traffic.is_some() || answers || is_copy)
    }

    fn brought(&self, flow: usize, vcs: &[FlowSummary], tcp: &[TcpRow]) -> Brought {
        let seconds = self.end.since(self.scenario.measuring.start()).as_secs_f64();
        let name = self.name_of(flow);
        let cells = vcs.iter().find(|row| row.vc == name).map_or(0, |row| row.data_delivered);
        let of_tcp: Vec<u64> = tcp.iter().filter(|row| row.0 == name).map(|row| row.3).collect();
        let useful = if of_tcp.is_empty() { 48 * cells } else { of_tcp.iter().sum() };
        Brought { flow, line_octets: 53.0 * cells as f64 / seconds, useful_octets: useful as f64 / seconds }
    }

    /// A row for each direction, trees in one row that has what their worst leaf has; and one for each category.
    fn shares(&self, brought: &[Brought]) -> (Vec<ShareSummary>, Vec<FairnessSummary>) {
        let span = Span { start: self.scenario.measuring.start(), end: self.end };
        let fair = mean_max_min(self.scenario, span).unwrap_or_default();
        let sends = |flow: usize| {
            let index = FlowIndex::of(ConnectionIndex(flow as u32 / 2), flow % 2 == 1);
            sends_throughout(self.scenario, index, span)
        };
        let mut rows: Vec<(Category, bool, f64, ShareSummary)> = Vec::new();
        for leaf in brought {
            let connection = &self.scenario.connections[leaf.flow / 2];
            let (line, useful) = (8.0 * leaf.line_octets, 8.0 * leaf.useful_octets);
            if connection.branch.is_some()
                && let Some((.., of_tree, row)) = rows.last_mut()
            {
                *of_tree = of_tree.min(line);
                row.goodput_bps = row.goodput_bps.min(useful);
                row.of_fair_share = row.fair_share_bps.filter(|&due| due > 0.0).map(|due| *of_tree / due);
                continue;
            }
            let own = if leaf.flow.is_multiple_of(2) { &connection.forward } else { &connection.backward };
            let due = match &own.sender {
                Sender::Abr(abr) => {
                    let share = fair.iter().find(|(flow, _)| flow.index() == leaf.flow);
                    let frms = match abr.parameters.rm {
                        RmPlacement::OwnCells => 1.0 / f64::from(abr.parameters.nrm),
                        RmPlacement::InBand => 0.0,
                    };
                    let data = 1.0 - frms;
                    share.map(|(_, rate)| rate.as_cells_per_s() * data * 424.0)
                }
                Sender::Peak(_) => None,
            };
            let row = ShareSummary {
                vc: self.name_of(leaf.flow),
                category: word(connection.category),
                goodput_bps: useful,
                fair_share_bps: due,
                of_fair_share: due.filter(|&due| due > 0.0).map(|due| line / due),
            };
            rows.push((connection.category, sends(leaf.flow), line, row));
        }
        let mut fairness = Vec::new();
        for category in [Category::Cbr, Category::Vbr, Category::Abr, Category::Gfr, Category::Ubr] {
            let own: Vec<_> = rows.iter().filter(|(of, ..)| *of == category).collect();
            let lines: Vec<f64> = own.iter().map(|(.., line, _)| *line).collect();
            // Who is due nothing in this time is held to nothing.
            let due = own.iter().filter(|(.., row)| row.fair_share_bps != Some(0.0));
            let parts: Vec<f64> = due.clone().filter_map(|(.., row)| row.of_fair_share).collect();
            let all = parts.len() == due.count();
            if !own.is_empty() {
                fairness.push(FairnessSummary {
                    category: word(category),
                    vcs: own.len() as u64,
                    jain: evenness(&lines).filter(|_| own.iter().all(|(_, sends, ..)| *sends)),
                    jain_of_fair_shares: evenness(&parts).filter(|_| all),
                    least_of_fair_share: parts.iter().copied().min_by(f64::total_cmp).filter(|_| all),
                });
            }
        }
        (rows.into_iter().map(|(.., row)| row).collect(), fairness)
    }

    /// A row for each port that such a direction goes through.
    fn efficiency(&self, brought: &[Brought]) -> Vec<EfficiencySummary> {
        let (start, end) = (self.scenario.measuring.start(), self.end);
        let row = |number: usize| {
            let through = |one: &&Brought| self.paths[one.flow].iter().any(|&step| number_of(step) == number);
            let through: Vec<&Brought> = brought.iter().filter(through).collect();
            let useful = through.iter().fold(0.0, |sum, one| sum + 8.0 * one.useful_octets);
            (!through.is_empty()).then(|| EfficiencySummary {
                port: self.port_name(number),
                goodput_bps: useful,
                efficiency: useful / self.mean_rate(number, start, end),
            })
        };
        (0..self.ports.len()).filter_map(row).collect()
    }

    /// Bits that the line carries at most from `start` to `end`, per second.
    fn mean_rate(&self, number: usize, start: Time, end: Time) -> f64 {
        let link = &self.scenario.links[number / 2];
        let rate_at = |at| {
            let step = link.changes.iter().rfind(|step| step.at <= at);
            step.map_or(link.rate, |step| step.lines[number % 2].rate)
        };
        let mut borders: BTreeSet<Time> = link.changes.iter().map(|step| step.at).collect();
        borders.retain(|&at| start < at && at < end);
        borders.extend([start, end]);
        let borders: Vec<Time> = borders.into_iter().collect();
        let bits = |span: &[Time]| rate_at(span[0]).as_bps() as f64 * span[1].since(span[0]).as_secs_f64();
        borders.windows(2).map(bits).sum::<f64>() / end.since(start).as_secs_f64()
    }

    /// Hosts with more than a thousand cells that wait to leave when the run ends.
    fn slow_hosts(&self) -> Vec<HostBottleneck> {
        let row = |(number, port): (usize, &Port)| {
            let node = self.scenario.links[number / 2].ends[number % 2];
            let is_host = self.scenario.nodes[node.0 as usize].kind == NodeKind::Host;
            // A cell whose transmission ends as the run does has left.
            let left = usize::from(port.transmitting.is_some() && port.transmitted_at == self.end);
            let waiting = (port.total() - left) as u64;
            (is_host && waiting >= 1001).then(|| HostBottleneck { port: self.port_name(number), waiting })
        };
        self.ports.iter().enumerate().filter_map(row).collect()
    }

    /// Like connections of which one lost more than four times as large a part as another, twenty cells at least
    /// together, half of them or more in phase.
    fn phase_effects(&self) -> Vec<PhaseEffectSummary> {
        let mut rows = Vec::new();
        for number in 0..self.ports.len() {
            let losing: Vec<usize> = (0..self.paths.len())
                .filter(|&flow| self.paths[flow].iter().any(|&step| number_of(step) == number))
                .collect();
            let mut groups: Vec<(Duration, Vec<usize>)> = Vec::new();
            for flow in losing {
                let Some(spacing) = self.fixed_spacing(flow) else { continue };
                match groups.iter_mut().find(|(of, all)| *of == spacing && self.are_like(all[0], flow)) {
                    Some((_, all)) => all.push(flow),
                    None => groups.push((spacing, vec![flow])),
                }
            }
            groups.sort_by_key(|(spacing, _)| *spacing);
            rows.extend(groups.iter().filter_map(|(spacing, all)| self.phase_effect(number, *spacing, all)));
        }
        rows
    }

    fn phase_effect(&self, number: usize, spacing: Duration, all: &[usize]) -> Option<PhaseEffectSummary> {
        let mut parts: Vec<(f64, usize)> = Vec::new();
        let (mut lost, mut decided) = (0, 0);
        for &flow in all {
            let instants = self.found_no_room.get(&(number, flow)).map_or(&[][..], |instants| instants);
            lost += instants.len() as u64;
            decided += in_phase(instants, spacing);
            if self.ends[flow].sent > 0 {
                parts.push((instants.len() as f64 / self.ends[flow].sent as f64, flow));
            }
        }
        let (mut least, mut most) = (*parts.first()?, *parts.first()?);
        for &part in &parts[1..] {
            if part.0 < least.0 {
                least = part;
            }
            if part.0 >= most.0 {
                most = part;
            }
        }
        let says = all.len() >= 2 && lost >= 20 && decided * 2 >= lost && most.0 > 4.0 * least.0;
        says.then(|| PhaseEffectSummary {
            port: self.port_name(number),
            vcs: all.len() as u64,
            spacing_s: spacing.as_secs_f64(),
            lost,
            decided,
            favoured: self.name_of(least.1),
            favoured_loss: least.0,
            starved: self.name_of(most.1),
            starved_loss: most.0,
        })
    }

    /// The distance that the cells of a direction keep exactly, if they do.
    fn fixed_spacing(&self, flow: usize) -> Option<Duration> {
        let connection = &self.scenario.connections[flow / 2];
        let own = if flow.is_multiple_of(2) { &connection.forward } else { &connection.backward };
        let (Sender::Peak(_), Some(traffic)) = (&own.sender, &own.traffic) else { return None };
        let step = self.paths[flow][0];
        let link = &self.scenario.links[step.link.0 as usize];
        if link.changes.iter().flat_map(|step| &step.lines).any(|line| line.rate != link.rate) {
            return None;
        }
        let of_traffic = match traffic {
            Traffic::Tcp(tcp) => {
                let host = self.scenario.hosts.get(self.scenario.tail(step).0 as usize);
                let at_once = host.is_none_or(|host| {
                    !matches!(host.processing, Processing::Uniform(..) | Processing::Exponential(_))
                });
                (at_once && !tcp.successive).then_some(Duration::ZERO)?
            }
            other => other.kind().fixed_spacing()?,
        };
        Some(of_traffic.max(self.ends[flow].spacing).max(link.rate.cell_time()))
    }

    /// Whether two directions differ in nothing but names, ways and starts.
    fn are_like(&self, one: usize, other: usize) -> bool {
        let [first, second] = [one, other].map(|flow| {
            let connection = &self.scenario.connections[flow / 2];
            let own = if flow.is_multiple_of(2) { &connection.forward } else { &connection.backward };
            (connection.category, own.traffic.as_ref().expect("it has a spacing"))
        });
        let same = match (first.1, second.1) {
            (Traffic::Tcp(a), Traffic::Tcp(b)) => {
                a.tcp == b.tcp && a.encapsulation == b.encapsulation && a.connections == b.connections
            }
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        first.0 == second.0 && same
    }
}

/// How many losses came a whole number of the shortest gap so far after the one before, if the shortest gap of all is a
/// whole number of spacings.
fn in_phase(instants: &[Time], spacing: Duration) -> u64 {
    let mut shortest = u64::MAX;
    let mut count = 0;
    for pair in instants.windows(2) {
        let gap = pair[1].since(pair[0]).as_ps();
        if gap > 0 {
            shortest = shortest.min(gap);
            count += u64::from(gap % shortest == 0);
        }
    }
    if shortest < u64::MAX && shortest % spacing.as_ps() == 0 { count } else { 0 }
}

fn word(category: Category) -> &'static str {
    match category {
        Category::Cbr => "cbr",
        Category::Vbr => "vbr",
        Category::Abr => "abr",
        Category::Gfr => "gfr",
        Category::Ubr => "ubr",
    }
}

/// Jain's index, by the mean and the mean of squares.
fn evenness(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let of_squares = values.iter().map(|value| value * value).sum::<f64>() / count;
    (of_squares > 0.0).then(|| mean * mean / of_squares)
}

/// Takes fair shares out of both: where an algorithm is given to a run, the run does not know what it means to hand
/// out, and the judge, which has it built in, does.
pub fn forget_fair_shares(kernel: &mut Summary, judge: &mut Derived) {
    for row in kernel.shares.iter_mut().chain(&mut judge.shares) {
        (row.fair_share_bps, row.of_fair_share) = (None, None);
    }
    for row in kernel.fairness.iter_mut().chain(&mut judge.fairness) {
        (row.jain_of_fair_shares, row.least_of_fair_share) = (None, None);
    }
}

/// The first such row in which the two differ.
pub fn derived_difference(kernel: &Summary, judge: &Derived) -> Option<String> {
    let near = |one: f64, other: f64| {
        one == other || one.is_nan() && other.is_nan() || (one - other).abs() <= 1e-12 * other.abs()
    };
    let same = |one: Option<f64>, other: Option<f64>| match (one, other) {
        (Some(one), Some(other)) => near(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    let same_share = |(a, b): (&ShareSummary, &ShareSummary)| {
        (&a.vc, a.category) == (&b.vc, b.category)
            && near(a.goodput_bps, b.goodput_bps)
            && same(a.fair_share_bps, b.fair_share_bps)
            && same(a.of_fair_share, b.of_fair_share)
    };
    let same_fairness = |(a, b): (&FairnessSummary, &FairnessSummary)| {
        (a.category, a.vcs) == (b.category, b.vcs)
            && same(a.jain, b.jain)
            && same(a.jain_of_fair_shares, b.jain_of_fair_shares)
            && same(a.least_of_fair_share, b.least_of_fair_share)
    };
    let same_efficiency = |(a, b): (&EfficiencySummary, &EfficiencySummary)| {
        a.port == b.port && near(a.goodput_bps, b.goodput_bps) && near(a.efficiency, b.efficiency)
    };
    let Summary { shares, fairness, efficiency, host_bottlenecks, phase_effects, .. } = kernel;
    if shares.len() != judge.shares.len() || !shares.iter().zip(&judge.shares).all(same_share) {
        return Some(format!("shares: {shares:#?} against {:#?}", judge.shares));
    }
    if fairness.len() != judge.fairness.len() || !fairness.iter().zip(&judge.fairness).all(same_fairness) {
        return Some(format!("fairness: {fairness:#?} against {:#?}", judge.fairness));
    }
    let lines = efficiency.iter().zip(&judge.efficiency);
    if efficiency.len() != judge.efficiency.len() || !lines.into_iter().all(same_efficiency) {
        return Some(format!("efficiency: {efficiency:#?} against {:#?}", judge.efficiency));
    }
    if *host_bottlenecks != judge.host_bottlenecks {
        return Some(format!("slow hosts: {host_bottlenecks:#?} against {:#?}", judge.host_bottlenecks));
    }
    if *phase_effects != judge.phase_effects {
        return Some(format!("phase effects: {phase_effects:#?} against {:#?}", judge.phase_effects));
    }
    None
}
