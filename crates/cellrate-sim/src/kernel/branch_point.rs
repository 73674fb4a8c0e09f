//! Branch points of trees: a switch that copies the cells of a connection, and makes of the BRMs that come back those
//! that go up.
//!
//! To each branch a copy goes as a cell does that passes a switch: the port meters it and it joins the queue, first
//! that of the connection's own way on, then those of the branches in their order. A BRM from a branch ends here;
//! whether one goes up, now or as an FRM comes, and what it says, the
//! [`Consolidator`](cellrate_proto::consolidation::Consolidator) knows. The ports of the branches answer it as it goes
//! up, or the port of its branch as it comes, whichever the algorithm asks for.
//!
//! These cells cannot be known before: so each arrival is an event, and no port that they come to is ever deferred.

use cellrate_proto::{RmCell, Time};

use super::state::branch_points::{ComingFrom, Feedback};
use super::state::cluster::Cluster;
use crate::cell::Cell;

impl Cluster {
    /// Takes the cell that reaches a branch point.
    pub(super) fn on_branch_point(&mut self, now: Time, lane: usize, leaf: usize) {
        let place = &mut self.lanes[lane];
        let Some(cell) = place.cells.pop() else {
            unreachable!("an arrival is scheduled only while a cell is on the link");
        };
        let next = place.cells.first().map_or(Time::NEVER, |cell| cell.arrives);
        self.schedule.set(leaf, next);
        match self.branching.at.get(&(cell.hop() as u32)) {
            Some(&(point, ComingFrom::Source)) => {
                if let Some(cell) = self.police(now, cell) {
                    self.copy(now, point, cell);
                }
            }
            Some(&(point, ComingFrom::Branch(branch))) => self.consolidate(now, point, branch, cell),
            None => unreachable!("there is a branch point where this hop ends"),
        }
    }

    /// Copies `cell`, which has come from the source, to all branches.
    fn copy(&mut self, now: Time, point: usize, cell: Cell) {
        for branch in 0..self.branching.points[point].on.len() {
            let hop = self.branching.points[point].on[branch];
            self.pass_on(now, hop, cell);
            if let Some(&end) = self.branching.points[point].ends.get(branch.wrapping_sub(1)) {
                self.endpoints[end as usize].count_copy(&cell);
                self.sampler.note_end(now, end, &self.endpoints[end as usize]);
            }
        }
        let Some(feedback) = &mut self.branching.points[point].feedback else { return };
        if cell.is_forward_rm() {
            feedback.meter.on_forward_rm();
            let up = feedback.consolidator.on_forward_rm(now, &cell.to_rm(feedback.mcr));
            self.send_up(now, point, up);
        }
    }

    /// Consolidates a BRM that has come from a branch.
    fn consolidate(&mut self, now: Time, point: usize, branch: usize, mut cell: Cell) {
        let place = &mut self.branching.points[point];
        let Some(feedback) = &mut place.feedback else {
            unreachable!("only trees of ABR have anything come back");
        };
        feedback.meter.on_backward_rm(now, branch, cell.explicit_rate());
        match place.ends.get(branch.wrapping_sub(1)) {
            Some(&end) => {
                self.endpoints[end as usize].count_backward_rm();
                self.sampler.note_end(now, end, &self.endpoints[end as usize]);
            }
            None => *self.absorbed.entry(self.hops[cell.hop()].flow).or_default() += 1,
        }
        if feedback.consolidator.answers_on_arrival() {
            cell = self.answer_for(now, self.branching.points[point].on[branch], cell);
        }
        let Some(feedback) = &mut self.branching.points[point].feedback else { return };
        let Feedback { consolidator, random, mcr, .. } = feedback;
        let up = consolidator.on_backward_rm(now, branch, &cell.to_rm(*mcr), || random.uniform());
        self.send_up(now, point, up);
    }

    /// The port of the hop `on` answers a BRM of its branch.
    fn answer_for(&mut self, now: Time, on: u32, cell: Cell) -> Cell {
        let hop = self.hops[on as usize];
        let answered = self.ports[hop.port as usize].answer(now, hop.slot, cell);
        self.sampler.note_port(now, hop.port, &mut self.ports);
        answered
    }

    /// The BRM that goes up, if there is one.
    fn send_up(&mut self, now: Time, point: usize, rm: Option<RmCell>) {
        let (Some(rm), Some(feedback)) = (rm, &self.branching.points[point].feedback) else { return };
        let (up, answered) = (feedback.up, feedback.consolidator.answers_on_arrival());
        let mut cell = Cell::resource_management(now, &rm).on_hop(up as usize);
        if !answered {
            for branch in 0..self.branching.points[point].on.len() {
                cell = self.answer_for(now, self.branching.points[point].on[branch], cell);
            }
        }
        if let Some(feedback) = &mut self.branching.points[point].feedback {
            feedback.consolidator.on_sent(cell.explicit_rate());
            feedback.meter.on_sent(now, cell.explicit_rate());
        }
        *self.originated.entry(self.hops[up as usize].flow).or_default() += 1;
        self.pass_on(now, up, cell);
    }

    /// Passes `cell` to the port of the hop of this number.
    fn pass_on(&mut self, now: Time, number: u32, cell: Cell) {
        let hop = self.hops[number as usize];
        let (port, cell) = (&mut self.ports[hop.port as usize], cell.on_hop(number as usize));
        if port.metered {
            port.observe(now, usize::from(hop.priority), hop.slot, &cell);
        }
        self.enqueue(now, &hop, cell);
    }
}
