//! Conditioner of a sender without feedback: the shaper that holds its cells to a contract, and the marker that sets
//! CLP. A sender without either has none, and takes no work for it.

use cellrate_proto::policing::contract::{Policer, Verdict};
use cellrate_proto::policing::frame::FrameGcra;
use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::{Conditioning, FlowIndex, Marking, MarkingRule, Scenario};

use crate::random::{Owner, Random, Stream};

/// Peak rate, shaper and marker of one sender.
#[derive(Clone, Debug)]
pub struct Conditioner {
    /// The smallest time between two cells.
    spacing: Duration,
    /// The earliest instant of the next cell by the peak rate.
    earliest: Time,
    shaper: Option<Policer>,
    marker: Option<Marker>,
}

impl Conditioner {
    /// That of `flow` before its first cell, if it has any.
    pub fn of(scenario: &Scenario, flow: FlowIndex) -> Option<Conditioner> {
        let conditioning = scenario.flow(flow).conditioning.as_deref()?;
        let random = || Random::new(scenario.seed, Stream::Tags(Owner::flow(scenario, flow)));
        Some(Conditioner::new(conditioning, scenario.flow(flow).sender.pcr(), random))
    }

    /// That of a sender with this peak rate; `random` is asked for where chance decides.
    fn new(conditioning: &Conditioning, pcr: CellRate, random: impl FnOnce() -> Random) -> Conditioner {
        Conditioner {
            spacing: pcr.interval(),
            earliest: Time::ZERO,
            shaper: conditioning.shaping.map(|shaping| Policer::new(&shaping.contract(pcr))),
            marker: conditioning.marking.map(|marking| Marker::new(&marking, pcr, random)),
        }
    }

    /// The smallest time between two cells.
    pub fn spacing(&self) -> Duration {
        self.spacing
    }

    /// The earliest instant from `now` on at which the next cell may leave.
    pub fn earliest(&self, now: Time) -> Time {
        let by_peak = now.max(self.earliest);
        self.shaper.as_ref().map_or(by_peak, |shaper| shaper.earliest(by_peak))
    }

    /// A cell leaves at `now`, if it may: false where it is too soon.
    pub fn release(&mut self, now: Time) -> bool {
        if self.earliest(now) > now {
            return false;
        }
        self.earliest = now.saturating_add(self.spacing);
        if let Some(shaper) = &mut self.shaper {
            let verdict = shaper.on_cell(now, false);
            debug_assert_eq!(verdict, Verdict::Pass, "a shaper lets go what conforms");
        }
        true
    }

    /// Whether the data cell that has left at `now` has CLP = 1; `last` says whether it ends its PDU.
    pub fn marks(&mut self, now: Time, last: bool) -> bool {
        self.marker.as_mut().is_some_and(|marker| marker.marks(now, last))
    }
}

/// A marker of cells or frames.
#[derive(Clone, Debug)]
struct Marker {
    state: State,
    whole_frames: bool,
    /// CLP of the frame that has begun, where frames are marked as a whole.
    of_frame: Option<bool>,
}

/// How far the rule of a marker has got.
#[derive(Clone, Debug)]
enum State {
    Share(f64, Box<Random>),
    /// Every so many, and how many there were since the last one.
    Every(u32, u32),
    Cells(Policer),
    Frames(FrameGcra),
}

impl Marker {
    fn new(marking: &Marking, pcr: CellRate, random: impl FnOnce() -> Random) -> Marker {
        let state = match marking.rule {
            MarkingRule::Share(share) => State::Share(share, Box::new(random())),
            MarkingRule::Every(every) => State::Every(every, 0),
            MarkingRule::Bucket(bucket) if marking.whole_frames => {
                let mbs = bucket.mbs.into();
                State::Frames(FrameGcra::of_contract(bucket.scr, pcr, mbs, Duration::ZERO))
            }
            MarkingRule::Bucket(bucket) => State::Cells(Policer::new(&bucket.contract(pcr))),
        };
        Marker { state, whole_frames: marking.whole_frames, of_frame: None }
    }

    fn marks(&mut self, now: Time, last: bool) -> bool {
        if let State::Frames(eligible) = &mut self.state {
            return !eligible.on_cell(now, false, last);
        }
        let marked = self.of_frame.unwrap_or_else(|| self.state.decide(now));
        self.of_frame = (self.whole_frames && !last).then_some(marked);
        marked
    }
}

impl State {
    /// Whether the next cell or frame, which begins at `now`, has CLP = 1.
    fn decide(&mut self, now: Time) -> bool {
        match self {
            State::Share(share, random) => random.uniform() < *share,
            State::Every(every, since) => {
                *since += 1;
                let marked = since == every;
                if marked {
                    *since = 0;
                }
                marked
            }
            State::Cells(bucket) => bucket.on_cell(now, false) != Verdict::Pass,
            State::Frames(_) => unreachable!("whole frames are decided on with their cells"),
        }
    }
}
