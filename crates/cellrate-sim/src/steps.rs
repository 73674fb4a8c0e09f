//! A run in steps: the caller says how far network time goes, and has control in between.
//!
//! [`Simulation::run`](crate::Simulation::run) has control from beginning to end. A page in a browser, which has one
//! thread for the simulation and for what its reader clicks, needs it back after a few milliseconds. The result is the
//! same. Cells can be followed from port to port on the way; where they are not followed, none of that costs anything.

use std::collections::VecDeque;
use std::sync::Arc;

use cellrate_engine::plugins::Plugins;
use cellrate_proto::Time;
use cellrate_scenario::{FlowIndex, PortIndex, Scenario};

use crate::assembly::{Assembly, assemble, carries_cells};
use crate::cell::Cell;
use crate::error::RunError;
use crate::kernel::state::departures::{Departure, Departures};
use crate::kernel::windows::serial::Serial;
use crate::mechanisms::Mechanisms;
use crate::results::{Meter, RunResult, account};
use crate::simulation::check_size;
use crate::watching::{Recent, Seen};

/// A run of a scenario that goes on when it is told to.
///
/// ```
/// use std::sync::Arc;
/// use cellrate_proto::{Duration, Time};
/// use cellrate_scenario::Document;
/// use cellrate_sim::{Plugins, Steps};
/// # let text = include_str!("../../../scenarios/two-source-transient.toml");
/// let scenario = Arc::new(Document::parse(text, "two-source-transient")?.resolve()?);
/// let mut steps = Steps::new(scenario, Plugins::default(), false)?;
/// while !steps.is_over() {
///     let until = steps.now() + Duration::from_ms(10);
///     let step = steps.advance(until);
///     assert!(step.now >= until || steps.is_over());
/// }
/// assert_eq!(steps.finish()?.summary.vcs[0].dropped, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Steps {
    scenario: Arc<Scenario>,
    assembly: Assembly,
    serial: Serial,
    seen: Seen,
    noted: Vec<Departure>,
    /// Beginning of the time in which cells are followed.
    follow_from: Time,
    meter: Meter,
    /// Instants still to come for which counts have to be exact, in order, and the end of the run.
    instants: VecDeque<Time>,
    /// Error on the way, if there was one.
    error: Option<RunError>,
}

/// Events of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// How far the run has got: all that happens before this has happened.
    pub now: Time,
    /// Series with something new, in the order of the scenario.
    pub recent: Vec<Recent>,
    /// Cells that have left ports, in the order of instants; none unless cells are followed.
    pub passing: Vec<Passing>,
}

/// A cell that has left a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// When its last bit left.
    pub at: Time,
    /// The port.
    pub port: PortIndex,
    /// The direction that it goes in: an RM cell that has been turned around goes in the other one.
    pub flow: FlowIndex,
    /// Kind of the cell.
    pub cell: Traveller,
    /// Whether the line lost it then.
    pub lost: bool,
}

/// A kind of cell, as far as it is told apart on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traveller {
    /// A data cell, and whether it carries EFCI.
    Data {
        /// EFCI.
        efci: bool,
    },
    /// An OAM cell.
    Oam,
    /// A forward RM cell.
    ForwardRm,
    /// A backward RM cell, and whether it carries CI or NI.
    BackwardRm {
        /// CI.
        ci: bool,
        /// NI.
        ni: bool,
    },
}

impl Steps {
    /// Begins a run of `scenario` with what `plugins` make. If `follow`, every step tells which cells left which ports.
    ///
    /// # Errors
    /// As [`Simulation::run`](crate::Simulation::run), but for interruptions.
    pub fn new(scenario: Arc<Scenario>, plugins: Plugins<'_>, follow: bool) -> Result<Steps, RunError> {
        let carries = carries_cells(&scenario);
        let followed: Vec<PortIndex> =
            scenario.ports().filter(|port| follow && carries[port.index()]).collect();
        Steps::of_ports(scenario, plugins, &followed)
    }

    /// Begins a run that notes which cells leave the ports `followed`.
    pub(crate) fn of_ports(
        scenario: Arc<Scenario>,
        plugins: Plugins<'_>,
        followed: &[PortIndex],
    ) -> Result<Steps, RunError> {
        check_size(&scenario)?;
        let mut assembly = assemble(&scenario, followed, plugins, Mechanisms::default())?;
        for port in followed {
            let Some(place) = assembly.ports[port.index()] else { continue };
            let cluster = &mut assembly.kernel.clusters[place.cluster as usize];
            let ports = cluster.ports.len();
            let departures =
                cluster.departures.get_or_insert_with(|| Box::new(Departures::from_none_of(ports)));
            departures.tap(place.index as usize, port.0);
        }
        let end = Time::ZERO + scenario.duration;
        let mut instants: VecDeque<Time> = scenario.measuring.instants(end).into();
        instants.push_back(end);
        let serial = assembly.kernel.serial(instants[0])?;
        let (seen, noted, follow_from) = (Seen::default(), Vec::new(), Time::ZERO);
        let (meter, error) = (Meter::default(), None);
        Ok(Steps { scenario, assembly, serial, seen, noted, follow_from, meter, instants, error })
    }

    /// Leaves cells untold that leave ports before `from`.
    pub fn follow_from(&mut self, from: Time) {
        self.follow_from = from;
    }

    /// How far the run has got.
    pub fn now(&self) -> Time {
        self.serial.now()
    }

    /// Whether nothing is left to run.
    pub fn is_over(&self) -> bool {
        self.now() >= Time::ZERO + self.scenario.duration
    }

    /// Goes on until `until`, or the end of the run; a little further, because the kernel works in windows of some
    /// milliseconds.
    pub fn advance(&mut self, until: Time) -> Step {
        let mut passing = Vec::new();
        let follow_from = self.follow_from;
        while self.serial.now() < until {
            let goes_on = self.run_window(|assembly, noted| {
                let hops = &assembly.kernel.clusters[0].hops;
                let told = noted.drain(..).filter(|departure| departure.at >= follow_from);
                passing.extend(told.map(|Departure { at, port, lost, cell }| Passing {
                    at,
                    port: PortIndex(port),
                    flow: hops[cell.hop()].flow,
                    cell: kind(&cell),
                    lost,
                }));
            });
            if !goes_on {
                break;
            }
        }
        let recent = self.seen.recent(&self.assembly.kernel.clusters);
        Step { now: self.serial.now(), recent, passing }
    }

    /// The network at work.
    pub(crate) fn assembly_mut(&mut self) -> &mut Assembly {
        &mut self.assembly
    }

    /// Runs one window more; `see` is shown the network then, and the cells that have left followed ports, in the order
    /// of instants, to be taken. Whether there was anything to run.
    pub(crate) fn run_window(&mut self, see: impl FnOnce(&mut Assembly, &mut Vec<Departure>)) -> bool {
        if !self.serial.run_window(&mut self.assembly.kernel.clusters) {
            return self.read_and_resume();
        }
        for cluster in &mut self.assembly.kernel.clusters {
            if let Some(departures) = &mut cluster.departures {
                departures.hand_over(&mut self.noted);
            }
        }
        // What leaves a port does so at different instants, so this order is whole.
        self.noted.sort_unstable_by_key(|departure| (departure.at, departure.port));
        see(&mut self.assembly, &mut self.noted);
        true
    }

    /// Where counts have to be exact for the instant that has been reached, reads them and goes on. Whether there is
    /// more to run.
    fn read_and_resume(&mut self) -> bool {
        let [at, next] = match (self.instants.front(), self.instants.get(1)) {
            (Some(&at), Some(&next)) => [at, next],
            _ => return false,
        };
        self.instants.pop_front();
        self.assembly.kernel.settle(&self.serial.exchange, at);
        if let Err(error) = self.meter.read(&self.scenario, &mut self.assembly, at) {
            self.error.get_or_insert(error);
        }
        self.assembly.kernel.resume(next);
        self.serial.extend(self.assembly.kernel.windows(next));
        true
    }

    /// Runs what is left, and gives figures and series.
    ///
    /// # Errors
    /// [`RunError::NotConserved`] would be a defect of the simulator.
    pub fn finish(mut self) -> Result<RunResult, RunError> {
        let end = Time::ZERO + self.scenario.duration;
        self.advance(end);
        if let Some(error) = self.error {
            return Err(error);
        }
        self.assembly.kernel.settle(&self.serial.exchange, end);
        account(&self.scenario, self.assembly, &self.meter, end)
    }
}

fn kind(cell: &Cell) -> Traveller {
    match !cell.is_data() {
        true if cell.loopback().is_some() => Traveller::Oam,
        false => Traveller::Data { efci: cell.efci() },
        true if cell.is_forward_rm() => Traveller::ForwardRm,
        true => {
            let (ci, ni) = cell.indications();
            Traveller::BackwardRm { ci, ni }
        }
    }
}
