//! Why a source has the ACR that it has: each step of it, the rule that took it, and the way of the BRM behind it.
//!
//! The run is repeated up to an instant. The source keeps a [journal](cellrate_proto::source::AcrStep), so that rules
//! are said by those who obeyed them, and the ports on the way of its connection are tapped, there and back: that shows
//! which switch wrote what into the BRM, and which port marked the data because of which a destination set CI. A run
//! that is not explained has nothing of this.

mod follower;
mod words;

use std::ops::ControlFlow;
use std::sync::Arc;

use cellrate_engine::names::flow_name;
use cellrate_engine::plugins::Plugins;
use cellrate_proto::Time;
use cellrate_scenario::{FlowIndex, PortIndex, Scenario, Sender};
use serde::Serialize;

use crate::error::RunError;
use crate::kernel::hop::Hop;
use crate::steps::Steps;
use follower::Follower;

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

/// An explanation that goes on with its run as later instants are asked for.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
/// use cellrate_proto::{Duration, Time};
/// use cellrate_scenario::Document;
/// use cellrate_sim::{Explaining, Plugins, explainable};
/// # let text = include_str!("../../../../scenarios/two-source-transient.toml");
/// let scenario = Arc::new(Document::parse(text, "two-source-transient")?.resolve()?);
/// let flow = explainable(&scenario)[0].1;
/// let at = Time::ZERO + Duration::from_ms(120);
/// let mut explaining = Explaining::begin(&scenario, Plugins::default(), flow, 1)?;
/// explaining.advance(at, &mut |_| ControlFlow::Continue(()))?;
/// let brm = explaining.steps(at)[0].brm.as_ref().expect("only BRMs come in steady state");
/// assert_eq!(brm.way.last().map(|last| &last.port[..]), Some("sw1->s1"));
/// assert!(explaining.words(at)[1].contains("d1 turned the FRM around"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Explaining {
    run: Steps,
    follower: Follower,
    /// Cluster and place of the end whose source is explained.
    end: (usize, usize),
    hops: Arc<[Hop]>,
    is_over: bool,
}

impl Explaining {
    /// Begins to explain the ACR of the source that sends `flow`; the last `most` steps are kept.
    ///
    /// # Errors
    /// As [`Simulation::run`](crate::Simulation::run), but for interruptions.
    pub fn begin(
        scenario: &Arc<Scenario>,
        plugins: Plugins<'_>,
        flow: FlowIndex,
        most: usize,
    ) -> Result<Explaining, RunError> {
        let follower = Follower::new(Arc::clone(scenario), flow, most);
        let tapped: Vec<PortIndex> = follower.ports().collect();
        let mut run = Steps::of_ports(Arc::clone(scenario), plugins, &tapped)?;
        let assembly = run.assembly_mut();
        let place = assembly.endpoints[flow.index()];
        let end = (place.cluster as usize, place.index as usize);
        let hops = Arc::clone(&assembly.kernel.clusters[0].hops);
        if let Some(source) = assembly.kernel.clusters[end.0].endpoints[end.1].end.pacer.source_mut() {
            source.keep_journal();
        }
        Ok(Explaining { run, follower, end, hops, is_over: false })
    }

    /// How far the run has got: instants before it can be asked for.
    pub fn now(&self) -> Time {
        self.run.now()
    }

    /// Whether nothing is left to run.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Goes on until `until` and a little further. `goes_on` is asked now and then, with the instant that is reached,
    /// and may stop it.
    ///
    /// # Errors
    /// [`RunError::Interrupted`] when `goes_on` said so.
    pub fn advance(
        &mut self,
        until: Time,
        goes_on: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(), RunError> {
        self.follower.take_until(until);
        let Explaining { run, follower, end: (cluster, end), hops, .. } = self;
        while run.now() <= until && !self.is_over {
            self.is_over = !run.run_window(|assembly, noted| {
                for departure in noted.drain(..) {
                    follower.see(hops[departure.cell.hop()].flow, &departure);
                }
                if let Some(source) =
                    assembly.kernel.clusters[*cluster].endpoints[*end].end.pacer.source_mut()
                {
                    source.take_journal().iter().for_each(|step| follower.on_step(step, until));
                }
            });
            if goes_on(run.now()).is_break() {
                return Err(RunError::Interrupted);
            }
        }
        Ok(())
    }

    /// Whether all steps that an answer for `at` needs are still kept.
    pub fn covers(&self, at: Time) -> bool {
        self.follower.covers(at)
    }

    /// Kept steps up to `at`, in the order of instants, and before them, where none of them moved ACR, the last one
    /// that did.
    pub fn steps(&self, at: Time) -> Vec<&RateStep> {
        self.follower.steps(at)
    }

    /// Lines about the last step up to `at`, and about the last that moved ACR, if that is another one.
    pub fn words(&self, at: Time) -> Vec<String> {
        words::words(&self.steps(at), &self.follower.name(), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::Duration;
    use cellrate_scenario::Document;

    const TRANSIENT: &str = include_str!("../../../../scenarios/two-source-transient.toml");

    fn begun(most: usize) -> Explaining {
        let document = Document::parse(TRANSIENT, "two-source-transient").expect("a ready scenario");
        let scenario = Arc::new(document.resolve().expect("a ready scenario"));
        let flow = explainable(&scenario)[0].1;
        Explaining::begin(&scenario, Plugins::default(), flow, most).expect("a run")
    }

    fn reached(explaining: &mut Explaining, at: Time) {
        explaining.advance(at, &mut |_| ControlFlow::Continue(())).expect("no interruption");
    }

    #[test]
    fn instant_by_instant_it_says_what_it_says_at_once() {
        let mut going_on = begun(5);
        for us in (1_000..240_000).step_by(9_700) {
            let at = Time::ZERO + Duration::from_us(us);
            let mut at_once = begun(5);
            reached(&mut at_once, at);
            reached(&mut going_on, at);
            // The kernel goes a little further; what comes then pushes out nothing that is asked for.
            assert!(us < 60_000 || at_once.steps(at).len() >= 5, "at {us} us");
            assert_eq!(going_on.steps(at), at_once.steps(at), "at {us} us");
            assert_eq!(going_on.words(at), at_once.words(at));
        }
    }

    #[test]
    fn earlier_instants_are_answered_as_long_as_their_steps_are_kept() {
        let [early, late] = [31, 220].map(|ms| Time::ZERO + Duration::from_ms(ms));
        let mut at_once = begun(8);
        reached(&mut at_once, early);
        let mut all = begun(10_000);
        reached(&mut all, late);
        assert!(all.covers(early));
        assert_eq!(all.words(early), at_once.words(early));
        let mut few = begun(8);
        reached(&mut few, late);
        assert!(few.covers(late) && !few.covers(early));
    }
}
