//! ERICA and ERICA+ (Kalyanaraman, Jain, Fahmy, Goyal, Vandalore; IEEE/ACM ToN 8(1), 2000; ATM Forum 96-1172).
//!
//! At the end of an averaging interval the port knows the load factor z = ABR input rate / capacity and N, the number
//! of active connections. A BRM then gets the larger of an equal share, FairShare = capacity / N, and of what would
//! bring the whole load to the capacity if everyone scaled alike, VCShare = CCR / z; without overload also at least the
//! largest rate handed out in the last interval, which is what makes shares equal.
//!
//! Where the published description is open:
//! - Before the first interval ends: nothing is known of the load, so that N = 1, z = 0, capacity is that of an idle
//!   line, and MaxAlloc is FairShare.
//! - An interval without input: z = 0 and VCShare is infinite, or 0 for a connection of CCR 0; ER is limited by the
//!   capacity in the end.
//! - No capacity: z is infinite, whatever the input, and ER is 0. Averages leave such a z out
//!   ([`LoadAveraging::Ratio`]).
//! - FairShare and the limit on ER use the interval's own capacity, also when z is averaged.
//! - CCR < FairShare is judged by the rate code of FairShare, because CCR and ER are codes: see `explicit_rate`.
//! - Where it matters how much of its rate a connection uses, of its MCR with [weights](Fairness) or of FairShare with
//!   the effective number, a claim is not taken for use: what was measured counts, if that is less, unless
//!   [`claims_are_use`](EricaConfig::claims_are_use).
//! - MCR and weights are not looked at unless that is [asked for](Fairness): ERICA shares equally. A source keeps its
//!   MCR whatever the ER, though: what those have whose MCR is above the share goes off the capacity first, and no
//!   other connection is offered as much (MaxAlloc leaves them out).

mod effective;
mod parameters;
mod queue_control;

pub use parameters::EricaConfig;
pub use queue_control::{ControlFunction, DelayControl, DrainedBy, QueueControl};

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::aging::Aging;
use super::averaging::{AveragedLoad, Fading, LoadAveraging, load_factor};
use super::list::List;
use super::meter::{IntervalLoad, Meter, Metering};
use super::minima::{Above, Minima};
use super::weights::{Entitlement, Fairness, Weights};
use super::{Feedback, Promises, Settled, Slot, SwitchAlgorithm, VcAtPort};
use crate::rate_code::RateCode;
use crate::units::{CellRate, Cells, Duration, Time};

impl EricaConfig {
    /// Rate that a connection of this CCR used in the interval that has ended; `meter` is already in the next one. A
    /// claim is not taken for use: CCR is never below MCR, and a direction that sends RM cells only may claim all of
    /// the line.
    fn used(&self, ccr: CellRate, slot: Slot, meter: &Meter) -> CellRate {
        let measured = meter.previous_rate(slot);
        match (self.measured_ccr, self.claims_are_use) {
            (true, _) => measured,
            (false, true) => ccr,
            (false, false) => ccr.min(measured),
        }
    }
}

/// The algorithm. A large network has many ports: they share their parameters, and what few of them need is elsewhere.
#[derive(Clone, Debug)]
pub struct Erica {
    config: Arc<EricaConfig>,
    link_rate: CellRate,
    shares: Shares,
    /// Active connections, before the floor of 1; or their weights together.
    active: f64,
    /// The load factor z.
    z: f64,
    refinements: Option<Box<Refinements>>,
    /// How many of the meter's `joined` connections are in `active` already.
    joined: u32,
    at_rest: bool,
    vcs: List<EricaVc>,
}

/// Refinements of the algorithm, and MCRs, that few ports have.
#[derive(Clone, Debug, Default)]
struct Refinements {
    fading: Option<Fading>,
    averaged: Option<AveragedLoad>,
    aging: Option<Aging>,
    weights: Option<Weights>,
    /// Where shares are equal.
    minima: Option<Minima>,
}

impl Refinements {
    /// `None` where there are none.
    fn of(config: &EricaConfig) -> Option<Box<Refinements>> {
        let EricaConfig { active_sources, load_averaging, aging, fairness, .. } = config;
        let averaged = *load_averaging != LoadAveraging::None;
        let weighted = *fairness == Fairness::Weighted;
        let any = active_sources.decay.is_some() || averaged || aging.is_some() || weighted;
        any.then(|| {
            Box::new(Refinements {
                fading: active_sources.decay.map(Fading::new),
                averaged: averaged.then_some(AveragedLoad::new(*load_averaging)),
                aging: aging.map(Aging::new),
                weights: weighted.then(Weights::new),
                minima: None,
            })
        })
    }
}

/// Rates that the last interval leaves to hand out [cells/s].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shares {
    capacity: CellRate,
    max_alloc_previous: CellRate,
    max_alloc_current: CellRate,
}

#[derive(Clone, Copy, Debug)]
struct EricaVc {
    ccr: CellRate,
    answer: Answer,
}

/// The last answer to a BRM, and its interval: 48 bits of the interval's number, which are more than a run comes to,
/// and 16 of rate code.
#[derive(Clone, Copy, Debug)]
struct Answer(u64);

impl Answer {
    /// No BRM has been answered yet.
    const NONE: Answer = Answer(0);
    const CODE_BITS: u32 = 16;

    fn new(interval: u64, er: RateCode) -> Answer {
        Answer(interval << Answer::CODE_BITS | u64::from(er.bits()))
    }

    /// ER, if this is an answer of the interval.
    fn er_in(self, interval: u64) -> Option<RateCode> {
        let same = self.0 >> Answer::CODE_BITS == interval << Answer::CODE_BITS >> Answer::CODE_BITS;
        same.then_some(RateCode::from_bits(self.0 as u16))
    }
}

impl Erica {
    /// At the port of a line that takes `link_rate`.
    pub fn new(config: impl Into<Arc<EricaConfig>>, link_rate: CellRate) -> Erica {
        let config = config.into();
        let capacity = link_rate * config.queue_control.share(Duration::ZERO);
        Erica {
            link_rate,
            shares: Shares { capacity, max_alloc_previous: capacity, max_alloc_current: capacity },
            active: 0.0,
            z: 0.0,
            refinements: Refinements::of(&config),
            joined: 0,
            at_rest: false,
            vcs: List::new(),
            config,
        }
    }

    /// Rate that ABR may use, by what an interval measured.
    fn capacity(&self, load: &IntervalLoad) -> CellRate {
        match &self.config.queue_control {
            QueueControl::TargetUtilization(utilization) => load.available(self.link_rate * *utilization),
            QueueControl::QueueingDelay(control) => {
                let available = load.available(self.link_rate);
                let delay = control.queueing_delay(load.abr_queue, available, self.link_rate);
                available * control.share(delay)
            }
        }
    }

    /// Everyone's equal share; with weights, that of each unit of weight in what is left above MCRs.
    fn fair_share(&self) -> CellRate {
        let promised = self.weights().map_or(CellRate::ZERO, Weights::promised);
        self.above().share_of(self.shares.capacity.saturating_sub(promised), self.n())
    }

    /// Connections whose MCR is above the share.
    fn above(&self) -> Above {
        self.minima().map_or_else(Above::default, Minima::above)
    }

    fn minima(&self) -> Option<&Minima> {
        self.refinements.as_ref()?.minima.as_ref()
    }

    /// N: at least 1, so that capacity / N is a rate even on an idle port.
    fn n(&self) -> f64 {
        self.active.max(self.weights().map_or(1.0, Weights::least))
    }

    fn weights(&self) -> Option<&Weights> {
        self.refinements.as_ref()?.weights.as_ref()
    }

    /// Share that a connection is entitled to.
    fn entitlement(&self, slot: Slot) -> Entitlement {
        self.weights().map_or(Entitlement::EQUAL, |weights| weights.of(slot))
    }

    fn aging(&self) -> Option<&Aging> {
        self.refinements.as_ref()?.aging.as_ref()
    }

    /// Lowers FairShare for connections that became active since the last look, where that is asked for.
    #[inline]
    fn admit_joined(&mut self, meter: &Meter) {
        if self.config.immediate_fair_share && self.joined as usize != meter.joined().len() {
            self.admit(meter);
        }
    }

    #[cold]
    fn admit(&mut self, meter: &Meter) {
        for &slot in &meter.joined()[self.joined as usize..] {
            let weight = self.entitlement(slot).weight();
            let mut part = 1.0;
            if let Some(Refinements { fading, weights, .. }) = self.refinements.as_deref_mut() {
                part = fading.as_mut().map_or(part, |fading| fading.join(slot));
                weights.iter_mut().for_each(|weights| weights.join(slot, self.vcs[slot].ccr));
            }
            self.active += weight * part;
        }
        // Slots are numbered in 32 bits.
        self.joined = meter.joined().len() as u32;
    }

    /// ER of a connection of this CCR; shares and allocations are levels of what it is entitled to, which with equal
    /// shares are rates.
    fn explicit_rate(&mut self, ccr: CellRate, entitled: Entitlement) -> CellRate {
        let Shares { max_alloc_previous, .. } = self.shares;
        let fair_share = self.fair_share();
        let z = self.z;
        let mut level = fair_share.max(divide(entitled.level(ccr), z));
        if z <= 1.0 + self.config.delta && !self.config.active_sources.effective {
            level = level.max(max_alloc_previous);
        }
        self.shares.max_alloc_current = self.shares.max_alloc_current.max(level);
        // A connection below its fair share goes there first, so that it cannot take the room of others in one step.
        // One that is there claims FairShare as a rate code carries it, rounded down: compared with FairShare itself it
        // would be below it for ever, and unequal or idle shares would stay so.
        let below = ccr < RateCode::floor(entitled.rate(fair_share)).rate();
        entitled.rate(if below { fair_share } else { level })
    }
}

impl SwitchAlgorithm for Erica {
    fn metering(&self) -> Option<Metering> {
        let EricaConfig { interval, active_sources, aging, fairness, .. } = &*self.config;
        let looks_at_use = active_sources.effective || *fairness == Fairness::Weighted;
        let EricaConfig { immediate_fair_share, measured_ccr, .. } = &*self.config;
        let history = *immediate_fair_share || *measured_ccr || aging.is_some() || looks_at_use;
        Some(Metering { interval: *interval, bidirectional: active_sources.bidirectional, history })
    }

    fn on_connect(&mut self, slot: Slot, vc: &VcAtPort) {
        if self.config.fairness == Fairness::Equal && vc.mcr > CellRate::ZERO {
            let refinements = self.refinements.get_or_insert_default();
            refinements.minima.get_or_insert_default().connect(slot, vc.mcr);
        }
        if let Some(Refinements { fading, aging, weights, .. }) = self.refinements.as_deref_mut() {
            fading.iter_mut().for_each(Fading::connect);
            aging.iter_mut().for_each(Aging::connect);
            weights.iter_mut().for_each(|weights| weights.connect(vc));
        }
        self.vcs.push(EricaVc { ccr: CellRate::ZERO, answer: Answer::NONE });
    }

    fn on_forward_rm(&mut self, _now: Time, slot: Slot, ccr: CellRate, meter: &Meter) {
        self.vcs[slot].ccr = ccr;
        self.admit_joined(meter);
        if let Some(Refinements { aging: Some(aging), .. }) = self.refinements.as_deref_mut() {
            aging.on_forward_rm(slot, ccr);
        }
    }

    fn on_backward_rm(
        &mut self,
        _now: Time,
        slot: Slot,
        _queue: Cells,
        meter: &Meter,
        feedback: &mut Feedback,
    ) {
        self.admit_joined(meter);
        let vc = self.vcs[slot];
        let er = vc.answer.er_in(meter.interval()).unwrap_or_else(|| {
            let ccr = if self.config.measured_ccr { meter.previous_rate(slot) } else { vc.ccr };
            let entitled = self.entitlement(slot);
            // Who has more by MCR is offered the share, and keeps what it has.
            let is_above = self.minima().is_some_and(|minima| minima.of(slot) > self.fair_share());
            let er = if is_above { self.fair_share() } else { self.explicit_rate(ccr, entitled) };
            let er = RateCode::floor(er.min(self.shares.capacity));
            self.vcs[slot].answer = Answer::new(meter.interval(), er);
            er
        });
        match self.aging() {
            Some(aging) => feedback.limit(aging.limit(slot, er.rate())),
            None => feedback.limit_to_code(er),
        }
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.link_rate = link_rate;
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, meter: &Meter) {
        let before = (self.shares, self.active, self.z);
        let effective = self.config.active_sources.effective.then(|| self.fair_share());
        let (input, capacity) = (load.abr_rate(), self.capacity(load));
        (self.active, self.z) = (f64::from(load.active), load_factor(input, capacity));
        let mut same_averages = true;
        if let Some(Refinements { fading, averaged, aging, weights, .. }) = self.refinements.as_deref_mut() {
            let (config, vcs) = (&self.config, &self.vcs);
            let used = |slot| config.used(vcs[slot].ccr, slot, meter);
            if let Some(fading) = fading {
                // Who joins later counts by it, even where another number of active connections takes its place.
                (self.active, same_averages) = fading.end_interval(meter, used);
            }
            let (mut excess_input, mut excess) = (input, capacity);
            if let Some(weights) = weights {
                let before = weights.promised();
                self.active = weights.end_interval(meter, fading.as_ref(), used);
                same_averages &= before == weights.promised();
                (excess_input, excess) =
                    (input.saturating_sub(weights.promised()), capacity.saturating_sub(weights.promised()));
                self.z = load_factor(excess_input, excess);
            }
            if let Some(averaged) = averaged {
                let before = *averaged;
                self.z = averaged.end_interval(excess_input, excess, load.length());
                same_averages &= before == *averaged;
            }
            if let Some(aging) = aging {
                aging.end_interval(meter);
            }
        }
        if let Some(fair_share) = effective {
            self.active = self.effective_number(fair_share, meter);
        }
        let n = self.n();
        if let Some(Refinements { minima: Some(minima), .. }) = self.refinements.as_deref_mut() {
            let before = minima.above();
            minima.end_interval(capacity, n, meter);
            same_averages &= before == minima.above();
        }
        self.joined = 0;
        let max_alloc_previous = self.shares.max_alloc_current;
        self.shares = Shares { capacity, max_alloc_previous, max_alloc_current: CellRate::ZERO };
        self.shares.max_alloc_current = self.fair_share();
        self.at_rest = same_averages && before == (self.shares, self.active, self.z);
    }

    /// z and N without unit, the others in cells/s. `max_alloc` is MaxAllocPrevious, as far as the capacity reaches.
    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let Shares { capacity, max_alloc_previous, .. } = self.shares;
        visit("z", self.z);
        visit("n", self.n());
        visit("fair_share", self.fair_share().as_cells_per_s());
        visit("capacity", capacity.as_cells_per_s());
        visit("max_alloc", max_alloc_previous.min(capacity).as_cells_per_s());
    }
}

impl Promises for Erica {
    fn ignores_open_interval(&self) -> bool {
        // Newcomers are counted by their cells, and by what they claim then.
        !self.config.immediate_fair_share
    }

    fn answer_is_fixed(&self, slot: Slot, meter: &Meter) -> Settled {
        // Aging uses the sources' claims, and newcomers are counted as they come.
        if self.config.aging.is_some() || self.config.immediate_fair_share {
            return Settled::No;
        }
        let answered = self.vcs[slot].answer.er_in(meter.interval()).is_some();
        if answered || self.config.measured_ccr { Settled::Yes } else { Settled::ButForForwardRms }
    }

    fn is_at_rest(&self) -> bool {
        self.at_rest && self.aging().is_none_or(Aging::is_at_rest)
    }

    #[inline]
    fn prefetch(&self) -> u64 {
        self.z.to_bits() ^ u64::from(self.joined)
    }
}

/// A rate over a plain number: infinite over 0, unless the rate is 0 too.
fn divide(rate: CellRate, by: f64) -> CellRate {
    CellRate::new(rate.as_cells_per_s() / by)
}

#[cfg(test)]
mod tests;
