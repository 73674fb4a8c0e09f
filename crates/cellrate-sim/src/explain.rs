//! Why a source has the ACR that it has: each step of it, the rule that took it, and the way of the BRM behind it.
//!
//! The run is repeated up to an instant. The source keeps a [journal](cellrate_proto::source::AcrStep), so that rules
//! are said by those who obeyed them, and the ports on the way of its connection are tapped, there and back: that shows
//! which switch wrote what into the BRM, and which port marked the data because of which a destination set CI. A run
//! that is not explained has nothing of this.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use cellrate_engine::names::{flow_name, port_name};
use cellrate_engine::plugins::Plugins;
use cellrate_proto::source::{AcrCause, AcrStep};
use cellrate_proto::{RmCell, Time};
use cellrate_scenario::{FlowIndex, PortIndex, Scenario, Sender};
use serde::Serialize;

use crate::cell::Cell;
use crate::error::RunError;
use crate::kernel::state::departures::Departure;
use crate::steps::Steps;

/// A step of ACR, or a BRM that left it where it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateStep {
    /// The instant \[s\].
    pub at_s: f64,
    /// The event: "set_up", "idle", "missing_brms", "unused" or "brm".
    pub event: &'static str,
    /// Rules of TM 4.0 that changed ACR, in the order in which they did, though it may be what it was in the end.
    pub rules: Vec<u8>,
    /// ACR before \[cells/s\].
    pub before_cells_per_s: f64,
    /// ACR after rule 8, which rule 9 has still to limit \[cells/s\]; of BRMs alone.
    pub indicated_cells_per_s: Option<f64>,
    /// ACR after \[cells/s\].
    pub after_cells_per_s: f64,
    /// The BRM that came, if one did.
    pub brm: Option<ReturnedCell>,
}

impl RateStep {
    /// Whether ACR is another one after it.
    fn moves(&self) -> bool {
        self.before_cells_per_s != self.after_cells_per_s
    }
}

/// A BRM as it came back, and its way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReturnedCell {
    /// ER \[cells/s\].
    pub er_cells_per_s: f64,
    /// CCR \[cells/s\].
    pub ccr_cells_per_s: f64,
    /// MCR \[cells/s\].
    pub mcr_cells_per_s: f64,
    /// CI.
    pub ci: bool,
    /// NI.
    pub ni: bool,
    /// BN: a switch or the destination originated it.
    pub bn: bool,
    /// CLP = 1: it came out of rate.
    pub out_of_rate: bool,
    /// The port whose switch had marked the data (EFCI) because of which the destination set CI, where it did so.
    pub efci_from: Option<String>,
    /// The ports that it left, from the node where it began to the source.
    pub way: Vec<Passage>,
}

/// A BRM as it left a port on its way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Passage {
    /// The port.
    pub port: String,
    /// When its last bit left \[s\].
    pub at_s: f64,
    /// The node that it left.
    pub node: String,
    /// The port at that node in the other direction, whose control answers the BRM; none at a host.
    pub control: Option<String>,
    /// ER that it left with \[cells/s\].
    pub er_cells_per_s: f64,
    /// CI that it left with.
    pub ci: bool,
    /// NI that it left with.
    pub ni: bool,
}

/// Names of the directions of connections that ABR sources send, in the order of the scenario.
pub fn explainable(scenario: &Scenario) -> Vec<(String, FlowIndex)> {
    let is_abr = |flow: &FlowIndex| matches!(scenario.flow(*flow).sender, Sender::Abr(_));
    scenario.flows().filter(is_abr).map(|flow| (flow_name(scenario, flow), flow)).collect()
}

/// The last `most` steps up to `until` of the ACR of the source that sends `flow`, in the order of instants, and before
/// them, where none of them moved ACR, the last one that did. `goes_on` is asked now and then, with the instant that is
/// reached, and may stop it.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
/// use cellrate_proto::{Duration, Time};
/// use cellrate_scenario::Document;
/// use cellrate_sim::{Plugins, explain, explainable};
/// # let text = include_str!("../../../scenarios/two-source-transient.toml");
/// let scenario = Arc::new(Document::parse(text, "two-source-transient")?.resolve()?);
/// let flow = explainable(&scenario)[0].1;
/// let until = Time::ZERO + Duration::from_ms(120);
/// let steps = explain(&scenario, Plugins::default(), flow, until, 1, &mut |_| ControlFlow::Continue(()))?;
/// let brm = steps[0].brm.as_ref().expect("only BRMs come in steady state");
/// assert_eq!(brm.way.last().map(|last| &last.port[..]), Some("sw1->s1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Simulation::run`](crate::Simulation::run); [`RunError::Interrupted`] when `goes_on` said so.
pub fn explain(
    scenario: &Arc<Scenario>,
    plugins: Plugins<'_>,
    flow: FlowIndex,
    until: Time,
    most: usize,
    goes_on: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Vec<RateStep>, RunError> {
    let mut follower = Follower::new(scenario, flow, most);
    let tapped: Vec<PortIndex> = follower.there.iter().chain(&follower.back).copied().collect();
    let mut run = Steps::of_ports(Arc::clone(scenario), plugins, &tapped)?;
    let assembly = run.assembly_mut();
    let place = assembly.endpoints[flow.index()];
    let (cluster, end) = (place.cluster as usize, place.index as usize);
    let hops = Arc::clone(&assembly.kernel.clusters[0].hops);
    if let Some(source) = assembly.kernel.clusters[cluster].endpoints[end].end.pacer.source_mut() {
        source.keep_journal();
    }
    while run.now() <= until {
        let more = run.run_window(|assembly, noted| {
            for departure in noted.drain(..) {
                follower.see(hops[departure.cell.hop()].flow, &departure);
            }
            if let Some(source) = assembly.kernel.clusters[cluster].endpoints[end].end.pacer.source_mut() {
                let steps = source.take_journal();
                steps.iter().filter(|step| step.at <= until).for_each(|step| follower.on_step(step));
            }
        });
        if goes_on(run.now()).is_break() {
            return Err(RunError::Interrupted);
        }
        if !more {
            break;
        }
    }
    Ok(follower.told_steps())
}

/// Sees the cells of a connection pass, and puts the way of each BRM to the step that its source takes.
struct Follower<'a> {
    scenario: &'a Scenario,
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
    steps: VecDeque<RateStep>,
    most: usize,
    /// The last step that moved ACR among those that are no longer kept.
    moved: Option<RateStep>,
}

/// Passages of a BRM: port, instant, and the cell as it left.
#[derive(Default)]
struct Way {
    passages: Vec<(PortIndex, Time, Cell)>,
    efci_from: Option<PortIndex>,
}

impl<'a> Follower<'a> {
    fn new(scenario: &'a Scenario, flow: FlowIndex, most: usize) -> Follower<'a> {
        let ports = |flow| scenario.steps(flow).map(|step| step.port()).collect();
        Follower {
            scenario,
            flow,
            there: ports(flow),
            back: ports(flow.other()),
            under_way: BTreeMap::new(),
            coming: VecDeque::new(),
            marked: BTreeMap::new(),
            mark: None,
            asked: VecDeque::new(),
            answered: None,
            steps: VecDeque::new(),
            most,
            moved: None,
        }
    }

    /// A cell on a hop of `of` has left a port.
    fn see(&mut self, of: FlowIndex, departure: &Departure) {
        let Departure { at, port, lost, cell } = *departure;
        let port = PortIndex(port);
        if cell.loopback().is_some() {
        } else if of == self.flow.other() && cell.is_backward_rm() {
            self.see_brm(port, at, lost, cell);
        } else if of == self.flow && cell.is_forward_rm() {
            if self.there.last() == Some(&port) && !lost {
                self.asked.push_back((cell.arrives, self.mark));
            }
        } else if of == self.flow && !cell.is_rm() {
            self.see_data(port, lost, cell);
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

    /// The source has taken a step.
    fn on_step(&mut self, step: &AcrStep) {
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
        self.steps.push_back(told);
        if self.steps.len() > self.most
            && let Some(old) = self.steps.pop_front()
            && old.moves()
        {
            self.moved = Some(old);
        }
    }

    /// All that is kept, in the order of instants.
    fn told_steps(self) -> Vec<RateStep> {
        let moves = self.steps.iter().any(RateStep::moves);
        self.moved.filter(|_| !moves).into_iter().chain(self.steps).collect()
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
            efci_from: way.efci_from.map(|port| port_name(self.scenario, port)),
            way: way.passages.iter().map(|passage| self.told(passage)).collect(),
        }
    }

    fn told(&self, &(port, at, cell): &(PortIndex, Time, Cell)) -> Passage {
        let scenario = self.scenario;
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
