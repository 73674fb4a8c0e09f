//! Progressive filling: the level of all flows rises until ports are full and flows at their PCRs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;

/// A flow to be given a rate.
#[derive(Debug)]
pub(super) struct Flow {
    /// The output ports on the way, by their places in the list of capacities.
    pub ports: Vec<usize>,
    pub mcr: f64,
    pub pcr: f64,
    pub weight: f64,
    /// The level up to which it stays at its MCR, and from which on it has weight times what is above that, too.
    pub rises_from: f64,
}

impl Flow {
    /// The level at which it is at its PCR.
    fn peak_at(&self) -> f64 {
        self.rises_from + (self.pcr - self.mcr) / self.weight
    }
}

/// The cells that come back of a flow that has no data the other way.
#[derive(Debug)]
pub(super) struct Answers {
    /// The output ports on their way, by their places in the list of capacities; none where they are among the cells of
    /// another flow.
    pub ports: Vec<usize>,
    /// How many there are for each cell of the flow.
    pub share: f64,
}

/// The number of cells that come back for each cell of a flow with `nrm`: a backward RM cell for every Nrm of its
/// cells. Of that direction's cells all but `others` are forward RM cells in their turn, every Nrm-th by its own Nrm
/// (TM 4.0, source behaviour 3).
pub(super) fn answered(nrm: f64, others: f64) -> f64 {
    1.0 / (nrm * others)
}

/// Rounds until rates agree with the cells that come back of them. As many come back as were sent where Nrm is 2, and
/// rates would swing for ever; going half of the way to each answer leaves at most half of the error in every round.
const ROUNDS: usize = 64;

/// [`fill`] with what the cells that come back of all flows leave of the ports: they ask for no more than a small part
/// of what a flow gets, unless Nrm is small, so nothing holds them back, and they come first.
pub(super) fn fill_beside_answers(
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
    /// The flows that stay at their MCRs at first, by the level from which on they rise.
    by_rise: Vec<usize>,
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
        let mut by_rise: Vec<usize> = (0..flows.len()).filter(|&flow| flows[flow].rises_from > 0.0).collect();
        by_rise.sort_by(|&a, &b| flows[a].rises_from.total_cmp(&flows[b].rises_from));
        Orders { through, by_peak, by_rise }
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
    let mut filling = Filling::begin(capacity, phantoms, flows)?;
    let mut settled: Vec<Option<Filled>> = vec![None; flows.len()];
    let mut peaks = orders.by_peak.iter().copied().peekable();
    let mut rises = orders.by_rise.iter().copied().peekable();
    let mut open = flows.len();
    while open > 0 {
        // The lowest level at which something changes: a port is full, a flow is at its PCR, or one begins to rise.
        while peaks.next_if(|&flow| settled[flow].is_some()).is_some() {}
        while rises.next_if(|&flow| settled[flow].is_some()).is_some() {}
        let full = filling.first_full();
        let peak = peaks.peek().map(|&flow| flows[flow].peak_at());
        let stops = full.map_or(f64::INFINITY, |(level, _)| level).min(peak.unwrap_or(f64::INFINITY));
        if let Some(flow) = rises.next_if(|&flow| flows[flow].rises_from < stops) {
            filling.rise(flow, flows[flow]);
            continue;
        }
        let (full, stopping): (_, Vec<usize>) = match (full, peak) {
            (None, None) => break,
            (Some((level, port)), peak) if peak.is_none_or(|peak| level <= peak) => {
                (Some((level, port)), orders.through(port).filter(|&flow| settled[flow].is_none()).collect())
            }
            (_, peak) => {
                let at_peak = |&flow: &usize| peak.is_some_and(|peak| flows[flow].peak_at() <= peak);
                let these = iter::from_fn(|| peaks.next_if(at_peak));
                (None, these.filter(|&flow| settled[flow].is_none()).collect())
            }
        };
        open -= stopping.len();
        for &place in &stopping {
            let (flow, port) = (flows[place], full.map(|(_, port)| port));
            let above = match full {
                Some((level, _)) => filling.above_mcr(place, flow, level),
                None => flow.pcr - flow.mcr,
            };
            settled[place] = Some((if port.is_none() { flow.pcr } else { flow.mcr + above }, port));
            filling.settle(place, flow, above);
        }
        filling.renew(stopping.into_iter().flat_map(|place| flows[place].ports.iter().copied()));
    }
    Ok(settled.into_iter().flatten().collect())
}

/// The ports while levels rise.
struct Filling {
    /// Capacity that is left of each when every flow that is settled has its rate and every other its MCR [cells/s], as
    /// the rise of those that rise counts from level 0.
    left: Vec<f64>,
    /// The weights of those that rise.
    weight: Vec<f64>,
    /// How many flows through each are not settled, and how many of them rise.
    open: Vec<usize>,
    rising: Vec<usize>,
    /// Whether a flow has begun to rise.
    has_risen: Vec<bool>,
    phantoms: Vec<f64>,
    /// The levels at which ports are full.
    levels: Vec<f64>,
    /// Levels at which ports are full, lowest first; of each port the entry with its latest level counts.
    full: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Filling {
    fn begin(capacity: &[f64], phantoms: &[f64], flows: &[&Flow]) -> Result<Filling, (usize, f64)> {
        let ports = capacity.len();
        let mut filling = Filling {
            left: capacity.to_vec(),
            weight: phantoms.to_vec(),
            open: vec![0; ports],
            rising: vec![0; ports],
            has_risen: flows.iter().map(|flow| flow.rises_from == 0.0).collect(),
            phantoms: phantoms.to_vec(),
            levels: vec![f64::INFINITY; ports],
            full: BinaryHeap::new(),
        };
        for flow in flows {
            for &port in &flow.ports {
                filling.left[port] -= flow.mcr;
                filling.open[port] += 1;
                if flow.rises_from == 0.0 {
                    filling.weight[port] += flow.weight;
                    filling.rising[port] += 1;
                }
            }
        }
        let tolerance = |port: usize| 1e-9 * capacity[port].max(1.0);
        let is_over = |&port: &usize| filling.open[port] > 0 && filling.left[port] < -tolerance(port);
        if let Some(port) = (0..ports).find(is_over) {
            return Err((port, capacity[port] - filling.left[port]));
        }
        filling.renew(0..ports);
        Ok(filling)
    }

    /// The port that is full first, and at which level.
    fn first_full(&mut self) -> Option<(f64, usize)> {
        loop {
            let &Reverse((level, port)) = self.full.peek()?;
            if level == self.levels[port].to_bits() && self.open[port] > 0 {
                return Some((self.levels[port], port));
            }
            self.full.pop();
        }
    }

    /// A flow begins to rise.
    fn rise(&mut self, place: usize, flow: &Flow) {
        self.has_risen[place] = true;
        for &port in &flow.ports {
            self.left[port] += flow.weight * flow.rises_from;
            self.weight[port] += flow.weight;
            self.rising[port] += 1;
        }
        self.renew(flow.ports.iter().copied());
    }

    /// The rate of a flow above its MCR at this level [cells/s].
    fn above_mcr(&self, place: usize, flow: &Flow, level: f64) -> f64 {
        if self.has_risen[place] { (flow.weight * (level - flow.rises_from)).max(0.0) } else { 0.0 }
    }

    /// A flow stops, so much above its MCR.
    fn settle(&mut self, place: usize, flow: &Flow, above_mcr: f64) {
        for &port in &flow.ports {
            self.open[port] -= 1;
            self.left[port] -= above_mcr;
            if self.has_risen[place] {
                self.left[port] -= flow.weight * flow.rises_from;
                self.rising[port] -= 1;
                self.weight[port] -= flow.weight;
            }
            // Exact once none rises, whatever rounding left.
            if self.rising[port] == 0 {
                self.weight[port] = self.phantoms[port];
            }
        }
    }

    /// Works out anew when these ports are full.
    fn renew(&mut self, ports: impl Iterator<Item = usize>) {
        for port in ports {
            let level = full_at(self.left[port], self.weight[port]);
            if self.open[port] > 0 && level.to_bits() != self.levels[port].to_bits() {
                self.levels[port] = level;
                self.full.push(Reverse((level.to_bits(), port)));
            }
        }
    }
}

/// The level at which a port is full: the rest for each unit of weight; never below 0, nor -0.
fn full_at(left: f64, weight: f64) -> f64 {
    (left / weight).max(0.0) + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Capacities of ports and weights of their phantoms, and flows.
    fn any_flows(gmm: bool) -> impl Strategy<Value = (Vec<(f64, f64)>, Vec<Flow>)> {
        let port = (1_000.0..1e6_f64, prop_oneof![Just(0.0), 0.01..10.0_f64]);
        proptest::collection::vec(port, 1..8).prop_flat_map(move |ports| {
            let way = proptest::sample::subsequence((0..ports.len()).collect::<Vec<_>>(), 1..=ports.len());
            let weight = prop_oneof![Just(1.0), 0.1..10.0_f64];
            let flow = (way, prop_oneof![Just(0.0), 0.0..30.0_f64], 30.0..1e6_f64, weight);
            let flow = flow.prop_map(move |(ports, mcr, pcr, weight)| {
                let rises_from = if gmm { mcr / weight } else { 0.0 };
                Flow { ports, mcr, pcr, weight, rises_from }
            });
            (Just(ports), proptest::collection::vec(flow, 1..20))
        })
    }

    /// Every flow has its PCR or a bottleneck, and no other flow at that has a higher level, but for those that are at
    /// their MCR.
    fn check((ports, flows): (Vec<(f64, f64)>, Vec<Flow>)) -> Result<(), TestCaseError> {
        let (capacity, phantoms): (Vec<f64>, Vec<f64>) = ports.into_iter().unzip();
        let plain: Vec<&Flow> = flows.iter().collect();
        let shares =
            fill(&capacity, &phantoms, &plain, &Orders::of(&plain)).expect("20 MCRs of 30 fit into 1000");
        prop_assert_eq!(shares.len(), flows.len());
        let load = |port: usize| -> f64 {
            let through = flows.iter().zip(&shares).filter(|(flow, _)| flow.ports.contains(&port));
            through.map(|(_, share)| share.0).sum()
        };
        for (port, capacity) in capacity.iter().enumerate() {
            prop_assert!(load(port) <= capacity * (1.0 + 1e-9));
        }
        let is_at_mcr = |i: usize| shares[i].0 <= flows[i].mcr * (1.0 + 1e-9);
        let level = |i: usize| flows[i].rises_from + (shares[i].0 - flows[i].mcr) / flows[i].weight;
        for (i, (rate, bottleneck)) in shares.iter().enumerate() {
            prop_assert!(*rate >= flows[i].mcr && *rate <= flows[i].pcr * (1.0 + 1e-12));
            let Some(port) = bottleneck else {
                prop_assert_eq!(*rate, flows[i].pcr);
                continue;
            };
            prop_assert!(flows[i].ports.contains(port));
            let at_port = flows.iter().enumerate().filter(|(_, flow)| flow.ports.contains(port));
            let highest = at_port.filter(|&(j, _)| !is_at_mcr(j)).map(|(j, _)| level(j)).fold(0.0, f64::max);
            if !is_at_mcr(i) {
                prop_assert!(highest <= level(i) * (1.0 + 1e-9) + 1e-9, "{highest}, {}", level(i));
                let full = load(*port) + phantoms[*port] * level(i);
                prop_assert!((full / capacity[*port] - 1.0).abs() <= 1e-9, "the bottleneck is full");
            } else {
                prop_assert!(highest <= level(i) * (1.0 + 1e-9) + 1e-9, "it would have risen");
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn no_port_is_over_its_capacity_and_every_flow_has_a_bottleneck(given in any_flows(false)) {
            check(given)?;
        }

        #[test]
        fn by_gmm_too(given in any_flows(true)) {
            check(given)?;
        }
    }
}
