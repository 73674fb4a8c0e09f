//! Branch points of trees: where their cells come from and go to, and how well they consolidate.

use cellrate_proto::{CellRate, Duration, RateCode, Time};
use cellrate_scenario::{BranchPoint, FlowIndex, Scenario, Step};
use serde::Serialize;

use crate::declared::Row;

use crate::names::{flow_name, virtual_source_name};
use crate::random::{Owner, Random, Stream};

/// A hop of a direction, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The direction.
    pub flow: FlowIndex,
    /// The hop.
    pub hop: usize,
}

impl Hop {
    /// Its link.
    pub fn step(self, scenario: &Scenario) -> Step {
        scenario.step(self.flow, self.hop)
    }
}

/// The ways of cells at a branch point. Its branches are numbered from 0 on: first the connection that comes to it,
/// then those that begin there.
#[derive(Clone, Debug)]
pub struct Ways {
    /// The branch point.
    pub point: BranchPoint,
    /// By which cells come from the source.
    pub from_source: Hop,
    /// By which they go on to each branch.
    pub on: Vec<Hop>,
    /// By which BRMs come from each branch.
    pub from_branch: Vec<Hop>,
    /// By which BRMs go up.
    pub up: Hop,
}

/// Rows of all branch points, in their order.
pub fn ways(scenario: &Scenario) -> Vec<Ways> {
    scenario.branch_points().into_iter().map(|point| ways_of(scenario, point)).collect()
}

fn ways_of(scenario: &Scenario, point: BranchPoint) -> Ways {
    let (forward, hop) = (FlowIndex::of(point.connection, false), point.hop);
    // Hop j of n leaves the node that hop n - j of the other direction leaves.
    let up = Hop { flow: forward.other(), hop: scenario.steps(forward).len() - hop };
    let mut on = vec![Hop { flow: forward, hop }];
    let mut from_branch = vec![Hop { hop: up.hop - 1, ..up }];
    for &branch in &point.branches {
        let flow = FlowIndex::of(branch, false);
        on.push(Hop { flow, hop: 0 });
        from_branch.push(Hop { flow: flow.other(), hop: scenario.steps(flow).len() - 1 });
    }
    Ways { from_source: Hop { flow: forward, hop: hop - 1 }, on, from_branch, up, point }
}

impl Ways {
    /// Random numbers of a branch point that draws by chance.
    pub fn random(&self, scenario: &Scenario) -> Random {
        let name = virtual_source_name(scenario, self.from_source.flow, self.point.switch);
        Random::new(scenario.seed, Stream::Consolidation(Owner::named(&name)))
    }
}

/// A branch point of an ABR tree: what it has made of the BRMs of its branches.
#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[row(one = "branch point", many = "branch points", named = "{vc} at {switch}")]
pub struct BranchPointSummary {
    /// Name of the connection that comes to it.
    pub vc: String,
    /// The switch.
    pub switch: String,
    /// How many there are, the VC's own way on among them.
    #[row(unit = plain, adds = sum)]
    pub branches: u64,
    /// FRMs copied to all of them.
    #[row(unit = cells, adds = sum, heading = "FRMs")]
    pub forward_rm: u64,
    /// BRMs that came from branches.
    #[row(unit = cells, adds = sum, heading = "BRMs came")]
    pub backward_rm_received: u64,
    /// BRMs that went up.
    #[row(unit = cells, adds = sum, heading = "BRMs sent")]
    pub backward_rm_sent: u64,
    /// BRMs that went up before every branch had reported since the one before.
    #[row(unit = cells, adds = sum)]
    pub incomplete: u64,
    /// BRMs whose ER was above the least of the last reports of the branches: consolidation noise.
    #[row(unit = cells, adds = sum, heading = "too high")]
    pub too_high: u64,
    /// How far above, the mean over all that went up.
    #[row(unit = cells_per_s, adds = mean(backward_rm_sent), heading = "mean excess")]
    pub mean_excess: f64,
    /// How far above at most.
    #[row(unit = cells_per_s, adds = largest)]
    pub max_excess: f64,
    /// Times that the least of the last reports was below what had gone up last, until so little went up.
    #[row(unit = plain, adds = sum)]
    pub decreases: u64,
    /// How long that took, in the mean. `None` if there was none.
    #[row(unit = s, adds = mean(decreases), heading = "mean response")]
    pub mean_response_s: Option<f64>,
    /// How long at most.
    #[row(unit = s, adds = largest, heading = "max response")]
    pub max_response_s: Option<f64>,
}

/// Measures a branch point.
#[derive(Clone, Debug)]
pub struct Meter {
    /// The last report of each branch, if it has made one.
    latest: Vec<Option<RateCode>>,
    /// Whether it has made one since the last BRM went up.
    reported: Vec<bool>,
    /// ER that went up last; PCR before.
    told: RateCode,
    /// Since when a report of less has waited.
    waits_since: Option<Time>,
    counts: Counts,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    forward_rm: u64,
    received: u64,
    sent: u64,
    incomplete: u64,
    too_high: u64,
    /// [cells/s]
    excess: f64,
    max_excess: f64,
    decreases: u64,
    response: Duration,
    max_response: Duration,
}

impl Meter {
    /// That of a branch point with so many branches; PCR is the connection's.
    pub fn new(branches: usize, pcr: CellRate) -> Meter {
        Meter {
            latest: vec![None; branches],
            reported: vec![false; branches],
            told: RateCode::floor(pcr),
            waits_since: None,
            counts: Counts::default(),
        }
    }

    /// An FRM has been copied.
    pub fn on_forward_rm(&mut self) {
        self.counts.forward_rm += 1;
    }

    /// A BRM with this ER has come from a branch.
    pub fn on_backward_rm(&mut self, now: Time, branch: usize, explicit_rate: RateCode) {
        self.counts.received += 1;
        self.latest[branch] = Some(explicit_rate);
        self.reported[branch] = true;
        match self.least().is_some_and(|least| least < self.told) {
            true => drop(self.waits_since.get_or_insert(now)),
            false => self.waits_since = None,
        }
    }

    /// A BRM with this ER has gone up.
    pub fn on_sent(&mut self, now: Time, explicit_rate: RateCode) {
        let least = self.least();
        let counts = &mut self.counts;
        counts.sent += 1;
        counts.incomplete += u64::from(self.reported.contains(&false));
        self.reported.fill(false);
        self.told = explicit_rate;
        match least.filter(|least| explicit_rate > *least) {
            Some(least) => {
                let excess = explicit_rate.rate().as_cells_per_s() - least.rate().as_cells_per_s();
                counts.too_high += 1;
                counts.excess += excess;
                counts.max_excess = counts.max_excess.max(excess);
            }
            None => {
                if let Some(since) = self.waits_since.take() {
                    let response = now.since(since);
                    counts.decreases += 1;
                    counts.response = counts.response.saturating_add(response);
                    counts.max_response = counts.max_response.max(response);
                }
            }
        }
    }

    fn least(&self) -> Option<RateCode> {
        self.latest.iter().copied().flatten().min()
    }

    /// The figures begin anew.
    pub fn begin_anew(&mut self) {
        self.counts = Counts::default();
    }

    /// The row of a branch point.
    pub fn summary(&self, scenario: &Scenario, point: &BranchPoint) -> BranchPointSummary {
        let counts = &self.counts;
        let responses = |response: Duration| (counts.decreases > 0).then(|| response.as_secs_f64());
        BranchPointSummary {
            vc: flow_name(scenario, FlowIndex::of(point.connection, false)),
            switch: scenario.node(point.switch).name.clone(),
            branches: self.latest.len() as u64,
            forward_rm: counts.forward_rm,
            backward_rm_received: counts.received,
            backward_rm_sent: counts.sent,
            incomplete: counts.incomplete,
            too_high: counts.too_high,
            mean_excess: if counts.sent == 0 { 0.0 } else { counts.excess / counts.sent as f64 },
            max_excess: counts.max_excess,
            decreases: counts.decreases,
            mean_response_s: responses(counts.response).map(|sum| sum / counts.decreases as f64),
            max_response_s: responses(counts.max_response),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_and_response_are_measured_at_the_last_reports() {
        let mut meter = Meter::new(2, CellRate::new(100.0));
        let rate = |rate: f64| RateCode::floor(CellRate::new(rate));
        let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
        // No branch has answered: 100 is not known to be too much.
        meter.on_sent(at(0), rate(100.0));
        // 50 waits from 1 ms on, though 10 comes at 3 ms, and goes up at 5 ms.
        meter.on_backward_rm(at(1), 0, rate(50.0));
        meter.on_backward_rm(at(3), 1, rate(10.0));
        meter.on_sent(at(5), rate(10.0));
        // A reports, and is passed: 40 too many.
        meter.on_backward_rm(at(6), 0, rate(50.0));
        meter.on_sent(at(6), rate(50.0));
        // B says so again, and is told after 2 ms.
        meter.on_backward_rm(at(8), 1, rate(10.0));
        meter.on_sent(at(10), rate(10.0));
        // 5 for 3 ms, taken back before it goes up.
        meter.on_backward_rm(at(11), 1, rate(5.0));
        meter.on_backward_rm(at(14), 1, rate(50.0));
        let counts = &meter.counts;
        assert_eq!((counts.received, counts.sent, counts.incomplete, counts.too_high), (6, 4, 3, 1));
        assert_eq!((counts.excess, counts.max_excess, counts.decreases), (40.0, 40.0, 2));
        assert_eq!((counts.response, counts.max_response), (Duration::from_ms(6), Duration::from_ms(4)));
    }
}
