//! The cells of one connection as they pass, and the steps of its source, put together.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cellrate_engine::names::{flow_name, port_name};
use cellrate_proto::source::{AcrCause, AcrStep};
use cellrate_proto::{RmCell, Time};
use cellrate_scenario::{FlowIndex, PortIndex, Scenario};

use super::{Passage, RateStep, ReturnedCell};
use crate::cell::Cell;
use crate::kernel::state::departures::Departure;

/// Sees the cells of a connection pass, and puts the way of each BRM to the step that its source takes.
pub(super) struct Follower {
    scenario: Arc<Scenario>,
    flow: FlowIndex,
    /// Ports on the way of the direction that is explained, and on that of its BRMs.
    there: Vec<PortIndex>,
    back: Vec<PortIndex>,
    /// BRMs that have not come back, by the instant at which each began, and CLP: two may begin at one instant where
    /// one of them is out of rate.
    under_way: BTreeMap<(Time, bool), Way>,
    /// BRMs that have left the last port, in the order in which they come to the source.
    coming: VecDeque<Way>,
    /// Data cells under way with EFCI, by the instant at which each left its source, and the port that marked it.
    marked: BTreeMap<Time, PortIndex>,
    /// The port that marked the last data cell that left for the destination, if one did.
    mark: Option<PortIndex>,
    /// FRMs that have left for the destination: when each comes there, and the mark of the data before it.
    asked: VecDeque<(Time, Option<PortIndex>)>,
    /// The mark of the data before the last FRM that has come.
    answered: Option<PortIndex>,
    steps: VecDeque<(Time, RateStep)>,
    most: usize,
    /// Steps after the instant that was asked for last: the kernel goes a little further.
    ahead: VecDeque<(Time, RateStep)>,
    /// Whether steps are no longer kept, and the last of those that moved ACR.
    forgets: bool,
    moved: Option<RateStep>,
}

/// Passages of a BRM: port, instant, and the cell as it left.
#[derive(Default)]
struct Way {
    passages: Vec<(PortIndex, Time, Cell)>,
    efci_from: Option<PortIndex>,
}

impl Follower {
    pub(super) fn new(scenario: Arc<Scenario>, flow: FlowIndex, most: usize) -> Follower {
        let ports = |flow| scenario.steps(flow).map(|step| step.port()).collect();
        let (there, back) = (ports(flow), ports(flow.other()));
        Follower {
            scenario,
            flow,
            there,
            back,
            under_way: BTreeMap::new(),
            coming: VecDeque::new(),
            marked: BTreeMap::new(),
            mark: None,
            asked: VecDeque::new(),
            answered: None,
            steps: VecDeque::new(),
            most,
            ahead: VecDeque::new(),
            forgets: false,
            moved: None,
        }
    }

    /// Ports on the way of the connection, there and back.
    pub(super) fn ports(&self) -> impl Iterator<Item = PortIndex> {
        self.there.iter().chain(&self.back).copied()
    }

    /// Name of the direction that is explained.
    pub(super) fn name(&self) -> String {
        flow_name(&self.scenario, self.flow)
    }

    /// A cell on a hop of `of` has left a port.
    pub(super) fn see(&mut self, of: FlowIndex, departure: &Departure) {
        let Departure { at, port, lost, cell } = *departure;
        let port = PortIndex(port);
        if cell.loopback().is_some() {
        } else if of == self.flow.other() && cell.is_backward_rm() {
            self.see_brm(port, at, lost, cell);
        } else if of == self.flow {
            if cell.is_data() {
                self.see_data(port, lost, cell);
            }
            if cell.is_forward_rm() && self.there.last() == Some(&port) && !lost {
                self.asked.push_back((cell.arrives, self.mark));
            }
        }
    }

    fn see_data(&mut self, port: PortIndex, lost: bool, cell: Cell) {
        let is_last = self.there.last() == Some(&port);
        let mark = cell.efci().then(|| *self.marked.entry(cell.sent).or_insert(port));
        if cell.efci() && (lost || is_last) {
            self.marked.remove(&cell.sent);
        }
        if is_last && !lost {
            self.mark = mark;
        }
    }

    fn see_brm(&mut self, port: PortIndex, at: Time, lost: bool, cell: Cell) {
        let key = (cell.sent, cell.clp());
        if lost {
            self.under_way.remove(&key);
            return;
        }
        if self.back.first() == Some(&port) {
            while let Some(&(arrives, mark)) = self.asked.front()
                && arrives <= cell.sent
            {
                self.answered = mark;
                self.asked.pop_front();
            }
        }
        let answered = self.answered;
        let way = self.under_way.entry(key).or_default();
        if self.back.first() == Some(&port) && cell.indications().0 {
            way.efci_from = answered;
        }
        way.passages.push((port, at, cell));
        if self.back.last() == Some(&port) {
            self.coming.extend(self.under_way.remove(&key));
        }
    }

    /// The source has taken a step; `until` is the instant that is asked for.
    pub(super) fn on_step(&mut self, step: &AcrStep, until: Time) {
        let (event, indicated, brm) = match step.cause {
            AcrCause::SetUp => ("set_up", None, None),
            AcrCause::Idle => ("idle", None, None),
            AcrCause::MissingBrms => ("missing_brms", None, None),
            AcrCause::Unused => ("unused", None, None),
            AcrCause::BackwardRm { rm, indicated } => {
                ("brm", Some(indicated.as_cells_per_s()), Some(self.returned(&rm)))
            }
        };
        let told = RateStep {
            at_s: step.at.as_secs_f64(),
            event,
            rules: step.rules().collect(),
            before_cells_per_s: step.before.as_cells_per_s(),
            indicated_cells_per_s: indicated,
            after_cells_per_s: step.after.as_cells_per_s(),
            brm,
        };
        if step.at > until {
            self.ahead.push_back((step.at, told));
        } else {
            self.keep(step.at, told);
        }
    }

    /// Takes steps that were ahead, as far as `until`.
    pub(super) fn take_until(&mut self, until: Time) {
        while self.ahead.front().is_some_and(|&(at, _)| at <= until) {
            let next = self.ahead.pop_front();
            next.into_iter().for_each(|(at, step)| self.keep(at, step));
        }
    }

    fn keep(&mut self, at: Time, step: RateStep) {
        self.steps.push_back((at, step));
        if self.steps.len() > self.most
            && let Some((_, old)) = self.steps.pop_front()
        {
            self.forgets = true;
            if old.moves() {
                self.moved = Some(old);
            }
        }
    }

    /// Whether all that an answer for `at` needs is kept.
    pub(super) fn covers(&self, at: Time) -> bool {
        !self.forgets || self.steps.front().is_some_and(|&(first, _)| first <= at)
    }

    /// Kept steps up to `at`; before them, where none of them moved ACR, the last one that did.
    pub(super) fn steps(&self, at: Time) -> Vec<&RateStep> {
        let all = self.steps.iter().chain(&self.ahead);
        let kept: Vec<_> = all.take_while(|&&(of, _)| of <= at).map(|(_, step)| step).collect();
        let moves = kept.iter().any(|step| step.moves());
        self.moved.iter().filter(|_| !moves).chain(kept).collect()
    }

    /// The BRM that has come, with its way: the next of those that left the last port.
    fn returned(&mut self, rm: &RmCell) -> ReturnedCell {
        let says_so =
            |way: &Way| way.passages.last().is_some_and(|(.., cell)| cell.to_rm(rm.minimum_cell_rate) == *rm);
        let found = self.coming.iter().position(says_so);
        let way = found.and_then(|place| self.coming.drain(..=place).next_back()).unwrap_or_default();
        ReturnedCell {
            er_cells_per_s: rm.explicit_rate.rate().as_cells_per_s(),
            ccr_cells_per_s: rm.current_cell_rate.rate().as_cells_per_s(),
            mcr_cells_per_s: rm.minimum_cell_rate.rate().as_cells_per_s(),
            ci: rm.congestion_indication,
            ni: rm.no_increase,
            bn: rm.backward_notification,
            out_of_rate: rm.out_of_rate,
            efci_from: way.efci_from.map(|port| port_name(&self.scenario, port)),
            way: way.passages.iter().map(|passage| self.told(passage)).collect(),
        }
    }

    fn told(&self, &(port, at, cell): &(PortIndex, Time, Cell)) -> Passage {
        let scenario = &*self.scenario;
        let node = scenario.tail(port.step());
        let control = self.there.iter().skip(1).find(|forward| scenario.tail(forward.step()) == node);
        let (ci, ni) = cell.indications();
        Passage {
            port: port_name(scenario, port),
            at_s: at.as_secs_f64(),
            node: scenario.node(node).name.clone(),
            control: control.map(|&forward| port_name(scenario, forward)),
            er_cells_per_s: cell.explicit_rate().rate().as_cells_per_s(),
            ci,
            ni,
        }
    }
}
