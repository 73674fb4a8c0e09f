//! How the judge has switches copy cells to the branches of a tree, and make of the BRMs that come back those that go
//! up.
//!
//! Figures of a branch point are worked out when the run has ended, from all RM cells that came and went there.

use cellrate_proto::RateCode;
use cellrate_proto::consolidation::Consolidator;
use cellrate_sim::BranchPointSummary;

use super::*;

/// Flaws that take trees to tell.
pub const TREE_FLAWS: [(Flaw, u64); 5] = [
    (Flaw::CopiesLoseEfci, 117),
    (Flaw::AnswersBeforeCopies, 78),
    (Flaw::OneBranchAnswers, 18),
    (Flaw::UnmeteredFeedback, 98),
    (Flaw::BranchesTakenForOne, 7),
];

/// A branch point: the connection that comes to it, and the step that leaves it.
pub(super) type Place = (usize, usize);

/// A branch point, and all that has been said there.
pub(super) struct Point {
    consolidator: Consolidator,
    random: Random,
    story: Vec<(Time, Said)>,
    /// How much of it is of the warm-up.
    before: usize,
}

#[derive(Clone, Copy)]
enum Said {
    ForwardRm,
    FromBranch(usize, RateCode),
    Up(RateCode),
}

impl Point {
    /// All branch points of ABR connections.
    pub(super) fn all(scenario: &Scenario) -> BTreeMap<Place, Point> {
        let (mut points, branches) = (BTreeMap::new(), all_branches(scenario));
        for connection in &scenario.connections {
            let Some(branch) = connection.branch else { continue };
            let Sender::Abr(abr) = &connection.forward.sender else { continue };
            let place = (branch.from.0 as usize, branch.hop);
            let ways = 1 + branches[&place].len();
            let stem = &scenario.connections[place.0];
            let switch = &scenario.nodes[scenario.tail(stem.path[place.1]).0 as usize].name;
            let owner = Owner::named(&format!("{} at {switch}", stem.name));
            points.entry(place).or_insert_with(|| Point {
                consolidator: Consolidator::new(branch.consolidation, ways, abr.parameters.pcr),
                random: Random::new(scenario.seed, Stream::Consolidation(owner)),
                story: Vec::new(),
                before: 0,
            });
        }
        points
    }

    pub(super) fn end_warm_up(&mut self) {
        self.before = self.story.len();
    }
}

/// The connections that begin at each branch point, in order.
pub(super) fn all_branches(scenario: &Scenario) -> BTreeMap<Place, Vec<usize>> {
    let mut all: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
    for (index, connection) in scenario.connections.iter().enumerate() {
        if let Some(branch) = connection.branch {
            all.entry((branch.from.0 as usize, branch.hop)).or_default().push(index);
        }
    }
    all
}

impl Network<'_> {
    /// The branch point that a cell has reached from the source of its tree, if it has.
    pub(super) fn copied_at(&self, cell: &Cell) -> Option<Place> {
        let place = (cell.flow / 2, cell.step + 1);
        (cell.flow.is_multiple_of(2) && self.branches.contains_key(&place)).then_some(place)
    }

    /// The branch point that a cell has reached from a branch, and the number of that.
    pub(super) fn taken_in_at(&self, cell: &Cell) -> Option<(Place, usize)> {
        let connection = cell.flow / 2;
        if cell.flow.is_multiple_of(2) {
            return None;
        }
        let left = self.paths[cell.flow].len() - cell.step - 1;
        if left > 0 {
            let place = (connection, left);
            return self.branches.contains_key(&place).then_some((place, 0));
        }
        let branch = self.scenario.connections[connection].branch?;
        let place = (branch.from.0 as usize, branch.hop);
        let number = self.branches[&place].iter().position(|&other| other == connection);
        Some((place, 1 + number.expect("it begins there")))
    }

    /// `cell` goes on to each branch.
    pub(super) fn copy(&mut self, now: Time, place: Place, cell: &Cell) {
        let is_frm = cell.rm.is_some_and(|rm| rm.direction == Direction::Forward);
        if self.flaw == Some(Flaw::AnswersBeforeCopies) && is_frm {
            self.answer_frm(now, place, cell);
        }
        self.pass_on(now, Box::new(Cell { step: cell.step + 1, ..cell.clone() }));
        for branch in self.branches[&place].clone() {
            let end = &mut self.ends[2 * branch];
            end.sent += 1;
            match cell.rm {
                Some(_) => end.forward_rm_sent += 1,
                None => end.data_sent += 1,
            }
            let efci = cell.efci && self.flaw != Some(Flaw::CopiesLoseEfci);
            self.pass_on(now, Box::new(Cell { flow: 2 * branch, step: 0, efci, ..cell.clone() }));
        }
        if self.flaw != Some(Flaw::AnswersBeforeCopies) && is_frm {
            self.answer_frm(now, place, cell);
        }
    }

    fn answer_frm(&mut self, now: Time, place: Place, cell: &Cell) {
        let point = self.points.get_mut(&place).expect("it is of ABR");
        point.story.push((now, Said::ForwardRm));
        let up = point.consolidator.on_forward_rm(now, &cell.rm.expect("it is an FRM"));
        self.send_up(now, place, up);
    }

    /// A BRM from a branch ends here.
    pub(super) fn take_at_branch_point(&mut self, now: Time, (place, number): (Place, usize), cell: &Cell) {
        let mut rm = cell.rm.expect("only RM cells come back");
        if number > 0 {
            let end = &mut self.ends[cell.flow ^ 1];
            end.received += 1;
            end.backward_rm_received += 1;
        } else {
            *self.taken_in.entry(cell.flow).or_default() += 1;
        }
        let way = self.ways_on(place)[number];
        let point = self.points.get_mut(&place).expect("it is of ABR");
        point.story.push((now, Said::FromBranch(number, rm.explicit_rate)));
        if point.consolidator.answers_on_arrival() {
            rm = self.answered_for(now, way, rm);
        }
        let number = if self.flaw == Some(Flaw::BranchesTakenForOne) { 0 } else { number };
        let Point { consolidator, random, .. } = self.points.get_mut(&place).expect("it is of ABR");
        let up = consolidator.on_backward_rm(now, number, &rm, || random.uniform());
        self.send_up(now, place, up);
    }

    /// The directions by which cells go on from a branch point, and the steps.
    fn ways_on(&self, place: Place) -> Vec<(usize, usize)> {
        let own = (2 * place.0, place.1);
        let others = self.branches[&place].iter().map(|branch| (2 * branch, 0));
        std::iter::once(own).chain(others).collect()
    }

    /// The port by which a direction goes on answers, after what the copies before may have ended there.
    fn answered_for(&mut self, now: Time, (flow, step): (usize, usize), rm: RmCell) -> RmCell {
        let number = number_of(self.paths[flow][step]);
        self.on_interval_end(now, number);
        self.answer(now, number, flow, rm)
    }

    fn send_up(&mut self, now: Time, place: Place, up: Option<RmCell>) {
        let Some(mut rm) = up else { return };
        if !self.points[&place].consolidator.answers_on_arrival() {
            let mut ways = self.ways_on(place);
            if self.flaw == Some(Flaw::OneBranchAnswers) {
                ways.truncate(1);
            }
            for way in ways {
                rm = self.answered_for(now, way, rm);
            }
        }
        let point = self.points.get_mut(&place).expect("it is of ABR");
        point.consolidator.on_sent(rm.explicit_rate);
        point.story.push((now, Said::Up(rm.explicit_rate)));
        let flow = 2 * place.0 + 1;
        let step = self.paths[flow].len() - place.1;
        let (efci, ends_pdu, tagged) = (false, false, false);
        let cell = Box::new(Cell {
            flow,
            step,
            sent: now,
            number: 0,
            efci,
            rm: Some(rm),
            values: None,
            ends_pdu,
            tagged,
            marked: false,
            pdu: None,
            oam: None,
        });
        self.pass_on(now, cell);
    }

    /// `cell` comes to the port that its step begins at.
    fn pass_on(&mut self, now: Time, cell: Box<Cell>) {
        let is_brm = cell.rm.is_some_and(|rm| rm.direction == Direction::Backward);
        let number = match self.flaw {
            Some(Flaw::UnmeteredFeedback) if is_brm => number_of(self.paths[cell.flow][cell.step]),
            _ => self.observe(now, &cell),
        };
        self.admit(now, number, cell);
        self.plan_interval_end(number);
    }

    /// The rows of branch points, from what was said there since the end of the warm-up.
    pub(super) fn branch_point_rows(&self) -> Vec<BranchPointSummary> {
        self.points.iter().map(|(&place, point)| self.branch_point_row(place, point)).collect()
    }

    fn branch_point_row(&self, place: Place, point: &Point) -> BranchPointSummary {
        let stem = &self.scenario.connections[place.0];
        let branches = 1 + self.branches[&place].len();
        let counted = |wanted: fn(&Said) -> bool| {
            point.story[point.before..].iter().filter(|(_, said)| wanted(said)).count() as u64
        };
        let (mut incomplete, mut excesses, mut responses) = (0, Vec::new(), Vec::new());
        for (number, &(at, said)) in point.story.iter().enumerate().skip(point.before) {
            let Said::Up(rate) = said else { continue };
            let last = |branch: usize| {
                point.story[..number].iter().rev().find_map(|&(_, said)| match said {
                    Said::FromBranch(from, rate) if from == branch => Some(rate),
                    _ => None,
                })
            };
            let since_last =
                point.story[..number].iter().rev().take_while(|(_, said)| !matches!(said, Said::Up(_)));
            let heard: Vec<usize> = since_last
                .filter_map(|(_, said)| match said {
                    Said::FromBranch(branch, _) => Some(*branch),
                    _ => None,
                })
                .collect();
            incomplete += u64::from((0..branches).any(|branch| !heard.contains(&branch)));
            let least = (0..branches).filter_map(last).min();
            match least {
                Some(least) if rate > least => {
                    excesses.push(rate.rate().as_cells_per_s() - least.rate().as_cells_per_s());
                }
                _ => responses.extend(self.response(&point.story[..number], place, at)),
            }
        }
        let sent = counted(|said| matches!(said, Said::Up(_)));
        let seconds: Vec<f64> = responses.iter().map(|response| response.as_secs_f64()).collect();
        let sum = responses.iter().fold(Duration::ZERO, |sum, &response| sum + response);
        BranchPointSummary {
            vc: stem.name.clone(),
            switch: self.scenario.nodes[self.scenario.tail(stem.path[place.1]).0 as usize].name.clone(),
            branches: branches as u64,
            forward_rm: counted(|said| matches!(said, Said::ForwardRm)),
            backward_rm_received: counted(|said| matches!(said, Said::FromBranch(..))),
            backward_rm_sent: sent,
            incomplete,
            too_high: excesses.len() as u64,
            mean_excess: if sent == 0 { 0.0 } else { excesses.iter().sum::<f64>() / sent as f64 },
            max_excess: excesses.iter().copied().fold(0.0, f64::max),
            decreases: responses.len() as u64,
            mean_response_s: (!responses.is_empty()).then(|| sum.as_secs_f64() / responses.len() as f64),
            max_response_s: seconds.into_iter().reduce(f64::max),
        }
    }

    /// How long the least of the reports in `story` had been below what went up last, by `now`; `None` if it is not
    /// below it at the end of the story.
    fn response(&self, story: &[(Time, Said)], place: Place, now: Time) -> Option<Duration> {
        let Sender::Abr(abr) = &self.scenario.connections[place.0].forward.sender else { return None };
        let mut told = RateCode::floor(abr.parameters.pcr);
        let (mut latest, mut since): (BTreeMap<usize, RateCode>, Option<Time>) = (BTreeMap::new(), None);
        for &(at, said) in story {
            match said {
                Said::ForwardRm => {}
                Said::Up(rate) => {
                    let least = latest.values().min();
                    if least.is_none_or(|&least| rate <= least) {
                        since = None;
                    }
                    told = rate;
                }
                Said::FromBranch(branch, rate) => {
                    latest.insert(branch, rate);
                    let is_below = latest.values().min().is_some_and(|&least| least < told);
                    since = if is_below { since.or(Some(at)) } else { None };
                }
            }
        }
        since.map(|since| now.since(since))
    }
}
